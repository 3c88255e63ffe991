/** Asks once more before a kept run is deleted. */
import { part } from "../parts.js";

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("forget"));

if (form) {
  const sure = /** @type {HTMLDialogElement} */ (part("sure"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sure.returnValue = "";
    sure.showModal();
  });
  // Without asking again.
  sure.addEventListener("close", () => sure.returnValue === "yes" && form.submit());
}
