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
    const builds = countShown(`a[data-state=ready][data-shut="${beside.dataset.beside}"]`);
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

/** Says so where the filter leaves no cell. */
function showEmptyState() {
  if (!select) return;
  const state = select.value;
  const all = document.querySelector("#all:checked") !== null;
  const nothing = state !== "" && countShown(`a[data-state=${state}]${state === "missing" ? ":not([data-shut])" : ""}`, all) === 0;
  byId("none").hidden = !nothing;
  query(document, ".matrix").hidden = nothing;
  // The options read "what failed", "what is missing".
  byId("none").textContent = nothing ? `${select.selectedOptions[0]?.textContent?.replace("what", "Nothing")}.` : "";
}

/** How many shown cells match. @param {string} cell @param {boolean} [all] what is switched off, too */
function countShown(cell, all = false) {
  const on = all ? "" : ":not([data-off])";
  return document.querySelectorAll(`#matrix tbody tr${on} td${on} ${cell}`).length;
}
