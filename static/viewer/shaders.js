/** The shaders of a build and its ground. They compute light in linear space and convert it to sRGB at the end. */

const NORMALS = `const vec3 NORMALS[6] = vec3[6](
  vec3(1, 0, 0), vec3(-1, 0, 0), vec3(0, 1, 0), vec3(0, -1, 0), vec3(0, 0, 1), vec3(0, 0, -1));`;

/**
 * Unpacks a quad into its four vertices; mesher.js describes the bits. Each quad is drawn slightly wider than it is:
 * where a large quad meets small ones their edges are rounded differently, and the background would show through.
 */
export const QUAD_VERTEX = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D uQuads, uBlocks;
uniform mat4 uMatrix, uSunMatrix;
uniform float uGrow, uBias;
out vec2 vTile, vCorner;
out vec3 vPlace, vSun;
flat out uint vLight, vFirst, vVariants;
flat out int vFace;
${NORMALS}
void main() {
  int quad = gl_VertexID >> 2, k = gl_VertexID & 3;
  uvec2 bits = texelFetch(uQuads, ivec2(quad & 2047, quad >> 11), 0).xy;
  int face = int(bits.y >> 13u & 7u);
  vec3 place = vec3(bits.x & 511u, bits.x >> 9u & 511u, bits.x >> 18u & 511u);
  vec2 size = vec2(bits.x >> 27u | (bits.y & 15u) << 5u, bits.y >> 4u & 511u) + 1.;
  bool turned = face == 0 || face == 2 || face == 5;
  vec2 corner = vec2(turned ? k >> 1 : int(k == 1 || k == 2), turned ? int(k == 1 || k == 2) : k >> 1);
  vec2 at = corner * size;
  vec3 wide = face < 2 ? vec3(0, 0, 1) : vec3(1, 0, 0);
  vec3 high = face == 2 || face == 3 ? vec3(0, 0, 1) : vec3(0, 1, 0);
  vec3 normal = NORMALS[face];
  place += max(normal, 0.) + wide * at.x + high * at.y;
  vec2 back = size - at;
  vTile = face == 2 ? at : face == 3 ? vec2(at.x, back.y) : vec2(face == 0 || face == 5 ? back.x : at.x, back.y);
  uvec4 tiles = texelFetch(uBlocks, ivec2(int(bits.y >> 16u & 255u), face == 2 ? 0 : face == 3 ? 2 : 1), 0);
  vFirst = tiles.x;
  vVariants = tiles.y;
  vCorner = corner;
  vPlace = place;
  vLight = bits.y >> 24u | tiles.z << 8u;
  vFace = face;
  vSun = (uSunMatrix * vec4(place + normal * uBias, 1)).xyz * .5 + .5;
  gl_Position = uMatrix * vec4(place, 1);
  vec2 grow = (corner * 2. - 1.) * uGrow * gl_Position.w;
  gl_Position = uMatrix * vec4(place + wide * grow.x + high * grow.y, 1);
}`;

/** Samples the tile variant that the cell's position selects. Texel edges are blurred over one screen pixel. */
export const TEXEL_LOOKUP = `
uniform mediump sampler2DArray uTiles;
uint variantHash(uvec3 cell) {
  uint h = cell.x * 0x8da6b343u ^ cell.y * 0xd8163841u ^ cell.z * 0xcb1ab31fu;
  h = (h ^ (h >> 13u)) * 0x9e3779b1u;
  return h ^ (h >> 16u);
}
vec4 texel() {
  vec2 alongX = dFdx(vTile), alongY = dFdy(vTile);
  vec3 cell = vPlace - NORMALS[vFace] * .5;
  uint layer = vFirst + (vVariants > 1u ? variantHash(uvec3(cell)) % vVariants : 0u);
  vec2 at = vTile * 16., edge = floor(at + .5), soft = (abs(alongX) + abs(alongY)) * 16.;
  at = edge + clamp((at - edge) / max(soft, 1e-4), -.5, .5);
  return textureGrad(uTiles, vec3(mix(vTile, at / 16., lessThan(soft, vec2(1))), layer), alongX, alongY);
}`;

export const FRAGMENT_HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2DShadow;
in vec2 vTile, vCorner;
in vec3 vPlace, vSun;
flat in uint vLight, vFirst, vVariants;
flat in int vFace;
out vec4 colour;
${NORMALS}`;

