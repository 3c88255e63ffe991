/** Keyboard shortcuts of single keys, and the dialog that explains them and switches them off. They are ignored where the focus is on something that uses keys itself. */
import { loadSetting, saveSetting } from "./settings.js";

const SETTING = "arena:keys";
/** Elements that use letters themselves; range inputs do not. */
const IGNORED_TARGETS = "canvas, input:not([type=range]), select, textarea, [contenteditable]";
const HANDLES_ENTER = "a, button, summary, label";

/** @param {Record<string, () => void>} actions by key, in lower case */
export function listenForShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    const { key, target, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    if (!(target instanceof Element) || repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
    if (target.matches(IGNORED_TARGETS)) {
      if (key === "Escape" && target instanceof HTMLElement) target.blur();
      return;
    }
    const action = actions[key.toLowerCase()];
    const isTaken = document.querySelector("dialog[open]") || (key === "Enter" && target.closest(HANDLES_ENTER));
    if (!action || isTaken || !areEnabled()) return;
    event.preventDefault();
    action();
  });
}

/** @param {HTMLDialogElement} dialog @param {HTMLInputElement} box */
export function setUpHelp(dialog, box) {
  const show = () => document.documentElement.toggleAttribute("data-keys-off", !areEnabled());
  box.checked = areEnabled();
  box.addEventListener("change", () => {
    saveSetting(SETTING, box.checked ? "on" : "off");
    show();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  show();
}

function areEnabled() {
  return loadSetting(SETTING) !== "off";
}
