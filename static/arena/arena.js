/** The arena page: shows a matchup, takes the vote, reveals the names, and goes on to the next. */
import { AutoAdvance } from "./auto-advance.js";
import * as api from "./api.js";
import { MatchupView } from "./matchup-view.js";
import * as shortcuts from "./shortcuts.js";
import { loadSetting, saveSetting } from "./settings.js";
import { clearReveal, fillReveal } from "./reveal.js";
import { setUpSlides } from "./swipe.js";

const MAX_ATTEMPTS = 5;
/** How long the buttons stay disabled under a new pair, for clicks that were meant for the one before. */
const SETTLE_MS = 800;
/** Set once the visitor has turned a build; the hint is not shown any more. */
const ROTATED_SETTING = "arena:turned";
const CHECKING = "Your browser is finishing a short check. Your vote follows by itself …";
const LOAD_FAILED = "A build could not be loaded. Retry, or skip this matchup.";

/** @typedef {"loading" | "looking" | "settling" | "ready" | "sending" | "over" | "revealed" | "closed"} Phase */

const main = byId("main");
const promptHeading = byId("asked");
const stage = byId("stage");
const ballot = byId("ballot");
const reveal = byId("reveal");
const notice = byId("note");
const liveRegion = byId("said");
const nextButton = byId("next");
const skipButton = /** @type {HTMLButtonElement} */ (byId("skip"));
const promptSelect = /** @type {HTMLSelectElement} */ (byId("prompt"));
const help = /** @type {HTMLDialogElement} */ (byId("help"));
const choices = /** @type {NodeListOf<HTMLButtonElement>} */ (ballot.querySelectorAll("[data-choice]"));
const closedSections = [...main.querySelectorAll(".closed")];

/** @type {Phase} */
let phase = "loading";
/** On screen. @type {MatchupView | undefined} */
let current;
/** The next matchup, loading while a vote is revealed. @type {Promise<MatchupView> | undefined} */
let upcoming;
/** The check that a person votes, while it is under way. @type {Promise<void> | undefined} */
let personCheck;
/** Raised with each new matchup. Asynchronous work that began under a lower number must not touch the page any more. */
let generation = 0;

const slides = setUpSlides(stage, byId("tabs"));
const autoAdvance = new AutoAdvance({
  button: nextButton,
  stop: byId("stay"),
  box: /** @type {HTMLInputElement} */ (byId("use-advance")),
  exhibits: [stage, reveal],
}, showNext);

/** Shows the next matchup as soon as it has loaded. @param {Promise<MatchupView>} [arriving] @param {string} [words] */
async function showMatchup(arriving = loadMatchup(), words = "") {
  const started = ++generation;
  upcoming = undefined;
  autoAdvance.cancel();
  setPhase("loading");
  showNotice(words);
  try {
    const arrived = await arriving;
    if (started !== generation) return arrived === current || arrived.remove();
    const next = current && arrived !== current;
    if (arrived !== current) arrived.replace(current);
    current = arrived;
    setHeading(arrived.matchup.prompt.text);
    byId("house").hidden = !arrived.matchup.houseOnly;
    setPhase("looking");
    if (arrived.broken) showNotice(LOAD_FAILED);
    await arrived.ready;
    if (started !== generation) return;
    showNotice(words);
    if (next) {
      setPhase("settling");
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      if (started !== generation) return;
    }
    setPhase("ready");
    liveRegion.textContent = `${words} Both builds are on screen. Which is better?`;
  } catch (error) {
    // Whether other prompts have pairs left is not asked: the answer would be a matchup, which would count as seen.
    if (started === generation) showClosed(/** @type {api.ArenaApiError} */ (error), !promptSelect.value);
  }
}

async function loadMatchup() {
  const matchup = await api.fetchMatchup(promptSelect.value);
  // A proof of work is done while the visitor looks; what a service shows would be in the way now.
  if (matchup.personCheck?.kind === "work") beginPersonCheck(matchup.personCheck).catch(() => {});
  if (current && current.matchup.id === matchup.id) return current;
  const arrived = new MatchupView(matchup);
  arrived.onFailed = () => current === arrived && phase === "looking" && showNotice(LOAD_FAILED);
  return arrived;
}

/** @param {string} words */
function setHeading(words) {
  promptHeading.textContent = words;
  document.title = `${words} · Buildoff`;
  for (const one of main.querySelectorAll("[data-chosen]")) one.removeAttribute("data-chosen");
  slides.show("a", "instant");
}

