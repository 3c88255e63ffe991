/** Requests to the site's API, shared by the scripts of several pages. Every failure is an `ApiError`. */

const TIMEOUT_MS = 60_000;
/** For uploaded builds, which may take minutes on a slow line. */
const UPLOAD_TIMEOUT_MS = 900_000;

export class ApiError extends Error {
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
export async function request(method, address, { json, body } = {}) {
  const headers = json ? { "content-type": "application/json" } : undefined;
  const signal = AbortSignal.timeout(body === undefined ? TIMEOUT_MS : UPLOAD_TIMEOUT_MS);
  let response, text;
  try {
    response = await fetch(address, { method, headers, body: json ? JSON.stringify(json) : body, signal });
    text = await response.text();
  } catch {
    throw new ApiError("The server cannot be reached.");
  }
  const answer = parseJson(text);
  if (response.ok && answer) return answer;
  throw new ApiError(answer?.error ?? `The server answered ${response.status}.`, response.status, answer?.code ?? "broken");
}

/** Undefined where the text is no JSON: a proxy in front of the server may answer with a page of its own. @param {string} text */
function parseJson(text) {
  if (!text) return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
