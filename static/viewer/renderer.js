/**
 * Draws one build on one canvas. It keeps everything it was given, so that all resources can be created again after the
 * browser has dropped the WebGL context.
 * @typedef {import("./camera.js").Eye} Eye
 */
import { createProgram, createTexture, linkProgram, quadIndices, uploadQuads } from "./gl.js";
import { GROUND_FRAGMENT, GROUND_VERTEX, QUAD_VERTEX, SURFACE_FRAGMENT } from "./shaders.js";

/** Towards the sun: above, left of and behind the viewer at the first angle. */
export const SUN = Float32Array.of(-0.266, 1, 0.639).map((part, _, all) => part / Math.hypot(...all));
/** Texture units, by the samplers that read them. */
export const UNITS = { uQuads: 0, uTiles: 1, uBlocks: 2, uShadow: 3, uContact: 4, uGlow: 5 };
export const [SOLID, CUTOUT, LIQUID, CLEAR, PASSES] = [0, 1, 2, 3, 4];
const ALL_FACES = 63;

export class Renderer {
  drawCalls = 0;
  /** @type {Meshed | undefined} */
  build;
  /** @type {ContactShadow | undefined} */
  #contact;
  #starts = new Uint32Array(25);
  sunMatrix = new Float32Array(16);
  bias = 0;
  shadowed = 0;
  #indexedQuads = 0;
  /** @type {Program | undefined} */
  depthProgram;
  /** What draws the shadow map, once shadows.js is loaded. @type {((renderer: Renderer) => void) | undefined} */
  castShadows;
  /** @type {WebGLTexture | null} */
  #quadTexture = null;
  /** @type {WebGLTexture | null} */
  shadowTexture = null;
  /** @type {WebGLTexture | null} */
  #contactTexture = null;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {boolean} low without shadows and antialiasing
   */
  constructor(canvas, low) {
    const gl = canvas.getContext("webgl2", { antialias: !low });
    if (!gl) throw new Error("WebGL is not available.");
    this.gl = gl;
    this.low = low;
    this.#createResources();
  }

