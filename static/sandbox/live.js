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
const line = part("line");
const kept = part("kept");
const [a, b] = SLOTS.map((slot) => new Rival(one(form, `[data-rival=${slot}]`)));
const rivals = { a, b };
const [left, right] = SLOTS.map((slot) => new Side(one(stage, `[data-side=${slot}]`), say));
const sides = { a: left, b: right };

/** Each hangs up on its own. @type {Set<AbortController>} */
const underWay = new Set();
/** What is on stage, and by whom. @type {Task | undefined} */
let task;
/** @type {Named[]} */
let named = [];

/** Names these anew; what is wrong is said where it was typed. @param {Slot[]} slots @returns {Named[] | undefined} */
function name(slots) {
  const both = [...named];
  for (const slot of slots) {
    try {
      both[SLOTS.indexOf(slot)] = rivals[slot].check();
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      rivals[slot].complain(error.message, error.place);
      return undefined;
    }
  }
  const [one, other] = both.map((rival) => JSON.stringify({ ...rival, apiKey: "" }));
  if (one !== other) return both;
  rivals[slots[slots.length - 1]].complain("Both sides name the same model; choose another.");
  return undefined;
}

/** @returns {Task | undefined} */
function wanted() {
  const prompt = words.value.trim();
  const problem = part("words-problem");
  problem.hidden = prompt !== "";
  words.toggleAttribute("aria-invalid", false);
  if (prompt) return { prompt, gridSize: Number(field("grid").value), palette: field("palette").value };
  problem.textContent = "Say what they should build, or choose a prompt.";
  words.setAttribute("aria-invalid", "true");
  words.focus();
  return undefined;
}

/** Asks, and follows it to its end. @param {Task} asked @param {Named[]} models @param {Slot[]} slots */
async function follow(asked, models, slots) {
  const call = new AbortController();
  underWay.add(call);
  fit();
  for (const slot of slots) sides[slot].begin(rivals[slot].title, asked);
  try {
    const only = slots.length === 1 ? slots[0] : undefined;
    for await (const event of run({ ...asked, models, only }, call.signal)) {
      if (event.type === "queue") queue(event.position);
      else if ("slot" in event) {
        line.hidden = true;
        sides[event.slot].hear(event);
      }
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

/** @param {number} position */
function queue(position) {
  line.hidden = false;
  line.textContent = position === 1 ? "You are next in line." : `${position - 1} before you in line.`;
}

/** What can be done now. */
function fit() {
  const busy = underWay.size > 0;
  const stop = part("stop");
  /** @type {HTMLButtonElement} */ (part("go")).disabled = busy;
  if (!busy && document.activeElement === stop) stage.focus({ preventScroll: true });
  stop.hidden = !busy;
  line.hidden = line.hidden || !busy;
  part("keeping").hidden = busy || !SLOTS.some((slot) => sides[slot].draft);
}

/** @param {string} said */
function say(said) {
  part("said").textContent = said;
}

async function keepRun() {
  const button = /** @type {HTMLButtonElement} */ (part("keep"));
  button.disabled = true;
  try {
    const run = await ask("POST", "/api/sandbox/runs", { json: { a: sides.a.draft ?? null, b: sides.b.draft ?? null } });
    const link = document.createElement("a");
    link.href = run.url;
    link.textContent = new URL(run.url, location.href).href;
    kept.replaceChildren("Kept for thirty days: ", link);
    say("The run is kept.");
  } catch (error) {
    kept.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    button.disabled = false;
  }
}

function chat() {
  const query = new URLSearchParams({ words: words.value.trim(), grid: field("grid").value, palette: field("palette").value });
  part("chat").setAttribute("href", `/prompts/chat?${query}`);
}

form.hidden = false;
b.differ(a);
chat();
form.addEventListener("input", chat);
field("curated").addEventListener("change", () => {
  if (field("curated").value) words.value = field("curated").value;
  chat();
});
const keeping = field("keep-keys");
keeping.checked = areKept();
keeping.addEventListener("change", () => keep(keeping.checked));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (underWay.size) return;
  const next = wanted();
  const models = next && name(SLOTS);
  if (!next || !models) return;
  task = next;
  named = models;
  kept.textContent = "For thirty days, under a link that nobody can guess.";
  part("asked").textContent = next.prompt;
  stage.hidden = false;
  stage.focus({ preventScroll: true });
  stage.scrollIntoView({ block: "start" });
  follow(next, models, SLOTS);
});
part("stop").addEventListener("click", () => {
  for (const call of underWay) call.abort();
});
part("keep").addEventListener("click", keepRun);
for (const slot of SLOTS) {
  one(stage, `[data-side=${slot}] [data-does=retry]`).addEventListener("click", () => {
    const models = name([slot]);
    if (!task || !models) return;
    named = models;
    follow(task, models, [slot]);
  });
}
// Leaving ends what is under way, and was paid for.
addEventListener("beforeunload", (event) => underWay.size && event.preventDefault());
