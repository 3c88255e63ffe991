/** Bringing a build: pasted, dropped or chosen. */
import { ask, complain } from "./api.js";
import { count, field, made, one, part } from "./parts.js";

export class Bringer {
  #form;
  #pasted = field("pasted");
  #file = field("file");
  #over = field("over");
  #trouble = part("bring-trouble");
  /** @type {Place | undefined} */
  #place;
  #busy = false;

  /** @param {HTMLDialogElement} dialog @param {(told: string, imported: Imported) => void} done */
  constructor(dialog, done) {
    this.done = done;
    this.dialog = dialog;
    this.#form = one(dialog, "form.bring");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#bring();
    });
    for (const kind of ["dragenter", "dragover"]) {
      dialog.addEventListener(kind, (event) => {
        event.preventDefault();
        this.#form.toggleAttribute("data-over", true);
      });
    }
    dialog.addEventListener("dragleave", () => this.#form.removeAttribute("data-over"));
    dialog.addEventListener("drop", (event) => this.#drop(event));
    this.#pasted.addEventListener("input", () => this.#clear(this.#file));
    this.#file.addEventListener("input", () => this.#clear(this.#pasted));
  }

  /** @param {Place} place */
  begin(place) {
    this.#place = place;
    this.#pasted.value = "";
    this.#file.value = "";
    this.#over.checked = false;
    this.#clear();
    this.#slot("brought").replaceChildren();
  }

  /** @param {Place} place as it is now */
  fit(place) {
    this.#place = place;
    this.#slot("over").hidden = place.state !== "ready";
  }

  /** @param {DragEvent} event */
  #drop(event) {
    event.preventDefault();
    this.#form.removeAttribute("data-over");
    const files = event.dataTransfer?.files;
    if (!files?.length) {
      this.#pasted.value = event.dataTransfer?.getData("text") ?? "";
      return;
    }
    this.#file.files = files;
    this.#clear(this.#pasted);
    this.#file.focus();
  }

  async #bring() {
    const place = this.#place;
    const body = this.#file.files?.[0] ?? this.#pasted.value;
    if (!place || this.#busy) return;
    if (body === "") return this.#refuse(new Error("There is nothing to bring in yet."));
    this.#busy = true;
    this.#clear();
    this.#slot("brought").replaceChildren("It is being read …");
    const asked = new URLSearchParams({ promptId: place.promptId, modelKey: place.modelKey });
    if (this.#over.checked && place.state === "ready") asked.set("overwrite", "1");
    try {
      const told = await ask("POST", `/api/admin/import-build?${asked}`, { body });
      if (isSame(place, this.#place)) this.#tell(told);
    } catch (trouble) {
      if (isSame(place, this.#place)) this.#refuse(trouble);
    } finally {
      this.#busy = false;
    }
  }

  /** @param {Imported} imported */
  #tell(imported) {
    const { blockCount, warnings, overwritten, hint } = imported;
    this.#pasted.value = "";
    this.#file.value = "";
    this.#over.checked = false;
    this.done(`It is in, with ${count(blockCount)} blocks${overwritten ? "; the one before is retired" : ""}. ${hint}`, imported);
    const list = document.createElement("ul");
    list.append(...warnings.map(({ message }) => made("li", message)));
    this.#slot("brought").replaceChildren(...(warnings.length ? [made("p", "With warnings:"), list] : []));
  }

  /** @param {unknown} trouble */
  #refuse(trouble) {
    this.#slot("brought").replaceChildren();
    complain(this.#trouble, trouble);
    this.#pasted.setAttribute("aria-invalid", "true");
    this.#trouble.scrollIntoView({ block: "nearest" });
  }

  /** @param {HTMLInputElement} [other] either a text or a file is brought */
  #clear(other) {
    if (other) other.value = "";
    this.#trouble.hidden = true;
    this.#pasted.removeAttribute("aria-invalid");
  }

  /** @param {string} name */
  #slot(name) {
    return one(this.dialog, `[data-slot=${name}]`);
  }
}

/** @param {Place} one @param {Place} [other] */
function isSame(one, other) {
  return one.promptId === other?.promptId && one.modelKey === other.modelKey;
}
