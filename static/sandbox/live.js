/** The sandbox page: the form, the runs in progress, and saving a run. */
import { request } from "../api.js";
import { byId, inputById, query } from "../dom.js";
import { areStored, setStored } from "./api-keys.js";
import { InvalidField, ModelPicker } from "./model-picker.js";
import { RunSide } from "./side.js";
import { streamRun } from "./stream.js";

/** @type {Slot[]} */
const SLOTS = ["a", "b"];

const form = /** @type {HTMLFormElement} */ (byId("ask"));
const promptInput = inputById("words");
const stage = byId("stage");
const savedNote = byId("kept");
const savedNoteDefault = savedNote.textContent;
const [a, b] = SLOTS.map((slot) => new ModelPicker(query(form, `[data-rival=${slot}]`)));
const pickers = { a, b };
const [left, right] = SLOTS.map((slot) => new RunSide(query(stage, `[data-side=${slot}]`), announce));
const sides = { a: left, b: right };

/** The requests in progress. Both sides share one, a retried side has its own, and each can be aborted alone. @type {Set<AbortController>} */
const activeCalls = new Set();
/** The run that is shown. @type {RunSetup | undefined} */
let currentRun;
/** Raised with each run, so that the answer to saving an earlier run is not shown on a later one. */
let runCount = 0;
let isSaving = false;
/** Sentences waiting to be announced to screen readers. @type {string[]} */
let announcements = [];

/** The two chosen models; undefined after an error has been shown at its field. @returns {ModelChoice[] | undefined} */
function readModels() {
  /** @type {ModelChoice[]} */
  const both = [];
  for (const slot of SLOTS) {
    try {
      both.push(pickers[slot].check());
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      pickers[slot].showError(error.message, error.place);
      return undefined;
    }
  }
  if (!isSameModel(both[0], both[1])) return both;
  pickers.b.showError("Both sides use the same model. Choose another.");
  return undefined;
}

/** Compares everything but the API keys. @param {ModelChoice} one @param {ModelChoice} other */
function isSameModel(one, other) {
  const [first, second] = [one, other].map((model) => JSON.stringify({ ...model, apiKey: undefined }));
  return first === second;
}

/** @returns {Task | undefined} */
function readTask() {
  const prompt = promptInput.value.trim();
  if (prompt) return { prompt, gridSize: Number(inputById("grid").value), palette: inputById("palette").value };
  const problem = byId("words-problem");
  problem.hidden = false;
  problem.textContent = "Enter a prompt, or choose one from the list.";
  promptInput.setAttribute("aria-invalid", "true");
  promptInput.focus();
  return undefined;
}

function clearPromptError() {
  const problem = byId("words-problem");
  problem.hidden = true;
  problem.textContent = "";
  promptInput.removeAttribute("aria-invalid");
}

/** Starts a run, and passes its events to the sides until it ends. @param {RunSetup} play @param {Slot[]} slots */
async function startRun({ task, models, titles }, slots) {
  const call = new AbortController();
  activeCalls.add(call);
  runCount += 1;
  savedNote.textContent = savedNoteDefault;
  byId("keep").hidden = false;
  for (const slot of slots) sides[slot].start(titles[SLOTS.indexOf(slot)], task);
  updateControls();
  try {
    const only = slots.length === 1 ? slots[0] : undefined;
    for await (const event of streamRun({ ...task, models, only }, call.signal)) {
      if (event.type === "queue") showQueue(slots, event.position);
      else if ("slot" in event) sides[event.slot].handle(event);
    }
    for (const slot of slots) sides[slot].fail("The run ended without an answer.");
  } catch (error) {
    for (const slot of slots) {
      if (call.signal.aborted) sides[slot].stop();
      else sides[slot].fail(error instanceof Error ? error.message : String(error));
    }
  } finally {
    activeCalls.delete(call);
    updateControls();
  }
}

/** @param {Slot[]} slots @param {number} position 1 is the next */
function showQueue(slots, position) {
  const sentence = position === 1 ? "You are next in line." : `${position - 1} ahead of you in line.`;
  for (const slot of slots) sides[slot].queue(sentence);
  announce(sentence);
}

