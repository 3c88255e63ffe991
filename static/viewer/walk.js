/**
 * Walking through a build at the height of a person, with ground, gravity and walls; or flying. A viewer's `start` makes it
 * a walk through a land, which ends with its grid: x, y and z of the feet, and how many degrees to the left of the north
 * the walker looks.
 * @typedef {import("./viewer.js").BuildViewer} BuildViewer
 * @typedef {import("./view.js").View} View
 */
import { project } from "./camera.js";
import { iconButton, make } from "./controls.js";
import { Body, advance, overlapsBlock, startPosition, worldOf } from "./physics.js";
import { getScene, loadStyles } from "./scene.js";
import { announce } from "./status.js";
import { disableControls, toolSelector } from "./disable-controls.js";

const EYE_HEIGHT = 1.6;
const MAX_TILT = 1.5;
/** Radians a second for keys, and radians for a drag over the height of the canvas. */
const KEY_TURN_SPEED = 2.1;
const DRAG_TURN = 2.6;
/** Radians for each pixel of a locked mouse. */
const MOUSE_TURN = 0.0023;
/** Pixels from where the thumb touched down to full speed. */
const STICK_RADIUS = 56;
const PICK_INTERVAL_MS = 160;
const KEY_HELP =
  "W, A, S and D or the up and down arrows walk, the left and right arrows turn, Page Up and Page Down look up and down. " +
  "Space jumps, F flies: then Space rises and Shift sinks. Escape leaves.";
const ICONS = { up: "M5 12l5-5 5 5", down: "M5 8l5 5 5-5", fly: "M3 8c3-2 5-1 7 2 2-3 4-4 7-2M10 10v5" };
const HANDLED_KEYS = new Set([
  "KeyW", "KeyA", "KeyS", "KeyD", "KeyF", "Space", "ShiftLeft", "ShiftRight", "Escape",
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown",
]);

/** @type {WeakMap<BuildViewer, Walk>} */
const walks = new WeakMap();

/** Starts walking, or leaves. @param {BuildViewer} element @param {HTMLElement} button */
export async function activate(element, button) {
  const walk = walks.get(element);
  if (walk) return walk.leave();
  const { viewer } = element;
  if (!viewer) return;
  const loading = viewer.build.callModule("walk-worker.js", null).catch(() => viewer === element.viewer && announce(element, "The blocks could not be loaded."));
  const [shown] = await Promise.all([loading, loadStyles()]);
  // Another tool may have started while the blocks were loading.
  const isTaken = walks.has(element) || element.matches("[data-replaying], [data-recording]");
  if (!shown || viewer !== element.viewer || isTaken) return;
  walks.set(element, new Walk(element, viewer, button, shown));
}

/** Where a walk through a land begins. @param {Element} element */
function startIn(element) {
  const start = element.getAttribute("start");
  if (!start) return undefined;
  const [x, y, z, degrees] = start.split(" ").map(Number);
  return { at: [x, y, z], turn: (degrees * Math.PI) / 180 };
}

/** Has the interface of a `Camera`, in whose place the view uses it. */
export class Walk {
  /** The time of the frame in which it last moved. */
  movedAt = 0;
  /** @type {() => void} */
  changed = () => {};
  body = new Body();
  turn = 0;
  tilt = 0;
  #time = 0;
  #pickedAt = 0;
  #turned = true;
  #tanHalfView = 1;
  /** The codes of the keys that are down. @type {Set<string>} */
  #pressedKeys = new Set();
  /** The position of the touch stick, from -1 to 1. */
  #stick = [0, 0];
  /** By pointer id: whether it walks or looks, and where it was last. @type {Map<number, { walks: boolean, x: number, y: number }>} */
  #fingers = new Map();
  /** Whether this canvas holds the pointer lock. */
  #locked = false;
  /** Whether the blocks have changed since they were requested, and whether a request is running. */
  #stale = false;
  #isLoading = false;
  /** Enables the tools again that move the orbiting camera. */
  #enableControls = () => {};
  #aborter = new AbortController();
  /** @type {HTMLElement[]} */
  #parts = [];
  /** @type {HTMLElement | null} */
  #description;
  #outsideHelp = "";

