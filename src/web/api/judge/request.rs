//! What a person says of a build, as it comes in: as JSON, or as the fields of the form.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::arena::judgements::{MAX_EVIDENCE, MAX_NOTE, PersonScores};
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::judge::scores::MAX_SCORE;
use crate::web::{Error, ErrorCode};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewJudgement)]
pub(super) struct JudgementRequest {
    /// The id from `/api/judge/next`.
    #[schema(format = Uuid)]
    pub id: String,
    /// By criterion, from 0 to 10 in steps of 0.5. What is null or missing you cannot say. At least one is needed.
    #[schema(example = json!({ "task_progress": 7.5, "efficiency": null }))]
    scores: BTreeMap<String, Option<f64>>,
    /// By criterion, what the score rests on, in at most 300 characters.
    #[serde(default)]
    #[schema(example = json!({ "task_progress": "The lantern room is missing." }))]
    evidence: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(max_length = 1000)]
    note: Option<String>,
}

impl JudgementRequest {
    pub fn read(self) -> Result<PersonScores, Error> {
        let mut said = PersonScores::default();
        for (key, score) in self.scores {
            let criterion = applied_criterion(&key)?;
            if let Some(score) = score {
                said.scores.set(criterion, checked_score(score)?);
            }
        }
        for (key, text) in self.evidence {
            let criterion = applied_criterion(&key)?;
            if let Some(text) = cleaned(&text, MAX_EVIDENCE)? {
                said.evidence.insert(criterion, text);
            }
        }
        said.note = cleaned(self.note.as_deref().unwrap_or_default(), MAX_NOTE)?;
        match said.scores.given().is_empty() {
            true => Err(ErrorCode::BadScores.into()),
            false => Ok(said),
        }
    }
}

fn applied_criterion(key: &str) -> Result<Criterion, Error> {
    let criterion = key.parse().ok().filter(|criterion| CriteriaText::build().applies(*criterion));
    criterion
        .ok_or_else(|| Error::new(ErrorCode::BadScores, "The scores name a criterion that does not apply."))
}

/// Half steps are exact in binary, so that no score is rejected for how it was rounded.
fn checked_score(score: f64) -> Result<f64, ErrorCode> {
    let is_on_scale = (0.0..=MAX_SCORE).contains(&score) && (2.0 * score).fract() == 0.0;
    if is_on_scale { Ok(score) } else { Err(ErrorCode::BadScores) }
}

/// On one line, without control characters, which no form sends; none if nothing is left.
fn cleaned(text: &str, max_chars: usize) -> Result<Option<String>, Error> {
    // Longer than any text of as many characters could be with spaces around it.
    if text.len() > 8 * max_chars {
        return Err(too_long(max_chars));
    }
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0 => Ok(None),
        count if count > max_chars => Err(too_long(max_chars)),
        _ => Ok(Some(text)),
    }
}

fn too_long(max_chars: usize) -> Error {
    Error::bad_request(format!("Write at most {max_chars} characters."))
}

/// What a visitor has entered into the form, as it was entered.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct JudgementFields {
    scores: BTreeMap<Criterion, String>,
    unsure: Vec<Criterion>,
    evidence: BTreeMap<Criterion, String>,
    pub note: String,
}

/// Why the form cannot be sent as it is, in words for its visitor.
pub(in crate::web) struct FieldProblem(pub String);

impl JudgementFields {
    /// Fields of other names are ignored, and of several with the same name the last counts.
    pub fn of(pairs: Vec<(String, String)>) -> Self {
        let mut fields = Self::default();
        for (name, value) in pairs {
            let (kind, key) = name.split_once('-').unwrap_or((&name, ""));
            match (kind, key.parse()) {
                ("score", Ok(criterion)) => drop(fields.scores.insert(criterion, value)),
                ("unsure", Ok(criterion)) => fields.unsure.push(criterion),
                ("evidence", Ok(criterion)) => drop(fields.evidence.insert(criterion, value)),
                ("note", _) => fields.note = value,
                _ => {}
            }
        }
        fields
    }

    pub fn score(&self, criterion: &Criterion) -> &str {
        self.scores.get(criterion).map_or("", String::as_str)
    }

    pub fn is_unsure(&self, criterion: &Criterion) -> bool {
        self.unsure.contains(criterion)
    }

