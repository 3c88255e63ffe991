/** What is shown of the matrix, which the address remembers; and what there is beside the sum. */
import { count, one, part } from "./parts.js";

const frame = one(document, ".coverage");
const only = /** @type {HTMLSelectElement | null} */ (document.getElementById("only"));

/** The address may say what is shown. */
export function follow() {
  const asked = new URLSearchParams(location.search).get("show");
  if (only && asked && [...only.options].some(({ value }) => value === asked)) only.value = asked;
  only?.addEventListener("change", remember);
  frame.addEventListener("change", tell);
  tell();
}

/** As the cells are now. */
export function renew() {
  tell();
  for (const beside of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-beside]"))) {
    const builds = shown(`a[data-state=ready][data-shut="${beside.dataset.beside}"]`);
    one(beside, "span").textContent = count(builds);
    beside.hidden = builds === 0;
  }
}

function remember() {
  const address = new URL(location.href);
  if (only?.value) address.searchParams.set("show", only.value);
  else address.searchParams.delete("show");
  history.replaceState(null, "", address);
}

/** A grid without a row does not say that there is nothing. */
function tell() {
  if (!only) return;
  const state = only.value;
  const all = document.querySelector("#all:checked") !== null;
  const nothing = state !== "" && shown(`a[data-state=${state}]${state === "missing" ? ":not([data-shut])" : ""}`, all) === 0;
  part("none").hidden = !nothing;
  one(document, ".matrix").hidden = nothing;
  // The options say "what failed", "what is missing".
  part("none").textContent = nothing ? `${only.selectedOptions[0]?.textContent?.replace("what", "Nothing")}.` : "";
}

/** How many there are of these. @param {string} cell @param {boolean} [all] what is switched off, too */
function shown(cell, all = false) {
  const on = all ? "" : ":not([data-off])";
  return document.querySelectorAll(`#matrix tbody tr${on} td${on} ${cell}`).length;
}
