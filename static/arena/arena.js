/** The arena: one matchup after another, from the builds to the vote to the names. */
import { Advance } from "./advance.js";
import * as api from "./api.js";
import { Exhibit } from "./exhibit.js";
import * as keys from "./keys.js";
import { recall, remember } from "./memory.js";
import { empty, fill } from "./reveal.js";
import { slides } from "./swipe.js";

const TRIES = 5;
/** For a click that was meant for what stood there before the next pair came. */
const SETTLE_MS = 800;
/** Whether somebody ever turned a build. */
const TURNED = "arena:turned";
const BROKEN = "A build did not load. Retry it in its place, or skip this matchup.";

/** @typedef {"loading" | "looking" | "settling" | "ready" | "sending" | "over" | "revealed" | "closed"} Phase */

const main = part("main");
const asked = part("asked");
const stage = part("stage");
const ballot = part("ballot");
const reveal = part("reveal");
const note = part("note");
const said = part("said");
const next = part("next");
const skipper = /** @type {HTMLButtonElement} */ (part("skip"));
const picker = /** @type {HTMLSelectElement} */ (part("prompt"));
const help = /** @type {HTMLDialogElement} */ (part("help"));
const choices = /** @type {NodeListOf<HTMLButtonElement>} */ (ballot.querySelectorAll("[data-choice]"));
const closed = [...main.querySelectorAll(".closed")];

/** @type {Phase} */
let phase = "loading";
/** On screen. @type {Exhibit | undefined} */
let exhibit;
/** On its way, while a vote is revealed. @type {Promise<Exhibit> | undefined} */
let coming;
/** What was begun before this changed has no say any more. */
let turn = 0;

const front = slides(stage, part("tabs"));
const advance = new Advance({
  button: next,
  stop: part("stay"),
  box: /** @type {HTMLInputElement} */ (part("use-advance")),
  exhibits: [stage, reveal],
}, goOn);

/** Shows the next matchup, once it is there. @param {Promise<Exhibit>} [arriving] @param {string} [words] */
async function show(arriving = arrive(), words = "") {
  const mine = ++turn;
  coming = undefined;
  advance.end();
  enter("loading");
  tell(words);
  try {
    const arrived = await arriving;
    if (mine !== turn) return arrived === exhibit || arrived.remove();
    const next = exhibit && arrived !== exhibit;
    if (arrived !== exhibit) arrived.replace(exhibit);
    exhibit = arrived;
    introduce(arrived.matchup.prompt.text);
    part("house").hidden = !arrived.matchup.houseOnly;
    enter("looking");
    if (arrived.broken) tell(BROKEN);
    await arrived.ready;
    if (mine !== turn) return;
    tell(words);
    if (next) {
      enter("settling");
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      if (mine !== turn) return;
    }
    enter("ready");
    said.textContent = `${words} Both builds are on screen. Which is better?`;
  } catch (error) {
    // Whether another prompt is left is not asked: that would use up a pair that nobody has seen.
    if (mine === turn) close(/** @type {api.Trouble} */ (error), !picker.value);
  }
}

async function arrive() {
  const matchup = await api.matchup(picker.value);
  if (exhibit && exhibit.matchup.id === matchup.id) return exhibit;
  const arrived = new Exhibit(matchup);
  arrived.failed = () => exhibit === arrived && phase === "looking" && tell(BROKEN);
  return arrived;
}

/** @param {string} words */
function introduce(words) {
  asked.textContent = words;
  document.title = `${words} · Buildoff`;
  for (const one of main.querySelectorAll("[data-chosen]")) one.removeAttribute("data-chosen");
  front.show("a", "instant");
}

/** @param {Choice} choice */
async function vote(choice) {
  if (phase !== "ready" || !exhibit) return;
  const mine = turn;
  enter("sending", choice);
  tell("");
  try {
    const told = await send(exhibit.matchup.id, choice);
    if (mine === turn) bringToLight(told);
  } catch (trouble) {
    if (mine === turn) failed(/** @type {api.Trouble} */ (trouble), choice);
  }
}

/** Sends a vote again that came too soon; one that had come already is as good. @param {string} id @param {Choice} choice */
async function send(id, choice) {
  for (let tries = 1; ; tries++) {
    try {
      return await api.vote(id, choice);
    } catch (error) {
      const { code, message, wait, told } = /** @type {api.Trouble} */ (error);
      if (code === "already_voted" && told.reveal) return { ...told, before: message };
      if (code !== "too_soon" || tries === TRIES) throw error;
      tell(`${message} Your vote is on its way.`);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** @param {Told} told */
function bringToLight(told) {
  tell("");
  mark(told.choice);
  enter("revealed");
  said.textContent = `${told.before ?? ""} ${fill(reveal, told)}`;
  next.focus({ preventScroll: true });
  reveal.scrollIntoView({ block: "nearest" });
  coming = arrive();
  coming.catch(() => {});
  advance.begin();
}

/** The chosen build and its name, or both; and has it in view. @param {Choice} choice */
function mark(choice) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-side], [data-of]"))) {
    const name = (one.dataset.side ?? one.dataset.of ?? "").toUpperCase();
    if (choice === name || choice === "TIE" || choice === "BOTH_BAD") one.dataset.chosen = choice;
    else delete one.dataset.chosen;
  }
  if (choice === "A" || choice === "B") front.show(choice.toLowerCase());
}

