//! Filters for templates.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;

/// A count with separators: 12,582,912.
#[askama::filter_fn]
pub fn count(number: impl std::fmt::Display, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(group_digits(&number.to_string()))
}

/// A prompt at the start of a sentence.
#[askama::filter_fn]
pub fn sentence(text: &str, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(capitalised(text))
}

pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A change with its sign, to a tenth: +8, −0.3.
#[askama::filter_fn]
pub fn signed(change: f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format_signed(change))
}

/// A rating in whole points.
#[askama::filter_fn]
pub fn points(rating: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format!("{rating:.0}"))
}

/// A change with its sign, as a whole number: +12, −3, ±0.
#[askama::filter_fn]
pub fn whole_change(change: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    let points = change.round() as i64;
    let sign = match points {
        0 => "±",
        1.. => "+",
        _ => "−",
    };
    Ok(format!("{sign}{}", points.unsigned_abs()))
}

/// A score from 0 to 10, with one decimal.
#[askama::filter_fn]
pub fn score(score: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format!("{score:.1}"))
}

/// A share from 0 to 1 in whole percent.
#[askama::filter_fn]
pub fn percent(share: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format!("{:.0}\u{a0}%", share * 100.0))
}

/// 3 Nov 2026, 14:05
#[askama::filter_fn]
pub fn moment(at: &OffsetDateTime, _: &dyn askama::Values) -> askama::Result<String> {
    let (date, time) = (at.date(), at.time());
    let month = date.month().to_string();
    let month = month.get(..3).unwrap_or(&month);
    Ok(format!("{} {month} {}, {:02}:{:02}", date.day(), date.year(), time.hour(), time.minute()))
}

/// 21 November 2026
#[askama::filter_fn]
pub fn day(at: &OffsetDateTime, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format_day(*at))
}

pub fn format_day(at: OffsetDateTime) -> String {
    format!("{} {} {}", at.day(), at.month(), at.year())
}

/// For the scripts of a page.
#[askama::filter_fn]
pub fn json_text(value: impl Serialize, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(serde_json::to_string(&value).unwrap_or_default())
}

/// Milliseconds in readable units: 4.2 s, 48 s, 3 min 12 s.
#[askama::filter_fn]
pub fn duration(ms: &i64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format_ms(*ms))
}

/// Whole minutes in words: a minute, 45 minutes, an hour.
#[askama::filter_fn]
pub fn minutes(duration: &Duration, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(match duration.as_secs() / 60 {
        1 => "a minute".to_owned(),
        60 => "an hour".to_owned(),
        minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
        minutes => format!("{minutes} minutes"),
    })
}

/// A cost in dollars, what it was at least, or a dash if nothing is known of it.
pub fn format_cost(amount: Option<f64>, is_minimum: bool) -> String {
    match amount {
        Some(amount) if is_minimum => format!("≥\u{a0}{}", format_dollars(amount)),
        Some(amount) => format_dollars(amount),
        None => "—".to_owned(),
    }
}

/// Amounts below ten cents have four decimals.
fn format_dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

pub fn format_ms(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        ..10 => format!("{:.1}\u{a0}s", ms as f64 / 1000.0),
        10..90 => format!("{seconds}\u{a0}s"),
        90..5400 => format!("{}\u{a0}min {}\u{a0}s", seconds / 60, seconds % 60),
        _ => format!("{}\u{a0}h {}\u{a0}min", seconds / 3600, seconds / 60 % 60),
    }
}

fn format_signed(change: f64) -> String {
    let digits = format!("{:.1}", change.abs());
    let digits = digits.strip_suffix(".0").unwrap_or(&digits);
    match digits {
        "0" => digits.to_owned(),
        _ if change < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

/// Names in a sentence: A, B and C. Of many, the first ones, and how many more there are.
pub fn format_names<T: AsRef<str>>(names: &[T]) -> String {
    const MOST: usize = 12;
    let (shown, more) = match names.len() {
        0..=MOST => (names, None),
        all => (&names[..MOST - 1], Some(format!("{} more", all - MOST + 1))),
    };
    let mut words: Vec<&str> = shown.iter().map(AsRef::as_ref).chain(more.as_deref()).collect();
    match words.pop() {
        Some(last) if words.is_empty() => last.to_owned(),
        Some(last) => format!("{} and {last}", words.join(", ")),
        None => String::new(),
    }
}

/// What was sent differently from what was asked for: effort (max → high).
pub fn format_adjustment(step: &Value) -> String {
    let change = step.as_object().and_then(|step| step.iter().next());
    let name = step.as_str().or_else(|| change.map(|(name, _)| name.as_str()));
    let name = name.unwrap_or("other options").replace('_', " ");
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values =
        change.map(|(_, change)| format!(" ({} → {})", plain(&change["from"]), plain(&change["to"])));
    format!("{name}{}", values.unwrap_or_default())
}

/// 12,582,912
pub fn format_count(count: i64) -> String {
    group_digits(&count.to_string())
}

fn group_digits(digits: &str) -> String {
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(String::from_utf8_lossy);
    let all: Vec<_> = (!head.is_empty()).then(|| head.into()).into_iter().chain(groups).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in
            [(0, "0"), (80, "80"), (100, "100"), (24_576, "24,576"), (12_582_912, "12,582,912")]
        {
            assert_eq!(super::group_digits(&number.to_string()), text);
        }
    }

    #[test]
    fn of_many_names_the_first_are_listed() {
        assert_eq!(super::format_names::<&str>(&[]), "");
        assert_eq!(super::format_names(&["Elm"]), "Elm");
        assert_eq!(super::format_names(&["Elm", "Fir", "Oak"]), "Elm, Fir and Oak");
        assert!(super::format_names(&["Elm"; 12]).ends_with("Elm and Elm"));
        assert!(super::format_names(&["Elm"; 13]).ends_with("Elm and 2 more"));
    }

    #[test]
    fn times_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0.0 s"),
            (4240, "4.2 s"),
            (48_900, "48 s"),
            (192_000, "3 min 12 s"),
            (3_840_000, "64 min 0 s"),
            (5_460_000, "1 h 31 min"),
        ] {
            assert_eq!(super::format_ms(ms).replace('\u{a0}', " "), text);
        }
    }

    #[test]
    fn amounts_below_ten_cents_have_four_decimals() {
        for (amount, text) in
            [(0.0, "$0.00"), (0.0021, "$0.0021"), (0.1, "$0.10"), (0.702, "$0.70"), (1.24, "$1.24")]
        {
            assert_eq!(super::format_dollars(amount), text);
        }
    }

    #[test]
    fn changes_have_a_sign_and_at_most_a_tenth() {
        for (change, text) in [(8.0, "+8"), (-7.64, "−7.6"), (0.31, "+0.3"), (0.02, "0"), (-0.0, "0")] {
            assert_eq!(super::format_signed(change), text);
        }
    }
}
