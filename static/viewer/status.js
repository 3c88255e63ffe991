/** Announcements of a viewer to screen readers. */
import { make } from "./controls.js";

/** @param {HTMLElement} element @param {string} words */
export function announce(element, words) {
  let status = element.querySelector(":scope > .said[role=status]");
  if (!status) {
    status = make("p", { class: "said", role: "status" });
    element.append(status);
  }
  status.textContent = words;
}
