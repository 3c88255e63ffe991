/** Actions on a row or a column of the matrix: generate what is missing, retry what failed, cancel what is in progress. */
import { showError } from "./api.js";
import { act, cancel, generate } from "./bulk-actions.js";
import { allCells, readCell } from "./cells.js";
import { byId, closeOnButtons, formatNumber, query } from "./ui.js";

const dialog = /** @type {HTMLDialogElement} */ (byId("line-panel"));
const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (dialog.querySelectorAll("[data-line]"));
/** The row or column that is open. @type {{ name: "model" | "prompt", key: string } | undefined} */
let line;

/** Makes the names of models and prompts buttons. */
export function setUp() {
  closeOnButtons(dialog);
  for (const head of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#matrix thead th"))) {
    addButton(query(head, ".name"), "model", head.dataset.model ?? "", [head.dataset.name ?? "", query(head, ".provider").textContent ?? ""]);
  }
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#matrix tbody tr"))) {
    addButton(query(row, ".asked"), "prompt", row.dataset.prompt ?? "", [row.dataset.text ?? "", "Prompt"]);
  }
  for (const button of buttons) button.addEventListener("click", () => run(button.dataset.line ?? ""));
}

/** Shows the current counts, if a row or column is open. */
export function refresh() {
  if (!line || !dialog.open) return;
  const { name, key } = line;
  const counts = { missing: 0, failed: 0, cancel: 0, ready: 0, shut: 0 };
  for (const cell of allCells()) {
    const place = readCell(cell);
    if ((name === "model" ? place.modelKey : place.promptId) !== key) continue;
    if (place.state === "ready") counts.ready += 1;
    else if (["queued", "running"].includes(place.state)) counts.cancel += 1;
    // Nobody is asked for what cannot be generated or is switched off.
    else if (cell.dataset.shut !== undefined || cell.closest("[data-off]")) counts.shut += 1;
    else counts[place.state === "missing" ? "missing" : "failed"] += 1;
  }
  const told = [
    [counts.ready, "ready"],
    [counts.missing, "missing"],
    [counts.cancel, "in progress"],
    [counts.failed, "failed or cancelled"],
    [counts.shut, "that cannot be generated or are switched off"],
  ];
  const shown = told.filter(([count]) => count !== 0).map(([count, words]) => `${formatNumber(Number(count))} ${words}`);
  query(dialog, "[data-slot=counts]").textContent = `${shown.join(", ")}.`;
  const labels = { missing: "Generate missing", failed: "Retry failed", cancel: "Cancel jobs" };
  let hadFocus = false;
  for (const button of buttons) {
    const action = /** @type {keyof typeof labels} */ (button.dataset.line);
    button.textContent = `${labels[action]} (${formatNumber(counts[action])})`;
    hadFocus ||= counts[action] === 0 && button === document.activeElement;
    button.hidden = counts[action] === 0;
  }
  if (hadFocus) byId("line-title").focus();
}

/** @param {HTMLElement} place @param {"model" | "prompt"} name @param {string} key @param {[string, string]} words the title, and what is above it */
function addButton(place, name, key, [title, kind]) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "line";
  button.setAttribute("aria-haspopup", "dialog");
  place.replaceWith(button);
  // The name stays a box of its own, which the stylesheet cuts after some lines.
  button.append(place);
  button.addEventListener("click", () => {
    line = { name, key };
    byId("line-title").textContent = title;
    query(dialog, "[data-slot=kind]").textContent = kind;
    query(dialog, "[data-slot=trouble]").hidden = true;
    dialog.showModal();
    byId("line-title").focus();
    refresh();
  });
}

/** @param {string} action */
async function run(action) {
  if (!line) return;
  const selection = `${line.name}=${encodeURIComponent(line.key)}`;
  const trouble = query(dialog, "[data-slot=trouble]");
  trouble.hidden = true;
  const done = await act(
    () => (action === "cancel" ? cancel(selection) : generate(action === "failed" ? `${selection}&onlyFailed=1` : selection)),
    (error) => showError(trouble, error),
  );
  if (done) dialog.close();
}
