/** /judge: opens builds, sends scores, and goes on to the next build without loading the whole page again. */
import { ArenaApiError, fetchJudging, sendJudgement, skipJudging } from "../arena/api.js";
import { query } from "../dom.js";
import { areComplete, readScores, setUpScales } from "./scales.js";

const CHECK_REQUIRED = "person_check_required";
const NO_LONGER_OPEN = ["judging_over", "no_such_judging"];

let busy = false;

setUp();

function setUp() {
  const main = query(document, "main.judge");
  const start = main.dataset.start;
  if (start !== undefined) void run(() => open(start));
  const form = main.querySelector("#judgement");
  if (form instanceof HTMLFormElement) setUpForm(form, main.dataset.judging ?? "");
  main.querySelector("[data-next]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    void run(() => open("/judge"));
  });
}

/** @param {HTMLFormElement} form @param {string} judging */
function setUpForm(form, judging) {
  const send = /** @type {HTMLButtonElement} */ (query(form, "#send"));
  const update = () => (send.ariaDisabled = String(!areComplete(form)));
  setUpScales(form, () => send.focus());
  form.addEventListener("input", update);
  update();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.id === "skip") return void run(() => skip(judging));
    if (!areComplete(form)) return showProblem("Score each criterion, or tick “Can’t say”.");
    if (form.reportValidity()) void run(() => judge(judging, form));
  });
}

/** @param {string} address of the page, which is shown once a build is open there */
async function open(address) {
  try {
    await fetchJudging(address.split("/")[3] ?? "");
  } catch (error) {
    // The page says so itself.
    if (!(error instanceof ArenaApiError) || !["all_judged", "already_judged"].includes(error.code)) throw error;
    if (error.code === "all_judged") return show(address, { method: "POST" });
  }
  return show(address);
}

/** @param {string} judging */
async function skip(judging) {
  try {
    await skipJudging(judging);
  } catch (error) {
    if (!(error instanceof ArenaApiError) || !NO_LONGER_OPEN.includes(error.code)) throw error;
  }
  await open("/judge");
}

/** @param {string} judging @param {HTMLFormElement} form */
async function judge(judging, form) {
  const body = { id: judging, ...readScores(form) };
  const { url } = await sendJudgement(body).catch(async (error) => {
    if (!(error instanceof ArenaApiError)) throw error;
    if (error.code === "already_judged" && error.answer?.url) return error.answer;
    if (error.code !== CHECK_REQUIRED || !error.answer?.personCheck) throw error;
    const { passPersonCheck } = await import("../arena/person-check.js");
    await passPersonCheck(error.answer.personCheck);
    return sendJudgement(body);
  });
  await show(url);
}

/** Puts the main part of another page into this one. @param {string} address @param {RequestInit} [init] */
async function show(address, init) {
  const response = await fetch(address, init).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  const page = new DOMParser().parseFromString(text ?? "", "text/html");
  const main = page.querySelector("main.judge");
  // An error's page, or that of a proxy, is better loaded as it is.
  if (!response?.ok || !main) return location.assign(address);
  history.replaceState(null, "", response.url);
  document.title = page.title;
  delete (/** @type {HTMLElement} */ (main).dataset.start);
  query(document, "main").replaceWith(document.adoptNode(main));
  window.scrollTo(0, 0);
  setUp();
  const first = main.querySelector("#next") ?? main.querySelector("h1");
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
}

/** Only one thing at a time, so that a double click does nothing twice. @param {() => Promise<unknown>} action */
async function run(action) {
  if (busy) return;
  busy = true;
  const main = query(document, "main");
  main.ariaBusy = "true";
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ArenaApiError)) throw error;
    showProblem(error.message);
  } finally {
    busy = false;
    main.ariaBusy = null;
  }
}

/** @param {string} words */
function showProblem(words) {
  const problem = query(document, "#problem");
  problem.hidden = false;
  problem.textContent = words;
  problem.scrollIntoView({ block: "nearest" });
}
