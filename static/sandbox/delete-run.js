/** Asks once more before a kept run is deleted. */
import { byId } from "../dom.js";

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("forget"));

if (form) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sure"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.returnValue = "";
    dialog.showModal();
  });
  // Without asking again.
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && form.submit());
}
