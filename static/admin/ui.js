/** What the console's scripts share beyond that: money, and the dialogs. */
import { query, byId } from "../dom.js";

export * from "../dom.js";

/** What is less than ten cents to a hundredth of a cent. @param {number} amount */
export function formatDollars(amount) {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
}

/** For those who listen. @param {string} words */
export function announce(words) {
  byId("said").textContent = words;
}

/** A dialog that also closes by its buttons. @param {HTMLDialogElement} dialog */
export function closeOnButtons(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
}

/** Asks before something that cannot be undone or costs money. @param {string} title @param {(Node | string)[]} words @param {string} yes */
export function confirmAction(title, words, yes) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sure"));
  const button = query(dialog, "[data-yes]");
  byId("sure-title").textContent = title;
  query(dialog, "[data-slot=words]").replaceChildren(...words);
  button.textContent = yes;
  return new Promise((resolve) => {
    button.onclick = () => dialog.close("yes");
    query(dialog, "[data-no]").onclick = () => dialog.close("");
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
    dialog.returnValue = "";
    dialog.showModal();
  });
}
