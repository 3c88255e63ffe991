/** A build that somebody brings: checked in place, shown, and taken away. */
import { Trouble, ask } from "../ask.js";
import { count, field, made, one, part } from "../parts.js";
import { loadTextures } from "../viewer/textures.js";
import { BuildViewer } from "../viewer/viewer.js";
import { Editor } from "./editor.js";
import { MOST, faults } from "./locate.js";

/** A larger file stays a file, and is not put into the text. */
const READABLE = 1 << 20;
const PATIENCE_MS = 120_000;

const form = /** @type {HTMLFormElement} */ (part("paste"));
const editor = new Editor(part("editor"));
const text = one(part("editor"), "textarea");
const file = field("file");
const held = part("held");
const verdict = part("verdict");
const problems = part("problems");
const bring = part("bring");
const formats = part("formats");
/** What is too large to be read here, or no text. @type {File | undefined} */
let holding;
/** The address of the grid on show. */
let shown = "";
/** Raised by whatever changes what is checked, or how: what was begun before counts no more. */
let latest = 0;
let isTaking = false;
/** A drag that begins in this page brings nothing. */
let isOurs = false;

function settings() {
  return { gridSize: field("grid").value, palette: field("palette").value };
}

async function check() {
  const body = holding ?? editor.value;
  const number = ++latest;
  retract();
  if (body === "") return say("bad", "There is nothing to check yet.");
  say("", "It is being checked …");
  try {
    const report = await verdictOn(body);
    if (number === latest) await tell(report, number);
  } catch (error) {
    if (number === latest) say("bad", error instanceof Error ? error.message : String(error));
  }
}

/** What could not be read is a verdict, too. @param {Blob | string} body @returns {Promise<Report>} */
async function verdictOn(body) {
  const query = new URLSearchParams({ ...settings(), encoded: "1" });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let response, answer;
  try {
    response = await fetch(`/api/check?${query}`, { method: "POST", body, signal });
    answer = await response.text();
  } catch {
    throw new Trouble(signal.aborted ? "The server did not answer within two minutes." : unreachable(body));
  }
  const told = read(answer);
  if (told && "ok" in told) return told;
  throw new Trouble(told?.error ?? `The server answered ${response.status}.`, response.status);
}

