/** Finds what in a text the server warns of, so that it can be shown at its place. */
import { finder } from "../viewer/drawing.js";
import { SpecReader } from "../viewer/spec.js";

/** No more are listed one by one. */
export const MOST = 200;
/** A longer text is not searched. */
const LONGEST = 1 << 23;

/**
 * @typedef {object} Fault
 * @property {number} from where the entry ends and begins, at least its last part
 * @property {number} to
 * @property {string} message
 */

/**
 * What lies outside the grid, or is of no known block.
 * @param {string} text @param {Block[]} blocks @param {string} palette @param {number} size
 * @returns {Fault[]}
 */
export function faults(text, blocks, palette, size) {
  if (text.length > LONGEST) return [];
  const reader = new SpecReader();
  const find = finder(blocks, palette);
  /** @type {(Fault & { list: number })[]} */
  let found = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("}", from) + 1 || text.length;
    for (const event of reader.feed(text.slice(from, end))) {
      if ("drop" in event) found = found.filter(({ list }) => !event.drop.includes(list));
      else {
        const message = fault(event, find(event.type), size);
        const begins = Math.max(from, text.lastIndexOf("{", end));
        if (message) found.push({ list: event.list, from: begins, to: end, message });
      }
    }
    from = end;
  }
  return found;
}

/** @param {SpecEntry} entry @param {number} block @param {number} size */
function fault({ at, type }, block, size) {
  if (!block) return `There is no block “${type.slice(0, 60)}” in this palette.`;
  const outside = at.some((number) => number < 0 || number >= size);
  return outside ? `It reaches outside the grid, which goes from 0 to ${size - 1}.` : "";
}
