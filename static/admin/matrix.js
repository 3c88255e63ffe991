/** The coverage matrix, live. */
import * as cells from "./cells.js";
import * as orders from "./orders.js";
import { Panel } from "./panel.js";
import * as view from "./view.js";
import { count, counted, dollars, part, say } from "./parts.js";
import { listen } from "./stream.js";

const UNDER_WAY = ["queued", "running"];

const panel = new Panel();

/** @param {Change} change */
function hear({ whole, cells: changed, sum }) {
  const before = changed.map((place) => cells.paint(place));
  if (whole) empty(changed);
  add(sum);
  tell(changed.filter(({ state }, index) => !UNDER_WAY.includes(state) && UNDER_WAY.includes(before[index] ?? "")));
  view.renew();
  panel.refresh();
}

/** All cells but those in which there is something. @param {Place[]} full */
function empty(full) {
  const places = new Set(full.map(({ promptId, modelKey }) => `${promptId}/${modelKey}`));
  for (const cell of cells.all()) {
    if (cell.dataset.cell && !places.has(cells.placeOf(cell))) cells.paint(cells.nothing(cell));
  }
}

/** @param {Totals} sum */
function add(sum) {
  for (const slot of document.querySelectorAll("[data-sum]")) {
    const name = /** @type {keyof Totals} */ (/** @type {HTMLElement} */ (slot).dataset.sum);
    slot.textContent = name === "spent" ? dollars(sum.spent) : count(sum[name]);
    const some = /** @type {HTMLElement | null} */ (slot.closest("[data-some]"));
    if (some) some.hidden = sum[name] === 0;
  }
  orders.offer(sum);
}

/** The ends of jobs, for those who listen. @param {Place[]} ended */
function tell(ended) {
  if (ended.length > 3) return say(`${counted(ended.length, "job")} ended.`);
  const sentence = (/** @type {Place} */ place) => {
    const cell = cells.cellAt(`${place.promptId}/${place.modelKey}`);
    const { prompt, model } = cell ? cells.heads(cell) : { prompt: place.promptId, model: place.modelKey };
    return `${prompt} by ${model}: ${place.state}.`;
  };
  if (ended.length > 0) say(ended.map(sentence).join(" "));
}

/** An address may name a cell. */
function follow() {
  const cell = cells.cellAt(decodeURIComponent(location.hash.slice(1)));
  if (!cell) return;
  history.replaceState(null, "", location.pathname + location.search);
  cell.scrollIntoView({ block: "center", inline: "center" });
  panel.open(cell);
}

document.getElementById("matrix")?.addEventListener("click", (event) => {
  const { target, ctrlKey, metaKey, shiftKey } = event;
  const cell = target instanceof Element ? target.closest("a") : null;
  if (!cell || ctrlKey || metaKey || shiftKey) return;
  event.preventDefault();
  panel.open(cell);
});
// A file that misses the cells is not to take the page away. Cells, as links, can be dragged themselves.
for (const kind of ["dragover", "drop"]) {
  document.querySelector(".matrix")?.addEventListener(kind, (event) => {
    const { target, dataTransfer } = /** @type {DragEvent} */ (event);
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const cell = target instanceof Element ? target.closest("a") : null;
    if (cell && kind === "drop") panel.open(cell, dataTransfer);
  });
}
for (const cell of cells.all()) cell.setAttribute("aria-haspopup", "dialog");
cells.walk();
view.follow();
orders.take();
setInterval(() => {
  cells.tick();
  panel.tick();
}, 1000);
panel.acted = listen("/api/admin/events", part("line"), "matrix", hear);
addEventListener("hashchange", follow);
follow();
