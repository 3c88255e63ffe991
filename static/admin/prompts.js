/** The prompts page: switches, and the form. */
import { ApiError, request } from "./api.js";
import { FieldError, clearFieldError, itemOf, setUpForm, setUpSwitches } from "./catalog.js";
import { byId, formatCount, inputById, query } from "./ui.js";

const TEXT_HINT = "Completes “Build …”, for example “a steam locomotive”.";

/** @param {AdminPrompt | null} prompt */
function fillForm(prompt) {
  byId("edit-title").textContent = prompt ? "Edit the prompt" : "Add a prompt";
  inputById("text").value = prompt?.text ?? "";
  inputById("text").readOnly = !!prompt?.builds;
  byId("text-hint").textContent = prompt?.builds ? `The text cannot change any more: ${formatCount(prompt.builds, "build")} ${prompt.builds === 1 ? "was" : "were"} made for it. Add another prompt instead.` : TEXT_HINT;
  inputById("slug").value = prompt?.id ?? "";
  inputById("slug").readOnly = !!prompt;
  inputById("tags").value = prompt?.tags.join(", ") ?? "";
}

/** @param {AdminPrompt | null} prompt */
async function save(prompt) {
  const text = inputById("text").value.trim();
  const tags = inputById("tags").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const id = inputById("slug").value.trim();
  if (!prompt) return add(id, { text, tags });
  const change = text === prompt.text ? { tags } : { text, tags };
  return request("PATCH", `/api/admin/prompts/${id}`, { json: change });
}

/** @param {string} id @param {object} prompt */
async function add(id, prompt) {
  const isTaken = [...document.querySelectorAll("[data-item]")].some((row) => itemOf(row).id === id);
  if (isTaken) throw new FieldError("slug", `A prompt called ${id} already exists.`);
  return request("PUT", `/api/admin/prompts/${encodeURIComponent(id)}`, { json: prompt });
}

/** Builds or jobs may have been added since the page was loaded, after which the text cannot change. @param {unknown} reason */
function fieldOf(reason) {
  return reason instanceof ApiError && reason.code === "text_is_fixed" ? "text" : undefined;
}

/** Proposes a slug from the text, until one is typed. */
function proposeSlug() {
  const slug = inputById("slug");
  if (slug.readOnly || query(byId("edit"), "form").hasAttribute("data-touched")) return;
  const plain = inputById("text").value.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/^(an?|the) /, "");
  slug.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").split("-").slice(0, 5).join("-");
  clearFieldError(slug);
}

byId("text").addEventListener("input", proposeSlug);
byId("slug").addEventListener("input", () => query(byId("edit"), "form").setAttribute("data-touched", ""));
setUpSwitches((/** @type {AdminPrompt} */ { id }) => `/api/admin/prompts/${id}`, ({ promptId }, { id }) => promptId === id);
setUpForm({ fill: fillForm, save, fieldOf });
