/** A visitor's settings in local storage. Storage throws where the browser blocks it; settings then last as long as the page. */

/** @type {Map<string, string>} */
const fallback = new Map();

/** @param {string} name */
export function loadSetting(name) {
  try {
    return localStorage.getItem(name) ?? fallback.get(name);
  } catch {
    return fallback.get(name);
  }
}

/** @param {string} name @param {string} value */
export function saveSetting(name, value) {
  fallback.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch {}
}
