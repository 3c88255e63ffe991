/** The build of a side: while it is written, and when it is done. */
import { formatCount } from "../dom.js";
import { grow } from "../viewer/grow.js";
import { BuildViewer } from "../viewer/viewer.js";

export class LiveBuild {
  /** How much of it there is, in words. */
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

  /** @param {string} text the model goes on with */
  feed(text) {
    this.#growth?.feed(text);
  }

  /** It begins anew. */
  restart() {
    this.count = "";
    this.#growth?.restart();
  }

  /** It is done. @param {string} src @param {string} angles @param {string} summary */
  settle(src, angles, summary) {
    this.#viewer?.setAttribute("angles", angles);
    this.#describe(summary);
    this.#growth?.settle(src);
    this.#growth = undefined;
  }

  /** It stays as it is. */
  stop() {
    this.#growth?.stop();
    this.#growth = undefined;
  }

  /** A viewer reads its summary when it starts, and this one has. @param {string} summary */
  #describe(summary) {
    const viewer = this.#viewer;
    if (!viewer) return;
    viewer.setAttribute("summary", summary);
    viewer.querySelector(":scope > .said")?.prepend(summary);
    const picture = viewer.querySelector("img");
    if (picture) picture.alt += summary;
  }
}
