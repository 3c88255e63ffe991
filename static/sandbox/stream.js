/** Reads a run's events from the server: one JSON object a line. */
import { ApiError } from "../api.js";

/** The server sends at least a ping every fifteen seconds. */
const SILENCE_TIMEOUT_MS = 45_000;

/**
 * @param {Task & { models: ModelChoice[], only?: Slot }} wanted
 * @param {AbortSignal} stop hangs up, which ends the questions at the providers
 * @returns {AsyncGenerator<RunEvent, void>}
 */
export async function* streamRun(wanted, stop) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
  const resetTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
  };
  const signal = AbortSignal.any([stop, silence.signal]);
  try {
    const response = await fetch("/api/generate", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(wanted),
      signal,
    });
    if (!response.ok || !response.body) throw await toError(response);
    for await (const line of lines(response.body, resetTimer)) {
      /** @type {RunEvent} */
      const event = JSON.parse(line);
      yield event;
      if (event.type === "done") return;
    }
    throw new ApiError("The connection was lost.");
  } catch (error) {
    if (error instanceof ApiError || stop.aborted) throw error;
    throw new ApiError(silence.signal.aborted ? "The server stopped responding." : "The connection was lost.");
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** @param {ReadableStream<Uint8Array<ArrayBuffer>>} body @param {() => void} onData */
async function* lines(body, onData) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** The parts of an incomplete line. @type {string[]} */
  let pieces = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onData();
    let from = 0;
    for (let end = value.indexOf("\n"); end >= 0; end = value.indexOf("\n", from)) {
      pieces.push(value.slice(from, end));
      const line = pieces.join("");
      pieces = [];
      from = end + 1;
      if (line) yield line;
    }
    pieces.push(value.slice(from));
  }
}

/** @param {Response} response */
async function toError(response) {
  try {
    const answer = JSON.parse(await response.text());
    return new ApiError(answer.error, response.status, answer.code);
  } catch {
    return new ApiError(`The server answered ${response.status}.`, response.status, "broken");
  }
}
