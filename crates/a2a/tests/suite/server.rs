//! An agent on this library, asked by requests as they stand in the specification.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a::{
    A2aServer, A2aTask, Agent, AgentReply, Artifact, MemoryTaskStore, Message, Part, RpcAnswer, RpcError,
    SendMessageParams, VersionClaim, joined_text, read_call,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Answers "greet" with a message; "refuse" and "panic" do what they say; works on all else, and waits for permits in
/// the middle.
struct Parrot {
    go_on: Arc<Semaphore>,
    cancelled: Arc<AtomicUsize>,
}

#[async_trait]
impl Agent for Parrot {
    type Client = ();
    type Owner = ();

    fn owner((): &()) -> &() {
        &()
    }

    async fn receive(&self, params: SendMessageParams, (): &()) -> Result<AgentReply, RpcError> {
        let text = joined_text(&params.message.parts);
        let go_on = Arc::clone(&self.go_on);
        match text.as_str() {
            "greet" => Ok(AgentReply::text("hello")),
            "refuse" => Err(RpcError::invalid_params("No.")),
            "panic" => Ok(AgentReply::work(|_| async { panic!("a bug") })),
            _ => Ok(AgentReply::work(move |updates| async move {
                updates.progress("thinking").await;
                let permit = go_on.acquire().await.unwrap();
                permit.forget();
                let artifact = Artifact {
                    id: "echo".to_owned(),
                    name: Some("Echo".to_owned()),
                    description: None,
                    parts: vec![Part::text(text)],
                    extensions: Vec::new(),
                    metadata: None,
                };
                if updates.artifact(artifact).await {
                    updates.complete().await;
                }
            })),
        }
    }

    async fn cancelled(&self, _: &A2aTask) {
        self.cancelled.fetch_add(1, Ordering::SeqCst);
    }
}

struct Fixture {
    server: A2aServer<Parrot, MemoryTaskStore>,
    go_on: Arc<Semaphore>,
    cancelled: Arc<AtomicUsize>,
}

impl Fixture {
    fn new() -> Self {
        let (go_on, cancelled) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let parrot = Parrot { go_on: Arc::clone(&go_on), cancelled: Arc::clone(&cancelled) };
        Self { server: A2aServer::new(parrot, MemoryTaskStore::new(100)), go_on, cancelled }
    }

    async fn post(&self, body: &Value, version: Option<&str>) -> RpcAnswer {
        self.server.answer(read_call(body.to_string().as_bytes(), VersionClaim::parse(version)), ()).await
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.call_as(method, params, None).await
    }

    async fn call_as(&self, method: &str, params: Value, version: Option<&str>) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        match self.post(&body, version).await {
            RpcAnswer::Document(text) => {
                let answer: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(answer["id"], 7, "{answer}");
                answer
            }
            RpcAnswer::Events(_) => panic!("{method} was answered with a stream"),
        }
    }

    async fn stream(&self, method: &str, params: Value) -> Events {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        match self.post(&body, None).await {
            RpcAnswer::Events(events) => Events(events),
            RpcAnswer::Document(text) => panic!("{method} was answered with {text}"),
        }
    }
}

struct Events(std::pin::Pin<Box<dyn futures_util::Stream<Item = String> + Send>>);

impl Events {
    async fn next(&mut self) -> Option<Value> {
        let next = timeout(Duration::from_secs(20), self.0.next()).await.expect("an event or the end");
        let event: Value = serde_json::from_str(&next?).unwrap();
        Some(event.get("result").unwrap_or(&event).clone())
    }
}

fn old_message(text: &str) -> Value {
    json!({ "message": { "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": text }] } })
}

fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[tokio::test]
async fn the_name_of_the_method_decides_the_shape() {
    let fixture = Fixture::new();
    let old = fixture.call("message/send", old_message("greet")).await;
    assert_eq!(old["result"]["kind"], "message");
    assert_eq!(old["result"]["parts"], json!([{ "kind": "text", "text": "hello" }]));
    let new = fixture.call("SendMessage", message("greet")).await;
    assert_eq!(new["result"]["message"]["role"], "ROLE_AGENT");
    assert_eq!(new["result"]["message"]["parts"], json!([{ "text": "hello" }]));
}

