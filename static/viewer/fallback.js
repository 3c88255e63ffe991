/** The viewer without WebGL. */
import { iconButton, make } from "./controls.js";

/** The directions of the server's pictures, 45 degrees apart. */
const ANGLES = ["front", "front right", "right", "back right", "back", "back left", "left", "front left"];

/**
 * Shows the server's pictures from eight angles.
 * @param {HTMLImageElement} picture
 * @param {string} address of the pictures; the angle is added
 * @returns {HTMLElement} its controls
 */
export function showAngles(picture, address) {
  const alt = picture.alt;
  let angle = 0;
  const status = make("span", { class: "said-angle", "aria-live": "polite" });
  /** @param {number} to */
  const show = (to) => {
    angle = (to + ANGLES.length) % ANGLES.length;
    const url = new URL(address, document.baseURI);
    url.searchParams.set("angle", String(angle));
    picture.src = url.href;
    picture.alt = `${alt} Seen from the ${ANGLES[angle]}.`;
    status.textContent = `Seen from the ${ANGLES[angle]}`;
  };
  picture.addEventListener("click", () => show(angle + 1));
  return make(
    "div",
    { class: "bar", role: "group", "aria-label": "Angle" },
    iconButton("left", "Turn left", () => show(angle - 1), "M12 5l-5 5 5 5"),
    iconButton("right", "Turn right", () => show(angle + 1), "M8 5l5 5-5 5"),
    status,
  );
}
