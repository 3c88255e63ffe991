//! Maps blocks and colours of other programs to blocks of a palette: to the same block, or to the nearest, by rules for
//! names or by colour.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;

use super::CellKind;
use crate::palette::{Block, Palette, RenderClass, normalise};
use crate::textures::{Textures, linear};

/// The block that a kind of cell becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockMapping {
    /// Air.
    Empty,
    /// The same block.
    Same(u8),
    /// The nearest block.
    Replaced(u8),
    /// Not a full block, such as a torch, and left out.
    Dropped,
}

impl BlockMapping {
    pub fn block(self) -> Option<u8> {
        match self {
            Self::Same(block) | Self::Replaced(block) => Some(block),
            Self::Empty | Self::Dropped => None,
        }
    }
}

/// The longest chain of rules, which lead from name to name. It also ends chains that go in a circle.
const MAX_RULE_STEPS: usize = 12;

/// The longest name that rules are applied to, in bytes. All names of Minecraft are shorter.
const MAX_RULE_NAME: usize = 64;

/// The block for names without a rule.
const FALLBACK: &str = "stone";

pub struct BlockMapper {
    palette: Palette,
    /// The palette's blocks by their names in Minecraft.
    named: HashMap<String, u8>,
    /// The opaque blocks with their colours in Oklab.
    solid: Vec<(u8, [f32; 3])>,
}

impl BlockMapper {
    pub fn new(palette: Palette) -> Self {
        let blocks = || (1..=u8::MAX).zip(palette.blocks());
        let named = blocks().map(|(number, block)| (normalise(&block.minecraft()), number)).collect();
        let solid = blocks().filter(|(_, block)| block.class == RenderClass::Opaque);
        let looks = |number| Textures::get().colour(number).map(oklab);
        let solid = solid.filter_map(|(number, _)| Some((number, looks(number)?))).collect();
        Self { palette, named, solid }
    }

    pub fn map_kind(&self, kind: &CellKind) -> BlockMapping {
        match kind {
            CellKind::Block(name) => self.by_name(name),
            CellKind::Colour(colour) => self.by_colour(*colour),
        }
    }

    fn by_name(&self, name: &str) -> BlockMapping {
        if let Some(&number) = self.named.get(name) {
            return BlockMapping::Same(number);
        }
        // Blocks of mods are often named like blocks of the game.
        let name = name.rsplit(':').next().unwrap_or_default();
        let fallback = || self.palette.find(FALLBACK).map_or(BlockMapping::Dropped, BlockMapping::Replaced);
        self.by_family(name).unwrap_or_else(fallback)
    }

    /// Follows the rules. None if they do not lead to a block.
    fn by_family(&self, name: &str) -> Option<BlockMapping> {
        if name.len() > MAX_RULE_NAME {
            return None;
        }
        let mut name = name.to_owned();
        for _ in 0..MAX_RULE_STEPS {
            if let Some(&number) = self.named.get(&name) {
                return Some(BlockMapping::Replaced(number));
            }
            let Some(next) = RULES.iter().find_map(|rule| rule.apply(&name)) else { break };
            name = match &*next {
                "" => return Some(BlockMapping::Empty),
                "-" => return Some(BlockMapping::Dropped),
                colour if colour.starts_with('#') => {
                    return Some(BlockMapping::Replaced(self.closest_block(parse_hex(colour))));
                }
                _ => next,
            };
        }
        self.palette.find(&name).map(BlockMapping::Replaced)
    }

    /// A colour that is exactly the colour of a block is taken for that block, because our exports write it so.
    fn by_colour(&self, colour: [u8; 3]) -> BlockMapping {
        let numbers = (1..=u8::MAX).take(self.palette.blocks().len());
        let same = numbers.filter(|&number| Textures::get().colour(number) == Some(colour)).min();
        same.map_or_else(|| BlockMapping::Replaced(self.closest_block(colour)), BlockMapping::Same)
    }

    fn closest_block(&self, colour: [u8; 3]) -> u8 {
        let wanted = oklab(colour);
        let away = |looks: [f32; 3]| looks.iter().zip(wanted).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
        let nearest = self.solid.iter().min_by(|(_, a), (_, b)| away(*a).total_cmp(&away(*b)));
        nearest.map_or(1, |&(number, _)| number)
    }
}

