/** The menu of rarely used actions: screenshot and video. */
import { canRecord, recordTurn } from "./video.js";
import { iconButton, make } from "./controls.js";
import { loadStyles } from "./scene.js";
import { saveScreenshot } from "./screenshot.js";

/** @typedef {import("./viewer.js").BuildViewer} BuildViewer */

const ICONS = {
  shot: "M3.5 6.5h3L8 4.5h4l1.5 2h3v9h-13zM10 8.2a2.6 2.6 0 100 5.2 2.6 2.6 0 000-5.2",
  clip: "M3.5 6h9v8h-9zM12.5 9l4-2v6l-4-2z",
};

/** Opens the menu, or closes it. @param {BuildViewer} element @param {HTMLElement} button */
export async function activate(element, button) {
  const { viewer } = element;
  await loadStyles();
  if (!viewer || viewer !== element.viewer) return;
  const open = element.querySelector(":scope > .menu");
  if (open) open.dispatchEvent(new Event("shut"));
  else openMenu(element, button);
}

/** @param {BuildViewer} element @param {HTMLElement} button */
function openMenu(element, button) {
  const over = new AbortController();
  const { signal } = over;
  const menu = make("div", { class: "menu", role: "group", "aria-label": "More" });
  const closeMenu = () => {
    const hadFocus = menu.contains(document.activeElement);
    over.abort();
    menu.remove();
    button.setAttribute("aria-expanded", "false");
    if (hadFocus) button.focus({ preventScroll: true });
  };
  const entry = (/** @type {keyof typeof ICONS} */ tool, /** @type {string} */ words, /** @type {() => void} */ act) => {
    const button = iconButton(tool, words, () => {
      closeMenu();
      act();
    }, ICONS[tool]);
    button.removeAttribute("title");
    button.append(words);
    menu.append(button);
  };
  entry("shot", "Save a picture", () => saveScreenshot(element));
  // Only the orbiting camera can turn around the build.
  if (canRecord() && !element.matches("[data-walking], [data-recording]")) entry("clip", "Record a turn", () => recordTurn(element));
  menu.addEventListener("shut", closeMenu);
  // In the capture phase, before walking and replay, which Escape would leave, too.
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopImmediatePropagation();
    closeMenu();
  }, { signal, capture: true });
  document.addEventListener("pointerdown", (event) => {
    const { target } = event;
    if (target instanceof Node && !menu.contains(target) && !button.contains(target)) closeMenu();
  }, { signal });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget) && relatedTarget !== button) closeMenu();
  });
  element.viewer?.aborter.signal.addEventListener("abort", closeMenu, { signal });
  button.setAttribute("aria-expanded", "true");
  element.append(menu);
  const room = element.clientWidth - menu.offsetWidth - 16;
  menu.style.setProperty("inset-inline-start", `${Math.max(0, Math.min(room, button.offsetLeft))}px`);
  menu.querySelector("button")?.focus({ preventScroll: true });
}