/** @param {string} answer */
function read(answer) {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

/** A server may hang up on what is too large before its refusal can be read. @param {Blob | string} body */
function unreachable(body) {
  const size = typeof body === "string" ? body.length : body.size;
  if (size <= READABLE) return "The server cannot be reached.";
  return `The connection was lost on the way. It is ${count(Math.ceil(size / (1 << 20)))} MiB, which may be more than this server takes.`;
}

/** Another text: what was said of the one before is no longer true. */
function changed() {
  latest += 1;
  retract();
  editor.mark(new Map());
  if (verdict.textContent) say("", "The text has changed since it was checked.");
}

function retract() {
  problems.hidden = bring.hidden = formats.hidden = true;
}

/** @param {Report} report @param {number} number */
async function tell(report, number) {
  const { ok, error, blockCount, bounds, warnings } = report;
  if (ok) {
    const spans = bounds ? bounds.max.map((max, axis) => max - bounds.min[axis] + 1) : [0, 0, 0];
    const size = `${count(blockCount)} blocks, ${spans[0]} wide, ${spans[1]} high, ${spans[2]} deep`;
    if (warnings.length) say("warn", `It counts as a build, but not all of it was drawn: ${size}. See below what is missing.`);
    else say("good", `A good build: ${size}.`);
  } else if (error) {
    const why = error.message.replace(/^the file cannot be read: /, "");
    say("bad", `${report.grid ? "As a build it would be refused" : "It cannot be read"}: ${why}.`);
  }
  show(report);
  bring.hidden = !ok;
  part("brought").textContent = "Files for Minecraft, 3D programs and printing.";
  await list(report, number);
}

/** @param {string} tone @param {string} words */
function say(tone, words) {
  verdict.replaceChildren(made("p", words));
  verdict.className = tone && `notice ${tone}`;
}

/** @param {Report} report */
function show({ grid, blockCount }) {
  if (shown) URL.revokeObjectURL(shown);
  shown = "";
  const place = part("hang");
  if (!grid || !blockCount) return place.replaceChildren(blank("There is nothing to show."));
  const bytes = Uint8Array.from(atob(grid), (letter) => letter.charCodeAt(0));
  shown = URL.createObjectURL(new Blob([bytes]));
  const viewer = new BuildViewer();
  viewer.setAttribute("src", shown);
  viewer.setAttribute("name", "The build");
  viewer.setAttribute("summary", `${count(blockCount)} blocks.`);
  place.replaceChildren(viewer);
}

/** @param {string} words */
function blank(words) {
  const box = made("div", "");
  box.className = "blank";
  box.append(made("p", words));
  return box;
}

/** Warnings and errors, each at its place. @param {Report} report @param {number} number */
async function list({ warnings, error, gridSize, palette }, number) {
  /** @type {Map<number, "bad" | "warn">} */
  const marks = new Map();
  const items = warnings.map(({ message }) => made("li", message));
  if (!holding) {
    const meta = document.querySelector('meta[name="textures"]')?.getAttribute("content") ?? "/textures";
    const { blocks } = await loadTextures(meta);
    if (number !== latest) return;
    const all = warnings.length ? faults(editor.value, blocks, palette, gridSize) : [];
    for (const { from, to, message } of all.slice(0, MOST)) {
      const { line, column } = editor.place(from);
      marks.set(line, "warn");
      items.push(leading(`Line ${line}, column ${column}`, message, from, to));
    }
    if (all.length > MOST) items.push(made("li", `And ${count(all.length - MOST)} more.`));
    if (error?.line) {
      const [from, to] = editor.span(error.line);
      marks.set(error.line, "bad");
      items.unshift(leading(`Line ${error.line}, column ${error.column}`, "Here it went wrong.", from, to));
    }
  }
  editor.mark(marks);
  problems.replaceChildren(...items);
  problems.hidden = items.length === 0;
}

/** @param {string} place @param {string} message @param {number} from @param {number} to */
function leading(place, message, from, to) {
  const item = made("li", "");
  const button = /** @type {HTMLButtonElement} */ (made("button", place));
  button.type = "button";
  button.className = "text";
  button.addEventListener("click", () => editor.select(from, to));
  item.append(button, ` ${message}`);
  return item;
}

/** @param {File} chosen */
async function take(chosen) {
  changed();
  const number = latest;
  let content;
  try {
    content = await textOf(chosen);
  } catch {
    if (number === latest) say("bad", `“${chosen.name}” cannot be read. Is it a folder?`);
    return;
  }
  if (number !== latest) return;
  holding = content === undefined ? chosen : undefined;
  if (content !== undefined) editor.value = content;
  held.hidden = !holding;
  part("editor").hidden = holding !== undefined;
  one(held, "[data-slot=name]").textContent = chosen.name;
  one(held, "[data-slot=size]").textContent = `${count(Math.ceil(chosen.size / 1000))} kB`;
  await check();
}

/** Nothing where it is large, or no text. @param {File} chosen */
async function textOf(chosen) {
  const isLarge = chosen.size > READABLE;
  const content = await (isLarge ? chosen.slice(0, 1) : chosen).text();
  return isLarge || /[\0\ufffd]/.test(content) ? undefined : content;
}

function putAway() {
  changed();
  holding = undefined;
  held.hidden = true;
  part("editor").hidden = false;
  text.focus();
}

/** Makes the files, which are there for an hour. */
async function takeAway() {
  if (isTaking) return;
  const told = part("brought");
  const words = part("chat").dataset.words ?? "";
  const number = latest;
  takingIs(true);
  told.textContent = "It is being prepared …";
  try {
    const query = new URLSearchParams({ ...settings(), prompt: words });
    const { draftId } = await ask("POST", `/api/sandbox/drafts?${query}`, { body: holding ?? editor.value });
    if (number !== latest) return;
    for (const link of formats.querySelectorAll("a[data-format]")) {
      link.setAttribute("href", `/api/sandbox/drafts/${draftId}/export?format=${link.getAttribute("data-format")}`);
    }
    formats.hidden = false;
    told.textContent = "They are there for an hour.";
  } catch (error) {
    if (number === latest) told.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    takingIs(false);
  }
}

/** The button keeps the focus. @param {boolean} on */
function takingIs(on) {
  isTaking = on;
  part("take").setAttribute("aria-disabled", String(on));
}

/** Files always; of text only what comes from elsewhere, and not into the text, which takes it by itself. @param {DragEvent} event */
function isForUs({ dataTransfer, target }) {
  const types = dataTransfer?.types ?? [];
  return types.includes("Files") || (types.includes("text/plain") && !isOurs && target !== text);
}

/** @param {DataTransfer} brought */
function receive(brought) {
  const words = brought.getData("text");
  if (brought.files.length) take(brought.files[0]);
  else if (words) {
    putAway();
    editor.value = words;
    check();
  }
}

function chat() {
  const { gridSize, palette } = settings();
  const link = part("chat");
  link.setAttribute("href", `/prompts/chat?${new URLSearchParams({ words: link.dataset.words ?? "", grid: gridSize, palette })}`);
}

form.hidden = false;
chat();
field("text").addEventListener("input", (event) => /** @type {InputEvent} */ (event).inputType === "insertFromPaste" && check());
field("text").addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && check());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
for (const name of ["grid", "palette"]) {
  field(name).addEventListener("change", () => {
    chat();
    if (verdict.textContent) check();
  });
}
text.addEventListener("input", changed);
file.addEventListener("change", () => {
  const chosen = file.files?.[0];
  // The same can be chosen again, once it is mended.
  file.value = "";
  if (chosen) take(chosen);
});
part("put-away").addEventListener("click", putAway);
part("take").addEventListener("click", takeAway);
addEventListener("dragstart", () => (isOurs = true));
addEventListener("dragend", () => (isOurs = false));
for (const kind of /** @type {const} */ (["dragenter", "dragover"])) {
  addEventListener(kind, (event) => {
    const wanted = isForUs(event);
    if (wanted) event.preventDefault();
    form.toggleAttribute("data-over", wanted);
  });
}
addEventListener("dragleave", (event) => event.relatedTarget === null && form.removeAttribute("data-over"));
addEventListener("drop", (event) => {
  form.removeAttribute("data-over");
  if (!event.dataTransfer || !isForUs(event)) return;
  event.preventDefault();
  receive(event.dataTransfer);
});
