//! What items look like: a drawing of `data/icons.toml`, a block, a tool, or a label with their initials.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use craft::{ItemId, ItemStack};
use serde::Deserialize;

use super::canvas::{Canvas, PixelRect};
use super::letters::{is_letter_at, paint_count};
use super::tools::tool_drawing;
use crate::atlas::Atlas;
use crate::block::{Shape, WorldBlock};
use crate::item::{Tool, ToolMaterial};
use crate::place::block_of_item;

/// Sixteen rows of sixteen texels: red, green, blue and alpha.
pub(in crate::view) type IconTexels = [[u8; 4]; 256];

/// How many rows and columns a cube is computed with for each of its texels.
const FINE: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IconFile {
    colours: BTreeMap<String, String>,
    drawing: Vec<IconDrawing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IconDrawing {
    /// The colours of items, by their ids.
    items: BTreeMap<String, String>,
    rows: String,
}

/// A drawing of an item, with its colours.
struct ColouredDrawing<'a> {
    rows: &'a str,
    colours: Vec<[u8; 3]>,
}

/// What an item looks like, which is painted when it is first seen.
pub(in crate::view) fn icon(item: ItemId) -> &'static IconTexels {
    static ICONS: LazyLock<Vec<OnceLock<IconTexels>>> =
        LazyLock::new(|| ItemId::all().map(|_| OnceLock::new()).collect());
    static NONE: IconTexels = [[0; 4]; 256];
    ICONS.get(item.index()).map_or(&NONE, |icon| icon.get_or_init(|| painted(item)))
}

/// Paints an item, each texel as a square, in some light.
pub(super) fn paint_icon(canvas: &mut Canvas, item: ItemId, [x, y]: [i32; 2], scale: i32, light: u16) {
    if !canvas.shows(PixelRect::new([x, y], [16 * scale; 2])) {
        return;
    }
    for (place, [r, g, b, alpha]) in icon(item).iter().enumerate() {
        if *alpha < 128 {
            continue;
        }
        let [r, g, b] = [r, g, b].map(|part| (u32::from(*part) * u32::from(light) / 256) as u8);
        let [column, row] = [place % 16, place / 16].map(|at| at as i32 * scale);
        canvas.fill(PixelRect::new([x + column, y + row], [scale; 2]), [r, g, b, 255]);
    }
}

/// Paints a stack: the item, how many, and how worn it is.
pub(super) fn paint_stack(canvas: &mut Canvas, stack: ItemStack, [x, y]: [i32; 2]) {
    if !canvas.shows(PixelRect::new([x, y], [18; 2])) {
        return;
    }
    paint_icon(canvas, stack.item, [x, y], 1, 256);
    if let Some(durability) = stack.item.durability().filter(|_| stack.wear > 0) {
        let left = u32::from(durability.saturating_sub(stack.wear)) * 13 / u32::from(durability.max(1));
        let part = left * 255 / 13;
        canvas.fill(PixelRect::new([x + 2, y + 13], [13, 2]), [0, 0, 0, 255]);
        let colour = [(255 - part).min(127) * 2, part.min(127) * 2].map(|part| part as u8);
        canvas.fill(PixelRect::new([x + 2, y + 13], [left as i32, 1]), [colour[0], colour[1], 0, 255]);
    }
    if stack.count > 1 {
        paint_count(canvas, stack.count, [x + 18, y + 9]);
    }
}

fn painted(item: ItemId) -> IconTexels {
    if let Some(drawn) = drawing(item.id()) {
        return drawn.paint();
    }
    if let Some(block) = block_of_item(item.id()) {
        return block_icon(block);
    }
    item.tool().map_or_else(|| label(item), tool_icon)
}

fn icons() -> &'static IconFile {
    static FILE: LazyLock<IconFile> = LazyLock::new(|| {
        let file = toml::from_str(include_str!("../../../data/icons.toml"));
        #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
        file.expect("data/icons.toml is sound")
    });
    &FILE
}

