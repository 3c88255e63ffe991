//! Recipes: how tiles are painted.
//!
//! A recipe is a list of layers in a palette file, painted one over the other. A layer has a ramp of colours from dark
//! to light, and a [`Pattern`] that decides which texels are painted and how light each of them is.

use serde::Deserialize;

use super::{Tile, noise::Noise, pattern::Pattern};

/// A layer of a recipe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// A single colour with a `contrast` becomes a ramp of five.
    ramp: Ramp,
    #[serde(default)]
    contrast: f32,
    draw: Pattern,
    /// Another seed gives another random pattern.
    #[serde(default)]
    seed: u32,
}

/// One or more colours, from dark to light.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Vec<Colour>")]
struct Ramp(Vec<Colour>);

impl TryFrom<Vec<Colour>> for Ramp {
    type Error = &'static str;

    fn try_from(colours: Vec<Colour>) -> Result<Self, Self::Error> {
        if colours.is_empty() { Err("a ramp needs a colour") } else { Ok(Self(colours)) }
    }
}

/// An sRGB colour, optionally with alpha: `"#7f8083"` or `"#7f8083c0"`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Colour([u8; 4]);

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a colour such as \"#7f8083\" or \"#7f8083c0\"");
        let digits = text.strip_prefix('#').ok_or_else(wrong)?;
        let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        match digits.len() {
            6 => Ok(Self((number << 8 | 0xff).to_be_bytes())),
            8 => Ok(Self(number.to_be_bytes())),
            _ => Err(wrong()),
        }
    }
}

/// Paints a recipe.
pub fn paint(layers: &[Layer], noise: Noise) -> Tile {
    let mut tile = Tile([[0; 4]; 256]);
    for (salt, layer) in (1..).zip(layers) {
        let ramp = layer.shades();
        let levels = layer.draw.levels(noise.derive(salt + 64 * layer.seed), ramp.len());
        for (texel, level) in tile.0.iter_mut().zip(levels) {
            if let Some(level) = level {
                let index = (level.clamp(0.0, 1.0) * ramp.len() as f32) as usize;
                *texel = over(ramp[index.min(ramp.len() - 1)], *texel);
            }
        }
    }
    tile
}

impl Layer {
    fn shades(&self) -> Vec<[u8; 4]> {
        match self.ramp.0.as_slice() {
            [one] if self.contrast > 0.0 => {
                [-1.0, -0.5, 0.0, 0.5, 1.0].map(|t| one.shade(t * self.contrast)).into()
            }
            ramp => ramp.iter().map(|colour| colour.0).collect(),
        }
    }
}

impl Colour {
    /// A shade of the colour: darker and slightly cooler for amounts below zero, lighter and slightly warmer above.
    fn shade(self, amount: f32) -> [u8; 4] {
        let [r, g, b, a] = self.0;
        let channel = |value: u8, warmth: f32| {
            let lit = f32::from(value) * (1.0 + amount * warmth);
            (lit + 0.5).clamp(0.0, 255.0) as u8
        };
        [channel(r, 1.05), channel(g, 1.0), channel(b, 0.85), a]
    }
}

/// One colour laid over another, both with straight alpha.
fn over(top: [u8; 4], below: [u8; 4]) -> [u8; 4] {
    let (a, b) = (f32::from(top[3]) / 255.0, f32::from(below[3]) / 255.0);
    let alpha = a + b * (1.0 - a);
    if alpha == 0.0 {
        return [top[0], top[1], top[2], 0];
    }
    let mixed = |i: usize| {
        let sum = f32::from(top[i]) * a + f32::from(below[i]) * b * (1.0 - a);
        (sum / alpha + 0.5) as u8
    };
    [mixed(0), mixed(1), mixed(2), (alpha * 255.0 + 0.5) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> Result<Layer, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn recipes_that_make_no_sense_are_refused_with_a_reason() {
        for (ramp, draw, reason) in [
            (r##"["#12345"]"##, r#""flat""#, "not a colour"),
            (r##"[]"##, r#""flat""#, "a ramp needs a colour"),
            (r##"["#123456"]"##, r#""stripes""#, "unknown variant"),
            (r##"["#123456"]"##, "\"flat\"\ncolour = 1", "unknown field"),
            (r##"["#123456"]"##, "{ grain = { blotch = [3, 4], rough = 0.5 } }", "1, 2, 4, 8 or 16"),
            (r##"["#123456"]"##, r#"{ drawing = ["...", "..."] }"#, "16 rows of 16"),
        ] {
            let refusal = layer(&format!("ramp = {ramp}\ndraw = {draw}")).unwrap_err();
            assert!(refusal.contains(reason), "{refusal}");
        }
    }

    #[test]
    fn a_colour_with_contrast_becomes_a_ramp_from_dark_to_light() {
        let wool = layer("ramp = [\"#808080\"]\ncontrast = 0.2\ndraw = \"flat\"").unwrap().shades();
        assert_eq!(wool.len(), 5);
        assert_eq!(wool[2], [128, 128, 128, 255]);
        assert!(wool.is_sorted());
    }

    #[test]
    fn what_is_half_there_lets_through_what_is_below() {
        assert_eq!(over([255, 0, 0, 255], [0, 0, 255, 255]), [255, 0, 0, 255]);
        assert_eq!(over([200, 0, 0, 102], [0, 0, 100, 255]), [80, 0, 60, 255]);
        assert_eq!(over([200, 9, 9, 0], [0, 0, 0, 0])[3], 0);
        assert_eq!(over([200, 9, 9, 51], [0, 0, 0, 0]), [200, 9, 9, 51]);
    }
}
