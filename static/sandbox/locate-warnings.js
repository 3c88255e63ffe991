/** Finds the entries of a text that the server's warnings are about. The server only counts them; the editor needs their places. */
import { blockLookup, normaliseName } from "../viewer/rasterizer.js";
import { SpecReader } from "../viewer/spec.js";

/** More warnings than this are only counted. */
export const MAX_LISTED = 200;
/** Longer texts are not searched, which would block the page. */
const MAX_TEXT_LENGTH = 1 << 23;

/**
 * @typedef {object} LocatedWarning
 * @property {number} from where the entry begins; of a nested entry, where its last object begins
 * @property {number} to
 * @property {string} message
 */

/**
 * Entries that reach outside the grid, or name an unknown block.
 * @param {string} text @param {Block[]} blocks @param {string} palette @param {number} size
 * @returns {LocatedWarning[]}
 */
export function locateWarnings(text, blocks, palette, size) {
  if (text.length > MAX_TEXT_LENGTH) return [];
  const reader = new SpecReader();
  const find = blockLookup(blocks, palette);
  /** @type {(LocatedWarning & { list: number })[]} */
  let found = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("}", from) + 1 || text.length;
    for (const event of reader.feed(text.slice(from, end))) {
      if ("drop" in event) found = found.filter(({ list }) => !event.drop.includes(list));
      else {
        const message = outsideMessage(event, find(event.type), size) ?? unknownBlockMessage(event.type, blocks, palette);
        const begins = Math.max(from, text.lastIndexOf("{", end));
        if (message) found.push({ list: event.list, from: begins, to: end, message });
      }
    }
    from = end;
  }
  return found;
}

/** Undefined where the block is unknown, which is the other warning; empty where the entry is within the grid. @param {SpecEntry} entry @param {number} block @param {number} size */
function outsideMessage({ at }, block, size) {
  if (!block) return undefined;
  const outside = at.some((number) => number < 0 || number >= size);
  return outside ? `Reaches outside the grid, which goes from 0 to ${size - 1}.` : "";
}

/** @param {string} type @param {Block[]} blocks @param {string} palette */
function unknownBlockMessage(type, blocks, palette) {
  const near = closestBlock(normaliseName(type), blocks.filter((block) => palette === "advanced" || block.palette === palette));
  return `There is no block “${type.slice(0, 60)}” in this palette.${near ? ` Did you mean “${near}”?` : ""}`;
}

/** The known block that is most like a name: one contains the other, or they have words in common. @param {string} name @param {Block[]} blocks */
function closestBlock(name, blocks) {
  const words = name.split("_").filter((word) => word.length > 2 && word !== "block");
  const likeness = (/** @type {string} */ id) =>
    (id.includes(name) || name.includes(id) ? 2 : 0) + id.split("_").filter((word) => words.includes(word)).length;
  const [best] = blocks.map(({ id }) => ({ id, is: likeness(id) })).sort((one, other) => other.is - one.is || one.id.length - other.id.length);
  return best?.is ? best.id : "";
}
