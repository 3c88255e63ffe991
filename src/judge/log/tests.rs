use std::io::Cursor;

use super::*;
use crate::arena::Exclusion;
use crate::arena::vote_log::LoggedSide;
use crate::judge::agreement::judge_reports;
use crate::judge::criteria::CriteriaText;
use crate::judge::scores::Revision;

const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const MODELS: [&str; 3] = ["one", "two", "three"];

/// The build of a model for a prompt.
fn build(prompt: usize, model: usize) -> LoggedBuild {
    LoggedBuild {
        id: Uuid::from_u128((100 * prompt + model) as u128),
        model: MODELS[model].parse().unwrap(),
        provider: if model == 0 { "here" } else { "elsewhere" }.to_owned(),
        blocks: (500 + 100 * model) as u64,
    }
}

fn judgement(id: i64, prompt: usize, content: JudgementContent) -> LoggedJudgement {
    LoggedJudgement {
        id,
        at: AT,
        judge: LoggedJudge {
            kind: JudgeKind::Model,
            key: "one".to_owned(),
            provider: Some("here".to_owned()),
        },
        prompt_id: format!("prompt-{prompt}").parse().unwrap(),
        settings: "32-simple-precise".to_owned(),
        criteria: CriteriaText::build().digest().to_string(),
        content,
        tokens_in: Some(9000),
        tokens_out: Some(300),
        cost_micro_dollars: None,
        exclusion: None,
        decision: None,
    }
}

fn scored(build: LoggedBuild, score: f64) -> JudgementContent {
    let scores = Scores::default().with(Criterion::TaskProgress, score);
    JudgementContent::Scores(LoggedScores {
        build,
        scores,
        evidence: BTreeMap::from([(Criterion::TaskProgress, "Its sails.".to_owned())]),
        note: None,
        overall: scores.overall(CriteriaText::build().applicable(), Revision::default()),
    })
}

fn compared(left: LoggedBuild, right: LoggedBuild, choice: Choice) -> JudgementContent {
    JudgementContent::Pair(LoggedPair { left, right, choice, reason: Some("Its sails.".to_owned()) })
}

fn vote(id: i64, prompt: usize, a: usize, b: usize, choice: Choice) -> LoggedVote {
    LoggedVote {
        id,
        at: AT,
        matchup_id: Uuid::from_u128(id as u128),
        prompt_id: format!("prompt-{prompt}").parse().unwrap(),
        model_a: build(prompt, a).model,
        model_b: build(prompt, b).model,
        build_a: build(prompt, a).id.to_string(),
        build_b: build(prompt, b).id.to_string(),
        choice,
        side: LoggedSide::Left,
        settings: "32-simple-precise".to_owned(),
        elo_a_before: 1500.0,
        elo_a_after: 1500.0,
        elo_b_before: 1500.0,
        elo_b_after: 1500.0,
        probability: 0.5,
        dwell_ms: None,
        exclusion: None,
        decision: None,
    }
}

fn lines<T>(records: &[T], write: fn(&T, &mut Vec<u8>) -> io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    for record in records {
        write(record, &mut out).unwrap();
    }
    out
}

#[test]
fn a_line_has_the_fields_of_its_kind() {
    let scored = judgement(1, 2, scored(build(2, 0), 7.5));
    let scored_line = "{\"id\":1,\"at\":\"1970-01-01T00:00:00Z\",\"judge\":{\"kind\":\"model\",\"key\":\"one\",\"provider\":\"here\"},\
        \"prompt_id\":\"prompt-2\",\"settings\":\"32-simple-precise\",\"criteria\":\"<digest>\",\"kind\":\"scores\",\
        \"build\":{\"id\":\"00000000-0000-0000-0000-0000000000c8\",\"model\":\"one\",\"provider\":\"here\",\"blocks\":500},\
        \"scores\":{\"task_progress\":7.5},\"evidence\":{\"task_progress\":\"Its sails.\"},\"note\":null,\"overall\":7.5,\
        \"tokens_in\":9000,\"tokens_out\":300,\"cost_micro_dollars\":null,\"exclusion\":null,\"decision\":null}\n";
    let compared = judgement(2, 2, compared(build(2, 0), build(2, 1), Choice::BothBad));
    for record in [&scored, &compared] {
        let mut line = Vec::new();
        record.write_json_line(&mut line).unwrap();
        assert_eq!(&serde_json::from_slice::<LoggedJudgement>(&line).unwrap(), record);
    }
    let line = String::from_utf8(lines(&[scored], LoggedJudgement::write_json_line)).unwrap();
    assert_eq!(line.replace(&CriteriaText::build().digest().to_string(), "<digest>"), scored_line);
}

