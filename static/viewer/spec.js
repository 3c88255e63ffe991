/**
 * Reads a spec from a text that is still being written, and reports each box, line and block as soon as it is complete.
 * The spec may be surrounded by prose.
 *
 * Where a text contains several specs, the one with the most entries counts, and of equals the last, as on the server:
 * the entries of a later one are held back until they are as many as those of the best so far. Where a `{` turns out not
 * to begin JSON, the search goes on right behind it. A spec that the server would refuse is still shown as far as
 * possible.
 */

export const LISTS = ["boxes", "lines", "blocks"];
const FIELDS = [["x1", "y1", "z1", "x2", "y2", "z2"], [], ["x", "y", "z"]];
const AXES = ["x", "y", "z"];

const MAX_ENTRIES = 1_000_000;
const MAX_TEXT = 1 << 28;
const MAX_DEPTH = 32;
/** Bytes of a block's name. */
const MAX_NAME_BYTES = 256;
const MAX_TOKEN = 4096;
/** How much of an open object is kept, to be searched again where it turns out not to be JSON. */
const MAX_KEPT = 1 << 16;
/** Characters that may be read again, beside four for each that was read: keeps hostile texts linear. */
const RESCAN_ALLOWANCE = 1 << 20;

/** The states of the reader. */
const [PROSE, OPENED, KEY_OR_END, KEY, COLON, VALUE, VALUE_OR_END, COMMA_OR_END, STRING, ESCAPE, UNICODE, NUMBER, LITERAL] =
  Array.from({ length: 13 }, (_, state) => state);
/** The role of an open object or list: it may be a spec or contain one, or is a list of entries, an entry, an end of a line, or skipped. */
const [SEARCHABLE, LIST, ENTRY, POINT, SKIPPED] = [0, 1, 2, 3, 4];

const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

class Container {
  key = "";
  /** For lists and entries: the index of the list. */
  list = -1;
  /** For entries: the coordinates. @type {(number | bigint | undefined)[]} */
  at = [];
  /** For entries: the block's name. @type {string | undefined} */
  type;
  /** For ends of lines: the index of its x in the entry's coordinates. */
  first = 0;
  /** For specs: the lists so far, a bit each. */
  lists = 0;
  /** Whether the server would refuse the spec. */
  bad = false;

  /** @param {number} role @param {boolean} isList @param {number} best the most entries of a spec before it */
  constructor(role, isList, best) {
    this.role = role;
    this.isList = isList;
    this.best = best;
  }
}

export class SpecReader {
  /** Entries of the best spec so far, by list. */
  counts = [0, 0, 0];
  /** Whether entries were dropped because there are too many. */
  full = false;
  #state = PROSE;
  /** @type {Container[]} */
  #stack = [];
  #token = "";
  #isKey = false;
  #collects = false;
  #hex = "";
  /** The spec that is being read. @type {Container | undefined} */
  #spec;
  /** The number of entries of the best finished spec. */
  #best = 0;
  /** Entries held back until they are as many as that; undefined while entries are reported directly. @type {SpecEvent[] | undefined} */
  #held;
  #heldEntries = 0;
  /** The text since the outermost open brace; undefined where it is too long to be searched again. @type {string | undefined} */
  #kept;
  #length = 0;
  #rescanBudget = RESCAN_ALLOWANCE;
  /** @type {SpecEvent[]} */
  #events = [];

