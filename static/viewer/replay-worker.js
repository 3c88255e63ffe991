/** In the worker: draws a spec entry by entry, in place of the finished build. */
import { Rasterizer, blockLookup } from "./rasterizer.js";
import { SpecReader } from "./spec.js";

/**
 * @typedef {{ finished: Grid, top: number, reader: SpecReader, drawing: Rasterizer, text: TextDecoder }} WorkerReplay
 *
 * Requests: `read` takes bytes of the spec, `show` draws that many of its entries, `over` restores the finished build.
 * @param {WorkerBuild & { drawing?: WorkerReplay }} build
 * @param {{ read?: Uint8Array, size?: number, palette?: string, show?: number, over?: boolean }} args
 * @param {WorkerContext} context
 */
export function handle(build, args, context) {
  if (args.read) {
    build.drawing ??= startReplay(build, args.size ?? 32, args.palette ?? "simple", context);
    const { reader, drawing, text } = build.drawing;
    drawing.add(reader.feed(text.decode(args.read, { stream: true })));
    return { entries: drawing.entries };
  }
  if (!build.drawing) return undefined;
  const { finished, top, drawing } = build.drawing;
  if (args.over) {
    build.drawing = undefined;
    [build.grid, build.top] = [finished, top];
    context.sendMesh(true);
    return undefined;
  }
  const count = Math.max(0, Math.min(drawing.entries, args.show ?? 0));
  drawing.draw(count);
  build.grid = drawing.grid();
  build.top = drawing.span[1];
  context.sendMesh(true);
  return { count, ...(count ? drawing.entry(count - 1) : {}) };
}

/** @param {WorkerBuild} build @param {number} size @param {string} palette @param {WorkerContext} context @returns {WorkerReplay} */
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
