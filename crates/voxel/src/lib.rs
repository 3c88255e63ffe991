//! The task format: what a model is asked for, and what becomes of its answer.
//!
//! A **spec** is JSON: filled boxes, straight lines and single blocks, drawn in
//! that order whatever their order in the text, the last write to a cell winning.
//!
//! ```json
//! { "version": "1.0",
//!   "boxes":  [{ "x1": 10, "y1": 0, "z1": 10, "x2": 20, "y2": 6, "z2": 20, "type": "stone" }],
//!   "lines":  [{ "from": { "x": 15, "y": 7, "z": 15 }, "to": { "x": 15, "y": 18, "z": 15 }, "type": "oak_log" }],
//!   "blocks": [{ "x": 15, "y": 19, "z": 15, "type": "glowstone" }] }
//! ```
//!
//! It becomes a **grid**, a cube with a byte a cell: y is up, coordinates go from 0
//! to the grid's size less one, and what lies outside is dropped and counted. A
//! grid that keeps the [`Rules`] of its size is [`ValidGrid`], and only such grids
//! are stored. [`encode`] gives a grid its one canonical encoding, and [`Digest`]
//! its name.
//!
//! What a build looks like follows from its grid too: [`Textures`] are the tiles of its
//! blocks, [`render`] makes a [`Picture`] of it, [`Turntable`] one that
//! moves, and [`export`] a file of another [`Format`].
//!
//! [`check`] goes all the way from any text, or from a file that another tool wrote, to a [`Verdict`]:
//!
//! ```
//! use voxel::{GridSize, Palette, Verdict, check, encode, decode};
//!
//! let answer = r#"Here is a hut: {"version": "1.0", "boxes": [
//!     {"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "minecraft:oak_planks"}
//! ]}"#;
//! let verdict = check(answer.as_bytes(), GridSize::G32, Palette::Simple, 1 << 20);
//! let Verdict::Accepted { build, warnings, .. } = verdict else { panic!("a good build") };
//! assert_eq!(build.stats().block_count, 24 * 6 * 24);
//! assert!(warnings.is_empty());
//! assert_eq!(&decode(&encode(build.grid())).unwrap(), build.grid());
//! ```
//!
//! Everything here is pure: no async, no database, no network, no clock, no
//! environment. Work and memory are bounded before they are spent: text by the
//! caller's limit, nesting by 32 levels, block names by 256 bytes and 65,536
//! spellings, writes by eight times the grid's volume. Boxes and lines are clipped by
//! arithmetic over the whole range of 64 bits, never walked outside the grid. Of a file of another tool, no more
//! cells are walked over than that, whatever sizes it tells, and nothing is kept but the names of its blocks.

mod check;
mod codec;
mod diagnostics;
mod expand;
mod export;
mod grid;
mod image;
mod import;
#[cfg(feature = "openapi")]
mod openapi;
mod palette;
mod picture;
mod prose;
mod rasterise;
mod read;
mod rules;
mod schema;
mod spec;
mod textures;
mod turntable;

pub use check::{Report, Verdict, check};
pub use codec::{CompressionLevel, DecodeError, Digest, decode, encode, pack, unpack, unpack_within};
pub use diagnostics::{Position, Rejection, RejectionCode, Warning};
pub use expand::{MAX_COUNT, MAX_OVERDRAW};
pub use export::{ExportError, Format, export};
pub use grid::{Bounds, Grid, GridSize, GridStats};
pub use image::{Background, Camera, OrbitAngle, View, render};
pub use palette::{AIR, Block, Palette, RenderClass};
pub use picture::Picture;
pub use prose::{FoundSpec, find_spec};
pub use rules::{Rules, ValidGrid};
pub use schema::schema;
pub use spec::Spec;
pub use textures::{Face, Textures, Tile, variant_hash};
pub use turntable::{Animation, EncodeError, Turntable};