/// A colour in Oklab (by Björn Ottosson), in which distances are about as large as differences look to people.
fn oklab(colour: [u8; 3]) -> [f32; 3] {
    let [r, g, b] = colour.map(linear);
    let cones = [
        0.412_221_47 * r + 0.536_332_55 * g + 0.051_445_995 * b,
        0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b,
        0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b,
    ];
    let [l, m, s] = cones.map(f32::cbrt);
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

fn parse_hex(colour: &str) -> [u8; 3] {
    let number = u32::from_str_radix(&colour[1..], 16).unwrap_or_default();
    let [_, r, g, b] = number.to_be_bytes();
    [r, g, b]
}

/// A pattern with at most one `*`, and the name or colour that matching names become.
#[derive(Deserialize)]
#[serde(from = "(String, String)")]
struct ForeignRule {
    head: String,
    /// None for a pattern without a `*`.
    tail: Option<String>,
    becomes: String,
}

impl From<(String, String)> for ForeignRule {
    fn from((pattern, becomes): (String, String)) -> Self {
        match pattern.split_once('*') {
            Some((head, tail)) => Self { head: head.to_owned(), tail: Some(tail.to_owned()), becomes },
            None => Self { head: pattern, tail: None, becomes },
        }
    }
}

impl ForeignRule {
    fn apply(&self, name: &str) -> Option<String> {
        let rest = name.strip_prefix(&*self.head)?;
        match &self.tail {
            Some(tail) => rest.strip_suffix(&**tail).map(|part| self.becomes.replace('*', part)),
            None => rest.is_empty().then(|| self.becomes.clone()),
        }
    }
}

#[expect(clippy::expect_used, reason = "the rules are compiled in, and a test reads them")]
static RULES: LazyLock<Vec<ForeignRule>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct ForeignRulesFile {
        rules: Vec<ForeignRule>,
    }
    let file = include_str!("../../palettes/foreign.toml");
    toml::from_str::<ForeignRulesFile>(file).expect("rules that can be read").rules
});