  /** @param {BuildViewer} element @param {View} view @param {HTMLElement} button @param {Grid & { kinds: BlockKinds }} shown */
  constructor(element, view, button, shown) {
    this.element = element;
    this.view = view;
    this.button = button;
    const start = startIn(element);
    this.isLand = start !== undefined;
    this.world = worldOf(shown, shown.kinds, this.isLand);
    this.turn = start?.turn ?? element.camera.turn;
    this.body.at = start?.at ?? startPosition(this.world, shown, this.turn);
    // Looks at the lower half of a high build.
    if (!start) this.tilt = Math.atan((EYE_HEIGHT - 0.4 * shown.span[1]) / Math.hypot(shown.span[0], shown.span[2]));
    this.#description = element.querySelector(":scope > p.said[id]");
    this.#outsideHelp = this.#description?.textContent ?? "";
    this.#listen();
    this.#addControls();
    getScene(element).setSolid(true);
    view.camera = /** @type {import("./camera.js").Camera} */ (/** @type {unknown} */ (this));
    view.canvas.focus({ preventScroll: true });
    announce(element, `${start ? "You are on foot." : "You are in front of the build."} ${KEY_HELP}`);
  }

  get moving() {
    const { speed, grounded, flying, sunk } = this.body;
    const still = grounded || flying ? Math.hypot(...speed.map((part, axis) => (axis === 1 && grounded ? 0 : part))) < 0.02 : false;
    return !still || sunk > 0 || this.#pressedKeys.size > 0 || this.#fingers.size > 0;
  }

