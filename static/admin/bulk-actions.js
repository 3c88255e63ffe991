/** Actions on the matrix, or on a selection of it: import the catalog, generate, retry, pause, cancel. */
import { request, showError } from "./api.js";
import { showPauses } from "./pauses.js";
import { byId, confirmAction, formatCount, query, textElement } from "./ui.js";

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
function run(button) {
  const order = button.dataset.order;
  return act(async () => {
    if (order === "catalog") await importCatalog();
    else if (order === "stop") return cancel();
    else if (order === "pause") showPauses(await request("POST", "/api/admin/queue/pause"));
    else return generate(order === "failed" ? "onlyFailed=1" : "");
    return true;
  });
}

/**
 * Carries out one action at a time.
 * @param {() => Promise<boolean>} action @param {(trouble: unknown) => void} [onTrouble] shows what went wrong
 * @returns {Promise<boolean>} whether the action was carried out
 */
export async function act(action, onTrouble = showTrouble) {
  if (buttons[0]?.getAttribute("aria-disabled")) return false;
  for (const each of buttons) each.setAttribute("aria-disabled", "true");
  outcome.hidden = true;
  try {
    return await action();
  } catch (trouble) {
    onTrouble(trouble);
    return false;
  } finally {
    for (const each of buttons) each.removeAttribute("aria-disabled");
  }
}

/** @param {unknown} trouble */
function showTrouble(trouble) {
  showError(outcome, trouble);
  outcome.classList.add("bad");
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

/** Asks for builds after a confirmation. @param {string} selection parameters of `/api/admin/seed`; all that is missing without any */
export async function generate(selection) {
  const parameters = selection && `&${selection}`;
  const plan = /** @type {SeedResult} */ (await request("POST", `/api/admin/seed?dryRun=1${parameters}`));
  const next = plan.next ?? [];
  if (next.length === 0) {
    showOutcome(await explainNothingToDo());
    return true;
  }
  const title = `Generate ${formatCount(next.length, "build")}?`;
  if (!(await confirmAction(title, [...confirmationText(next), costText(plan.estimate)], "Generate"))) return false;
  const result = /** @type {SeedResult} */ (await request("POST", `/api/admin/seed?background=1${parameters}`));
  const { length } = result.jobs;
  showOutcome(`${formatCount(length, "build")} in the queue or running. They continue when you close this page.`);
  return true;
}

/** Cancels jobs after a confirmation. @param {string} [selection] of builds, as parameters; all jobs without any */
export async function cancel(selection) {
  const text = selection
    ? "What is queued or running here stops, on every server. Answers received so far are kept, and may still be billed."
    : "Everything queued or running stops, on every server. Answers received so far are kept, and may still be billed.";
  const title = selection ? "Stop these jobs?" : "Stop all jobs?";
  if (!(await confirmAction(title, [textElement("p", text)], selection ? "Stop these jobs" : "Stop all jobs"))) return false;
  const { cancelled } = await request("DELETE", selection ? `/api/admin/jobs?kind=build&${selection}` : "/api/admin/jobs");
  showOutcome(`${formatCount(cancelled, selection ? "build" : "job")} cancelled.`);
  return true;
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

/** The text of the confirmation: what is asked for, of whom, and how often. @param {NonNullable<SeedResult["next"]>} next */
function confirmationText(next) {
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
  return [list, cost];
}

/** @param {string} words */
function showOutcome(words) {
  outcome.classList.remove("bad");
  outcome.hidden = false;
  outcome.textContent = words;
}
