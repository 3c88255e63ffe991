//! Exchanges with agents that answer in all the ways that agents do.

use std::time::Duration;

use a2a::{
    A2aTaskState, ChosenInterface, Exchange, ExchangeError, ExchangeLimits, ExchangeNews, ExchangeOutcome,
    Message, MessageRole, NextStep, Part, PeerRequest, ProtocolVersion,
};
use serde_json::{Value, json};

fn interface(version: ProtocolVersion) -> ChosenInterface {
    ChosenInterface { url: "https://agent.example/a2a".to_owned(), version, tenant: None }
}

fn exchange(version: ProtocolVersion, streams: bool) -> Exchange {
    let message = Message::new(MessageRole::User, vec![Part::text("build a house")]);
    let limits = ExchangeLimits { max_bytes: 2000, max_events: 50, ..ExchangeLimits::default() };
    Exchange::new(interface(version), message, streams, limits)
}

fn sent(exchange: &mut Exchange) -> (Value, PeerRequest, Duration) {
    match exchange.next_step() {
        NextStep::Send { request, wait } => (serde_json::from_str(&request.body).unwrap(), request, wait),
        NextStep::Done(outcome) => panic!("done: {outcome:?}"),
    }
}

fn outcome(exchange: &mut Exchange) -> ExchangeOutcome {
    match exchange.next_step() {
        NextStep::Done(outcome) => outcome,
        NextStep::Send { request, .. } => panic!("sends {}", request.body),
    }
}

fn result(result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": "x", "result": result }).to_string()
}

fn task(state: &str) -> Value {
    json!({ "kind": "task", "id": "t1", "contextId": "c1", "status": { "state": state } })
}

fn status(state: &str, text: &str) -> Value {
    let message = json!({ "kind": "message", "messageId": "s", "role": "agent", "parts": [{ "kind": "text", "text": text }] });
    json!({
        "kind": "status-update", "taskId": "t1", "contextId": "c1", "final": false,
        "status": { "state": state, "message": message },
    })
}

fn chunk(artifact: &str, text: &str, append: bool) -> Value {
    json!({
        "kind": "artifact-update", "taskId": "t1", "contextId": "c1", "append": append,
        "artifact": { "artifactId": artifact, "parts": [{ "kind": "text", "text": text }] },
    })
}

fn answer(text: &str) -> ExchangeOutcome {
    ExchangeOutcome::Answer(text.to_owned())
}

#[test]
fn an_agent_that_does_not_stream_is_asked_to_answer_at_once_and_polled() {
    for (version, send, get) in [
        (ProtocolVersion::V0_3, "message/send", "tasks/get"),
        (ProtocolVersion::V1_0, "SendMessage", "GetTask"),
    ] {
        let mut exchange = exchange(version, false);
        let (body, request, wait) = sent(&mut exchange);
        assert_eq!((body["method"].as_str(), request.streams, wait), (Some(send), false, Duration::ZERO));
        let configuration = &body["params"]["configuration"];
        assert_eq!(configuration["blocking"] == json!(false), version == ProtocolVersion::V0_3);
        assert_eq!(configuration["returnImmediately"] == json!(true), version == ProtocolVersion::V1_0);
        let new = version == ProtocolVersion::V1_0;
        exchange.on_response(&result(&if new {
            json!({ "task": task("working") })
        } else {
            task("working")
        }));
        let mut waits = Vec::new();
        for _ in 0..8 {
            let (body, _, wait) = sent(&mut exchange);
            assert_eq!((body["method"].as_str(), &body["params"]["id"]), (Some(get), &json!("t1")));
            waits.push(wait);
            exchange.on_response(&result(&task("working")));
        }
        assert!(waits.is_sorted() && waits[0] < waits[7], "{waits:?}");
        assert_eq!(waits[7], Duration::from_secs(5));
        let mut done = task("completed");
        done["artifacts"] = json!([{ "artifactId": "a", "parts": [{ "kind": "text", "text": "one" }, { "kind": "data", "data": { "two": 2 } }] }]);
        exchange.on_response(&result(&done));
        assert_eq!(outcome(&mut exchange), answer("one\n{\"two\":2}"));
        assert!(exchange.cancel_request().is_none(), "nothing is left to cancel");
    }
}

#[test]
fn an_answer_in_a_message_is_the_answer() {
    let mut exchange = exchange(ProtocolVersion::V1_0, true);
    let (body, request, _) = sent(&mut exchange);
    assert_eq!((body["method"].as_str(), request.streams), (Some("SendStreamingMessage"), true));
    let message = json!({ "message": { "messageId": "a", "contextId": "c9", "role": "ROLE_AGENT", "parts": [{ "text": "a" }, { "text": "b" }] } });
    exchange.on_event(&result(&message));
    assert_eq!(outcome(&mut exchange), answer("a\nb"));
    assert_eq!(exchange.context_id(), Some("c9"));
}

