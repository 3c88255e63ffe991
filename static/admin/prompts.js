/** Prompts: what is asked. */
import { Trouble, ask } from "./api.js";
import { Misfit, forgive, forms, itemOf, switches } from "./catalog.js";
import { counted, field, one, part } from "./parts.js";

const USUAL = "As it completes “Build …”: “a steam locomotive”.";

/** @param {AdminPrompt | null} prompt */
function fill(prompt) {
  part("edit-title").textContent = prompt ? "Change a prompt" : "Add a prompt";
  field("text").value = prompt?.text ?? "";
  field("text").readOnly = !!prompt?.builds;
  part("text-hint").textContent = prompt?.builds ? `It stays as it is: ${counted(prompt.builds, "build")} ${prompt.builds === 1 ? "was" : "were"} made for it. For another text, add another prompt.` : USUAL;
  field("slug").value = prompt?.id ?? "";
  field("slug").readOnly = !!prompt;
  field("tags").value = prompt?.tags.join(", ") ?? "";
}

/** @param {AdminPrompt | null} prompt */
async function save(prompt) {
  const text = field("text").value.trim();
  const tags = field("tags").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const id = field("slug").value.trim();
  if (!prompt) return add(id, { text, tags });
  const change = text === prompt.text ? { tags } : { text, tags };
  return ask("PATCH", `/api/admin/prompts/${id}`, { json: change });
}

/** @param {string} id @param {object} prompt */
async function add(id, prompt) {
  const taken = [...document.querySelectorAll("[data-item]")].some((row) => itemOf(row).id === id);
  if (taken) throw new Misfit("slug", `There is a prompt called ${id} already.`);
  return ask("PUT", `/api/admin/prompts/${encodeURIComponent(id)}`, { json: prompt });
}

/** The text may have got builds, or somebody may have been asked, since the page was loaded. @param {unknown} reason */
function fieldOf(reason) {
  return reason instanceof Trouble && reason.code === "text_is_fixed" ? "text" : undefined;
}

/** A slug of the text, until somebody types one. */
function propose() {
  const slug = field("slug");
  if (slug.readOnly || one(part("edit"), "form").hasAttribute("data-touched")) return;
  const plain = field("text").value.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/^(an?|the) /, "");
  slug.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").split("-").slice(0, 5).join("-");
  forgive(slug);
}

part("text").addEventListener("input", propose);
part("slug").addEventListener("input", () => one(part("edit"), "form").setAttribute("data-touched", ""));
switches((/** @type {AdminPrompt} */ { id }) => `/api/admin/prompts/${id}`, ({ promptId }, { id }) => promptId === id);
forms({ fill, save, fieldOf });
