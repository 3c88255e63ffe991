/** What a browser keeps of a visitor's habits. Storage throws where it is forbidden; habits then last as long as the page. */

/** @type {Map<string, string>} */
const kept = new Map();

/** @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(name) ?? kept.get(name);
  } catch {
    return kept.get(name);
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  kept.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch {}
}
