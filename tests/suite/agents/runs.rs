//! Agents that act in the block world: what they are sent, and what becomes of a run whatever they answer.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use base64::Engine as _;
use buildoff::assess::WorldThreads;
use buildoff::assess::order::{AssessmentOrder, ConfigBody, NameList};
use buildoff::assess::run::{RunEnding, RunExchange, RunListener, RunOutcome, RunSetup, RunTimes, run_task};
use buildoff::generate::{Endpoint, ProviderKind, agent_provider};
use serde_json::{Value, json};
use world::Terrains;
use world::record::Recording;

use crate::support::fake_agent::{AgentStep, FakeAgent};

/// What agents of these tests have for an answer.
const ANSWER_TIME: Duration = Duration::from_millis(400);

struct IgnoredRun;

impl RunListener for IgnoredRun {
    fn on_exchange(&mut self, _: &RunExchange<'_>) {}
}

fn message(text: &str) -> AgentStep {
    AgentStep::Result(json!({
        "message": { "messageId": "m1", "contextId": "c1", "role": "ROLE_AGENT", "parts": [{ "text": text }] }
    }))
}

fn ready() -> AgentStep {
    message(r#"{"type": "ack", "success": true, "message": "ready"}"#)
}

fn jump() -> AgentStep {
    message(r#"{"type": "action", "keys": ["jump"]}"#)
}

async fn run(agent: &FakeAgent, task: &str, steps: u64, seed: u64) -> RunOutcome {
    let config = ConfigBody {
        tasks: Some(NameList::One(task.to_owned())),
        max_steps: Some(steps),
        ..ConfigBody::default()
    };
    let order = AssessmentOrder::new(agent.url.clone(), &config).unwrap();
    let times = RunTimes { answer: ANSWER_TIME, ..RunTimes::default() };
    let endpoint =
        Endpoint { provider: ProviderKind::A2a, base_url: agent.url.clone(), key: None, pinned: None };
    let provider = agent_provider(&endpoint, true, times.limits(), false).unwrap();
    let setup = RunSetup {
        seed,
        size: order.size,
        stops_when_done: false,
        times,
        terrains: Arc::new(Terrains::default()),
        threads: WorldThreads::new().unwrap(),
    };
    run_task(&order.tasks[0], &setup, &*provider, &mut IgnoredRun).await.unwrap()
}

fn sent_texts(agent: &FakeAgent) -> Vec<Value> {
    let text = |body: &Value| {
        let parts = body["params"]["message"]["parts"].as_array().unwrap().clone();
        assert_eq!(parts.len(), 1, "one text part: {parts:?}");
        serde_json::from_str(parts[0]["text"].as_str().unwrap()).unwrap()
    };
    agent.requests().iter().map(|request| text(&request.body)).collect()
}

#[tokio::test]
async fn an_agent_gets_the_text_and_then_pictures_of_128_by_128_in_one_context() {
    let agent = FakeAgent::start([ready(), jump()]).await;
    let outcome = run(&agent, "craft_ladder", 3, 4).await;
    assert_eq!((outcome.ending, outcome.steps, outcome.messages), (RunEnding::Finished, 3, 4));
    let sent = sent_texts(&agent);
    assert_eq!(sent[0]["type"], "init");
    assert!(sent[0]["text"].as_str().unwrap().to_lowercase().contains("ladder"), "{}", sent[0]);
    for (step, obs) in sent[1..].iter().enumerate() {
        assert_eq!((&obs["type"], &obs["step"]), (&json!("obs"), &json!(step)));
        let jpeg = base64::engine::general_purpose::STANDARD.decode(obs["obs"].as_str().unwrap()).unwrap();
        assert!(jpeg.starts_with(&[0xff, 0xd8]) && jpeg.ends_with(&[0xff, 0xd9]), "a JPEG file");
        // The frame header has the height and the width after its marker, its length and the bits of a sample.
        let header = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        assert_eq!(jpeg[header + 5..header + 9], [0, 128, 0, 128]);
        // The first component has two samples each way for one of the others: 4:2:0.
        assert_eq!(jpeg[header + 11], 0x22);
    }
    let contexts: Vec<_> = agent
        .requests()
        .iter()
        .map(|request| request.body["params"]["message"]["contextId"].clone())
        .collect();
    assert_eq!(contexts, [Value::Null, json!("c1"), json!("c1"), json!("c1")]);
}

#[tokio::test]
async fn two_runs_of_a_deterministic_agent_with_one_seed_are_equal_to_the_byte() {
    let agent = || FakeAgent::start([ready(), jump()]);
    let (one, other) = (agent().await, agent().await);
    let outcomes = [run(&one, "look_at_the_sky", 10, 5).await, run(&other, "look_at_the_sky", 10, 5).await];
    assert_eq!(outcomes[0].recording, outcomes[1].recording);
    assert_eq!(sent_texts(&one), sent_texts(&other));
    let recording = Recording::read(&outcomes[0].recording).unwrap();
    recording.replay(&Terrains::default(), |_| {}).unwrap();
}

#[tokio::test]
async fn an_agent_that_is_not_ready_gets_nothing_and_its_own_words_are_kept() {
    for (answer, words) in [
        (message(r#"{"type": "ack", "success": false, "message": "no such skill"}"#), "no such skill"),
        (message("hello"), "not JSON"),
        (message(r#"{"type": "ack"}"#), "success"),
        (AgentStep::Error(-32603, "broken"), "broken"),
        (AgentStep::Never, ""),
    ] {
        let agent = FakeAgent::start([answer]).await;
        let outcome = run(&agent, "craft_ladder", 20, 4).await;
        let RunEnding::Refused(why) = &outcome.ending else { panic!("{:?}", outcome.ending) };
        assert!(why.contains(words), "{why}");
        assert_eq!((outcome.steps, outcome.given), (0, 0.0));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_action_is_a_step_without_one_and_counted() {
    for odd in [
        message("I would rather not."),
        message(r#"{"type": "action", "buttons": [9000], "camera": [60]}"#),
        message(r#"{"type": "action", "keys": ["fly"]}"#),
        message(r#"{"type": "action", "keys": ["#),
        message("[]"),
    ] {
        let agent = FakeAgent::start([ready(), odd]).await;
        let outcome = run(&agent, "craft_ladder", 14, 4).await;
        assert_eq!((&outcome.ending, outcome.steps), (&RunEnding::Finished, 14));
        assert_eq!((outcome.unreadable, outcome.unanswered, outcome.no_ops()), (14, 0, 14));
    }
}

#[tokio::test]
async fn ten_messages_in_a_row_without_an_answer_end_a_run() {
    for gone in [
        AgentStep::Never,
        AgentStep::Redirect("http://127.0.0.1:1/"),
        AgentStep::Raw(StatusCode::OK, "text/html", "<html>"),
        AgentStep::Raw(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}"),
        AgentStep::Error(-32603, "broken"),
        AgentStep::StreamThenSilence(vec![]),
    ] {
        let agent = FakeAgent::start([ready(), jump(), gone]).await;
        let outcome = run(&agent, "craft_ladder", 100, 4).await;
        assert!(matches!(outcome.ending, RunEnding::Silent(_)), "{:?}", outcome.ending);
        assert_eq!((outcome.unanswered, outcome.steps), (10, 10));
    }
}

#[tokio::test]
async fn an_agent_that_answers_again_goes_on() {
    let mut script = vec![ready()];
    for _ in 0..3 {
        script.extend([AgentStep::Error(-32603, "broken"), jump()]);
    }
    let agent = FakeAgent::start(script).await;
    let outcome = run(&agent, "craft_ladder", 30, 4).await;
    assert_eq!((outcome.ending, outcome.unanswered, outcome.steps), (RunEnding::Finished, 3, 30));
}

#[tokio::test]
async fn an_action_that_is_held_or_crafts_marks_the_run() {
    let held = FakeAgent::start([ready(), message(r#"{"keys": ["forward"], "ticks": 5}"#)]).await;
    let outcome = run(&held, "craft_ladder", 12, 4).await;
    assert_eq!((outcome.held, outcome.assisted, outcome.steps), (true, false, 12));
    // Three messages of five steps, the last of which is cut short by the end.
    assert_eq!(outcome.messages, 4);
    let crafts = FakeAgent::start([ready(), message(r#"{"craft": "oak_planks"}"#)]).await;
    let outcome = run(&crafts, "craft_oak_planks", 3, 4).await;
    assert_eq!((outcome.held, outcome.assisted), (false, true));
    assert!(outcome.given > 0.0, "planks are what is paid for");
}
