/** What passes between the modules of the viewer. */

/** A decoded grid. */
interface Grid {
  /** Cells along an edge of the whole grid. */
  size: number;
  /** The lowest corner of the bounds. */
  min: number[];
  /** Cells of the bounds along x, y and z; zeros without blocks. */
  span: number[];
  /** The same with the border of air. */
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
  /** What else models call it. */
  aliases?: string[];
  /** The first tile and the number of variants of top, side and bottom. */
  faces: [number, number][];
}

/** How blocks are drawn, by number. */
interface BlockKinds {
  /** 0 solid, 1 cutout, 2 liquid, 3 transparent. */
  pass: Uint8Array;
  /** 1 for those that hide what is behind. */
  occludes: Uint8Array;
}

interface QuadMesh {
  /** Two words a quad, pass by pass and face by face. */
  data: Uint32Array;
  /** Quads of each pass and face. */
  ranges: Uint32Array;
  quads: number;
}

/** The faces of one plane that look one way. */
interface FacePlane {
  /** Block, light and a mark; 0 where there is no face. */
  mask: Int32Array;
  /** The places in the mask that are set. */
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

/** What a text that is being read brings: an entry, or that the entries of some lists no longer count. */
type SpecEvent = SpecEntry | { drop: number[] };

/** What the page asks of the worker. */
type WorkerRequest =
  | { type: "blocks"; blocks: Block[] }
  | { type: "open"; id: number; src: string }
  | { type: "cut"; id: number; top: number }
  | { type: "pick"; id: number; from: number[]; along: number[] }
  | ({ type: "call" } & ModuleCall)
  | { type: "close"; id: number };

/** For a module that the worker loads when it is first asked for. */
interface ModuleCall {
  id: number;
  token: number;
  module: string;
  args: any;
}

/** A build in the worker. */
interface WorkerBuild {
  aborter: AbortController;
  grid?: Grid;
  /** Layers that are shown. */
  top: number;
  /** What else goes with every mesh. */
  extra?: (grid: Grid, top: number) => object;
  /** What modules that were loaded later keep of it. */
  drawing?: any;
}

/** What the worker gives to a module it loads later. */
interface WorkerContext {
  blocks: Block[];
  kinds: BlockKinds;
  /** Meshes the build again and sends it; with its foot, and as another one than before. */
  sendMesh(foot?: boolean, fresh?: boolean): void;
}

/** What the worker answers. A total of 0 is not known; block 0 is air. */
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
  /** Where that is not as it was. */
  contact?: ContactShadow;
  /** Where the light of glowing blocks was asked for. */
  glow?: Glow;
  /** With a new grid only: when its bytes were there, then milliseconds. */
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
  /** Somebody turns, zooms or moves it. */
  used(): void;
}

interface Stats {
  frames: number;
  /** Of the last frame. */
  drawCalls: number;
  quads: number;
  decodeMs: number;
  meshMs: number;
  /** From the arrival of the bytes. */
  firstFrameMs: number;
}

type GL = WebGL2RenderingContext;
type Program = { program: WebGLProgram; uniforms: Record<string, WebGLUniformLocation | null> };
