/** Helpers for programs and textures of WebGL. */

/** @param {GL} gl @param {string} vertex @param {string} fragment @returns {Program} */
export function createProgram(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [type, source] of /** @type {const} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(type));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return { program: made, uniforms: {} };
}

/**
 * Waits for the compiler, looks up the uniforms and assigns the samplers. Compiling runs in the background until then.
 * @param {GL} gl @param {Program} made @param {Record<string, number>} samplers
 */
export function linkProgram(gl, made, samplers) {
  const { program, uniforms } = made;
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = (gl.getAttachedShaders(program) ?? []).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`A shader does not compile: ${logs.join(" ")}`);
  }
  gl.useProgram(program);
  for (let n = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) - 1; n >= 0; n--) {
    const name = gl.getActiveUniform(program, n)?.name ?? "";
    uniforms[name] = gl.getUniformLocation(program, name);
    if (name in samplers) gl.uniform1i(uniforms[name], samplers[name]);
  }
  return made;
}

/** @param {GL} gl @param {number} target @param {number} unit @param {Record<number, number>} [parameters] */
export function createTexture(gl, target, unit, parameters = {}) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(target, made);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(target, filter, gl.NEAREST);
  for (const [name, value] of Object.entries(parameters)) gl.texParameteri(target, Number(name), value);
  return made;
}

const TEXTURE_WIDTH = 2048;

/** Uploads the quads' words, two per texel. @param {GL} gl @param {Uint32Array} words */
export function uploadQuads(gl, words) {
  const full = words.length >> 12;
  const rest = (words.length >> 1) % TEXTURE_WIDTH;
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RG32UI, TEXTURE_WIDTH, full + 1);
  if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXTURE_WIDTH, full, gl.RG_INTEGER, gl.UNSIGNED_INT, words, 0);
  if (rest) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, rest, 1, gl.RG_INTEGER, gl.UNSIGNED_INT, words, 2 * TEXTURE_WIDTH * full);
}

/** Two triangles for each quad of four vertices. @param {number} quads */
export function quadIndices(quads) {
  const indices = new Uint32Array(6 * quads);
  for (let at = 0, vertex = 0; vertex < 4 * quads; vertex += 4) {
    indices[at++] = vertex;
    indices[at++] = vertex + 1;
    indices[at++] = vertex + 2;
    indices[at++] = vertex;
    indices[at++] = vertex + 2;
    indices[at++] = vertex + 3;
  }
  return indices;
}
