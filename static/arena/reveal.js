/** Shows the result of a vote: names, ratings, and the other votes on the pair. */

const CHOICES = { A: "A is better", TIE: "A tie", BOTH_BAD: "Both bad", B: "B is better" };
const formatChange = new Intl.NumberFormat("en", { maximumFractionDigits: 1, signDisplay: "exceptZero" });
const wholeNumber = new Intl.NumberFormat("en");

/**
 * Fills the page's reveal section.
 * @param {HTMLElement} section @param {VoteResult} result
 * @returns {string} the same as a sentence for screen readers
 */
export function fillReveal(section, result) {
  const { reveal, others, choice } = result;
  for (const side of /** @type {SideName[]} */ (["a", "b"])) {
    fillContestant(/** @type {HTMLElement} */ (section.querySelector(`[data-of=${side}]`)), reveal[side]);
  }
  slot(section, "choice").textContent = `${CHOICES[choice]}.`;
  slot(section, "others").textContent = agreement(result);
  drawTally(section, others, choice);
  const share = /** @type {HTMLAnchorElement} */ (section.querySelector("#share"));
  share.href = result.shareUrl;
  // While a build is withheld, the page is for its voter alone.
  /** @type {HTMLElement} */ (share.parentElement).hidden = reveal.a.build.withheld || reveal.b.build.withheld;
  return `Voted: ${CHOICES[choice]}. ${spokenResult("A", reveal.a)} ${spokenResult("B", reveal.b)} ${agreement(result)}`;
}

/** Removes every name and number, which must not be readable while the next matchup is blind. @param {HTMLElement} section */
export function clearReveal(section) {
  // An open popover would reappear with the next reveal, and would hold up its countdown.
  for (const open of /** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll(":popover-open"))) open.hidePopover();
  for (const slot of section.querySelectorAll("[data-slot]")) slot.textContent = "";
  for (const link of section.querySelectorAll("[data-format], [data-own]")) link.removeAttribute("href");
}

/** @param {VoteResult} result */
function agreement({ others, choice }) {
  const { a, b, tie, bothBad } = others;
  const all = a + b + tie + bothBad;
  const same = { A: a, B: b, TIE: tie, BOTH_BAD: bothBad }[choice];
  if (all === 0) return "The first vote on this pair.";
  if (all === 1) return same ? "One other agrees." : "One other saw it differently.";
  const agreeing = same === all ? "All" : same === 0 ? "None" : wholeNumber.format(same);
  return `${agreeing} of ${wholeNumber.format(all)} others agree${same === 1 ? "s" : ""}.`;
}

/**
 * Draws all votes on the pair as one bar. This vote is included, so that the bar is never empty.
 * @param {HTMLElement} section @param {VoteResult["others"]} others @param {Choice} choice
 */
function drawTally(section, others, choice) {
  const choices = /** @type {Choice[]} */ (["A", "TIE", "BOTH_BAD", "B"]);
  const counts = [others.a, others.tie, others.bothBad, others.b];
  counts[choices.indexOf(choice)]++;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const bars = section.querySelectorAll(".tally rect");
  const numbers = section.querySelectorAll(".counts strong");
  let start = 0;
  counts.forEach((count, index) => {
    const width = (100 * count) / all;
    bars[index].setAttribute("x", String(start));
    bars[index].setAttribute("width", String(width));
    numbers[index].textContent = wholeNumber.format(count);
    start += width;
  });
}

/** @param {HTMLElement} section @param {Contestant} one */
function fillContestant(section, { key, provider, displayName, elo, build }) {
  const name = document.createElement("a");
  name.textContent = displayName;
  name.href = `/models/${key}`;
  slot(section, "name").replaceChildren(name);
  slot(section, "elo").textContent = String(Math.round(elo.after));
  const moved = slot(section, "change");
  moved.textContent = formatChange.format(elo.after - elo.before).replace("-", "−");
  moved.className = { "+": "good", "−": "bad" }[moved.textContent[0]] ?? "soft";
  slot(section, "provider").textContent = provider;
  const timeText = build.generationTimeMs === null ? "" : ` · made in ${formatTime(build.generationTimeMs)}`;
  slot(section, "facts").textContent = `${wholeNumber.format(build.blockCount)} blocks${timeText}`;
  const own = /** @type {HTMLAnchorElement} */ (section.querySelector("[data-own]"));
  // A withheld build has no page and no files: only matchups show it.
  /** @type {HTMLElement} */ (own.parentElement).hidden = build.withheld;
  own.href = `/builds/${build.id}`;
  for (const file of /** @type {NodeListOf<HTMLAnchorElement>} */ (section.querySelectorAll("[data-format]"))) {
    file.href = `/api/builds/${build.id}/export?format=${file.dataset.format}`;
  }
  const warned = slot(section, "warned");
  const { warnings } = build;
  warned.hidden = warnings.length === 0;
  warned.textContent = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  slot(section, "warnings").replaceChildren(...warnings.map(({ message }) => {
    const item = document.createElement("li");
    item.textContent = message;
    return item;
  }));
}

/** @param {string} side @param {Contestant} one */
function spokenResult(side, { displayName, elo }) {
  const points = Math.abs(elo.after - elo.before).toFixed(1).replace(".0", "");
  const direction = elo.after > elo.before ? "up" : "down";
  return `${side} is ${displayName}, now at ${Math.round(elo.after)}${points === "0" ? "" : `, ${direction} ${points}`}.`;
}

/** @param {number} ms */
function formatTime(ms) {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** @param {Element} section @param {string} name */
function slot(section, name) {
  return /** @type {HTMLElement} */ (section.querySelector(`[data-slot=${name}]`));
}
