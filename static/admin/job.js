/** The page of a job: polls its state, and loads its answers on demand. */
import { ApiError, request, showError } from "./api.js";
import { announce, byId, formatNumber, query } from "./ui.js";

const POLL_MS = 2000;
/** The characters of an answer that are shown in the page. */
const MAX_SHOWN = 200_000;

const job = byId("job");
const trouble = byId("trouble");
const outcome = byId("told");
const list = byId("list");
const ALLOWED = { cancel: ["queued", "running"], retry: ["failed", "cancelled"], reread: ["failed", "cancelled"] };

let timer = 0;

/** What a judge's job is about. @type {{ buildId: string, rightBuildId: string | null } | null} */
const judged = JSON.parse(job.dataset.judged ?? "null");

/** Whether the kind of job has this action. @param {string} action */
function isOffered(action) {
  return !judged || action !== "reread";
}

/** Asks a judge the same again. @param {string} model @param {NonNullable<typeof judged>} about */
async function judgeAgain(model, { buildId, rightBuildId }) {
  const parameters = new URLSearchParams({ model, build: buildId, retryFailed: "1" });
  if (rightBuildId) {
    parameters.set("rightBuild", rightBuildId);
    parameters.set("pairwise", "1");
  }
  const { jobs } = await request("POST", `/api/admin/judge?${parameters}`);
  if (jobs.length > 0) return location.assign(`/admin/jobs/${jobs[0].id}`);
  showError(trouble, "This has been judged since, or cannot be judged any more.");
}

/** Shows the buttons that the job's state allows. */
function updateButtons() {
  byId("acts").hidden = false;
  for (const button of buttons()) {
    const action = /** @type {keyof typeof ALLOWED} */ (button.dataset.does);
    button.hidden = !isOffered(action) || !ALLOWED[action].includes(job.dataset.state ?? "");
  }
}

/** @param {string} does */
async function perform(does) {
  trouble.hidden = true;
  outcome.hidden = true;
  const [promptId, modelKey] = (job.dataset.place ?? "").split("/");
  const address = `/api/admin/jobs/${job.dataset.job}`;
  try {
    if (does === "cancel") await request("DELETE", address);
    if (does === "reread") showOutcome(await request("POST", `${address}/reparse`));
    if (does === "retry" && judged) return await judgeAgain(modelKey, judged);
    if (does === "retry") {
      const { id } = await request("POST", "/api/admin/jobs", { json: { promptId, modelKey } });
      return location.assign(`/admin/jobs/${id}`);
    }
    await refresh();
  } catch (reason) {
    showError(trouble, reason);
  }
}

/** @param {{ ok: boolean, attempt: number, error: string | null }} reread */
function showOutcome({ ok, attempt, error }) {
  outcome.hidden = false;
  outcome.classList.toggle("good", ok);
  outcome.textContent = ok ? `Answer ${attempt} contained a valid build, which is now imported.` : `No answer contained a valid build. ${error ?? ""}`;
}

/** Fetches the page again and takes over what has changed, so that opened answers stay open. */
async function refresh() {
  clearTimeout(timer);
  try {
    const response = await fetch(location.pathname);
    if (response.redirected) throw new ApiError("", 401);
    if (!response.ok) throw new ApiError(`The server answered ${response.status}.`, response.status);
    applyPage(new DOMParser().parseFromString(await response.text(), "text/html"));
    if (trouble.dataset.lost) trouble.hidden = true;
    delete trouble.dataset.lost;
  } catch (reason) {
    trouble.dataset.lost = "yes";
    const known = reason instanceof ApiError;
    showError(trouble, known ? reason : "Connection lost; this page may be out of date. Reconnecting …");
    if (known && reason.status === 401) return;
  }
  schedulePoll();
}

/** @param {Document} now */
function applyPage(now) {
  const state = query(now, "#job").dataset.state ?? "";
  if (state !== job.dataset.state) announce(`The job is ${state}.`);
  job.dataset.state = state;
  for (const slot of ["state", "facts"]) replaceIfChanged(query(job, `[data-live=${slot}]`), query(now, `[data-live=${slot}]`));
  for (const attempt of now.querySelectorAll("[data-attempt]")) {
    const known = list.querySelector(`[data-attempt="${attempt.getAttribute("data-attempt")}"]`);
    if (!known) {
      list.append(document.adoptNode(attempt));
      continue;
    }
    for (const css of ["[data-facts]", "[data-bytes]"]) replaceIfChanged(query(known, css), query(attempt, css));
  }
  byId("none").hidden = list.childElementCount > 0;
  updateButtons();
}

/** @param {Element} old @param {Element} now */
function replaceIfChanged(old, now) {
  if (old.innerHTML !== now.innerHTML) old.replaceChildren(...document.adoptNode(now).childNodes);
}

function schedulePoll() {
  if (["queued", "running"].includes(job.dataset.state ?? "")) timer = setTimeout(refresh, POLL_MS);
}

/** @param {HTMLElement} details */
async function showAnswer(details) {
  const text = query(details, "pre");
  text.hidden = false;
  text.textContent = "…";
  try {
    text.textContent = await fetchBeginning(details.dataset.answer ?? "");
  } catch (reason) {
    text.textContent = "";
    showError(text, reason);
  }
}

/** @param {string} address */
async function fetchBeginning(address) {
  const response = await fetch(address);
  if (!response.ok) throw new ApiError(`The server answered ${response.status}.`, response.status);
  if (!response.body) return "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.length <= MAX_SHOWN) {
    const { done, value } = await reader.read();
    if (done) return text || "The answer is empty.";
    text += value;
  }
  reader.cancel();
  return `${text.slice(0, MAX_SHOWN)}\n\n… These are the first ${formatNumber(MAX_SHOWN)} characters. Use the link above for the full answer.`;
}

function buttons() {
  return /** @type {NodeListOf<HTMLButtonElement>} */ (job.querySelectorAll("[data-does]"));
}

for (const button of buttons()) button.addEventListener("click", () => perform(button.dataset.does ?? ""));
list.addEventListener("toggle", ({ target }) => target instanceof HTMLDetailsElement && target.open && showAnswer(target), true);
updateButtons();
schedulePoll();