/** How much sun reaches a place: four filtered lookups in the shadow map, sixteen texels in all. */
export const SUN_LOOKUP = `
uniform sampler2DShadow uShadow;
uniform float uShaded;
float sun(vec3 at) {
  if (uShaded == 0. || any(greaterThan(abs(at.xy - .5), vec2(.5)))) return 1.;
  at.z = min(at.z, 1.);
  float lit = 0.;
  for (int i = 0; i < 4; i++) lit += texture(uShadow, at + vec3(vec2(i & 1, i >> 1) - .5, 0) / vec3(1024, 1024, 1));
  return mix(1., lit * .25, uShaded);
}`;

/** The faces of blocks. Back faces are seen only on cutouts, from inside leaves, and are drawn darker. */
export const SURFACE_FRAGMENT = `${FRAGMENT_HEAD}${TEXEL_LOOKUP}${SUN_LOOKUP}
uniform vec3 uSun;
uniform int uPass;
const vec3 SUN = vec3(.92, .86, .75), SKY = vec3(.41, .45, .51), BOUNCE = vec3(.31, .3, .29);
const float CORNER[4] = float[4](.48, .68, .85, 1.);
void main() {
  vec4 tile = texel();
  if (uPass == 1 && tile.a < .5) discard;
  if (uPass < 2) tile.a = 1.;
  float low = mix(CORNER[vLight & 3u], CORNER[vLight >> 2u & 3u], vCorner.x);
  float high = mix(CORNER[vLight >> 4u & 3u], CORNER[vLight >> 6u & 3u], vCorner.x);
  float open = mix(low, high, vCorner.y);
  vec3 normal = NORMALS[vFace];
  float facing = max(dot(normal, uSun), 0.);
  vec3 light = mix(BOUNCE, SKY, normal.y * .5 + .5) * open;
  if (!gl_FrontFacing) light *= .45;
  else if (facing > 0.) light += SUN * facing * sun(vSun) * (.5 + .5 * open);
  if ((vLight >> 8u) == 1u) light = vec3(1.15);
  vec3 linear = min(tile.rgb * light, 1.);
  vec3 screen = mix(12.92 * linear, 1.055 * pow(linear, vec3(1. / 2.4)) - .055, step(.0031308, linear));
  colour = vec4(screen * tile.a, tile.a);
}`;

/** A square under the build, on which its shadow is drawn. */
export const GROUND_VERTEX = `#version 300 es
precision highp float;
uniform mat4 uMatrix, uSunMatrix;
uniform vec4 uDisc;
uniform vec2 uReach;
out vec2 vAt, vContact;
out vec3 vSun;
void main() {
  vAt = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1.;
  vec3 place = uDisc.xyz + vec3(vAt.x, 0, vAt.y) * uDisc.w;
  vContact = vAt * uDisc.w / uReach * .5 + .5;
  vSun = (uSunMatrix * vec4(place, 1)).xyz * .5 + .5;
  gl_Position = uMatrix * vec4(place, 1);
}`;

export const GROUND_FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform sampler2D uContact;
in vec2 vAt, vContact;
in vec3 vSun;
out vec4 colour;
${SUN_LOOKUP}
void main() {
  float fade = 1. - smoothstep(.55, 1., length(vAt));
  float light = (1. - .42 * texture(uContact, vContact).r) * (.7 + .3 * sun(vSun));
  colour = vec4(0, 0, 0, (1. - pow(light, 1. / 2.2)) * fade);
}`;
