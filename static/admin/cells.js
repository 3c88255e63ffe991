/** The cells of the matrix: finding, drawing and walking over them. */
import { byId, formatDuration, formatNumber, query } from "./ui.js";

const table = document.getElementById("matrix");
const frame = query(document, ".coverage");
/** Milliseconds that this clock is ahead of the server's. */
const clockOffset = Date.now() - Number(frame.dataset.now);

/** @type {Map<string, HTMLAnchorElement>} */
const cells = new Map();
for (const row of table?.querySelectorAll("tbody tr") ?? []) {
  for (const cell of row.querySelectorAll("a")) cells.set(placeOf(cell), cell);
}

/** The cell's `prompt/model`, which its address ends in. @param {HTMLAnchorElement} cell */
export function placeOf(cell) {
  return cell.pathname.split("/").slice(-2).join("/");
}

/** @param {string} place */
export function cellAt(place) {
  return cells.get(place);
}

export function allCells() {
  return cells.values();
}

/** @param {HTMLAnchorElement} cell @returns {CellState} */
export function readCell(cell) {
  return cell.dataset.cell ? JSON.parse(cell.dataset.cell) : emptyPlace(cell);
}

/** The state of a cell without job or build. @param {HTMLAnchorElement} cell @returns {CellState} */
export function emptyPlace(cell) {
  const [promptId = "", modelKey = ""] = placeOf(cell).split("/");
  const empty = { jobId: null, buildId: null, blockCount: null, since: null, attempts: 0, chars: 0, note: null, code: null, error: null };
  return { promptId, modelKey, state: "missing", ...empty };
}

/** @param {HTMLAnchorElement} cell */
export function headings(cell) {
  const row = /** @type {HTMLTableRowElement} */ (cell.closest("tr"));
  const column = query(document, `#matrix th[data-model="${readCell(cell).modelKey}"]`);
  return {
    prompt: row.dataset.text ?? "",
    model: column.dataset.name ?? "",
    /** The display name of the provider that is asked. */
    asked: column.dataset.asked,
    why: column.dataset.why,
    off: row.hasAttribute("data-off") || column.hasAttribute("data-off"),
  };
}

/** @param {CellState} place @returns {CellStatus | undefined} the state before, if there is such a cell */
export function updateCell(place) {
  const cell = cells.get(`${place.promptId}/${place.modelKey}`);
  if (!cell) return undefined;
  const before = readCell(cell).state;
  // A retired build leaves the cell missing, but its job can still be opened.
  const json = place.state === "missing" && !place.jobId ? "" : JSON.stringify(place);
  if ((cell.dataset.cell ?? "") === json) return before;
  if (json) cell.dataset.cell = json;
  else delete cell.dataset.cell;
  cell.dataset.state = place.state;
  if (place.error) cell.title = place.error;
  else cell.removeAttribute("title");
  if (place.buildId) cell.replaceChildren(picture(place.buildId), label("ready", true));
  else fillCell(cell, place);
  return before;
}

/** @param {HTMLAnchorElement} cell @param {CellState} place */
function fillCell(cell, place) {
  const more = document.createElement("small");
  more.textContent = detailOf(place);
  cell.replaceChildren(label(labelOf(place)), " ", more);
}

/** @param {string} text */
function label(text, spoken = false) {
  const element = document.createElement("b");
  element.textContent = text;
  element.classList.toggle("spoken", spoken);
  return element;
}

/** @param {string} build */
function picture(build) {
  const image = new Image(64, 64);
  image.alt = "";
  image.decoding = "async";
  image.src = `/api/builds/${build}/image?size=128&background=transparent`;
  return image;
}

/** @param {CellState} place */
function labelOf({ state, since }) {
  return state === "running" && since ? elapsed(since) : state;
}

/** @param {number} since */
export function elapsed(since) {
  return formatDuration(Date.now() - clockOffset - since);
}

/** The second line of a cell. @param {CellState} place */
function detailOf({ state, note, chars, attempts, code }) {
  if (state === "queued") return note ?? "";
  if (state === "failed") return (code ?? "").replaceAll("_", " ");
  if (state !== "running") return "";
  return [note, chars && `${abbreviate(chars)} chars`, attempts > 1 && `try ${attempts}`].filter(Boolean).join(", ");
}

/** 840, 3.2k @param {number} number */
function abbreviate(number) {
  return number < 1000 ? String(number) : `${(number / 1000).toFixed(1)}k`;
}

