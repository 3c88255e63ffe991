use super::*;

#[test]
fn a_part_holds_all_that_changed_and_begins_at_even_places() {
    let old = vec![0; 64];
    for changed in [vec![27], vec![9, 54], vec![0], vec![63], vec![7, 56]] {
        let mut new = old.clone();
        for &at in &changed {
            new[at] = 1;
        }
        let rect = FrameRect::changed(&old, &new, 8);
        let inside: Vec<usize> = rect.rows(8).flatten().collect();
        assert!(changed.iter().all(|at| inside.contains(at)), "{changed:?}: {rect:?}");
        assert!(rect.left.is_multiple_of(2) && rect.top.is_multiple_of(2), "{rect:?}");
        let wider = rect.widened(3, 8);
        assert!(wider.left.is_multiple_of(2), "{wider:?}");
        assert!(wider.left + wider.width <= 8 && wider.top + wider.height <= 8, "{wider:?}");
        assert!(inside.iter().all(|at| wider.rows(8).any(|row| row.contains(at))), "{wider:?}");
    }
    assert_eq!(FrameRect::changed(&old, &old, 8), FrameRect { left: 0, top: 0, width: 1, height: 1 });
}

#[test]
fn few_colours_stay_what_they_are_and_many_become_near_ones() {
    let mut counts = quantise::ColourCounts::new();
    let few = [[246, 245, 241], [10, 200, 30], [0, 0, 0]];
    let shades = few.map(|colour| counts.add(colour));
    let palette = counts.palette();
    for (shade, colour) in shades.into_iter().zip(few) {
        let at = usize::from(palette.nearest(shade)) * 3;
        assert_eq!(palette.bytes()[at..at + 3], colour);
    }

    let mut counts = quantise::ColourCounts::new();
    let many: Vec<[u8; 3]> =
        (0..4096_u32).map(|i| [i % 16, i / 16 % 16, i / 256].map(|level| (level * 17) as u8)).collect();
    let shades: Vec<_> = many.iter().map(|&colour| counts.add(colour)).collect();
    let palette = counts.palette();
    assert_eq!(palette.bytes().len(), 256 * 3);
    for (shade, colour) in shades.into_iter().zip(many) {
        let at = usize::from(palette.nearest(shade)) * 3;
        let off = (0..3).map(|i| palette.bytes()[at + i].abs_diff(colour[i])).max();
        assert!(off <= Some(40), "{colour:?} became {:?}", &palette.bytes()[at..at + 3]);
    }
}