  #createResources() {
    const { gl } = this;
    this.surface = createProgram(gl, QUAD_VERTEX, SURFACE_FRAGMENT);
    this.ground = createProgram(gl, GROUND_VERTEX, GROUND_FRAGMENT);
    this.linked = false;
    this.depthProgram = undefined;
    this.#indexedQuads = this.shadowed = 0;
    this.#quadTexture = this.#contactTexture = null;
    gl.bindVertexArray(gl.createVertexArray());
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    this.shadowTexture = this.createShadowMap(1);
  }

  /** After the context came back. */
  restore() {
    this.#createResources();
    if (this.textures) this.setTextures(this.textures);
    if (this.build) this.setBuild(this.build);
    this.#uploadContact();
  }

  /** @param {Textures} textures */
  setTextures(textures) {
    const { gl } = this;
    this.textures = textures;
    const target = gl.TEXTURE_2D_ARRAY;
    createTexture(gl, target, UNITS.uTiles, {
      [gl.TEXTURE_MIN_FILTER]: gl.LINEAR_MIPMAP_LINEAR,
      [gl.TEXTURE_MAG_FILTER]: gl.LINEAR,
    });
    gl.texStorage3D(target, textures.levels.length, gl.SRGB8_ALPHA8, 16, 16, textures.tiles);
    textures.levels.forEach((texels, level) => {
      const edge = 16 >> level;
      gl.texSubImage3D(target, level, 0, 0, 0, edge, edge, textures.tiles, gl.RGBA, gl.UNSIGNED_BYTE, texels);
    });
    const sharper = this.low ? null : gl.getExtension("EXT_texture_filter_anisotropic");
    if (sharper) gl.texParameterf(target, sharper.TEXTURE_MAX_ANISOTROPY_EXT, 4);

    const table = new Uint8Array(3 * 256 * 4);
    textures.blocks.forEach((block, index) => {
      block.faces.forEach(([first, variants], face) => {
        table.set([first, variants, +(block.class === "emissive"), 0], 4 * (256 * face + index + 1));
      });
    });
    createTexture(gl, gl.TEXTURE_2D, UNITS.uBlocks);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8UI, 256, 3);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 3, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE, table);
  }

  /** Draws an invisible quad in every pass, so that the shaders are compiled before the build arrives. @param {Eye} eye */
  warmUp(eye) {
    const mesh = { data: new Uint32Array(2 * PASSES), ranges: new Uint32Array(6 * PASSES), quads: PASSES };
    for (let pass = 0; pass < PASSES; pass++) mesh.ranges[6 * pass] = 1;
    const contact = { data: new Uint8Array(1), width: 1, depth: 1, margin: 0 };
    this.setBuild({ mesh, contact, min: [-1, -1, -1], span: [2, 2, 2] });
    this.draw(eye);
    this.build = undefined;
  }

  /** @param {Meshed} build */
  setBuild(build) {
    const { gl } = this;
    const { data, ranges, quads } = build.mesh;
    this.build = build;
    ranges.forEach((count, index) => (this.#starts[index + 1] = this.#starts[index] + count));
    gl.deleteTexture(this.#quadTexture);
    this.#quadTexture = createTexture(gl, gl.TEXTURE_2D, UNITS.uQuads);
    uploadQuads(gl, data);
    if (quads > this.#indexedQuads) {
      this.#indexedQuads = quads;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, quadIndices(quads), gl.STATIC_DRAW);
    }
    if (build.contact) {
      this.#contact = build.contact;
      this.#uploadContact();
    }
    if (this.shadowed) this.castShadows?.(this);
  }

  #uploadContact() {
    const { gl } = this;
    if (!this.#contact) return;
    const { data, width, depth } = this.#contact;
    gl.deleteTexture(this.#contactTexture);
    this.#contactTexture = createTexture(gl, gl.TEXTURE_2D, UNITS.uContact, {
      [gl.TEXTURE_MIN_FILTER]: gl.LINEAR,
      [gl.TEXTURE_MAG_FILTER]: gl.LINEAR,
      [gl.TEXTURE_WRAP_S]: gl.CLAMP_TO_EDGE,
      [gl.TEXTURE_WRAP_T]: gl.CLAMP_TO_EDGE,
    });
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R8, width, depth);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, depth, gl.RED, gl.UNSIGNED_BYTE, data);
  }

  /** @param {number} edge */
  createShadowMap(edge) {
    const { gl } = this;
    const made = createTexture(gl, gl.TEXTURE_2D, UNITS.uShadow, {
      [gl.TEXTURE_MIN_FILTER]: gl.LINEAR,
      [gl.TEXTURE_MAG_FILTER]: gl.LINEAR,
      [gl.TEXTURE_COMPARE_MODE]: gl.COMPARE_REF_TO_TEXTURE,
    });
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, edge, edge);
    return made;
  }

  /** @param {Eye} eye */
  draw(eye) {
    const { gl, surface, build } = this;
    if (!surface || !build || gl.isContextLost()) return;
    this.#linkPrograms();
    this.drawCalls = 0;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
    gl.useProgram(surface.program);
    gl.uniformMatrix4fv(surface.uniforms.uMatrix, false, eye.matrix);
    gl.uniformMatrix4fv(surface.uniforms.uSunMatrix, false, this.sunMatrix);
    gl.uniform3fv(surface.uniforms.uSun, SUN);
    gl.uniform1f(surface.uniforms.uGrow, 3e-5);
    gl.uniform1f(surface.uniforms.uBias, this.bias);
    gl.uniform1f(surface.uniforms.uShaded, this.shadowed);
    const faces = this.#visibleFaces(eye);
    gl.uniform1i(surface.uniforms.uPass, SOLID);
    this.drawPass(SOLID, faces);
    gl.uniform1i(surface.uniforms.uPass, CUTOUT);
    gl.disable(gl.CULL_FACE);
    this.drawPass(CUTOUT, ALL_FACES);
    gl.enable(gl.CULL_FACE);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (eye.position[1] > build.min[1]) this.#drawGround(eye);
    gl.useProgram(surface.program);
    this.#drawNearest(LIQUID, faces);
    this.#drawNearest(CLEAR, faces);
  }

  /** Draws only the nearest transparent surface: first its depth, then its colour where the depth is equal. Needs no sorting. @param {number} pass @param {number} faces */
  #drawNearest(pass, faces) {
    const { gl } = this;
    if (this.#starts[6 * pass] === this.#starts[6 * pass + 6]) return;
    gl.uniform1i(this.surface?.uniforms.uPass ?? null, pass);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.colorMask(false, false, false, false);
    this.drawPass(pass, faces);
    gl.colorMask(true, true, true, true);
    gl.depthMask(false);
    gl.depthFunc(gl.EQUAL);
    gl.enable(gl.BLEND);
    this.drawPass(pass, faces);
    gl.depthFunc(gl.LESS);
  }

  /** @param {Eye} eye */
  #drawGround(eye) {
    const { gl, ground, build } = this;
    if (!ground || !build || !this.#contact) return;
    const { min, span } = build;
    const { margin } = this.#contact;
    gl.useProgram(ground.program);
    gl.uniformMatrix4fv(ground.uniforms.uMatrix, false, eye.matrix);
    gl.uniformMatrix4fv(ground.uniforms.uSunMatrix, false, this.sunMatrix);
    gl.uniform1f(ground.uniforms.uShaded, this.shadowed);
    const radius = Math.hypot(span[0], span[2]) / 2 + span[1];
    gl.uniform4f(ground.uniforms.uDisc, min[0] + span[0] / 2, min[1] - 0.01, min[2] + span[2] / 2, radius);
    gl.uniform2f(ground.uniforms.uReach, span[0] / 2 + margin, span[2] / 2 + margin);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    this.drawCalls++;
    gl.enable(gl.CULL_FACE);
  }

  /** The face directions that can be visible from here, a bit each. @param {Eye} eye */
  #visibleFaces({ position }) {
    let faces = 0;
    const { min, span } = /** @type {Meshed} */ (this.build);
    for (let axis = 0; axis < 3; axis++) {
      if (position[axis] > min[axis]) faces |= 1 << (2 * axis);
      if (position[axis] < min[axis] + span[axis]) faces |= 2 << (2 * axis);
    }
    return faces;
  }

  /** Draws these face directions of a pass; adjacent ranges share a draw call. @param {number} pass @param {number} faces */
  drawPass(pass, faces) {
    const { gl } = this;
    const starts = this.#starts;
    for (let face = 0; face < 6; face++) {
      if (!(faces & (1 << face))) continue;
      const first = starts[6 * pass + face];
      while (face < 5 && faces & (2 << face)) face++;
      const count = starts[6 * pass + face + 1] - first;
      if (!count) continue;
      gl.drawElements(gl.TRIANGLES, 6 * count, gl.UNSIGNED_INT, 24 * first);
      this.drawCalls++;
    }
  }

  #linkPrograms() {
    if (this.linked || !this.surface || !this.ground) return;
    for (const made of [this.surface, this.ground]) linkProgram(this.gl, made, UNITS);
    this.linked = true;
  }

  /** Frees the context, of which a page has only a few. */
  loseContext() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