/// The id of a block, for warnings.
pub fn name(number: u8) -> &'static str {
    Block::by_number(number).map_or("", |block| &block.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped_name(palette: Palette, kind: &CellKind) -> &'static str {
        match BlockMapper::new(palette).map_kind(kind) {
            BlockMapping::Empty => "(empty)",
            BlockMapping::Dropped => "(dropped)",
            BlockMapping::Same(number) | BlockMapping::Replaced(number) => name(number),
        }
    }

    #[test]
    fn foreign_blocks_go_to_their_family() {
        for (block, simple, advanced) in [
            ("oak_planks", "oak_planks", "oak_planks"),
            ("snow_block", "white_wool", "snow"),
            ("powder_snow", "white_wool", "snow"),
            ("snow", "(dropped)", "(dropped)"),
            ("moss_carpet", "(dropped)", "(dropped)"),
            ("spruce_stairs", "oak_planks", "spruce_planks"),
            ("petrified_oak_slab", "oak_planks", "oak_planks"),
            ("bamboo_mosaic_stairs", "oak_planks", "birch_planks"),
            ("warped_fence_gate", "oak_planks", "dark_oak_planks"),
            ("stripped_oak_wood", "oak_log", "oak_log"),
            ("stripped_crimson_hyphae", "oak_log", "spruce_log"),
            ("mangrove_leaves", "oak_leaves", "oak_leaves"),
            ("polished_blackstone_brick_stairs", "stone", "deepslate"),
            ("chiseled_stone_bricks", "stone", "stone_bricks"),
            ("mossy_cobblestone_wall", "cobblestone", "cobblestone"),
            ("nether_brick_fence", "bricks", "nether_bricks"),
            ("brick_wall", "bricks", "bricks"),
            ("deepslate_diamond_ore", "stone", "deepslate"),
            ("red_stained_glass_pane", "glass", "glass"),
            ("iron_bars", "iron_block", "iron_block"),
            ("cyan_carpet", "(dropped)", "(dropped)"),
            ("cyan_terracotta", "blue_wool", "cyan_wool"),
            ("white_terracotta", "white_wool", "white_concrete"),
            ("red_glazed_terracotta", "red_wool", "red_wool"),
            ("terracotta", "bricks", "terracotta"),
            ("orange_concrete_powder", "orange_wool", "orange_wool"),
            ("red_concrete_powder", "red_wool", "red_concrete"),
            ("waxed_oxidized_cut_copper_slab", "green_wool", "oxidized_copper"),
            ("weathered_copper_grate", "green_wool", "oxidized_copper"),
            ("jack_o_lantern", "glowstone", "glowstone"),
            ("grass", "(dropped)", "(dropped)"),
            ("soul_wall_torch", "(dropped)", "(dropped)"),
            ("cave_air", "(empty)", "(empty)"),
            ("create:brass_block", "stone", "stone"),
            ("biomesoplenty:fir_stairs", "stone", "stone"),
            ("quark:spruce_bookshelf", "stone", "stone"),
            ("mod:oak_stairs", "oak_planks", "oak_planks"),
            ("", "stone", "stone"),
        ] {
            let kind = CellKind::Block(block.to_owned());
            assert_eq!(mapped_name(Palette::Simple, &kind), simple, "{block}");
            assert_eq!(mapped_name(Palette::Advanced, &kind), advanced, "{block}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_is_followed_and_long_names_have_none() {
        let rules = [("a_b", "1"), ("a_*", "2*"), ("a_c", "3"), ("*_c", "4"), ("a_b", "5")];
        let rules = rules.map(|(pattern, becomes)| ForeignRule::from((pattern.into(), becomes.into())));
        for (name, next) in [("a_b", "1"), ("a_d", "2d"), ("a_c", "2c"), ("b_c", "4"), ("b", "")] {
            let found = rules.iter().find_map(|rule| rule.apply(name));
            assert_eq!(found.unwrap_or_default(), next, "{name}");
        }
        for (times, simple) in [(2, "orange_wool"), (8, "stone")] {
            let kind = CellKind::Block(format!("{}copper", "exposed_".repeat(times)));
            assert_eq!(mapped_name(Palette::Simple, &kind), simple);
        }
    }

    #[test]
    fn colours_go_to_what_looks_like_them() {
        for (colour, simple) in [
            ([255, 255, 255], "white_wool"),
            ([0, 0, 0], "black_wool"),
            ([200, 30, 30], "red_wool"),
            ([30, 60, 200], "blue_wool"),
            ([255, 140, 0], "orange_wool"),
            ([125, 125, 125], "stone"),
        ] {
            assert_eq!(mapped_name(Palette::Simple, &CellKind::Colour(colour)), simple, "{colour:?}");
        }
    }

    /// The names in both palettes, and a colour for each block alone: what we write is read as it was.
    #[test]
    fn every_block_is_its_own_nearest() {
        for palette in Palette::ALL {
            let mapper = BlockMapper::new(palette);
            for (number, block) in (1..).zip(palette.blocks()) {
                let named = CellKind::Block(normalise(&block.minecraft()));
                assert_eq!(mapper.map_kind(&named), BlockMapping::Same(number), "{}", block.id);
                let coloured = CellKind::Colour(Textures::get().colour(number).unwrap());
                assert_eq!(mapper.map_kind(&coloured), BlockMapping::Same(number), "{}", block.id);
            }
        }
    }

    #[test]
    fn every_rule_leads_somewhere_in_every_palette() {
        for mapper in Palette::ALL.map(BlockMapper::new) {
            for ForeignRule { head, tail, becomes } in &*RULES {
                let is_end = becomes.is_empty() || becomes == "-" || becomes.contains(['*', '#']);
                assert!(is_end || mapper.by_family(becomes).is_some(), "{head} {tail:?}: {becomes}");
                let is_colour = becomes.len() == 7 && u32::from_str_radix(&becomes[1..], 16).is_ok();
                assert!(is_colour || !becomes.starts_with('#'), "{becomes}");
            }
        }
    }
}
