/** Models: who takes part, and under which name. */
import { ask, complain } from "./api.js";
import { Misfit, forgive, forms, itemOf, switches } from "./catalog.js";
import { count, counted, field, one, part } from "./parts.js";

const provider = /** @type {HTMLSelectElement} */ (part("provider"));
const TEXTS = { "display-name": "displayName", "model-id": "modelId", key: "key", about: "about" };

/** @param {AdminModel | null} model */
function fill(model) {
  part("edit-title").textContent = model ? `Change ${model.displayName}` : "Add a model";
  for (const [id, name] of Object.entries(TEXTS)) field(id).value = String(model?.[/** @type {keyof AdminModel} */ (name)] ?? "");
  field("key").readOnly = !!model;
  const known = [...provider.options].some((option) => option.value === model?.provider);
  provider.value = model ? (known ? model.provider : "") : (provider.options[0]?.value ?? "");
  field("other").value = model && !known ? model.provider : "";
  field("input-price").value = text(model?.prices?.input);
  field("output-price").value = text(model?.prices?.output);
  field("via").value = Object.entries(model?.via ?? {}).map((pair) => pair.join(" ")).join("\n");
  field("effort").value = model?.options.effort ?? "";
  field("temperature").value = text(model?.options.temperature);
  field("most").value = text(model?.options.maxOutputTokens);
  another();
}

/** @param {AdminModel | null} model */
function save(model) {
  const key = field("key").value.trim();
  const now = written();
  if (!model) return add(key, now);
  const { displayName, about, ...rest } = now;
  const { provider, modelId, prices, options, via } = model;
  // A name alone leaves the rest to the files that it came from.
  const isSame = JSON.stringify(sorted(rest)) === JSON.stringify(sorted({ provider, modelId, prices, options, via }));
  const address = `/api/admin/models/${key}`;
  if (!isSame) return ask("PUT", address, { json: now });
  return ask("PATCH", address, { json: about === model.about ? { displayName } : { displayName, about } });
}

/** A key that is taken already is not taken over unawares. @param {string} key @param {object} model */
function add(key, model) {
  const taken = [...document.querySelectorAll("[data-item]")].some((row) => itemOf(row).key === key);
  if (taken) throw new Misfit("key", `There is a model with the key ${key} already.`);
  return ask("PUT", `/api/admin/models/${encodeURIComponent(key)}`, { json: model });
}

function written() {
  const [input, output] = [number("input-price"), number("output-price")];
  if ((input === null) !== (output === null)) throw new Error("Either both prices are known, or none.");
  const lines = field("via").value.split("\n").map((line) => line.trim()).filter(Boolean);
  return {
    displayName: field("display-name").value.trim(),
    about: field("about").value.trim(),
    provider: provider.value || field("other").value.trim(),
    modelId: field("model-id").value.trim(),
    prices: input === null || output === null ? null : { input, output },
    options: { effort: field("effort").value || null, temperature: number("temperature"), maxOutputTokens: number("most") },
    via: Object.fromEntries(lines.map((line) => {
      const [through, ...name] = line.split(/\s+/);
      if (name.length === 0) throw new Misfit("via", `“${line}” names a provider, and no model of it.`);
      return [through, name.join(" ")];
    })),
  };
}

/** The same, its keys in order. @param {any} value @returns {any} */
function sorted(value) {
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

/** @param {string} id */
function number(id) {
  const input = field(id);
  if (input.validity.badInput) throw new Misfit(id, "A number is wanted.");
  return input.value === "" ? null : Number(input.value);
}

/** @param {number | null | undefined} value */
function text(value) {
  return value === null || value === undefined ? "" : String(value);
}

function another() {
  part("other-field").hidden = provider.value !== "";
}

/** A key as the others have it, until somebody types one. */
function propose() {
  const key = field("key");
  const form = one(part("edit"), "form");
  if (key.readOnly || form.hasAttribute("data-touched")) return;
  const name = `${provider.value || field("other").value}_${field("model-id").value.split("/").at(-1) ?? ""}`;
  key.value = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "").slice(0, 64);
  forgive(key);
}

async function references() {
  const button = part("references");
  const enabled = button.dataset.on !== "true";
  part("trouble").hidden = true;
  part("outcome").hidden = true;
  button.setAttribute("aria-disabled", "true");
  try {
    for (const row of document.querySelectorAll("tr[data-reference]")) {
      await ask("PATCH", `/api/admin/models/${itemOf(row).key}`, { json: { enabled } });
      /** @type {HTMLInputElement} */ (one(row, "[data-switch]")).checked = enabled;
    }
    button.dataset.on = String(enabled);
    button.textContent = `${enabled ? "Disable" : "Enable"} all reference models`;
    rule(enabled);
    await tell(enabled);
  } catch (reason) {
    complain(part("trouble"), reason);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** @param {boolean} enabled whether some reference is */
function rule(enabled) {
  one(document, "[data-rule=some]").hidden = !enabled;
  one(document, "[data-rule=none]").hidden = enabled;
}

/** What was done to the references, and what there is to vote on now. @param {boolean} enabled */
async function tell(enabled) {
  const outcome = part("outcome");
  const takePart = !part("references").hasAttribute("data-barred");
  const changed = document.querySelectorAll("tr[data-reference]").length;
  const { prompts, models, cells } = /** @type {{ prompts: AdminPrompt[], models: AdminModel[], cells: Place[] }} */ (await ask("GET", "/api/admin/coverage"));
  const take = new Set(models.filter((model) => model.enabled && (takePart || model.provider !== "reference")).map(({ key }) => key));
  const active = prompts.filter((prompt) => prompt.active);
  const builds = (/** @type {string} */ id) => cells.filter(({ promptId, modelKey, state }) => promptId === id && state === "ready" && take.has(modelKey)).length;
  const open = active.filter(({ id }) => builds(id) > 1).length;
  const all = counted(active.length, "active prompt");
  const left = open ? `Of ${all}, ${count(open)} can be voted on, having two builds or more.` : `Nothing can be voted on: of ${all}, none has two builds.`;
  outcome.hidden = false;
  outcome.classList.toggle("warn", open === 0);
  outcome.textContent = `${enabled ? "Enabled" : "Disabled"}: ${counted(changed, "reference model")}. ${left}`;
}

provider.addEventListener("change", another);
for (const id of ["provider", "other", "model-id"]) part(id).addEventListener("input", propose);
part("key").addEventListener("input", () => one(part("edit"), "form").setAttribute("data-touched", ""));
document.getElementById("references")?.addEventListener("click", references);
switches((/** @type {AdminModel} */ { key }) => `/api/admin/models/${key}`, ({ modelKey }, { key }) => modelKey === key);
forms({ fill, save: async (model) => save(model) });
