/** Exported glTF, judged by the validator of the Khronos Group. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import validator from "gltf-validator";

const root = new URL("../../", import.meta.url);
const buildoff = process.env.BUILDOFF ?? fileURLToPath(new URL("target/debug/buildoff", root));
const folder = mkdtempSync(join(tmpdir(), "buildoff-"));
after(() => rmSync(folder, { recursive: true }));

for (const spec of [
  "crates/voxel/tests/data/homestead.json",
  "crates/voxel/tests/data/grids/boxes.json",
  "crates/voxel/tests/data/grids/full.json",
  "crates/voxel/tests/data/grids/noise.json",
  "crates/voxel/tests/data/grids/one.json",
  "builds/32-simple/steam-locomotive/reference_architect.json",
]) {
  test(`${spec} becomes a glTF without a fault`, async () => {
    const out = join(folder, "build.glb");
    const file = fileURLToPath(new URL(spec, root));
    execFileSync(buildoff, ["export", file, "--format", "glb", "-o", out, "--palette", "advanced"], { stdio: "pipe" });
    const { issues, info } = await validator.validateBytes(new Uint8Array(readFileSync(out)));
    assert.deepEqual(issues.messages, []);
    assert.equal(info.hasTextures, true);
  });
}
