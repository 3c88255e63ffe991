//! Finding the spec in what a model said: alone, in a code fence, between
//! sentences, wrapped in another object, or one of several.

use serde_json::value::RawValue;

use super::{
    read::read,
    refusal::{Code, Position, Refusal},
    spec::Spec,
};

/// A text may be gone through this many times in search of a spec. Honest texts
/// need about two; only objects in objects and broken ones are read again.
const MAX_PASSES: usize = 16;

/// What an attempt costs at least, in bytes read.
const ATTEMPT: usize = 64;

/// Reads the spec that a text is, or that stands somewhere in it. Of several, it takes the one with the most
/// entries; of equals, the last.
///
/// # Errors
/// `bad_json` or `bad_spec`, with the place.
pub fn find_spec(text: &str) -> Result<Spec, Refusal> {
    let alone = text
        .trim_start()
        .starts_with('{')
        .then(|| read(text, Position::START));
    if let Some(Ok(spec)) = alone {
        // An object without lists may have a spec inside, else it is an empty spec itself.
        return if spec.has_list {
            Ok(spec)
        } else {
            Ok(search(text).best.unwrap_or(spec))
        };
    }
    let found = search(text);
    found.best.map_or_else(|| Err(explain(text, found.furthest)), Ok)
}

#[derive(Default)]
struct Search {
    best: Option<Spec>,
    /// Where the broken object begins of which most could be read.
    furthest: Option<usize>,
}

fn search(text: &str) -> Search {
    let mut search = Search::default();
    let mut budget = MAX_PASSES.saturating_mul(text.len());
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
                        search.keep(spec);
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
        match budget.checked_sub(read_bytes + ATTEMPT) {
            Some(left) => budget = left,
            None => break,
        }
    }
    search
}

impl Search {
    fn keep(&mut self, spec: Spec) {
        if self
            .best
            .as_ref()
            .is_none_or(|best| best.entries() <= spec.entries())
        {
            self.best = Some(spec);
        }
    }
}

/// A cheap look that spares an attempt at most braces in prose.
fn may_be_object(rest: &str) -> bool {
    matches!(rest[1..].trim_start().as_bytes().first(), Some(b'"' | b'}'))
}

/// The JSON object that a text begins with, or how many bytes of it could be read.
fn object(rest: &str) -> Result<&str, usize> {
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(object)) => Ok(object.get()),
        Some(Err(error)) => Err(offset(rest, error.line(), error.column())),
        None => Err(0),
    }
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    before + column
}

fn explain(text: &str, furthest: Option<usize>) -> Refusal {
    let broken = furthest.and_then(|open| read(&text[open..], Position::of(text.as_bytes(), open)).err());
    broken.unwrap_or_else(|| {
        Refusal::new(
            Code::BadJson,
            "there is no JSON object in the text, looked at from line 1, column 1",
        )
        .at(Position::START)
    })
}
