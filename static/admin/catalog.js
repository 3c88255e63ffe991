/** What the pages of models and of prompts share: switches, and the form. */
import { ask, complain } from "./api.js";
import { closable, counted, field, made, one, part, say, sure } from "./parts.js";

const dialog = /** @type {HTMLDialogElement} */ (part("edit"));
const form = one(dialog, "form");
const trouble = part("edit-trouble");
/** Which row was saved before the page was loaded again. */
const SAVED = "admin-saved";

/** What is wrong with one field. */
export class Misfit extends Error {
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
 * Switches go at once, unless jobs wait for what is switched off, and back if it did not work.
 * @param {(item: any) => string} address @param {(job: { promptId: string, modelKey: string }, item: any) => boolean} isOf
 */
export function switches(address, isOf) {
  for (const found of document.querySelectorAll("[data-switch]")) {
    const box = /** @type {HTMLInputElement} */ (found);
    box.disabled = false;
    box.addEventListener("change", async () => {
      // By the keyboard it is reached while it waits, too.
      if (box.getAttribute("aria-disabled")) return void (box.checked = !box.checked);
      const item = itemOf(box);
      const on = box.checked;
      part("trouble").hidden = true;
      box.closest("tr")?.querySelector("th .problem")?.remove();
      box.setAttribute("aria-disabled", "true");
      try {
        if (on || (await meant((job) => isOf(job, item)))) await ask("PATCH", address(item), { json: { [box.dataset.switch ?? ""]: on } });
        else box.checked = true;
      } catch (reason) {
        box.checked = !on;
        blame(box, reason);
      } finally {
        box.removeAttribute("aria-disabled");
      }
    });
  }
}

/** Whether what is queued may be cancelled, if anything is. @param {(job: { promptId: string, modelKey: string }) => boolean} isOf */
async function meant(isOf) {
  const { queue } = /** @type {{ queue: Place[] }} */ (await ask("GET", "/api/admin/status"));
  const jobs = queue.filter(isOf);
  const queued = jobs.filter(({ state }) => state === "queued").length;
  const running = jobs.length - queued;
  if (queued === 0) return true;
  const words = [`What is queued, ${counted(queued, "build")}, will be cancelled.`, running ? `What is running, ${counted(running, "build")}, goes on: it is paid for.` : ""];
  return sure("Switch it off?", [made("p", words.join(" "))], "Switch it off");
}

/** In the row itself, where somebody looks. @param {Element} box @param {unknown} reason */
function blame(box, reason) {
  const row = one(/** @type {HTMLElement} */ (box.closest("tr")), "th");
  const place = row.appendChild(made("span", ""));
  place.className = "problem";
  place.setAttribute("role", "alert");
  complain(place, reason);
}

/** At the field. @param {string} id @param {unknown} reason */
export function mark(id, reason) {
  const input = field(id);
  forgive(input);
  const problem = made("span", "");
  problem.id = `${id}-trouble`;
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  input.closest(".field")?.append(problem);
  complain(problem, reason);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", [...described(input), problem.id].join(" "));
  input.closest("details")?.setAttribute("open", "");
}

/** @param {HTMLElement} input */
export function forgive(input) {
  document.getElementById(`${input.id}-trouble`)?.remove();
  input.removeAttribute("aria-invalid");
  const left = described(input);
  if (left.length) input.setAttribute("aria-describedby", left.join(" "));
  else input.removeAttribute("aria-describedby");
}

/** By what else. @param {HTMLElement} input */
function described(input) {
  const ids = (input.getAttribute("aria-describedby") ?? "").split(" ");
  return ids.filter((id) => id && id !== `${input.id}-trouble`);
}

function marked() {
  return /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[aria-invalid]"));
}

/** Marks what is to be filled in. Returns whether all of it is. */
function isComplete() {
  const wanted = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[required]"));
  const empty = [...wanted].filter((input) => input.checkVisibility() && !input.value.trim());
  for (const { id } of empty) mark(id, new Error("This is wanted."));
  return empty.length === 0;
}

/**
 * The form, for a new one or one that there is.
 * @param {{ fill: (item: any) => void, save: (item: any) => Promise<any>, fieldOf?: (reason: unknown) => string | undefined }} parts
 *   `item` is null for a new one; `save` returns it as it is now; `fieldOf` says what field a refusal is about
 */
export function forms({ fill, save, fieldOf = () => undefined }) {
  /** @type {any} */
  let item = null;
  let busy = false;
  closable(dialog);
  part("orders").hidden = false;
  const clear = () => {
    trouble.hidden = true;
    for (const input of marked()) forgive(input);
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
  form.addEventListener("input", ({ target }) => target instanceof HTMLElement && forgive(target));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    clear();
    try {
      if (isComplete()) leave(await save(item), item);
    } catch (reason) {
      const id = reason instanceof Misfit ? reason.id : fieldOf(reason);
      if (id) mark(id, reason);
      else complain(trouble, reason);
      trouble.scrollIntoView({ block: "nearest" });
    } finally {
      busy = false;
      marked()[0]?.focus();
    }
  });
  arrive();
}

/** The page is loaded again, and says what was saved. @param {any} saved @param {any} before */
function leave(saved, before) {
  sessionStorage.setItem(SAVED, JSON.stringify({ name: nameOf(saved), isNew: !before }));
  // Otherwise the browser goes back to where the page was.
  history.scrollRestoration = "manual";
  location.reload();
}

/** To the row that was saved. */
function arrive() {
  const { name, isNew } = JSON.parse(sessionStorage.getItem(SAVED) ?? "{}");
  sessionStorage.removeItem(SAVED);
  // Not before the browser would have gone back.
  addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
  const row = [...document.querySelectorAll("tr[data-item]")].find((row) => name && nameOf(itemOf(row)) === name);
  if (!row) return;
  row.setAttribute("data-saved", "");
  const words = isNew ? "Added just now" : "Saved just now";
  one(row, "th").append(" ", Object.assign(made("span", words), { className: "under saved" }));
  row.scrollIntoView({ block: "center" });
  one(row, "[data-edit]").focus({ preventScroll: true });
  say(`${name}: ${words.toLowerCase()}.`);
}

/** A model's key, a prompt's slug. @param {any} item */
function nameOf({ key, id }) {
  return key ?? id;
}