  /**
   * Reads the next part of the text.
   * @param {string} chunk
   * @returns {SpecEvent[]} the events that it completed, in order
   */
  feed(chunk) {
    this.#events = [];
    if (this.#length > MAX_TEXT) return [];
    this.#length += chunk.length;
    this.#rescanBudget += 4 * chunk.length;
    let text = chunk;
    let start = 0;
    for (let at = 0; at < text.length; ) {
      if (this.#state === PROSE) {
        start = text.indexOf("{", at);
        if (start < 0) break;
        at = start + 1;
        this.#state = OPENED;
        this.#kept = "";
        continue;
      }
      const next = this.#step(text, at);
      if (next >= 0) {
        at = next;
        continue;
      }
      const kept = this.#kept;
      this.#abandon();
      if (kept === undefined || at - start > MAX_KEPT) continue;
      this.#rescanBudget -= at - start + (kept ? kept.length + text.length : 0);
      if (this.#rescanBudget < 0) continue;
      if (kept) text = kept + text;
      at = kept ? 1 : start + 1;
    }
    if (this.#state !== PROSE && this.#kept !== undefined) {
      this.#kept += text.slice(start);
      if (this.#kept.length > MAX_KEPT) this.#kept = undefined;
    }
    return this.#events;
  }

  /** Reads from an offset; returns the next offset, or -1 where the text is not JSON. @param {string} text @param {number} at */
  #step(text, at) {
    const code = text.charCodeAt(at);
    switch (this.#state) {
      case STRING:
        return this.#readString(text, at);
      case ESCAPE:
        return this.#escape(text[at]) ? at + 1 : -1;
      case UNICODE:
        this.#hex += text[at];
        if (!/^[0-9a-fA-F]+$/.test(this.#hex)) return -1;
        if (this.#hex.length === 4) {
          this.#collect(String.fromCharCode(parseInt(this.#hex, 16)));
          this.#state = STRING;
        }
        return at + 1;
      case NUMBER:
        if ((code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || (code | 32) === 101) {
          this.#collect(text[at]);
          return at + 1;
        }
        return JSON_NUMBER.test(this.#token) && this.#value(parseInteger(this.#token)) ? at : -1;
      case LITERAL:
        if (code >= 97 && code <= 122 && this.#token.length < 6) {
          this.#token += text[at];
          return at + 1;
        }
        return ["true", "false", "null"].includes(this.#token) && this.#value(undefined) ? at : -1;
    }
    if (code === 32 || code === 10 || code === 13 || code === 9) return at + 1;
    return this.#punctuation(text[at]) ? at + 1 : -1;
  }

  /** @param {string} mark a character outside strings, numbers and literals @returns {boolean} */
  #punctuation(mark) {
    const state = this.#state;
    const frame = this.#stack[this.#stack.length - 1];
    if (state === OPENED && (mark === '"' || mark === "}")) {
      this.#open("{");
      return this.#punctuation(mark);
    }
    if (state === COLON) {
      this.#state = VALUE;
      return mark === ":";
    }
    if (state === COMMA_OR_END && mark === ",") {
      this.#state = frame.isList ? VALUE : KEY;
      return true;
    }
    if (state === KEY || state === KEY_OR_END || state === COMMA_OR_END || state === VALUE_OR_END) {
      const isEnd = mark === (frame.isList ? "]" : "}");
      if (isEnd && state !== KEY) return this.#close();
      if (state === COMMA_OR_END) return false;
      if (state !== VALUE_OR_END) {
        this.#beginToken(STRING, "", true);
        return mark === '"';
      }
    }
    if (state === OPENED) return false;
    if (mark === "{" || mark === "[") return this.#open(mark);
    if (mark === '"') this.#beginToken(STRING, "", false);
    else if (/[-\d]/.test(mark)) this.#beginToken(NUMBER, mark, false);
    else if (/[a-z]/.test(mark)) this.#beginToken(LITERAL, mark, false);
    else return false;
    return true;
  }

  /** @param {number} state @param {string} word @param {boolean} isKey */
  #beginToken(state, word, isKey) {
    const frame = this.#stack[this.#stack.length - 1];
    this.#state = state;
    this.#token = word;
    this.#isKey = isKey;
    this.#collects = state !== STRING || isKey || (frame.role !== SKIPPED && (frame.key === "type" || frame.key === "version"));
  }

  /** @param {string} text */
  #collect(text) {
    if (this.#collects && this.#token.length < MAX_TOKEN) this.#token += text;
  }

  /** @param {string} text @param {number} at */
  #readString(text, at) {
    let end = at;
    let code = 0;
    for (; end < text.length; end++) {
      code = text.charCodeAt(end);
      if (code === QUOTE || code === BACKSLASH || code < 32) break;
    }
    if (end > at) this.#collect(text.slice(at, end));
    if (end === text.length) return end;
    if (code === BACKSLASH) this.#state = ESCAPE;
    else if (code !== QUOTE) return -1;
    else if (!this.#isKey) this.#value(this.#token);
    else {
      this.#stack[this.#stack.length - 1].key = this.#token;
      this.#state = COLON;
    }
    return end + 1;
  }

  /** @param {string} letter */
  #escape(letter) {
    this.#state = letter === "u" ? UNICODE : STRING;
    this.#hex = "";
    if (letter === "u") return true;
    const meant = ESCAPES[/** @type {keyof typeof ESCAPES} */ (letter)];
    if (meant) this.#collect(meant);
    return meant !== undefined;
  }

  /** @param {string} mark */
  #open(mark) {
    const parent = this.#stack[this.#stack.length - 1];
    const isList = mark === "[";
    const frame = new Container(this.#role(parent, isList), isList, this.#best);
    if (frame.role === LIST) {
      frame.list = LISTS.indexOf(parent.key);
      this.#beginList(parent, frame.list);
    } else if (frame.role === ENTRY) {
      frame.list = parent.list;
      frame.at = new Array(frame.list === 2 ? 3 : 6).fill(undefined);
    } else if (frame.role === POINT) {
      frame.first = parent.key === "to" ? 3 : 0;
      parent.at.fill(undefined, frame.first, frame.first + 3);
    } else if (parent) this.#rejectContainer(parent);
    this.#stack.push(frame);
    this.#state = isList ? VALUE_OR_END : KEY_OR_END;
    return this.#stack.length <= MAX_DEPTH;
  }

  /** @param {Container | undefined} parent @param {boolean} isList */
  #role(parent, isList) {
    if (!parent) return SEARCHABLE;
    if (parent.role === SEARCHABLE && !parent.isList && LISTS.includes(parent.key) && (!this.#spec || this.#spec === parent)) {
      return isList ? LIST : SKIPPED;
    }
    if (parent.role === SEARCHABLE && !this.#spec) return SEARCHABLE;
    if (parent.role === LIST && !isList) return ENTRY;
    if (parent.role === ENTRY && parent.list === 1 && !isList && /^(from|to)$/.test(parent.key)) return POINT;
    return SKIPPED;
  }

  /** A list or object where a value is expected makes the entry or the spec invalid. @param {Container} parent */
  #rejectContainer(parent) {
    if (parent.role === ENTRY || parent.role === POINT) this.#setField(parent, undefined);
    else if (parent.role === LIST) this.#markBad();
    else parent.bad ||= parent.role === SEARCHABLE && [...LISTS, "version"].includes(parent.key);
  }

  /** @param {Container} spec @param {number} list */
  #beginList(spec, list) {
    if (!this.#spec) {
      this.#spec = spec;
      // An object that was taken for a spec before may lie within this one, and does not count then.
      this.#best = spec.best;
      this.#held = this.#best > 0 ? [] : undefined;
      this.#heldEntries = 0;
      if (!this.#held) this.#drop([0, 1, 2]);
    } else if (spec.lists & (1 << list)) this.#drop([list]);
    spec.lists |= 1 << list;
  }

  /** @param {number[]} lists */
  #drop(lists) {
    if (this.#held) {
      this.#held = this.#held.filter((event) => "at" in event && !lists.includes(event.list));
      this.#heldEntries = this.#held.length;
    } else if (lists.some((list) => this.counts[list])) {
      this.#events.push({ drop: lists });
      for (const list of lists) this.counts[list] = 0;
    }
  }

  #markBad() {
    if (this.#spec) this.#spec.bad = true;
  }

  #close() {
    const frame = /** @type {Container} */ (this.#stack.pop());
    if (frame.role === ENTRY) this.#entry(frame);
    if (frame === this.#spec) {
      const entries = this.#held ? this.#heldEntries : this.counts[0] + this.counts[1] + this.counts[2];
      if (!this.#held) this.#best = frame.bad ? 0 : entries;
      this.#spec = this.#held = undefined;
    }
    this.#state = this.#stack.length ? COMMA_OR_END : PROSE;
    return true;
  }

  /** @param {Container} frame */
  #entry({ list, at, type }) {
    const given = /** @type {(number | bigint)[]} */ (at);
    if (type === undefined || at.includes(undefined)) return this.#markBad();
    if (this.#held) {
      if (this.#held.length < MAX_ENTRIES) this.#held.push({ list, at: given, type });
      this.#heldEntries++;
      if (this.#heldEntries < this.#best) return;
      const held = this.#held;
      this.#held = undefined;
      this.#drop([0, 1, 2]);
      for (const event of held) if ("at" in event) this.#emit(event);
    } else this.#emit({ list, at: given, type });
  }

  /** @param {SpecEntry} entry */
  #emit(entry) {
    this.full ||= this.counts[0] + this.counts[1] + this.counts[2] >= MAX_ENTRIES;
    if (this.full) return;
    this.counts[entry.list]++;
    this.#events.push(entry);
  }

  /** A complete value: a string, a whole number, or undefined for anything else. @param {string | number | bigint | undefined} value */
  #value(value) {
    const frame = this.#stack[this.#stack.length - 1];
    this.#state = COMMA_OR_END;
    if (frame.role === ENTRY || frame.role === POINT) this.#setField(frame, value);
    else if (frame.role === LIST) this.#markBad();
    else if (frame.role === SEARCHABLE && !frame.isList && LISTS.includes(frame.key)) frame.bad = true;
    else if (frame.role === SEARCHABLE && frame.key === "version") frame.bad ||= value !== "1.0";
    return true;
  }

  /** @param {Container} frame @param {string | number | bigint | undefined} value */
  #setField(frame, value) {
    const number = typeof value === "string" ? undefined : value;
    if (frame.role === POINT) {
      const axis = AXES.indexOf(frame.key);
      if (axis >= 0) this.#stack[this.#stack.length - 2].at[frame.first + axis] = number;
      return;
    }
    const field = FIELDS[frame.list].indexOf(frame.key);
    if (field >= 0) frame.at[field] = number;
    else if (frame.key === "type") frame.type = typeof value === "string" && isBlockName(value) ? value : undefined;
    else if (frame.list === 1 && /^(from|to)$/.test(frame.key)) frame.at[frame.key === "to" ? 3 : 0] = undefined;
  }

  /** The text was not JSON: forgets the open objects. */
  #abandon() {
    if (this.#spec && !this.#held) this.#best = 0;
    this.#spec = this.#held = this.#kept = undefined;
    this.#stack = [];
    this.#state = PROSE;
  }
}

/** @param {string} name */
function isBlockName(name) {
  return !LONE_SURROGATE.test(name) && name.length <= MAX_NAME_BYTES && new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** @param {string} text of a number @returns {number | bigint | undefined} undefined where it is not whole, or beyond 64 bits */
function parseInteger(text) {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number || 0;
  if (!Number.isInteger(number) || Math.abs(number) > 2 ** 63) return undefined;
  const exact = BigInt(/[.eE]/.test(text) ? number : text);
  return BigInt.asIntN(64, exact) === exact ? exact : undefined;
}