#[tokio::test]
async fn a_header_that_names_the_other_version_finds_no_method_and_an_unknown_one_is_told_ours() {
    let fixture = Fixture::new();
    for (method, version, expected) in [
        ("SendMessage", Some("0.3"), Some(-32601)),
        ("message/send", Some("1.0"), Some(-32601)),
        ("SendMessage", Some("1.0.9"), None),
        ("message/send", Some("0.3.0"), None),
        ("SendMessage", Some(""), None),
        ("SendMessage", Some("2.0"), Some(-32009)),
        ("message/send", Some("2.0"), Some(-32009)),
        ("NoSuchMethod", None, Some(-32601)),
        ("tasks/list", None, Some(-32601)),
    ] {
        let params = if method.contains('/') { old_message("greet") } else { message("greet") };
        let answer = fixture.call_as(method, params, version).await;
        assert_eq!(answer["error"]["code"].as_i64(), expected, "{method} as {version:?}: {answer}");
    }
    let new = fixture.call_as("SendMessage", message("greet"), Some("9.9")).await;
    assert_eq!(new["error"]["data"][0]["metadata"]["supportedVersions"], "1.0, 0.3");
    assert_eq!(new["error"]["data"][0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    let old = fixture.call_as("message/send", old_message("greet"), Some("9.9")).await;
    assert_eq!(old["error"]["data"]["supportedVersions"], json!(["1.0", "0.3"]));
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_code() {
    let fixture = Fixture::new();
    let answer = async |body: &str| match fixture
        .server
        .answer(read_call(body.as_bytes(), VersionClaim::Absent), ())
        .await
    {
        RpcAnswer::Document(text) => serde_json::from_str::<Value>(&text).unwrap(),
        RpcAnswer::Events(_) => panic!("a stream"),
    };
    for (body, expected) in [
        ("{", -32700),
        ("\u{fffd}", -32700),
        ("", -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"id":1,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","historyLength":-1}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":101}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"status":"DREAMING"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"id":"none"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{}}"#, -32003),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{}}"#, -32003),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}"#, -32004),
        (r#"{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}"#, -32007),
    ] {
        assert_eq!(code(&answer(body).await), expected, "{body}");
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(code(&answer(&deep).await) < 0);
}

#[tokio::test]
async fn messages_that_nobody_could_answer_are_refused() {
    let fixture = Fixture::new();
    let send = async |message: Value| {
        let answer = fixture.call("SendMessage", json!({ "message": message })).await;
        (code(&answer), answer["error"]["message"].as_str().unwrap().to_owned())
    };
    let part = json!({ "text": "greet" });
    for (message, why) in [
        (json!({ "role": "ROLE_USER", "parts": [part] }), "message.messageId is missing."),
        (
            json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": [part] }),
            "message.role must be that of a user.",
        ),
        (
            json!({ "messageId": "m", "role": "ROLE_USER", "parts": [] }),
            "message.parts is empty; a message needs at least one part.",
        ),
        (
            json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{}] }),
            "message: a part holds no text, data, or file.",
        ),
    ] {
        assert_eq!(send(message).await, (-32602, why.to_owned()));
    }
    let push = json!({
        "message": message("greet")["message"],
        "configuration": { "taskPushNotificationConfig": { "url": "https://example.org" } },
    });
    assert_eq!(code(&fixture.call("SendMessage", push).await), -32003);
    let refused = fixture.call("SendMessage", message("refuse")).await;
    assert_eq!((code(&refused), &refused["error"]["message"]), (-32602, &json!("No.")));
    assert_eq!(refused["error"]["data"][0]["reason"], "INVALID_PARAMS");
}

#[tokio::test]
async fn an_old_client_gets_its_task_at_once_and_a_new_one_waits_for_its_end() {
    let fixture = Fixture::new();
    let old = fixture.call("message/send", old_message("work")).await["result"].clone();
    assert!(matches!(old["status"]["state"].as_str(), Some("submitted" | "working")), "{old}");
    let new = fixture.call(
        "SendMessage",
        json!({
            "message": message("work")["message"], "configuration": { "returnImmediately": true },
        }),
    );
    let new = new.await["result"]["task"].clone();
    assert!(
        matches!(new["status"]["state"].as_str(), Some("TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING")),
        "{new}"
    );

    let waiting = fixture.call("SendMessage", message("patience"));
    fixture.go_on.add_permits(3);
    let done = waiting.await["result"]["task"].clone();
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(done["artifacts"][0]["parts"], json!([{ "text": "patience" }]));

    let blocking =
        json!({ "message": old_message("work")["message"], "configuration": { "blocking": true } });
    fixture.go_on.add_permits(1);
    assert_eq!(fixture.call("message/send", blocking).await["result"]["status"]["state"], "completed");
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let fixture = Fixture::new();
    let mut events = fixture.stream("message/stream", old_message("echo")).await;
    let task = events.next().await.unwrap();
    assert_eq!(task["kind"], "task");
    fixture.go_on.add_permits(1);
    let mut kinds = Vec::new();
    let mut last = Value::Null;
    while let Some(event) = events.next().await {
        assert_eq!(event["taskId"], task["id"]);
        assert_eq!(event["contextId"], task["contextId"]);
        kinds.push(event["kind"].as_str().unwrap().to_owned());
        last = event;
    }
    assert!(kinds.contains(&"artifact-update".to_owned()), "{kinds:?}");
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("completed"), &json!(true)));
}

