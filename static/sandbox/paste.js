/** Checks a pasted text or a file, shows the build, and offers it in other formats. */
import { ApiError, request } from "../api.js";
import { byId, formatNumber, inputById, query, textElement } from "../dom.js";
import { loadTextures } from "../viewer/textures.js";
import { BuildViewer } from "../viewer/viewer.js";
import { Editor } from "./editor.js";
import { MAX_LISTED, locateWarnings } from "./locate-warnings.js";

/** Larger files are sent as they are, and not put into the editor. */
const MAX_EDITOR_BYTES = 1 << 20;
const TIMEOUT_MS = 120_000;

const form = /** @type {HTMLFormElement} */ (byId("paste"));
const editor = new Editor(byId("editor"));
const text = query(byId("editor"), "textarea");
const file = inputById("file");
const heldPanel = byId("held");
const verdict = byId("verdict");
const problems = byId("problems");
const downloads = byId("bring");
const formats = byId("formats");
/** A file that is too large for the editor, or not text. @type {File | undefined} */
let heldFile;
/** The object URL of the grid that is shown. */
let gridUrl = "";
/** Raised by every change of the input or its settings. An answer to an earlier request is dropped. */
let generation = 0;
let isPreparing = false;
/** A drag that begins in this page is not an import. */
let isInternalDrag = false;

function settings() {
  return { gridSize: inputById("grid").value, palette: inputById("palette").value };
}

async function check() {
  const body = heldFile ?? editor.value;
  const number = ++generation;
  hideResults();
  if (body === "") return setVerdict("bad", "Nothing to check yet. Paste a build or choose a file.");
  setVerdict("", "Checking …");
  try {
    const report = await requestReport(body);
    if (number === generation) await showReport(report, number);
  } catch (error) {
    if (number === generation) setVerdict("bad", error instanceof Error ? error.message : String(error));
  }
}

/** Returns the report even where the server refuses the build; throws where there is no report. @param {Blob | string} body @returns {Promise<CheckReport>} */
async function requestReport(body) {
  const query = new URLSearchParams({ ...settings(), encoded: "1" });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let response, answer;
  try {
    response = await fetch(`/api/check?${query}`, { method: "POST", body, signal });
    answer = await response.text();
  } catch {
    throw new ApiError(signal.aborted ? "The server did not answer within two minutes." : unreachable(body));
  }
  const report = parseJson(answer);
  if (report && "ok" in report) return report;
  throw new ApiError(report?.error ?? `The server answered ${response.status}.`, response.status);
}

