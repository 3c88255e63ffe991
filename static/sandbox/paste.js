/** A build that somebody brings: checked in place, shown, and taken away. */
import { Trouble, ask } from "../ask.js";
import { count, field, made, one, part } from "../parts.js";
import { loadTextures } from "../viewer/textures.js";
import { BuildViewer } from "../viewer/viewer.js";
import { Editor } from "./editor.js";
import { MOST, faults } from "./locate.js";

/** A larger file stays a file, and is not put into the text. */
const READABLE = 1 << 20;

const form = /** @type {HTMLFormElement} */ (part("paste"));
const editor = new Editor(part("editor"));
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
/** Only the latest check counts. */
let checks = 0;

function settings() {
  return { gridSize: field("grid").value, palette: field("palette").value };
}

async function check() {
  const body = holding ?? editor.value;
  if (body === "") return say("bad", "There is nothing to check yet.");
  const number = ++checks;
  const { gridSize, palette } = settings();
  say("", "It is being checked …");
  problems.hidden = bring.hidden = formats.hidden = true;
  try {
    const query = new URLSearchParams({ gridSize, palette, grid: "1" });
    const report = /** @type {Report} */ (await verdictOn(await fetch(`/api/check?${query}`, { method: "POST", body })));
    if (number === checks) await tell(report);
  } catch (error) {
    if (number === checks) say("bad", error instanceof Trouble ? error.message : "The server cannot be reached.");
  }
}

/** What could not be read is a verdict, too. @param {Response} response */
async function verdictOn(response) {
  const told = await response.json().catch(() => undefined);
  if (told && "ok" in told) return told;
  throw new Trouble(told?.error ?? `The server answered ${response.status}.`);
}

/** @param {Report} report */
async function tell(report) {
  const { ok, error, blockCount, bounds } = report;
  if (ok) {
    const spans = bounds ? bounds.max.map((max, axis) => max - bounds.min[axis] + 1) : [0, 0, 0];
    say("good", `A good build: ${count(blockCount)} blocks, ${spans[0]} wide, ${spans[1]} high, ${spans[2]} deep.`);
  } else if (error) {
    say("bad", `${report.grid ? "As a build it would be refused" : "It cannot be read"}: ${error.message}.`);
  }
  show(report);
  bring.hidden = !ok;
  part("brought").textContent = "Files for Minecraft, 3D programs and printing.";
  await list(report);
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

/** Warnings and errors, each at its place. @param {Report} report */
async function list({ warnings, error, gridSize, palette }) {
  /** @type {Map<number, "bad" | "warn">} */
  const marks = new Map();
  const items = warnings.map(({ message }) => made("li", message));
  if (!holding) {
    const meta = document.querySelector('meta[name="textures"]')?.getAttribute("content") ?? "/textures";
    const { blocks } = await loadTextures(meta);
    const all = warnings.length ? faults(editor.value, blocks, palette, gridSize) : [];
    for (const { from, to, message } of all.slice(0, MOST)) {
      const { line } = editor.place(from);
      marks.set(line, "warn");
      items.push(leading(`Line ${line}`, message, from, to));
    }
    if (all.length > MOST) items.push(made("li", `And ${count(all.length - MOST)} more.`));
    if (error?.line) {
      const [from, to] = editor.span(error.line);
      marks.set(error.line, "bad");
      items.unshift(leading(`Line ${error.line}, column ${error.column}`, error.message, from, to));
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
  const text = chosen.size <= READABLE ? await chosen.text() : undefined;
  const isText = text !== undefined && !text.includes("\0") && !text.includes("\ufffd");
  holding = isText ? undefined : chosen;
  if (isText) editor.value = text;
  held.hidden = !holding;
  part("editor").hidden = holding !== undefined;
  one(held, "[data-slot=name]").textContent = chosen.name;
  one(held, "[data-slot=size]").textContent = `${count(Math.ceil(chosen.size / 1000))} kB`;
  await check();
}

function putAway() {
  holding = undefined;
  file.value = "";
  held.hidden = true;
  part("editor").hidden = false;
  one(part("editor"), "textarea").focus();
}

/** Makes the files, which are there for an hour. */
async function takeAway() {
  const button = /** @type {HTMLButtonElement} */ (part("take"));
  const told = part("brought");
  const words = part("chat").dataset.words ?? "";
  button.disabled = true;
  told.textContent = "It is being prepared …";
  try {
    const query = new URLSearchParams({ ...settings(), prompt: words });
    const { draftId } = await ask("POST", `/api/sandbox/drafts?${query}`, { body: holding ?? editor.value });
    for (const link of formats.querySelectorAll("a[data-format]")) {
      link.setAttribute("href", `/api/sandbox/drafts/${draftId}/export?format=${link.getAttribute("data-format")}`);
    }
    formats.hidden = false;
    told.textContent = "They are there for an hour.";
  } catch (error) {
    told.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    button.disabled = false;
  }
}

function chat() {
  const { gridSize, palette } = settings();
  const link = part("chat");
  link.setAttribute("href", `/prompts/chat?${new URLSearchParams({ words: link.dataset.words ?? "", grid: gridSize, palette })}`);
}

form.hidden = false;
chat();
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
file.addEventListener("change", () => file.files?.[0] && take(file.files[0]));
part("put-away").addEventListener("click", putAway);
part("take").addEventListener("click", takeAway);
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    form.toggleAttribute("data-over", true);
  });
}
addEventListener("dragleave", (event) => event.relatedTarget === null && form.removeAttribute("data-over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  form.removeAttribute("data-over");
  const dropped = /** @type {DragEvent} */ (event).dataTransfer;
  if (dropped?.files.length) take(dropped.files[0]);
  else if (dropped?.getData("text")) {
    putAway();
    editor.value = dropped.getData("text");
    check();
  }
});
