//! Palettes: the blocks of builds.
//!
//! They are data, in `palettes/*.toml`. Every block has a number, which is its byte in a [`Grid`](super::Grid). Numbers
//! can change with the palettes, so they must not be stored or sent; the [encoding](super::codec) has ids instead.

use std::{collections::HashMap, fmt, num::NonZeroU8, str::FromStr, sync::LazyLock};

use serde::{Deserialize, Serialize};

use super::textures::recipe::Layer;

/// The byte of an empty cell.
pub const AIR: u8 = 0;

/// The longest name of a block in an input, in bytes.
pub(super) const MAX_NAME: usize = 256;

/// A list of blocks that builds can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Palette {
    Simple,
    Advanced,
}

/// A kind of block.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub id: String,
    pub category: String,
    pub class: RenderClass,
    /// Other names that models use for it, in their normalised spelling.
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default, rename = "minecraft")]
    minecraft_id: Option<String>,
    /// The number of tiles of each face, which are mixed.
    #[serde(default = "one")]
    pub(super) variants: NonZeroU8,
    /// The recipe of faces that have no recipe of their own.
    #[serde(default)]
    texture: Vec<Layer>,
    #[serde(default)]
    top: Vec<Layer>,
    #[serde(default)]
    side: Vec<Layer>,
    #[serde(default)]
    bottom: Vec<Layer>,
}

fn one() -> NonZeroU8 {
    NonZeroU8::MIN
}

/// The way that a block is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenderClass {
    Opaque,
    Cutout,
    Transparent,
    Liquid,
    Emissive,
}

impl Palette {
    pub const ALL: [Self; 2] = [Self::Simple, Self::Advanced];

    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Advanced => "advanced",
        }
    }

    /// The blocks in the order of their numbers, which start at 1.
    pub fn blocks(self) -> &'static [Block] {
        let all = &REGISTRY.blocks;
        match self {
            Self::Simple => &all[..REGISTRY.simple_len],
            Self::Advanced => all,
        }
    }

    /// The number of the block with an id or alias, which must be in the normalised spelling.
    pub fn find(self, name: &str) -> Option<u8> {
        let number = *REGISTRY.numbers.get(name)?;
        (usize::from(number) <= self.blocks().len()).then_some(number)
    }
}

impl Block {
    /// The block with a number; none for [`AIR`] and for unused numbers.
    pub fn by_number(number: u8) -> Option<&'static Self> {
        REGISTRY.blocks.get(usize::from(number).checked_sub(1)?)
    }

    /// The name for people, such as "Oak planks".
    pub fn name(&self) -> String {
        let words = self.id.replace('_', " ");
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }

    /// The recipes of top, side and bottom. A face without a recipe has `texture`; if there is none, the bottom is
    /// like the top.
    pub(super) fn recipes(&self) -> [&[Layer]; 3] {
        let top = first_non_empty(&self.top, &self.texture);
        [
            top,
            first_non_empty(&self.side, &self.texture),
            first_non_empty(&self.bottom, first_non_empty(&self.texture, top)),
        ]
    }

    /// The block state in Minecraft, such as `minecraft:oak_log[axis=y]`.
    pub fn minecraft(&self) -> String {
        format!("minecraft:{}", self.minecraft_id.as_deref().unwrap_or(&self.id))
    }
}

fn first_non_empty<'a>(own: &'a [Layer], other: &'a [Layer]) -> &'a [Layer] {
    if own.is_empty() { other } else { own }
}

/// Normalises the spelling of a block's name: `"minecraft:Oak-Log[axis=x] "` becomes `"oak_log"`.
pub fn normalise(raw: &str) -> String {
    let lower = raw.trim().to_ascii_lowercase();
    let bare = lower.strip_prefix("minecraft:").unwrap_or(&lower);
    let state = bare.strip_suffix(']').and_then(|open| open.split_once('['));
    state.map_or(bare, |(name, _)| name).trim().replace(['-', ' '], "_")
}

impl fmt::Display for Palette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Palette {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|palette| palette.name() == text);
        found.ok_or_else(|| "expected simple or advanced".to_owned())
    }
}

