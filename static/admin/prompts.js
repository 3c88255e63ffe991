/** Prompts: what is asked. */
import { Trouble, ask, complain } from "./api.js";
import { forms, itemOf, switches } from "./catalog.js";
import { field, one, part } from "./parts.js";

const problem = part("text-trouble");

/** @param {AdminPrompt | null} prompt */
function fill(prompt) {
  part("edit-title").textContent = prompt ? "Change a prompt" : "Add a prompt";
  field("text").value = prompt?.text ?? "";
  field("slug").value = prompt?.id ?? "";
  field("slug").readOnly = !!prompt;
  field("tags").value = prompt?.tags.join(", ") ?? "";
  forgive();
}

/** @param {AdminPrompt | null} prompt */
async function save(prompt) {
  forgive();
  const text = field("text").value.trim();
  const tags = field("tags").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const id = field("slug").value.trim();
  if (!prompt) return add(id, { text, tags });
  const change = text === prompt.text ? { tags } : { text, tags };
  return ask("PATCH", `/api/admin/prompts/${id}`, { json: change });
}

/** @param {string} id @param {object} prompt */
async function add(id, prompt) {
  if (!id) throw new Error("A prompt has a slug.");
  const taken = [...document.querySelectorAll("[data-item]")].some((row) => itemOf(row).id === id);
  if (taken) throw new Error(`There is a prompt called ${id} already.`);
  return ask("PUT", `/api/admin/prompts/${encodeURIComponent(id)}`, { json: prompt });
}

/** @param {unknown} reason */
function blame(reason) {
  if (!(reason instanceof Trouble && reason.code === "text_is_fixed")) return false;
  complain(problem, reason);
  field("text").setAttribute("aria-invalid", "true");
  field("text").focus();
  return true;
}

function forgive() {
  problem.hidden = true;
  field("text").removeAttribute("aria-invalid");
}

/** A slug of the text, until somebody types one. */
function propose() {
  const slug = field("slug");
  if (slug.readOnly || one(part("edit"), "form").hasAttribute("data-touched")) return;
  const plain = field("text").value.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/^(an?|the) /, "");
  slug.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").split("-").slice(0, 5).join("-");
}

part("text").addEventListener("input", propose);
part("slug").addEventListener("input", () => one(part("edit"), "form").setAttribute("data-touched", ""));
switches((/** @type {AdminPrompt} */ { id }) => `/api/admin/prompts/${id}`);
forms({ fill, save, blame });
