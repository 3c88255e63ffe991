/** Night and day. */
import { sceneOf, style } from "./scene.js";
import { say } from "./status.js";

/** @typedef {import("./viewer.js").BuildViewer} BuildViewer */

/**
 * Turns one viewer to night or day, or all that move together.
 * @param {BuildViewer} element @param {HTMLElement} button @param {import("./company.js").Pair} pair
 */
export async function press(element, button, pair) {
  style();
  const night = button.getAttribute("aria-pressed") !== "true";
  const members = pair.linked ? /** @type {Set<BuildViewer>} */ (/** @type {unknown} */ (pair.members)) : [element];
  for (const member of members) {
    if (!member.viewer || member.dataset.state !== "live" || member.inert) continue;
    member.querySelector('[data-tool="night"]')?.setAttribute("aria-pressed", String(night));
    await sceneOf(member).setNight(night);
  }
  const lamps = sceneOf(element).lit ? "The glowing blocks are the lamps." : "No block of this build glows; there is moonlight.";
  say(element, night ? `Night. ${lamps}` : "Day.");
}
