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
use voxel::{AIR, Bounds, Grid, GridSize, codec};

/// The width and height of each picture, in pixels.
pub const JUDGE_VIEW_SIZE: u16 = 512;

/// Sides are seen from a little above, corners from so high that roofs and courtyards show.
const SIDE_ELEVATION: u8 = 12;
const CORNER_ELEVATION: u8 = 35;
const CUT_ELEVATION: u8 = 20;

/// How long pictures wait for memory.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// How many pictures there are of a build.
pub const JUDGE_VIEWS: usize = VIEWS.len() + 1;

/// The names of the sides and corners, and how far the eye has turned around the build to see them. At 0° it looks along
/// z, from its high end; then it turns towards x.
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
    #[error("{0}")]
    View(String),
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
            let (label, picture) = judge_view(&grid, number)?;
            let (format, file) = smallest_file(&picture, &limits);
            Ok(PromptPicture { label: label.to_owned(), format, bytes: file.into() })
        };
        pictures.push(work.run(client, draw).await?.map_err(JudgeViewsError::View)?);
    }
    Ok(pictures)
}

/// One of the pictures, with its label. The cut comes after all others.
fn judge_view(grid: &Grid, number: usize) -> Result<(&'static str, Picture), String> {
    match VIEWS.get(number) {
        Some((label, yaw, elevation)) => Ok((label, draw(grid, *yaw, *elevation)?)),
        None => {
            let (half, label, yaw) = cut(grid);
            Ok((label, draw(&half, yaw, CUT_ELEVATION)?))
        }
    }
}

fn draw(grid: &Grid, yaw: u16, elevation: u8) -> Result<Picture, String> {
    // What the first view of pages lacks to a whole turn, so that the eye looks straight at a side.
    const TO_THE_FRONT: u16 = 330;
    let view = View::new(0, JUDGE_VIEW_SIZE, Background::Sky)?.turned(TO_THE_FRONT + yaw)?;
    Ok(image::render(grid, &view.raised(elevation)?, 1))
}

/// The half of a build that is left when what stands before its middle is taken away. It is cut along its longer sides,
/// since that shows more of the inside. Also the label of the picture, and where it is seen from.
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
    let middle = middle_of_inside(grid, bounds, axis);
    let half =
        Grid::from_fn(grid.size(), |at| if at[axis] > middle { AIR } else { grid.get(at[0], at[1], at[2]) });
    (half, label, yaw)
}

