/** A run as the server tells it: one JSON a line. */
import { Trouble } from "../ask.js";

/** The server says something every fifteen seconds, if only that it is there. */
const SILENCE_MS = 45_000;

/**
 * @param {Task & { models: Named[], only?: Slot }} wanted
 * @param {AbortSignal} stop hangs up, which ends the questions at the providers
 * @returns {AsyncGenerator<RunEvent, void>}
 */
export async function* run(wanted, stop) {
  const silence = new AbortController();
  let watch = setTimeout(() => silence.abort(), SILENCE_MS);
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const signal = AbortSignal.any([stop, silence.signal]);
  try {
    const response = await fetch("/api/generate", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(wanted),
      signal,
    });
    if (!response.ok || !response.body) throw await refusal(response);
    for await (const line of lines(response.body, heard)) {
      /** @type {RunEvent} */
      const event = JSON.parse(line);
      yield event;
      if (event.type === "done") return;
    }
    throw new Trouble("The connection was lost.");
  } catch (error) {
    if (error instanceof Trouble || stop.aborted) throw error;
    throw new Trouble(silence.signal.aborted ? "The server fell silent." : "The connection was lost.");
  } finally {
    clearTimeout(watch);
    silence.abort();
  }
}

/** @param {ReadableStream<Uint8Array<ArrayBuffer>>} body @param {() => void} heard */
async function* lines(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** Of a line that is not whole yet. @type {string[]} */
  let pieces = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
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
async function refusal(response) {
  try {
    const told = JSON.parse(await response.text());
    return new Trouble(told.error, response.status, told.code);
  } catch {
    return new Trouble(`The server answered ${response.status}.`, response.status, "broken");
  }
}
