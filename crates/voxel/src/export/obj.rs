//! Wavefront OBJ with its materials and textures in a zip archive.

use std::io::{self, BufWriter, Write};

use super::mesh::{self, MeshPart};
use super::zip::Zip;
use crate::grid::{Bounds, Grid};
use crate::palette::RenderClass;

/// Writes the archive, with one metre per block and y up, as in glTF. None if there are too many quads.
pub fn write(grid: &Grid, bounds: Bounds, name: &str) -> Option<Vec<u8>> {
    let parts = mesh::build(grid, bounds)?;
    let name = file_name(name);
    // Writing to memory cannot fail.
    zipped(&parts, &name).ok()
}

fn zipped(parts: &[MeshPart], name: &str) -> io::Result<Vec<u8>> {
    let mut zip = Zip::default();
    zip.add(&format!("{name}.obj"), |out| put_geometry(parts, name, &mut BufWriter::new(out)))?;
    zip.add(&format!("{name}.mtl"), |out| put_materials(parts, out))?;
    for part in parts {
        zip.add(&format!("textures/{}.png", part.name), |out| out.write_all(&part.picture().png()))?;
    }
    Ok(zip.finish())
}

fn put_geometry(parts: &[MeshPart], name: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "mtllib {name}.mtl\no build")?;
    // The normals are in the order of `Direction`.
    for normal in ["1 0 0", "-1 0 0", "0 1 0", "0 -1 0", "0 0 1", "0 0 -1"] {
        writeln!(out, "vn {normal}")?;
    }
    let mut before = 0;
    for part in parts {
        let repeat = f32::from(part.repeat());
        writeln!(out, "usemtl {}", part.name)?;
        for vertex in &part.vertices {
            let [x, y, z] = vertex.at;
            // In OBJ, textures begin at the bottom.
            let [u, v] = [vertex.texture[0], -vertex.texture[1]].map(|cells| f32::from(cells) / repeat);
            writeln!(out, "v {x} {y} {z}\nvt {u} {v}")?;
        }
        for (corners, side) in &part.quads {
            let normal = *side as usize + 1;
            let [a, b, c, d] = corners.map(|corner| before + corner + 1);
            writeln!(out, "f {a}/{a}/{normal} {b}/{b}/{normal} {c}/{c}/{normal} {d}/{d}/{normal}")?;
        }
        before += part.vertices.len() as u32;
    }
    out.flush()
}

fn put_materials(parts: &[MeshPart], out: &mut dyn Write) -> io::Result<()> {
    for part in parts {
        let texture = format!("textures/{}.png", part.name);
        writeln!(out, "newmtl {}\nKd 1 1 1\nKs 0 0 0\nillum 1\nmap_Kd {texture}", part.name)?;
        match part.class {
            RenderClass::Opaque => {}
            RenderClass::Cutout | RenderClass::Transparent | RenderClass::Liquid => {
                writeln!(out, "map_d {texture}")?;
            }
            RenderClass::Emissive => writeln!(out, "Ke 1 1 1\nmap_Ke {texture}")?,
        }
    }
    Ok(())
}

/// A name without characters that have a meaning in any of the files.
fn file_name(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let name: String =
        name.chars().take(100).map(|letter| if plain(letter) { letter } else { '_' }).collect();
    if name.is_empty() { "build".to_owned() } else { name }
}
