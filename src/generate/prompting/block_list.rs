//! The blocks of a palette, as the system prompt lists them.

use voxel::textures::Textures;
use voxel::{Block, Palette, RenderClass};

/// The blocks of a category.
pub(super) struct BlockGroup {
    pub name: &'static str,
    pub purpose: &'static str,
    pub blocks: Vec<BlockEntry>,
}

pub(super) struct BlockEntry {
    pub id: &'static str,
    /// Its colour, and how it treats light.
    pub look: String,
}

/// Groups the blocks by category, in the order of the palette.
pub(super) fn block_groups(palette: Palette) -> Vec<BlockGroup> {
    let mut groups: Vec<BlockGroup> = Vec::new();
    for (number, block) in (1..).zip(palette.blocks()) {
        let entry = BlockEntry { id: &block.id, look: describe(number, block) };
        match groups.iter_mut().find(|group| group.name == block.category) {
            Some(group) => group.blocks.push(entry),
            None => groups.push(BlockGroup {
                name: &block.category,
                purpose: purpose(&block.category),
                blocks: vec![entry],
            }),
        }
    }
    groups
}

fn purpose(category: &str) -> &'static str {
    match category {
        "stone" => "rock, foundations, walls, roads",
        "wood" => "beams, floors, hulls, furniture",
        "masonry" => "walls, roofs, chimneys",
        "earth" => "ground, banks, shores",
        "plant" => "foliage, hedges, moss",
        "liquid" => "pools, rivers, the sea",
        "wool" => "matt, even colour for anything",
        "concrete" => "smooth, strong colour for anything",
        "glass" => "windows, lenses, bubbles",
        "light" => "lamps, flames, glowing cores",
        "metal" => "machines, fittings, armour, ornament",
        "mineral" => "gems, accents, polished stone",
        "ice" => "snow, frost, pale surfaces",
        _ => "",
    }
}

fn describe(number: u8, block: &Block) -> String {
    let [top, side, _] = Textures::get().averages(number).unwrap_or_default().map(hex);
    let colour = if top == side { side } else { format!("{side} (top {top})") };
    let light = match block.class {
        RenderClass::Opaque => return colour,
        RenderClass::Cutout => "with gaps",
        RenderClass::Transparent | RenderClass::Liquid => "see-through",
        RenderClass::Emissive => "glowing",
    };
    format!("{colour} {light}")
}

/// Converts linear light to an sRGB hex colour.
fn hex([red, green, blue, _]: [f32; 4]) -> String {
    let byte = |light: f32| {
        let shade = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        (shade * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue))
}