  /** @param {number} time */
  step(time) {
    const seconds = Math.min(50, Math.max(0, time - this.#time)) / 1000;
    this.#time = time;
    if (seconds === 0 || !(this.moving || this.#turned)) return;
    this.#turned = false;
    const key = (/** @type {string[]} */ ...codes) => +codes.some((code) => this.#pressedKeys.has(code));
    this.look((key("ArrowLeft") - key("ArrowRight")) * KEY_TURN_SPEED * seconds, (key("PageDown") - key("PageUp")) * KEY_TURN_SPEED * seconds);
    const ahead = key("KeyW", "ArrowUp") - key("KeyS", "ArrowDown") - this.#stick[1];
    const aside = key("KeyD") - key("KeyA") + this.#stick[0];
    const scale = 1 / Math.max(1, Math.hypot(ahead, aside));
    const [sin, cos] = [Math.sin(this.turn), Math.cos(this.turn)];
    const along = [(aside * cos - ahead * sin) * scale, (-aside * sin - ahead * cos) * scale];
    advance(this.body, { along, up: key("Space") - key("ShiftLeft", "ShiftRight") }, seconds, this.world);
    this.movedAt = time;
    if (time - this.#pickedAt > PICK_INTERVAL_MS) {
      this.#pickedAt = time;
      this.view.pickAt(0, 0);
    }
  }

  /** @param {import("./camera.js").Eye} eye @param {Box} box @param {number} aspect */
  aim(eye, { span }, aspect) {
    const cos = Math.cos(this.tilt);
    eye.back.set([Math.sin(this.turn) * cos, Math.sin(this.tilt), Math.cos(this.turn) * cos]);
    const [x, y, z] = this.body.at;
    eye.position.set([x, y + EYE_HEIGHT - this.body.sunk, z]);
    this.#tanHalfView = Math.min(1.1, Math.max(0.68, 0.5 / aspect));
    project(eye, this.#tanHalfView, aspect, 0.08, 8 * (Math.hypot(span[0], span[1], span[2]) + 16));
    const horizon = 50 - (50 * Math.tan(this.tilt)) / this.#tanHalfView;
    this.element.style.setProperty("--horizon", `${Math.max(-200, Math.min(300, horizon)).toFixed(1)}%`);
  }

  /** @param {number} turn @param {number} tilt */
  look(turn, tilt) {
    if (!turn && !tilt) return;
    this.turn += turn;
    this.tilt = Math.max(-MAX_TILT, Math.min(MAX_TILT, this.tilt + tilt));
    this.#turned = true;
    this.changed();
  }

  fly() {
    this.body.flying = !this.body.flying;
    this.body.speed[1] = 0;
    this.element.querySelector('[data-walk="fly"]')?.setAttribute("aria-pressed", String(this.body.flying));
    this.element.toggleAttribute("data-flying", this.body.flying);
    announce(this.element, this.body.flying ? "Flying." : "On foot.");
    this.#wake();
  }

  leave() {
    const { element, view, button } = this;
    if (this.#aborter.signal.aborted) return;
    const hadFocus = element.contains(document.activeElement);
    this.#aborter.abort();
    walks.delete(element);
    for (const part of this.#parts) part.remove();
    this.#enableControls();
    element.removeAttribute("data-walking");
    element.removeAttribute("data-flying");
    element.style.removeProperty("--horizon");
    if (this.#description) this.#description.textContent = this.#outsideHelp;
    button.setAttribute("aria-pressed", "false");
    if (document.pointerLockElement === view.canvas) document.exitPointerLock();
    if (element.viewer !== view || view.aborter.signal.aborted) return;
    view.listener.pointed("");
    view.camera = element.camera;
    getScene(element).setSolid(false);
    if (hadFocus) button.focus({ preventScroll: true });
    announce(element, "Back to the outside view.");
  }

  #addControls() {
    const { element } = this;
    element.setAttribute("data-walking", "");
    this.button.setAttribute("aria-pressed", "true");
    if (this.#description) this.#description.textContent = KEY_HELP;
    this.#enableControls = disableControls(element, toolSelector("reset", "rotate", "link", "replay"));
    const keys = make("p", { class: "keys", "aria-hidden": "true" }, "Click to look with the mouse. WASD walk, Space jumps, F flies, Esc leaves.");
    const touch = make("p", { class: "keys thumbs", "aria-hidden": "true" }, "Left thumb walks, right thumb looks.");
    const stick = make("div", { class: "stick", "aria-hidden": "true", hidden: "" }, make("div", {}));
    const pad = make("div", { class: "pad", role: "group", "aria-label": "Moving" });
    const fly = iconButton("walk-fly", "Fly", () => this.fly(), ICONS.fly);
    fly.dataset.walk = "fly";
    fly.setAttribute("aria-pressed", "false");
    pad.append(fly, this.#holdButton("up", "Jump, or rise while flying", "Space"), this.#holdButton("down", "Sink while flying", "ShiftLeft"));
    this.#parts = [make("div", { class: "sight", "aria-hidden": "true" }), keys, touch, stick, pad];
    element.append(...this.#parts);
    // Where the toolbar overlaps the canvas, the pad is placed above it.
    const covered = this.view.canvas.clientHeight - (/** @type {HTMLElement | null} */ (element.querySelector(":scope > .bar"))?.offsetTop ?? Infinity);
    if (covered > 0) pad.style.setProperty("margin-block-end", `${covered + 8}px`);
    setTimeout(() => [keys, touch].forEach((hint) => hint.classList.add("gone")), 6000);
  }

  /** A button that acts as a key while it is held. @param {"up" | "down"} icon @param {string} name @param {string} code */
  #holdButton(icon, name, code) {
    const hold = (/** @type {boolean} */ down) => {
      if (down) this.#pressedKeys.add(code);
      else this.#pressedKeys.delete(code);
      this.#wake();
    };
    const button = iconButton(`walk-${icon}`, name, () => {}, ICONS[icon]);
    button.dataset.walk = icon;
    button.addEventListener("pointerdown", () => hold(true));
    for (const end of ["pointerup", "pointercancel", "pointerleave", "blur"]) button.addEventListener(end, () => hold(false));
    // A click by keyboard has no duration, so it counts as a short press.
    button.addEventListener("click", (event) => {
      if (event.detail) return;
      hold(true);
      setTimeout(() => hold(false), 200);
    });
    return button;
  }

  #wake() {
    this.#turned = true;
    this.changed();
  }

  #listen() {
    const { element, view } = this;
    const { signal } = this.#aborter;
    const { canvas } = view;
    const options = { signal, capture: true, passive: false };
    /** Listens in the capture phase, before the handlers of input.js, and stops the event. @param {keyof HTMLElementEventMap} name @param {(event: any) => void} handler */
    const on = (name, handler) => {
      const listener = (/** @type {Event} */ event) => {
        if (event.target !== canvas) return;
        event.stopPropagation();
        handler(event);
      };
      element.addEventListener(name, listener, options);
    };
    on("keydown", (event) => this.#keyDown(event));
    on("keyup", (event) => this.#pressedKeys.delete(event.code));
    on("wheel", (event) => event.preventDefault());
    on("contextmenu", (event) => event.preventDefault());
    on("pointerdown", (event) => this.#pointerDown(event));
    on("pointermove", (event) => this.#pointerMove(event));
    on("pointerleave", () => {});
    for (const end of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"])) on(end, (event) => this.#pointerUp(event));
    // Escape also leaves from the buttons of the viewer.
    element.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && this.leave(), { signal });
    document.addEventListener("keydown", ({ key, target }) => key === "Escape" && target === document.body && this.leave(), { signal });
    // After a tool was clicked with the mouse, the keys should move the walker again.
    element.addEventListener("click", ({ detail, target }) => {
      if (detail && target instanceof Element && target.closest(".bar button, .menu button")) canvas.focus({ preventScroll: true });
    }, { signal });
    canvas.addEventListener("blur", () => this.#pressedKeys.clear(), { signal });
    document.addEventListener("pointerlockchange", () => {
      // With a locked pointer the browser keeps Escape to itself and unlocks. Losing the lock to another viewer or window does not leave.
      const left = this.#locked && !document.pointerLockElement && document.hasFocus();
      this.#locked = document.pointerLockElement === canvas;
      if (left) this.leave();
    }, { signal });
    const changed = () => this.#reloadBlocks();
    view.meshListeners.add(changed);
    signal.addEventListener("abort", () => view.meshListeners.delete(changed));
    view.aborter.signal.addEventListener("abort", () => this.leave(), { signal });
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const { code, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || !HANDLED_KEYS.has(code)) return;
    event.preventDefault();
    const camera = /** @type {unknown} */ (this.view.camera);
    if (camera !== this || code === "Escape") return this.leave();
    if (code === "KeyF") return event.repeat || this.fly();
    this.#pressedKeys.add(code);
    this.#wake();
  }

  /** @param {PointerEvent} event */
  #pointerDown(event) {
    const { canvas } = this.view;
    canvas.focus({ preventScroll: true });
    this.view.listener.used();
    if (document.pointerLockElement === canvas) return;
    const { pointerId, pointerType, offsetX, clientX: x, clientY: y } = event;
    canvas.setPointerCapture(pointerId);
    // The lock is refused right after Escape, in frames and by some browsers; dragging works without it.
    if (pointerType === "mouse") Promise.resolve(canvas.requestPointerLock?.()).catch(() => {});
    const walks = pointerType === "touch" && offsetX < canvas.clientWidth / 2 && ![...this.#fingers.values()].some((finger) => finger.walks);
    this.#fingers.set(pointerId, { walks, x, y });
    if (walks) this.#showStick(x, y, 0, 0);
    this.#wake();
  }

  /** @param {PointerEvent} event */
  #pointerMove(event) {
    const { canvas } = this.view;
    if (document.pointerLockElement === canvas) return this.look(-event.movementX * MOUSE_TURN, event.movementY * MOUSE_TURN);
    const finger = this.#fingers.get(event.pointerId);
    if (!finger) return;
    const { clientX: x, clientY: y } = event;
    if (finger.walks) {
      const far = Math.max(STICK_RADIUS, Math.hypot(x - finger.x, y - finger.y));
      this.#stick = [(x - finger.x) / far, (y - finger.y) / far];
      return this.#showStick(finger.x, finger.y, this.#stick[0], this.#stick[1]);
    }
    this.look(((finger.x - x) * DRAG_TURN) / canvas.clientHeight, ((y - finger.y) * DRAG_TURN) / canvas.clientHeight);
    Object.assign(finger, { x, y });
  }

  /** @param {PointerEvent} event */
  #pointerUp({ pointerId }) {
    const finger = this.#fingers.get(pointerId);
    this.#fingers.delete(pointerId);
    if (!finger?.walks) return;
    this.#stick = [0, 0];
    this.#parts[3].hidden = true;
  }

  /** Draws the touch stick. @param {number} x @param {number} y @param {number} right @param {number} down */
  #showStick(x, y, right, down) {
    const stick = this.#parts[3];
    const { left, top } = this.element.getBoundingClientRect();
    stick.hidden = false;
    for (const [name, value] of Object.entries({ left: x - left, top: y - top })) stick.style.setProperty(name, `${value}px`);
    /** @type {HTMLElement} */ (stick.firstElementChild).style.setProperty("translate", `${right * 34}px ${down * 34}px`);
  }

  /** Loads the blocks again after the mesh has changed. */
  async #reloadBlocks() {
    this.#stale = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    while (this.#stale && !this.#aborter.signal.aborted) {
      this.#stale = false;
      const shown = await this.view.build.callModule("walk-worker.js", null).catch(() => undefined);
      if (shown && !this.#aborter.signal.aborted) this.#replaceWorld(shown);
    }
    this.#isLoading = false;
  }

  /** Walks on among these blocks; raises the walker where a block now stands in the same place. @param {Grid & { kinds: BlockKinds }} shown */
  #replaceWorld(shown) {
    this.world = worldOf(shown, shown.kinds, this.isLand);
    while (overlapsBlock(this.world, this.body.at)) this.body.at[1] = Math.floor(this.body.at[1]) + 1;
    this.body.grounded = false;
    this.#wake();
  }
}
