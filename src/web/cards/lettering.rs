//! Text on cards: its width, and where its lines break.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};

/// Longer texts are cut first.
const MAX_CHARS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Medium,
    SemiBold,
}

impl Weight {
    pub const ALL: [Self; 2] = [Self::Medium, Self::SemiBold];

    /// As in CSS.
    pub fn number(self) -> u16 {
        match self {
            Self::Medium => 500,
            Self::SemiBold => 600,
        }
    }

    pub fn file(self) -> &'static [u8] {
        match self {
            Self::Medium => include_bytes!("../../../assets/fonts/InterDisplay-Medium.ttf"),
            Self::SemiBold => include_bytes!("../../../assets/fonts/InterDisplay-SemiBold.ttf"),
        }
    }

    fn font(self) -> Option<&'static FontRef<'static>> {
        static FONTS: LazyLock<[Option<FontRef<'static>>; 2]> =
            LazyLock::new(|| Weight::ALL.map(|weight| FontRef::new(weight.file()).ok()));
        FONTS[usize::from(self == Self::SemiBold)].as_ref()
    }

    /// The width of a text at a size of 1 pixel. Kerning makes it a little narrower when it is drawn.
    pub fn width(self, text: &str) -> f32 {
        let Some(font) = self.font() else { return 0.0 };
        let glyphs = font.charmap();
        let metrics = GlyphMetrics::new(font, Size::new(1.0), LocationRef::default());
        let advance = |letter| metrics.advance_width(glyphs.map(letter).unwrap_or_default());
        text.chars().filter_map(advance).sum()
    }

    fn has(self, letter: char) -> bool {
        self.font().is_some_and(|font| font.charmap().map(letter).is_some())
    }
}

/// A text, broken into lines.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedText {
    pub size: f32,
    pub lines: Vec<String>,
}

/// The text in the largest of the sizes in which it fits into the width and the number of lines. If it fits in none, it
/// is cut. `sizes` are in descending order.
pub fn fit_text(text: &str, weight: Weight, width: f32, lines: usize, sizes: &[f32]) -> FittedText {
    let text = printable(text, weight);
    let break_lines = |size: f32| FittedText { size, lines: break_lines(&text, weight, width / size) };
    let fitting = sizes
        .iter()
        .map(|&size| break_lines(size))
        .find(|fitted| fitted.lines.len() <= lines && words_are_whole(&text, &fitted.lines));
    fitting.unwrap_or_else(|| {
        let mut fitted = break_lines(sizes.last().copied().unwrap_or(16.0));
        if fitted.lines.len() > lines {
            fitted.lines.truncate(lines);
            if let Some(last) = fitted.lines.last_mut() {
                *last = truncated(last, weight, width / fitted.size);
            }
        }
        fitted
    })
}

/// Whether no word is split between lines.
fn words_are_whole(text: &str, lines: &[String]) -> bool {
    text.split(' ').filter(|word| !word.is_empty()).count()
        == lines.iter().map(|line| line.split(' ').count()).sum::<usize>()
}

/// The text in one line, as far as the font has its letters. A run of other letters becomes an ellipsis.
fn printable(text: &str, weight: Weight) -> String {
    let mut set = String::new();
    for letter in text.chars().take(MAX_CHARS) {
        if letter.is_whitespace() || letter.is_control() {
            if !set.ends_with(' ') {
                set.push(' ');
            }
        } else if weight.has(letter) {
            set.push(letter);
        } else if letter.is_alphabetic() && !set.ends_with('…') {
            set.push('…');
        }
    }
    let mut words: Vec<&str> = set.split(' ').filter(|word| !word.is_empty()).collect();
    words.dedup_by(|word, before| *word == "…" && *before == "…");
    if words.is_empty() { "…".to_owned() } else { words.join(" ") }
}

/// Breaks greedily. A word that is too long for a line is split.
fn break_lines(text: &str, weight: Weight, width: f32) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if weight.width(&longer) <= width {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for letter in word.chars() {
            line.push(letter);
            if weight.width(&line) > width {
                line.pop();
                lines.push(std::mem::take(&mut line));
                line.push(letter);
            }
        }
    }
    lines.push(line);
    lines
}

/// A line with an ellipsis at its end, cut after a whole word if it has several.
fn truncated(line: &str, weight: Weight, width: f32) -> String {
    let mut kept = line.to_owned();
    loop {
        let cut = format!("{}…", kept.trim_end_matches([' ', ',', '.', ';', ':', '…']));
        if weight.width(&cut) <= width {
            return cut;
        }
        match kept.rfind(' ') {
            Some(end) => kept.truncate(end),
            None if kept.pop().is_none() => return cut,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f32; 3] = [80.0, 60.0, 40.0];

    fn lines(text: &str) -> Vec<String> {
        fit_text(text, Weight::SemiBold, 500.0, 4, &SIZES).lines
    }

    #[test]
    fn whatever_the_text_its_lines_fit() {
        let long = "a very long prompt indeed, ".repeat(40);
        let word = "W".repeat(400);
        for text in [
            "a lighthouse",
            "a lighthouse on a rocky island",
            &long,
            &word,
            "",
            "灯塔",
            "\u{202e}evil",
            "👩‍🚀 on Mars",
        ] {
            let fitted = fit_text(text, Weight::SemiBold, 500.0, 4, &SIZES);
            assert!((1..=4).contains(&fitted.lines.len()), "{text}: {fitted:?}");
            for line in &fitted.lines {
                assert!(
                    !line.is_empty() && Weight::SemiBold.width(line) * fitted.size <= 500.0,
                    "{text}: {line}"
                );
            }
        }
        assert!(lines(&long)[3].ends_with('…'), "a cut text ends with an ellipsis");
    }

    #[test]
    fn short_texts_are_set_large_and_nothing_is_cut_that_fits() {
        assert_eq!(fit_text("a duck", Weight::SemiBold, 500.0, 4, &SIZES).size, 80.0);
        let text = "a lighthouse on a rocky island";
        assert_eq!(lines(text).join(" "), text);
        assert!(!lines("an incomprehensibilities museum").iter().any(|line| line.ends_with('…')));
    }

    #[test]
    fn what_has_no_letters_here_is_left_out_visibly() {
        assert_eq!(lines("a 灯塔 at\tnight\u{0}\u{7}").join(" "), "a … at night");
        assert_eq!(lines("🚒🚒"), ["…"]);
        assert_eq!(lines("שלום עולם"), ["…"]);
        assert_eq!(lines("маяк & <b>"), ["маяк & <b>"]);
    }
}
