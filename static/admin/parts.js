/** What the console's scripts share: parts of the page, numbers in words, and the dialogs. */

const whole = new Intl.NumberFormat("en");

/** @param {string} id @returns {HTMLElement} */
export function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}

/** @param {string} id */
export function field(id) {
  return /** @type {HTMLInputElement} */ (part(id));
}

/** @template {HTMLElement} [T=HTMLElement] @param {ParentNode} within @param {string} css @returns {T} */
export function one(within, css) {
  const found = within.querySelector(css);
  if (!found) throw new Error(`The page has no ${css}.`);
  return /** @type {T} */ (found);
}

/** @param {string} tag @param {string} words */
export function made(tag, words) {
  const element = document.createElement(tag);
  element.textContent = words;
  return element;
}

/** @param {number} number */
export function count(number) {
  return whole.format(number);
}

/** @param {number} number @param {string} word */
export function counted(number, word) {
  return `${number === 1 ? "one" : count(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** @param {number} amount */
export function dollars(amount) {
  return `$${amount.toFixed(amount > 0 && amount < 1 ? 4 : 2)}`;
}

/** 0:42, 12:05, 1:02:03 @param {number} ms */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** For those who listen. @param {string} words */
export function say(words) {
  part("said").textContent = words;
}

/** A dialog that also closes by its buttons. @param {HTMLDialogElement} dialog */
export function closable(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
}

/** Asks before something that cannot be undone or costs money. @param {string} title @param {(Node | string)[]} words @param {string} yes */
export function sure(title, words, yes) {
  const dialog = /** @type {HTMLDialogElement} */ (part("sure"));
  const button = one(dialog, "[data-yes]");
  part("sure-title").textContent = title;
  one(dialog, "[data-slot=words]").replaceChildren(...words);
  button.textContent = yes;
  return new Promise((resolve) => {
    button.onclick = () => dialog.close("yes");
    one(dialog, "[data-no]").onclick = () => dialog.close("");
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    dialog.returnValue = "";
    dialog.showModal();
  });
}
