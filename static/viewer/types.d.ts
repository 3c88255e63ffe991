/** Types that several modules of the viewer share. */

/** A decoded grid. */
interface Grid {
  /** Cells along an edge of the whole grid. */
  size: number;
  /** The lowest corner of the bounds. */
  min: number[];
  /** Cells of the bounds along x, y and z; zeros without blocks. */
  span: number[];
  /** `span` with a border of one cell on each side. */
  dims: number[];
  /** Block numbers, x fastest, then z, then y, with a cell of air all around. */
  cells: Uint8Array;
}

/** A block as `blocks.json` has it; its number is its place there, from 1. */
interface Block {
  id: string;
  name: string;
  class: string;
  /** The smallest palette that has it. */
  palette?: string;
  /** Other names that specs use for it. */
  aliases?: string[];
  /** The first tile and the number of variants of top, side and bottom. */
  faces: [number, number][];
}

/** How blocks are drawn, indexed by block number. */
interface BlockKinds {
  /** 0 solid, 1 cutout, 2 liquid, 3 transparent. */
  pass: Uint8Array;
  /** 1 for blocks that hide what is behind them. */
  occludes: Uint8Array;
}

interface QuadMesh {
  /** Two words per quad, ordered by pass and face. */
  data: Uint32Array;
  /** The number of quads of each pass and face. */
  ranges: Uint32Array;
  quads: number;
}

/** The visible faces of one plane in one direction. */
interface FacePlane {
  /** Block, light and a set bit for each face; 0 where there is none. */
  mask: Int32Array;
  /** The indices of `mask` that are set. */
  list: Int32Array;
  count: number;
}

/** The soft shadow where a build meets the ground: a byte for each cell of its footprint and of a margin around it. */
interface ContactShadow {
  data: Uint8Array;
  width: number;
  depth: number;
  margin: number;
}

/** How light it is in each cell of a box, x fastest, then z, then y. */
interface Glow extends Box {
  data: Uint8Array;
  /** Whether any block glows. */
  lit: boolean;
}

interface Textures {
  blocks: Block[];
  /** How many tiles there are. */
  tiles: number;
  /** Their texels, level by level. */
  levels: Uint8Array[];
}

interface Box {
  min: ArrayLike<number>;
  span: ArrayLike<number>;
}

/** A box (0), line (1) or block (2) of a spec, as it was written. */
interface SpecEntry {
  list: number;
  at: (number | bigint)[];
  type: string;
}

/** An entry that was read, or the lists whose earlier entries are void. */
type SpecEvent = SpecEntry | { drop: number[] };

/** Messages from the page to the worker. */
type WorkerRequest =
  | { type: "blocks"; blocks: Block[] }
  | { type: "open"; id: number; src: string }
  | { type: "cut"; id: number; top: number }
  | { type: "pick"; id: number; from: number[]; along: number[] }
  | ({ type: "call" } & ModuleCall)
  | { type: "close"; id: number };

/** A call of `handle` of a module that the worker loads on first use. */
interface ModuleCall {
  id: number;
  token: number;
  module: string;
  args: any;
}

/** The worker's state of a build. */
interface WorkerBuild {
  aborter: AbortController;
  grid?: Grid;
  /** How many layers are shown, from the bottom. */
  top: number;
  /** Further fields for every mesh message. */
  extra?: (grid: Grid, top: number) => object;
  /** State of the modules that are loaded on demand. */
  drawing?: any;
}

/** What a module that is loaded on demand gets from the worker. */
interface WorkerContext {
  blocks: Block[];
  kinds: BlockKinds;
  /** Meshes the build again and sends it, with a new contact shadow where asked, and as a new build where `fresh`. */
  sendMesh(foot?: boolean, fresh?: boolean): void;
}

/** Messages from the worker to the page. A total of 0 is unknown; block 0 is air. */
type WorkerResponse = { id: number } & (
  | { type: "progress"; bytes: number; total: number }
  | ({ type: "mesh" } & Meshed)
  | { type: "pick"; block: number }
  | { type: "call"; token: number; result?: any; error?: string }
  | { type: "error"; message: string }
);

interface Meshed {
  min: number[];
  span: number[];
  mesh: QuadMesh;
  /** Only where it has changed. */
  contact?: ContactShadow;
  /** Only at night. */
  glow?: Glow;
  /** Only for a new grid: when its bytes had arrived, and how many milliseconds each step took. */
  times?: { arrived: number; decode: number; mesh: number };
}

interface BuildListener {
  progress(bytes: number, total: number): void;
  meshed(meshed: Meshed): void;
  picked(block: number): void;
  failed(message: string): void;
}

interface ViewListener {
  progress(bytes: number, total: number): void;
  ready(stats: Stats): void;
  /** The block under the pointer, or "". */
  pointed(name: string): void;
  failed(message: string): void;
  /** The visitor turns, zooms or moves it. */
  used(): void;
}

interface Stats {
  frames: number;
  /** In the last frame. */
  drawCalls: number;
  quads: number;
  decodeMs: number;
  meshMs: number;
  /** Milliseconds from the arrival of the bytes. */
  firstFrameMs: number;
}

type GL = WebGL2RenderingContext;
type Program = { program: WebGLProgram; uniforms: Record<string, WebGLUniformLocation | null> };