/** Shows and enables the buttons that apply now. */
function updateControls() {
  const busy = activeCalls.size > 0;
  const stop = byId("stop");
  /** @type {HTMLButtonElement} */ (byId("go")).disabled = busy;
  if (!busy && document.activeElement === stop) stage.focus({ preventScroll: true });
  stop.hidden = !busy;
  byId("keeping").hidden = busy || !SLOTS.some((slot) => sides[slot].draft);
}

/** Announces to screen readers. Sentences that come together are joined, or only the last would be read out. @param {string} sentence */
function announce(sentence) {
  announcements.push(sentence);
  if (announcements.length > 1) return;
  setTimeout(() => {
    byId("said").textContent = announcements.join(" ");
    announcements = [];
  }, 100);
}

async function saveRun() {
  if (isSaving) return;
  const number = runCount;
  setSaving(true);
  try {
    const run = await request("POST", "/api/sandbox/runs", { json: { a: sides.a.draft ?? null, b: sides.b.draft ?? null } });
    if (number !== runCount) return;
    const link = document.createElement("a");
    link.href = run.url;
    link.textContent = new URL(run.url, location.href).href;
    savedNote.replaceChildren("Saved for 30 days: ", link, " You can delete it there.");
    byId("keep").hidden = true;
    link.focus({ preventScroll: true });
    announce("Run saved.");
  } catch (error) {
    if (number === runCount) savedNote.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    setSaving(false);
  }
}

/** `aria-disabled` instead of `disabled`: a disabled button would lose the focus. @param {boolean} on */
function setSaving(on) {
  isSaving = on;
  byId("keep").setAttribute("aria-disabled", String(on));
}

/** The model of the run, with the API key that the form holds now: a retry may follow a corrected key. @param {Slot} slot @param {ModelChoice} asked */
function withCurrentKey(slot, asked) {
  const chosen = pickers[slot].choice;
  return isSameModel(chosen, asked) ? chosen : asked;
}

function updateChatLink() {
  const query = new URLSearchParams({ words: promptInput.value.trim(), grid: inputById("grid").value, palette: inputById("palette").value });
  byId("chat").setAttribute("href", `/prompts/chat?${query}`);
}

form.hidden = false;
b.chooseDifferentFrom(a);
updateChatLink();
form.addEventListener("input", updateChatLink);
promptInput.addEventListener("input", clearPromptError);
for (const slot of SLOTS) {
  query(form, `[data-rival=${slot}]`).addEventListener("input", () => {
    for (const other of SLOTS) if (other !== slot) pickers[other].refreshKey();
  });
}
inputById("curated").addEventListener("change", () => {
  if (!inputById("curated").value) return;
  promptInput.value = inputById("curated").value;
  clearPromptError();
  updateChatLink();
});
const storeKeys = inputById("keep-keys");
storeKeys.checked = areStored();
storeKeys.addEventListener("change", () => setStored(storeKeys.checked));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (activeCalls.size) return;
  const task = readTask();
  const models = task && readModels();
  if (!task || !models) return;
  currentRun = { task, models, titles: [a.title, b.title] };
  byId("asked").textContent = task.prompt;
  stage.hidden = false;
  stage.focus({ preventScroll: true });
  stage.scrollIntoView({ block: "start" });
  startRun(currentRun, SLOTS);
});
byId("stop").addEventListener("click", () => {
  for (const call of activeCalls) call.abort();
});
byId("keep").addEventListener("click", saveRun);
for (const slot of SLOTS) {
  query(stage, `[data-side=${slot}] [data-does=retry]`).addEventListener("click", () => {
    if (!currentRun) return;
    const at = SLOTS.indexOf(slot);
    currentRun.models[at] = withCurrentKey(slot, currentRun.models[at]);
    startRun(currentRun, [slot]);
  });
}
// Leaving aborts the run, although the provider bills it.
addEventListener("beforeunload", (event) => activeCalls.size && event.preventDefault());