/// The item's own drawing, or the first with a star that matches it.
fn drawing(id: &str) -> Option<ColouredDrawing<'static>> {
    let file = icons();
    let own = || file.drawing.iter().find_map(|drawing| Some((drawing, drawing.items.get(id)?.as_str(), "")));
    let starred = || {
        let lines =
            file.drawing.iter().flat_map(|drawing| drawing.items.iter().map(move |line| (drawing, line)));
        lines.into_iter().find_map(|(drawing, (pattern, colours))| {
            let (before, after) = pattern.split_once('*')?;
            Some((drawing, colours.as_str(), id.strip_prefix(before)?.strip_suffix(after)?))
        })
    };
    let (drawing, colours, star) = own().or_else(starred)?;
    let colour = |word: &str| colour_of(if word == "*" { file.colours.get(star)? } else { word });
    let colours = colours.split(' ').map(colour).collect::<Option<_>>()?;
    Some(ColouredDrawing { rows: &drawing.rows, colours })
}

fn colour_of(text: &str) -> Option<[u8; 3]> {
    let number = u32::from_str_radix(text.strip_prefix('#')?, 16).ok()?;
    let [_, r, g, b] = number.to_be_bytes();
    Some([r, g, b])
}

impl ColouredDrawing<'_> {
    fn paint(&self) -> IconTexels {
        let rows: Vec<&str> = self.rows.trim().lines().collect();
        let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let (left, top) = ((16_usize.saturating_sub(width)) / 2, 16_usize.saturating_sub(rows.len()) / 2);
        let mut texels = [[0; 4]; 256];
        for (y, row) in rows.iter().enumerate() {
            for (x, mark) in row.bytes().enumerate() {
                let place = (top + y) * 16 + left + x;
                if let (Some(texel), Some([r, g, b])) = (texels.get_mut(place), self.colour(mark)) {
                    *texel = [r, g, b, 255];
                }
            }
        }
        texels
    }

    /// The colour of a mark; none if it is clear.
    fn colour(&self, mark: u8) -> Option<[u8; 3]> {
        let first = *self.colours.first()?;
        let second = self.colours.get(1).copied().unwrap_or(first);
        let darker = |colour: [u8; 3], share: u32| colour.map(|part| (u32::from(part) * share / 100) as u8);
        let lighter = |colour: [u8; 3]| colour.map(|part| part + ((255 - u32::from(part)) * 2 / 5) as u8);
        Some(match mark {
            b'#' => first,
            b'o' => lighter(first),
            b'+' => darker(first, 70),
            b'-' => darker(first, 40),
            b'2' => second,
            b'3' => lighter(second),
            b'1' => darker(second, 70),
            b'/' => [138, 101, 54],
            b'%' => [92, 66, 34],
            b'w' => [238, 238, 236],
            b'k' => [34, 34, 38],
            _ => return None,
        })
    }
}

fn block_icon(block: WorldBlock) -> IconTexels {
    let atlas = Atlas::get();
    let drawn = &atlas.states[usize::from(block.0)];
    let tile = |face: usize| &atlas.tiles[usize::from(drawn.faces[face].first)];
    match drawn.shape {
        Shape::Cube => cube_icon([tile(3), tile(4), tile(1)].map(|tile| &tile[..256])),
        _ => {
            // What lies flat has no sides.
            let is_there = |face: &usize| tile(*face)[..256].iter().any(|texel| texel[3] >= 128);
            let face = [5, 3].into_iter().find(is_there).unwrap_or(5);
            std::array::from_fn(|place| tile(face)[place])
        }
    }
}

/// A cube from its top and two sides, each seen as a rhomb.
fn cube_icon([top, left, right]: [&[[u8; 4]]; 3]) -> IconTexels {
    std::array::from_fn(|place| {
        let mut sum = [0_u32; 4];
        for part in 0..FINE * FINE {
            let at = |whole: usize, fine: usize| whole as f32 + (fine as f32 + 0.5) / FINE as f32;
            let (x, y) = (at(place % 16, part % FINE), at(place / 16, part / FINE));
            let Some(([r, g, b, alpha], shade)) = cube_texel([top, left, right], x, y) else { continue };
            for (sum, part) in sum.iter_mut().zip([r, g, b]) {
                *sum += u32::from(part) * shade / 100 * u32::from(alpha);
            }
            sum[3] += u32::from(alpha);
        }
        let [r, g, b] = [sum[0], sum[1], sum[2]].map(|part| part.checked_div(sum[3]).unwrap_or(0) as u8);
        [r, g, b, (sum[3] / (FINE * FINE) as u32) as u8]
    })
}

