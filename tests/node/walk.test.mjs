/** Moving among blocks, as pure functions of grid, wish and time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Body, advance, startPosition, overlapsBlock, worldOf } from "../../static/viewer/physics.js";
import { chance, index, inside, kinds, numbers, randomGrid } from "./samples.mjs";

const FRAME = 1 / 60;
const AHEAD = { along: [1, 0], up: 0 };
const STILL = { along: [0, 0], up: 0 };

/** A world of these cells, within ten by ten by ten at the origin. */
function world(...cells) {
  const grid = randomGrid(() => 0, [10, 10, 10], [0]);
  grid.min = [0, 0, 0];
  for (const [x, y, z, block = "stone"] of cells) grid.cells[index(grid, x, y, z)] = numbers.get(block);
  return worldOf(grid, kinds);
}

function standing(at) {
  const body = new Body();
  body.at = at;
  return body;
}

function go(body, wish, seconds, world) {
  for (let time = 0; time < seconds; time += FRAME) advance(body, wish, FRAME, world);
  return body;
}

const near = (actual, expected, off = 0.01) => assert.ok(Math.abs(actual - expected) < off, `${actual} is not near ${expected}`);

test("who walks goes about five blocks a second, and stops soon", () => {
  const body = go(standing([0.5, 0, 0.5]), AHEAD, 1, world());
  assert.ok(body.at[0] > 4.5 && body.at[0] < 5.5, String(body.at[0]));
  const { at } = go(body, STILL, 0.5, world());
  assert.ok(at[0] < 6);
  near(body.speed[0], 0);
});

test("one falls to the ground, and jumps a block and a bit but not two", () => {
  const body = go(standing([0.5, 5, 0.5]), STILL, 2, world());
  near(body.at[1], 0, 0.001);
  assert.equal(body.grounded, true);
  let highest = 0;
  for (let time = 0; time < 1; time += FRAME) {
    advance(body, { along: [0, 0], up: time < 0.1 ? 1 : 0 }, FRAME, world());
    highest = Math.max(highest, body.at[1]);
  }
  assert.ok(highest > 1.1 && highest < 1.9, String(highest));
  near(body.at[1], 0, 0.001);
});

test("a wall of two blocks stops one right before it, one along it still goes", () => {
  const wall = world(...[...Array(10).keys()].flatMap((z) => [[5, 0, z], [5, 1, z]]));
  const body = go(standing([2.5, 0, 2.5]), AHEAD, 2, wall);
  near(body.at[0], 4.7, 0.01);
  go(body, { along: [0.7, 0.7], up: 0 }, 1, wall);
  near(body.at[0], 4.7, 0.01);
  assert.ok(body.at[2] > 5, "slides along it");
});

test("one block is stepped up, but not under a low ceiling, and stairs are climbed", () => {
  const step = world([5, 0, 2], [6, 0, 2], [7, 0, 2]);
  const body = go(standing([2.5, 0, 2.5]), AHEAD, 0.8, step);
  near(body.at[1], 1, 0.001);
  assert.ok(body.at[0] > 5);
  const low = go(standing([2.5, 0, 2.5]), AHEAD, 2, world([5, 0, 2], [5, 2, 2], [5, 2, 1], [5, 2, 3]));
  near(low.at[0], 4.7, 0.01);
  const stairs = world(...[0, 1, 2, 3].flatMap((n) => [...Array(n + 1).keys()].map((y) => [4 + n, y, 2])));
  near(go(standing([2.5, 0, 2.5]), AHEAD, 0.9, stairs).at[1], 4, 1.01);
});

test("a gap as high as a person lets one through, a lower one does not", () => {
  const gate = (height) => world(...[...Array(10).keys()].flatMap((z) => [...Array(10 - height).keys()].map((y) => [5, y + height, z])));
  assert.ok(go(standing([2.5, 0, 2.5]), AHEAD, 2, gate(2)).at[0] > 7);
  near(go(standing([2.5, 0, 2.5]), AHEAD, 2, gate(1)).at[0], 4.7, 0.01);
});

test("who flies rises, sinks, and meets ceilings and the ground", () => {
  const roof = world([2, 6, 2]);
  const body = standing([2.5, 0, 2.5]);
  body.flying = true;
  go(body, { along: [0, 0], up: 1 }, 2, roof);
  near(body.at[1], 6 - 1.8, 0.01);
  go(body, STILL, 1, roof);
  near(body.at[1], 6 - 1.8, 0.01);
  go(body, { along: [0, 0], up: -1 }, 2, roof);
  near(body.at[1], 0, 0.01);
});

test("water carries, and is no wall", () => {
  const pool = world(...[...inside([10, 4, 10])].map((cell) => [...cell, "water"]));
  const body = standing([5, 3, 5]);
  go(body, STILL, 0.5, pool);
  assert.ok(body.at[1] > 2, "sinks slowly");
  go(body, { along: [0, 0], up: 1 }, 0.5, pool);
  assert.ok(body.at[1] > 2.5, "rises");
});

test("nobody gets into a block, out of the world, or anywhere by great speed or long frames", () => {
  const random = chance(9);
  for (let round = 0; round < 60; round++) {
    const grid = randomGrid(random, [8, 8, 8], [numbers.get("stone"), numbers.get("glass"), numbers.get("water")]);
    grid.cells.forEach((_, at) => random() < 0.6 && (grid.cells[at] = 0));
    const around = worldOf(grid, kinds);
    const body = standing(startPosition(around, grid, random() * 7));
    assert.equal(overlapsBlock(around, body.at), false);
    body.flying = random() < 0.3;
    for (let frame = 0; frame < 300; frame++) {
      const turn = random() * 7;
      const wish = { along: [Math.cos(turn), Math.sin(turn)], up: Math.floor(random() * 3) - 1 };
      advance(body, wish, random() < 0.1 ? 0.25 : FRAME, around);
      assert.equal(overlapsBlock(around, body.at), false, `round ${round}, frame ${frame}, at ${body.at}`);
      body.at.forEach((part, axis) => assert.ok(part >= Math.max(around.low[axis], axis === 1 ? grid.min[1] : -1e9) - 1e-3 && part <= around.high[axis]));
    }
  }
});

test("a land is walked at the usual pace, and ends with its grid", () => {
  const grid = randomGrid(() => 0, [200, 4, 200], [0]);
  grid.min = [10, 0, 20];
  const land = worldOf(grid, kinds, true);
  const body = go(standing([205.5, 0, 25]), AHEAD, 0.5, land);
  assert.ok(body.at[0] > 207 && body.at[0] < 208.2, String(body.at[0]));
  go(body, AHEAD, 2, land);
  near(body.at[0], 209.7, 0.001);
  go(body, { along: [0, -1], up: 0 }, 4, land);
  near(body.at[2], 20.3, 0.001);
  near(body.at[1], 0, 0.001);
});