#[tokio::test]
async fn whoever_subscribes_again_misses_nothing_and_gets_the_task_first() {
    let fixture = Fixture::new();
    let mut events = fixture.stream("SendStreamingMessage", message("echo")).await;
    let id = events.next().await.unwrap()["task"]["id"].clone();
    drop(events);
    let mut events = fixture.stream("SubscribeToTask", json!({ "id": id })).await;
    assert_eq!(events.next().await.unwrap()["task"]["id"], id);
    fixture.go_on.add_permits(1);
    let mut artifacts = 0;
    let mut state = Value::Null;
    while let Some(event) = events.next().await {
        artifacts += usize::from(event["artifactUpdate"].is_object());
        state = event["statusUpdate"]["status"]["state"].clone();
    }
    assert_eq!((artifacts, state), (1, json!("TASK_STATE_COMPLETED")));

    let mut ended = fixture.stream("SubscribeToTask", json!({ "id": id })).await;
    assert_eq!(code(&ended.next().await.unwrap()), -32004);
    assert_eq!(ended.next().await, None);
}

#[tokio::test]
async fn leaving_ends_the_waiting_and_not_the_work() {
    let fixture = Fixture::new();
    let mut events = fixture.stream("SendStreamingMessage", message("echo")).await;
    let id = events.next().await.unwrap()["task"]["id"].clone();
    drop(events);
    let waiting = fixture.call("SendMessage", message("echo"));
    assert!(timeout(Duration::from_millis(50), waiting).await.is_err(), "it waits");
    fixture.go_on.add_permits(2);
    let list = async || fixture.call("ListTasks", json!({})).await["result"].clone();
    while list().await["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .any(|task| task["status"]["state"] != "TASK_STATE_COMPLETED")
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(list().await["totalSize"], 2);
    assert_eq!(
        fixture.call("GetTask", json!({ "id": id })).await["result"]["artifacts"][0]["artifactId"],
        "echo"
    );
}

#[tokio::test]
async fn a_cancelled_task_changes_no_more_and_its_agent_learns_of_it() {
    let fixture = Fixture::new();
    let task = fixture.call("message/send", old_message("echo")).await["result"].clone();
    let cancelled = fixture.call("tasks/cancel", json!({ "id": task["id"] })).await["result"].clone();
    assert_eq!((&cancelled["kind"], &cancelled["status"]["state"]), (&json!("task"), &json!("canceled")));
    assert_eq!(fixture.cancelled.load(Ordering::SeqCst), 1);
    fixture.go_on.add_permits(1);
    assert_eq!(code(&fixture.call("CancelTask", json!({ "id": task["id"] })).await), -32002);
    let now = fixture.call("GetTask", json!({ "id": task["id"] })).await["result"].clone();
    assert_eq!(now["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(now["artifacts"], Value::Null);
}

#[tokio::test]
async fn a_message_to_a_task_that_has_ended_is_refused_as_its_version_says() {
    let fixture = Fixture::new();
    fixture.go_on.add_permits(1);
    let task = fixture.call("SendMessage", message("echo")).await["result"]["task"].clone();
    let mut new = message("more");
    new["message"]["taskId"] = task["id"].clone();
    assert_eq!(code(&fixture.call("SendMessage", new).await), -32004);
    let mut old = old_message("more");
    old["message"]["taskId"] = task["id"].clone();
    assert_eq!(code(&fixture.call("message/send", old).await), -32602);
    let mut unknown = message("more");
    unknown["message"]["taskId"] = json!("none");
    assert_eq!(code(&fixture.call("SendMessage", unknown).await), -32001);
}

#[tokio::test]
async fn work_that_panics_fails_its_task() {
    let fixture = Fixture::new();
    let task = fixture.call("SendMessage", message("panic")).await["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_FAILED");
    let words = &task["status"]["message"]["parts"][0]["text"];
    assert_eq!(words, "The agent stopped without an answer.");
}

#[tokio::test]
async fn lists_have_pages_newest_first_and_hold_what_is_asked_for() {
    let fixture = Fixture::new();
    fixture.go_on.add_permits(5);
    let mut ids = Vec::new();
    for index in 0..5 {
        let mut sent = message(&format!("echo {index}"));
        sent["message"]["contextId"] = json!(if index == 2 { "other" } else { "mine" });
        ids.push(fixture.call("SendMessage", sent).await["result"]["task"]["id"].clone());
    }
    let page =
        fixture.call("ListTasks", json!({ "contextId": "mine", "pageSize": 3 })).await["result"].clone();
    let listed = |page: &Value| -> Vec<Value> {
        page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    assert_eq!(listed(&page), [ids[4].clone(), ids[3].clone(), ids[1].clone()]);
    assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(4), &json!(3)));
    assert_eq!((&page["tasks"][0]["artifacts"], &page["tasks"][0]["history"]), (&Value::Null, &Value::Null));
    let rest = json!({
        "contextId": "mine", "pageSize": 3, "pageToken": page["nextPageToken"], "includeArtifacts": true, "historyLength": 1,
    });
    let rest = fixture.call("ListTasks", rest).await["result"].clone();
    assert_eq!(listed(&rest), [ids[0].clone()]);
    assert_eq!(rest["nextPageToken"], "");
    assert!(rest["tasks"][0]["artifacts"].is_array());
    assert_eq!(rest["tasks"][0]["history"].as_array().unwrap().len(), 1);
    let working = fixture.call("ListTasks", json!({ "status": "TASK_STATE_WORKING" })).await;
    assert_eq!(working["result"]["tasks"], json!([]));
}

#[tokio::test]
async fn history_is_as_long_as_was_asked_for() {
    let fixture = Fixture::new();
    fixture.go_on.add_permits(1);
    let task = fixture.call("SendMessage", message("echo")).await["result"]["task"].clone();
    let texts = |task: &Value| -> Vec<String> {
        let messages = task["history"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|message| message["parts"][0]["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&task), ["echo", "thinking"]);
    let last = fixture.call("GetTask", json!({ "id": task["id"], "historyLength": 1 })).await;
    assert_eq!(texts(&last["result"]), ["thinking"]);
    let none = fixture.call("GetTask", json!({ "id": task["id"], "historyLength": 0 })).await;
    assert_eq!(none["result"]["history"], Value::Null);
}

#[tokio::test]
async fn a_full_store_forgets_the_oldest_tasks() {
    let go_on = Arc::new(Semaphore::new(0));
    let parrot = Parrot { go_on, cancelled: Arc::default() };
    let fixture = Fixture { server: A2aServer::new(parrot, MemoryTaskStore::new(2)), ..Fixture::new() };
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(fixture.call("message/send", old_message("echo")).await["result"]["id"].clone());
    }
    assert_eq!(code(&fixture.call("GetTask", json!({ "id": ids[0] })).await), -32001);
    assert_eq!(fixture.call("GetTask", json!({ "id": ids[2] })).await["result"]["id"], ids[2]);
}

#[test]
fn messages_get_ids_of_their_own() {
    let message = || Message::new(a2a::MessageRole::Agent, Vec::new());
    assert_ne!(message().id, message().id);
}
