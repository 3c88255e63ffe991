//! Finds the scores in an answer.

use serde_json::{Map, Value};

use super::names::{self, leading_score, sentence};
use super::{JudgeAnswer, UnreadableJudgement, found_json};
use crate::judge::criteria::{Criterion, CriterionSet};
use crate::judge::scores::Scores;

/// In which fields models put a score and what it rests on.
const SCORE_FIELDS: [&str; 4] = ["score", "value", "rating", "points"];
const EVIDENCE_FIELDS: [&str; 6] =
    ["evidence", "reason", "explanation", "justification", "rationale", "comment"];
const NAME_FIELDS: [&str; 3] = ["criterion", "name", "key"];

/// What an answer says of one criterion.
struct CriterionAnswer {
    criterion: Criterion,
    /// None if it says that the criterion does not apply.
    score: Option<f64>,
    evidence: Option<String>,
}

pub(super) fn read(text: &str, applicable: CriterionSet) -> Result<JudgeAnswer, UnreadableJudgement> {
    let scores_something = |answer: &JudgeAnswer| !answer.scores.given().is_empty();
    let in_json = found_json::find_last(text, &|object| {
        let answer = in_object(object, applicable);
        scores_something(&answer).then_some(answer)
    });
    let answer = in_json.unwrap_or_else(|| put_together(in_lines(text), applicable));
    if scores_something(&answer) {
        return Ok(answer);
    }
    let names = applicable.iter().map(Criterion::key).collect::<Vec<_>>().join(", ");
    let (code, message) = match text.trim().is_empty() {
        true => ("empty", "the answer is empty".to_owned()),
        false => ("no_scores", format!("the answer has no score from 0 to 10 for any of {names}")),
    };
    Err(UnreadableJudgement { code, message })
}

fn put_together(answers: Vec<CriterionAnswer>, applicable: CriterionSet) -> JudgeAnswer {
    let mut scores = Scores::default();
    let mut evidence: Vec<(Criterion, String)> = Vec::new();
    for answer in answers.into_iter().filter(|answer| applicable.contains(answer.criterion)) {
        let Some(score) = answer.score else { continue };
        scores.set(answer.criterion, score);
        evidence.retain(|(earlier, _)| *earlier != answer.criterion);
        evidence.extend(answer.evidence.map(|text| (answer.criterion, text)));
    }
    evidence.sort_by_key(|(criterion, _)| *criterion);
    JudgeAnswer { missing: scores.missing(applicable), scores, evidence, note: None }
}

fn in_object(object: &Map<String, Value>, applicable: CriterionSet) -> JudgeAnswer {
    let answers = match object.get("scores") {
        Some(Value::Object(scores)) => in_fields(scores),
        Some(Value::Array(scores)) => scores.iter().filter_map(in_item).collect(),
        _ => in_fields(object),
    };
    let note = object.get("note").and_then(Value::as_str).and_then(sentence);
    JudgeAnswer { note, ..put_together(answers, applicable) }
}

fn in_fields(object: &Map<String, Value>) -> Vec<CriterionAnswer> {
    let answers = object.iter().filter_map(|(name, value)| Some(of_value(names::criterion(name)?, value)));
    answers.collect()
}

/// One of a list: `{"criterion": "Task Progress", "score": 7}`.
fn in_item(item: &Value) -> Option<CriterionAnswer> {
    let name = NAME_FIELDS.into_iter().find_map(|field| item.get(field)?.as_str())?;
    Some(of_value(names::criterion(name)?, item))
}

fn of_value(criterion: Criterion, value: &Value) -> CriterionAnswer {
    let object = value.as_object();
    let field = |names: &[&str]| names.iter().find_map(|name| object?.get(*name));
    let score = match object {
        Some(_) => field(&SCORE_FIELDS).and_then(number),
        None => number(value),
    };
    let evidence = field(&EVIDENCE_FIELDS).and_then(Value::as_str).and_then(sentence);
    CriterionAnswer { criterion, score, evidence }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let (score, rest) = leading_score(text.trim())?;
            rest.trim().is_empty().then_some(score)
        }
        _ => None,
    }
}

/// The scores in lines such as `- **Task Progress** (40 %): 7/10. Most of it is there.`, or in lines `Score: 7` under a
/// heading with the criterion's name. The last line about a criterion counts.
fn in_lines(text: &str) -> Vec<CriterionAnswer> {
    let mut answers = Vec::new();
    let mut heading = None;
    for line in text.lines() {
        let line = line.trim_matches(is_decoration);
        let Some((name, value)) = line.split_once([':', '=']) else {
            heading = criterion_before_remark(line).or(heading);
            continue;
        };
        let named = criterion_before_remark(name);
        let criterion = match named {
            Some(criterion) => Some(criterion),
            None => heading.filter(|_| names::plain(name) == "score"),
        };
        if named.is_some() {
            heading = named;
        }
        let (Some(criterion), value) = (criterion, value.trim_start_matches(is_decoration)) else { continue };
        if let Some((score, rest)) = leading_score(value) {
            let evidence = sentence(rest.trim_start_matches(is_separator));
            answers.push(CriterionAnswer { criterion, score: Some(score), evidence });
        }
    }
    answers
}

/// The criterion that a text names, with nothing after it but a remark in brackets.
fn criterion_before_remark(text: &str) -> Option<Criterion> {
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    names::criterion(name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')'))
}

/// Around names and numbers in Markdown and in JSON that was cut off.
fn is_decoration(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '*' | '#' | '_' | '>' | '-' | '–' | '•' | '`' | '"' | ',' | '|' | '[' | ']')
}

fn is_separator(c: char) -> bool {
    is_decoration(c) || matches!(c, '.' | ';' | ':' | '—' | '(')
}
