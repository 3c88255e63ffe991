use proptest::prelude::*;

use super::*;
use crate::judge::criteria::CriteriaText;
use Criterion::{CreativeAttempts, Efficiency, MaterialUsage, TaskProgress};

fn of_build() -> CriterionSet {
    CriteriaText::build().applicable()
}

fn read(text: &str) -> JudgeAnswer {
    JudgeAnswer::read(text, of_build()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The four scores for a build, in the order of the criteria.
fn four(answer: &JudgeAnswer) -> [Option<f64>; 4] {
    [TaskProgress, MaterialUsage, Efficiency, CreativeAttempts].map(|criterion| answer.scores.get(criterion))
}

const ASKED_FOR: &str = r#"{"scores": {
    "task_progress": {"evidence": "Sails and a cap.", "score": 7},
    "material_usage": {"evidence": "Brick below wood.", "score": 6.5},
    "efficiency": {"evidence": "Little waste.", "score": 8},
    "creative_attempts": {"evidence": "A miller.", "score": 4}
}, "note": "The back is bare."}"#;

#[test]
fn the_form_that_was_asked_for_is_read_whole() {
    let answer = read(ASKED_FOR);
    let evidence = [
        (TaskProgress, "Sails and a cap."),
        (MaterialUsage, "Brick below wood."),
        (Efficiency, "Little waste."),
        (CreativeAttempts, "A miller."),
    ];
    assert_eq!(
        answer,
        JudgeAnswer {
            scores: [(TaskProgress, 7.0), (MaterialUsage, 6.5), (Efficiency, 8.0), (CreativeAttempts, 4.0)]
                .into_iter()
                .collect(),
            evidence: evidence.map(|(criterion, text)| (criterion, text.to_owned())).to_vec(),
            missing: Vec::new(),
            note: Some("The back is bare.".to_owned()),
        }
    );
}

