/** What the console's scripts share beyond that: money, and the dialogs. */
import { one, part } from "../parts.js";

export * from "../parts.js";

/** What is less than ten cents to a hundredth of a cent. @param {number} amount */
export function dollars(amount) {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
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
