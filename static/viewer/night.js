/** Switches between night and day. */
import { getScene, loadStyles } from "./scene.js";
import { announce } from "./status.js";

/**
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 * @typedef {import("./page-viewers.js").Pair} Pair
 */

/** Pairs whose later members are switched to night, too. @type {WeakSet<Pair>} */
const followedPairs = new WeakSet();

/**
 * Switches one viewer, or all viewers of a linked pair.
 * @param {BuildViewer} element @param {HTMLElement} button @param {Pair} pair
 */
export async function activate(element, button, pair) {
  await loadStyles();
  const night = button.getAttribute("aria-pressed") !== "true";
  followPair(pair);
  for (const member of pair.linked ? viewersOf(pair) : [element]) await setNight(member, night);
  if (!element.viewer) return;
  const { lit } = getScene(element);
  const lamps = lit ? "Lit by the glowing blocks." : lit === false ? "No block glows; lit by the moon." : "The light could not be loaded.";
  announce(element, night ? `Night. ${lamps}` : "Day.");
}

/** @param {BuildViewer} element @param {boolean} night */
async function setNight(element, night) {
  if (!element.viewer || element.dataset.state !== "live" || element.inert) return;
  element.querySelector('[data-tool="night"]')?.setAttribute("aria-pressed", String(night));
  await getScene(element).setNight(night);
}

/** Members of a linked pair that start later get the night of the others. @param {Pair} pair */
function followPair(pair) {
  if (followedPairs.has(pair)) return;
  followedPairs.add(pair);
  document.addEventListener("viewer:ready", ({ target }) => {
    const late = viewersOf(pair).find((member) => member === target);
    if (!late || !pair.linked || late.dataset.night !== undefined) return;
    if (viewersOf(pair).some((member) => member.dataset.night !== undefined)) setNight(late, true);
  });
}

/** @param {Pair} pair */
function viewersOf({ members }) {
  return /** @type {BuildViewer[]} */ (/** @type {unknown} */ ([...members]));
}
