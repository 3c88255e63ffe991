/**
 * The camera that orbits a build. Its state does not depend on the build, so that one camera can serve viewers of
 * different builds: turn and tilt, a zoom relative to the framing of the whole build, and a shift in half diagonals
 * of the bounds.
 */

const DEGREE = Math.PI / 180;
const FIRST_TURN = 30 * DEGREE;
const TILT = 27 * DEGREE;
const MAX_TILT = 88 * DEGREE;
/** Half the height of the view at distance 1, and the part of it that the build may fill. */
const TAN_HALF_VIEW = Math.tan(15 * DEGREE);
const TAN_FILLED = 0.96 * TAN_HALF_VIEW;
/** The time constant of a glide: after so long, about two thirds of the way are done. */
const GLIDE_MS = 70;
const [TURN_AT, TILT_AT, ZOOM_AT, X_AT, Y_AT, Z_AT] = [0, 1, 2, 3, 4, 5];

export class Camera {
  /** Turn, tilt, logarithm of the zoom, shift along x, y and z. */
  #now = new Float64Array(6);
  #goal = new Float64Array(6);
  /** The speed of the automatic rotation, in radians a second. */
  spin = 0;
  /** The time of the frame in which it last moved. */
  movedAt = 0;
  #stepped = 0;
  /** Called when there is something to draw. @type {() => void} */
  changed = () => {};

  constructor() {
    this.reset(true);
  }

  get turn() {
    return this.#now[TURN_AT];
  }

  get tilt() {
    return this.#now[TILT_AT];
  }

