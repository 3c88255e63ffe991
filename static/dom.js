/** Helpers that scripts of several pages share: finding elements, and formatting numbers. */

const wholeNumber = new Intl.NumberFormat("en");

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}

/** @param {string} id */
export function inputById(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** @template {HTMLElement} [T=HTMLElement] @param {ParentNode} within @param {string} css @returns {T} */
export function query(within, css) {
  const found = within.querySelector(css);
  if (!found) throw new Error(`The page has no ${css}.`);
  return /** @type {T} */ (found);
}

/** @param {string} tag @param {string} words */
export function textElement(tag, words) {
  const element = document.createElement(tag);
  element.textContent = words;
  return element;
}

/** @param {number} number */
export function formatNumber(number) {
  return wholeNumber.format(number);
}

/** @param {number} number @param {string} word @param {string} [words] for several */
export function formatCount(number, word, words = `${word}s`) {
  return number === 1 ? `one ${word}` : `${formatNumber(number)} ${words}`;
}

/** 0:42, 12:05, 1:02:03 @param {number} ms */
export function formatDuration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
