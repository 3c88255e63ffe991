/** The form that has builds judged: the cost first, then the jobs and their progress. */
import { request, showError } from "./api.js";
import { byId, confirmAction, formatCount, formatNumber, inputById, query, textElement } from "./ui.js";

const POLL_MS = 2000;

const form = document.querySelector("#judging");
const outcome = byId("outcome");
const progress = byId("progress");

/** The parameters of `/api/admin/judge`. */
function selection() {
  const value = (/** @type {string} */ id) => inputById(id).value.trim();
  const parameters = new URLSearchParams({ model: value("judge") });
  if (value("what")) parameters.set("pairwise", "1");
  for (const name of ["prompt", "of", "limit"]) if (value(name)) parameters.set(name, value(name));
  if (inputById("again").checked) parameters.set("retryFailed", "1");
  return parameters;
}

/** @param {HTMLElement} button */
async function judge(button) {
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true");
  outcome.hidden = true;
  try {
    const parameters = selection();
    const plan = /** @type {JudgingResult} */ (await request("POST", `/api/admin/judge?${parameters}&dryRun=1`));
    const next = plan.next?.length ?? 0;
    if (next === 0) return showOutcome(nothingToDo(plan));
    const title = plan.pairwise ? `Ask ${formatCount(next, "question about a pair", "questions about pairs")}?` : `Have ${formatCount(next, "build")} judged?`;
    if (!(await confirmAction(title, costTexts(plan), "Ask the judge"))) return;
    const queued = /** @type {JudgingResult} */ (await request("POST", `/api/admin/judge?${parameters}`));
    showOutcome(`${formatCount(queued.jobs.length, "job")} in the queue or running. They continue when you close this page.`);
    follow(queued.jobs.map(({ id }) => id));
  } catch (trouble) {
    showError(outcome, trouble);
    outcome.classList.add("bad");
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** @param {JudgingResult} plan */
function nothingToDo({ targets, judged, failed, pairwise }) {
  if (targets === 0) return pairwise ? "Nobody has voted on such a pair yet." : "No build matches.";
  if (judged === targets) return "Everything here was judged already.";
  return failed > 0 ? "The rest failed, was cancelled, or is in progress." : "The rest is in progress.";
}

/** @param {JudgingResult} plan */
function costTexts({ estimate }) {
  if (!estimate) return [];
  const { pictures, pictureTokens, textTokens, answerTokens, dollars, unknown } = estimate;
  const about = unknown > 0 ? "unknown, since the model has no price" : `about $${dollars.toFixed(2)}`;
  const request = `Each request shows ${formatCount(pictures, "picture")}, about ${formatNumber(pictureTokens)} tokens, beside about ${formatNumber(textTokens)} tokens of text. An answer has about ${formatNumber(answerTokens)}.`;
  return [textElement("p", `Estimated cost: ${about}.`), textElement("p", request)];
}

/** @param {string} words */
function showOutcome(words) {
  outcome.classList.remove("bad");
  outcome.hidden = false;
  outcome.textContent = words;
}

/** Shows how far the jobs are until the last has ended. @param {string[]} jobs */
async function follow(jobs) {
  const counts = { ready: 0, failed: 0 };
  const open = new Set(jobs);
  progress.hidden = false;
  while (open.size > 0) {
    try {
      const now = await request("POST", "/api/admin/jobs/progress", { json: { jobs: [...open] } });
      for (const { id, state } of now.ended) {
        open.delete(id);
        counts[/** @type {keyof typeof counts} */ (state)] += 1;
      }
      const waits = now.underWay.map((/** @type {{ waitsFor: string | null }} */ { waitsFor }) => waitsFor).find(Boolean);
      const rest = open.size > 0 ? `, ${formatNumber(open.size)} to go` : "";
      progress.textContent = `${formatNumber(counts.ready)} judged, ${formatNumber(counts.failed)} failed${rest}.${waits ? ` ${waits}` : ""}`;
    } catch (trouble) {
      showError(progress, trouble);
    }
    if (open.size > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const list = textElement("a", "Show the jobs");
  list.setAttribute("href", "/admin/jobs?kind=judge");
  progress.append(" ", list);
}

if (form instanceof HTMLFormElement) {
  const button = /** @type {HTMLButtonElement} */ (query(form, "[type=submit]"));
  button.disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    judge(button);
  });
}
