/** Night and day. */
import { sceneOf, style } from "./scene.js";
import { say } from "./status.js";

/**
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 * @typedef {import("./company.js").Pair} Pair
 */

/** Pairs that have been dark. @type {WeakSet<Pair>} */
const followed = new WeakSet();

/**
 * Turns one viewer to night or day, or all that move together.
 * @param {BuildViewer} element @param {HTMLElement} button @param {Pair} pair
 */
export async function press(element, button, pair) {
  await style();
  const night = button.getAttribute("aria-pressed") !== "true";
  follow(pair);
  for (const member of pair.linked ? membersOf(pair) : [element]) await turn(member, night);
  if (!element.viewer) return;
  const { lit } = sceneOf(element);
  const lamps = lit ? "The glowing blocks are the lamps." : lit === false ? "No block of this build glows; there is moonlight." : "Its lamps could not be lit.";
  say(element, night ? `Night. ${lamps}` : "Day.");
}

/** @param {BuildViewer} element @param {boolean} night */
async function turn(element, night) {
  if (!element.viewer || element.dataset.state !== "live" || element.inert) return;
  element.querySelector('[data-tool="night"]')?.setAttribute("aria-pressed", String(night));
  await sceneOf(element).setNight(night);
}

/** Those of a pair that go live later have what the others have. @param {Pair} pair */
function follow(pair) {
  if (followed.has(pair)) return;
  followed.add(pair);
  document.addEventListener("viewer:ready", ({ target }) => {
    const late = membersOf(pair).find((member) => member === target);
    if (!late || !pair.linked || late.dataset.night !== undefined) return;
    if (membersOf(pair).some((member) => member.dataset.night !== undefined)) turn(late, true);
  });
}

/** @param {Pair} pair */
function membersOf({ members }) {
  return /** @type {BuildViewer[]} */ (/** @type {unknown} */ ([...members]));
}
