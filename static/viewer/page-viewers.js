/**
 * Coordinates the viewers of a page. Browsers limit the number of WebGL contexts, so at most four viewers draw, and the
 * least recently used one makes room. Viewers of a pair share a camera until they are unlinked.
 */
import { Camera } from "./camera.js";

const MAX_LIVE = 4;

/** The viewers that draw, the least recently used first. @type {{ showPoster: () => void }[]} */
const live = [];

export function hasCapacity() {
  return live.length < MAX_LIVE;
}

/** A viewer starts to draw, or was just used. @param {{ showPoster: () => void }} viewer */
export function markUsed(viewer) {
  release(viewer);
  live.push(viewer);
  while (live.length > MAX_LIVE) live[0].showPoster();
}

/** @param {{ showPoster: () => void }} viewer */
export function release(viewer) {
  const index = live.indexOf(viewer);
  if (index >= 0) live.splice(index, 1);
}

/**
 * @typedef {object} Member
 * @property {Camera} camera
 * @property {() => void} sync updates its controls
 */

export class Pair {
  linked = true;
  camera = new Camera();
  /** @type {Set<Member>} */
  members = new Set();

  /** @param {Member} member */
  join(member) {
    this.members.add(member);
    member.camera = this.linked ? this.camera : this.camera.clone();
  }

  /** Links all members to one's camera, or gives each its own. @param {Member} member */
  toggle(member) {
    this.linked = !this.linked;
    this.camera = member.camera;
    for (const other of this.members) {
      if (other !== member) other.camera = this.linked ? this.camera : this.camera.clone();
      other.sync();
    }
    member.sync();
  }

  sync() {
    for (const member of this.members) member.sync();
  }
}

/** @type {Map<string, Pair>} */
const pairs = new Map();

/** @param {string | null} name */
export function getPair(name) {
  if (name === null) return new Pair();
  const pair = pairs.get(name) ?? new Pair();
  pairs.set(name, pair);
  return pair;
}
