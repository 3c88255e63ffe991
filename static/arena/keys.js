/** Single keys, as long as nobody types or turns a build with them; and the dialog that explains them and switches them off. */
import { recall, remember } from "./memory.js";

const HABIT = "arena:keys";
/** A slider has no use for them. */
const NOT_HERE = "canvas, input:not([type=range]), select, textarea, [contenteditable]";
const ITS_OWN_ENTER = "a, button, summary, label";

/** @param {Record<string, () => void>} actions by key, in lower case */
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    const { key, target, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (!(target instanceof Element) || repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
    if (target.matches(NOT_HERE)) {
      if (key === "Escape" && target instanceof HTMLElement) target.blur();
      return;
    }
    const action = actions[key.toLowerCase()];
    const taken = document.querySelector("dialog[open]") || (key === "Enter" && target.closest(ITS_OWN_ENTER));
    if (!action || taken || !inUse()) return;
    event.preventDefault();
    action();
  });
}

/** @param {HTMLDialogElement} dialog @param {HTMLInputElement} box */
export function offer(dialog, box) {
  const show = () => document.documentElement.toggleAttribute("data-keys-off", !inUse());
  box.checked = inUse();
  box.addEventListener("change", () => {
    remember(HABIT, box.checked ? "on" : "off");
    show();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  show();
}

function inUse() {
  return recall(HABIT) !== "off";
}
