/** The viewer of a side: the build while the model writes it, then the finished one. */
import { formatCount } from "../dom.js";
import { grow } from "../viewer/grow.js";
import { BuildViewer } from "../viewer/viewer.js";

export class LiveBuild {
  /** How many entries have been drawn, in words. */
  count = "";
  /** @type {BuildViewer | undefined} */
  #viewer;
  /** @type {ReturnType<typeof grow> | undefined} */
  #growth;

  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
  }

  /** @param {string} name @param {Task} task */
  start(name, { gridSize, palette }) {
    this.stop();
    const viewer = new BuildViewer();
    viewer.setAttribute("name", name);
    viewer.setAttribute("pair", "sandbox");
    this.place.replaceChildren(viewer);
    this.#viewer = viewer;
    this.count = "";
    this.#growth = grow(viewer, {
      size: gridSize,
      palette,
      grown: ({ counts, full }) => {
        const [boxes, lines, blocks] = counts;
        const parts = [boxes && formatCount(boxes, "box", "boxes"), lines && formatCount(lines, "line"), blocks && formatCount(blocks, "block")];
        this.count = parts.filter(Boolean).join(", ") + (full ? ", more than can be drawn here" : "");
      },
    });
  }

  /** @param {string} text the next part of the model's answer */
  feed(text) {
    this.#growth?.feed(text);
  }

  /** The model starts over. */
  restart() {
    this.count = "";
    this.#growth?.restart();
  }

  /** Shows the finished build. @param {string} src @param {string} angles @param {string} summary */
  settle(src, angles, summary) {
    this.#viewer?.setAttribute("angles", angles);
    this.#describe(summary);
    this.#growth?.settle(src);
    this.#growth = undefined;
  }

  /** Leaves the build as far as it has come. */
  stop() {
    this.#growth?.stop();
    this.#growth = undefined;
  }

  /** A viewer reads its `summary` only when it starts, which was before there was one. @param {string} summary */
  #describe(summary) {
    const viewer = this.#viewer;
    if (!viewer) return;
    viewer.setAttribute("summary", summary);
    viewer.querySelector(":scope > .said")?.prepend(summary);
    const picture = viewer.querySelector("img");
    if (picture) picture.alt += summary;
  }
}
