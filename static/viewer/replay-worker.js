/** In the worker: a spec, drawn entry by entry in the place of its finished build. */
import { Rasterizer, blockLookup } from "./rasterizer.js";
import { SpecReader } from "./spec.js";

/**
 * @typedef {{ finished: Grid, top: number, reader: SpecReader, drawing: Rasterizer, text: TextDecoder }} WorkerReplay
 *
 * What can be asked: to `read` bytes of the spec, to `show` so many of its entries, to be `over`.
 * @param {WorkerBuild & { drawing?: WorkerReplay }} build
 * @param {{ read?: Uint8Array, size?: number, palette?: string, show?: number, over?: boolean }} what
 * @param {WorkerContext} bench
 */
export function handle(build, what, bench) {
  if (what.read) {
    build.drawing ??= startReplay(build, what.size ?? 32, what.palette ?? "simple", bench);
    const { reader, drawing, text } = build.drawing;
    drawing.add(reader.feed(text.decode(what.read, { stream: true })));
    return { entries: drawing.entries };
  }
  if (!build.drawing) return undefined;
  const { finished, top, drawing } = build.drawing;
  if (what.over) {
    build.drawing = undefined;
    [build.grid, build.top] = [finished, top];
    bench.sendMesh(true);
    return undefined;
  }
  const count = Math.max(0, Math.min(drawing.entries, what.show ?? 0));
  drawing.draw(count);
  build.grid = drawing.grid();
  build.top = drawing.span[1];
  bench.sendMesh(true);
  return { count, ...(count ? drawing.entry(count - 1) : {}) };
}

/** @param {WorkerBuild} build @param {number} size @param {string} palette @param {WorkerContext} bench @returns {WorkerReplay} */
function startReplay(build, size, palette, { blocks }) {
  const finished = /** @type {Grid} */ (build.grid);
  return {
    finished,
    top: build.top,
    reader: new SpecReader(),
    drawing: new Rasterizer(size, blockLookup(blocks, palette), finished),
    text: new TextDecoder(),
  };
}
