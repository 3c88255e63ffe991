/** Chooses the model of a side: one of the catalog, any model of a provider, the visitor's own endpoint, or an agent. */
import { query } from "../dom.js";
import { loadKey, saveKey } from "./api-keys.js";

/** A field's value is invalid. */
export class InvalidField extends Error {
  /** @param {string} message @param {HTMLElement} place */
  constructor(message, place) {
    super(message);
    this.place = place;
  }
}

export class ModelPicker {
  #fieldset;
  #model;
  #base;
  #agent;
  #name;
  #key;
  #problem;
  /** The key that was filled in from `api-keys.js`, as opposed to one typed here. */
  #loadedKey = "";

  /** @param {HTMLElement} set of fields */
  constructor(set) {
    this.#fieldset = set;
    this.#model = /** @type {HTMLSelectElement} */ (query(set, "[data-field=model]"));
    const input = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (query(set, `[data-field=${name}]`));
    this.#base = input("base");
    this.#agent = input("agent");
    this.#name = input("name");
    this.#key = input("key");
    this.#problem = query(set, "[data-slot=problem]");
    this.#model.addEventListener("change", () => this.#showFields());
    for (const address of [this.#base, this.#agent]) address.addEventListener("change", () => this.#addressChanged());
    this.#key.addEventListener("input", () => saveKey(this.#keyOwner, this.#key.value.trim()));
    set.addEventListener("input", () => this.clearError());
    this.#showFields();
  }

  /** Selects another model of the catalog than the other picker has. @param {ModelPicker} other */
  chooseDifferentFrom(other) {
    const takenIndex = other.#model.selectedIndex;
    const next = [...this.#model.options].findIndex((option, index) => index !== takenIndex && option.dataset.kind === "catalog");
    if (next >= 0 && this.#model.selectedIndex === takenIndex) this.#model.selectedIndex = next;
    this.#showFields();
  }

  /** Takes over a key that was typed in the other picker, unless a different one was typed here. */
  refreshKey() {
    const key = this.#key.value;
    if (key === "" || key === this.#loadedKey) this.#loadKey();
  }

  /** The model's name as it is shown. */
  get title() {
    if (this.#kind === "agent") return this.#agent.value.trim().replace(/^https?:\/\//, "");
    return this.#kind === "catalog" ? this.#option.text : this.#name.value.trim();
  }

  /** The choice as the API takes it; throws an `InvalidField`. @returns {ModelChoice} */
  check() {
    const kind = this.#kind;
    if (kind === "agent" && !this.#agent.value.trim()) throw new InvalidField("Enter the agent's address.", this.#agent);
    if (kind === "agent" && !this.#agent.checkValidity()) throw new InvalidField("The address must start with https://.", this.#agent);
    if (kind === "endpoint" && !this.#base.value.trim()) throw new InvalidField("Enter the endpoint's address.", this.#base);
    if (kind === "endpoint" && !this.#base.checkValidity()) throw new InvalidField("The address must start with https://.", this.#base);
    if ((kind === "provider" || kind === "endpoint") && !this.#name.value.trim()) throw new InvalidField("Enter the model's name.", this.#name);
    const needs = kind !== "endpoint" && kind !== "agent" && !this.#hasServerKey;
    if (needs && !this.#apiKey) throw new InvalidField(`Enter your key for ${this.#providerName}.`, this.#key);
    return this.choice;
  }

  /** The choice as the API takes it, unchecked. @returns {ModelChoice} */
  get choice() {
    const apiKey = this.#apiKey;
    const model = this.#name.value.trim();
    if (this.#kind === "catalog") return { key: this.#model.value, apiKey };
    if (this.#kind === "agent") return { agent: this.#agent.value.trim(), apiKey };
    if (this.#kind === "provider") return { provider: this.#model.value, model, apiKey };
    return { baseUrl: this.#base.value.trim(), model, apiKey };
  }

  /** @param {string} message @param {HTMLElement} [place] */
  showError(message, place = this.#model) {
    this.#problem.textContent = message;
    this.#problem.hidden = false;
    place.setAttribute("aria-invalid", "true");
    place.setAttribute("aria-describedby", this.#problem.id);
    place.focus();
  }

  clearError() {
    this.#problem.hidden = true;
    this.#problem.textContent = "";
    for (const field of [this.#model, this.#base, this.#agent, this.#name, this.#key]) {
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

  get #providerName() {
    return this.#option?.dataset.owner ?? "";
  }

  get #hasServerKey() {
    return this.#option?.hasAttribute("data-open") ?? false;
  }

  /** The name that the API key is stored under: the provider, or the endpoint's or agent's address. */
  get #keyOwner() {
    if (this.#kind === "agent") return this.#agent.value.trim();
    return this.#kind === "endpoint" ? this.#base.value.trim() : (this.#option?.dataset.provider ?? "");
  }

  /** Models that run on the server's own key show no field for the visitor's. */
  get #takesKey() {
    return !this.#hasServerKey;
  }

  get #apiKey() {
    return (this.#takesKey && this.#key.value.trim()) || undefined;
  }

  #loadKey() {
    this.#loadedKey = this.#key.value = loadKey(this.#keyOwner);
  }

  /** The address has changed: fills in the key that is stored for it; a key typed just before is kept for it otherwise. */
  #addressChanged() {
    const typed = this.#key.value !== this.#loadedKey;
    if (loadKey(this.#keyOwner) || !typed) this.#loadKey();
    else saveKey(this.#keyOwner, this.#key.value.trim());
    this.clearError();
  }

  /** Shows the fields that apply to the chosen kind of model. */
  #showFields() {
    const kind = this.#kind;
    for (const row of this.#fieldset.querySelectorAll("[data-for]")) {
      /** @type {HTMLElement} */ (row).hidden = !row.getAttribute("data-for")?.split(" ").includes(kind);
    }
    query(this.#fieldset, "[data-slot=key]").hidden = !this.#takesKey;
    query(this.#fieldset, "[data-slot=owner]").textContent = this.#providerName;
    this.#loadKey();
    this.clearError();
  }
}
