//! Draws a card: pictures and lines of text on a plain background.

use std::sync::{Arc, LazyLock};

use askama::Template;
use resvg::tiny_skia::{IntSize, Pixmap, Transform};
use resvg::usvg::{self, fontdb};
use uuid::Uuid;

use super::lettering::{FittedText, Weight, fit_text};
use voxel::Grid;
use voxel::image::{self, Background, Picture, View};

pub const WIDTH: u32 = 1200;
pub const HEIGHT: u32 = 630;

/// The colours of the stylesheet's light theme.
const BACKGROUND: [u8; 4] = [0xf6, 0xf5, 0xf1, 0xff];
pub const INK: &str = "#1b1a17";
pub const SOFT: &str = "#59564d";
pub const ACCENT: &str = "#2b44bd";
pub const TRACK: &str = "#e3e1d8";

/// The content of a card, in pixels from the top left.
#[derive(Clone, Debug, Template)]
#[template(path = "card.svg", escape = "html")]
pub struct Poster {
    pub pictures: Vec<PlacedPicture>,
    pub lines: Vec<TextLine>,
    pub rules: Vec<CardRule>,
    /// The position of the site's name, if it is shown.
    pub brand: Option<[f32; 2]>,
}

#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub source: PictureSource,
    pub left: u32,
    pub top: u32,
    pub size: u16,
}

/// The build that a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureSource {
    Stored(Uuid),
    /// A build that comes with the program, by its file.
    Shipped(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TextLine {
    pub words: String,
    /// The anchor of its baseline.
    pub x: f32,
    pub y: f32,
    pub size: f32,
    pub weight: Weight,
    pub colour: &'static str,
    pub anchor: Anchor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CardRule {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    pub colour: &'static str,
}

/// The style of a text, and the room for it.
#[derive(Clone, Copy)]
pub struct TextStyle<'a> {
    pub weight: Weight,
    pub colour: &'static str,
    pub anchor: Anchor,
    pub width: f32,
    pub lines: usize,
    pub sizes: &'a [f32],
}

impl Anchor {
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Poster {
    pub fn new() -> Self {
        Self { pictures: Vec::new(), lines: Vec::new(), rules: Vec::new(), brand: Some([64.0, 558.0]) }
    }

    pub fn place(&mut self, source: PictureSource, left: u32, top: u32, size: u16) {
        self.pictures.push(PlacedPicture { source, left, top, size });
    }

    /// Sets text below `top`, and returns its lower edge.
    pub fn set_text(&mut self, text: &str, [x, top]: [f32; 2], style: TextStyle<'_>) -> f32 {
        let TextStyle { weight, colour, anchor, width, lines, sizes } = style;
        let FittedText { size, lines } = fit_text(text, weight, width, lines, sizes);
        let leading = (size * 1.12).round();
        let mut y = top;
        for words in lines {
            let baseline = y + size * 0.84;
            self.lines.push(TextLine { words, x, y: baseline, size, weight, colour, anchor });
            y += leading;
        }
        y
    }

    pub fn rule(&mut self, [x, y]: [f32; 2], [width, height]: [f32; 2], colour: &'static str) {
        self.rules.push(CardRule { x, y, width, height, colour });
    }
}

/// A bug in a layout or in the template.
#[derive(Debug, thiserror::Error)]
#[error("a card could not be drawn: {0}")]
pub struct CardError(String);

impl Poster {
    /// Draws a PNG, which is heavy work. `grids` are those of the pictures.
    pub fn draw(&self, grids: &[Grid]) -> Result<Vec<u8>, CardError> {
        let mut rgba = BACKGROUND.repeat((WIDTH * HEIGHT) as usize);
        for (placed, grid) in self.pictures.iter().zip(grids) {
            let view = View::new(0, placed.size, Background::Wall).map_err(CardError)?;
            paste(&mut rgba, &image::render(grid, &view, 1), placed.left, placed.top);
        }
        let size = IntSize::from_wh(WIDTH, HEIGHT).ok_or_else(|| CardError("no size".to_owned()))?;
        let mut canvas = Pixmap::from_vec(rgba, size).ok_or_else(|| CardError("no canvas".to_owned()))?;
        resvg::render(&self.tree()?, Transform::identity(), &mut canvas.as_mut());
        Ok(Picture { width: WIDTH, height: HEIGHT, rgba: canvas.take() }.opaque_png())
    }

    fn tree(&self) -> Result<usvg::Tree, CardError> {
        static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
            let mut fonts = fontdb::Database::new();
            for weight in Weight::ALL {
                fonts.load_font_data(weight.file().to_vec());
            }
            Arc::new(fonts)
        });
        let svg = self.render().map_err(|error| CardError(error.to_string()))?;
        let options = usvg::Options { fontdb: Arc::clone(&FONTS), ..usvg::Options::default() };
        usvg::Tree::from_str(&svg, &options).map_err(|error| CardError(error.to_string()))
    }
}

/// Copies an opaque picture, cut at the edges of the canvas.
fn paste(canvas: &mut [u8], picture: &Picture, left: u32, top: u32) {
    let (width, left) = (WIDTH as usize, left as usize);
    let rows = picture.rgba.chunks_exact(picture.width as usize * 4);
    for (row, y) in rows.zip(top as usize..HEIGHT as usize) {
        let room = row.len().min((width - left.min(width)) * 4);
        let start = (y * width + left) * 4;
        canvas[start..start + room].copy_from_slice(&row[..room]);
    }
}

#[cfg(test)]
impl Poster {
    /// The boxes of its texts as they are really set: left, top, right, bottom.
    pub fn boxes(&self) -> Vec<(String, [f32; 4])> {
        fn gather(group: &usvg::Group, found: &mut Vec<(String, [f32; 4])>) {
            for node in group.children() {
                match node {
                    usvg::Node::Group(inner) => gather(inner, found),
                    usvg::Node::Text(text) => {
                        let around = text.abs_bounding_box();
                        let words = text.chunks().iter().map(resvg::usvg::TextChunk::text).collect();
                        found.push((words, [around.left(), around.top(), around.right(), around.bottom()]));
                    }
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        gather(self.tree().unwrap().root(), &mut found);
        found
    }
}
