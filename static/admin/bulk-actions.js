/** Actions on the whole matrix: import the catalog, generate, retry, pause, cancel. */
import { request, showError } from "./api.js";
import { showPauses } from "./pauses.js";
import { byId, confirmAction, formatCount, formatNumber, query, textElement } from "./ui.js";

const attempts = Number(query(document, ".coverage").dataset.attempts);
const outcome = byId("outcome");
const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-order]"));

export function setUp() {
  byId("orders").hidden = false;
  for (const button of buttons) button.addEventListener("click", () => run(button));
  const shownTotal = (/** @type {string} */ name) => Number(query(document, `[data-sum=${name}]`).textContent?.replaceAll(",", ""));
  toggleButton("failed", shownTotal("failed") + shownTotal("cancelled"));
  toggleButton("stop", shownTotal("underWay"));
}

/** Hides the buttons that would do nothing. @param {CoverageTotals} sum */
export function updateButtons(sum) {
  toggleButton("failed", sum.failed + sum.cancelled);
  toggleButton("stop", sum.underWay);
}

/** @param {string} order @param {number} many how many builds it would affect */
function toggleButton(order, many) {
  const button = query(document, `[data-order=${order}]`);
  // Hiding a focused button would lose the focus.
  if (document.activeElement !== button) button.hidden = many === 0;
}

/** @param {HTMLButtonElement} button */
async function run(button) {
  if (button.getAttribute("aria-disabled")) return;
  const order = button.dataset.order;
  for (const each of buttons) each.setAttribute("aria-disabled", "true");
  outcome.hidden = true;
  try {
    if (order === "catalog") await importCatalog();
    else if (order === "stop") await cancelAll();
    else if (order === "pause") showPauses(await request("POST", "/api/admin/queue/pause"));
    else await generate(order === "failed");
  } catch (trouble) {
    showError(outcome, trouble);
    outcome.classList.add("bad");
  } finally {
    for (const each of buttons) each.removeAttribute("aria-disabled");
  }
}

async function importCatalog() {
  const known = document.querySelectorAll("#matrix :is([data-model], [data-prompt])").length;
  const result = /** @type {SeedResult} */ (await request("POST", "/api/admin/seed?generateBuilds=0"));
  showOutcome(`Catalog imported: ${formatCount(result.promptCount, "active prompt")}, and ${formatCount(result.modelCount, "model")} that can generate. `);
  const now = /** @type {{ prompts: unknown[], models: unknown[] }} */ (await request("GET", "/api/admin/coverage"));
  if (now.prompts.length + now.models.length === known) return;
  const again = textElement("a", "Show what is new");
  again.setAttribute("href", location.pathname + location.search);
  outcome.append(again);
}

/** @param {boolean} again retries failed builds, too */
async function generate(again) {
  const retry = again ? "&retryFailed=1" : "";
  const plan = /** @type {SeedResult} */ (await request("POST", `/api/admin/seed?dryRun=1${retry}`));
  const next = plan.next ?? [];
  if (next.length === 0) return showOutcome(await explainNothingToDo());
  const failed = next.filter(({ promptId, modelKey }) => {
    const cell = document.querySelector(`#matrix a[href="/admin/places/${promptId}/${modelKey}"]`);
    return ["failed", "cancelled"].includes(cell?.getAttribute("data-state") ?? "");
  }).length;
  const title = `Generate ${formatCount(next.length, "build")}?`;
  if (!(await confirmAction(title, [...confirmationText(next, failed), costText(plan.estimate)], "Generate"))) return;
  const result = /** @type {SeedResult} */ (await request("POST", `/api/admin/seed?background=1${retry}`));
  showOutcome(`${formatCount(result.jobs.length, "build")} queued. They continue when you close this page.`);
}

async function cancelAll() {
  const confirmationText = "Everything queued or running stops, on every server. Answers received so far are kept, and may still be billed.";
  if (!(await confirmAction("Stop all jobs?", [textElement("p", confirmationText)], "Stop all jobs"))) return;
  const { cancelled } = await request("DELETE", "/api/admin/jobs");
  showOutcome(`${formatCount(cancelled, "build")} cancelled.`);
}

/** Explains why nothing would be generated. */
async function explainNothingToDo() {
  const { coverage, providers } = await request("GET", "/api/admin/status");
  if (!providers.some((/** @type {{ hasKey: boolean }} */ { hasKey }) => hasKey)) return "No provider has a key.";
  if (coverage.expected === 0) return "Nothing to generate: there is no active prompt, or no enabled model with a key.";
  if (coverage.underWay > 0) return "Nothing else is missing; the rest is in progress.";
  return coverage.failed + coverage.cancelled > 0 ? "The missing builds failed or were cancelled; retry them." : "Nothing is missing.";
}

/** @param {SeedResult["estimate"]} estimate */
function costText({ dollars, unknown } = { dollars: 0, unknown: 0 }) {
  const besides = unknown > 0 ? `, plus ${formatCount(unknown, "build")} at unknown prices` : "";
  const about = dollars === 0 && unknown > 0 ? "—" : `about $${dollars.toFixed(2)}`;
  return textElement("p", `Estimated cost, going by earlier builds: ${about}${besides}.`);
}

/** The text of the confirmation: what is asked for, of whom, and how often. @param {NonNullable<SeedResult["next"]>} next @param {number} failed */
function confirmationText(next, failed) {
  const perProvider = new Map();
  for (const { modelKey } of next) {
    const column = document.querySelector(`#matrix th[data-model="${modelKey}"]`);
    const name = column?.getAttribute("data-asked") ?? "others";
    perProvider.set(name, (perProvider.get(name) ?? 0) + 1);
  }
  const list = document.createElement("ul");
  for (const [name, builds] of perProvider) {
    const most = builds * attempts;
    list.append(textElement("li", `${name}: ${formatCount(builds, "build")}, at most ${formatCount(most, "request")}`));
  }
  const cost = textElement("p", `Each build takes up to ${formatCount(attempts, "request")}, and providers bill every request.`);
  const missing = next.length - failed;
  const both = failed && missing ? [textElement("p", `${formatNumber(failed)} failed or were cancelled; the other ${formatNumber(missing)} were never tried.`)] : [];
  return [...both, list, cost];
}

/** @param {string} words */
function showOutcome(words) {
  outcome.classList.remove("bad");
  outcome.hidden = false;
  outcome.textContent = words;
}
