/** Helpers of the console's scripts, beside those of `dom.js`: money, announcements, dialogs. */
import { byId, query } from "../dom.js";

export * from "../dom.js";

/** Amounts under ten cents get four decimals. @param {number} amount */
export function formatDollars(amount) {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
}

/** Announces to screen readers. @param {string} words */
export function announce(words) {
  byId("said").textContent = words;
}

/** Lets the dialog's buttons close it. @param {HTMLDialogElement} dialog */
export function closeOnButtons(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
}

/** Asks for confirmation of something that cannot be undone or costs money. @param {string} title @param {(Node | string)[]} words @param {string} yes */
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
