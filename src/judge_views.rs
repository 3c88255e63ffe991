//! What judges are shown of a build: its four sides, its four corners from above, and a cut that shows its inside.
//!
//! The pictures are a pure function of the grid, so every judge sees the same. The front is the side that pages show
//! first. Each picture is a piece of work of its own, so that others have their turns in between.

use std::sync::Arc;
use std::time::Duration;

use crate::arena::builds::{CorruptGridError, StoredGrid};
use crate::generate::{PictureFormat, PictureLimits, PromptPicture};
use crate::work::{MemoryError, MemoryReservation, WorkClient, WorkError, WorkPool};
use voxel::image::{self, Background, Picture, View};
use voxel::{AIR, Grid, GridSize, codec};

/// The width and height of each picture, in pixels.
pub const JUDGE_VIEW_SIZE: u16 = 512;

/// Sides are seen from a little above, corners from so high that roofs and courtyards show.
const SIDE_ELEVATION: u8 = 12;
const CORNER_ELEVATION: u8 = 35;

/// How long pictures wait for memory.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The names of the sides and corners, and how far the eye has turned around the build to see them. At 0° it looks along
/// z, from its high end; then it turns towards x.
/// How many pictures there are of a build.
pub const JUDGE_VIEWS: usize = VIEWS.len() + 1;

const VIEWS: [(&str, u16, u8); 8] = [
    ("From the front", 0, SIDE_ELEVATION),
    ("From the right", 90, SIDE_ELEVATION),
    ("From the back", 180, SIDE_ELEVATION),
    ("From the left", 270, SIDE_ELEVATION),
    ("From the front right corner, above", 45, CORNER_ELEVATION),
    ("From the back right corner, above", 135, CORNER_ELEVATION),
    ("From the back left corner, above", 225, CORNER_ELEVATION),
    ("From the front left corner, above", 315, CORNER_ELEVATION),
];

/// Why a build cannot be shown to a judge.
#[derive(Debug, thiserror::Error)]
pub enum JudgeViewsError {
    #[error(transparent)]
    Corrupt(#[from] CorruptGridError),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Draws what a judge is shown of a stored build, in files that fit the limits.
///
/// `size` is the build's own and says how much memory is reserved, beside what `memory` holds already; the memory is free
/// again when this ends.
pub async fn judge_views(
    work: &WorkPool,
    client: WorkClient,
    mut memory: MemoryReservation,
    stored: StoredGrid,
    size: GridSize,
    limits: PictureLimits,
) -> Result<Vec<PromptPicture>, JudgeViewsError> {
    // The encoding and the grid, then the grid and its half, and a picture with its file.
    let picture_bytes = 3 * 4 * usize::from(JUDGE_VIEW_SIZE).pow(2);
    memory.grow(2 * size.volume() + picture_bytes, MAX_WAIT).await?;
    // The memory moves along with the work, which goes on if the caller has left.
    let memory = Arc::new(memory);
    let held = Arc::clone(&memory);
    let open = move || {
        let _held = held;
        let encoding = stored.encoding()?;
        codec::decode(&encoding).map_err(CorruptGridError::from)
    };
    let grid = Arc::new(work.run(client, open).await??);
    let mut pictures = Vec::with_capacity(VIEWS.len() + 1);
    for number in 0..=VIEWS.len() {
        let (grid, held) = (Arc::clone(&grid), Arc::clone(&memory));
        let draw = move || {
            let _held = held;
            let (label, picture) = judge_view(&grid, number);
            let (format, file) = smallest_file(&picture, &limits);
            PromptPicture { label: label.to_owned(), format, bytes: file.into() }
        };
        pictures.push(work.run(client, draw).await?);
    }
    Ok(pictures)
}

/// One of the pictures, with its label. The cut comes after all others.
fn judge_view(grid: &Grid, number: usize) -> (&'static str, Picture) {
    match VIEWS.get(number) {
        Some((label, yaw, elevation)) => (label, draw(grid, *yaw, *elevation)),
        None => {
            let (half, label, yaw) = cut(grid);
            (label, draw(&half, yaw, CORNER_ELEVATION))
        }
    }
}

fn draw(grid: &Grid, yaw: u16, elevation: u8) -> Picture {
    // What the first view of pages lacks to a whole turn, so that the eye looks straight at a side.
    const TO_THE_FRONT: u16 = 330;
    let view = View::new(0, JUDGE_VIEW_SIZE, Background::Sky)
        .and_then(|view| view.turned(TO_THE_FRONT + yaw))
        .and_then(|view| view.raised(elevation));
    match view {
        Ok(view) => image::render(grid, &view, 1),
        // A test draws all views, so none of them is refused.
        Err(_) => Picture { width: 0, height: 0, rgba: Vec::new() },
    }
}

/// The half of a build that is left when what stands before its middle is taken away: the longer half of its sides is
/// cut, since that shows more of the inside. Also the label of the picture, and where it is seen from.
fn cut(grid: &Grid) -> (Grid, &'static str, u16) {
    let Some(bounds) = grid.stats().bounds else {
        return (grid.clone(), "Cut through the middle, seen from the front", 0);
    };
    let [width, _, depth] = bounds.spans();
    let (axis, label, yaw) = if width >= depth {
        (2, "Cut through the middle, seen from the front", 0)
    } else {
        (0, "Cut through the middle, seen from the right", 90)
    };
    let middle = usize::from(bounds.min[axis] + bounds.max[axis]) / 2;
    let half =
        Grid::from_fn(grid.size(), |at| if at[axis] > middle { AIR } else { grid.get(at[0], at[1], at[2]) });
    (half, label, yaw)
}

/// The smallest lossless file that is taken. PNG is taken wherever pictures are.
fn smallest_file(picture: &Picture, limits: &PictureLimits) -> (PictureFormat, Vec<u8>) {
    let png = picture.opaque_png();
    let webp = limits.takes(PictureFormat::Webp).then(|| picture.webp());
    match webp.filter(|webp| webp.len() < png.len()) {
        Some(webp) => (PictureFormat::Webp, webp),
        None => (PictureFormat::Png, png),
    }
}
