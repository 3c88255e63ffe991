/** The soft shadow where a build meets the ground. */

/** Columns darken the ground by how low they begin; three box blurs make that soft. @param {Grid} grid @param {BlockKinds} kinds @returns {ContactShadow} */
export function contactShadow({ cells, span, dims }, kinds) {
  const [width, height, depth] = span;
  const radius = Math.max(1, Math.floor(Math.max(width, depth) / 14));
  const margin = 3 * radius + 1;
  const wide = width + 2 * margin;
  const deep = depth + 2 * margin;
  const dark = kinds.pass.map((pass, block) => +(block > 0 && pass < 2));
  let field = new Float32Array(wide * deep);
  const reach = 2 * radius;
  const most = Math.min(reach, height);
  for (let z = 0; z < depth; z++) {
    for (let x = 0; x < width; x++) {
      let y = 0;
      while (y < most && !dark[cells[((y + 1) * dims[2] + z + 1) * dims[0] + x + 1]]) y++;
      if (y < most) field[(z + margin) * wide + x + margin] = 1 - y / reach;
    }
  }
  for (let round = 0; round < 3; round++) {
    field = blurTransposed(blurTransposed(field, wide, deep, radius), deep, wide, radius);
  }
  return { data: Uint8Array.from(field, (value) => 255 * value), width: wide, depth: deep, margin };
}

/**
 * Averages each row over a window and transposes, so that a second call blurs the columns.
 * @param {Float32Array} field @param {number} width @param {number} rows @param {number} radius
 */
function blurTransposed(field, width, rows, radius) {
  const out = new Float32Array(field.length);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let at = -radius; at < width; at++) {
      if (at + radius < width) sum += field[row * width + at + radius];
      if (at - radius > 0) sum -= field[row * width + at - radius - 1];
      if (at >= 0) out[at * rows + row] = sum / (2 * radius + 1);
    }
  }
  return out;
}
