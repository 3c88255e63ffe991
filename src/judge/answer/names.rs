//! Names, numbers and sentences in the words of models.

use crate::judge::criteria::Criterion;

/// The longest sentence of evidence that is kept.
pub(super) const MAX_SENTENCE_CHARS: usize = 500;

/// How else models call the criteria, in the form of [`plain`].
const OTHER_NAMES: [(&str, Criterion); 12] = [
    ("progress", Criterion::TaskProgress),
    ("taskcompletion", Criterion::TaskProgress),
    ("material", Criterion::MaterialUsage),
    ("materialselection", Criterion::MaterialUsage),
    ("materialusage", Criterion::MaterialUsage),
    ("actioncontrol", Criterion::ActionControl),
    ("taskefficiency", Criterion::Efficiency),
    ("completionefficiency", Criterion::Efficiency),
    ("errorcorrection", Criterion::ErrorRecognition),
    ("creative", Criterion::CreativeAttempts),
    ("creativity", Criterion::CreativeAttempts),
    ("creativeattempt", Criterion::CreativeAttempts),
];

/// The criterion that a name means: its key or title, whatever its case and punctuation.
pub(super) fn criterion(name: &str) -> Option<Criterion> {
    let name = plain(name);
    let by_key_or_title = Criterion::ALL
        .into_iter()
        .find(|criterion| plain(criterion.key()) == name || plain(criterion.title()) == name);
    by_key_or_title
        .or_else(|| OTHER_NAMES.into_iter().find(|(other, _)| *other == name).map(|(_, found)| found))
}

/// Letters and digits alone, in lower case, with "and" for "&".
pub(super) fn plain(name: &str) -> String {
    let name: String = name.chars().take(80).collect::<String>().replace('&', "and");
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The score at the beginning of a text, such as `7`, `7.5/10` or `7 out of 10`, and what follows it. A number that is
/// out of something else than ten is none, since its scale can only be guessed.
pub(super) fn leading_score(text: &str) -> Option<(f64, &str)> {
    let (score, rest) = leading_number(text)?;
    let after = rest.trim_start();
    let total = after.strip_prefix('/').or_else(|| after.strip_prefix("out of ")).map(str::trim_start);
    match total.map(leading_number) {
        Some(Some((10.0, rest))) => Some((score, rest)),
        Some(_) => None,
        None if rest.starts_with(char::is_alphanumeric) || rest.starts_with('%') => None,
        None => Some((score, rest)),
    }
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let whole = unsigned.bytes().take_while(is_digit).count();
    let fraction = match unsigned[whole..].strip_prefix('.') {
        Some(digits) => digits.bytes().take_while(is_digit).count(),
        None => 0,
    };
    let len = text.len() - unsigned.len() + whole + if fraction > 0 { fraction + 1 } else { 0 };
    // More digits than that are no score, and would take long to parse.
    let number = (whole > 0 && len <= 32).then(|| text[..len].parse().ok())??;
    Some((number, &text[len..]))
}

/// A sentence on one line, without control characters, of bounded length. None if nothing is left.
pub(super) fn sentence(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let line = line.trim();
    Some(match line.char_indices().nth(MAX_SENTENCE_CHARS) {
        Some(_) => line.chars().take(MAX_SENTENCE_CHARS - 1).chain(['…']).collect(),
        None if line.is_empty() => return None,
        None => line.to_owned(),
    })
}
