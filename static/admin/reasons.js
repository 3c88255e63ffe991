/** Failed builds by their reason, each with a button that retries them. */
import { act, generate } from "./bulk-actions.js";
import { byId, formatNumber, query, textElement } from "./ui.js";

const list = byId("reasons");
let shown = "";

/** @param {FailureReason[]} failures */
export function showReasons(failures) {
  // A list that is the same stays, so that its buttons keep the focus.
  const now = JSON.stringify(failures);
  if (now === shown) return;
  shown = now;
  const focused = document.activeElement?.closest("#reasons li")?.getAttribute("data-code");
  list.replaceChildren(...failures.map(item));
  list.hidden = failures.length === 0;
  if (!focused) return;
  const again = /** @type {HTMLElement | null} */ (list.querySelector(`[data-code="${focused}"] button`));
  (again ?? query(document, "[data-order=missing]")).focus();
}

/** @param {FailureReason} reason */
function item({ code, sentence, count }) {
  const words = textElement("span", `${sentence} `);
  words.append(textElement("code", code));
  const button = textElement("button", "Retry");
  button.setAttribute("type", "button");
  button.className = "quiet";
  const spoken = textElement("span", ` the ${formatNumber(count)} that failed because: ${sentence}`);
  spoken.className = "spoken";
  button.append(spoken);
  button.addEventListener("click", () => act(() => generate(`reason=${encodeURIComponent(code)}`)));
  const row = document.createElement("li");
  row.dataset.code = code;
  row.append(textElement("b", formatNumber(count)), " ", words, " ", button);
  return row;
}
