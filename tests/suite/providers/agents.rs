//! Agents, asked over the A2A protocol, in all the ways in which they answer and in which they do not.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use buildoff::generate::{
    CompletionRequest, CompletionResponse, Delta, Endpoint, GenerateError, ModelProvider, ProviderKind,
    RequestLimits, Secret, provider,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{patience, question};
use crate::support::fake_agent::{AgentStep, FakeAgent};

const BUILD: &str = r#"{"boxes": []}"#;

fn client(agent: &FakeAgent, limits: RequestLimits) -> Arc<dyn ModelProvider> {
    client_at(&agent.url, None, limits)
}

fn client_at(url: &str, key: Option<&str>, limits: RequestLimits) -> Arc<dyn ModelProvider> {
    let endpoint = Endpoint {
        provider: ProviderKind::A2a,
        base_url: url.to_owned(),
        key: key.map(Secret::new),
        pinned: None,
    };
    provider(&endpoint, limits, false).unwrap()
}

async fn ask(agent: &FakeAgent) -> Result<CompletionResponse, GenerateError> {
    client(agent, patience()).ask(&question(), &mut |_| {}).await
}

/// The code and the message of the error.
async fn failure(agent: &FakeAgent, limits: RequestLimits) -> (&'static str, String) {
    let error = client(agent, limits).ask(&question(), &mut |_| {}).await.unwrap_err();
    (error.kind.code(), error.message)
}

fn task(state: &str) -> Value {
    json!({ "task": { "id": "t1", "contextId": "c1", "status": { "state": state } } })
}

fn status(state: &str, words: &str) -> Value {
    json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": { "state": state, "message": {
        "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": words }],
    } } } })
}

fn artifact(text: &str, append: bool) -> Value {
    json!({ "artifactUpdate": { "taskId": "t1", "contextId": "c1", "append": append, "artifact": {
        "artifactId": "a", "parts": [{ "text": text }],
    } } })
}

fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "m", "contextId": "c1", "role": "ROLE_AGENT", "parts": [{ "text": text }] } })
}

#[tokio::test]
async fn an_answer_in_a_message_is_read_and_the_conversation_goes_on_in_its_context() {
    let agent = FakeAgent::start([AgentStep::Stream(vec![message(BUILD)])]).await;
    let answer = ask(&agent).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.context.as_deref()), (BUILD, Some("c1")));
    let sent = agent.requests()[0].clone();
    assert_eq!(sent.headers["a2a-version"], "1.0");
    assert_eq!(sent.body["method"], "SendStreamingMessage");
    assert_eq!(sent.body["params"]["message"]["contextId"], Value::Null);
    let again = CompletionRequest {
        context: answer.context,
        data: Some(Arc::new(json!({ "type": "build" }))),
        ..question()
    };
    client(&agent, patience()).ask(&again, &mut |_| {}).await.unwrap();
    let sent = &agent.requests()[1].body["params"]["message"];
    assert_eq!((&sent["contextId"], &sent["parts"][1]["data"]["type"]), (&json!("c1"), &json!("build")));
    assert!(sent["parts"][0]["text"].as_str().unwrap().starts_with("You build."));
}

#[tokio::test]
async fn progress_and_chunks_stream_in_and_the_answer_is_whole() {
    let events = vec![
        task("TASK_STATE_SUBMITTED"),
        status("TASK_STATE_WORKING", "laying bricks"),
        artifact("{\"boxes\"", false),
        artifact(": []}", true),
        status("TASK_STATE_COMPLETED", "done"),
    ];
    let agent = FakeAgent::start([AgentStep::Stream(events)]).await;
    let (mut progress, mut texts, mut ids) = (Vec::new(), String::new(), Vec::new());
    let mut listen = |delta: Delta<'_>| match delta {
        Delta::Progress(words) => progress.push(words.to_owned()),
        Delta::Text(text) => texts.push_str(text),
        Delta::Remote { id } => ids.push(id.to_owned()),
        _ => {}
    };
    let answer = client(&agent, patience()).ask(&question(), &mut listen).await.unwrap();
    assert_eq!((answer.text.as_str(), texts.as_str()), (BUILD, BUILD));
    assert_eq!((progress, ids.first().map(String::as_str)), (vec!["laying bricks".to_owned()], Some("t1")));
}

