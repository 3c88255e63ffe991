//! Binary glTF 2.0, with one metre per block and a material for each texture.
//!
//! Vertices have no normals, because without them the format requires flat shading, which is right for blocks.

use serde_json::{Value, json};

use super::mesh::{self, MeshPart};
use crate::grid::{Bounds, Grid};
use crate::palette::RenderClass;

/// Bytes of a vertex.
const VERTEX: usize = 20;
/// The end of indices of two bytes. The highest value is not used, because it restarts primitives in some renderers.
const SHORT: usize = 0xffff;

const NEAREST: u32 = 9728;
const NEAREST_MIPMAP_LINEAR: u32 = 9986;
const REPEAT: u32 = 10497;
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

pub fn write(grid: &Grid, bounds: Bounds) -> Option<Vec<u8>> {
    let parts = mesh::build(grid, bounds)?;
    let mut binary = Vec::new();
    parts.iter().for_each(|part| put_vertices(part, &mut binary));
    let indices_start = binary.len();
    parts.iter().for_each(|part| put_indices(part, &mut binary));

    let mut views = vec![
        json!({ "buffer": 0, "byteLength": indices_start, "byteStride": VERTEX, "target": ARRAY_BUFFER }),
        json!({ "buffer": 0, "byteOffset": indices_start, "byteLength": binary.len() - indices_start,
            "target": ELEMENT_ARRAY_BUFFER }),
    ];
    let mut images = Vec::new();
    for part in &parts {
        let png = part.picture().png();
        images.push(json!({ "bufferView": views.len(), "mimeType": "image/png", "name": part.name }));
        views.push(json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": png.len() }));
        binary.extend(png);
        pad(&mut binary, 0);
    }
    let (primitives, accessors) = primitives(&parts);
    let materials: Vec<Value> = parts.iter().enumerate().map(|(i, part)| material(i, part)).collect();
    let textures: Vec<Value> = (0..parts.len()).map(|i| json!({ "sampler": 0, "source": i })).collect();
    let document = json!({
        "asset": { "version": "2.0", "generator": "Buildoff" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "name": "build" }],
        "meshes": [{ "name": "build", "primitives": primitives }],
        "materials": materials,
        "textures": textures,
        "images": images,
        "samplers": [{ "magFilter": NEAREST, "minFilter": NEAREST_MIPMAP_LINEAR, "wrapS": REPEAT, "wrapT": REPEAT }],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{ "byteLength": binary.len() }],
    });
    Some(container(document.to_string().into_bytes(), &binary))
}

fn put_vertices(part: &MeshPart, binary: &mut Vec<u8>) {
    let repeat = f32::from(part.repeat());
    binary.reserve(part.vertices.len() * VERTEX);
    for vertex in &part.vertices {
        for coordinate in vertex.at {
            binary.extend(f32::from(coordinate).to_le_bytes());
        }
        for coordinate in vertex.texture {
            binary.extend((f32::from(coordinate) / repeat).to_le_bytes());
        }
    }
}

fn put_indices(part: &MeshPart, binary: &mut Vec<u8>) {
    let triangles = part.quads.iter().flat_map(|([a, b, c, d], _)| [a, b, c, a, c, d]);
    match index_size(part) {
        2 => triangles.for_each(|&index| binary.extend((index as u16).to_le_bytes())),
        _ => triangles.for_each(|&index| binary.extend(index.to_le_bytes())),
    }
}

fn index_size(part: &MeshPart) -> usize {
    if part.vertices.len() <= SHORT { 2 } else { 4 }
}

/// A primitive and three accessors for each part. Parts are in the buffer one after the other.
fn primitives(parts: &[MeshPart]) -> (Vec<Value>, Vec<Value>) {
    let (mut primitives, mut accessors) = (Vec::new(), Vec::new());
    let (mut vertices_at, mut indices_at) = (0, 0);
    for (i, part) in parts.iter().enumerate() {
        let first = accessors.len();
        let (count, indices) = (part.vertices.len(), part.quads.len() * 6);
        let extent = |pick: fn(u16, u16) -> u16| {
            let all = part.vertices.iter().map(|vertex| vertex.at);
            all.reduce(|a, b| [0, 1, 2].map(|axis| pick(a[axis], b[axis]))).unwrap_or_default()
        };
        let kind = if index_size(part) == 2 { UNSIGNED_SHORT } else { UNSIGNED_INT };
        accessors.push(json!({ "bufferView": 0, "byteOffset": vertices_at, "componentType": FLOAT,
            "count": count, "type": "VEC3", "min": extent(u16::min), "max": extent(u16::max) }));
        accessors.push(json!({ "bufferView": 0, "byteOffset": vertices_at + 12, "componentType": FLOAT,
            "count": count, "type": "VEC2" }));
        accessors.push(json!({ "bufferView": 1, "byteOffset": indices_at, "componentType": kind,
            "count": indices, "type": "SCALAR" }));
        primitives.push(json!({ "attributes": { "POSITION": first, "TEXCOORD_0": first + 1 },
            "indices": first + 2, "material": i }));
        vertices_at += count * VERTEX;
        indices_at += (indices * index_size(part)).next_multiple_of(4);
    }
    (primitives, accessors)
}

fn material(texture: usize, part: &MeshPart) -> Value {
    let mut material = json!({
        "name": part.name,
        "pbrMetallicRoughness": {
            "baseColorTexture": { "index": texture }, "metallicFactor": 0.0, "roughnessFactor": 1.0,
        },
    });
    match part.class {
        RenderClass::Opaque => {}
        RenderClass::Cutout => material["alphaMode"] = "MASK".into(),
        RenderClass::Transparent | RenderClass::Liquid => material["alphaMode"] = "BLEND".into(),
        RenderClass::Emissive => {
            material["emissiveTexture"] = json!({ "index": texture });
            material["emissiveFactor"] = json!([1.0, 1.0, 1.0]);
        }
    }
    material
}

fn container(mut document: Vec<u8>, binary: &[u8]) -> Vec<u8> {
    pad(&mut document, b' ');
    let length = 12 + 8 + document.len() + 8 + binary.len();
    let mut file = Vec::with_capacity(length);
    file.extend(b"glTF");
    file.extend(2_u32.to_le_bytes());
    file.extend((length as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &*document), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

fn pad(bytes: &mut Vec<u8>, filler: u8) {
    bytes.resize(bytes.len().next_multiple_of(4), filler);
}
