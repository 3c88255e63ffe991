/** A spec drawn in the browser while it is being written, against the program that judges it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Rasterizer, blockLookup, normaliseName } from "../../static/viewer/rasterizer.js";
import { SpecReader } from "../../static/viewer/spec.js";
import { blocks, chance, inside } from "./samples.mjs";

const root = new URL("../../", import.meta.url);
const buildoff = process.env.BUILDOFF ?? fileURLToPath(new URL("target/debug/buildoff", root));
const finders = { simple: blockLookup(blocks, "simple"), advanced: blockLookup(blocks, "advanced") };
const NOTHING = '{"version":"1.0","boxes":[],"lines":[],"blocks":[]}';

/** What the program makes of a text. */
function checked(text, size, palette) {
  const args = ["check", "-", "--grid", String(size), "--palette", palette, "--cells"];
  try {
    return JSON.parse(execFileSync(buildoff, args, { input: text, maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "ignore"] }));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}

/** What the browser draws of a text that comes in pieces. */
function drawn(pieces, size, palette) {
  const reader = new SpecReader();
  const drawing = new Rasterizer(size, finders[palette]);
  for (const piece of pieces) {
    drawing.add(reader.feed(piece));
    drawing.draw();
  }
  return { cells: cellsOf(drawing), drawing, reader };
}

function cellsOf({ cells, dims, span }) {
  const found = [];
  for (const [x, y, z] of inside(span)) {
    const block = cells[((y + 1) * dims[2] + z + 1) * dims[0] + x + 1];
    if (block) found.push([x, y, z, blocks[block - 1].id]);
  }
  return found;
}

/** Pieces of a text, as a model's answer comes. */
function torn(text, random) {
  const pieces = [];
  for (let at = 0; at < text.length; ) {
    const length = random() < 0.1 ? 1 + Math.floor(random() * 4000) : 1 + Math.floor(random() * 12);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function same(text, size, palette, random) {
  const expected = checked(text, size, palette);
  assert.ok(expected.cells, `${expected.error?.message}: ${text.slice(0, 200)}`);
  for (const pieces of [[text], torn(text, random)]) {
    assert.deepEqual(drawn(pieces, size, palette).cells, expected.cells);
  }
}

for (const file of [
  "crates/voxel/tests/data/homestead.json",
  "crates/voxel/tests/data/grids/boxes.json",
  "crates/voxel/tests/data/grids/noise.json",
  "builds/32-simple/steam-locomotive/reference_architect.json",
  "builds/32-simple/treehouse/reference_architect.json",
  "builds/32-simple/lighthouse/reference_architect.json",
]) {
  test(`${file} is drawn as the program draws it`, () => {
    same(readFileSync(new URL(file, root), "utf8"), 32, "simple", chance(file.length));
    same(readFileSync(new URL(file, root), "utf8"), 64, "advanced", chance(file.length));
  });
}

test("random specs, in and around the grid, are drawn alike, whatever the order of their lists", () => {
  const random = chance(11);
  for (let round = 0; round < 25; round++) {
    const size = random() < 0.8 ? 32 : 64;
    same(randomText(random, size), size, random() < 0.5 ? "simple" : "advanced", random);
  }
});

function randomText(random, size) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const number = () => {
    const kind = random();
    if (kind < 0.8) return Math.floor(random() * size);
    if (kind < 0.95) return Math.floor((random() - 0.5) * 4 * size);
    return pick(["1e18", "-9223372036854775808", "9223372036854775807", "12.0", "-3.0e1", "2000001", "-1500000", "-0"]);
  };
  const names = ["stone", "minecraft:oak_planks", " Oak-Planks ", "glass", "Gold Block", "planks", "snow_block", "log[axis=x]", "air", "obsidian", "no such"];
  const point = (suffix = "") => ["x", "y", "z"].map((axis) => `"${axis}${suffix}": ${number()}`).join(", ");
  const entries = (of) => Array.from({ length: Math.floor(random() * 14) }, of).join(",\n  ");
  const type = () => `"type": ${JSON.stringify(pick(names))}`;
  const lists = [
    `"boxes": [${entries(() => `{${point(1)}, "note": {"x1": [1, {"boxes": []}]}, ${type()}, ${point(2)}}`)}]`,
    `"lines": [${entries(() => `{"from": {${point()}}, ${type()}, "to": {${point()}, "w": null}}`)}]`,
    `"blocks":[${entries(() => `{ ${type()} ,${point()} , "x": ${number()}}`)}]`,
    `"notes": ["a \\"quoted\\" { brace", {"deep": [true, false, 1.5e-3]}]`,
    '"version": "1.0"',
  ];
  lists.sort(() => random() - 0.5);
  return `{\n${lists.join(",\n")}}`;
}

const FEW = '{"version":"1.0","boxes":[{"x1":0,"y1":0,"z1":0,"x2":9,"y2":0,"z2":0,"type":"stone"}]}';
const MORE =
  '{"version":"1.0","boxes":[{"x1":0,"y1":1,"z1":0,"x2":20,"y2":3,"z2":5,"type":"bricks"}],"blocks":[{"x":3,"y":9,"z":3,"type":"sand"}]}';
const CUT = '{"version":"1.0","boxes":[{"x1":0,"y1":1,"z1":0,"x2":20,"y2":3,"z2":5,"type":"gold_block"},{"x1":';

for (const [what, text] of [
  ["in a code fence", `Here it is, "done":\n\`\`\`json\n${MORE}\n\`\`\`\nEnjoy {it}!`],
  ["behind braces and quotes", `I use {"x": and {" quotes {}, {"a" too: ${MORE} }}`],
  ["in another object", `{"result": {"build": [${MORE}]}, "boxes_note": 1}`],
  ["behind a smaller one", `${FEW} No, better: ${MORE}`],
  ["before a smaller one", `${MORE} or else ${FEW}`],
  ["behind one of the same size", `${FEW.replace("stone", "glass")}${FEW}`],
  ["behind one that broke off", `${CUT} oops, again: ${MORE}`],
  ["around another one", `{"draft": ${MORE}, "boxes": [{"x1":0,"y1":0,"z1":0,"x2":9,"y2":0,"z2":0,"type":"sand"}]}`],
  ["with a list twice", MORE.replace("}]}", '}],"boxes":[{"x1":1,"y1":1,"z1":1,"x2":2,"y2":2,"z2":2,"type":"glass"}]}')],
  ["with blocks before boxes", MORE.replace(/("boxes".*),("blocks".*)}/, "$2,$1}")],
  ["with nothing in it", NOTHING],
]) {
  test(`a spec ${what} is found`, () => same(text, 32, "simple", chance(what.length)));
}

