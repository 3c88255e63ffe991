/** Two models asked at once: the form, the runs under way, and keeping what came of them. */
import { ask } from "../ask.js";
import { field, one, part } from "../parts.js";
import { areKept, keep } from "./keys.js";
import { Rival, Wrong } from "./rival.js";
import { Side } from "./side.js";
import { run } from "./stream.js";

/** @type {Slot[]} */
const SLOTS = ["a", "b"];

const form = /** @type {HTMLFormElement} */ (part("ask"));
const words = field("words");
const stage = part("stage");
const kept = part("kept");
const keepable = kept.textContent;
const [a, b] = SLOTS.map((slot) => new Rival(one(form, `[data-rival=${slot}]`)));
const rivals = { a, b };
const [left, right] = SLOTS.map((slot) => new Side(one(stage, `[data-side=${slot}]`), say));
const sides = { a: left, b: right };

/** Each hangs up on its own. @type {Set<AbortController>} */
const underWay = new Set();
/** What is on stage, and by whom. @type {Play | undefined} */
let play;
/** How many have begun. */
let runs = 0;
let isKeeping = false;
/** What those who listen have yet to be told. @type {string[]} */
let unsaid = [];

/** What is wrong is said where it was typed. @returns {Named[] | undefined} */
function named() {
  /** @type {Named[]} */
  const both = [];
  for (const slot of SLOTS) {
    try {
      both.push(rivals[slot].check());
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      rivals[slot].complain(error.message, error.place);
      return undefined;
    }
  }
  if (!isSame(both[0], both[1])) return both;
  rivals.b.complain("Both sides name the same model; choose another.");
  return undefined;
}

/** Whatever their keys. @param {Named} one @param {Named} other */
function isSame(one, other) {
  const [first, second] = [one, other].map((model) => JSON.stringify({ ...model, apiKey: undefined }));
  return first === second;
}

/** @returns {Task | undefined} */
function wanted() {
  const prompt = words.value.trim();
  if (prompt) return { prompt, gridSize: Number(field("grid").value), palette: field("palette").value };
  const problem = part("words-problem");
  problem.hidden = false;
  problem.textContent = "Say what they should build, or choose a prompt.";
  words.setAttribute("aria-invalid", "true");
  words.focus();
  return undefined;
}

function accept() {
  const problem = part("words-problem");
  problem.hidden = true;
  problem.textContent = "";
  words.removeAttribute("aria-invalid");
}

/** Asks, and follows it to its end. @param {Play} play @param {Slot[]} slots */
async function follow({ task, models, titles }, slots) {
  const call = new AbortController();
  underWay.add(call);
  runs += 1;
  kept.textContent = keepable;
  part("keep").hidden = false;
  for (const slot of slots) sides[slot].begin(titles[SLOTS.indexOf(slot)], task);
  fit();
  try {
    const only = slots.length === 1 ? slots[0] : undefined;
    for await (const event of run({ ...task, models, only }, call.signal)) {
      if (event.type === "queue") queue(slots, event.position);
      else if ("slot" in event) sides[event.slot].hear(event);
    }
    for (const slot of slots) sides[slot].fail("The run ended without an answer.");
  } catch (error) {
    for (const slot of slots) {
      if (call.signal.aborted) sides[slot].stop();
      else sides[slot].fail(error instanceof Error ? error.message : String(error));
    }
  } finally {
    underWay.delete(call);
    fit();
  }
}

/** @param {Slot[]} slots @param {number} position 1 is the next */
function queue(slots, position) {
  const told = position === 1 ? "You are next in line." : `${position - 1} before you in line.`;
  for (const slot of slots) sides[slot].queue(told);
  say(told);
}

/** What can be done now. */
function fit() {
  const busy = underWay.size > 0;
  const stop = part("stop");
  /** @type {HTMLButtonElement} */ (part("go")).disabled = busy;
  if (!busy && document.activeElement === stop) stage.focus({ preventScroll: true });
  stop.hidden = !busy;
  part("keeping").hidden = busy || !SLOTS.some((slot) => sides[slot].draft);
}

/** Sentences that come at once are told at once, or only the last would be heard. @param {string} sentence */
function say(sentence) {
  unsaid.push(sentence);
  if (unsaid.length > 1) return;
  setTimeout(() => {
    part("said").textContent = unsaid.join(" ");
    unsaid = [];
  }, 100);
}

async function keepRun() {
  if (isKeeping) return;
  const number = runs;
  keepingIs(true);
  try {
    const run = await ask("POST", "/api/sandbox/runs", { json: { a: sides.a.draft ?? null, b: sides.b.draft ?? null } });
    if (number !== runs) return;
    const link = document.createElement("a");
    link.href = run.url;
    link.textContent = new URL(run.url, location.href).href;
    kept.replaceChildren("Kept for thirty days: ", link, " It can be deleted there.");
    part("keep").hidden = true;
    link.focus({ preventScroll: true });
    say("The run is kept.");
  } catch (error) {
    if (number === runs) kept.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    keepingIs(false);
  }
}

/** The button keeps the focus. @param {boolean} on */
function keepingIs(on) {
  isKeeping = on;
  part("keep").setAttribute("aria-disabled", String(on));
}

/** The model as it was asked, with the key that is typed for it now. @param {Slot} slot @param {Named} asked */
function refreshed(slot, asked) {
  const chosen = rivals[slot].named;
  return isSame(chosen, asked) ? chosen : asked;
}

function chat() {
  const query = new URLSearchParams({ words: words.value.trim(), grid: field("grid").value, palette: field("palette").value });
  part("chat").setAttribute("href", `/prompts/chat?${query}`);
}

form.hidden = false;
b.differ(a);
chat();
form.addEventListener("input", chat);
words.addEventListener("input", accept);
for (const slot of SLOTS) {
  one(form, `[data-rival=${slot}]`).addEventListener("input", () => {
    for (const other of SLOTS) if (other !== slot) rivals[other].refresh();
  });
}
field("curated").addEventListener("change", () => {
  if (!field("curated").value) return;
  words.value = field("curated").value;
  accept();
  chat();
});
const keeping = field("keep-keys");
keeping.checked = areKept();
keeping.addEventListener("change", () => keep(keeping.checked));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (underWay.size) return;
  const task = wanted();
  const models = task && named();
  if (!task || !models) return;
  play = { task, models, titles: [a.title, b.title] };
  part("asked").textContent = task.prompt;
  stage.hidden = false;
  stage.focus({ preventScroll: true });
  stage.scrollIntoView({ block: "start" });
  follow(play, SLOTS);
});
part("stop").addEventListener("click", () => {
  for (const call of underWay) call.abort();
});
part("keep").addEventListener("click", keepRun);
for (const slot of SLOTS) {
  one(stage, `[data-side=${slot}] [data-does=retry]`).addEventListener("click", () => {
    if (!play) return;
    const at = SLOTS.indexOf(slot);
    play.models[at] = refreshed(slot, play.models[at]);
    follow(play, [slot]);
  });
}
// Leaving ends what is under way, and was paid for.
addEventListener("beforeunload", (event) => underWay.size && event.preventDefault());
