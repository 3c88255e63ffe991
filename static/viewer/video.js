/** Records one turn of the build as a video. */
import { make } from "./controls.js";
import { fileName, skyGradient } from "./screenshot.js";
import { loadStyles } from "./scene.js";
import { announce } from "./status.js";
import { disableControls, toolSelector } from "./disable-controls.js";

/** @typedef {import("./viewer.js").BuildViewer} BuildViewer */

const TURN_SECONDS = 8;
const FRAME_RATE = 30;
const BITS_PER_SECOND = 8_000_000;
/** Pixels along the longer edge. */
const MAX_EDGE = 1280;
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

export function canRecord() {
  return supportedType() !== undefined && "captureStream" in HTMLCanvasElement.prototype;
}

function supportedType() {
  return TYPES.find((name) => globalThis.MediaRecorder?.isTypeSupported(name));
}

/** Some browsers support a type only until recording starts, so it is started here. @param {HTMLCanvasElement} sheet */
function startRecorder(sheet) {
  try {
    const recorder = new MediaRecorder(sheet.captureStream(FRAME_RATE), { mimeType: supportedType(), videoBitsPerSecond: BITS_PER_SECOND });
    recorder.start(1000);
    return recorder;
  } catch {
    return undefined;
  }
}

/** Records one turn, starting from the current view. @param {BuildViewer} element */
export async function recordTurn(element) {
  await loadStyles();
  const { viewer: view, camera } = element;
  if (!view || element.matches("[data-walking], [data-recording]")) return;
  const stop = make("button", { type: "button" }, "Stop");
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Recorded" });
  const panel = make("div", { class: "recording", role: "group", "aria-label": "Recording" }, make("span", {}, "Recording a turn"), bar, stop);
  const { width, height } = view.canvas;
  const scale = Math.min(1, MAX_EDGE / Math.max(width, height));
  const even = (/** @type {number} */ edge) => String(2 * Math.max(1, Math.round((edge * scale) / 2)));
  const sheet = make("canvas", { width: even(width), height: even(height) });
  const paper = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  const recorder = startRecorder(sheet);
  if (!recorder) return announce(element, "This browser cannot record it.");
  element.setAttribute("data-recording", "");
  const free = disableControls(element, toolSelector("walk", "link", "replay"));
  element.append(panel);
  stop.focus();
  announce(element, "Recording a turn.");
  /** @type {Blob[]} */
  const pieces = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const done = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  recorder.addEventListener("error", () => finish("broken"));

  const spin = camera.spin;
  camera.spin = 0;
  let turned = 0;
  let before = performance.now();
  let over = false;
  /** @type {"done" | "stopped" | "gone" | "broken"} */
  let end = "done";
  const finish = (/** @type {typeof end} */ how) => {
    if (over) return;
    over = true;
    end = how;
    if (recorder.state !== "inactive") recorder.stop();
  };
  stop.addEventListener("click", () => finish("stopped"));
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    finish("stopped");
  });
  view.aborter.signal.addEventListener("abort", () => finish("gone"));
  // A hidden page gets no animation frames, so the recording pauses with them.
  const seen = () => {
    if (over) return;
    if (document.hidden) recorder.pause();
    else recorder.resume();
  };
  document.addEventListener("visibilitychange", seen);
  const frame = (/** @type {number} */ time) => {
    if (over) return;
    const share = Math.min(1 - turned, Math.max(0, Math.min(100, time - before)) / 1000 / TURN_SECONDS);
    before = time;
    turned += share;
    element.camera.orbit(2 * Math.PI * share, 0, true);
    paper.fillStyle = skyGradient(element, paper, sheet.height);
    paper.fillRect(0, 0, sheet.width, sheet.height);
    view.draw();
    paper.drawImage(view.canvas, 0, 0, sheet.width, sheet.height);
    bar.value = turned;
    if (turned < 1 - 1e-6) requestAnimationFrame(frame);
    else finish("done");
  };
  requestAnimationFrame(frame);
  await done;

  document.removeEventListener("visibilitychange", seen);
  free();
  camera.spin = spin;
  camera.changed();
  element.removeAttribute("data-recording");
  const hadFocus = panel.contains(document.activeElement);
  panel.remove();
  if (hadFocus) /** @type {HTMLElement | null} */ (element.querySelector('[data-tool="more"]'))?.focus({ preventScroll: true });
  if (/** @type {string} */ (end) === "gone") return;
  if (/** @type {string} */ (end) === "broken") return announce(element, "This browser cannot record it.");
  const anchor = make("a", { href: URL.createObjectURL(new Blob(pieces, { type: "video/webm" })), download: fileName(element, "webm") });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
  announce(element, "Video saved.");
}