/** @param {Choice} choice */
async function vote(choice) {
  if (phase !== "ready" || !current) return;
  const started = generation;
  setPhase("sending", choice);
  showNotice("");
  try {
    const result = await submitVote(current.matchup.id, choice);
    if (started === generation) showReveal(result);
  } catch (trouble) {
    if (started === generation) showVoteError(/** @type {api.ArenaApiError} */ (trouble), choice);
  }
}

/**
 * Retries a vote that came too soon, or before the check that a person votes. A vote that was counted before shows the
 * same reveal.
 * @param {string} id @param {Choice} choice
 */
async function submitVote(id, choice) {
  for (let tries = 1; ; tries++) {
    // If this fails, the server asks again.
    if (personCheck) await whileChecking(personCheck.catch(() => {}));
    try {
      return await api.vote(id, choice);
    } catch (error) {
      const { code, message, wait, answer } = /** @type {api.ArenaApiError} */ (error);
      if (code === "already_voted" && answer.reveal) return { ...answer, notice: message };
      if (tries === MAX_ATTEMPTS) throw error;
      if (code === "person_check_required") {
        await whileChecking(beginPersonCheck(answer.personCheck));
      } else if (code === "too_soon") {
        showNotice(`${message} Sending your vote again …`);
        await new Promise((resolve) => setTimeout(resolve, wait));
      } else {
        throw error;
      }
    }
  }
}

/** Begins the check that the server asks for, unless it is under way. @param {PersonCheck} check @returns {Promise<void>} */
function beginPersonCheck(check) {
  personCheck ??= import("./person-check.js").then(
    ({ passPersonCheck }) => passPersonCheck(check),
    () => Promise.reject(new api.ArenaApiError("unreachable", "The server cannot be reached.")),
  ).finally(() => (personCheck = undefined));
  return personCheck;
}

/** @param {Promise<void>} check */
async function whileChecking(check) {
  showNotice(CHECKING);
  await check;
  showNotice("");
}

/** @param {VoteResult} result */
function showReveal(result) {
  showNotice("");
  markChosen(result.choice);
  setPhase("revealed");
  liveRegion.textContent = `${result.notice ?? ""} ${fillReveal(reveal, result)}`;
  nextButton.focus({ preventScroll: true });
  reveal.scrollIntoView({ block: "nearest" });
  upcoming = loadMatchup();
  upcoming.catch(() => {});
  autoAdvance.start();
}

/** Marks the chosen build and its name, or both, and scrolls to it. @param {Choice} choice */
function markChosen(choice) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-side], [data-of]"))) {
    const name = (one.dataset.side ?? one.dataset.of ?? "").toUpperCase();
    if (choice === name || choice === "TIE" || choice === "BOTH_BAD") one.dataset.chosen = choice;
    else delete one.dataset.chosen;
  }
  if (choice === "A" || choice === "B") slides.show(choice.toLowerCase());
}

/** @param {api.ArenaApiError} trouble @param {Choice} choice */
function showVoteError({ code, message }, choice) {
  if (code === "no_such_matchup") {
    return showMatchup(undefined, "That matchup is no longer yours, so the vote was not counted. Here is a new one.");
  }
  if (code === "matchup_over") {
    setPhase("over");
    return showNotice(message, "Next matchup", () => showMatchup());
  }
  setPhase("ready");
  showNotice(`${message} Your vote has not been counted yet.`, "Send again", () => vote(choice));
}

function showNext() {
  if (phase !== "revealed") return;
  showMatchup(upcoming?.then(unlessExpired, loadMatchup));
  promptHeading.focus({ preventScroll: true });
}

/** @param {MatchupView} arrived a while ago, perhaps */
function unlessExpired(arrived) {
  if (Date.parse(arrived.matchup.expiresAt) > Date.now()) return arrived;
  arrived.remove();
  return loadMatchup();
}

async function skip() {
  if (!current || !["looking", "ready", "over"].includes(phase)) return;
  const mine = generation;
  const before = phase;
  setPhase("loading");
  try {
    await api.skip(current.matchup.id);
  } catch (error) {
    const { code, message } = /** @type {api.ArenaApiError} */ (error);
    // In both cases the matchup is no longer open, so there is nothing left to skip.
    const gone = ["already_voted", "no_such_matchup"].includes(code);
    if (!gone && mine === generation) {
      setPhase(before);
      return showNotice(message, "Skip again", skip);
    }
  }
  if (mine !== generation) return;
  showMatchup();
  promptHeading.focus({ preventScroll: true });
}

