/** What is paused: notices at the top of the page, with buttons that resume it. */
import { request, showError } from "./api.js";
import { showBudgets } from "./budgets.js";
import { announce, byId, query, textElement } from "./ui.js";

const list = byId("pauses");
const pauseButton = query(document, "[data-order=pause]");
let shown = "";

/** @param {Pauses} pauses */
export function showPauses(pauses) {
  showBudgets(pauses.budgets);
  const sentences = pauses.budgets.flatMap(({ sentence }) => sentence ?? []);
  // A list that is the same stays, so that its buttons keep the focus.
  const now = JSON.stringify([pauses.queuePausedAt, pauses.providers, sentences]);
  if (now === shown) return;
  const isChange = shown !== "";
  const hadFocus = list.contains(document.activeElement);
  shown = now;
  const { queuePausedAt, providers } = pauses;
  const items = providers.map(({ key, displayName, sentence, message, probing }) => {
    const words = textElement("p", `${sentence} `);
    const detail = textElement("span", message);
    detail.className = "small soft";
    words.append(detail);
    return notice(words, probing ? null : `/api/admin/providers/${encodeURIComponent(key)}/resume`, displayName);
  });
  if (queuePausedAt) {
    const words = document.createElement("p");
    words.append(textElement("strong", "The queue is paused."), " No jobs are started. Those that run go on.");
    items.unshift(notice(words, "/api/admin/queue/resume", "the queue"));
  }
  items.push(...sentences.map((sentence) => notice(textElement("p", sentence), null, "")));
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
  // Hiding a focused button would lose the focus.
  if (document.activeElement !== pauseButton) pauseButton.hidden = queuePausedAt !== null;
  if (hadFocus) (list.querySelector("button") ?? pauseButton).focus();
  if (isChange && items.length > 0) announce(items.map((item) => query(item, "p").textContent).join(" "));
}

/** @param {HTMLElement} words @param {string | null} address that resumes it @param {string} what */
function notice(words, address, what) {
  const item = document.createElement("li");
  item.className = "notice warn";
  item.append(words);
  if (!address) return item;
  const button = textElement("button", "Resume");
  button.setAttribute("type", "button");
  button.append(spoken(` ${what}`));
  button.addEventListener("click", () => resume(address, words));
  item.append(button);
  return item;
}

/** @param {string} words for screen readers */
function spoken(words) {
  const element = textElement("span", words);
  element.className = "spoken";
  return element;
}

/** @param {string} address @param {HTMLElement} words */
async function resume(address, words) {
  try {
    showPauses(await request("POST", address));
  } catch (trouble) {
    showError(words, trouble);
  }
}
