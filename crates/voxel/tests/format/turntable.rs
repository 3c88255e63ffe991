//! Turntables: whole turns, in files that other decoders read.

use std::io::Cursor;

use voxel::turntable::{Animation, Turntable};
use voxel::{Grid, GridSize, Palette, check};

const HOMESTEAD: &str = include_str!("../data/homestead.json");
const WALL: [u8; 3] = [0xf6, 0xf5, 0xf1];

fn homestead() -> Grid {
    check(HOMESTEAD.as_bytes(), GridSize::G32, Palette::Advanced, 1 << 24).grid().unwrap().clone()
}

fn turned(grid: &Grid, animation: Animation) -> Vec<u8> {
    let mut turntable = Turntable::new(animation);
    while !turntable.is_whole() {
        turntable.draw(grid, 2).unwrap();
    }
    turntable.draw(grid, 2).unwrap();
    assert_eq!(turntable.frames(), Turntable::FRAMES, "a whole turn gets no more frames");
    turntable.finish().unwrap()
}

/// The frames of an animated WebP as RGB.
fn seen(file: &[u8]) -> Vec<Vec<u8>> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).unwrap();
    assert_eq!((decoder.dimensions(), decoder.has_alpha()), ((320, 320), false));
    assert_eq!(decoder.loop_count(), image_webp::LoopCount::Forever);
    let mut frames = Vec::new();
    for _ in 0..decoder.num_frames() {
        let mut frame = vec![0; decoder.output_buffer_size().unwrap()];
        assert_eq!(decoder.read_frame(&mut frame).unwrap(), 80, "milliseconds");
        frames.push(frame);
    }
    frames
}

/// The mean difference of two frames per channel and pixel.
fn apart(one: &[u8], other: &[u8]) -> f64 {
    let sum: u64 = one.iter().zip(other).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / one.len() as f64
}

#[test]
fn a_webp_turns_step_by_step_all_the_way_around() {
    let file = turned(&homestead(), Animation::Webp);
    let frames = seen(&file);
    assert_eq!(frames.len(), 36);
    let steps: Vec<f64> = (0..36).map(|i| apart(&frames[i], &frames[(i + 1) % 36])).collect();
    assert!(steps.iter().all(|step| (1.0..25.0).contains(step)), "{steps:?}");
    let usual = steps[..35].iter().sum::<f64>() / 35.0;
    assert!(steps[35] < 1.6 * usual, "the last step is like the others: {} of {usual}", steps[35]);
    assert!(apart(&frames[0], &frames[18]) > usual, "half a turn shows another side");
    for (i, frame) in frames.iter().enumerate() {
        let corner = &frame[..3];
        assert!(corner.iter().zip(WALL).all(|(a, b)| a.abs_diff(b) <= 6), "frame {i}: {corner:?} is no wall");
    }
    assert!(file.len() < 300_000, "{} bytes", file.len());
}

#[test]
fn a_gif_shows_the_same_on_a_wall_of_one_colour() {
    let file = turned(&homestead(), Animation::Gif);
    assert!(file.windows(11).any(|bytes| bytes == b"NETSCAPE2.0"), "it turns for ever");
    let mut decoder = gif::DecodeOptions::new().read_info(Cursor::new(&file)).unwrap();
    let palette = decoder.global_palette().unwrap().to_vec();
    let (width, mut screen) = (usize::from(decoder.width()), Vec::new());
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 8);
        screen.resize(width * width, frame.buffer[0]);
        for (y, row) in frame.buffer.chunks(usize::from(frame.width)).enumerate() {
            let start = (usize::from(frame.top) + y) * width + usize::from(frame.left);
            for (pixel, &colour) in screen[start..].iter_mut().zip(row) {
                if frame.transparent != Some(colour) {
                    *pixel = colour;
                }
            }
        }
        for corner in [0, width - 1] {
            let at = usize::from(screen[corner]) * 3;
            assert_eq!(palette[at..at + 3], WALL, "frame {count}");
        }
        count += 1;
    }
    assert_eq!(count, 36);
}

#[test]
fn an_empty_grid_is_an_empty_wall_and_a_turn_cut_off_is_no_file() {
    let frames = seen(&turned(&Grid::empty(GridSize::G32), Animation::Webp));
    assert_eq!(frames.len(), 36);
    assert!(frames.iter().flatten().all(|level| *level > 0xe8));
    turned(&Grid::empty(GridSize::G32), Animation::Gif);

    for animation in [Animation::Webp, Animation::Gif] {
        let mut turntable = Turntable::new(animation);
        turntable.draw(&homestead(), 2).unwrap();
        assert!(turntable.finish().is_err());
    }
}