/** Shows why there is no matchup. @param {api.ArenaApiError} trouble @param {boolean} allPrompts whether this holds for all prompts */
function showClosed({ code, message }, allPrompts) {
  current?.remove();
  current = undefined;
  const reason = byId(code === "all_voted" || code === "not_seeded" ? code : "trouble");
  setPhase("closed");
  reason.hidden = false;
  setHeading((!allPrompts && reason.dataset.titleOne) || (reason.dataset.title ?? ""));
  liveRegion.textContent = promptHeading.textContent;
  byId("why").textContent = message;
  for (const words of main.querySelectorAll("[data-one]")) words.toggleAttribute("hidden", allPrompts);
  for (const words of main.querySelectorAll("[data-all]")) words.toggleAttribute("hidden", !allPrompts);
  // On the first load the focus stays at the top of the page.
  if (generation > 1) promptHeading.focus({ preventScroll: true });
}

/** @param {Phase} to @param {Choice} [sent] */
function setPhase(to, sent) {
  phase = to;
  main.dataset.phase = to;
  for (const button of choices) {
    button.disabled = to !== "ready";
    button.toggleAttribute("data-sent", button.dataset.choice === sent);
  }
  skipButton.disabled = !["looking", "ready", "over"].includes(to);
  promptSelect.disabled = to === "sending";
  ballot.hidden = to === "revealed";
  reveal.hidden = to !== "revealed";
  if (reveal.hidden) clearReveal(reveal);
  for (const section of closedSections) section.toggleAttribute("hidden", true);
}

/** Shows a message under the buttons, with a button where there is something to do. @param {string} words @param {string} [offer] @param {() => void} [take] */
function showNotice(words, offer, take) {
  const text = document.createElement("span");
  text.textContent = words;
  notice.replaceChildren(...(words ? [text] : []));
  if (words) liveRegion.textContent = words;
  if (!offer || !take) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = offer;
  button.addEventListener("click", take);
  notice.append(button);
  button.focus({ preventScroll: true });
}

/** Switches to the chosen prompt, or to any, and keeps the choice in the address. */
function changePrompt() {
  const address = new URL(location.href);
  if (promptSelect.value) address.searchParams.set("prompt", promptSelect.value);
  else address.searchParams.delete("prompt");
  history.replaceState(null, "", address);
  upcoming?.then((arrived) => arrived.remove(), () => {});
  showMatchup();
}

function clearPrompt() {
  promptSelect.value = "";
  changePrompt();
}

function toggleLinked() {
  if (current) liveRegion.textContent = current.toggleLinked() ? "Both builds turn together." : "Each build turns by itself.";
}

async function copyLink() {
  const button = byId("copy");
  const { href } = /** @type {HTMLAnchorElement} */ (byId("share"));
  try {
    await navigator.clipboard.writeText(href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying blocked";
  }
  setTimeout(() => (button.textContent = "Copy link"), 2000);
}

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}

for (const button of choices) {
  button.addEventListener("click", () => vote(/** @type {Choice} */ (button.dataset.choice)));
}
for (const button of main.querySelectorAll("button[data-one]")) button.addEventListener("click", clearPrompt);
skipButton.addEventListener("click", skip);
nextButton.addEventListener("click", showNext);
promptSelect.addEventListener("change", changePrompt);
byId("pick").addEventListener("submit", (event) => event.preventDefault());
byId("ask").addEventListener("click", () => help.showModal());
byId("again").addEventListener("click", () => showMatchup());
byId("copy").addEventListener("click", copyLink);
byId("copy").hidden = !navigator.clipboard;
stage.toggleAttribute("data-unturned", !loadSetting(ROTATED_SETTING));
stage.addEventListener("pointerdown", ({ target }) => {
  if (!(target instanceof HTMLCanvasElement)) return;
  saveSetting(ROTATED_SETTING, "yes");
  stage.removeAttribute("data-unturned");
});
addEventListener("online", () => {
  if (phase === "closed" && !byId("trouble").hidden) showMatchup();
  else if (phase === "ready") notice.querySelector("button")?.click();
});
shortcuts.setUpHelp(help, /** @type {HTMLInputElement} */ (byId("use-keys")));
shortcuts.listenForShortcuts({
  1: () => vote("A"),
  2: () => vote("B"),
  3: () => vote("TIE"),
  0: () => vote("BOTH_BAD"),
  n: () => (phase === "revealed" ? showNext() : skip()),
  enter: showNext,
  l: toggleLinked,
  "?": () => help.showModal(),
});
showMatchup();
