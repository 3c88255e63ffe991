/** Bringing a build: pasted, dropped or chosen. */
import { Trouble, ask, complain } from "./api.js";
import { count, counted, field, made, one, part } from "./parts.js";

const TAKEN = "There is a build already. To have this one in its place, tick “Retire the build that is there”.";

export class Bringer {
  #form;
  #pasted = field("pasted");
  #file = field("file");
  #over = field("over");
  #trouble = part("bring-trouble");
  /** @type {Place | undefined} */
  #place;
  #busy = false;

  /** @param {HTMLDialogElement} dialog @param {{ begun: () => void, done: (told: string, imported: Imported) => void }} hear */
  constructor(dialog, hear) {
    this.hear = hear;
    this.dialog = dialog;
    this.#form = one(dialog, "form.bring");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#bring();
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
      this.take(event.dataTransfer);
    });
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
  }

  /** @param {Place} place as it is now */
  fit(place) {
    this.#place = place;
    this.#slot("over").hidden = place.state !== "ready";
    if (place.state !== "ready" && !this.#trouble.hidden && this.#trouble.textContent === TAKEN) this.#clear();
  }

  /** What was dropped, wherever: one more press brings it in. @param {DataTransfer | null} dropped */
  take(dropped) {
    const file = dropped?.files[0];
    const text = dropped?.getData("text") ?? "";
    if (!file && !text) return;
    if (file) this.#file.files = /** @type {DataTransfer} */ (dropped).files;
    else this.#pasted.value = text;
    this.#clear(file ? this.#pasted : this.#file);
    this.#slot("brought").replaceChildren(file ? `${file.name} is here, and not in yet.` : "The text is here, and not in yet.");
    const button = one(this.#form, "[type=submit]");
    button.focus();
    button.scrollIntoView({ block: "center" });
  }

  async #bring() {
    const place = this.#place;
    const body = this.#file.files?.[0] ?? this.#pasted.value;
    if (!place || this.#busy) return;
    if (body === "") return this.#refuse(new Error("There is nothing to bring in yet."));
    this.#busy = true;
    this.#clear();
    this.hear.begun();
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
    const { blockCount, warnings, overwritten } = imported;
    const [first, ...more] = warnings.map(({ message }) => message);
    const but = first ? ` and ${counted(warnings.length, "warning")}: ${first}${more.length ? " … (all of them below)" : ""}` : "";
    this.#pasted.value = "";
    this.#file.value = "";
    this.#over.checked = false;
    this.hear.done(`It is in, with ${count(blockCount)} blocks${but}.${overwritten ? " The one before is retired." : ""}`, imported);
    const list = document.createElement("ul");
    list.append(...warnings.map(({ message }) => made("li", message)));
    this.#slot("brought").replaceChildren(...(more.length ? [made("p", "Its warnings:"), list] : []));
  }

  /** @param {unknown} trouble */
  #refuse(trouble) {
    this.#slot("brought").replaceChildren();
    if (trouble instanceof Trouble && trouble.code === "exists") {
      complain(this.#trouble, TAKEN);
      return this.#over.focus();
    }
    complain(this.#trouble, trouble);
    this.#pasted.setAttribute("aria-invalid", "true");
    this.#trouble.scrollIntoView({ block: "nearest" });
  }

  /** @param {HTMLInputElement} [other] either a text or a file is brought */
  #clear(other) {
    if (other) other.value = "";
    this.#slot("brought").replaceChildren();
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
