/** What is done to the whole matrix: bringing in the catalog, generating, trying again, cancelling. */
import { ask, complain } from "./api.js";
import { count, counted, made, one, part, sure } from "./parts.js";

const attempts = Number(one(document, ".coverage").dataset.attempts);
const outcome = part("outcome");
const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-order]"));

export function take() {
  part("orders").hidden = false;
  for (const button of buttons) button.addEventListener("click", () => give(button));
  const there = (/** @type {string} */ name) => Number(one(document, `[data-sum=${name}]`).textContent?.replaceAll(",", ""));
  fit("failed", there("failed") + there("cancelled"));
  fit("stop", there("underWay"));
}

/** Nothing is offered that would do nothing. @param {Totals} sum */
export function offer(sum) {
  fit("failed", sum.failed + sum.cancelled);
  fit("stop", sum.underWay);
}

/** @param {string} order @param {number} many how many it would be about */
function fit(order, many) {
  const button = one(document, `[data-order=${order}]`);
  // Whoever stands on it is not to be pushed off.
  if (document.activeElement !== button) button.hidden = many === 0;
}

/** @param {HTMLButtonElement} button */
async function give(button) {
  if (button.getAttribute("aria-disabled")) return;
  const order = button.dataset.order;
  for (const each of buttons) each.setAttribute("aria-disabled", "true");
  outcome.hidden = true;
  try {
    if (order === "catalog") await bringIn();
    else if (order === "stop") await stop();
    else await generate(order === "failed");
  } catch (trouble) {
    complain(outcome, trouble);
    outcome.classList.add("bad");
  } finally {
    for (const each of buttons) each.removeAttribute("aria-disabled");
  }
}

async function bringIn() {
  const known = document.querySelectorAll("#matrix :is([data-model], [data-prompt])").length;
  const told = /** @type {Seeded} */ (await ask("POST", "/api/admin/seed?generateBuilds=0"));
  tell(`The catalog is in: ${counted(told.promptCount, "active prompt")}, and ${counted(told.modelCount, "model")} that can be asked. `);
  const now = /** @type {{ prompts: unknown[], models: unknown[] }} */ (await ask("GET", "/api/admin/coverage"));
  if (now.prompts.length + now.models.length === known) return;
  const again = made("a", "Show what is new");
  again.setAttribute("href", location.pathname + location.search);
  outcome.append(again);
}

/** @param {boolean} again what has failed, too */
async function generate(again) {
  const retry = again ? "&retryFailed=1" : "";
  const plan = /** @type {Seeded} */ (await ask("POST", `/api/admin/seed?dryRun=1${retry}`));
  const next = plan.next ?? [];
  if (next.length === 0) return tell(await why());
  const failed = next.filter(({ promptId, modelKey }) => {
    const cell = document.querySelector(`#matrix a[href="/admin/places/${promptId}/${modelKey}"]`);
    return ["failed", "cancelled"].includes(cell?.getAttribute("data-state") ?? "");
  }).length;
  const title = `Ask for ${counted(next.length, "build")}?`;
  if (!(await sure(title, [...words(next, failed), price(plan.estimate)], "Ask"))) return;
  const told = /** @type {Seeded} */ (await ask("POST", `/api/admin/seed?background=1${retry}`));
  tell(`${counted(told.jobs.length, "build")} under way. They go on when this page is closed.`);
}

async function stop() {
  const words = "What is queued or running ends, on every server. What has come in so far is kept, and may still be billed.";
  if (!(await sure("Cancel all that is under way?", [made("p", words)], "Cancel all"))) return;
  const { cancelled } = await ask("DELETE", "/api/admin/jobs");
  tell(`${counted(cancelled, "build")} cancelled.`);
}

/** Why nobody would be asked. */
async function why() {
  const { coverage, providers } = await ask("GET", "/api/admin/status");
  if (!providers.some((/** @type {{ hasKey: boolean }} */ { hasKey }) => hasKey)) return "No provider can be asked: none has a key.";
  if (coverage.expected === 0) return "There is nobody to ask: no active prompt, or no enabled model with a key.";
  if (coverage.underWay > 0) return "Nothing else is missing; the rest is under way.";
  return coverage.failed + coverage.cancelled > 0 ? "What is missing was tried, and failed; retry it." : "Nothing is missing.";
}

/** @param {Seeded["estimate"]} estimate */
function price({ dollars, unknown } = { dollars: 0, unknown: 0 }) {
  const besides = unknown > 0 ? `, beside ${counted(unknown, "build")} at unknown prices` : "";
  return made("p", `Going by what such builds have cost, this may cost about $${dollars.toFixed(2)}${besides}.`);
}

/** What it means, before it is done. @param {NonNullable<Seeded["next"]>} next @param {number} failed */
function words(next, failed) {
  const asked = new Map();
  for (const { modelKey } of next) {
    const column = document.querySelector(`#matrix th[data-model="${modelKey}"]`);
    const name = column?.getAttribute("data-asked") ?? "others";
    asked.set(name, (asked.get(name) ?? 0) + 1);
  }
  const list = document.createElement("ul");
  for (const [name, builds] of asked) {
    const most = builds * attempts;
    list.append(made("li", `${name}: ${counted(builds, "build")}, at most ${counted(most, "request")}`));
  }
  const cost = made("p", `A model is asked up to ${counted(attempts, "time")} for each, and every request is billed by its provider.`);
  const missing = next.length - failed;
  const both = failed && missing ? [made("p", `${count(failed)} failed or were cancelled; the other ${count(missing)} were never tried.`)] : [];
  return [...both, list, cost];
}

/** @param {string} words */
function tell(words) {
  outcome.classList.remove("bad");
  outcome.hidden = false;
  outcome.textContent = words;
}
