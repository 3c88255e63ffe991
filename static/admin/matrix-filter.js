/** The filter of the matrix, which is kept in the address, and the counts of builds that the totals leave out. */
import { byId, formatNumber, query } from "./ui.js";

const frame = query(document, ".coverage");
const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("only"));

/** Applies the filter of the address. */
export function setUp() {
  const wanted = new URLSearchParams(location.search).get("show");
  if (select && wanted && [...select.options].some(({ value }) => value === wanted)) select.value = wanted;
  select?.addEventListener("change", saveToAddress);
  frame.addEventListener("change", showEmptyState);
  showEmptyState();
}

/** Updates the counts after cells have changed. */
export function refresh() {
  showEmptyState();
  for (const beside of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-beside]"))) {
    const builds = shownCells(`a[data-state=ready][data-shut="${beside.dataset.beside}"]`).length;
    query(beside, "span").textContent = formatNumber(builds);
    beside.hidden = builds === 0;
  }
}

function saveToAddress() {
  const address = new URL(location.href);
  if (select?.value) address.searchParams.set("show", select.value);
  else address.searchParams.delete("show");
  history.replaceState(null, "", address);
}

/** Hides the columns that the filter empties, as the stylesheet does for rows, and says so where it leaves no cell. */
function showEmptyState() {
  if (!select) return;
  const state = select.value;
  const rest = state === "missing" ? ":not([data-shut])" : "";
  const all = document.querySelector("#all:checked") !== null;
  const rows = /** @type {NodeListOf<HTMLTableRowElement>} */ (document.querySelectorAll("#matrix tr"));
  const filled = new Set();
  for (const cell of state ? shownCells(`a[data-state=${state}]${rest}`, all) : []) {
    filled.add(cell.closest("td")?.cellIndex);
  }
  hideColumns(rows, state ? (column) => !filled.has(column) : () => false);
  const nothing = state !== "" && filled.size === 0;
  byId("none").hidden = !nothing;
  query(document, ".matrix").hidden = nothing;
  // The options read "what failed", "what is missing".
  byId("none").textContent = nothing ? `${select.selectedOptions[0]?.textContent?.replace("what", "Nothing")}.` : "";
}

/** The columns that are hidden now. */
let hidden = "";

/** @param {NodeListOf<HTMLTableRowElement>} rows @param {(column: number) => boolean} isEmpty */
function hideColumns(rows, isEmpty) {
  const columns = [...(rows[0]?.cells ?? [])].map((_, column) => column > 0 && isEmpty(column));
  const now = columns.join();
  if (now === hidden) return;
  hidden = now;
  for (const row of rows) {
    for (const cell of row.cells) cell.toggleAttribute("data-empty", columns[cell.cellIndex]);
  }
}

/** The shown cells that match. @param {string} cell @param {boolean} [all] what is switched off, too */
function shownCells(cell, all = false) {
  const on = all ? "" : ":not([data-off])";
  return document.querySelectorAll(`#matrix tbody tr${on} td${on} ${cell}`);
}
