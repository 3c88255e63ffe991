/** Controls the camera by mouse, touch and keyboard. */

const KEY_TURN = Math.PI / 12;
/** Radians for a drag over the whole height of the canvas. */
const DRAG_TURN = 3.6;
const PICK_INTERVAL_MS = 60;

/** @param {import("./view.js").View} view @param {AbortSignal} signal */
export function listenForInput(view, signal) {
  const { canvas, listener } = view;
  /** @type {Map<number, PointerEvent>} */
  const pointers = new Map();
  let pickedAt = 0;
  /** Whether the canvas was pressed since the pointer entered it. */
  let isTouched = false;
  /** @param {PointerEvent} event */
  const pick = (event) => {
    pickedAt = event.timeStamp;
    view.pickAt((2 * event.offsetX) / canvas.clientWidth - 1, 1 - (2 * event.offsetY) / canvas.clientHeight);
  };

  /** @param {PointerEvent} event @param {PointerEvent} before */
  const drag = (event, before) => {
    const scale = 1 / canvas.clientHeight;
    const [dx, dy] = [(event.clientX - before.clientX) * scale, (event.clientY - before.clientY) * scale];
    const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
    if (other) {
      const spread = (/** @type {PointerEvent} */ one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      view.camera.zoomBy(Math.max(8, spread(event)) / Math.max(8, spread(before)), true);
      view.camera.pan(-dx / 2, dy / 2, true);
    } else if (event.buttons & 6 || event.shiftKey) view.camera.pan(-dx, dy, true);
    else view.camera.orbit(-dx * DRAG_TURN, dy * DRAG_TURN, true);
  };

  const events = {
    /** @param {PointerEvent} event */
    pointerdown(event) {
      canvas.setPointerCapture(event.pointerId);
      isTouched = true;
      pointers.set(event.pointerId, event);
      listener.used();
      pick(event);
    },
    /** @param {PointerEvent} event */
    pointermove(event) {
      const before = pointers.get(event.pointerId);
      if (before) {
        drag(event, before);
        pointers.set(event.pointerId, event);
        listener.pointed("");
      } else if (event.timeStamp - pickedAt > PICK_INTERVAL_MS) pick(event);
    },
    /** @param {PointerEvent} event */
    lostpointercapture(event) {
      pointers.delete(event.pointerId);
    },
    pointerleave() {
      isTouched = false;
      listener.pointed("");
    },
    /** Zooms only once the viewer was pressed or focused, so that scrolling past it scrolls the page. @param {WheelEvent} event */
    wheel(event) {
      if (document.activeElement !== canvas && !isTouched && !event.ctrlKey && !document.fullscreenElement) return;
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
      if (event.ctrlKey || event.metaKey || event.altKey || !handleKey(view.camera, event.key, event.shiftKey)) return;
      event.preventDefault();
      listener.used();
    },
  };
  for (const [name, handler] of Object.entries(events)) {
    canvas.addEventListener(name, /** @type {EventListener} */ (handler), { signal, passive: false });
  }
}

/** @param {import("./camera.js").Camera} camera @param {string} key @param {boolean} shift */
function handleKey(camera, key, shift) {
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const arrow = arrows[/** @type {keyof typeof arrows} */ (key)];
  if (arrow && shift) camera.pan(arrow[0] * 0.08, arrow[1] * 0.08);
  else if (arrow) camera.orbit(arrow[0] * KEY_TURN, arrow[1] * KEY_TURN);
  else if (key === "+" || key === "=") camera.zoomBy(1.25);
  else if (key === "-" || key === "_") camera.zoomBy(0.8);
  else if (key === "r" || key === "R" || key === "Home") camera.reset();
  else if (key >= "1" && key <= "8") camera.look(Number(key) - 1);
  else return false;
  return true;
}
