/** The bars of the budgets. */
import { byId, formatCount, formatDollars, textElement } from "./ui.js";

const list = byId("budgets");

/** @param {Budget[]} budgets */
export function showBudgets(budgets) {
  list.hidden = budgets.length === 0;
  list.replaceChildren(...budgets.map(bar));
}

/** @param {Budget} budget */
function bar({ name, spent, limit, percent, unpriced }) {
  const item = document.createElement("div");
  const meter = document.createElement("meter");
  Object.assign(meter, { min: 0, max: 100, low: 80, high: 99.9, optimum: 0, value: Math.min(percent, 100) });
  meter.setAttribute("aria-label", `${name}: ${percent} % spent`);
  const words = textElement("span", `${unpriced > 0 ? "≥\u00a0" : ""}${formatDollars(spent)} of ${formatDollars(limit)}`);
  const description = document.createElement("dd");
  description.append(meter, words);
  if (unpriced > 0) {
    const unknown = textElement("small", `${formatCount(unpriced, "request")} of unknown cost`);
    description.append(unknown);
  }
  item.append(textElement("dt", name), description);
  return item;
}
