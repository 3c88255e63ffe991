/** The movement of a walker among blocks: pure functions of body, wish, time and world. */

const HALF_WIDTH = 0.3;
const HEIGHT = 1.8;
const GRAVITY = 27;
const JUMP_SPEED = 8.6;
const FASTEST_FALL = 40;
/** The height that is climbed without a jump. */
const STEP_HEIGHT = 1;
const WALK_SPEED = 4.8;
const FLY_SPEED = 9;
const SWIM_SPEED = 2.4;
/** The time constant of a change of speed, in seconds. */
const ACCELERATION_S = 0.06;
/** The longest distance that is moved before collisions are checked; shorter than a block, so that none is skipped. */
const MAX_STEP = 0.4;
const EPSILON = 1e-4;
/** How far above a land one can fly. */
const SKY = 48;

/**
 * @typedef {object} World
 * @property {(x: number, y: number, z: number) => boolean} solid whether a cell blocks movement
 * @property {(x: number, y: number, z: number) => boolean} wet
 * @property {number} floor the height of the ground
 * @property {number[]} low @property {number[]} high the limits of movement
 * @property {number} speedFactor
 */

export class Body {
  /** The middle between the feet. */
  at = [0, 0, 0];
  speed = [0, 0, 0];
  grounded = false;
  flying = false;
  /** How far the eye is still below its height after a step up, so that it rises smoothly. */
  sunk = 0;
}

/**
 * A world from a grid, on flat ground that extends beyond it; or of a land, which ends with its grid.
 * @param {Grid} grid @param {BlockKinds} kinds @param {boolean} [isLand]
 * @returns {World}
 */
export function worldOf({ min, span, dims, cells }, kinds, isLand = false) {
  const pass = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ z) => {
    const [column, row, line] = [x - min[0], y - min[1], z - min[2]];
    if (column < 0 || row < 0 || line < 0 || column >= span[0] || row >= span[1] || line >= span[2]) return -1;
    const block = cells[((row + 1) * dims[2] + line + 1) * dims[0] + column + 1];
    return block ? kinds.pass[block] : -1;
  };
  const around = isLand ? -HALF_WIDTH : Math.max(span[0], span[2]) / 2 + 24;
  const above = isLand ? SKY : around;
  return {
    solid: (x, y, z) => y < min[1] || (pass(x, y, z) >= 0 && pass(x, y, z) !== 2),
    wet: (x, y, z) => pass(x, y, z) === 2,
    floor: min[1],
    low: [min[0] - around, -Infinity, min[2] - around],
    high: [min[0] + span[0] + around, min[1] + span[1] + above, min[2] + span[2] + around],
    speedFactor: isLand ? 1 : Math.max(1, Math.min(2.5, Math.max(...span) / 64)),
  };
}

/** Whether a body at this place would overlap a block. @param {World} world @param {number[]} at */
export function overlapsBlock(world, at) {
  return overlapsSolid(world.solid, at);
}

/**
 * A place on the ground in front of the build, from which it can be seen as a whole.
 * @param {World} world @param {Box} box @param {number} turn the side they come from
 */
export function startPosition(world, { min, span }, turn) {
  const [x, z] = [min[0] + span[0] / 2, min[2] + span[2] / 2];
  const away = Math.hypot(span[0], span[2]) / 2 + Math.min(10, 2 + span[1] / 4);
  const at = [x + Math.sin(turn) * away, world.floor, z + Math.cos(turn) * away];
  return at.map((part, axis) => clamp(part, world.low[axis], world.high[axis]));
}

/**
 * Moves the body for some time.
 * @param {Body} body @param {{ along: number[], up: number }} wish a direction to go, at most 1 long, and up (jump) or down
 * @param {number} seconds @param {World} world
 */
export function advance(body, { along, up }, seconds, world) {
  const { at, speed } = body;
  const swims = !body.flying && world.wet(...cellOf([at[0], at[1] + 0.4, at[2]]));
  const pace = world.speedFactor * (body.flying ? FLY_SPEED : swims ? SWIM_SPEED : WALK_SPEED);
  const share = 1 - Math.exp(-seconds / ACCELERATION_S);
  speed[0] += (along[0] * pace - speed[0]) * share;
  speed[2] += (along[1] * pace - speed[2]) * share;
  if (body.flying) speed[1] += (up * pace - speed[1]) * share;
  else if (swims) speed[1] += ((up > 0 ? 3 : -1.5) - speed[1]) * share;
  else {
    if (up > 0 && body.grounded) speed[1] = JUMP_SPEED;
    speed[1] = Math.max(-FASTEST_FALL, speed[1] - GRAVITY * seconds);
  }

  const distance = speed.map((part) => part * seconds);
  const steps = Math.max(1, Math.ceil(Math.max(...distance.map(Math.abs)) / MAX_STEP));
  body.grounded = false;
  for (let step = 0; step < steps; step++) {
    for (const axis of [1, 0, 2]) moveAlong(body, axis, distance[axis] / steps, world);
  }
  body.sunk *= Math.exp(-seconds / 0.09);
  if (body.sunk < 1e-3) body.sunk = 0;
}

/** @param {Body} body @param {number} axis @param {number} way @param {World} world */
function moveAlong(body, axis, way, world) {
  const { at, speed } = body;
  if (way === 0) return;
  const before = at[axis];
  at[axis] = clamp(before + way, world.low[axis], world.high[axis]);
  if (!overlapsSolid(world.solid, at)) return;
  if (axis !== 1 && tryStepUp(body, world)) return;
  at[axis] = before;
  // Moves up to the edge of the blocking cell, and leaves a gap of EPSILON.
  const [under, over] = axis === 1 ? [0, HEIGHT] : [HALF_WIDTH, HALF_WIDTH];
  const edge = way > 0 ? Math.ceil(before + over - EPSILON) - over - EPSILON : Math.floor(before - under + EPSILON) + under + (axis === 1 ? 0 : EPSILON);
  if (way > 0 ? edge > before : edge < before) at[axis] = edge;
  if (overlapsSolid(world.solid, at)) at[axis] = before;
  if (axis === 1 && way < 0) body.grounded = true;
  speed[axis] = 0;
}

/** Steps up one block, where there is room above it. @param {Body} body @param {World} world */
function tryStepUp(body, { solid }) {
  const { at } = body;
  if (!body.grounded) return false;
  const top = Math.floor(at[1] + EPSILON) + STEP_HEIGHT;
  const raised = [at[0], top, at[2]];
  if (overlapsSolid(solid, raised)) return false;
  body.sunk += top - at[1];
  at[1] = top;
  return true;
}

/** @param {(x: number, y: number, z: number) => boolean} solid @param {number[]} at */
function overlapsSolid(solid, [x, y, z]) {
  const [left, right] = [Math.floor(x - HALF_WIDTH), Math.floor(x + HALF_WIDTH)];
  const [near, far] = [Math.floor(z - HALF_WIDTH), Math.floor(z + HALF_WIDTH)];
  const [low, high] = [Math.floor(y + EPSILON), Math.floor(y + HEIGHT - EPSILON)];
  for (let row = low; row <= high; row++) {
    for (let line = near; line <= far; line++) {
      for (let column = left; column <= right; column++) if (solid(column, row, line)) return true;
    }
  }
  return false;
}

/** @param {number[]} at @returns {[number, number, number]} */
function cellOf(at) {
  return [Math.floor(at[0]), Math.floor(at[1]), Math.floor(at[2])];
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