#[test]
fn scores_are_found_in_other_forms() {
    let all = [Some(7.0), Some(6.5), Some(8.0), Some(4.0)];
    for (text, expected) in [
        (format!("I looked {{closely}}.\n```json\n{ASKED_FOR}\n```\nThat is all."), all),
        (format!("Draft: {{\"task_progress\": 1}}. No, rather:\n{ASKED_FOR}"), all),
        (format!(r#"{{"result": [{ASKED_FOR}]}}"#), all),
        (r#"{"Task Progress": 7, "Material Selection & Usage": "6.5/10", "efficiency": "8", "CREATIVE-ATTEMPTS": 4.0, "Action Control": "N/A"}"#.to_owned(), all),
        (r#"{"scores": [{"criterion": "Task Progress", "score": 7}, {"name": "material_usage", "rating": 6.5}, {"key": "Task Completion Efficiency", "value": 8}, {"criterion": "creativity", "points": "4 / 10"}]}"#.to_owned(), all),
        (r#"{"scores": {"task_progress": {"score": null}, "material_usage": null, "efficiency": "N/A", "creative_attempts": 4}}"#.to_owned(), [None, None, None, Some(4.0)]),
        (r#"{"task_progress": 70, "material_usage": -2, "efficiency": 1e300}"#.to_owned(), [Some(10.0), Some(0.0), Some(10.0), None]),
        ("Task Progress: 7\nMaterial Selection and Usage: 6.5\nAction Control: N/A\nTask Completion Efficiency: 8\nError Recognition and Correction: N/A\nCreative Attempts: 4".to_owned(), all),
        ("1. **Task Progress** (40%): **7/10** - Sails.\n2. **Material Selection and Usage** (15%): 6.5\n- Efficiency = 8.\n* Creative Attempts: 4 out of 10".to_owned(), all),
        ("### Task Progress\nIt is good: very.\nScore: 7\n### Material Selection and Usage\n**Score:** 6.5/10\n## Task Completion Efficiency\nscore: 8\n## Creative Attempts\nScore: 4".to_owned(), all),
        // Cut off in the middle.
        ("{\"task_progress\": 7,\n \"material_usage\": 6.5,\n \"effic".to_owned(), [Some(7.0), Some(6.5), None, None]),
        // The scale can only be guessed.
        ("Task Progress: 3/5\nEfficiency: 80%\nCreative Attempts: 4th\nMaterial usage: 6.5".to_owned(), [None, Some(6.5), None, None]),
        ("Task Progress: 2\nOn reflection:\nTask Progress: 7".to_owned(), [Some(7.0), None, None, None]),
        // Only the end of a long answer is read.
        (format!("{}{ASKED_FOR}", "ü".repeat(MAX_READ_BYTES)), all),
    ] {
        assert_eq!(four(&read(&text)), expected, "{}", &text[text.floor_char_boundary(text.len().saturating_sub(400))..]);
    }
}

#[test]
fn evidence_stands_behind_a_score_in_a_line() {
    let answer = read("- **Task Progress**: 7/10 — Sails, and\ta cap.\n- Efficiency: 8");
    assert_eq!(answer.evidence, [(TaskProgress, "Sails, and a cap.".to_owned())]);
    assert_eq!(answer.missing, [MaterialUsage, CreativeAttempts]);
}

#[test]
fn evidence_is_bounded() {
    let long = format!(r#"{{"task_progress": {{"score": 5, "evidence": "{}"}}}}"#, r"é\u0007 ".repeat(4_000));
    let (_, text) = &read(&long).evidence[0];
    assert!(text.chars().count() <= MAX_SENTENCE_CHARS && text.ends_with('…'), "{text}");
    assert!(!text.contains('\u{7}'));
}

#[test]
fn an_answer_without_scores_says_what_is_missing() {
    for (text, code) in [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot see the pictures.", "no_scores"),
        (r#"{"scores": {}}"#, "no_scores"),
        // It does not apply to builds.
        (r#"{"action_control": 7}"#, "no_scores"),
        ("Action Control: 7", "no_scores"),
    ] {
        let error = JudgeAnswer::read(text, of_build()).unwrap_err();
        assert_eq!(error.code, code, "{text}");
    }
    let error = JudgeAnswer::read("no", of_build()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the answer has no score from 0 to 10 for any of task_progress, material_usage, efficiency, creative_attempts"
    );
}

#[test]
fn choices_are_found() {
    for (text, choice, reason) in [
        (r#"{"reason": "A has sails.", "choice": "A"}"#, Choice::A, Some("A has sails.")),
        ("```json\n{\"choice\": \"BOTH_BAD\"}\n```", Choice::BothBad, None),
        (r#"First {"choice": "A"}, then {"choice": "TIE", "reason": "Alike."}"#, Choice::Tie, Some("Alike.")),
        (r#"{"winner": "Build B"}"#, Choice::B, None),
        ("Reason: B has sails.\nChoice: b", Choice::B, Some("B has sails.")),
        ("Both are fine.\n\n**TIE**", Choice::Tie, None),
        ("both bad", Choice::BothBad, None),
    ] {
        let expected = PairAnswer { choice, reason: reason.map(str::to_owned) };
        assert_eq!(PairAnswer::read(text), Ok(expected), "{text}");
    }
    for (text, code) in [
        ("", "empty"),
        ("A or B", "no_choice"),
        (r#"{"choice": "C"}"#, "no_choice"),
        (r#"{"choice": null}"#, "no_choice"),
        ("A building of wood.", "no_choice"),
    ] {
        assert_eq!(PairAnswer::read(text).map_err(|error| error.code), Err(code), "{text}");
    }
}

#[test]
fn schemas_ask_for_what_applies() {
    let schema = score_schema(of_build());
    let keys = ["task_progress", "material_usage", "efficiency", "creative_attempts"];
    assert_eq!(schema["properties"]["scores"]["required"], json!(keys));
    let properties = schema["properties"]["scores"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), keys);
    assert_eq!(pair_schema()["properties"]["choice"]["enum"], json!(["A", "TIE", "BOTH_BAD", "B"]));
}

/// Pieces of answers, so that random texts come close to real ones.
fn answer_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{\"".to_owned()),
        Just("{\"scores\":".to_owned()),
        Just("\"task_progress\":".to_owned()),
        Just("Task Progress".to_owned()),
        Just("Material Selection & Usage (15%)".to_owned()),
        Just(": ".to_owned()),
        Just("{\"score\":".to_owned()),
        Just("\"evidence\":\"ü\"".to_owned()),
        Just("7/10".to_owned()),
        Just("-1e9999".to_owned()),
        Just("999999999999999999999999999999999999999".to_owned()),
        Just("choice".to_owned()),
        Just("BOTH_BAD".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just(",".to_owned()),
        Just("\n".to_owned()),
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn hostile_answers_never_panic_and_stay_on_the_scale(text in prop_oneof![answer_like(), ".{0,200}"]) {
        if let Ok(answer) = JudgeAnswer::read(&text, CriterionSet::ALL) {
            let given: Vec<Criterion> = answer.scores.given().iter().collect();
            prop_assert!(!given.is_empty());
            prop_assert_eq!(given.len() + answer.missing.len(), 6);
            for criterion in given {
                prop_assert!(answer.scores.get(criterion).is_some_and(|score| (0.0..=MAX_SCORE).contains(&score)));
            }
            for (_, evidence) in answer.evidence {
                prop_assert!(evidence.chars().count() <= MAX_SENTENCE_CHARS && !evidence.is_empty());
            }
        }
        if let Ok(answer) = PairAnswer::read(&text) {
            prop_assert!(answer.reason.is_none_or(|reason| reason.chars().count() <= MAX_SENTENCE_CHARS));
        }
    }
}

#[test]
fn answers_made_of_braces_are_read_in_bounded_time() {
    for piece in ["{", "{\"", "{\"a\":", "{\"a\":{\"b\":[", "[{\"a\":\"", "{\"a\":1}"] {
        let text = piece.repeat(MAX_READ_BYTES / piece.len());
        assert!(JudgeAnswer::read(&text, of_build()).is_err());
        assert!(PairAnswer::read(&text).is_err());
    }
}
