/** The site's API, where scripts of several pages ask it. Whatever goes wrong is a `Trouble`. */

const PATIENCE_MS = 60_000;
/** For a build that somebody brings. */
const LONG_PATIENCE_MS = 900_000;

export class Trouble extends Error {
  /** @param {string} message for people @param {number} status 0 where nobody answered @param {string} code */
  constructor(message, status = 0, code = "unreachable") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * @param {string} method @param {string} address
 * @param {{ json?: object, body?: Blob | string }} [sent]
 * @returns {Promise<any>} the answer, empty where there is none
 */
export async function ask(method, address, { json, body } = {}) {
  const headers = json ? { "content-type": "application/json" } : undefined;
  const signal = AbortSignal.timeout(body === undefined ? PATIENCE_MS : LONG_PATIENCE_MS);
  let response, text;
  try {
    response = await fetch(address, { method, headers, body: json ? JSON.stringify(json) : body, signal });
    text = await response.text();
  } catch {
    throw new Trouble("The server cannot be reached.");
  }
  const told = read(text);
  if (response.ok && told) return told;
  throw new Trouble(told?.error ?? `The server answered ${response.status}.`, response.status, told?.code ?? "broken");
}

/** A proxy in front may answer with something of its own. @param {string} text */
function read(text) {
  if (!text) return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
