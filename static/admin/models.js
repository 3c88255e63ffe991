/** The models page: switches, and the form. */
import { ApiError, request, showError } from "./api.js";
import { FieldError, clearFieldError, itemOf, setUpForm, setUpSwitches } from "./catalog.js";
import { byId, confirmAction, formatCount, formatNumber, inputById, query, textElement } from "./ui.js";

const provider = /** @type {HTMLSelectElement} */ (byId("provider"));
/** The model in the form; null for a new one. @type {AdminModel | null} */
let edited = null;
const TEXTS = { "display-name": "displayName", "model-id": "modelId", key: "key", about: "about" };

/** @param {AdminModel | null} model */
function fillForm(model) {
  edited = model;
  byId("delete").hidden = !model || model.builds > 0;
  byId("edit-title").textContent = model ? `Edit ${model.displayName}` : "Add a model";
  for (const [id, name] of Object.entries(TEXTS)) inputById(id).value = String(model?.[/** @type {keyof AdminModel} */ (name)] ?? "");
  inputById("key").readOnly = !!model;
  const known = [...provider.options].some((option) => option.value === model?.provider);
  provider.value = model ? (known ? model.provider : "") : (provider.options[0]?.value ?? "");
  inputById("other").value = model && !known ? model.provider : "";
  inputById("input-price").value = numberText(model?.prices?.input);
  inputById("output-price").value = numberText(model?.prices?.output);
  inputById("cached-price").value = numberText(model?.prices?.cachedInput);
  inputById("via").value = Object.entries(model?.via ?? {}).map((pair) => pair.join(" ")).join("\n");
  inputById("effort").value = model?.options.effort ?? "";
  inputById("temperature").value = numberText(model?.options.temperature);
  inputById("most").value = numberText(model?.options.maxOutputTokens);
  inputById("vision").checked = model?.vision ?? false;
  inputById("budget").value = budgetOf(model);
  toggleOtherProvider();
}

/** The model's budget as it was when the page was made. @param {AdminModel | null} model */
function budgetOf(model) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-item]"));
  return [...rows].find((row) => itemOf(row).key === model?.key)?.dataset.budget ?? "";
}

/** @param {AdminModel | null} model */
async function save(model) {
  const key = inputById("key").value.trim();
  const dollars = readNumber("budget");
  if (dollars !== null && dollars < 0) throw new FieldError("budget", "Enter 0 or more.");
  const saved = await saveModel(key, model);
  if (numberText(dollars) !== budgetOf(model)) await saveBudget(key, dollars);
  return saved;
}

/** @param {string} key @param {number | null} dollars */
async function saveBudget(key, dollars) {
  try {
    await request("PUT", `/api/admin/models/${encodeURIComponent(key)}/budget`, { json: { dollars } });
  } catch (reason) {
    throw reason instanceof ApiError ? new FieldError("budget", reason.message) : reason;
  }
}

/** @param {string} key @param {AdminModel | null} model */
async function saveModel(key, model) {
  const now = readForm(model);
  if (!model) return add(key, now);
  const isSame = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    JSON.stringify(sortKeys(value)) === JSON.stringify(sortKeys(model[/** @type {keyof AdminModel} */ (name)]));
  // What is not sent stays under the control of the catalog's files.
  return change(`/api/admin/models/${key}`, Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame(name, value))));
}

/** How a model with builds is asked can only be changed if its builds are retired. @param {string} address @param {object} changes */
async function change(address, changes) {
  try {
    return await request("PATCH", address, { json: changes });
  } catch (reason) {
    if (!(reason instanceof ApiError && reason.code === "model_is_fixed")) throw reason;
    const words = "Its builds were made with another provider, ID or options. They will appear in no new matchups, and their votes still count. Jobs that have begun are cancelled.";
    if (!(await confirmAction("Retire its builds?", [textElement("p", words)], "Retire and save"))) throw reason;
    return request("PATCH", `${address}?retireBuilds=1`, { json: changes });
  }
}

async function deleteModel() {
  const { key, displayName } = /** @type {AdminModel} */ (edited);
  const words = `${displayName} has no builds. If models.toml lists it, it is added again with the next builds that are generated.`;
  if (!(await confirmAction("Delete this model?", [textElement("p", words)], "Delete"))) return;
  try {
    await request("DELETE", `/api/admin/models/${key}`);
    location.reload();
  } catch (reason) {
    showError(byId("edit-trouble"), reason);
  }
}

/** PUT would overwrite a model of the same key, so that is refused here. @param {string} key @param {object} model */
function add(key, model) {
  const isTaken = [...document.querySelectorAll("[data-item]")].some((row) => itemOf(row).key === key);
  if (isTaken) throw new FieldError("key", `A model with the key ${key} already exists.`);
  return request("PUT", `/api/admin/models/${encodeURIComponent(key)}`, { json: model });
}

