/**
 * Shaders that replace the renderer's own: for the night, lit by the moon and the build's glowing blocks, and for the
 * ground that walkers stand on.
 */
import { createProgram, createTexture, linkProgram } from "./gl.js";
import { UNITS } from "./renderer.js";
import { FRAGMENT_HEAD, QUAD_VERTEX, SUN_LOOKUP, TEXEL_LOOKUP } from "./shaders.js";

/** Interpolates the block light of the four cells around a place. Cells within walls are left out, so that no light leaks through. */
const GLOW_LOOKUP = `
precision mediump sampler3D;
uniform sampler3D uGlow;
uniform vec3 uGlowMin;
const vec3 LAMP = vec3(1.7, 1.08, .52), MOON = vec3(.13, .17, .27), DARK = vec3(.058, .072, .115);
float glow(vec3 at, vec3 wide, vec3 high) {
  vec3 corner = at - uGlowMin - (wide + high) * .5;
  vec3 part = fract(corner);
  ivec3 most = textureSize(uGlow, 0) - 1;
  float light = 0., whole = 1e-4;
  for (int i = 0; i < 4; i++) {
    vec3 go = wide * float(i & 1) + high * float(i >> 1);
    ivec3 cell = ivec3(floor(corner + go)).xzy;
    bool known = cell == clamp(cell, ivec3(0), most);
    float level = known ? texelFetch(uGlow, cell, 0).r * 255. : 1.;
    vec3 share = mix(1. - part, part, go);
    float weight = level < .5 ? 0. : dot(share, wide) * dot(share, high);
    light += weight * (level - 1.) / 240.;
    whole += weight;
  }
  light /= whole;
  return light * light * (.35 + .65 * light);
}`;

const FACE_AXES = `
  vec3 wide = vFace < 2 ? vec3(0, 0, 1) : vec3(1, 0, 0), tall = vFace == 2 || vFace == 3 ? vec3(0, 0, 1) : vec3(0, 1, 0);`;
const TO_SCREEN = `
vec3 screen(vec3 linear) {
  linear = min(linear, 1.);
  return mix(12.92 * linear, 1.055 * pow(linear, vec3(1. / 2.4)) - .055, step(.0031308, linear));
}`;

const NIGHT_FRAGMENT = `${FRAGMENT_HEAD}${TEXEL_LOOKUP}${SUN_LOOKUP}${GLOW_LOOKUP}${TO_SCREEN}
uniform vec3 uSun;
uniform int uPass;
const float CORNER[4] = float[4](.42, .64, .84, 1.);
void main() {
  vec4 tile = texel();
  if (uPass == 1 && tile.a < .5) discard;
  if (uPass < 2) tile.a = 1.;
  float low = mix(CORNER[vLight & 3u], CORNER[vLight >> 2u & 3u], vCorner.x);
  float high = mix(CORNER[vLight >> 4u & 3u], CORNER[vLight >> 6u & 3u], vCorner.x);
  float open = mix(low, high, vCorner.y);
  vec3 normal = NORMALS[vFace];
  float facing = max(dot(normal, uSun), 0.);
  vec3 light = DARK * (.8 + .2 * normal.y) * open;
  if (gl_FrontFacing && facing > 0.) light += MOON * facing * sun(vSun) * (.5 + .5 * open);${FACE_AXES}
  light += LAMP * glow(vPlace + normal * .5, wide, tall) * (.35 + .65 * open);
  if ((vLight >> 8u) == 1u) light = vec3(1.4, 1.22, .95);
  colour = vec4(screen(tile.rgb * light) * tile.a, tile.a);
}`;

/** A square under the build, as wide as the walker's view. */
const FLOOR_VERTEX = `#version 300 es
precision highp float;
uniform mat4 uMatrix, uSunMatrix;
uniform vec4 uDisc;
uniform vec2 uReach;
uniform float uWide;
out vec2 vAt, vContact;
out vec3 vSun, vPlace;
void main() {
  vAt = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1.;
  vec2 out2 = vAt * uDisc.w * uWide;
  vPlace = uDisc.xyz + vec3(out2.x, 0, out2.y);
  vContact = out2 / uReach * .5 + .5;
  vSun = (uSunMatrix * vec4(vPlace, 1)).xyz * .5 + .5;
  gl_Position = uMatrix * vec4(vPlace, 1);
}`;