#[tokio::test]
async fn agents_of_both_versions_are_polled_where_they_do_not_stream() {
    for old in [false, true] {
        let mut done = task("TASK_STATE_COMPLETED")["task"].clone();
        done["artifacts"] = json!([{ "artifactId": "a", "parts": [{ "text": BUILD }] }]);
        let working = task("TASK_STATE_WORKING");
        let first = if old { working["task"].clone() } else { working.clone() };
        let agent = FakeAgent::start([
            AgentStep::Result(first),
            AgentStep::Result(working["task"].clone()),
            AgentStep::Result(done),
        ])
        .await;
        if old {
            agent.speak_0_3();
        }
        agent.change_card(|card| card["capabilities"] = json!({}));
        assert_eq!(ask(&agent).await.unwrap().text, BUILD);
        let methods = if old {
            ["message/send", "tasks/get", "tasks/get"]
        } else {
            ["SendMessage", "GetTask", "GetTask"]
        };
        assert_eq!(agent.methods(), methods);
        assert_eq!(agent.requests()[0].headers["a2a-version"], if old { "0.3" } else { "1.0" });
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_again() {
    let agent = FakeAgent::start([
        AgentStep::Stream(vec![task("TASK_STATE_WORKING"), artifact("{\"boxes\"", false)]),
        AgentStep::Stream(vec![
            task("TASK_STATE_WORKING"),
            artifact(": []}", true),
            status("TASK_STATE_COMPLETED", ""),
        ]),
    ])
    .await;
    assert_eq!(ask(&agent).await.unwrap().text, BUILD);
    assert_eq!(agent.methods(), ["SendStreamingMessage", "SubscribeToTask"]);
}

#[tokio::test]
async fn an_agent_that_ends_without_an_answer_is_quoted() {
    for (state, code, words) in [
        ("TASK_STATE_FAILED", "bad_answer", "The agent: its task failed, saying: I have no bricks"),
        ("TASK_STATE_REJECTED", "refused", "The agent: it rejected the task, saying: I have no bricks"),
        ("TASK_STATE_CANCELED", "bad_answer", "The agent: it canceled the task, saying: I have no bricks"),
        (
            "TASK_STATE_INPUT_REQUIRED",
            "needs_input",
            "The agent: it asks for input, which nobody gives, saying: I have no bricks",
        ),
        ("TASK_STATE_AUTH_REQUIRED", "needs_input", "The agent: it wants a login, saying: I have no bricks"),
    ] {
        let agent = FakeAgent::start([AgentStep::Stream(vec![status(state, "I have no bricks")])]).await;
        assert_eq!(failure(&agent, patience()).await, (code, words.to_owned()), "{state}");
    }
}

#[tokio::test]
async fn what_is_not_the_protocol_has_a_clear_error() {
    let raw = |status, kind, body| AgentStep::Raw(status, kind, body);
    for (step, code, words) in [
        (raw(StatusCode::OK, "text/html", "<title>Hello</title>"), "bad_answer", "a page titled “Hello”"),
        (raw(StatusCode::OK, "application/json", "{}"), "bad_answer", "neither a result nor an error"),
        (raw(StatusCode::OK, "application/json", "{"), "bad_answer", "not one of the protocol"),
        (AgentStep::Redirect("http://169.254.169.254/"), "bad_answer", "a redirect"),
        (AgentStep::Error(-32005, "text only"), "bad_request", "error -32005: text only"),
        (AgentStep::Stream(Vec::new()), "cut_off", "ended before the answer did"),
        (AgentStep::Stream(vec![message("  ")]), "empty", "without writing anything"),
        (
            AgentStep::Stream(vec![
                task("TASK_STATE_WORKING"),
                json!({ "statusUpdate": {
                "taskId": "t1", "contextId": "other", "status": { "state": "TASK_STATE_COMPLETED" },
            } }),
            ]),
            "bad_answer",
            "belongs to another task or context",
        ),
    ] {
        let agent = FakeAgent::start([step]).await;
        let (found, message) = failure(&agent, patience()).await;
        assert_eq!(found, code, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn an_agent_of_0_3_whose_card_says_1_0_is_understood_or_told_that_it_knows_no_such_method() {
    let old = json!({
        "kind": "message", "messageId": "m", "contextId": "c1", "role": "agent",
        "parts": [{ "kind": "text", "text": BUILD }],
    });
    let lenient = FakeAgent::start([AgentStep::Result(old)]).await;
    assert_eq!(ask(&lenient).await.unwrap().text, BUILD);
    let strict = FakeAgent::start([AgentStep::Error(-32601, "Method not found")]).await;
    let (code, message) = failure(&strict, patience()).await;
    assert_eq!(code, "bad_request");
    assert!(message.contains("it refused the request with error -32601: Method not found"), "{message}");
}

#[tokio::test]
async fn silence_endless_streams_and_endless_tasks_end_in_time() {
    let soon = RequestLimits {
        idle: Duration::from_millis(200),
        first_byte: Duration::from_millis(200),
        tries: 1,
        ..patience()
    };
    let silent = FakeAgent::start([AgentStep::Never]).await;
    assert_eq!(failure(&silent, soon).await.0, "stalled");
    let quiet = FakeAgent::start([AgentStep::StreamThenSilence(vec![task("TASK_STATE_WORKING")])]).await;
    assert_eq!(failure(&quiet, soon).await.0, "stalled");
    let loud = FakeAgent::start([AgentStep::StreamForEver(artifact(&"x".repeat(10_000), true))]).await;
    assert_eq!(failure(&loud, patience()).await.0, "too_large");
    let chatty = FakeAgent::start([AgentStep::StreamForEver(status("TASK_STATE_WORKING", "busy"))]).await;
    assert_eq!(failure(&chatty, patience()).await.0, "too_large");
    let endless = FakeAgent::start([AgentStep::Result(task("TASK_STATE_WORKING"))]).await;
    endless.change_card(|card| card["capabilities"] = json!({}));
    let total = RequestLimits { total: Duration::from_millis(600), ..patience() };
    assert_eq!(failure(&endless, total).await.0, "timed_out");
}

#[tokio::test]
async fn work_that_nobody_waits_for_is_cancelled_at_the_agent() {
    let agent = FakeAgent::start([
        AgentStep::StreamThenSilence(vec![task("TASK_STATE_WORKING")]),
        AgentStep::Result(task("TASK_STATE_CANCELED")["task"].clone()),
    ])
    .await;
    let client = client(&agent, patience());
    let has_begun = Arc::new(Notify::new());
    let begins = Arc::clone(&has_begun);
    let asking = tokio::spawn(async move {
        let mut on_delta = |delta: Delta<'_>| {
            if matches!(delta, Delta::Remote { .. }) {
                begins.notify_one();
            }
        };
        client.ask(&question(), &mut on_delta).await
    });
    has_begun.notified().await;
    asking.abort();
    agent.wait_for_method("CancelTask").await;
    assert_eq!(agent.requests()[1].body["params"]["id"], "t1");
}

#[tokio::test]
async fn a_task_that_is_gone_meanwhile_is_asked_for_anew() {
    let unknown = || AgentStep::Error(-32001, "no such task");
    let canceled = || AgentStep::Stream(vec![task("TASK_STATE_CANCELED")]);
    for (gone, methods) in [
        (vec![unknown(), unknown()], vec!["SubscribeToTask", "GetTask", "SendStreamingMessage"]),
        (vec![canceled()], vec!["SubscribeToTask", "SendStreamingMessage"]),
    ] {
        let steps = gone.into_iter().chain([AgentStep::Stream(vec![message(BUILD)])]);
        let agent = FakeAgent::start(steps).await;
        let answer = client(&agent, patience()).resume("t1", &question(), &mut |_| {}).await.unwrap();
        assert_eq!(answer.text, BUILD);
        assert_eq!(agent.methods(), methods);
    }
}

#[tokio::test]
async fn a_secret_goes_to_the_agents_own_origin_alone_as_its_card_says() {
    let elsewhere = FakeAgent::start([AgentStep::Stream(vec![message(BUILD)])]).await;
    let agent = FakeAgent::start([AgentStep::Stream(vec![message(BUILD)])]).await;
    let ask = async || {
        client_at(&agent.url, Some("hidden-secret"), patience()).ask(&question(), &mut |_| {}).await.unwrap()
    };
    ask().await;
    assert_eq!(agent.requests()[0].headers["authorization"], "Bearer hidden-secret");
    agent.change_card(|card| {
        card["securitySchemes"] =
            json!({ "key": { "apiKeySecurityScheme": { "location": "header", "name": "X-Key" } } });
    });
    ask().await;
    assert_eq!(agent.requests()[1].headers["x-key"], "hidden-secret");
    let url = format!("{}/a2a", elsewhere.url);
    agent.change_card(|card| card["supportedInterfaces"][0]["url"] = json!(url));
    ask().await;
    let headers = format!("{:?}", elsewhere.requests()[0].headers);
    assert!(!headers.contains("hidden-secret"), "{headers}");
    let refused = provider(
        &Endpoint {
            provider: ProviderKind::A2a,
            base_url: "http://agent.example".to_owned(),
            key: Some(Secret::new("hidden-secret")),
            pinned: None,
        },
        patience(),
        false,
    );
    assert!(refused.is_err(), "a secret is not sent over http to another machine");
}

#[tokio::test]
async fn a_card_that_leads_nowhere_or_asks_too_much_is_refused_in_words() {
    let agent = FakeAgent::start([AgentStep::Never]).await;
    for (field, value, words) in [
        (
            "capabilities",
            json!({ "extensions": [{ "uri": "https://x.example", "required": true }] }),
            "requires the extension",
        ),
        (
            "supportedInterfaces",
            json!([{ "url": "http://x.example", "protocolBinding": "GRPC", "protocolVersion": "1.0" }]),
            "only JSON-RPC",
        ),
        (
            "supportedInterfaces",
            json!([{ "url": "ftp://x.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }]),
            "the address in its card cannot be used",
        ),
        ("supportedInterfaces", json!([]), "names no address"),
    ] {
        agent.change_card(|card| {
            card["capabilities"] = json!({ "streaming": true });
            card[field] = value;
        });
        let (code, message) = failure(&agent, patience()).await;
        assert_eq!(code, "bad_answer");
        assert!(message.contains(words), "{message}");
    }
    let gone =
        client_at("http://127.0.0.1:1", None, patience()).ask(&question(), &mut |_| {}).await.unwrap_err();
    assert_eq!(gone.kind.code(), "unreachable", "{}", gone.message);
}
