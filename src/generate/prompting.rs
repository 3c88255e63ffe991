//! The prompts for builds: `prompts/` filled in with the rules of a grid and the blocks of a palette.

mod block_list;
mod excerpt;

use askama::Template;

use self::block_list::{BlockGroup, block_groups};
use self::excerpt::excerpt;
pub use super::ChatPrompt;
use crate::arena::Settings;
use crate::arena::catalog::MAX_PROMPT_CHARS;
use voxel::{GridSize, GridStats, MAX_OVERDRAW, Palette, Rejection, RejectionCode, Rules, Warning};

/// What is wrong with an answer that should be a build.
#[derive(Clone, Debug)]
pub struct RejectedBuild {
    pub rejection: Rejection,
    /// Of the grid that came out, if the answer could be read.
    pub stats: Option<GridStats>,
    pub warnings: Vec<Warning>,
}

pub fn first_prompt(prompt: &str, settings: &Settings) -> ChatPrompt {
    let user =
        UserTemplate { edge: settings.grid.get(), palette: settings.palette, prompt: single_line(prompt) };
    ChatPrompt::new(system(settings), render(&user))
}

/// For the request after an answer that was cut off or too long.
pub fn shorter_prompt(prompt: &str, settings: &Settings) -> ChatPrompt {
    let user = ShorterTemplate {
        edge: settings.grid.get(),
        palette: settings.palette,
        prompt: single_line(prompt),
        entries_few: SizeGuide::of(settings.grid).entries.0,
    };
    ChatPrompt::new(system(settings), render(&user))
}

/// For the request after an answer that was not a build.
pub fn repair_prompt(
    prompt: &str,
    settings: &Settings,
    earlier: &str,
    rejected: &RejectedBuild,
) -> ChatPrompt {
    let (earlier, left_out) = excerpt(earlier.trim_end(), rejected.rejection.position);
    let user = RepairTemplate {
        edge: settings.grid.get(),
        palette: settings.palette,
        prompt: single_line(prompt),
        code: rejected.rejection.code.name(),
        message: &rejected.rejection.message,
        warnings: rejected.warnings.iter().map(Warning::message).collect(),
        result: rejected.stats.as_ref().filter(|stats| stats.block_count > 0).map(describe_result),
        advice: advice(rejected.rejection.code, settings.grid),
        earlier,
        left_out,
    };
    ChatPrompt::new(system(settings), render(&user))
}

/// System prompt and user prompt in one text, to paste into a chat window.
pub fn chat_text(prompt: &str, settings: &Settings) -> String {
    let ChatPrompt { system, user, .. } = first_prompt(prompt, settings);
    render(&ChatTemplate { system, user })
}

#[derive(Template)]
#[template(path = "system.md")]
struct SystemTemplate {
    edge: usize,
    palette: Palette,
    rules: Rules,
    work: u64,
    groups: Vec<BlockGroup>,
    guide: SizeGuide,
}

#[derive(Template)]
#[template(path = "user.md")]
struct UserTemplate {
    edge: usize,
    palette: Palette,
    prompt: String,
}

#[derive(Template)]
#[template(path = "shorter.md")]
struct ShorterTemplate {
    edge: usize,
    palette: Palette,
    prompt: String,
    entries_few: usize,
}

#[derive(Template)]
#[template(path = "repair.md")]
struct RepairTemplate<'a> {
    edge: usize,
    palette: Palette,
    prompt: String,
    code: &'static str,
    message: &'a str,
    warnings: Vec<&'a str>,
    result: Option<String>,
    advice: String,
    earlier: String,
    left_out: usize,
}

#[derive(Template)]
#[template(path = "chat.md")]
struct ChatTemplate {
    system: String,
    user: String,
}

fn system(settings: &Settings) -> String {
    render(&SystemTemplate {
        edge: settings.grid.get(),
        palette: settings.palette,
        rules: Rules::of(settings.grid),
        work: MAX_OVERDRAW * settings.grid.volume() as u64,
        groups: block_groups(settings.palette),
        guide: SizeGuide::of(settings.grid),
    })
}

/// How large and how detailed a good build is.
struct SizeGuide {
    /// Of its longest side.
    span: (usize, usize),
    entries: (usize, usize),
    scale: &'static str,
}

