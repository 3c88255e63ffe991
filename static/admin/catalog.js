/** The parts that the pages of models and of prompts share: switches, and the form. */
import { request, showError } from "./api.js";
import { announce, byId, closeOnButtons, confirmAction, formatCount, inputById, query, textElement } from "./ui.js";

const dialog = /** @type {HTMLDialogElement} */ (byId("edit"));
const form = query(dialog, "form");
const trouble = byId("edit-trouble");
/** The session storage key of the row that was saved before the page reloaded. */
const SAVED_KEY = "admin-saved";

/** An error that belongs to one field. */
export class FieldError extends Error {
  /** @param {string} id of the field @param {string} message */
  constructor(id, message) {
    super(message);
    this.id = id;
  }
}

/** @param {Element} element */
export function itemOf(element) {
  return JSON.parse(element.closest("[data-item]")?.getAttribute("data-item") ?? "null");
}

/**
 * A switch takes effect at once; if jobs are queued, after a confirmation. It goes back where the request fails.
 * @param {(item: any) => string} address @param {(job: { promptId: string, modelKey: string }, item: any) => boolean} isOf
 */
export function setUpSwitches(address, isOf) {
  for (const found of document.querySelectorAll("[data-switch]")) {
    const box = /** @type {HTMLInputElement} */ (found);
    box.disabled = false;
    box.addEventListener("change", async () => {
      // `aria-disabled` keeps the focus but does not block the keyboard, so a change during the request is undone here.
      if (box.getAttribute("aria-disabled")) return void (box.checked = !box.checked);
      const item = itemOf(box);
      const on = box.checked;
      byId("trouble").hidden = true;
      box.closest("tr")?.querySelector("th .problem")?.remove();
      box.setAttribute("aria-disabled", "true");
      try {
        const { switch: field = "" } = box.dataset;
        // Only what is disabled has its queued jobs cancelled.
        if (on || field === "heldOut" || (await confirmSwitchOff((job) => isOf(job, item)))) await request("PATCH", address(item), { json: { [field]: on } });
        else box.checked = true;
      } catch (reason) {
        box.checked = !on;
        showRowError(box, reason);
      } finally {
        box.removeAttribute("aria-disabled");
      }
    });
  }
}

/** Asks for confirmation where switching off would cancel queued jobs. @param {(job: { promptId: string, modelKey: string }) => boolean} isOf */
async function confirmSwitchOff(isOf) {
  const { queue } = /** @type {{ queue: CellState[] }} */ (await request("GET", "/api/admin/status"));
  const jobs = queue.filter(isOf);
  const queued = jobs.filter(({ state }) => state === "queued").length;
  const running = jobs.length - queued;
  if (queued === 0) return true;
  const words = [`This cancels ${formatCount(queued, "queued build")}.`, running ? `It lets ${formatCount(running, "running build")} finish, billed in any case.` : ""];
  return confirmAction("Switch it off?", [textElement("p", words.join(" "))], "Switch it off");
}

/** Shows an error in the switch's row. @param {Element} box @param {unknown} reason */
function showRowError(box, reason) {
  const row = query(/** @type {HTMLElement} */ (box.closest("tr")), "th");
  const place = row.appendChild(textElement("span", ""));
  place.className = "problem";
  place.setAttribute("role", "alert");
  showError(place, reason);
}

/** Shows an error at a field. @param {string} id @param {unknown} reason */
export function markField(id, reason) {
  const input = inputById(id);
  clearFieldError(input);
  const problem = textElement("span", "");
  problem.id = `${id}-trouble`;
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  input.closest(".field")?.append(problem);
  showError(problem, reason);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", [...otherDescriptions(input), problem.id].join(" "));
  input.closest("details")?.setAttribute("open", "");
}

/** @param {HTMLElement} input */
export function clearFieldError(input) {
  document.getElementById(`${input.id}-trouble`)?.remove();
  input.removeAttribute("aria-invalid");
  const left = otherDescriptions(input);
  if (left.length) input.setAttribute("aria-describedby", left.join(" "));
  else input.removeAttribute("aria-describedby");
}

/** The ids in `aria-describedby`, but for the error's. @param {HTMLElement} input */
function otherDescriptions(input) {
  const ids = (input.getAttribute("aria-describedby") ?? "").split(" ");
  return ids.filter((id) => id && id !== `${input.id}-trouble`);
}

function invalidFields() {
  return /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[aria-invalid]"));
}

/** Marks empty required fields. Returns whether there are none. */
function isComplete() {
  const required = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[required]"));
  const empty = [...required].filter((input) => input.checkVisibility() && !input.value.trim());
  for (const { id } of empty) markField(id, new Error("Required."));
  return empty.length === 0;
}

/**
 * Sets up the form, for a new item or an existing one.
 * @param {{ fill: (item: any) => void, save: (item: any) => Promise<any>, fieldOf?: (reason: unknown) => string | undefined }} parts
 *   `item` is null for a new one; `save` returns it as it is now; `fieldOf` says what field a refusal is about
 */
export function setUpForm({ fill, save, fieldOf = () => undefined }) {
  /** @type {any} */
  let item = null;
  let busy = false;
  closeOnButtons(dialog);
  byId("orders").hidden = false;
  const clear = () => {
    trouble.hidden = true;
    for (const input of invalidFields()) clearFieldError(input);
  };
  const open = (/** @type {Element} */ button) => {
    item = itemOf(button);
    clear();
    form.removeAttribute("data-touched");
    fill(item);
    dialog.showModal();
  };
  for (const button of document.querySelectorAll("[data-edit], [data-add]")) {
    button.removeAttribute("hidden");
    button.addEventListener("click", () => open(button));
  }
  form.addEventListener("input", ({ target }) => target instanceof HTMLElement && clearFieldError(target));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    clear();
    try {
      if (isComplete()) reloadAfterSave(await save(item), item);
    } catch (reason) {
      const id = reason instanceof FieldError ? reason.id : fieldOf(reason);
      if (id) markField(id, reason);
      else showError(trouble, reason);
      trouble.scrollIntoView({ block: "nearest" });
    } finally {
      busy = false;
      invalidFields()[0]?.focus();
    }
  });
  showSaved();
}

/** Reloads the page, which then says what was saved. @param {any} saved @param {any} before */
function reloadAfterSave(saved, before) {
  sessionStorage.setItem(SAVED_KEY, JSON.stringify({ name: nameOf(saved), isNew: !before }));
  // Otherwise the browser would restore the scroll position instead of showing the saved row.
  history.scrollRestoration = "manual";
  location.reload();
}

/** Scrolls to the row that was saved before the page reloaded. */
function showSaved() {
  const { name, isNew } = JSON.parse(sessionStorage.getItem(SAVED_KEY) ?? "{}");
  sessionStorage.removeItem(SAVED_KEY);
  // Restored only after the browser would have applied it to this load.
  addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
  const row = [...document.querySelectorAll("tr[data-item]")].find((row) => name && nameOf(itemOf(row)) === name);
  if (!row) return;
  row.setAttribute("data-saved", "");
  const words = isNew ? "Added just now" : "Saved just now";
  query(row, "th").append(" ", Object.assign(textElement("span", words), { className: "under saved" }));
  row.scrollIntoView({ block: "center" });
  query(row, "[data-edit]").focus({ preventScroll: true });
  announce(`${name}: ${words.toLowerCase()}.`);
}

/** A model's key, a prompt's slug. @param {any} item */
function nameOf({ key, id }) {
  return key ?? id;
}