/** @param {string} answer */
function parseJson(answer) {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

/** The server may close the connection on a body that is too large before its error can be read, so size is a likely cause. @param {Blob | string} body */
function unreachable(body) {
  const size = typeof body === "string" ? body.length : body.size;
  if (size <= MAX_EDITOR_BYTES) return "The server cannot be reached.";
  return `The connection was lost during the upload. The file has ${formatNumber(Math.ceil(size / (1 << 20)))} MiB, which may be more than this server accepts.`;
}

/** Hides the results of the previous text. */
function invalidate() {
  generation += 1;
  hideResults();
  editor.mark(new Map());
  if (verdict.textContent) setVerdict("", "The text has changed since it was checked.");
}

function hideResults() {
  problems.hidden = downloads.hidden = formats.hidden = true;
}

/** @param {CheckReport} report @param {number} number */
async function showReport(report, number) {
  const { ok, error, blockCount, bounds, warnings } = report;
  if (ok) {
    const spans = bounds ? bounds.max.map((max, axis) => max - bounds.min[axis] + 1) : [0, 0, 0];
    const size = `${formatNumber(blockCount)} blocks, ${spans[0]} wide, ${spans[1]} high, ${spans[2]} deep`;
    if (warnings.length) setVerdict("warn", `Valid, but not everything could be drawn: ${size}. See the warnings below.`);
    else setVerdict("good", `Valid build: ${size}.`);
  } else if (error) {
    const why = error.message.replace(/^the file cannot be read: /, "");
    setVerdict("bad", `${report.grid ? "This build would be rejected" : "This build cannot be read"}: ${why}.`);
  }
  showBuild(report);
  downloads.hidden = !ok;
  byId("brought").textContent = "Files for Minecraft, 3D software and 3D printing.";
  await listProblems(report, number);
}

/** @param {string} tone @param {string} words */
function setVerdict(tone, words) {
  verdict.replaceChildren(textElement("p", words));
  verdict.className = tone && `notice ${tone}`;
}

/** @param {CheckReport} report */
function showBuild({ grid, blockCount }) {
  if (gridUrl) URL.revokeObjectURL(gridUrl);
  gridUrl = "";
  const place = byId("hang");
  if (!grid || !blockCount) return place.replaceChildren(placeholder("Nothing to show."));
  const bytes = Uint8Array.from(atob(grid), (letter) => letter.charCodeAt(0));
  gridUrl = URL.createObjectURL(new Blob([bytes]));
  const viewer = new BuildViewer();
  viewer.setAttribute("src", gridUrl);
  viewer.setAttribute("name", "The build");
  viewer.setAttribute("summary", `${formatNumber(blockCount)} blocks.`);
  place.replaceChildren(viewer);
}

/** @param {string} words */
function placeholder(words) {
  const box = textElement("div", "");
  box.className = "blank";
  box.append(textElement("p", words));
  return box;
}

/** Lists warnings and errors, with links to their lines. @param {CheckReport} report @param {number} number */
async function listProblems({ warnings, error, gridSize, palette }, number) {
  /** @type {Map<number, "bad" | "warn">} */
  const marks = new Map();
  const items = warnings.map(({ message }) => textElement("li", message));
  if (!heldFile) {
    const meta = document.querySelector('meta[name="textures"]')?.getAttribute("content") ?? "/textures";
    const { blocks } = await loadTextures(meta);
    if (number !== generation) return;
    const all = warnings.length ? locateWarnings(editor.value, blocks, palette, gridSize) : [];
    for (const { from, to, message } of all.slice(0, MAX_LISTED)) {
      const { line, column } = editor.position(from);
      marks.set(line, "warn");
      items.push(problemLink(`Line ${line}, column ${column}`, message, from, to));
    }
    if (all.length > MAX_LISTED) items.push(textElement("li", `And ${formatNumber(all.length - MAX_LISTED)} more.`));
    if (error?.line) {
      const [from, to] = editor.lineRange(error.line);
      marks.set(error.line, "bad");
      items.unshift(problemLink(`Line ${error.line}, column ${error.column}`, "The error is here.", from, to));
    }
  }
  editor.mark(marks);
  problems.replaceChildren(...items);
  problems.hidden = items.length === 0;
}

/** @param {string} place @param {string} message @param {number} from @param {number} to */
function problemLink(place, message, from, to) {
  const item = textElement("li", "");
  const button = /** @type {HTMLButtonElement} */ (textElement("button", place));
  button.type = "button";
  button.className = "text";
  button.addEventListener("click", () => editor.select(from, to));
  item.append(button, ` ${message}`);
  return item;
}

/** @param {File} chosen */
async function loadFile(chosen) {
  invalidate();
  const number = generation;
  let content;
  try {
    content = await readText(chosen);
  } catch {
    if (number === generation) setVerdict("bad", `“${chosen.name}” cannot be read. Is it a folder?`);
    return;
  }
  if (number !== generation) return;
  heldFile = content === undefined ? chosen : undefined;
  if (content !== undefined) editor.value = content;
  heldPanel.hidden = !heldFile;
  byId("editor").hidden = heldFile !== undefined;
  query(heldPanel, "[data-slot=name]").textContent = chosen.name;
  query(heldPanel, "[data-slot=size]").textContent = `${formatNumber(Math.ceil(chosen.size / 1000))} kB`;
  await check();
}

/** Undefined for files that are too large for the editor, or not text. @param {File} chosen */
async function readText(chosen) {
  const isLarge = chosen.size > MAX_EDITOR_BYTES;
  const content = await (isLarge ? chosen.slice(0, 1) : chosen).text();
  return isLarge || /[\0\ufffd]/.test(content) ? undefined : content;
}

function removeFile() {
  invalidate();
  heldFile = undefined;
  heldPanel.hidden = true;
  byId("editor").hidden = false;
  text.focus();
}

/** Stores the build as a draft, from which the server makes the files for an hour. */
async function prepareDownloads() {
  if (isPreparing) return;
  const status = byId("brought");
  const words = byId("chat").dataset.words ?? "";
  const number = generation;
  setPreparing(true);
  status.textContent = "Preparing …";
  try {
    const query = new URLSearchParams({ ...settings(), prompt: words });
    const { draftId } = await request("POST", `/api/sandbox/drafts?${query}`, { body: heldFile ?? editor.value });
    if (number !== generation) return;
    for (const link of formats.querySelectorAll("a[data-format]")) {
      link.setAttribute("href", `/api/sandbox/drafts/${draftId}/export?format=${link.getAttribute("data-format")}`);
    }
    formats.hidden = false;
    status.textContent = "The links work for one hour.";
  } catch (error) {
    if (number === generation) status.textContent = error instanceof Error ? error.message : String(error);
  } finally {
    setPreparing(false);
  }
}

/** `aria-disabled` instead of `disabled`: a disabled button would lose the focus. @param {boolean} on */
function setPreparing(on) {
  isPreparing = on;
  byId("take").setAttribute("aria-disabled", String(on));
}

/** Accepts files, and text from outside the page. Text dropped on the textarea is left to the browser. @param {DragEvent} event */
function acceptsDrag({ dataTransfer, target }) {
  const types = dataTransfer?.types ?? [];
  return types.includes("Files") || (types.includes("text/plain") && !isInternalDrag && target !== text);
}

/** @param {DataTransfer} brought */
function handleDrop(brought) {
  const words = brought.getData("text");
  if (brought.files.length) loadFile(brought.files[0]);
  else if (words) {
    removeFile();
    editor.value = words;
    check();
  }
}

function updateChatLink() {
  const { gridSize, palette } = settings();
  const link = byId("chat");
  link.setAttribute("href", `/prompts/chat?${new URLSearchParams({ words: link.dataset.words ?? "", grid: gridSize, palette })}`);
}

form.hidden = false;
updateChatLink();
inputById("text").addEventListener("input", (event) => /** @type {InputEvent} */ (event).inputType === "insertFromPaste" && check());
inputById("text").addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && check());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
for (const name of ["grid", "palette"]) {
  inputById(name).addEventListener("change", () => {
    updateChatLink();
    if (verdict.textContent) check();
  });
}
text.addEventListener("input", invalidate);
file.addEventListener("change", () => {
  const chosen = file.files?.[0];
  // Without this, choosing the same file again after editing it would not fire an event.
  file.value = "";
  if (chosen) loadFile(chosen);
});
byId("put-away").addEventListener("click", removeFile);
byId("take").addEventListener("click", prepareDownloads);
addEventListener("dragstart", () => (isInternalDrag = true));
addEventListener("dragend", () => (isInternalDrag = false));
for (const kind of /** @type {const} */ (["dragenter", "dragover"])) {
  addEventListener(kind, (event) => {
    const accepted = acceptsDrag(event);
    if (accepted) event.preventDefault();
    form.toggleAttribute("data-over", accepted);
  });
}
addEventListener("dragleave", (event) => event.relatedTarget === null && form.removeAttribute("data-over"));
addEventListener("drop", (event) => {
  form.removeAttribute("data-over");
  if (!event.dataTransfer || !acceptsDrag(event)) return;
  event.preventDefault();
  handleDrop(event.dataTransfer);
});