/** @param {api.Trouble} trouble @param {Choice} choice */
function failed({ code, message }, choice) {
  if (code === "no_such_matchup") {
    return show(undefined, "That matchup was not yours any more, so the vote did not count. Here is a fresh one.");
  }
  if (code === "matchup_over") {
    enter("over");
    return tell(message, "Next matchup", () => show());
  }
  enter("ready");
  tell(`${message} Your vote is not counted yet.`, "Send it again", () => vote(choice));
}

function goOn() {
  if (phase !== "revealed") return;
  show(coming?.then(stillOpen, arrive));
  asked.focus({ preventScroll: true });
}

/** @param {Exhibit} arrived a while ago, perhaps */
function stillOpen(arrived) {
  if (Date.parse(arrived.matchup.expiresAt) > Date.now()) return arrived;
  arrived.remove();
  return arrive();
}

async function skip() {
  if (!exhibit || !["looking", "ready", "over"].includes(phase)) return;
  const mine = turn;
  const before = phase;
  enter("loading");
  try {
    await api.skip(exhibit.matchup.id);
  } catch (error) {
    const { code, message } = /** @type {api.Trouble} */ (error);
    // Whatever became of it, it is not open any more.
    const gone = ["already_voted", "no_such_matchup"].includes(code);
    if (!gone && mine === turn) {
      enter(before);
      return tell(message, "Skip again", skip);
    }
  }
  if (mine !== turn) return;
  show();
  asked.focus({ preventScroll: true });
}

/** When there is no matchup to show. @param {api.Trouble} trouble @param {boolean} over for any other prompt, too */
function close({ code, message }, over) {
  exhibit?.remove();
  exhibit = undefined;
  const reason = part(code === "all_voted" || code === "not_seeded" ? code : "trouble");
  enter("closed");
  reason.hidden = false;
  introduce((!over && reason.dataset.titleOne) || (reason.dataset.title ?? ""));
  said.textContent = asked.textContent;
  part("why").textContent = message;
  for (const words of main.querySelectorAll("[data-one]")) words.toggleAttribute("hidden", over);
  for (const words of main.querySelectorAll("[data-all]")) words.toggleAttribute("hidden", !over);
  // Who has only just come is where they want to be.
  if (turn > 1) asked.focus({ preventScroll: true });
}

/** @param {Phase} to @param {Choice} [sent] */
function enter(to, sent) {
  phase = to;
  main.dataset.phase = to;
  for (const button of choices) {
    button.disabled = to !== "ready";
    button.toggleAttribute("data-sent", button.dataset.choice === sent);
  }
  skipper.disabled = !["looking", "ready", "over"].includes(to);
  picker.disabled = to === "sending";
  ballot.hidden = to === "revealed";
  reveal.hidden = to !== "revealed";
  if (reveal.hidden) empty(reveal);
  for (const section of closed) section.toggleAttribute("hidden", true);
}

/** Says something under the buttons. @param {string} words @param {string} [offer] @param {() => void} [take] */
function tell(words, offer, take) {
  const text = document.createElement("span");
  text.textContent = words;
  note.replaceChildren(...(words ? [text] : []));
  if (words) said.textContent = words;
  if (!offer || !take) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = offer;
  button.addEventListener("click", take);
  note.append(button);
  button.focus({ preventScroll: true });
}

/** Another prompt, or any; the address keeps the choice. */
function pick() {
  const address = new URL(location.href);
  if (picker.value) address.searchParams.set("prompt", picker.value);
  else address.searchParams.delete("prompt");
  history.replaceState(null, "", address);
  coming?.then((arrived) => arrived.remove(), () => {});
  show();
}

function any() {
  picker.value = "";
  pick();
}

function link() {
  if (exhibit) said.textContent = exhibit.link() ? "Both builds turn together." : "Each build turns by itself.";
}

async function copy() {
  const button = part("copy");
  const { href } = /** @type {HTMLAnchorElement} */ (part("share"));
  try {
    await navigator.clipboard.writeText(href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = "Copy link"), 2000);
}

/** @param {string} id @returns {HTMLElement} */
function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}

for (const button of choices) {
  button.addEventListener("click", () => vote(/** @type {Choice} */ (button.dataset.choice)));
}
for (const button of main.querySelectorAll("button[data-one]")) button.addEventListener("click", any);
skipper.addEventListener("click", skip);
next.addEventListener("click", goOn);
picker.addEventListener("change", pick);
part("pick").addEventListener("submit", (event) => event.preventDefault());
part("ask").addEventListener("click", () => help.showModal());
part("again").addEventListener("click", () => show());
part("copy").addEventListener("click", copy);
part("copy").hidden = !navigator.clipboard;
stage.toggleAttribute("data-unturned", !recall(TURNED));
stage.addEventListener("pointerdown", ({ target }) => {
  if (!(target instanceof HTMLCanvasElement)) return;
  remember(TURNED, "yes");
  stage.removeAttribute("data-unturned");
});
addEventListener("online", () => {
  if (phase === "closed" && !part("trouble").hidden) show();
  else if (phase === "ready") note.querySelector("button")?.click();
});
keys.offer(help, /** @type {HTMLInputElement} */ (part("use-keys")));
keys.listen({
  1: () => vote("A"),
  2: () => vote("B"),
  3: () => vote("TIE"),
  0: () => vote("BOTH_BAD"),
  n: () => (phase === "revealed" ? goOn() : skip()),
  enter: goOn,
  l: link,
  "?": () => help.showModal(),
});
show();