    pub fn evidence(&self, criterion: &Criterion) -> &str {
        self.evidence.get(criterion).map_or("", String::as_str)
    }

    /// Each criterion needs a score, or a tick that says there is none, so that nothing is left out by accident. Both are
    /// a mistake, too: without a script, a typed score does not take the tick away.
    pub fn read(&self) -> Result<PersonScores, FieldProblem> {
        let mut scores = BTreeMap::new();
        for criterion in CriteriaText::build().applicable().iter() {
            let text = self.score(&criterion).trim();
            let score = match text {
                "" if self.is_unsure(&criterion) => None,
                _ if self.is_unsure(&criterion) => {
                    return Err(FieldProblem(format!(
                        "For {}, either give a score or tick “Can’t say”.",
                        criterion.title()
                    )));
                }
                "" => {
                    return Err(FieldProblem(format!(
                        "Give a score for {}, or tick “Can’t say”.",
                        criterion.title()
                    )));
                }
                text => Some(text.parse::<f64>().map_err(|_| {
                    FieldProblem(format!("The score for {} is not a number.", criterion.title()))
                })?),
            };
            scores.insert(criterion.key().to_owned(), score);
        }
        let evidence = self
            .evidence
            .iter()
            .map(|(criterion, text)| (criterion.key().to_owned(), text.clone()))
            .collect();
        let request = JudgementRequest { id: String::new(), scores, evidence, note: Some(self.note.clone()) };
        request.read().map_err(|error| FieldProblem(error.sentence().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(body: Value) -> Result<PersonScores, String> {
        let request: JudgementRequest = serde_json::from_value(body).map_err(|error| error.to_string())?;
        request.read().map_err(|error| error.sentence().to_owned())
    }

    #[test]
    fn scores_are_half_steps_from_0_to_10_of_criteria_that_apply() {
        for good in [0.0, 0.5, 7.5, 10.0] {
            let said = read(json!({ "id": "", "scores": { "efficiency": good } })).unwrap();
            assert_eq!(said.scores.get(Criterion::Efficiency), Some(good));
        }
        for bad in [json!(-0.5), json!(10.5), json!(0.3), json!(1e308), json!("7"), json!([7])] {
            assert!(read(json!({ "id": "", "scores": { "efficiency": bad } })).is_err(), "{bad}");
        }
        for bad in
            [json!({}), json!({ "efficiency": null }), json!({ "action_control": 3 }), json!({ "x": 3 })]
        {
            assert!(read(json!({ "id": "", "scores": bad })).is_err(), "{bad}");
        }
    }

    #[test]
    fn texts_are_single_lines_of_bounded_length() {
        let with = |note: String| {
            read(json!({ "id": "", "scores": { "efficiency": 1 }, "note": note })).map(|said| said.note)
        };
        assert_eq!(with(" \u{0}a\r\n\tb\u{7} ".to_owned()), Ok(Some("a b".to_owned())));
        assert_eq!(with(" \n".to_owned()), Ok(None));
        assert_eq!(with("é".repeat(MAX_NOTE)).unwrap().map(|note| note.len()), Some(2 * MAX_NOTE));
        assert!(with("e".repeat(MAX_NOTE + 1)).is_err());
        assert!(with(" ".repeat(60_000)).is_err());
    }

    #[test]
    fn the_form_wants_a_score_or_a_tick_for_every_criterion() {
        let keys: Vec<&str> = CriteriaText::build().applicable().iter().map(Criterion::key).collect();
        let all = |value: &str| {
            keys.iter().map(|key| (format!("score-{key}"), value.to_owned())).collect::<Vec<_>>()
        };
        assert!(JudgementFields::of(all("6.5")).read().is_ok());
        for bad in ["", "x", "NaN", "11"] {
            assert!(JudgementFields::of(all(bad)).read().is_err(), "{bad}");
        }
        let mut both = all("7");
        both.push((format!("unsure-{}", keys[0]), "on".to_owned()));
        assert!(JudgementFields::of(both).read().is_err(), "a score and a tick");
        let mut some = all("");
        some[0].1 = "4".to_owned();
        some.extend(keys[1..].iter().map(|key| (format!("unsure-{key}"), "on".to_owned())));
        assert_eq!(
            JudgementFields::of(some).read().ok().map(|said| said.scores.given().iter().count()),
            Some(1)
        );
    }
}
