/** The proof of work, against Node's own SHA-256. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { firstWord, solve } from "../../static/arena/proof-of-work.js";
import { chance } from "./samples.mjs";

test("the hash is SHA-256, for every text that fits a block", () => {
  const random = chance(7);
  for (let length = 0; length <= 55; length++) {
    const bytes = Uint8Array.from({ length: 64 }, (_, index) => (index < length ? Math.floor(random() * 256) : 0));
    const expected = createHash("sha256").update(bytes.subarray(0, length)).digest().readInt32BE(0);
    assert.equal(firstWord(bytes, length), expected, `${length} bytes`);
  }
});

test("a solution begins with its challenge, and its hash with the zeros", () => {
  for (const bits of [0, 1, 7, 12, 16]) {
    const challenge = `challenge-of-${bits}-bits-aaaaaaaaaaaaa`;
    const answer = solve(challenge, bits);
    assert.ok(answer.startsWith(challenge), answer);
    assert.ok(answer.length <= 55, answer);
    const hash = createHash("sha256").update(answer).digest();
    assert.ok(Math.clz32(hash.readUInt32BE(0)) >= bits, `${answer} hashes to ${hash.toString("hex")}`);
  }
});

test("a challenge that would not fit a block is refused", () => {
  assert.throws(() => solve("x".repeat(40), 1), RangeError);
});
