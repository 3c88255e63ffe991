/** The two viewers of a matchup. They load and draw behind the current ones, and replace them once they are needed. */
import { Camera } from "../viewer/camera.js";
import { getPair } from "../viewer/page-viewers.js";
import { BuildViewer } from "../viewer/viewer.js";

const POSTER_PATH = "image?size=768&background=transparent";
/** Two matchups exist at a time, one on screen and one behind it. The count gives each its own camera pair. */
let viewCount = 0;

/** @param {SideName} side */
function sideElement(side) {
  return /** @type {HTMLElement} */ (document.querySelector(`.side[data-side=${side}]`));
}

export class MatchupView {
  /** @type {BuildViewer[]} */
  #viewers = [];
  #pair;
  /** Resolves once both builds are drawn. @type {Promise<unknown>} */
  ready;
  /** Whether a build failed to load. */
  broken = false;
  /** Called when a build fails to load. @type {() => void} */
  onFailed = () => {};

  /** @param {Matchup} matchup */
  constructor(matchup) {
    this.matchup = matchup;
    const name = `arena-${viewCount++ % 2}`;
    this.#pair = getPair(name);
    this.#pair.camera = new Camera();
    const addViewer = (/** @type {SideName} */ side) => {
      const { url } = matchup[side].build;
      const viewer = new BuildViewer();
      viewer.inert = true;
      setAttributes(viewer, { src: url, angles: `${url}/${POSTER_PATH}`, pair: name, name: `Build ${side.toUpperCase()}` });
      viewer.addEventListener("mousedown", leaveFocus);
      this.#viewers.push(viewer);
      const shown = whenShown(viewer, () => {
        this.broken = true;
        this.onFailed();
      });
      sideElement(side).append(viewer);
      return shown;
    };
    this.ready = Promise.all([addViewer("a"), addViewer("b")]);
  }

  /** Shows this matchup instead of another. @param {MatchupView | undefined} before */
  replace(before) {
    if (before && before.#pair.linked !== this.#pair.linked) this.toggleLinked();
    before?.remove();
    for (const viewer of this.#viewers) viewer.inert = false;
  }

  /** Links or unlinks the cameras. @returns whether together */
  toggleLinked() {
    this.#pair.toggle(this.#viewers[0]);
    return this.#pair.linked;
  }

  remove() {
    for (const viewer of this.#viewers) viewer.remove();
  }
}

/** Keeps a mouse press on a build from taking the focus, so that the voting keys still work. Walking needs the focus. @param {MouseEvent} event */
function leaveFocus(event) {
  const { target } = event;
  if (!(target instanceof HTMLCanvasElement) || target.closest("[data-walking]")) return;
  event.preventDefault();
  if (document.activeElement instanceof HTMLSelectElement) document.activeElement.blur();
}

/**
 * Resolves once a viewer draws, or shows its picture where WebGL is not available.
 * @param {BuildViewer} viewer @param {() => void} failed
 */
function whenShown(viewer, failed) {
  return new Promise((resolve) => {
    viewer.addEventListener("viewer:ready", resolve);
    viewer.addEventListener("viewer:error", () => {
      const picture = viewer.querySelector("img");
      if (viewer.dataset.state !== "flat" || !picture) return failed();
      picture.addEventListener("load", resolve);
      picture.addEventListener("error", failed);
      picture.src = viewer.getAttribute("angles") ?? "";
    });
  });
}

/** @param {Element} element @param {Record<string, string>} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
