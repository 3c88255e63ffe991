//! The layout of each kind of card.

use uuid::Uuid;

use super::lettering::Weight::{self, Medium, SemiBold};
use super::poster::{ACCENT, Anchor, HEIGHT, INK, PictureSource, Poster, SOFT, TRACK, TextStyle, WIDTH};
use crate::arena::Choice;
use crate::web::filters::capitalised;

/// A model's place on the leaderboard.
#[derive(Clone, Debug)]
pub struct CardStanding {
    pub name: String,
    pub rank: usize,
    pub elo: f64,
    /// One of its builds.
    pub build: Option<Uuid>,
}

/// A side of a matchup.
pub struct CardSide<'a> {
    pub name: &'a str,
    pub build: Uuid,
}

const MARGIN: f32 = 64.0;
/// The width of the text beside a large picture.
const COLUMN: f32 = 520.0;
/// Where bars stand beside the text.
const BARS: [f32; 2] = [680.0, 456.0];
/// The highest that a bar is, and the room for all of them.
const BAR_HEIGHT: f32 = 34.0;
const BARS_HEIGHT: f32 = 500.0;
const TITLE_SIZES: [f32; 5] = [84.0, 74.0, 64.0, 56.0, 48.0];
const SUBTITLE_SIZES: [f32; 3] = [44.0, 38.0, 34.0];

/// Two builds of the same prompt, for the site's own card.
const SITE_BUILDS: [&str; 2] =
    ["32-simple/treehouse/reference_sculptor.json", "32-simple/treehouse/reference_architect.json"];

fn text_style<'a>(weight: Weight, colour: &'static str, lines: usize, sizes: &'a [f32]) -> TextStyle<'a> {
    TextStyle { weight, colour, anchor: Anchor::Start, width: COLUMN, lines, sizes }
}

/// A card with a large picture on the right.
fn with_large_picture(picture: Option<PictureSource>) -> Poster {
    let mut poster = Poster::new();
    if let Some(picture) = picture {
        poster.place(picture, WIDTH - HEIGHT, 0, HEIGHT as u16);
    }
    poster
}

pub fn build(prompt: &str, model: &str, id: Uuid) -> Poster {
    let mut poster = with_large_picture(Some(PictureSource::Stored(id)));
    let end =
        poster.set_text(&capitalised(prompt), [MARGIN, 64.0], text_style(SemiBold, INK, 4, &TITLE_SIZES));
    poster.set_text(
        &format!("by {model}"),
        [MARGIN, end + 20.0],
        text_style(Medium, SOFT, 2, &SUBTITLE_SIZES),
    );
    poster
}

/// `covers` are some of its builds.
pub fn prompt(prompt: &str, builds: i64, covers: &[Uuid]) -> Poster {
    let mut poster = with_large_picture(None);
    match covers {
        [a, b, c, d, ..] => {
            for (i, id) in [*a, *b, *c, *d].into_iter().enumerate() {
                let (column, row) = (i as u32 % 2, i as u32 / 2);
                poster.place(PictureSource::Stored(id), 580 + 306 * column, 12 + 304 * row, 302);
            }
        }
        [one, ..] => poster.place(PictureSource::Stored(*one), WIDTH - HEIGHT, 0, HEIGHT as u16),
        [] => {}
    }
    let end =
        poster.set_text(&capitalised(prompt), [MARGIN, 64.0], text_style(SemiBold, INK, 4, &TITLE_SIZES));
    let count = match builds {
        0 => "No builds yet".to_owned(),
        1 => "One build".to_owned(),
        more => format!("{more} builds"),
    };
    poster.set_text(&count, [MARGIN, end + 20.0], text_style(Medium, SOFT, 1, &SUBTITLE_SIZES));
    poster
}

pub fn model(name: &str, standing: Option<&CardStanding>, models: usize, build: Option<Uuid>) -> Poster {
    let mut poster = with_large_picture(build.map(PictureSource::Stored));
    let end = poster.set_text(name, [MARGIN, 64.0], text_style(SemiBold, INK, 3, &TITLE_SIZES));
    match standing {
        Some(standing) => {
            let elo = format!("Elo {:.0}", standing.elo);
            let end = poster.set_text(&elo, [MARGIN, end + 20.0], text_style(SemiBold, ACCENT, 1, &[72.0]));
            let rank = format!("Rank {} of {models}", standing.rank);
            poster.set_text(&rank, [MARGIN, end + 4.0], text_style(Medium, SOFT, 1, &[44.0]));
        }
        None => drop(poster.set_text(
            "Not on the leaderboard",
            [MARGIN, end + 20.0],
            text_style(Medium, SOFT, 1, &SUBTITLE_SIZES),
        )),
    }
    poster
}