impl SizeGuide {
    fn of(grid: GridSize) -> Self {
        let edge = grid.get();
        let (entries, scale) = match grid {
            GridSize::G32 => (
                (120, 500),
                "At this size a single block is a detail and every cell counts: a window is one or two blocks, a wall one thick.",
            ),
            GridSize::G64 => (
                (150, 700),
                "At this size a window is about two by three blocks and a wall one or two thick; single blocks are texture and trim.",
            ),
            GridSize::G128 => (
                (200, 900),
                "At this size walls are two or three thick and details two to four blocks; repeat a motif at a fixed step rather than inventing each anew.",
            ),
            GridSize::G256 => (
                (250, 1200),
                "At this size a detail needs four to eight blocks to be seen at all; build with large boxes, ribs and repeated motifs, and spend single blocks on almost nothing.",
            ),
        };
        Self { span: (edge * 3 / 4, edge - 2), entries, scale }
    }
}

/// Puts a prompt on one line, so that no prompt can pretend to be a part of the text around it.
fn single_line(prompt: &str) -> String {
    let words: Vec<&str> = prompt.split_whitespace().collect();
    let line = words.join(" ");
    line.chars().filter(|c| !c.is_control()).take(MAX_PROMPT_CHARS).collect()
}

/// A build's block counts and bounds in words.
fn describe_result(stats: &GridStats) -> String {
    const KINDS: usize = 8;
    let blocks = stats.blocks();
    let more = blocks.len().saturating_sub(KINDS);
    let mut kinds: Vec<_> =
        blocks.iter().take(KINDS).map(|(block, count)| format!("{count} {}", block.id)).collect();
    if more > 0 {
        kinds.push(format!("{more} more kinds"));
    }
    let place = stats.bounds.map(|bounds| {
        let axes = ["x", "y", "z"].into_iter().zip(bounds.min).zip(bounds.max);
        let spans: Vec<_> = axes.map(|((axis, min), max)| format!("{axis} from {min} to {max}")).collect();
        format!(", {}", spans.join(", "))
    });
    format!("{} filled cells{}: {}", stats.block_count, place.unwrap_or_default(), kinds.join(", "))
}

fn advice(code: RejectionCode, grid: GridSize) -> String {
    let SizeGuide { entries, .. } = SizeGuide::of(grid);
    let Rules { min_blocks, min_footprint, min_height, .. } = Rules::of(grid);
    let top = grid.get() - 1;
    match code {
        RejectionCode::BadJson | RejectionCode::BadFile | RejectionCode::DoesNotFit => "Write strict JSON: every brace and bracket closed, no comma after a last entry, no comments, no sums, no words among the entries.".to_owned(),
        RejectionCode::BadSpec => format!("Correct the place that is named, and look for the same slip elsewhere. Coordinates are whole numbers from 0 to {top}; a box has x1, y1, z1, x2, y2, z2 and type, a line from, to and type, a block x, y, z and type."),
        RejectionCode::TooLarge => format!("Say it with far less text: at most {} entries, with boxes for whatever is solid.", entries.0),
        RejectionCode::TooMuchWork => "Let boxes overlap less: build large solids from few boxes that lie beside each other, and paint over only where you must.".to_owned(),
        RejectionCode::NoBlocks => format!("Nothing of it was inside the grid and of a known type. Use coordinates from 0 to {top}, and only ids from the list of blocks."),
        RejectionCode::TooManyBlocks => "Hollow out what nobody sees, as floor, walls and roof instead of solid boxes, and leave air around the subject.".to_owned(),
        RejectionCode::TooFewBlocks => format!("Build the whole larger, every part in proportion, until it fills well over {min_blocks} cells, and use the room for detail."),
        RejectionCode::FootprintTooSmall => format!("Widen it along x or z until one of these spans is at least {min_footprint} cells: build it larger if there is room above, or give it ground, a base, wings, surroundings that belong to it. Growing upwards does not help."),
        RejectionCode::HeightTooSmall => format!("Raise it until its span along y is at least {min_height} cells: thicken what lies flat, and build up from it whatever stands out in life."),
    }
}

#[expect(clippy::expect_used, reason = "a string takes whatever is written to it")]
fn render(template: &impl Template) -> String {
    template.render().expect("a template that renders into a string").trim().to_owned()
}

#[cfg(test)]
mod tests;
