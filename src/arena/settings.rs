//! Settings: builds, ratings and votes belong to settings, and only builds of the same settings are compared.

use std::fmt;
use std::str::FromStr;

use voxel::{GridSize, Palette};

/// A grid size, a palette and a mode, such as `32 · simple · precise`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub grid: GridSize,
    pub palette: Palette,
    pub mode: Mode,
}

/// A short slug such as `precise`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mode(String);

impl Mode {
    pub const ALLOWED: &str = "1 to 32 characters a-z, 0-9 and -";

    pub fn precise() -> Self {
        Self("precise".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Settings {
    /// The spelling in the database and in files, which also names the ladder: `32-simple-precise`.
    pub fn slug(&self) -> String {
        format!("{}-{}-{}", self.grid, self.palette, self.mode.as_str())
    }

    /// These settings, with another grid or palette where one is named.
    #[must_use]
    pub fn with(&self, grid: Option<GridSize>, palette: Option<Palette>) -> Self {
        Self {
            grid: grid.unwrap_or(self.grid),
            palette: palette.unwrap_or(self.palette),
            mode: self.mode.clone(),
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match (1..=32).contains(&text.len()) && text.chars().all(is_slug) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("a mode is {}", Self::ALLOWED)),
        }
    }
}

/// Reads what [`Settings::slug`] writes. Neither a grid's size nor a palette's name contains a hyphen; a mode may.
impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, '-');
        let (Some(grid), Some(palette), Some(mode)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(format!("{text:?} is not of the form 32-simple-precise"));
        };
        Ok(Self { grid: grid.parse()?, palette: palette.parse()?, mode: mode.parse()? })
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.grid, self.palette, self.mode.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_reads_back_as_the_same_settings() {
        for slug in ["32-simple-precise", "256-advanced-loose-and-quick"] {
            assert_eq!(slug.parse::<Settings>().map(|settings| settings.slug()), Ok(slug.to_owned()));
        }
        for wrong in [
            "",
            "32",
            "32-simple",
            "32-simple-",
            "33-simple-precise",
            "32-plain-precise",
            "32-simple-Precise",
        ] {
            assert!(wrong.parse::<Settings>().is_err(), "{wrong}");
        }
    }
}