/// What an agent has scored, in a sentence, and how much of each task or category it has: shares from 0 to 1.
pub struct CardScores<'a> {
    pub name: &'a str,
    /// What it was about.
    pub subject: &'a str,
    /// The largest words after the name.
    pub score: &'a str,
    pub shares: &'a [f64],
}

/// An agent, or one of its assessments, with a bar for each share.
pub fn agent(scores: &CardScores<'_>) -> Poster {
    let mut poster = Poster::new();
    let end = poster.set_text(scores.name, [MARGIN, 64.0], text_style(SemiBold, INK, 2, &TITLE_SIZES));
    let end =
        poster.set_text(scores.score, [MARGIN, end + 16.0], text_style(SemiBold, ACCENT, 1, &[64.0, 52.0]));
    poster.set_text(scores.subject, [MARGIN, end + 12.0], text_style(Medium, SOFT, 2, &SUBTITLE_SIZES));
    let pitch = (BARS_HEIGHT / scores.shares.len().max(1) as f32).min(1.5 * BAR_HEIGHT);
    let height = (pitch * 0.7).min(BAR_HEIGHT);
    let top = (HEIGHT as f32 - pitch * scores.shares.len() as f32) / 2.0;
    let [left, width] = BARS;
    for (i, share) in scores.shares.iter().enumerate() {
        let y = top + pitch * i as f32;
        poster.rule([left, y], [width, height], TRACK);
        if *share > 0.0 {
            poster.rule([left, y], [(width * *share as f32).clamp(2.0, width), height], ACCENT);
        }
    }
    poster
}

