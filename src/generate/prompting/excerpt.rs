//! Excerpts of long answers, for prompts that repeat them.

use std::ops::Range;

use voxel::Position;

/// An answer of up to so many bytes, about 50,000 tokens, is repeated whole.
const MAX_WHOLE: usize = 128 << 10;
/// How many bytes of a longer answer are repeated: from its beginning, around the error, and from its end.
const HEAD: usize = 16 << 10;
const AROUND: usize = 8 << 10;
const TAIL: usize = 8 << 10;

/// Returns the excerpt, and how many characters are left out. A long answer shows its beginning, where the plan and the
/// large boxes are, its end, and the position of the error.
pub(super) fn excerpt(text: &str, error_position: Option<Position>) -> (String, usize) {
    if text.len() <= MAX_WHOLE {
        return (text.to_owned(), 0);
    }
    let mut shown = String::with_capacity(HEAD + AROUND + TAIL);
    let mut left_out = 0;
    let mut end = 0;
    for part in parts(text, error_position) {
        let start = part.start.max(end);
        if start > end {
            let missing = text[end..start].chars().count();
            left_out += missing;
            shown += &format!("\n[… {missing} characters left out …]\n");
        }
        end = part.end.max(start);
        shown += &text[start..end];
    }
    (shown, left_out)
}

/// The ranges to show, in order and on character boundaries. They may overlap.
fn parts(text: &str, error_position: Option<Position>) -> Vec<Range<usize>> {
    let around = error_position.map(|position| {
        let at = offset(text, position);
        at.saturating_sub(AROUND / 2)..at.saturating_add(AROUND / 2)
    });
    let mut parts: Vec<_> =
        [Some(0..HEAD), around, Some(text.len() - TAIL..text.len())].into_iter().flatten().collect();
    parts.sort_by_key(|part| part.start);
    let boundary = |at: usize| text.floor_char_boundary(at);
    parts.into_iter().map(|part| boundary(part.start)..boundary(part.end)).collect()
}

fn offset(text: &str, Position { line, column }: Position) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before.saturating_add(column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_answer_is_shown_whole() {
        let text = "ü".repeat(MAX_WHOLE / 2);
        assert_eq!(excerpt(&text, Some(Position { line: 1, column: 7 })), (text.clone(), 0));
        assert_eq!(excerpt("", None), (String::new(), 0));
    }

    #[test]
    fn a_long_answer_shows_its_beginning_its_end_and_the_fault() {
        let lines: Vec<_> = (1..=20_000).map(|line| format!("größe {line}\n")).collect();
        let text = lines.concat();
        for (error_position, places) in [
            (None, vec![1, 20_000]),
            (Some(Position { line: 9_000, column: 3 }), vec![1, 9_000, 20_000]),
            (Some(Position { line: 2, column: 1 }), vec![1, 2, 20_000]),
            (Some(Position { line: 20_000, column: usize::MAX }), vec![1, 20_000]),
            (Some(Position { line: usize::MAX, column: 0 }), vec![1, 20_000]),
        ] {
            let (shown, left_out) = excerpt(&text, error_position);
            for line in places {
                assert!(shown.contains(&format!("größe {line}\n")), "{error_position:?}: line {line}");
            }
            assert!(shown.len() <= HEAD + AROUND + TAIL + 200, "{}", shown.len());
            let said: usize = shown
                .split("[… ")
                .skip(1)
                .filter_map(|rest| rest.split_once(" characters left out …]")?.0.parse::<usize>().ok())
                .sum();
            assert_eq!(said, left_out);
            let marks: usize = shown
                .lines()
                .filter(|line| line.starts_with("[…"))
                .map(|line| line.chars().count() + 2)
                .sum();
            assert_eq!(shown.chars().count() - marks + left_out, text.chars().count(), "{error_position:?}");
        }
    }

    #[test]
    fn a_long_answer_on_one_line_is_cut_by_columns() {
        let mut text = "x".repeat(500_000);
        text.replace_range(250_000..250_005, "fault");
        let (shown, left_out) = excerpt(&text, Some(Position { line: 1, column: 250_001 }));
        assert!(shown.contains("xfaultx") && left_out > 400_000);
    }
}
