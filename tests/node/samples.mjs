/** What the tests of the viewer share: blocks, samples and chance that repeats itself. */
import { readFileSync, readdirSync } from "node:fs";
import { kindsOf } from "../../static/viewer/mesher.js";

const root = new URL("../../", import.meta.url);
const grids = new URL("crates/voxel/tests/data/grids/", root);

export const blocks = ["simple", "advanced"].flatMap((palette) => {
  const text = readFileSync(new URL(`palettes/${palette}.toml`, root), "utf8");
  return text.split("[[block]]").slice(1).map((entry) => ({
    id: entry.match(/^id = "(.*)"/m)[1],
    class: entry.match(/^class = "(.*)"/m)[1],
    palette,
    aliases: JSON.parse(entry.match(/^aliases = (.*)$/m)?.[1] ?? "[]"),
  }));
});
export const numbers = new Map(blocks.map((block, index) => [block.id, index + 1]));
export const kinds = kindsOf(blocks);

/** Every grid that the server's code encoded, with the spec it was made from. */
export const samples = readdirSync(grids).filter((file) => file.endsWith(".grid")).map((file) => ({
  name: file,
  bytes: new Uint8Array(readFileSync(new URL(file, grids))),
  spec: JSON.parse(readFileSync(new URL(file.replace(/grid$/, "json"), grids), "utf8")),
}));

/** Numbers from 0 to 1, the same in every run. */
export function chance(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

/** A grid of random cells, all of it inside a border of air. */
export function randomGrid(random, span, palette) {
  const dims = span.map((cells) => cells + 2);
  const cells = new Uint8Array(dims[0] * dims[1] * dims[2]);
  const min = span.map((cells) => Math.floor(random() * (256 - cells)));
  const grid = { size: 256, min, span, dims, cells };
  for (const [x, y, z] of inside(span)) {
    cells[index(grid, x, y, z)] = random() < 0.5 ? 0 : palette[Math.floor(random() * palette.length)];
  }
  return grid;
}

export function index({ dims }, x, y, z) {
  return ((y + 1) * dims[2] + z + 1) * dims[0] + x + 1;
}

export function* inside([width, height, depth]) {
  for (let y = 0; y < height; y++) for (let z = 0; z < depth; z++) for (let x = 0; x < width; x++) yield [x, y, z];
}
