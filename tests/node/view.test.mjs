/** Picking and framing, without a picture. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pick } from "../../static/viewer/pick.js";
import { chance, index, inside, numbers, randomGrid } from "./samples.mjs";

globalThis.matchMedia = () => ({ matches: false });
const { Camera, Eye } = await import("../../static/viewer/camera.js");

test("a ray meets the nearest block", () => {
  const random = chance(3);
  let met = 0;
  for (let round = 0; round < 300; round++) {
    const grid = randomGrid(random, [5, 4, 6], [numbers.get("stone"), numbers.get("glass")]);
    grid.cells.forEach((_, at) => random() < 0.6 && (grid.cells[at] = 0));
    const from = grid.min.map((low) => low + (random() - 0.3) * 20);
    const along = [0, 1, 2].map((axis) => grid.min[axis] + 5 * random() - from[axis]);
    if (round % 5 === 0) along[round % 3] = 0;
    const top = 1 + Math.floor(4 * random());
    const found = pick(grid, top, from, along);
    const expected = nearest(grid, top, from, along);
    if (expected?.close) continue;
    assert.deepEqual(found?.cell, expected?.cell);
    met += +(found !== null);
  }
  assert.ok(met > 60);
});

function nearest(grid, top, from, along) {
  const hits = [];
  for (const cell of inside([grid.span[0], top, grid.span[2]])) {
    if (grid.cells[index(grid, ...cell)] === 0) continue;
    const place = cell.map((part, axis) => part + grid.min[axis]);
    let [enter, leave] = [0, Infinity];
    place.forEach((low, axis) => {
      const ends = [low - from[axis], low + 1 - from[axis]].map((way) => way / along[axis]).sort((a, b) => a - b);
      if (along[axis] === 0) leave = from[axis] >= low && from[axis] < low + 1 ? leave : -1;
      else [enter, leave] = [Math.max(enter, ends[0]), Math.min(leave, ends[1])];
    });
    if (enter < leave) hits.push({ cell: place, enter });
  }
  hits.sort((a, b) => a.enter - b.enter);
  const close = hits.length > 1 && hits[1].enter - hits[0].enter < 1e-9;
  return hits.length ? { ...hits[0], close } : null;
}

test("turning never crops, whatever the shape of build and picture", () => {
  const eye = new Eye();
  for (const span of [[32, 20, 32], [200, 4, 17], [17, 256, 20], [256, 256, 256]]) {
    for (const aspect of [0.5, 1, 1.6]) {
      const camera = new Camera();
      for (let angle = 0; angle < 24; angle++) {
        camera.aim(eye, { min: [3, 0, 9], span }, aspect);
        for (const [x, y] of corners([3, 0, 9], span).map((corner) => project(eye.matrix, corner))) {
          assert.ok(Math.abs(x) <= 0.97 && Math.abs(y) <= 0.97, `${span} at ${angle}: ${x}, ${y}`);
        }
        camera.orbit(Math.PI / 12, 0, true);
      }
    }
  }
});

test("the eye stands where the server's does", () => {
  const eye = new Eye();
  const camera = new Camera();
  const [span, min] = [[20, 30, 10], [1, 2, 3]];
  for (let angle = 0; angle < 8; angle++) {
    camera.look(angle, true);
    camera.aim(eye, { min, span }, 1);
    const expected = served(min, span, angle);
    eye.position.forEach((part, axis) => assert.ok(Math.abs(part - expected[axis]) < 1e-3));
  }
});

/** As `image/camera.rs` has it. */
function served(min, span, angle) {
  const degrees = Math.PI / 180;
  const [yaw, e, k] = [(30 + 45 * angle) * degrees, 27 * degrees, 0.96 * Math.tan(15 * degrees)];
  const [r, h] = [Math.hypot(span[0], span[2]) / 2, span[1] / 2];
  const [sin, cos] = [Math.sin(e), Math.cos(e)];
  const away = [Math.sin(yaw) * cos, sin, Math.cos(yaw) * cos];
  const up = [-Math.sin(yaw) * sin, cos, -Math.cos(yaw) * sin];
  const a = h * Math.abs(sin + cos / k) + r * Math.abs(cos - sin / k);
  const b = h * Math.abs(sin - cos / k) + r * Math.abs(cos + sin / k);
  const c = h * sin + r * Math.sqrt(cos ** 2 + 1 / k ** 2);
  const distance = Math.max((a + b) / 2, c);
  return min.map((low, axis) => low + span[axis] / 2 + (up[axis] * k * (a - b)) / 2 + away[axis] * distance);
}

function corners(min, span) {
  return [...inside([2, 2, 2])].map((corner) => corner.map((end, axis) => min[axis] + end * span[axis]));
}

function project(matrix, [x, y, z]) {
  const row = (line) => matrix[line] * x + matrix[4 + line] * y + matrix[8 + line] * z + matrix[12 + line];
  return [row(0) / row(3), row(1) / row(3)];
}

test("a glide ends, and then nothing moves", () => {
  const camera = new Camera();
  camera.orbit(1, 0.2);
  let frames = 0;
  for (let time = 16; camera.moving && frames < 200; time += 16) {
    camera.step(time);
    frames++;
  }
  assert.ok(frames > 10 && frames < 120, `${frames} frames`);
});