/** What the form does not show stays as it is. @param {AdminModel | null} model */
function readForm(model) {
  const [input, output] = [readNumber("input-price"), readNumber("output-price")];
  if ((input === null) !== (output === null)) throw new Error("Enter both prices, or neither.");
  const cached = readNumber("cached-price");
  const prices = input === null || output === null ? null : { input, output, ...(cached === null ? {} : { cachedInput: cached }) };
  const lines = inputById("via").value.split("\n").map((line) => line.trim()).filter(Boolean);
  return {
    displayName: inputById("display-name").value.trim(),
    about: inputById("about").value.trim(),
    provider: provider.value || inputById("other").value.trim(),
    modelId: inputById("model-id").value.trim(),
    prices,
    vision: inputById("vision").checked,
    options: { ...model?.options, effort: inputById("effort").value || null, temperature: readNumber("temperature"), maxOutputTokens: readNumber("most") },
    via: Object.fromEntries(lines.map((line) => {
      const [through, ...name] = line.split(/\s+/);
      if (name.length === 0) throw new FieldError("via", `“${line}” names a provider but no model.`);
      return [through, name.join(" ")];
    })),
  };
}

/** The same value with its keys in order, to be compared as JSON. @param {any} value @returns {any} */
function sortKeys(value) {
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sortKeys(value[name])]));
}

/** @param {string} id */
function readNumber(id) {
  const input = inputById(id);
  if (input.validity.badInput) throw new FieldError(id, "Enter a number.");
  return input.value === "" ? null : Number(input.value);
}

/** @param {number | null | undefined} value */
function numberText(value) {
  return value === null || value === undefined ? "" : String(value);
}

function toggleOtherProvider() {
  byId("other-field").hidden = provider.value !== "";
}

/** Proposes a key from provider and model, until one is typed. */
function proposeKey() {
  const key = inputById("key");
  const form = query(byId("edit"), "form");
  if (key.readOnly || form.hasAttribute("data-touched")) return;
  const name = `${provider.value || inputById("other").value}_${inputById("model-id").value.split("/").at(-1) ?? ""}`;
  key.value = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "").slice(0, 64);
  clearFieldError(key);
}

async function toggleReferences() {
  const button = byId("references");
  const enabled = button.dataset.on !== "true";
  byId("trouble").hidden = true;
  byId("outcome").hidden = true;
  button.setAttribute("aria-disabled", "true");
  try {
    for (const row of document.querySelectorAll("tr[data-reference]")) {
      await request("PATCH", `/api/admin/models/${itemOf(row).key}`, { json: { enabled } });
      /** @type {HTMLInputElement} */ (query(row, "[data-switch]")).checked = enabled;
    }
    button.dataset.on = String(enabled);
    button.textContent = `${enabled ? "Disable" : "Enable"} all reference models`;
    showRule(enabled);
    await showOutcome(enabled);
  } catch (reason) {
    showError(byId("trouble"), reason);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** @param {boolean} enabled whether any reference model is enabled */
function showRule(enabled) {
  query(document, "[data-rule=some]").hidden = !enabled;
  query(document, "[data-rule=none]").hidden = enabled;
}

/** Says what was done to the reference models, and how many prompts can still be voted on. @param {boolean} enabled */
async function showOutcome(enabled) {
  const outcome = byId("outcome");
  const takePart = !byId("references").hasAttribute("data-barred");
  const changed = document.querySelectorAll("tr[data-reference]").length;
  const { prompts, models, cells } = /** @type {{ prompts: AdminPrompt[], models: AdminModel[], cells: CellState[] }} */ (await request("GET", "/api/admin/coverage"));
  const take = new Set(models.filter((model) => model.enabled && (takePart || model.provider !== "reference")).map(({ key }) => key));
  const active = prompts.filter((prompt) => prompt.active);
  const builds = (/** @type {string} */ id) => cells.filter(({ promptId, modelKey, state }) => promptId === id && state === "ready" && take.has(modelKey)).length;
  const open = active.filter(({ id }) => builds(id) > 1).length;
  const all = formatCount(active.length, "active prompt");
  const left = open ? `Of ${all}, ${formatNumber(open)} can be voted on: they have two builds or more.` : `Nothing can be voted on: none of ${all} has two builds.`;
  outcome.hidden = false;
  outcome.classList.toggle("warn", open === 0);
  outcome.textContent = `${enabled ? "Enabled" : "Disabled"}: ${formatCount(changed, "reference model")}. ${left}`;
}

provider.addEventListener("change", toggleOtherProvider);
for (const id of ["provider", "other", "model-id"]) byId(id).addEventListener("input", proposeKey);
byId("key").addEventListener("input", () => query(byId("edit"), "form").setAttribute("data-touched", ""));
byId("delete").addEventListener("click", deleteModel);
document.getElementById("references")?.addEventListener("click", toggleReferences);
setUpSwitches((/** @type {AdminModel} */ { key }) => `/api/admin/models/${key}`, ({ modelKey }, { key }) => modelKey === key);
setUpForm({ fill: fillForm, save: async (model) => save(model) });