  get zoom() {
    return Math.exp(this.#now[ZOOM_AT]);
  }

  get moving() {
    let still = this.spin === 0;
    for (let index = 0; index < 6; index++) still &&= this.#now[index] === this.#goal[index];
    return !still;
  }

  /** A copy with the same state. */
  clone() {
    const camera = new Camera();
    camera.#now.set(this.#now);
    camera.#goal.set(this.#goal);
    camera.spin = this.spin;
    return camera;
  }

  /** @param {boolean} [jump] */
  reset(jump) {
    this.#goal.fill(0);
    this.look(0, jump);
    this.#goal[TILT_AT] = TILT;
    this.#settle(jump);
  }

  /** Glides the short way round to one of the eight angles. @param {number} angle @param {boolean} [jump] */
  look(angle, jump) {
    const full = 2 * Math.PI;
    const turn = FIRST_TURN + 45 * DEGREE * angle;
    this.#goal[TURN_AT] = turn + full * Math.round((this.#now[TURN_AT] - turn) / full);
    this.#goal[TILT_AT] = TILT;
    this.#settle(jump);
  }

  /** @param {number} turn @param {number} tilt @param {boolean} [jump] */
  orbit(turn, tilt, jump) {
    this.#goal[TURN_AT] += turn;
    this.#goal[TILT_AT] = clamp(this.#goal[TILT_AT] + tilt, -MAX_TILT, MAX_TILT);
    this.#settle(jump);
  }

  /** @param {number} factor @param {boolean} [jump] */
  zoomBy(factor, jump) {
    this.#goal[ZOOM_AT] = clamp(this.#goal[ZOOM_AT] + Math.log(factor), -1.2, 3.4);
    this.#settle(jump);
  }

  /** Shifts the view by parts of its height. @param {number} right @param {number} up @param {boolean} [jump] */
  pan(right, up, jump) {
    const scale = 2 / Math.exp(this.#goal[ZOOM_AT]);
    const sinTurn = Math.sin(this.#now[TURN_AT]);
    const cosTurn = Math.cos(this.#now[TURN_AT]);
    const back = up * Math.sin(this.#now[TILT_AT]);
    this.#goal[X_AT] = clamp(this.#goal[X_AT] + (right * cosTurn - back * sinTurn) * scale, -1, 1);
    this.#goal[Y_AT] = clamp(this.#goal[Y_AT] + up * Math.cos(this.#now[TILT_AT]) * scale, -1, 1);
    this.#goal[Z_AT] = clamp(this.#goal[Z_AT] + (-right * sinTurn - back * cosTurn) * scale, -1, 1);
    this.#settle(jump);
  }

  /** @param {boolean} [jump] */
  #settle(jump) {
    if (jump || matchMedia("(prefers-reduced-motion: reduce)").matches) this.#now.set(this.#goal);
    this.movedAt = -1;
    this.changed();
  }

  /** Advances to the time of a frame. Several viewers may call it in the same frame; only the first call moves it. @param {number} time */
  step(time) {
    if (this.movedAt < 0) this.movedAt = time;
    const passed = Math.min(50, time - this.#stepped);
    if (passed <= 0) return;
    this.#stepped = time;
    if (!this.moving) return;
    this.#now[TURN_AT] += (this.spin * passed) / 1000;
    this.#goal[TURN_AT] += (this.spin * passed) / 1000;
    const share = 1 - Math.exp(-passed / GLIDE_MS);
    for (let index = 0; index < 6; index++) {
      const left = this.#goal[index] - this.#now[index];
      this.#now[index] = Math.abs(left) < 5e-4 ? this.#goal[index] : this.#now[index] + left * share;
    }
    this.movedAt = time;
  }

  /**
   * Frames a build as the server does for its pictures: the upright cylinder around the bounds just fits, so that
   * turning neither crops nor changes the scale.
   * @param {Eye} eye @param {Box} box @param {number} aspect
   */
  aim(eye, { min, span }, aspect) {
    const turn = this.#now[TURN_AT];
    const tilt = this.#now[TILT_AT];
    const sin = Math.sin(tilt);
    const cos = Math.cos(tilt);
    const { position, back, right, up } = eye;
    back[0] = Math.sin(turn) * cos;
    back[1] = sin;
    back[2] = Math.cos(turn) * cos;
    setAxes(back, right, up);

    const radius = Math.hypot(span[0], span[2]) / 2;
    const half = span[1] / 2;
    const over = half * Math.abs(sin + cos / TAN_FILLED) + radius * Math.abs(cos - sin / TAN_FILLED);
    const under = half * Math.abs(sin - cos / TAN_FILLED) + radius * Math.abs(cos + sin / TAN_FILLED);
    const beside = half * Math.abs(sin) + radius * Math.hypot(cos, 1 / (TAN_FILLED * aspect));
    const away = Math.max((over + under) / 2, beside) / Math.exp(this.#now[ZOOM_AT]);
    const raise = (TAN_FILLED * (over - under)) / 2;
    const reach = Math.hypot(radius, half);
    for (let axis = 0; axis < 3; axis++) {
      const target = min[axis] + span[axis] / 2 + up[axis] * raise + this.#now[X_AT + axis] * reach;
      position[axis] = target + back[axis] * away;
    }
    const far = away + 4 * reach;
    project(eye, TAN_HALF_VIEW, aspect, Math.max(far / 2000, away - 3 * reach), far);
  }
}

/** Updates the eye's matrices for its position and direction. @param {Eye} eye @param {number} reach @param {number} aspect @param {number} near @param {number} far */
export function project(eye, reach, aspect, near, far) {
  setAxes(eye.back, eye.right, eye.up);
  perspective(eye.projection, reach, aspect, near, far);
  setView(eye.view, eye.position, eye.back, eye.right, eye.up);
  multiply(eye.matrix, eye.projection, eye.view);
  eye.aspect = aspect;
}

/** A viewer's position, axes and matrices. Allocated once, and refilled for every frame. */
export class Eye {
  position = new Float32Array(3);
  back = new Float32Array(3);
  right = new Float32Array(3);
  up = new Float32Array(3);
  view = new Float32Array(16);
  projection = new Float32Array(16);
  matrix = new Float32Array(16);
  aspect = 1;

  /** The direction through a point of the canvas, from -1 to 1. @param {number} x @param {number} y */
  ray(x, y) {
    const across = x * TAN_HALF_VIEW * this.aspect;
    return [0, 1, 2].map((axis) => this.right[axis] * across + this.up[axis] * y * TAN_HALF_VIEW - this.back[axis]);
  }
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/** Matrices are column-major, and written in place so that a frame allocates nothing. @param {Float32Array} out @param {number} tan @param {number} aspect @param {number} near @param {number} far */
function perspective(out, tan, aspect, near, far) {
  out.fill(0);
  out[0] = 1 / (tan * aspect);
  out[5] = 1 / tan;
  out[10] = (far + near) / (near - far);
  out[11] = -1;
  out[14] = (2 * far * near) / (near - far);
}

/** Right and up for a backward direction, with the horizon level. @param {Float32Array} back @param {Float32Array} right @param {Float32Array} up */
export function setAxes(back, right, up) {
  const flat = Math.hypot(back[0], back[2]);
  right[0] = back[2] / flat;
  right[1] = 0;
  right[2] = -back[0] / flat;
  up[0] = back[1] * right[2];
  up[1] = flat;
  up[2] = -back[1] * right[0];
}

/**
 * The view matrix of a position and its axes.
 * @param {Float32Array} out @param {Float32Array} position
 * @param {Float32Array} back @param {Float32Array} right @param {Float32Array} up
 */
export function setView(out, position, back, right, up) {
  setRow(out, 0, right, position);
  setRow(out, 1, up, position);
  setRow(out, 2, back, position);
  out[3] = out[7] = out[11] = 0;
  out[15] = 1;
}

/** @param {Float32Array} out @param {number} at @param {Float32Array} axis @param {Float32Array} position */
function setRow(out, at, axis, position) {
  out[at] = axis[0];
  out[at + 4] = axis[1];
  out[at + 8] = axis[2];
  out[at + 12] = -(axis[0] * position[0] + axis[1] * position[1] + axis[2] * position[2]);
}

/** @param {Float32Array} out @param {Float32Array} a @param {Float32Array} b */
function multiply(out, a, b) {
  for (let column = 0; column < 16; column += 4) {
    for (let line = 0; line < 4; line++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + line] * b[column + k];
      out[column + line] = sum;
    }
  }
}