#[test]
fn chunks_of_twelve_artifacts_are_put_together_where_they_belong() {
    let mut exchange = exchange(ProtocolVersion::V0_3, true);
    sent(&mut exchange);
    exchange.on_event(&result(&task("working")));
    for index in 0..12 {
        exchange.on_event(&result(&chunk(&format!("a{index}"), &format!("{{\"n\": {index}"), false)));
    }
    for index in 0..12 {
        exchange.on_event(&result(&chunk(&format!("a{index}"), "5}", true)));
    }
    exchange.on_event(&result(&status("completed", "done")));
    let expected: Vec<String> = (0..12).map(|index| format!("{{\"n\": {index}5}}")).collect();
    assert_eq!(outcome(&mut exchange), answer(&expected.join("\n")));
    let news = exchange.take_news();
    assert_eq!(news.len(), 24);
    assert_eq!(news[0], ExchangeNews::Text("{\"n\": 0".to_owned()));
}

#[test]
fn progress_is_told_and_the_last_words_are_the_answer_where_nothing_else_is() {
    let mut exchange = exchange(ProtocolVersion::V0_3, true);
    sent(&mut exchange);
    exchange.on_event(&result(&status("working", "laying bricks")));
    assert_eq!(exchange.take_news(), [ExchangeNews::Progress("laying bricks".to_owned())]);
    exchange.on_event(&result(&status("completed", "{\"boxes\": []}")));
    assert_eq!(outcome(&mut exchange), answer("{\"boxes\": []}"));
}

#[test]
fn a_lost_stream_is_taken_up_again_and_then_polled() {
    let mut exchange = exchange(ProtocolVersion::V1_0, true);
    sent(&mut exchange);
    exchange.on_event(&result(&json!({ "task": task("working") })));
    for expected in ["SubscribeToTask"; 5].into_iter().chain(["GetTask"]) {
        exchange.on_stream_end();
        assert_eq!(sent(&mut exchange).0["method"], expected);
    }
    exchange.on_response(&result(&task("TASK_STATE_FAILED")));
    let ended = ExchangeOutcome::Ended { state: A2aTaskState::Failed, words: String::new() };
    assert_eq!(outcome(&mut exchange), ended);
}

#[test]
fn an_agent_that_refuses_to_resubscribe_is_polled() {
    let mut exchange = exchange(ProtocolVersion::V0_3, true);
    sent(&mut exchange);
    exchange.on_event(&result(&task("working")));
    exchange.on_stream_end();
    assert_eq!(sent(&mut exchange).0["method"], "tasks/resubscribe");
    exchange.on_response(
        &json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": -32004, "message": "no" } }).to_string(),
    );
    assert_eq!(sent(&mut exchange).0["method"], "tasks/get");
}

#[test]
fn what_was_taken_up_again_is_not_told_twice() {
    let mut exchange = exchange(ProtocolVersion::V0_3, true);
    sent(&mut exchange);
    exchange.on_event(&result(&task("working")));
    exchange.on_event(&result(&chunk("a", "{\"boxes\":", false)));
    exchange.on_stream_end();
    sent(&mut exchange);
    let mut now = task("working");
    now["artifacts"] = json!([{ "artifactId": "a", "parts": [{ "kind": "text", "text": "{\"boxes\":" }] }]);
    exchange.on_event(&result(&now));
    exchange.on_event(&result(&chunk("a", "[]}", true)));
    exchange.on_event(&result(&status("completed", "")));
    assert_eq!(outcome(&mut exchange), answer("{\"boxes\":[]}"));
}

#[test]
fn a_stream_that_ends_before_anything_came_is_cut_off() {
    let mut exchange = exchange(ProtocolVersion::V0_3, true);
    sent(&mut exchange);
    exchange.on_stream_end();
    assert_eq!(outcome(&mut exchange), ExchangeOutcome::Failed(ExchangeError::CutOff));
}

#[test]
fn an_agent_that_wants_something_ends_the_exchange_in_its_own_words() {
    for (state, expected) in [
        (
            "input-required",
            ExchangeOutcome::Interrupted {
                state: A2aTaskState::InputRequired,
                words: "Which colour?".to_owned(),
            },
        ),
        (
            "auth-required",
            ExchangeOutcome::Interrupted {
                state: A2aTaskState::AuthRequired,
                words: "Which colour?".to_owned(),
            },
        ),
        (
            "rejected",
            ExchangeOutcome::Ended { state: A2aTaskState::Rejected, words: "Which colour?".to_owned() },
        ),
        (
            "canceled",
            ExchangeOutcome::Ended { state: A2aTaskState::Canceled, words: "Which colour?".to_owned() },
        ),
    ] {
        let mut exchange = exchange(ProtocolVersion::V0_3, true);
        sent(&mut exchange);
        exchange.on_event(&result(&status(state, "Which colour?")));
        assert_eq!(outcome(&mut exchange), expected);
    }
}