/** The cell's state as a phrase, for the panel. @param {CellState} place */
export function describe({ state, since, attempts, chars, note, blockCount }) {
  if (state === "ready") return blockCount === null ? "" : `${formatNumber(blockCount)} blocks`;
  if (state === "queued") return note ?? "waiting for a free slot";
  if (state !== "running") return "";
  const received = chars ? `${formatNumber(chars)} characters of the answer` : "no answer yet";
  return [since && `for ${elapsed(since)}`, `attempt ${Math.max(attempts, 1)}`, received, note].filter(Boolean).join(", ");
}

/** Updates the elapsed times of running jobs. */
export function updateClocks() {
  for (const cell of table?.querySelectorAll("a[data-state=running]") ?? []) {
    const { since } = readCell(/** @type {HTMLAnchorElement} */ (cell));
    if (since) query(cell, "b").textContent = elapsed(since);
  }
}

/** What arrow keys move between. */
const STOPS = "td a, th button";

/** @type {HTMLElement | undefined} the stop that Tab reaches */
let current;

/** Makes the matrix an ARIA grid: Tab reaches one cell or heading, arrow keys move between them. */
export function enableArrowKeys() {
  if (!table) return;
  table.setAttribute("role", "grid");
  query(document, ".matrix").removeAttribute("tabindex");
  for (const stop of stopsIn(table)) stop.tabIndex = -1;
  moveTabStop([...cells.values()].find(isVisible));
  table.addEventListener("focusin", ({ target }) => moveTabStop(stopOf(target)));
  table.addEventListener("keydown", (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    const stop = stopOf(target);
    const next = stop && !metaKey && !altKey ? neighbour(stop, key, ctrlKey) : undefined;
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  // A filter may hide the cell that Tab reaches; another one takes its place.
  byId("matrix-title").closest("section")?.addEventListener("change", () => {
    if (!current || !isVisible(current)) moveTabStop([...cells.values()].find(isVisible));
  });
}

/** Runs a change that may hide what has the focus, and moves the focus to what is shown next to it. @param {() => void} change */
export function keepFocus(change) {
  const focused = stopOf(document.activeElement);
  change();
  if (!table || !focused || isVisible(focused)) return;
  const alike = focused instanceof HTMLAnchorElement ? "td a" : "th button";
  const stops = [.../** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll(alike))];
  const place = stops.indexOf(focused);
  const next = stops.slice(place).find(isVisible) ?? stops.slice(0, place).filter(isVisible).at(-1);
  next?.focus();
}

/** @param {HTMLElement | undefined} stop */
function moveTabStop(stop) {
  if (!stop) return;
  if (current) current.tabIndex = -1;
  current = stop;
  stop.tabIndex = 0;
}

/** @param {EventTarget | null} target @returns {HTMLElement | undefined} */
function stopOf(target) {
  return target instanceof HTMLElement && table?.contains(target) && target.matches(STOPS) ? target : undefined;
}

/** @param {Element} part @returns {NodeListOf<HTMLElement>} */
function stopsIn(part) {
  return part.querySelectorAll(STOPS);
}

/** @param {HTMLElement} stop */
function columnOf(stop) {
  return /** @type {HTMLTableCellElement} */ (stop.closest("td, th")).cellIndex;
}

/** @param {HTMLElement} stop @param {string} key @param {boolean} far @returns {HTMLElement | undefined} */
function neighbour(stop, key, far) {
  const rows = [.../** @type {HTMLTableElement} */ (table).rows].filter((row) => row.checkVisibility());
  const row = /** @type {HTMLTableRowElement} */ (stop.closest("tr"));
  const shown = (/** @type {Element} */ line) => [...stopsIn(line)].filter(isVisible);
  const line = shown(row);
  const x = line.indexOf(stop);
  if (key === "ArrowRight") return line[x + 1];
  if (key === "ArrowLeft") return line[x - 1];
  if (key === "Home") return shown(far ? rows[0] ?? row : row)[0];
  if (key === "End") return shown(far ? rows.at(-1) ?? row : row).at(-1);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
  if (!step) return undefined;
  const y = rows.indexOf(row);
  const down = Math.min(Math.max(y + step, 0), rows.length - 1);
  if (down === y) return undefined;
  const ahead = step > 0 ? rows.slice(down) : rows.slice(0, down + 1).reverse();
  const column = columnOf(stop);
  return ahead.map((other) => shown(other).find((one) => columnOf(one) === column)).find(Boolean);
}

/** Whether a stop can have the focus: the filter hides single cells without taking their place away. @param {HTMLElement} stop */
function isVisible(stop) {
  return stop.checkVisibility({ visibilityProperty: true });
}
