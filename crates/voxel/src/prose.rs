//! Finds the spec in a text: alone, in a code fence, between sentences, inside another object, or one of several.

use serde_json::value::RawValue;

use super::diagnostics::{Position, Rejection, RejectionCode};
use super::read::read;
use super::spec::Spec;

/// How often a text may be read in search of a spec, on average over its bytes. Usual texts need two passes; only
/// objects inside other objects and incomplete objects are read more often.
const MAX_PASSES: usize = 4;
/// Allowed in addition, so that short texts can be read more often.
const MIN_SEARCH_BYTES: usize = 1 << 20;

/// The least that an attempt at a brace counts, in bytes read.
const ATTEMPT_COST: usize = 16;

/// Finds the spec in a text. Of several, it takes the one with the most entries, and of equals the last.
///
/// # Errors
/// `bad_json` or `bad_spec`, with the place.
pub(super) fn find_spec(text: &str) -> Result<FoundSpec<'_>, Rejection> {
    if text.trim_start().starts_with('{')
        && let Ok(spec) = read(text, Position::START)
    {
        if spec.has_list {
            return Ok(FoundSpec { spec, text });
        }
        // A spec may be inside the object, complete or not. Otherwise the object itself is an empty spec.
        let inside = search(text);
        return match inside.best {
            Some(found) => Ok(found),
            None if inside.furthest.is_some() || inside.gave_up => Err(inside.explain(text)),
            None => Ok(FoundSpec { spec, text }),
        };
    }
    let mut found = search(text);
    found.best.take().ok_or_else(|| found.explain(text))
}

/// A spec and the JSON that it was read from.
#[derive(Debug)]
pub(super) struct FoundSpec<'a> {
    pub spec: Spec,
    pub text: &'a str,
}

#[derive(Default)]
struct SpecSearch<'a> {
    best: Option<FoundSpec<'a>>,
    /// The offset of the broken object that could be read furthest, which probably was meant.
    furthest: Option<usize>,
    gave_up: bool,
}

fn search(text: &str) -> SpecSearch<'_> {
    let mut search = SpecSearch::default();
    let mut budget = MAX_PASSES.saturating_mul(text.len()).saturating_add(MIN_SEARCH_BYTES);
    let mut most_read = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let rest = &text[open..];
        at = open + 1;
        if !may_be_object(rest) {
            continue;
        }
        let (read_bytes, broken) = match object(rest) {
            Err(read_bytes) => (read_bytes, true),
            Ok(object) => match read(object, Position::START) {
                Ok(spec) => {
                    if spec.has_list {
                        at = open + object.len();
                        search.keep(FoundSpec { spec, text: object });
                    }
                    (object.len(), false)
                }
                Err(_) => {
                    at = open + object.len();
                    (object.len(), true)
                }
            },
        };
        if broken && read_bytes > most_read {
            most_read = read_bytes;
            search.furthest = Some(open);
        }
        match budget.checked_sub(read_bytes + ATTEMPT_COST) {
            Some(left) => budget = left,
            None => {
                search.gave_up = true;
                break;
            }
        }
    }
    search
}

impl<'a> SpecSearch<'a> {
    fn keep(&mut self, found: FoundSpec<'a>) {
        if self.best.as_ref().is_none_or(|best| best.spec.entries() <= found.spec.entries()) {
            self.best = Some(found);
        }
    }

    /// The most likely reason why there is no spec.
    fn explain(&self, text: &str) -> Rejection {
        let broken =
            self.furthest.and_then(|open| read(&text[open..], Position::of(text.as_bytes(), open)).err());
        broken.unwrap_or_else(|| {
            let why = match self.gave_up {
                true => "the text has too many braces to search: send only the JSON",
                false => "the text contains no JSON object with boxes, lines or blocks",
            };
            Rejection::new(RejectionCode::BadJson, format!("{why} (searched from {})", Position::START))
                .at(Position::START)
        })
    }
}

/// A cheap test that rules out most braces in prose.
fn may_be_object(rest: &str) -> bool {
    matches!(rest[1..].trim_start().as_bytes().first(), Some(b'"' | b'}'))
}

/// The JSON object at the beginning of a text, or the number of bytes that could be read.
fn object(rest: &str) -> Result<&str, usize> {
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(object)) => Ok(object.get()),
        Some(Err(error)) => Err(offset(rest, error.line(), error.column())),
        None => Err(0),
    }
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before + column
}
