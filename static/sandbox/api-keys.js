/** The API keys that a visitor types. They stay in memory, and go to local storage only where the visitor asks for it. */

const STORAGE_KEY = "sandbox-keys";

/** By provider, or by the endpoint's address. @type {Map<string, string>} */
const keys = new Map(readStorage());
let isStoring = keys.size > 0;

/** Whether keys are kept in local storage. */
export function areStored() {
  return isStoring;
}

/** @param {boolean} on */
export function setStored(on) {
  isStoring = on;
  writeStorage();
}

/** @param {string} whose */
export function loadKey(whose) {
  return keys.get(whose) ?? "";
}

/** @param {string} whose @param {string} key */
export function saveKey(whose, key) {
  if (!whose) return;
  if (key) keys.set(whose, key);
  else keys.delete(whose);
  if (isStoring) writeStorage();
}

function writeStorage() {
  try {
    if (isStoring && keys.size) localStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(keys)));
    else localStorage.removeItem(STORAGE_KEY);
  } catch {}
}

/** @returns {[string, string][]} */
function readStorage() {
  try {
    const all = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    return Object.entries(all).map(([whose, key]) => [whose, String(key)]);
  } catch {
    return [];
  }
}
