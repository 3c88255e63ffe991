//! A card as something to draw: pictures and lines of type on a wall.

use std::sync::{Arc, LazyLock};

use askama::Template;
use resvg::tiny_skia::{IntSize, Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::lettering::{Fitted, Weight, fit};
use voxel::{self, Background, Grid, Picture, View};

pub const WIDTH: u32 = 1200;
pub const HEIGHT: u32 = 630;

/// As the stylesheet has them in light.
const WALL: [u8; 4] = [0xf6, 0xf5, 0xf1, 0xff];
pub const INK: &str = "#1b1a17";
pub const SOFT: &str = "#59564d";
pub const ACCENT: &str = "#2b44bd";

/// What a card shows, and where, in pixels from the top left. `P` names what is pictured.
#[derive(Clone, Debug)]
pub struct Poster<P> {
    pub pictures: Vec<Hung<P>>,
    pub lines: Vec<Line>,
    pub rules: Vec<Rule>,
    /// Where the site's name goes, if it does.
    pub brand: Option<[f32; 2]>,
}

#[derive(Clone, Debug)]
pub struct Hung<P> {
    pub what: P,
    pub left: u32,
    pub top: u32,
    pub size: u16,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub words: String,
    /// Where its baseline begins, ends, or has its middle.
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
pub struct Rule {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    pub colour: &'static str,
}

/// How some text is set.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
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

impl<P> Poster<P> {
    pub fn new() -> Self {
        Self { pictures: Vec::new(), lines: Vec::new(), rules: Vec::new(), brand: Some([64.0, 558.0]) }
    }

    pub fn hang(&mut self, what: P, left: u32, top: u32, size: u16) {
        self.pictures.push(Hung { what, left, top, size });
    }

    /// Sets text below a line at `top`, and returns where it ends.
    pub fn set(&mut self, text: &str, [x, top]: [f32; 2], setting: Setting<'_>) -> f32 {
        let Setting { weight, colour, anchor, width, lines, sizes } = setting;
        let Fitted { size, lines } = fit(text, weight, width, lines, sizes);
        let leading = (size * 1.12).round();
        let mut y = top;
        for words in lines {
            let baseline = y + size * 0.84;
            self.lines.push(Line { words, x, y: baseline, size, weight, colour, anchor });
            y += leading;
        }
        y
    }

    pub fn rule(&mut self, [x, y]: [f32; 2], [width, height]: [f32; 2], colour: &'static str) {
        self.rules.push(Rule { x, y, width, height, colour });
    }

    /// The same, with what was found for each of its pictures.
    pub fn with<Q>(self, found: impl IntoIterator<Item = Q>) -> Poster<Q> {
        let hung =
            |(hung, what): (Hung<P>, Q)| Hung { what, left: hung.left, top: hung.top, size: hung.size };
        let pictures = self.pictures.into_iter().zip(found).map(hung).collect();
        Poster { pictures, lines: self.lines, rules: self.rules, brand: self.brand }
    }
}

#[derive(Template)]
#[template(path = "card.svg", escape = "html")]
struct Sheet<'a> {
    lines: &'a [Line],
    rules: &'a [Rule],
    brand: Option<[f32; 2]>,
}

/// There is a fault in how it is drawn.
#[derive(Debug, thiserror::Error)]
#[error("a card could not be drawn: {0}")]
pub struct NotDrawn(String);

impl Poster<Grid> {
    /// As a PNG. Heavy work.
    pub fn draw(&self) -> Result<Vec<u8>, NotDrawn> {
        let mut rgba = WALL.repeat((WIDTH * HEIGHT) as usize);
        for hung in &self.pictures {
            let view = View::new(0, hung.size, Background::Wall).map_err(NotDrawn)?;
            paste(&mut rgba, &voxel::render(&hung.what, &view, 1), hung.left, hung.top);
        }
        let size = IntSize::from_wh(WIDTH, HEIGHT).ok_or_else(|| NotDrawn("no size".to_owned()))?;
        let mut canvas = Pixmap::from_vec(rgba, size).ok_or_else(|| NotDrawn("no canvas".to_owned()))?;
        resvg::render(&self.tree()?, Transform::identity(), &mut canvas.as_mut());
        Ok(Picture { width: WIDTH, height: HEIGHT, rgba: canvas.take() }.opaque_png())
    }
}

impl<P> Poster<P> {
    fn tree(&self) -> Result<usvg::Tree, NotDrawn> {
        static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
            let mut fonts = fontdb::Database::new();
            for weight in Weight::ALL {
                fonts.load_font_data(weight.file().to_vec());
            }
            Arc::new(fonts)
        });
        let sheet = Sheet { lines: &self.lines, rules: &self.rules, brand: self.brand };
        let svg = sheet.render().map_err(|error| NotDrawn(error.to_string()))?;
        let options = usvg::Options { fontdb: Arc::clone(&FONTS), ..usvg::Options::default() };
        usvg::Tree::from_str(&svg, &options).map_err(|error| NotDrawn(error.to_string()))
    }
}

/// The picture is opaque; what would reach over the edge is left out.
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
impl<P> Poster<P> {
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
