//! Finds the choice in an answer.

use super::names::{plain, sentence};
use super::{PairAnswer, UnreadableJudgement, found_json};
use crate::arena::Choice;

const CHOICE_FIELDS: [&str; 5] = ["choice", "verdict", "winner", "answer", "preference"];
const REASON_FIELDS: [&str; 4] = ["reason", "explanation", "evidence", "justification"];

pub(super) fn read(text: &str) -> Result<PairAnswer, UnreadableJudgement> {
    let in_json = found_json::find_last(text, &|object| {
        let field = |names: &[&str]| names.iter().find_map(|name| object.get(*name)?.as_str());
        let choice = choice(field(&CHOICE_FIELDS)?)?;
        Some(PairAnswer { choice, reason: field(&REASON_FIELDS).and_then(sentence) })
    });
    let answer = in_json.or_else(|| in_lines(text));
    answer.ok_or_else(|| {
        let (code, message) = match text.trim().is_empty() {
            true => ("empty", "the answer is empty"),
            false => ("no_choice", "the answer has no choice of A, B, TIE or BOTH_BAD"),
        };
        UnreadableJudgement { code, message: message.to_owned() }
    })
}

/// The last line such as `Choice: A`, or a line with nothing but a choice.
fn in_lines(text: &str) -> Option<PairAnswer> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let labelled = |names: &[&str], line: &'_ str| {
        let (name, value) = line.split_once(':')?;
        names.contains(&plain(name).as_str()).then(|| value.trim().to_owned())
    };
    let choice = lines()
        .rev()
        .find_map(|line| choice(&labelled(&CHOICE_FIELDS, line)?))
        .or_else(|| lines().next_back().and_then(choice))?;
    let reason = lines().rev().find_map(|line| labelled(&REASON_FIELDS, line)).as_deref().and_then(sentence);
    Some(PairAnswer { choice, reason })
}

fn choice(text: &str) -> Option<Choice> {
    Some(match plain(text).as_str() {
        "a" | "builda" | "buildaisbetter" => Choice::A,
        "b" | "buildb" | "buildbisbetter" => Choice::B,
        "tie" | "draw" | "equal" | "equallygood" => Choice::Tie,
        "bothbad" | "botharebad" | "neither" => Choice::BothBad,
        _ => return None,
    })
}
