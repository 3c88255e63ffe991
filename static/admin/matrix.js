/** The coverage matrix, live. */
import * as cells from "./cells.js";
import * as orders from "./bulk-actions.js";
import { CellPanel } from "./panel.js";
import * as view from "./matrix-filter.js";
import { formatNumber, formatCount, formatDollars, byId, announce } from "./ui.js";
import { subscribe } from "./event-stream.js";

const UNDER_WAY = ["queued", "running"];

const panel = new CellPanel();

/** @param {MatrixChange} change */
function applyChange({ whole, cells: changed, sum }) {
  const before = changed.map((place) => cells.updateCell(place));
  if (whole) clearMissing(changed);
  showTotals(sum);
  announceEnded(changed.filter(({ state }, index) => !UNDER_WAY.includes(state) && UNDER_WAY.includes(before[index] ?? "")));
  view.refresh();
  panel.refresh();
}

/** All cells but those in which there is something. @param {CellState[]} full */
function clearMissing(full) {
  const places = new Set(full.map(({ promptId, modelKey }) => `${promptId}/${modelKey}`));
  for (const cell of cells.allCells()) {
    if (cell.dataset.cell && !places.has(cells.placeOf(cell))) cells.updateCell(cells.emptyPlace(cell));
  }
}

/** @param {CoverageTotals} sum */
function showTotals(sum) {
  for (const slot of document.querySelectorAll("[data-sum]")) {
    const name = /** @type {keyof CoverageTotals} */ (/** @type {HTMLElement} */ (slot).dataset.sum);
    slot.textContent = name === "spent" ? formatDollars(sum.spent) : formatNumber(sum[name]);
    const some = /** @type {HTMLElement | null} */ (slot.closest("[data-some]"));
    if (some) some.hidden = sum[name] === 0;
  }
  orders.updateButtons(sum);
}

/** The ends of jobs, for those who listen. @param {CellState[]} ended */
function announceEnded(ended) {
  if (ended.length > 3) return announce(`${formatCount(ended.length, "job")} ended.`);
  const sentence = (/** @type {CellState} */ place) => {
    const cell = cells.cellAt(`${place.promptId}/${place.modelKey}`);
    const { prompt, model } = cell ? cells.headings(cell) : { prompt: place.promptId, model: place.modelKey };
    return `${prompt} by ${model}: ${place.state}.`;
  };
  if (ended.length > 0) announce(ended.map(sentence).join(" "));
}

/** An address may name a cell. */
function openFromHash() {
  const cell = cells.cellAt(decodeURIComponent(location.hash.slice(1)));
  if (!cell) return;
  history.replaceState(null, "", location.pathname + location.search);
  cell.scrollIntoView({ block: "center", inline: "center" });
  panel.open(cell);
}

document.getElementById("matrix")?.addEventListener("click", (event) => {
  const { target, ctrlKey, metaKey, shiftKey } = event;
  const cell = target instanceof Element ? target.closest("a") : null;
  if (!cell || ctrlKey || metaKey || shiftKey) return;
  event.preventDefault();
  panel.open(cell);
});
// A file that misses the cells is not to take the page away. Cells, as links, can be dragged themselves.
for (const kind of ["dragover", "drop"]) {
  document.querySelector(".matrix")?.addEventListener(kind, (event) => {
    const { target, dataTransfer } = /** @type {DragEvent} */ (event);
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const cell = target instanceof Element ? target.closest("a") : null;
    if (cell && kind === "drop") panel.open(cell, dataTransfer);
  });
}
for (const cell of cells.allCells()) cell.setAttribute("aria-haspopup", "dialog");
cells.enableArrowKeys();
view.setUp();
orders.setUp();
setInterval(() => {
  cells.updateClocks();
  panel.tick();
}, 1000);
panel.onAction = subscribe("/api/admin/events", byId("line"), "matrix", applyChange);
addEventListener("hashchange", openFromHash);
openFromHash();
