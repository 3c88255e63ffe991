//! A format for voxel builds that language models can write: boxes, lines and blocks as JSON.
//!
//! This crate defines the format and does everything with it that needs no network and no disk. It reads and checks
//! builds, stores them in a canonical encoding, draws them, and converts them from and to files of other programs.
//! This page is the specification of the format.
//!
//! ```
//! use voxel::codec::{decode, encode};
//! use voxel::{GridSize, Palette, Verdict, check};
//!
//! let answer = r#"Here is a hut: {"version": "1.0", "boxes": [
//!     {"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "minecraft:oak_planks"}
//! ]}"#;
//! let verdict = check(answer.as_bytes(), GridSize::G32, Palette::Simple, 1 << 20);
//! let Verdict::Accepted { build, warnings, .. } = verdict else { panic!("the build is valid") };
//! assert_eq!(build.stats().block_count, 24 * 6 * 24);
//! assert!(warnings.is_empty());
//! assert_eq!(&decode(&encode(build.grid())).unwrap(), build.grid());
//! ```
//!
//! # The spec
//!
//! A build is written as a **spec**, one JSON object:
//!
//! ```json
//! { "version": "1.0",
//!   "boxes":  [{ "x1": 10, "y1": 0, "z1": 10, "x2": 20, "y2": 6, "z2": 20, "type": "stone" }],
//!   "lines":  [{ "from": { "x": 15, "y": 7, "z": 15 }, "to": { "x": 15, "y": 18, "z": 15 }, "type": "oak_log" }],
//!   "blocks": [{ "x": 15, "y": 19, "z": 15, "type": "glowstone" }] }
//! ```
//!
//! | key | value |
//! |---|---|
//! | `version` | The text `"1.0"`. If it is missing, there is a warning; any other value is an error. |
//! | `boxes` | A list of filled boxes, each given by two opposite corners in any order. Both corners are included. |
//! | `lines` | A list of straight lines, each given by its two ends. Both ends are included. |
//! | `blocks` | A list of single blocks. |
//! | `type` | The name of a block, in every entry. |
//! | any other | Ignored, in the spec, in its entries and in the ends of its lines. |
//!
//! Each of the three lists can be left out. In an entry, every key shown above is required. Coordinates are whole
//! numbers of 64 bits; `3.0` and `1e1` are whole, too. If an object has a key twice, the last one counts. [`schema`]
//! describes what to write as a JSON Schema.
//!
//! # From spec to grid
//!
//! A spec is expanded into a [`Grid`]: a cube of cells with 32, 64, 128 or 256 cells along an edge ([`GridSize`]). Each
//! cell is empty or holds a block. Coordinates go from 0 to the size less one, and y is up.
//!
//! - All boxes are drawn first, then all lines, then all blocks, whatever the order of the lists in the text. Each
//!   list is drawn in its order. The last write to a cell wins.
//! - A line has n + 1 points, where n is its longest distance along any axis. With d the signed distance along an axis
//!   from the start p, point i has the coordinate `p + floor((2·d·i + n) / (2·n))` on that axis.
//! - Writes outside the grid are dropped and counted. Nothing is moved inside.
//! - Writes of a type that the palette does not have are dropped and counted by type. `air` is such a type: a spec
//!   cannot remove blocks.
//! - All writes of known types inside the grid, overlapping ones included, may come to at most [`MAX_OVERDRAW`] times
//!   the cells of the grid. This is known before anything is drawn.
//!
//! Counts stop at 2⁵³ − 1, the largest whole number that every JSON reader keeps exact.
//!
//! # Blocks
//!
//! A [`Palette`] is a list of blocks. The simple palette has 22 of them; the advanced palette has these and 55 more.
//! [`Palette::blocks`] lists their ids and aliases.
//!
//! The spelling of a type is normalised before it is looked up: surrounding spaces, `minecraft:` at the beginning and
//! `[…]` at the end are removed, ASCII letters become lower case, and `-` and spaces become `_`. So
//! `minecraft:Oak-Log[axis=x]` means `oak_log`. The result must be an id or an alias.
//!
//! # Rules
//!
//! A grid that keeps these rules is a [`ValidGrid`], and [`ValidGrid::new`] is the only way to make one. The footprint
//! is the larger of the spans along x and z; the height is the span along y. [`Rules::of`] has the numbers.
//!
//! | grid | blocks, at least | blocks, at most | footprint, at least | height, at least |
//! |---|---|---|---|---|
//! | 32 | 80 | 24,576 | 17 | 4 |
//! | 64 | 200 | 196,608 | 35 | 8 |
//! | 128 | 300 | 1,572,864 | 70 | 17 |
//! | 256 | 500 | 12,582,912 | 140 | 35 |
//!
//! # Where a spec is found
//!
//! [`check`] takes any text in UTF-8, plain or gzipped: a spec alone, in a code fence, between sentences, or inside
//! another object or list. If a text contains several specs, the one with the most entries is used, and among equals
//! the last. Only an object with at least one of the three lists counts, unless the text is nothing but one object;
//! then that object is the spec, even if it is empty.
//!
//! # Files of other programs
//!
//! [`check`] also takes Sponge schematics (`.schem`, versions 1 to 3), Litematica's files (`.litematic`, with all their
//! regions) and MagicaVoxel's (`.vox`, with all visible models of the scene), plain or gzipped.
//!
//! - A block or colour that is not in the palette is replaced with the nearest block, by its name or by its colour. An
//!   unknown name becomes `stone`. Things that are not full blocks, such as torches and rails, are dropped. Both are
//!   counted by type. Air and other empty blocks are simply empty.
//! - A file that this crate exported, and a `.vox` scene that lies inside the grid, keep their position. Any other build
//!   is placed in the middle of the floor, because positions in its file are positions in a larger world.
//! - The file may have at most eight times as many blocks as the grid has cells.
//!
//! # Rejections
//!
//! A [`Rejection`] has a code, a sentence, and the line and column if it is about a place in a text. What breaks several
//! rules is rejected for the first, in this order:
//!
//! | code | reason |
//! |---|---|
//! | `too_large` | The input is longer than the caller allows, after unpacking. |
//! | `bad_json` | The text is not UTF-8 or not JSON, contains no spec, or is nested too deeply. |
//! | `bad_spec` | The JSON is not a spec: a key is missing, or a value is of the wrong kind. |
//! | `bad_file` | A file of another program is damaged, or of a kind that cannot be read. |
//! | `too_much_work` | The spec writes too many cells, or the file has too many cells or kinds of blocks. |
//! | `does_not_fit` | The build in a file is larger than the grid. |
//! | `no_blocks` | The grid is empty. |
//! | `too_many_blocks`, `too_few_blocks` | See the rules. |
//! | `footprint_too_small`, `height_too_small` | See the rules. |
//!
//! # Warnings
//!
//! A [`Warning`] tells what was dropped or replaced. A valid build can have warnings. The five most frequent types are
//! named; the others are counted together.
//!
//! | code | meaning |
//! |---|---|
//! | `missing_version` | The spec has no `version`. |
//! | `out_of_bounds` | So many writes were outside the grid. |
//! | `unknown_block`, `more_unknown_blocks` | So many writes or blocks were of types that were dropped. |
//! | `replaced_block`, `more_replaced_blocks` | So many blocks of a file were replaced. |
//!
//! # Limits
//!
//! Work and memory are bounded before they are spent, whatever the input:
//!
//! | what | limit |
//! |---|---|
//! | input, unpacked | set by the caller |
//! | nesting of lists and objects | 32 levels |
//! | the name of a block | 256 bytes |
//! | different spellings of names in a spec | 65,536 |
//! | search for a spec in a text | 4 passes over the text and 1 MiB |
//! | cells of a file, empty ones included | 134,217,728 |
//! | kinds of cells in a file, and those in use | 65,536 and 4,096 |
//!
//! Boxes and lines are clipped by arithmetic over the whole range of 64 bits; nothing outside the grid is walked.
//!
//! # Encoding, pictures and exports
//!
//! - [`codec`] specifies the canonical encoding of a grid and compresses it. A [`Digest`](codec::Digest) of the encoding
//!   identifies the content.
//! - [`image`] draws pictures, [`turntable`] animations, and [`textures`] specifies the tiles of the blocks.
//! - [`export`](fn@export) writes a grid in a [`Format`] of another program.
//!
//! The crate has no async code and uses no database, network, clock or environment. The same input always gives the same
//! result.

mod check;
pub mod codec;
mod diagnostics;
mod expand;
mod export;
mod grid;
pub mod image;
mod import;
mod input;
#[cfg(feature = "openapi")]
mod openapi;
mod palette;
mod picture;
#[cfg(feature = "sqlx")]
mod postgres;
mod prose;
mod rasterise;
mod read;
mod report;
mod rules;
mod schema;
mod spec;
pub mod textures;
#[cfg(feature = "turntables")]
pub mod turntable;

pub use check::{Verdict, check};
pub use diagnostics::{Position, Rejection, RejectionCode, Warning};
pub use expand::MAX_OVERDRAW;
pub use export::{ExportError, Format, export};
pub use grid::{Bounds, Grid, GridSize, GridStats};
pub use palette::{AIR, Block, Palette, RenderClass};
pub use report::Report;
pub use rules::{Rules, ValidGrid};
pub use schema::schema;
