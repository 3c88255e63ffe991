/** Mouse, touch and keys on a canvas, for its camera. */

const TURN_KEYS = Math.PI / 12;
/** Radians for a drag over the whole height of the canvas. */
const TURN_DRAG = 3.6;
const KEEP_MS = 60;

/** @param {import("./view.js").View} view @param {AbortSignal} signal */
export function listen(view, signal) {
  const { canvas, listener } = view;
  /** @type {Map<number, PointerEvent>} */
  const held = new Map();
  let pointed = 0;
  /** By a pointer that has not left since. */
  let touched = false;
  /** @param {PointerEvent} event */
  const point = (event) => {
    pointed = event.timeStamp;
    view.point((2 * event.offsetX) / canvas.clientWidth - 1, 1 - (2 * event.offsetY) / canvas.clientHeight);
  };

  /** @param {PointerEvent} event @param {PointerEvent} before */
  const dragged = (event, before) => {
    const scale = 1 / canvas.clientHeight;
    const [dx, dy] = [(event.clientX - before.clientX) * scale, (event.clientY - before.clientY) * scale];
    const other = [...held.values()].find((one) => one.pointerId !== event.pointerId);
    if (other) {
      const spread = (/** @type {PointerEvent} */ one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      view.camera.zoomBy(Math.max(8, spread(event)) / Math.max(8, spread(before)), true);
      view.camera.pan(-dx / 2, dy / 2, true);
    } else if (event.buttons & 6 || event.shiftKey) view.camera.pan(-dx, dy, true);
    else view.camera.orbit(-dx * TURN_DRAG, dy * TURN_DRAG, true);
  };

  const events = {
    /** @param {PointerEvent} event */
    pointerdown(event) {
      canvas.setPointerCapture(event.pointerId);
      touched = true;
      held.set(event.pointerId, event);
      listener.used();
      point(event);
    },
    /** @param {PointerEvent} event */
    pointermove(event) {
      const before = held.get(event.pointerId);
      if (before) {
        dragged(event, before);
        held.set(event.pointerId, event);
        listener.pointed("");
      } else if (event.timeStamp - pointed > KEEP_MS) point(event);
    },
    /** @param {PointerEvent} event */
    lostpointercapture(event) {
      held.delete(event.pointerId);
    },
    pointerleave() {
      touched = false;
      listener.pointed("");
    },
    /** Scrolls the page until the viewer was touched. @param {WheelEvent} event */
    wheel(event) {
      if (document.activeElement !== canvas && !touched && !event.ctrlKey && !document.fullscreenElement) return;
      event.preventDefault();
      const lines = event.deltaMode ? 18 : 1;
      view.camera.zoomBy(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)));
    },
    /** @param {Event} event */
    contextmenu(event) {
      event.preventDefault();
    },
    /** @param {KeyboardEvent} event */
    keydown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || !pressed(view.camera, event.key, event.shiftKey)) return;
      event.preventDefault();
      listener.used();
    },
  };
  for (const [name, handler] of Object.entries(events)) {
    canvas.addEventListener(name, /** @type {EventListener} */ (handler), { signal, passive: false });
  }
}

/** @param {import("./camera.js").Camera} camera @param {string} key @param {boolean} shift */
function pressed(camera, key, shift) {
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const arrow = arrows[/** @type {keyof typeof arrows} */ (key)];
  if (arrow && shift) camera.pan(arrow[0] * 0.08, arrow[1] * 0.08);
  else if (arrow) camera.orbit(arrow[0] * TURN_KEYS, arrow[1] * TURN_KEYS);
  else if (key === "+" || key === "=") camera.zoomBy(1.25);
  else if (key === "-" || key === "_") camera.zoomBy(0.8);
  else if (key === "r" || key === "R" || key === "Home") camera.reset();
  else if (key >= "1" && key <= "8") camera.look(Number(key) - 1);
  else return false;
  return true;
}
