/**
 * The shadow map. It is loaded after the first frame, which does without it; low quality never asks for it.
 * @typedef {import("./renderer.js").Renderer} Renderer
 */
import { setAxes, setView } from "./camera.js";
import { createProgram, linkProgram } from "./gl.js";
import { CUTOUT, SOLID, SUN, UNITS } from "./renderer.js";
import { FRAGMENT_HEAD, QUAD_VERTEX, TEXEL_LOOKUP } from "./shaders.js";

const EDGE = 2048;
/** The faces -x, +y and +z, a bit each: only they are lit, and only what is lit casts a shadow. */
const SUNNY_FACES = 0b010110;

/** Writes only depth, and nothing in the holes of cutouts. */
const DEPTH_FRAGMENT = `${FRAGMENT_HEAD}${TEXEL_LOOKUP}
uniform int uPass;
void main() {
  if (uPass == 1 && texel().a < .5) discard;
  colour = vec4(0);
}`;

/** Draws the renderer's build into its shadow map; from then on it is drawn with shadows. @param {Renderer} renderer */
export function castShadows(renderer) {
  const { gl, build, sunMatrix } = renderer;
  if (renderer.low || !build || gl.isContextLost()) return;
  const depth = (renderer.depthProgram ??= linkProgram(gl, createProgram(gl, QUAD_VERTEX, DEPTH_FRAGMENT), UNITS));
  if (!renderer.shadowed) {
    gl.deleteTexture(renderer.shadowTexture);
    renderer.shadowTexture = renderer.createShadowMap(EDGE);
  }
  setSunMatrix(sunMatrix, build, SUN);
  // Shadows are looked up a little off the surface, or it would shade itself.
  renderer.bias = (2.5 * Math.hypot(...build.span)) / EDGE;
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, renderer.shadowTexture, 0);
  gl.viewport(0, 0, EDGE, EDGE);
  gl.enable(gl.DEPTH_TEST);
  gl.enable(gl.CULL_FACE);
  gl.depthMask(true);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1.5, 2);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.useProgram(depth.program);
  gl.uniformMatrix4fv(depth.uniforms.uMatrix, false, sunMatrix);
  gl.uniform1f(depth.uniforms.uGrow, 0);
  for (const pass of [SOLID, CUTOUT]) {
    gl.uniform1i(depth.uniforms.uPass, pass);
    renderer.drawPass(pass, SUNNY_FACES);
  }
  gl.disable(gl.POLYGON_OFFSET_FILL);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.deleteFramebuffer(frame);
  renderer.shadowed = 1;
}

/**
 * The projection of parallel light from a direction, fitted to a box.
 * @param {Float32Array} out @param {Box} box @param {Float32Array} sun
 */
function setSunMatrix(out, { min, span }, sun) {
  const view = new Float32Array(16);
  const [right, up] = [new Float32Array(3), new Float32Array(3)];
  setAxes(sun, right, up);
  setView(view, Float32Array.from([0, 1, 2], (axis) => min[axis] + span[axis] / 2), sun, right, up);
  out.fill(0);
  for (let line = 0; line < 3; line++) {
    let reach = 0;
    for (let axis = 0; axis < 3; axis++) reach += (Math.abs(view[4 * axis + line]) * span[axis]) / 2;
    const scale = (line === 2 ? -1 : 1) / (reach + 0.5);
    for (let column = 0; column < 4; column++) out[4 * column + line] = scale * view[4 * column + line];
  }
  out[15] = 1;
}
