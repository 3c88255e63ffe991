/** Loads the tiles and the table of blocks, once per page. */

const EDGE = 16;

/** @type {Map<string, Promise<Textures>>} */
const loaded = new Map();

/** @param {string} base @returns {Promise<Textures>} */
export function loadTextures(base) {
  let textures = loaded.get(base);
  if (!textures) {
    textures = load(base);
    textures.catch(() => loaded.delete(base));
    loaded.set(base, textures);
  }
  return textures;
}

/** @param {string} base @returns {Promise<Textures>} */
async function load(base) {
  const [blocks, tiles] = await Promise.all([
    fetchOk(`${base}/blocks.json`).then((response) => response.json()),
    fetchOk(`${base}/tiles.bin`).then((response) => response.arrayBuffer()),
  ]);
  const bytes = new Uint8Array(tiles);
  return { blocks, tiles: bytes.length / (4 * EDGE * EDGE), levels: mipmaps(bytes, cutouts(blocks)) };
}

/** @param {string} url */
async function fetchOk(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error("The textures could not be loaded.");
  return response;
}

/** The tiles of blocks with holes. @param {Block[]} blocks */
function cutouts(blocks) {
  const found = new Set();
  for (const { faces } of blocks.filter((block) => block.class === "cutout")) {
    for (const [first, variants] of faces) for (let n = 0; n < variants; n++) found.add(first + n);
  }
  return found;
}

/**
 * The mipmaps of all tiles, averaged in linear light and weighted by alpha.
 * @param {Uint8Array} tiles @param {Set<number>} holed
 */
function mipmaps(tiles, holed) {
  const levels = [tiles];
  for (let edge = EDGE / 2; edge >= 1; edge /= 2) {
    const from = levels[levels.length - 1];
    const to = new Uint8Array(from.length / 4);
    for (let at = 0; at < to.length; at += 4) {
      const column = (at / 4) % edge;
      const corner = 4 * at - 8 * column;
      average(from, [corner, corner + 4, corner + 8 * edge, corner + 8 * edge + 4], to, at);
    }
    for (const tile of holed) keepCoverage(tiles, to, tile, edge * edge);
    levels.push(to);
  }
  return levels;
}

/** Averages four texels. @param {Uint8Array} from @param {number[]} corners @param {Uint8Array} to @param {number} at */
function average(from, corners, to, at) {
  const alpha = corners.reduce((sum, corner) => sum + from[corner + 3], 0);
  for (let channel = 0; channel < 3; channel++) {
    let light = 0;
    for (const corner of corners) light += (from[corner + channel] / 255) ** 2.2 * (alpha ? from[corner + 3] / alpha : 0.25);
    to[at + channel] = Math.round(255 * light ** (1 / 2.2));
  }
  to[at + 3] = Math.round(alpha / 4);
}

/**
 * Scales a tile's alpha so that the level keeps the share of opaque texels; leaves would thin out with distance otherwise.
 * @param {Uint8Array} tiles @param {Uint8Array} level @param {number} tile @param {number} texels
 */
function keepCoverage(tiles, level, tile, texels) {
  const alphas = (/** @type {Uint8Array} */ from, /** @type {number} */ count) => {
    return Uint8Array.from({ length: count }, (_, n) => from[4 * (tile * count + n) + 3]);
  };
  const share = alphas(tiles, EDGE * EDGE).filter((alpha) => alpha > 127).length / (EDGE * EDGE);
  const sorted = alphas(level, texels).sort();
  const least = Math.max(1, sorted[Math.min(texels - 1, Math.round((1 - share) * texels))]);
  for (let at = 4 * tile * texels + 3; at < 4 * (tile + 1) * texels; at += 4) level[at] = Math.min(255, (level[at] * 140) / least);
}