const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform sampler2D uContact;
uniform vec3 uSoil;
uniform float uNight, uWide;
in vec2 vAt, vContact;
in vec3 vSun, vPlace;
out vec4 colour;
${SUN_LOOKUP}${GLOW_LOOKUP}${TO_SCREEN}
void main() {
  float fade = 1. - smoothstep(uWide > 1. ? .2 : .55, 1., length(vAt));
  float lit = sun(vSun), open = 1. - .42 * texture(uContact, vContact).r;
  vec3 lamps = uNight * LAMP * glow(vPlace + vec3(0, .5, 0), vec3(1, 0, 0), vec3(0, 0, 1));
  if (uWide > 1.) {
    vec2 cell = abs(fract(vPlace.xz) - .5), fine = fwidth(vPlace.xz);
    float seam = max(smoothstep(.5 - fine.x * 1.5, .5, cell.x), smoothstep(.5 - fine.y * 1.5, .5, cell.y));
    vec3 soil = uSoil * (1. - .1 * seam * (1. - smoothstep(.05, .4, max(fine.x, fine.y))));
    vec3 light = mix(vec3(.66 + .34 * lit), DARK + MOON * .8 * lit, uNight) * open + lamps * .8;
    colour = vec4(screen(soil * light), 1) * fade;
    return;
  }
  colour = vec4(screen(.3 * lamps), 1. - pow(open * (.7 + .3 * lit), 1. / 2.2)) * fade;
}`;

/** How much wider the ground is for walkers than for the view from outside. */
const FLOOR_SCALE = 6;

/** @type {WeakMap<import("./view.js").View, Scene>} */
const scenes = new WeakMap();

/** @param {import("./viewer.js").BuildViewer} element that is live */
export function getScene(element) {
  const view = /** @type {import("./view.js").View} */ (element.viewer);
  const scene = scenes.get(view) ?? new Scene(element, view);
  scenes.set(view, scene);
  return scene;
}

class Scene {
  night = false;
  /** Whether the ground is drawn opaque, for walkers. */
  solid = false;
  /** The renderer's own. @type {(Program | undefined)[]} */
  #dayPrograms = [];
  /** @type {Program[]} */
  #programs = [];
  /** @type {WebGLTexture | null} */
  #glow = null;

  /** @param {import("./viewer.js").BuildViewer} element @param {import("./view.js").View} view */
  constructor(element, view) {
    this.element = element;
    this.view = view;
    const { signal } = view.aborter;
    view.meshListeners.add((meshed) => this.#changed(meshed));
    view.canvas.addEventListener("webglcontextrestored", () => this.#restore(), { signal });
    // By day the solid ground has a colour of the theme's sky.
    const themed = () => this.solid && this.apply();
    const themes = new MutationObserver(themed);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed, { signal });
    signal.addEventListener("abort", () => {
      themes.disconnect();
      delete element.dataset.night;
    });
  }

  /** Whether any visible block glows; undefined until the light has been computed. */
  get lit() {
    return this.view.renderer.build?.glow?.lit;
  }

  /** @param {boolean} night */
  async setNight(night) {
    this.night = night;
    this.element.toggleAttribute("data-night", night);
    const light = this.#requestLight();
    this.apply();
    await light;
  }

  /** @param {boolean} solid */
  setSolid(solid) {
    this.solid = solid;
    this.apply();
  }

  /** Gives the renderer the programs for the current settings. */
  apply() {
    const { renderer } = this.view;
    const { gl } = renderer;
    if (gl.isContextLost()) return;
    if (!this.#programs.length) {
      this.#dayPrograms = [renderer.surface, renderer.ground];
      this.#programs = [createProgram(gl, QUAD_VERTEX, NIGHT_FRAGMENT), createProgram(gl, FLOOR_VERTEX, FLOOR_FRAGMENT)].map((made) => linkProgram(gl, made, UNITS));
      this.#uploadGlow();
    }
    const [surface, ground] = this.#programs;
    renderer.surface = this.night ? surface : this.#dayPrograms[0];
    renderer.ground = this.night || this.solid ? ground : this.#dayPrograms[1];
    renderer.linked = false;
    gl.useProgram(ground.program);
    gl.uniform1f(ground.uniforms.uWide, this.solid ? FLOOR_SCALE : 1);
    gl.uniform1f(ground.uniforms.uNight, +this.night);
    gl.uniform3fv(ground.uniforms.uSoil, this.night ? [0.2, 0.21, 0.2] : floorColour(this.element));
    this.view.redraw();
  }

  /** After a lost context the renderer has new programs; these are created again, too. */
  #restore() {
    if (!this.#programs.length && !this.night && !this.solid) return;
    this.#programs = [];
    this.#glow = null;
    this.apply();
  }

  /** @param {Meshed} meshed */
  #changed(meshed) {
    if (meshed.glow) this.#uploadGlow();
    else if (this.night) this.#requestLight();
  }

  /** @returns {Promise<unknown>} resolves even where the build is closed before */
  #requestLight() {
    const { build, renderer } = this.view;
    // A lost context returns null for every limit; WebGL 2 guarantees 256.
    const most = renderer.gl.getParameter(renderer.gl.MAX_3D_TEXTURE_SIZE) || 256;
    return build.callModule("light-worker.js", this.night ? { most } : null).catch(() => {});
  }

  /** Uploads the light that came with the mesh. */
  #uploadGlow() {
    const { gl, build } = this.view.renderer;
    const { data, min, span } = build?.glow ?? { data: Uint8Array.of(1), min: [0, 0, 0], span: [1, 1, 1] };
    gl.deleteTexture(this.#glow);
    this.#glow = createTexture(gl, gl.TEXTURE_3D, UNITS.uGlow);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage3D(gl.TEXTURE_3D, 1, gl.R8, span[0], span[2], span[1]);
    gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, 0, span[0], span[2], span[1], gl.RED, gl.UNSIGNED_BYTE, data);
    for (const made of this.#programs) {
      gl.useProgram(made.program);
      gl.uniform3fv(made.uniforms.uGlowMin, Float32Array.from(min));
    }
  }
}

/** A ground colour that matches the sky, in linear light. @param {Element} element */
function floorColour(element) {
  const colours = getComputedStyle(element, "::before").backgroundImage.match(/rgba?\([^)]*\)/g) ?? [];
  const channels = (colours.at(-1) ?? "rgb(243 246 246)").match(/[\d.]+/g) ?? [];
  return [0, 1, 2].map((channel) => 0.62 * (Number(channels[channel]) / 255) ** 2.2);
}

/** @type {Promise<void> | undefined} */
let stylesLoaded;

/** Loads the styles of the tools that are loaded on demand. @returns when they are there, or cannot be had */
export function loadStyles() {
  stylesLoaded ??= new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("./more.css", import.meta.url).href;
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      stylesLoaded = undefined;
      resolve();
    });
    document.head.append(link);
  });
  return stylesLoaded;
}