#[test]
fn answers_for_another_task_or_context_are_refused() {
    for (field, value) in [("taskId", "t2"), ("contextId", "c2")] {
        let mut exchange = exchange(ProtocolVersion::V0_3, true);
        sent(&mut exchange);
        exchange.on_event(&result(&task("working")));
        let mut foreign = status("working", "hello");
        foreign[field] = json!(value);
        exchange.on_event(&result(&foreign));
        assert_eq!(outcome(&mut exchange), ExchangeOutcome::Failed(ExchangeError::Foreign));
    }
    let mut message = Message::new(MessageRole::User, vec![Part::text("again")]);
    message.context_id = Some("mine".to_owned());
    let mut exchange =
        Exchange::new(interface(ProtocolVersion::V0_3), message, false, ExchangeLimits::default());
    assert_eq!(sent(&mut exchange).0["params"]["message"]["contextId"], "mine");
    exchange.on_response(&result(&task("working")));
    assert_eq!(outcome(&mut exchange), ExchangeOutcome::Failed(ExchangeError::Foreign));
}

#[test]
fn what_is_not_the_protocol_is_refused() {
    for body in [
        "<html>",
        "{}",
        "[]",
        "null",
        r#"{"result":7}"#,
        r#"{"result":{"kind":"news"}}"#,
        r#"{"result":{"kind":"task"}}"#,
    ] {
        let mut exchange = exchange(ProtocolVersion::V0_3, false);
        sent(&mut exchange);
        exchange.on_response(body);
        let found = outcome(&mut exchange);
        assert!(
            matches!(found, ExchangeOutcome::Failed(ExchangeError::NotTheProtocol(_))),
            "{body}: {found:?}"
        );
    }
    let mut exchange = exchange(ProtocolVersion::V0_3, false);
    sent(&mut exchange);
    exchange.on_response(r#"{"error":{"code":-32005,"message":"text only"}}"#);
    let ExchangeOutcome::Refused(error) = outcome(&mut exchange) else { panic!("not refused") };
    assert_eq!(error.to_string(), "error -32005: text only");
}

#[test]
fn no_more_is_taken_in_than_allowed() {
    let mut long = exchange(ProtocolVersion::V0_3, true);
    sent(&mut long);
    long.on_event(&result(&task("working")));
    for _ in 0..40 {
        long.on_event(&result(&chunk("a", &"x".repeat(100), true)));
    }
    assert_eq!(outcome(&mut long), ExchangeOutcome::Failed(ExchangeError::TooLarge(2000)));
    let mut talks = exchange(ProtocolVersion::V0_3, true);
    sent(&mut talks);
    for _ in 0..60 {
        talks.on_event(&result(&task("working")));
    }
    assert_eq!(outcome(&mut talks), ExchangeOutcome::Failed(ExchangeError::TooManyEvents(50)));
}

#[test]
fn what_was_begun_can_be_cancelled_and_taken_up_by_another_process() {
    let mut exchange = exchange(ProtocolVersion::V1_0, true);
    assert!(exchange.cancel_request().is_none());
    sent(&mut exchange);
    exchange.on_event(&result(&json!({ "task": task("working") })));
    let cancel: Value = serde_json::from_str(&exchange.cancel_request().unwrap().body).unwrap();
    assert_eq!((&cancel["method"], &cancel["params"]), (&json!("CancelTask"), &json!({ "id": "t1" })));
    let mut resumed =
        Exchange::resume(interface(ProtocolVersion::V1_0), "t1".to_owned(), false, ExchangeLimits::default());
    assert_eq!(sent(&mut resumed).0["method"], "GetTask");
}

#[test]
fn the_tenant_of_an_interface_comes_back_with_each_request() {
    let interface = ChosenInterface { tenant: Some("acme".to_owned()), ..interface(ProtocolVersion::V1_0) };
    let message = Message::new(MessageRole::User, vec![Part::text("hi")]);
    let mut exchange = Exchange::new(interface, message, false, ExchangeLimits::default());
    assert_eq!(sent(&mut exchange).0["params"]["tenant"], "acme");
    exchange.on_response(&result(&json!({ "task": task("working") })));
    assert_eq!(sent(&mut exchange).0["params"]["tenant"], "acme");
}