/// Where half of the inside lies on either side along an axis: of the air that has blocks above and below it. A house may
/// stand at one end of its garden, where the middle of everything would miss it. Without any inside it is the middle.
fn middle_of_inside(grid: &Grid, bounds: Bounds, axis: usize) -> usize {
    let [min, max] = [bounds.min, bounds.max].map(|corner| corner.map(usize::from));
    let mut inside = vec![0_usize; grid.size().get()];
    for z in min[2]..=max[2] {
        for x in min[0]..=max[0] {
            let mut air_below_block = None;
            for y in (min[1]..=max[1]).rev() {
                if grid.get(x, y, z) == AIR {
                    air_below_block = air_below_block.map(|air| air + 1);
                } else {
                    inside[[x, y, z][axis]] += air_below_block.unwrap_or(0);
                    air_below_block = Some(0);
                }
            }
        }
    }
    let total: usize = inside.iter().sum();
    if total == 0 {
        return (min[axis] + max[axis]) / 2;
    }
    let mut before = 0;
    let middle = inside.iter().position(|air| {
        before += air;
        before * 2 >= total
    });
    // Something is always taken away, unless the build is one block deep.
    middle.unwrap_or(min[axis]).clamp(min[axis], max[axis].saturating_sub(1).max(min[axis]))
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use voxel::Palette;
    use voxel::codec::{CompressionLevel, Digest};

    use super::*;
    use crate::generate::ProviderKind;
    use crate::work::MemoryBudget;

    fn shipped(path: &str) -> Grid {
        let (folder, _) = path.split_once('/').unwrap();
        let (edge, palette) = folder.split_once('-').unwrap();
        let size = GridSize::ALL.into_iter().find(|size| size.get().to_string() == edge).unwrap();
        let file = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("builds").join(path)).unwrap();
        let palette = if palette == "simple" { Palette::Simple } else { Palette::Advanced };
        voxel::check(&file, size, palette, 64 << 20).grid().unwrap().clone()
    }

    async fn views(grid: &Grid, provider: ProviderKind) -> Result<Vec<PromptPicture>, JudgeViewsError> {
        let encoding = codec::encode(grid);
        let stored = StoredGrid {
            digest: Digest::of(&encoding).0.to_vec(),
            packed: codec::pack(&encoding, CompressionLevel::Fast),
        };
        let budget = MemoryBudget::new(8 << 20);
        let limits = PictureLimits::of(provider);
        let (work, client) = (WorkPool::new(2), WorkClient::BACKGROUND);
        let views = judge_views(&work, client, budget.of_admin(), stored, grid.size(), limits).await;
        assert_eq!(budget.reserved(), 0);
        views
    }

    #[tokio::test]
    async fn a_judge_sees_eight_sides_and_the_inside_always_the_same() {
        let grid = shipped("32-simple/lighthouse/reference_architect.json");
        let first = views(&grid, ProviderKind::OpenAi).await.unwrap();
        assert_eq!(first, views(&grid, ProviderKind::OpenAi).await.unwrap());
        let labels: Vec<_> = first.iter().map(|picture| picture.label.as_str()).collect();
        assert_eq!(labels[..8], VIEWS.map(|(label, ..)| label));
        assert_eq!(labels[8..], ["Cut through the middle, seen from the front"]);
        assert!(first.iter().all(|picture| picture.size() == Some([512, 512])));
        let as_png = views(&grid, ProviderKind::Compatible).await.unwrap();
        assert!(as_png.iter().all(|picture| picture.format == PictureFormat::Png));
        assert!(as_png.iter().zip(&first).all(|(png, smallest)| png.bytes.len() >= smallest.bytes.len()));
    }

    #[test]
    fn the_longer_sides_are_cut_where_the_inside_is() {
        let lighthouse = shipped("32-simple/lighthouse/reference_architect.json");
        let stone = lighthouse.cells().iter().copied().find(|cell| *cell != AIR).unwrap();
        let solid = |[width, depth]: [usize; 2]| {
            Grid::from_fn(GridSize::G32, |[x, y, z]| {
                let is_inside = (5..5 + width).contains(&x) && y < 6 && (8..8 + depth).contains(&z);
                if is_inside { stone } else { AIR }
            })
        };
        let room = |grid: &Grid, from: [usize; 3], to: [usize; 3]| {
            Grid::from_fn(GridSize::G32, |at| {
                let is_room = (0..3).all(|axis| (from[axis]..to[axis]).contains(&at[axis]));
                if is_room { AIR } else { grid.get(at[0], at[1], at[2]) }
            })
        };
        for (grid, seen_from, left) in [
            (solid([9, 4]), 0, [9, 2]),
            (solid([4, 9]), 90, [2, 9]),
            (solid([1, 1]), 0, [1, 1]),
            (room(&solid([20, 10]), [7, 2, 14], [20, 5, 17]), 0, [20, 8]),
            (room(&solid([10, 20]), [6, 2, 9], [9, 5, 20]), 90, [3, 20]),
            // A tunnel at the very front.
            (room(&solid([20, 10]), [7, 2, 17], [20, 5, 18]), 0, [20, 9]),
        ] {
            let (half, label, from) = cut(&grid);
            let [x, y, z] = half.stats().bounds.unwrap().spans();
            assert_eq!(([x, z], y, from), (left, 6, seen_from), "{label}");
        }
        assert_eq!(cut(&Grid::empty(GridSize::G32)).0.stats().block_count, 0);
    }

    #[tokio::test]
    async fn a_damaged_build_and_too_little_memory_are_errors() {
        let stored = StoredGrid { digest: vec![0; 32], packed: vec![1, 2, 3] };
        let (work, client) = (WorkPool::new(2), WorkClient::BACKGROUND);
        let limits = PictureLimits::of(ProviderKind::Google);
        let memory = MemoryBudget::new(64 << 20).of_admin();
        let damaged = judge_views(&work, client, memory, stored.clone(), GridSize::G32, limits).await;
        assert!(matches!(damaged, Err(JudgeViewsError::Corrupt(_))), "{damaged:?}");
        let memory = MemoryBudget::new(1 << 20).of_admin();
        let small = judge_views(&work, client, memory, stored, GridSize::G32, limits).await;
        assert!(matches!(small, Err(JudgeViewsError::Memory(MemoryError::TooLarge))), "{small:?}");
    }
}