#[test]
fn the_logs_alone_give_the_same_report() {
    let mut judgements = Vec::new();
    let mut votes = Vec::new();
    let mut expected = AgreementData::default();
    let judge = Judge { kind: JudgeKind::Model, key: "one".to_owned() };
    expected.providers.insert(judge.clone(), "here".to_owned());
    for prompt in 1..=12 {
        for model in 0..3 {
            let score = 4.0 + model as f64 + (prompt % 3) as f64;
            judgements.push(judgement(0, prompt, scored(build(prompt, model), score)));
            expected.scores.push(JudgeScore {
                judge: judge.clone(),
                build: build(prompt, model).id,
                overall: score,
            });
        }
        for (a, b) in [(0, 1), (2, 1), (0, 2)] {
            let (left, right) = (build(prompt, a), build(prompt, b));
            let choice = if (prompt + a) % 3 == 0 { Choice::Tie } else { Choice::B };
            for (left, right) in [(&left, &right), (&right, &left)] {
                judgements.push(judgement(0, prompt, compared(left.clone(), right.clone(), choice)));
                expected.judge_votes.push(JudgeVote {
                    judge: judge.clone(),
                    left: left.id,
                    right: right.id,
                    choice,
                });
            }
            for voter in 0..3 {
                let choice = [Choice::A, Choice::B, Choice::Tie][(prompt * voter + a) % 3];
                votes.push(vote(votes.len() as i64, prompt, a, b, choice));
                expected.votes.push(PersonVote::new(left.id, right.id, None, choice));
            }
            votes.push(LoggedVote { exclusion: Some(Exclusion::ALL[0]), ..vote(0, prompt, a, b, Choice::A) });
        }
    }
    let judgements = lines(&judgements, LoggedJudgement::write_json_line);
    let votes = lines(&votes, LoggedVote::write_json_line);
    let read = |logs: [&[u8]; 2]| {
        let mut reader = JudgeLogReader::default();
        for log in logs {
            reader.read(Cursor::new(log)).unwrap();
        }
        (reader.counts(), reader.finish())
    };
    let (counts, data) = read([&judgements, &votes]);
    assert_eq!(
        counts,
        JudgeLogCounts { judgements: 108, excluded_judgements: 0, votes: 144, excluded_votes: 36 }
    );
    let skilled: BTreeMap<&str, f64> =
        data.builds.iter().filter_map(|facts| Some((facts.model.as_str(), facts.skill?))).collect();
    assert_eq!(skilled.len(), 3, "{skilled:?}");
    let of_build = |prompt, model| {
        let LoggedBuild { id, model, provider, blocks } = build(prompt, model);
        let skill = skilled.get(model.as_str()).copied();
        BuildFacts { build: id, model: model.as_str().to_owned(), provider, blocks, skill }
    };
    expected.builds = (1..=12)
        .flat_map(|prompt| (0..3).map(move |model| (prompt, model)))
        .map(|(prompt, model)| of_build(prompt, model))
        .collect();
    let report = judge_reports(&data);
    assert_eq!(report, judge_reports(&expected));
    assert!(report[0].agreement.kappa.is_some() && report[0].left.is_some(), "{report:?}");
    assert_eq!(report, judge_reports(&read([&votes, &judgements]).1));
}

#[test]
fn what_is_no_log_is_refused_with_its_line() {
    let good = lines(&[vote(1, 1, 0, 1, Choice::A)], LoggedVote::write_json_line);
    let good = String::from_utf8(good).unwrap();
    let long = format!("\n{}", "x".repeat(MAX_LINE_BYTES as usize + 1));
    let unknown_build = good.replace(&build(1, 0).id.to_string(), "a-build");
    for (log, message) in [
        (format!("{good}\n{{}}\n"), "line 3 is neither a judgement nor a vote"),
        (format!("{good}\u{0}"), "line 2 is neither"),
        ("[]".to_owned(), "line 1 is neither"),
        ("{\"judge\": {}}".to_owned(), "line 1 is neither"),
        (long, "line 2 is longer than 65536 bytes"),
        (unknown_build, "line 1: \"a-build\" is not the id of a build"),
    ] {
        let error = JudgeLogReader::default().read(Cursor::new(log)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}, not {message}");
    }
    let mut reader = JudgeLogReader::default();
    reader.read(Cursor::new(good.trim_end())).unwrap();
    assert_eq!(reader.counts().votes, 1);
}