test("what a text shows grows with it", () => {
  const text = readFileSync(new URL("builds/32-simple/steam-locomotive/reference_architect.json", root), "utf8");
  const reader = new SpecReader();
  let entries = 0;
  let steps = 0;
  for (let at = 0; at < text.length; at += 40) {
    const fresh = reader.feed(text.slice(at, at + 40));
    steps += +(fresh.length > 0);
    entries += fresh.length;
    assert.ok(fresh.length < 4, "entries come as they are complete");
  }
  const spec = JSON.parse(text);
  assert.equal(entries, (spec.boxes ?? []).length + (spec.lines ?? []).length + (spec.blocks ?? []).length);
  assert.ok(steps > entries / 4);
});

test("any part of a build can be drawn, forwards and backwards", () => {
  const text = readFileSync(new URL("builds/32-simple/lighthouse/reference_architect.json", root), "utf8");
  const { drawing } = drawn([text], 32, "simple");
  const parts = [];
  const fresh = new Rasterizer(32, finders.simple);
  fresh.add(new SpecReader().feed(text));
  for (let count = 0; count <= fresh.entries; count++) {
    fresh.draw(count);
    parts.push(cellsOf(fresh));
  }
  assert.deepEqual(parts[fresh.entries], cellsOf(drawing));
  const random = chance(4);
  for (let round = 0; round < 60; round++) {
    const count = Math.floor(random() * parts.length);
    drawing.draw(count);
    assert.deepEqual(cellsOf(drawing), parts[count]);
  }
});

test("no text makes the reader throw, run away or draw outside", () => {
  const random = chance(8);
  const seeds = [MORE, FEW, CUT, randomText(random, 32), '{"boxes":[[[{{"\\u12', '{"blocks":{"x":1}}'];
  const marks = [...'{}[]",:\\ue1.-0ntf \n\u0000\ud800é'];
  for (let round = 0; round < 3000; round++) {
    let text = seeds[round % seeds.length] + seeds[Math.floor(random() * seeds.length)];
    for (let change = 0; change < 1 + 4 * random(); change++) {
      const at = Math.floor(random() * text.length);
      text = text.slice(0, at) + marks[Math.floor(random() * marks.length)] + text.slice(at + Math.floor(3 * random()));
    }
    drawn(round % 2 ? [text] : torn(text, random), 32, "simple");
  }
});

test("hostile texts are bounded", () => {
  for (const text of [
    '{"'.repeat(200_000),
    '{"a":'.repeat(200_000),
    "[{".repeat(200_000),
    `{"boxes":[${"[".repeat(200_000)}`,
    `{"${"x".repeat(3_000_000)}`,
    `{"boxes":[{"x1":${"9".repeat(1_000_000)}`,
    '{""} '.repeat(300_000),
  ]) {
    const reader = new SpecReader();
    for (let at = 0; at < text.length; at += 997) assert.deepEqual(reader.feed(text.slice(at, at + 997)), []);
    assert.deepEqual(new SpecReader().feed(text), []);
  }
  const big = `{"boxes":[${Array(40).fill('{"x1":0,"y1":0,"z1":0,"x2":31,"y2":31,"z2":31,"type":"stone"}').join()}]}`;
  const { drawing } = drawn([big], 32, "simple");
  assert.equal(drawing.full, true, "the program refuses it as too much work");
  const far = Array(20_000).fill('{"from":{"x":-9e18,"y":3,"z":3},"to":{"x":9e18,"y":4,"z":9},"type":"stone"}').join();
  drawn([`{"lines":[${far}]}`], 32, "simple");
});

test("names are brought to one spelling", () => {
  for (const [raw, name] of [
    ["stone", "stone"],
    ["minecraft:stone", "stone"],
    [" OAK-LOG ", "oak_log"],
    ["Gold Block", "gold_block"],
    ["oak_log[axis=x]", "oak_log"],
    ["Minecraft:Oak Log [axis=x]", "oak_log"],
    ["stone[oops", "stone[oops"],
    ["stone[a]b", "stone[a]b"],
    ["blac\u212a_wool", "blac\u212a_wool"],
    ["", ""],
  ]) {
    assert.equal(normaliseName(raw), name);
  }
});