/// The texel of a cube at a place of its icon, and how bright its side is, in hundredths.
fn cube_texel([top, left, right]: [&[[u8; 4]]; 3], x: f32, y: f32) -> Option<([u8; 4], u32)> {
    // From the middle, in halves of the width and of the top's height.
    let (across, down) = ((x - 8.0) / 7.5, (y - 0.25) / 3.75);
    let (u, v) = ((down + across) / 2.0, (down - across) / 2.0);
    let texel = |tile: &[[u8; 4]], u: f32, v: f32| {
        let within = |part: f32| (0.0..1.0).contains(&part).then_some((part * 16.0) as usize);
        Some(tile[within(v)? * 16 + within(u)?])
    };
    if let Some(found) = texel(top, u, v) {
        return Some((found, 100));
    }
    // Below the edges of the top, which go down to the middle.
    let height = 8.0;
    if across < 0.0 {
        texel(left, across + 1.0, (y - 4.0 - 3.75 * (across + 1.0)) / height).map(|found| (found, 80))
    } else {
        texel(right, across, (y - 7.75 + 3.75 * across) / height).map(|found| (found, 60))
    }
}

fn tool_icon(Tool { kind, material }: Tool) -> IconTexels {
    let head = match material {
        ToolMaterial::Wood => [139, 108, 62],
        ToolMaterial::Stone => [137, 137, 137],
        ToolMaterial::Iron => [216, 216, 216],
        ToolMaterial::Diamond => [74, 222, 205],
        ToolMaterial::Netherite => [76, 66, 70],
        ToolMaterial::Gold => [246, 221, 72],
    };
    let drawing = tool_drawing(kind);
    std::array::from_fn(|place| match drawing[place / 16].as_bytes()[place % 16] {
        b'#' => [head[0], head[1], head[2], 255],
        b'+' => [head[0] / 2, head[1] / 2, head[2] / 2, 255],
        b'/' => [122, 88, 44, 255],
        _ => [0; 4],
    })
}

/// A label in a colour of the item's own, with its initials.
fn label(item: ItemId) -> IconTexels {
    let id = item.id();
    let number = id.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let part = |shift: u32| 90 + (number >> shift & 127) as u8;
    let [r, g, b] = [part(3), part(11), part(19)];
    let mut initials = id.split('_').filter_map(|word| word.bytes().next());
    let letters = [initials.next().unwrap_or(b' '), initials.next().unwrap_or(b' ')];
    std::array::from_fn(|place| {
        let (x, y) = (place % 16, place / 16);
        let is_border = [2, 13].contains(&y) || [1, 14].contains(&x);
        let written = letters.into_iter().enumerate().any(|(at, letter)| {
            let left = if letters[1] == b' ' { 6 } else { 4 + at * 5 };
            (left..left + 3).contains(&x) && (6..11).contains(&y) && is_letter_at(letter, x - left, y - 6)
        });
        match () {
            () if !(2..14).contains(&y) || !(1..15).contains(&x) => [0; 4],
            () if is_border => [r / 2, g / 2, b / 2, 255],
            () if written => [28, 28, 32, 255],
            () if y == 3 || x == 2 => [r + 30, g + 30, b + 30, 255],
            () => [r, g, b, 255],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawing_is_of_known_items_and_fits() {
        for IconDrawing { items, rows } in &icons().drawing {
            for (pattern, colours) in items {
                let matches = |item: &ItemId| match pattern.split_once('*') {
                    None => item.id() == pattern,
                    Some((before, after)) => item.id().starts_with(before) && item.id().ends_with(after),
                };
                assert!(ItemId::all().any(|item| matches(&item)), "no item is {pattern}");
                for colour in colours.split(' ') {
                    assert!(colour == "*" || colour_of(colour).is_some(), "{pattern}: {colour}");
                }
            }
            let lines: Vec<&str> = rows.trim().lines().collect();
            assert!(lines.len() <= 16, "{items:?} is too high");
            for line in lines {
                assert!(line.len() <= 16, "{items:?} is too wide");
                assert!(line.bytes().all(|mark| b".#o+-231/%wk".contains(&mark)), "{items:?}: {line}");
            }
        }
    }

    #[test]
    fn every_item_has_an_icon() {
        for item in ItemId::all().filter(|item| item.id() != "air") {
            assert!(icon(item).iter().any(|texel| texel[3] >= 128), "{item}");
        }
    }
}
