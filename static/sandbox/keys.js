/** Keys that a visitor types: in this page, and beyond it only where the visitor says so. */

const NAME = "sandbox-keys";

/** By provider, or by the address of an endpoint. @type {Map<string, string>} */
const keys = new Map(stored());
let keeping = keys.size > 0;

/** Whether they outlive the page. */
export function areKept() {
  return keeping;
}

/** @param {boolean} on */
export function keep(on) {
  keeping = on;
  write();
}

/** @param {string} whose */
export function recall(whose) {
  return keys.get(whose) ?? "";
}

/** @param {string} whose @param {string} key */
export function remember(whose, key) {
  if (!whose) return;
  if (key) keys.set(whose, key);
  else keys.delete(whose);
  if (keeping) write();
}

function write() {
  try {
    if (keeping && keys.size) localStorage.setItem(NAME, JSON.stringify(Object.fromEntries(keys)));
    else localStorage.removeItem(NAME);
  } catch {}
}

/** @returns {[string, string][]} */
function stored() {
  try {
    const all = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return Object.entries(all).map(([whose, key]) => [whose, String(key)]);
  } catch {
    return [];
  }
}
