/** The widget of a service that checks visitors. It is loaded from the service, and only here. */
import { ArenaApiError } from "./api.js";

export const SERVICE_NAMES = { turnstile: "Cloudflare Turnstile", hcaptcha: "hCaptcha" };

const SCRIPTS = {
  turnstile: "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit",
  hcaptcha: "https://js.hcaptcha.com/1/api.js?render=explicit",
};

/**
 * Shows the widget until it gives a token. Resolves to nothing if its script cannot be loaded.
 * @param {CaptchaCheck} check @returns {Promise<string | undefined>}
 */
export async function getToken({ kind, siteKey }) {
  const widget = await loadWidget(kind);
  if (!widget) return undefined;
  const { dialog, box } = showDialog(SERVICE_NAMES[kind]);
  try {
    return await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ words) => reject(new ArenaApiError("person_check_failed", words));
      dialog.addEventListener("close", () => fail("The check was cancelled."));
      widget.render(box, {
        sitekey: siteKey,
        callback: resolve,
        "error-callback": () => fail(`${SERVICE_NAMES[kind]} could not check your browser.`),
      });
    });
  } finally {
    dialog.remove();
  }
}

/** @param {CaptchaCheck["kind"]} kind @returns {Promise<CaptchaWidget | undefined>} */
async function loadWidget(kind) {
  if (!window[kind]) {
    const script = document.createElement("script");
    script.src = SCRIPTS[kind];
    const ended = new Promise((resolve) => {
      script.addEventListener("load", resolve);
      script.addEventListener("error", resolve);
    });
    document.head.append(script);
    await ended;
    script.remove();
  }
  return window[kind];
}

/** Not modal, because hCaptcha shows its puzzles outside of it. @param {string} name of the service */
function showDialog(name) {
  const dialog = document.createElement("dialog");
  dialog.className = "person-check";
  dialog.setAttribute("aria-label", "Check that you are a person");
  const heading = document.createElement("p");
  heading.textContent = `One moment: ${name} checks that you are a person.`;
  // Otherwise the focus would be on Cancel, where a key that was meant to vote again would end the check.
  heading.tabIndex = -1;
  heading.autofocus = true;
  const box = document.createElement("div");
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", () => dialog.close());
  dialog.append(heading, box, cancel);
  document.body.append(dialog);
  dialog.show();
  return { dialog, box };
}
