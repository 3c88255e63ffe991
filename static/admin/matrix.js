/** The coverage matrix, kept up to date by server-sent events. */
import * as cells from "./cells.js";
import * as bulkActions from "./bulk-actions.js";
import { CellPanel } from "./panel.js";
import * as filter from "./matrix-filter.js";
import * as lineActions from "./line-actions.js";
import { announce, byId, formatCount, formatDollars, formatNumber } from "./ui.js";
import { showPauses } from "./pauses.js";
import { showReasons } from "./reasons.js";
import { subscribe } from "./event-stream.js";

const UNDER_WAY = ["queued", "running"];

const panel = new CellPanel();

/** @param {MatrixChange} change */
function applyChange(change) {
  cells.keepFocus(() => showChange(change));
}

/** @param {MatrixChange} change */
function showChange({ whole, cells: changed, sum, pauses }) {
  const before = changed.map((place) => cells.updateCell(place));
  if (whole) clearMissing(changed);
  showTotals(sum);
  showPauses(pauses);
  showReasons(sum.failures);
  announceEnded(changed.filter(({ state }, index) => !UNDER_WAY.includes(state) && UNDER_WAY.includes(before[index] ?? "")));
  filter.refresh();
  panel.refresh();
  lineActions.refresh();
}

/** Empties the cells that a whole matrix does not list. @param {CellState[]} full */
function clearMissing(full) {
  const places = new Set(full.map(({ promptId, modelKey }) => `${promptId}/${modelKey}`));
  for (const cell of cells.allCells()) {
    if (cell.dataset.cell && !places.has(cells.placeOf(cell))) cells.updateCell(cells.emptyPlace(cell));
  }
}

/** @param {CoverageTotals} sum */
function showTotals(sum) {
  for (const slot of document.querySelectorAll("[data-sum]")) {
    const name = /** @type {Exclude<keyof CoverageTotals, "failures">} */ (/** @type {HTMLElement} */ (slot).dataset.sum);
    slot.textContent = name === "spent" ? formatSpent(sum) : formatNumber(sum[name]);
    const some = /** @type {HTMLElement | null} */ (slot.closest("[data-some]"));
    if (some) some.hidden = sum[name] === 0;
  }
  bulkActions.updateButtons(sum);
}

/** What all attempts have cost, as far as known. @param {CoverageTotals} sum */
function formatSpent({ spent, unpriced }) {
  if (unpriced === 0) return formatDollars(spent);
  return spent > 0 ? `≥\u00a0${formatDollars(spent)}` : "—";
}

/** Announces to screen readers which jobs have ended. @param {CellState[]} ended */
function announceEnded(ended) {
  if (ended.length > 3) return announce(`${formatCount(ended.length, "job")} ended.`);
  const sentence = (/** @type {CellState} */ place) => {
    const cell = cells.cellAt(`${place.promptId}/${place.modelKey}`);
    const { prompt, model } = cell ? cells.headings(cell) : { prompt: place.promptId, model: place.modelKey };
    return `${prompt} by ${model}: ${place.state}.`;
  };
  if (ended.length > 0) announce(ended.map(sentence).join(" "));
}

/** Opens the cell that the address names. */
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
// Without this, a file dropped beside the cells would replace the page. Only files count: cells are links, which can be dragged, too.
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
filter.setUp();
bulkActions.setUp();
lineActions.setUp();
cells.enableArrowKeys();
setInterval(() => {
  cells.updateClocks();
  panel.tick();
}, 1000);
panel.onAction = subscribe("/api/admin/events", byId("line"), "matrix", applyChange);
addEventListener("hashchange", openFromHash);
openFromHash();
