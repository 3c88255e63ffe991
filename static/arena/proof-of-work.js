/** A proof of work: a text whose SHA-256 begins with many zero bits. Written out, because the browser's own SHA-256 answers each call by a promise, which takes many times as long as the hash. */

/** Numbers with at most this many digits keep challenge and number within one block of SHA-256. */
const MAX_DIGITS = 16;

/** The first 32 bits of the fractional parts of the roots of the first 64 primes, as SHA-256 defines its constants. */
const PRIMES = firstPrimes(64);
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => fractionBits(Math.cbrt(prime)));
const INITIAL_STATE = Int32Array.from(PRIMES.slice(0, 8), (prime) => fractionBits(Math.sqrt(prime)));

/**
 * Finds a number that makes the SHA-256 of challenge and number begin with this many zero bits.
 * @param {string} challenge at most 39 characters of ASCII @param {number} bits at most 32
 * @returns the challenge with the number behind it
 */
export function solve(challenge, bits) {
  const block = new Uint8Array(64);
  const words = new Int32Array(64);
  const length = challenge.length;
  if (length > 55 - MAX_DIGITS) throw new RangeError("The challenge is too long.");
  for (let index = 0; index < length; index++) block[index] = challenge.charCodeAt(index);
  for (let number = 0; ; number++) {
    const digits = String(number);
    for (let index = 0; index < digits.length; index++) block[length + index] = digits.charCodeAt(index);
    if (Math.clz32(firstWord(block, length + digits.length, words)) >= bits) return challenge + digits;
  }
}

/** The first 32 bits of the SHA-256 of the block's first bytes, at most 55. @param {Uint8Array} block @param {number} length @param {Int32Array} words */
export function firstWord(block, length, words = new Int32Array(64)) {
  block[length] = 0x80;
  for (let index = 0; index < 14; index++) {
    const at = 4 * index;
    words[index] = (block[at] << 24) | (block[at + 1] << 16) | (block[at + 2] << 8) | block[at + 3];
  }
  words[14] = 0;
  words[15] = 8 * length;
  for (let index = 16; index < 64; index++) {
    const early = words[index - 15];
    const late = words[index - 2];
    const small = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3);
    const large = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
    words[index] = (words[index - 16] + small + words[index - 7] + large) | 0;
  }
  let [a, b, c, d, e, f, g, h] = INITIAL_STATE;
  for (let round = 0; round < 64; round++) {
    const mixedE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + mixedE + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[round] + words[round]) | 0;
    const mixedA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (mixedA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  return (INITIAL_STATE[0] + a) | 0;
}

/** @param {number} root */
function fractionBits(root) {
  return ((root % 1) * 2 ** 32) | 0;
}

/** @param {number} count */
function firstPrimes(count) {
  /** @type {number[]} */
  const primes = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  return primes;
}