struct Registry {
    blocks: Vec<Block>,
    simple_len: usize,
    /// Ids and aliases; an alias has its block's number.
    numbers: HashMap<String, u8>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::read);

impl Registry {
    #[expect(clippy::expect_used, reason = "the palettes are compiled in, and a test reads them")]
    fn read() -> Self {
        #[derive(Deserialize)]
        struct PaletteFile {
            block: Vec<Block>,
        }
        let read = |text| toml::from_str::<PaletteFile>(text).expect("a palette that can be read").block;
        let mut blocks = read(include_str!("../palettes/simple.toml"));
        let simple_len = blocks.len();
        blocks.extend(read(include_str!("../palettes/advanced.toml")));

        let mut numbers = HashMap::new();
        for (number, block) in (1..=u8::MAX).zip(&blocks) {
            for name in std::iter::once(&block.id).chain(&block.aliases) {
                assert!(numbers.insert(name.clone(), number).is_none(), "two blocks are called {name}");
            }
        }
        assert!(blocks.len() <= usize::from(u8::MAX), "a cell is one byte");
        Self { blocks, simple_len, numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_brought_to_one_spelling() {
        for (raw, name) in [
            ("stone", "stone"),
            ("minecraft:stone", "stone"),
            (" OAK-LOG ", "oak_log"),
            ("Gold Block", "gold_block"),
            ("oak_log[axis=x]", "oak_log"),
            ("Minecraft:Oak Log [axis=x]", "oak_log"),
            ("stone[oops", "stone[oops"),
            ("stone[a]b", "stone[a]b"),
            ("blac\u{212a}_wool", "blac\u{212a}_wool"),
            ("", ""),
        ] {
            assert_eq!(normalise(raw), name, "{raw:?}");
        }
    }

    #[test]
    fn palettes_have_22_and_77_blocks_and_simple_comes_first() {
        assert_eq!(Palette::Simple.blocks().len(), 22);
        assert_eq!(Palette::Advanced.blocks().len(), 77);
        assert_eq!(Palette::Simple.find("gold_block"), Some(22));
        assert_eq!(Palette::Simple.find("obsidian"), None);
        assert!(Palette::Advanced.find("obsidian").is_some());
    }

    #[test]
    fn every_name_in_the_data_is_normalised_and_found() {
        for block in Palette::Advanced.blocks() {
            for name in std::iter::once(&block.id).chain(&block.aliases) {
                assert_eq!(&normalise(name), name);
                let number = Palette::Advanced.find(name).unwrap();
                assert_eq!(Block::by_number(number).unwrap().id, block.id);
            }
        }
    }

    #[test]
    fn an_alias_works_only_where_its_target_is_in_the_palette() {
        let find =
            |palette: Palette, name| palette.find(name).and_then(Block::by_number).map(|b| b.id.as_str());
        for (alias, target) in [
            ("oak_plank", "oak_planks"),
            ("wood_planks", "oak_planks"),
            ("planks", "oak_planks"),
            ("oak_wood", "oak_log"),
            ("wood_log", "oak_log"),
            ("log", "oak_log"),
            ("grass", "grass_block"),
            ("glowstone_block", "glowstone"),
            ("iron", "iron_block"),
            ("gold", "gold_block"),
        ] {
            assert_eq!(find(Palette::Simple, alias), Some(target));
        }
        for (alias, target) in [
            ("stonebrick", "stone_bricks"),
            ("stone_brick", "stone_bricks"),
            ("snow_block", "snow"),
            ("ice_block", "ice"),
        ] {
            assert_eq!(find(Palette::Advanced, alias), Some(target));
            assert_eq!(find(Palette::Simple, alias), None);
        }
    }

    #[test]
    fn blocks_have_names_and_minecraft_ids() {
        let of = |id: &str| Palette::Advanced.find(id).and_then(Block::by_number).unwrap();
        assert_eq!(of("oak_planks").name(), "Oak planks");
        assert_eq!(of("stone").minecraft(), "minecraft:stone");
        assert_eq!(of("snow").minecraft(), "minecraft:snow_block");
        assert_eq!(of("birch_log").minecraft(), "minecraft:birch_log[axis=y]");
    }
}
