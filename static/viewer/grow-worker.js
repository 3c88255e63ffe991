/** In the worker: draws a build while its spec is being written. */
import { Rasterizer, blockLookup } from "./rasterizer.js";
import { SpecReader } from "./spec.js";

/**
 * Reads the next part of the spec's text and shows the build so far.
 * @param {WorkerBuild} build
 * @param {{ text: string, size: number, palette: string, fresh: boolean }} what
 * @param {WorkerContext} context
 */
export function handle(build, { text, size, palette, fresh }, { blocks, sendMesh }) {
  if (fresh || !build.drawing) {
    build.drawing = { reader: new SpecReader(), drawing: new Rasterizer(size, blockLookup(blocks, palette)) };
  }
  /** @type {{ reader: SpecReader, drawing: Rasterizer }} */
  const { reader, drawing } = build.drawing;
  const events = reader.feed(text);
  if (events.length) {
    drawing.add(events);
    drawing.draw();
    build.grid = drawing.grid(drawing.height);
    build.top = drawing.height;
    if (drawing.height) sendMesh(true, !build.drawing.shown);
    build.drawing.shown ||= drawing.height > 0;
  }
  return { counts: reader.counts, height: drawing.height, full: reader.full || drawing.full };
}
