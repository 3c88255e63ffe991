//! Exports: a grid as a file for another program.
//!
//! Every format has the exact grid. The formats for Minecraft and MagicaVoxel list blocks with their positions; the
//! mesh formats have only the faces that can be seen, merged into rectangles. The same grid and name always give the
//! same file.

pub(super) mod boxes;
mod glb;
mod litematic;
mod mesh;
mod minecraft;
mod obj;
mod schem;
mod stl;
mod structure;
mod surface;
mod vox;
mod zip;

use std::{fmt, str::FromStr};

use super::grid::{Bounds, Grid};

/// The largest export, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// A file format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
pub enum Format {
    /// A schematic of the third Sponge version.
    Schem,
    Litematic,
    /// The format of Minecraft's structure blocks.
    Nbt,
    /// MagicaVoxel.
    Vox,
    /// Binary glTF with textures.
    Glb,
    /// Wavefront OBJ with its materials and textures, in a zip.
    Obj,
    /// Binary STL, watertight, with one millimetre per block.
    Stl,
    /// A spec without overlaps.
    Json,
}

/// The reason why a grid cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("the build has no blocks to export")]
    Empty,
    #[error(
        "a structure block holds at most {} blocks per side, but this build is {} by {} by {}: use a schem or a litematic",
        structure::MAX_EDGE, .0[0], .0[1], .0[2]
    )]
    TooLargeForStructure([usize; 3]),
    #[error("as {format}, the build would be larger than {} MiB: use a schem or a litematic", MAX_BYTES >> 20)]
    TooLarge { format: Format },
}

/// Writes a grid in a format. The name is used by formats that have a field for it.
///
/// # Errors
/// If the grid is empty, or too large for the format.
pub fn export(grid: &Grid, format: Format, name: &str) -> Result<Vec<u8>, ExportError> {
    let bounds = grid.stats().bounds.ok_or(ExportError::Empty)?;
    let file = match format {
        Format::Schem => Some(schem::write(grid, bounds, name)),
        Format::Litematic => Some(litematic::write(grid, bounds, name)),
        Format::Nbt => return structure::write(grid, bounds),
        Format::Vox => Some(vox::write(grid, bounds)),
        Format::Glb => glb::write(grid, bounds),
        Format::Obj => obj::write(grid, bounds, name),
        Format::Stl => stl::write(grid, bounds),
        Format::Json => boxes::write(grid, bounds, MAX_BYTES),
    };
    file.filter(|file| file.len() <= MAX_BYTES).ok_or(ExportError::TooLarge { format })
}

impl Format {
    pub const ALL: [Self; 8] =
        [Self::Schem, Self::Litematic, Self::Nbt, Self::Vox, Self::Glb, Self::Obj, Self::Stl, Self::Json];

    pub fn name(self) -> &'static str {
        match self {
            Self::Schem => "schem",
            Self::Litematic => "litematic",
            Self::Nbt => "nbt",
            Self::Vox => "vox",
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Stl => "stl",
            Self::Json => "json",
        }
    }

    /// The extension of the file name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Obj => "zip",
            other => other.name(),
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Schem | Self::Litematic | Self::Nbt | Self::Vox => "application/octet-stream",
            Self::Glb => "model/gltf-binary",
            Self::Obj => "application/zip",
            Self::Stl => "model/stl",
            Self::Json => "application/json",
        }
    }

    /// The name for people, such as "MagicaVoxel (.vox)".
    pub fn title(self) -> &'static str {
        match self {
            Self::Schem => "Sponge schematic (.schem)",
            Self::Litematic => "Litematica schematic (.litematic)",
            Self::Nbt => "Structure (.nbt)",
            Self::Vox => "MagicaVoxel (.vox)",
            Self::Glb => "Binary glTF (.glb)",
            Self::Obj => "Wavefront OBJ (.zip)",
            Self::Stl => "Solid for printing (.stl)",
            Self::Json => "Expanded spec (.json)",
        }
    }

    /// The programs that the format is for.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Schem => "for Minecraft with WorldEdit",
            Self::Litematic => "for Minecraft with Litematica",
            Self::Nbt => "for Minecraft’s own structure blocks",
            Self::Vox => "for MagicaVoxel and other voxel editors",
            Self::Glb => "a model with textures, for Blender, game engines and viewers",
            Self::Obj => "for older 3D programs",
            Self::Stl => "for slicers, one millimetre per block",
            Self::Json => "boxes and blocks that do not overlap, for programs",
        }
    }

    /// Whether a build of this size fits into the format. It can still have too much detail to be exported.
    pub fn takes(self, bounds: Bounds) -> bool {
        self != Self::Nbt || bounds.spans().into_iter().all(|span| span <= structure::MAX_EDGE)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests;