pub fn matchup(prompt: &str, [a, b]: [CardSide<'_>; 2], choice: Choice) -> Poster {
    let mut poster = Poster::new();
    poster.brand = None;
    let middle = WIDTH as f32 / 2.0;
    let head = TextStyle {
        anchor: Anchor::Middle,
        width: 1100.0,
        ..text_style(SemiBold, INK, 1, &[60.0, 52.0, 44.0])
    };
    poster.set_text(&capitalised(prompt), [middle, 30.0], head);
    let word = match choice {
        Choice::A => "beats",
        Choice::B => "loses to",
        Choice::Tie => "Tie",
        Choice::BothBad => "Both bad",
    };
    let between =
        TextStyle { anchor: Anchor::Middle, width: 220.0, ..text_style(SemiBold, SOFT, 1, &[48.0]) };
    for (side, x, won) in [(a, 60, choice == Choice::A), (b, 720, choice == Choice::B)] {
        poster.place(PictureSource::Stored(side.build), x, 96, 420);
        let middle = x as f32 + 210.0;
        let (weight, colour) = if won { (SemiBold, ACCENT) } else { (Medium, SOFT) };
        let name = TextStyle {
            anchor: Anchor::Middle,
            width: 490.0,
            ..text_style(weight, colour, 1, &[48.0, 42.0, 36.0])
        };
        let end = poster.set_text(side.name, [middle, 522.0], name);
        if won {
            poster.rule([middle - 60.0, end + 8.0], [120.0, 8.0], ACCENT);
        }
    }
    poster.set_text(word, [middle, 280.0], between);
    poster
}

pub fn leaderboard(leaders: &[CardStanding]) -> Poster {
    let mut poster = Poster::new();
    poster.set_text(
        "Leaderboard",
        [MARGIN, 48.0],
        TextStyle { width: 700.0, ..text_style(SemiBold, INK, 1, &[76.0]) },
    );
    poster.brand = Some([952.0, 100.0]);
    if leaders.is_empty() {
        poster.set_text(
            "No votes yet.",
            [MARGIN, 180.0],
            TextStyle { width: 1000.0, ..text_style(Medium, SOFT, 2, &[52.0]) },
        );
    }
    for (i, standing) in leaders.iter().take(3).enumerate() {
        let top = 156.0 + 154.0 * i as f32;
        poster.rule([MARGIN, top], [WIDTH as f32 - 2.0 * MARGIN, 2.0], "#d9d6cc");
        if let Some(build) = standing.build {
            poster.place(PictureSource::Stored(build), 142, top as u32 + 4, 148);
        }
        let line = top + 46.0;
        let colour = if i == 0 { ACCENT } else { INK };
        poster.set_text(
            &standing.rank.to_string(),
            [MARGIN, line],
            TextStyle { width: 76.0, ..text_style(SemiBold, colour, 1, &[60.0, 40.0]) },
        );
        poster.set_text(
            &standing.name,
            [320.0, line],
            TextStyle { width: 590.0, ..text_style(SemiBold, colour, 1, &[60.0, 52.0, 46.0]) },
        );
        let elo = TextStyle { anchor: Anchor::End, width: 200.0, ..text_style(Medium, SOFT, 1, &[60.0]) };
        poster.set_text(&format!("{:.0}", standing.elo), [WIDTH as f32 - MARGIN, line], elo);
    }
    poster
}

/// For every page without a card of its own.
pub fn site() -> Poster {
    let mut poster = Poster::new();
    poster.brand = None;
    let middle = WIDTH as f32 / 2.0;
    for (file, left) in SITE_BUILDS.into_iter().zip([82, 702]) {
        poster.place(PictureSource::Shipped(file), left, 178, 416);
    }
    let centred = |weight, colour, sizes| TextStyle {
        anchor: Anchor::Middle,
        width: 1100.0,
        ..text_style(weight, colour, 1, sizes)
    };
    let end = poster.set_text("Which is better?", [middle, 36.0], centred(SemiBold, INK, &[92.0]));
    poster.set_text(
        "AI models build it with blocks. You vote blind.",
        [middle, end],
        centred(Medium, SOFT, &[42.0]),
    );
    poster.brand = Some([WIDTH as f32 / 2.0 - 106.0, 600.0]);
    poster
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: [&str; 8] = [
        "",
        "a duck",
        "a lighthouse on a rocky island",
        "<script>alert(1)</script> & \"quotes\" ]]>",
        "\u{202e}drawkcab שלום \u{0}\u{1b}[31m",
        "🚒 engine 👩‍🚀 灯塔",
        "Pneumonoultramicroscopicsilicovolcanoconiosis-Pneumonoultramicroscopicsilicovolcanoconiosis",
        "the quick brown fox jumps over the lazy dog, again and again, until nobody is looking any more. the quick \
         brown fox jumps over the lazy dog, again and again, until nobody is looking any more. the quick brown fox \
         jumps over the lazy dog, again and again, until nobody is looking any more.",
    ];

    fn every(words: &str) -> Vec<(&'static str, Poster)> {
        let id = Uuid::nil();
        let standing = |rank| CardStanding { name: words.to_owned(), rank, elo: 1532.4, build: Some(id) };
        let sides = || [CardSide { name: words, build: id }, CardSide { name: "B", build: id }];
        let mut all = vec![
            ("build", build(words, words, id)),
            ("prompt", prompt(words, 4, &[id; 4])),
            ("prompt with one", prompt(words, 1, &[id])),
            ("model", model(words, Some(&standing(12)), 120, Some(id))),
            ("model elsewhere", model(words, None, 0, None)),
            ("leaderboard", leaderboard(&[standing(1), standing(2), standing(103)])),
            ("empty leaderboard", leaderboard(&[])),
            ("site", site()),
            (
                "agent",
                agent(&CardScores {
                    name: words,
                    subject: words,
                    score: "1234.5 of 2345",
                    shares: &[0.5; 48],
                }),
            ),
            ("agent elsewhere", agent(&CardScores { name: words, subject: "", score: words, shares: &[] })),
        ];
        for choice in [Choice::A, Choice::B, Choice::Tie, Choice::BothBad] {
            all.push(("matchup", matchup(words, sides(), choice)));
        }
        all
    }

    #[test]
    fn every_text_stays_on_the_card_and_never_overlaps_another() {
        for words in HOSTILE {
            for (kind, poster) in every(words) {
                let boxes = poster.boxes();
                assert!(boxes.len() >= poster.lines.len(), "{kind}, {words}: a line was not set: {boxes:?}");
                for (text, [left, top, right, bottom]) in &boxes {
                    let inside = *left >= 8.0 && *top >= 0.0 && *right <= 1192.0 && *bottom <= 630.0;
                    assert!(inside, "{kind}, {words}: {text} at {left} {top} {right} {bottom}");
                }
                for (i, (one, a)) in boxes.iter().enumerate() {
                    for (other, b) in &boxes[..i] {
                        let aside = a[2].min(b[2]) - a[0].max(b[0]);
                        let along = a[3].min(b[3]) - a[1].max(b[1]);
                        // Boxes are as high as the type's highest letters and a little more.
                        assert!(
                            aside <= 0.0 || along <= 22.0,
                            "{kind}, {words}: {one} over {other}, by {along}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn words_beside_a_picture_do_not_reach_into_its_middle() {
        for words in HOSTILE {
            let poster = build(words, words, Uuid::nil());
            assert!(poster.boxes().iter().all(|(_, [_, _, right, _])| *right <= 600.0), "{words}");
        }
    }
}
