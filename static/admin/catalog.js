/** What the pages of models and of prompts share: switches, and the form. */
import { ask, complain } from "./api.js";
import { closable, one, part } from "./parts.js";

const dialog = /** @type {HTMLDialogElement} */ (part("edit"));
const trouble = part("edit-trouble");

/** @param {Element} element */
export function itemOf(element) {
  return JSON.parse(element.closest("[data-item]")?.getAttribute("data-item") ?? "null");
}

/** Switches go at once, and back if it did not work. @param {(item: any) => string} address */
export function switches(address) {
  for (const found of document.querySelectorAll("[data-switch]")) {
    const box = /** @type {HTMLInputElement} */ (found);
    box.disabled = false;
    box.addEventListener("change", async () => {
      part("trouble").hidden = true;
      try {
        await ask("PATCH", address(itemOf(box)), { json: { [box.dataset.switch ?? ""]: box.checked } });
      } catch (reason) {
        box.checked = !box.checked;
        blame(box, reason);
      }
    });
  }
}

/** In the row itself, where somebody looks. @param {Element} box @param {unknown} reason */
function blame(box, reason) {
  const row = one(/** @type {HTMLElement} */ (box.closest("tr")), "th");
  const place = row.querySelector(".problem") ?? row.appendChild(document.createElement("span"));
  place.className = "problem";
  place.setAttribute("role", "alert");
  complain(/** @type {HTMLElement} */ (place), reason);
}

/**
 * The form, for a new one or one that there is.
 * @param {{ fill: (item: any) => void, save: (item: any) => Promise<unknown>, blame?: (reason: unknown) => boolean }} form
 *   `item` is null for a new one; `blame` says whether it has shown the reason at its field
 */
export function forms({ fill, save, blame = () => false }) {
  /** @type {any} */
  let item = null;
  let busy = false;
  closable(dialog);
  part("orders").hidden = false;
  const open = (/** @type {Element} */ button) => {
    item = itemOf(button);
    trouble.hidden = true;
    one(dialog, "form").removeAttribute("data-touched");
    fill(item);
    dialog.showModal();
  };
  for (const button of document.querySelectorAll("[data-edit], [data-add]")) {
    button.removeAttribute("hidden");
    button.addEventListener("click", () => open(button));
  }
  one(dialog, "form").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    trouble.hidden = true;
    try {
      await save(item);
      location.reload();
    } catch (reason) {
      if (!blame(reason)) complain(trouble, reason);
      trouble.scrollIntoView({ block: "nearest" });
    } finally {
      busy = false;
    }
  });
}
