/** Requests a build's turntable, waits until it is drawn, and shows it on the build's page. */

/** @typedef {{ frame: number, of: number }} Progress */

/**
 * Polls until the server has drawn it.
 * @param {string} address
 * @param {(making: Progress) => void} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<{ picture: Blob, file: string }>}
 */
async function waitForTurntable(address, onProgress, signal) {
  for (;;) {
    const response = await fetch(address, { headers: { prefer: "respond-async" }, signal });
    if (response.status === 200) {
      const named = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "");
      return { picture: await response.blob(), file: named?.[1] ?? "turntable" };
    }
    if (response.status !== 202 && !response.headers.has("retry-after")) {
      const answer = await response.json().catch(() => null);
      throw new Error(answer?.error ?? "The turntable could not be created.");
    }
    if (response.status === 202) onProgress(await response.json());
    const wait = Number(response.headers.get("retry-after") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    signal.throwIfAborted();
  }
}

/** The area under the links: the progress of one turntable, then the turntable. */
class TurntablePanel {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.name = place.dataset.name ?? "";
    this.status = document.createElement("p");
    this.status.setAttribute("role", "status");
    this.status.className = "small soft";
    this.bar = document.createElement("progress");
    this.bar.hidden = true;
    this.bar.setAttribute("aria-label", "Frames drawn");
    this.shown = document.createElement("figure");
    this.shown.hidden = true;
    place.append(this.status, this.bar, this.shown);
    this.asking = new AbortController();
    this.address = "";
  }

  /** @param {HTMLAnchorElement} link */
  async turn(link) {
    this.asking.abort();
    const request = this.asking = new AbortController();
    this.clear();
    this.say("Queued; starts when a slot is free.");
    this.bar.removeAttribute("value");
    this.bar.hidden = false;
    try {
      const { picture, file } = await waitForTurntable(link.href, (making) => this.tell(making), request.signal);
      this.show(picture, file);
    } catch (problem) {
      if (request.signal.aborted) return;
      const known = problem instanceof Error && !(problem instanceof TypeError);
      this.say(known ? problem.message : "The server cannot be reached. Try again.");
    } finally {
      if (this.asking === request) this.bar.hidden = true;
    }
  }

  /** @param {Progress} making */
  tell({ frame, of }) {
    this.bar.max = of;
    this.bar.value = frame;
    this.say(`Frame ${frame} of ${of}.`);
  }

  /**
   * @param {Blob} picture
   * @param {string} file
   */
  show(picture, file) {
    this.address = URL.createObjectURL(picture);
    const image = new Image();
    image.src = this.address;
    image.alt = `${this.name}, turning once around.`;
    const save = document.createElement("a");
    save.className = "button";
    save.href = this.address;
    save.download = file;
    save.textContent = "Download";
    const hide = document.createElement("button");
    hide.type = "button";
    hide.textContent = "Hide";
    hide.addEventListener("click", () => { this.clear(); this.say(""); });
    const actions = document.createElement("p");
    actions.className = "actions";
    actions.append(save, hide);
    const caption = document.createElement("figcaption");
    caption.append(`${file}, ${Math.ceil(picture.size / 1000)} kB`);
    this.shown.append(image, caption, actions);
    this.shown.hidden = false;
    this.say("Done.");
  }

  clear() {
    this.shown.hidden = true;
    this.shown.replaceChildren();
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = "";
  }

  /** @param {string} words */
  say(words) {
    this.status.textContent = words;
  }
}

const place = document.getElementById("turntable");
if (place) {
  const bench = new TurntablePanel(place);
  for (const link of place.querySelectorAll("a")) {
    link.addEventListener("click", (event) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      void bench.turn(link);
    });
  }
}

export {};
