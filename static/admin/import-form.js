/** Imports a build into a cell: pasted, dropped or chosen as a file. */
import { ApiError, request, showError } from "./api.js";
import { byId, formatCount, formatNumber, inputById, query, textElement } from "./ui.js";

const ALREADY_THERE = "There is already a build here. To replace it, tick “Retire the existing build”.";

export class ImportForm {
  #form;
  #pasted = inputById("pasted");
  #file = inputById("file");
  #overwrite = inputById("over");
  #trouble = byId("bring-trouble");
  /** @type {CellState | undefined} */
  #place;
  #busy = false;

  /** @param {HTMLDialogElement} dialog @param {{ started: () => void, done: (message: string, imported: ImportResult) => void }} callbacks */
  constructor(dialog, callbacks) {
    this.callbacks = callbacks;
    this.dialog = dialog;
    this.#form = query(dialog, "form.bring");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    for (const kind of ["dragenter", "dragover"]) {
      dialog.addEventListener(kind, (event) => {
        event.preventDefault();
        dialog.toggleAttribute("data-over", true);
      });
    }
    dialog.addEventListener("dragleave", () => dialog.removeAttribute("data-over"));
    dialog.addEventListener("drop", (event) => {
      event.preventDefault();
      dialog.removeAttribute("data-over");
      this.fillFromDrop(event.dataTransfer);
    });
    this.#pasted.addEventListener("input", () => this.#clear(this.#file));
    this.#file.addEventListener("input", () => this.#clear(this.#pasted));
  }

  /** @param {CellState} place */
  reset(place) {
    this.#place = place;
    this.#pasted.value = "";
    this.#file.value = "";
    this.#overwrite.checked = false;
    this.#clear();
  }

  /** @param {CellState} place as it is now */
  update(place) {
    this.#place = place;
    this.#slot("over").hidden = place.state !== "ready";
    if (place.state !== "ready" && !this.#trouble.hidden && this.#trouble.textContent === ALREADY_THERE) this.#clear();
  }

  /** Fills in what was dropped and focuses the button, which imports it. @param {DataTransfer | null} dropped */
  fillFromDrop(dropped) {
    const file = dropped?.files[0];
    const text = dropped?.getData("text") ?? "";
    if (!file && !text) return;
    if (file) this.#file.files = /** @type {DataTransfer} */ (dropped).files;
    else this.#pasted.value = text;
    this.#clear(file ? this.#pasted : this.#file);
    this.#slot("brought").replaceChildren(file ? `${file.name} is ready to import.` : "The text is ready to import.");
    const button = query(this.#form, "[type=submit]");
    button.focus();
    button.scrollIntoView({ block: "center" });
  }

  async #submit() {
    const place = this.#place;
    const body = this.#file.files?.[0] ?? this.#pasted.value;
    if (!place || this.#busy) return;
    if (body === "") return this.#showFailure(new Error("Nothing to import yet. Paste a build or choose a file."));
    this.#busy = true;
    this.#clear();
    this.callbacks.started();
    this.#slot("brought").replaceChildren("Importing …");
    const params = new URLSearchParams({ promptId: place.promptId, modelKey: place.modelKey });
    if (this.#overwrite.checked && place.state === "ready") params.set("overwrite", "1");
    try {
      const imported = await request("POST", `/api/admin/import-build?${params}`, { body });
      if (isSamePlace(place, this.#place)) this.#showResult(imported);
    } catch (trouble) {
      if (isSamePlace(place, this.#place)) this.#showFailure(trouble);
    } finally {
      this.#busy = false;
    }
  }

  /** @param {ImportResult} imported */
  #showResult(imported) {
    const { blockCount, warnings, overwritten } = imported;
    const [first, ...more] = warnings.map(({ message }) => message);
    const but = first ? `, ${formatCount(warnings.length, "warning")}: ${first}${more.length ? " … (all listed below)" : ""}` : "";
    this.#pasted.value = "";
    this.#file.value = "";
    this.#overwrite.checked = false;
    this.callbacks.done(`Imported: ${formatNumber(blockCount)} blocks${but}.${overwritten ? " The previous build was retired." : ""}`, imported);
    const list = document.createElement("ul");
    list.append(...warnings.map(({ message }) => textElement("li", message)));
    this.#slot("brought").replaceChildren(...(more.length ? [textElement("p", "Warnings:"), list] : []));
  }

  /** @param {unknown} trouble */
  #showFailure(trouble) {
    this.#slot("brought").replaceChildren();
    if (trouble instanceof ApiError && trouble.code === "exists") {
      showError(this.#trouble, ALREADY_THERE);
      return this.#overwrite.focus();
    }
    showError(this.#trouble, trouble);
    this.#pasted.setAttribute("aria-invalid", "true");
    this.#trouble.scrollIntoView({ block: "nearest" });
  }

  /** @param {HTMLInputElement} [other] which is emptied: only one of text and file is imported */
  #clear(other) {
    if (other) other.value = "";
    this.#slot("brought").replaceChildren();
    this.#trouble.hidden = true;
    this.#pasted.removeAttribute("aria-invalid");
  }

  /** @param {string} name */
  #slot(name) {
    return query(this.dialog, `[data-slot=${name}]`);
  }
}

/** @param {CellState} one @param {CellState} [other] */
function isSamePlace(one, other) {
  return one.promptId === other?.promptId && one.modelKey === other.modelKey;
}
