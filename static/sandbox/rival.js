/** Who builds on a side: a model of the catalog, any at a provider, or an endpoint of one's own. */
import { one } from "../parts.js";
import { recall, remember } from "./keys.js";

/** Something typed that will not do, and where. */
export class Wrong extends Error {
  /** @param {string} message @param {HTMLElement} place */
  constructor(message, place) {
    super(message);
    this.place = place;
  }
}

export class Rival {
  #set;
  #model;
  #base;
  #name;
  #key;
  #problem;
  /** The key that was put into the field, rather than typed there. */
  #recalled = "";

  /** @param {HTMLElement} set of fields */
  constructor(set) {
    this.#set = set;
    this.#model = /** @type {HTMLSelectElement} */ (one(set, "[data-field=model]"));
    const input = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (one(set, `[data-field=${name}]`));
    this.#base = input("base");
    this.#name = input("name");
    this.#key = input("key");
    this.#problem = one(set, "[data-slot=problem]");
    this.#model.addEventListener("change", () => this.#fit());
    this.#base.addEventListener("change", () => this.#move());
    this.#key.addEventListener("input", () => remember(this.#whose, this.#key.value.trim()));
    set.addEventListener("input", () => this.clear());
    this.#fit();
  }

  /** Chooses another than the first of the list. @param {Rival} other */
  differ(other) {
    const taken = other.#model.selectedIndex;
    const next = [...this.#model.options].findIndex((option, index) => index !== taken && option.dataset.kind === "catalog");
    if (next >= 0 && this.#model.selectedIndex === taken) this.#model.selectedIndex = next;
    this.#fit();
  }

  /** Takes over a key that was typed elsewhere, where none was typed here. */
  refresh() {
    const key = this.#key.value;
    if (key === "" || key === this.#recalled) this.#recall();
  }

  /** As it is shown. */
  get title() {
    return this.#kind === "catalog" ? this.#option.text : this.#name.value.trim();
  }

  /** As the API takes it; throws what is `Wrong`. @returns {Named} */
  check() {
    const kind = this.#kind;
    if (kind === "endpoint" && !this.#base.value.trim()) throw new Wrong("Where is the endpoint?", this.#base);
    if (kind === "endpoint" && !this.#base.checkValidity()) throw new Wrong("An address begins with https://.", this.#base);
    if (kind !== "catalog" && !this.#name.value.trim()) throw new Wrong("Which model is it?", this.#name);
    const needs = kind !== "endpoint" && !this.#isOpen;
    if (needs && !this.#apiKey) throw new Wrong(`It takes your key for ${this.#owner}.`, this.#key);
    return this.named;
  }

  /** As the API takes it, be it right or wrong. @returns {Named} */
  get named() {
    const apiKey = this.#apiKey;
    const model = this.#name.value.trim();
    if (this.#kind === "catalog") return { key: this.#model.value, apiKey };
    if (this.#kind === "provider") return { provider: this.#model.value, model, apiKey };
    return { baseUrl: this.#base.value.trim(), model, apiKey };
  }

  /** @param {string} message @param {HTMLElement} [place] */
  complain(message, place = this.#model) {
    this.#problem.textContent = message;
    this.#problem.hidden = false;
    place.setAttribute("aria-invalid", "true");
    place.setAttribute("aria-describedby", this.#problem.id);
    place.focus();
  }

  clear() {
    this.#problem.hidden = true;
    this.#problem.textContent = "";
    for (const field of [this.#model, this.#base, this.#name, this.#key]) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
  }

  get #option() {
    return this.#model.selectedOptions[0];
  }

  get #kind() {
    return this.#option?.dataset.kind ?? "endpoint";
  }

  get #owner() {
    return this.#option?.dataset.owner ?? "";
  }

  get #isOpen() {
    return this.#option?.hasAttribute("data-open") ?? false;
  }

  /** Whose key it takes. */
  get #whose() {
    return this.#kind === "endpoint" ? this.#base.value.trim() : (this.#option?.dataset.provider ?? "");
  }

  /** A model of the catalog that the server lends its key for shows no field for another. */
  get #takesKey() {
    return this.#kind !== "catalog" || !this.#isOpen;
  }

  get #apiKey() {
    return (this.#takesKey && this.#key.value.trim()) || undefined;
  }

  #recall() {
    this.#recalled = this.#key.value = recall(this.#whose);
  }

  /** The endpoint is elsewhere. What was typed for it stays, unless its key is known. */
  #move() {
    const typed = this.#key.value !== this.#recalled;
    if (recall(this.#whose) || !typed) this.#recall();
    else remember(this.#whose, this.#key.value.trim());
    this.clear();
  }

  /** Shows the fields that this kind takes. */
  #fit() {
    const kind = this.#kind;
    for (const row of this.#set.querySelectorAll("[data-for]")) {
      /** @type {HTMLElement} */ (row).hidden = !row.getAttribute("data-for")?.split(" ").includes(kind);
    }
    one(this.#set, "[data-slot=key]").hidden = !this.#takesKey;
    one(this.#set, "[data-slot=owner]").textContent = this.#owner;
    one(this.#set, "[data-slot=lent]").hidden = !this.#isOpen;
    this.#recall();
    this.clear();
  }
}
