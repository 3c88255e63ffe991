/** Requests to the arena's API. Every failure is an `ArenaApiError`. */

const TIMEOUT_MS = 20_000;
/** Used where the server does not say when to try again. */
const DEFAULT_RETRY_MS = 1000;

export class ArenaApiError extends Error {
  /**
   * @param {string} code the server's, or `unreachable`
   * @param {string} message for people
   * @param {{ wait?: number, answer?: any }} [more] milliseconds to wait, and the whole answer
   */
  constructor(code, message, { wait = DEFAULT_RETRY_MS, answer } = {}) {
    super(message);
    this.code = code;
    this.wait = wait;
    this.answer = answer;
  }
}

/** @param {string} prompt the id of one, or "" for any @returns {Promise<Matchup>} */
export function fetchMatchup(prompt) {
  return request(`/api/arena/matchup${prompt && `?promptId=${encodeURIComponent(prompt)}`}`);
}

/** @param {string} matchupId */
export function skip(matchupId) {
  return request("/api/arena/skip", { matchupId });
}

/** @param {string} matchupId @param {Choice} choice @returns {Promise<VoteResult>} */
export function vote(matchupId, choice) {
  return request("/api/arena/vote", { matchupId, choice });
}

/** @param {string} answer to the check that a person votes @returns {Promise<void>} */
export function sendPersonCheck(answer) {
  return request("/api/arena/person-check", { answer });
}

/** @param {string} build the id of one, or "" for any @returns {Promise<{ id: string }>} */
export function fetchJudging(build) {
  return request(`/api/judge/next${build && `?build=${encodeURIComponent(build)}`}`);
}

/** @param {string} id */
export function skipJudging(id) {
  return request("/api/judge/skip", { id });
}

/** @param {object} judgement @returns {Promise<{ url: string }>} */
export function sendJudgement(judgement) {
  return request("/api/judge", judgement);
}

/** @param {string} address @param {object} [body] to post */
async function request(address, body) {
  const posting = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let response, answer;
  try {
    response = await fetch(address, { ...posting, signal: AbortSignal.timeout(TIMEOUT_MS) });
    answer = response.status === 204 ? {} : JSON.parse(await response.text());
  } catch {}
  if (response?.ok && answer) return answer;
  // Without `error` it is not this server's answer, but that of a proxy in front of it.
  if (response && answer?.error) throw new ArenaApiError(answer.code, answer.error, { wait: answer.retryAfterMs, answer });
  if (response && !response.ok) throw new ArenaApiError("broken", `The server answered ${response.status}.`);
  throw new ArenaApiError("unreachable", "The server cannot be reached.");
}
