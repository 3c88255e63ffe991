/** Asks for confirmation before a saved run is deleted. */
import { byId } from "../dom.js";

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("forget"));

if (form) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("sure"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.returnValue = "";
    dialog.showModal();
  });
  // `submit()` does not fire the submit event, so the dialog does not open again.
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && form.submit());
}
