/** A build on a canvas, without the controls of the element. */
import { Build } from "./build.js";
import { Camera, Eye } from "./camera.js";
import { listenForInput } from "./input.js";
import { Renderer } from "./renderer.js";
import { loadTextures } from "./textures.js";

const MAX_PIXEL_RATIO = 2;
/** A delay that lets the other builds of the page draw their first frame before shadows are computed. */
const SHADOW_DELAY_MS = 120;

/** All views share one animation loop, which runs only while there is something to draw. @type {View[]} */
const views = [];
let frameRequest = 0;

export class View {
  /** @type {Stats} */
  stats = { frames: 0, drawCalls: 0, quads: 0, decodeMs: 0, meshMs: 0, firstFrameMs: 0 };
  isVisible = true;
  dirty = false;
  /** The number of layers of the bounds. */
  height = 0;
  /** A box that is framed instead of the bounds. @type {Box | undefined} */
  frame;
  /** Called with every mesh. @type {Set<(meshed: Meshed) => void>} */
  meshListeners = new Set();
  #eye = new Eye();
  /** @type {Block[]} */
  #blocks = [];
  aborter = new AbortController();
  /** @type {Camera} */
  #camera;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{ src: string, textures: string, low: boolean, camera?: Camera }} options
   * @param {ViewListener} listener
   */
  constructor(canvas, { src, textures, low, camera = new Camera() }, listener) {
    this.canvas = canvas;
    this.listener = listener;
    this.low = low;
    this.#camera = camera;
    camera.changed = requestFrame;
    this.renderer = new Renderer(canvas, low);
    const { signal } = this.aborter;
    const fetched = loadTextures(textures);
    this.build = new Build(src, fetched, {
      progress: listener.progress,
      meshed: (meshed) => prepared.then(() => signal.aborted || this.#meshed(meshed)).catch(this.#fail),
      picked: (block) => listener.pointed(this.#blocks[block - 1]?.name ?? ""),
      failed: listener.failed,
    });
    const prepared = fetched.then((all) => signal.aborted || this.#prepare(all));
    prepared.catch(() => {});
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault(), { signal });
    canvas.addEventListener("webglcontextrestored", this.#restore, { signal });
    listenForInput(this, signal);
    this.#observe(signal);
  }

  get camera() {
    return this.#camera;
  }

  set camera(camera) {
    this.#camera = camera;
    camera.changed = requestFrame;
    this.redraw();
  }

  redraw() {
    this.dirty = true;
    requestFrame();
  }

  /** Shows only this many layers, from the bottom. @param {number} top */
  cut(top) {
    this.build.cut(top);
  }

  /** Requests the block at a point of the canvas, from -1 to 1; the listener's `pointed` gets its name. @param {number} x @param {number} y */
  pickAt(x, y) {
    if (this.renderer.build) this.build.pick([...this.#eye.position], this.#eye.ray(x, y));
  }

  draw() {
    const { width, height } = this.canvas;
    const { build } = this.renderer;
    if (!build || !width || !height) return;
    this.dirty = false;
    this.#camera.aim(this.#eye, this.frame ?? build, width / height);
    this.renderer.draw(this.#eye);
    this.stats.frames++;
    this.stats.drawCalls = this.renderer.drawCalls;
  }

  /** The pixels of the canvas: four bytes each, the bottom row first. */
  readPixels() {
    this.draw();
    const { gl } = this.renderer;
    const { width, height } = this.canvas;
    const data = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    return { width, height, data };
  }

  close() {
    this.aborter.abort();
    this.build.close();
    if (views.includes(this)) views.splice(views.indexOf(this), 1);
    this.renderer.loseContext();
  }

  /** @param {Textures} textures */
  #prepare(textures) {
    this.#blocks = textures.blocks;
    this.renderer.setTextures(textures);
    this.renderer.warmUp(this.#eye);
  }

  /** @param {Meshed} meshed */
  #meshed(meshed) {
    const first = meshed.times;
    this.renderer.setBuild(meshed);
    this.meshListeners.forEach((hear) => hear(meshed));
    this.stats.quads = meshed.mesh.quads;
    if (!first) return this.redraw();
    this.height = meshed.span[1];
    if (!views.includes(this)) views.push(this);
    this.draw();
    this.stats.decodeMs = first.decode;
    this.stats.meshMs = first.mesh;
    this.stats.firstFrameMs = performance.timeOrigin + performance.now() - first.arrived;
    this.listener.ready(this.stats);
    this.#castShadowsLater();
  }

  #fail = (/** @type {unknown} */ error) => {
    this.listener.failed(error instanceof Error ? error.message : String(error));
  };

  /** Shadows come after the first frame; where their module cannot be loaded, the build stays without. */
  #castShadowsLater() {
    if (this.low) return;
    const { signal } = this.aborter;
    setTimeout(async () => {
      const { castShadows } = await import("./shadows.js").catch(() => ({ castShadows: undefined }));
      if (signal.aborted || !castShadows) return;
      this.renderer.castShadows = castShadows;
      castShadows(this.renderer);
      this.redraw();
    }, SHADOW_DELAY_MS);
  }

  #restore = () => {
    this.renderer.restore();
    this.redraw();
    this.#castShadowsLater();
  };

  /** @param {AbortSignal} signal */
  #observe(signal) {
    const { canvas } = this;
    const sizes = new ResizeObserver(() => {
      const density = Math.min(devicePixelRatio, MAX_PIXEL_RATIO);
      const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((edge) => Math.round(edge * density));
      if (canvas.width === width && canvas.height === height) return;
      canvas.width = width;
      canvas.height = height;
      this.draw();
    });
    const sight = new IntersectionObserver(([entry]) => {
      this.isVisible = entry.isIntersecting;
      if (this.isVisible) this.redraw();
    });
    sizes.observe(canvas);
    sight.observe(canvas);
    signal.addEventListener("abort", () => {
      sizes.disconnect();
      sight.disconnect();
    });
  }
}

function requestFrame() {
  frameRequest ||= requestAnimationFrame(drawFrame);
}

/** @param {number} time */
function drawFrame(time) {
  frameRequest = 0;
  let again = false;
  for (let index = 0; index < views.length; index++) {
    const view = views[index];
    if (!view.isVisible) continue;
    view.camera.step(time);
    if (view.dirty || view.camera.movedAt === time) view.draw();
    again ||= view.camera.moving;
  }
  if (again) requestFrame();
}
