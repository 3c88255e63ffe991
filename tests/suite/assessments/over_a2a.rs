//! Assessments that are ordered over the A2A protocol.

use serde_json::{Value, json};

use super::{AssessmentFixture, short, sleeper, start_server, walker};
use crate::support::fake_agent::{AgentStep, FakeAgent};

impl AssessmentFixture {
    async fn rpc(&self, method: &str, params: &Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.server.post("/a2a").json(&call).send().await.unwrap().json().await.unwrap()
    }

    /// Orders as the peers of this family do: in the text of a message of 0.3, as a stream.
    async fn stream(&self, order: &Value) -> Vec<Value> {
        let message = json!({ "kind": "message", "messageId": "m", "role": "user",
            "parts": [{ "kind": "text", "text": order.to_string() }] });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": { "message": message } });
        let answer = self.server.post("/a2a").json(&call).send().await.unwrap();
        let text = tokio::time::timeout(super::LIMIT, answer.text()).await.unwrap().unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|event| serde_json::from_str::<Value>(event).unwrap()["result"].clone()).collect()
    }

    /// Orders with a method of 1.0 that does not wait, and returns the A2A task.
    async fn begin(&self, agent: &str, config: &Value) -> Value {
        let order = json!({ "participants": { "agent": agent }, "config": config });
        let params = json!({
            "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": order }] },
            "configuration": { "returnImmediately": true },
        });
        self.rpc("SendMessage", &params).await["result"]["task"].clone()
    }

    async fn a2a_task(&self, id: &Value) -> Value {
        self.rpc("GetTask", &json!({ "id": id })).await["result"].clone()
    }

    async fn wait_for_a2a_state(&self, id: &Value, state: &str) -> Value {
        let waiting = async {
            loop {
                let task = self.a2a_task(id).await;
                if task["status"]["state"] == state {
                    return task;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(super::LIMIT, waiting).await;
        match waited {
            Ok(task) => task,
            Err(_) => panic!("not {state}: {:#}", self.a2a_task(id).await),
        }
    }
}

#[tokio::test]
async fn the_stream_tells_of_each_run_and_ends_with_one_element_of_the_results() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = FakeAgent::start([AgentStep::Act(r#"{"craft": "oak_planks"}"#)]).await;
    let order = json!({
        "participants": { "agent": agent.url },
        "config": { "task_category": ["crafting"], "tasks": ["craft_ladder", "craft_oak_planks"], "max_steps": 4, "seed": 7 },
    });
    let events = fixture.stream(&order).await;
    assert_eq!((&events[0]["kind"], &events[0]["status"]["state"]), (&json!("task"), &json!("submitted")));
    let words: Vec<&str> = events
        .iter()
        .filter(|event| event["kind"] == "status-update" && event["status"]["state"] == "working")
        .map(|event| event["status"]["message"]["parts"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        words,
        [
            "Starting MCU evaluation with 2 tasks from crafting",
            "Running task: craft ladder (category: crafting)",
            "Task 'craft_ladder': 0.0",
            "Running task: craft oak planks (category: crafting)",
            "Task 'craft_oak_planks': 10.0",
        ]
    );
    let artifacts: Vec<&Value> = events.iter().filter(|event| event["kind"] == "artifact-update").collect();
    assert_eq!(artifacts.len(), 1);
    let artifact = &artifacts[0]["artifact"];
    assert_eq!(artifact["name"], "Result");
    let text = artifact["parts"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(
            "MCU Evaluation Result\nCategories: crafting\nNumber of Tasks: 2\nTotal Score: 10.0\n"
        )
    );
    let id = fixture.get("/api/assessments").await.1["assessments"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(artifact["parts"][1]["data"], fixture.result(&id).await["results"][0]);
    let last = events.last().unwrap();
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("completed"), &json!(true)));
}

#[tokio::test]
async fn what_cannot_be_carried_out_is_rejected_with_what_is_wrong() {
    let fixture = AssessmentFixture::new(&[]).await;
    for (order, words) in [
        (
            json!({ "participants": { "agent": "http://127.0.0.1:1" }, "config": { "task_category": ["flying"] } }),
            "flying",
        ),
        (json!({ "participants": { "agent": "nobody" } }), "no agent"),
        (json!({ "participants": {} }), "agent"),
        (json!({ "participants": { "agent": "http://192.0.2.7" } }), "this machine"),
    ] {
        let events = fixture.stream(&order).await;
        let last = events.last().unwrap();
        assert_eq!((&last["status"]["state"], &last["final"]), (&json!("rejected"), &json!(true)), "{last}");
        let told = last["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments").await, 0);
}

#[tokio::test]
async fn cancelling_either_of_task_and_assessment_cancels_the_other() {
    let fixture = AssessmentFixture::new(&[]).await;
    let (one, other) = (sleeper().await, sleeper().await);
    let task = fixture.begin(&one.url, &short()).await;
    fixture.wait_for_a2a_state(&task["id"], "TASK_STATE_WORKING").await;
    let cancelled = fixture.rpc("CancelTask", &json!({ "id": task["id"] })).await;
    assert_eq!(cancelled["result"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(fixture.db.number("SELECT count(*) FROM assessments WHERE state = 'cancelled'").await, 1);

    let task = fixture.begin(&other.url, &short()).await;
    fixture.wait_for_a2a_state(&task["id"], "TASK_STATE_WORKING").await;
    let id = fixture.get("/api/assessments").await.1["assessments"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(fixture.admin().delete(&format!("/api/assessments/{id}")).await.status, 204);
    fixture.wait_for_a2a_state(&task["id"], "TASK_STATE_CANCELED").await;
}

#[tokio::test]
async fn after_a_restart_the_task_goes_on_and_can_be_subscribed_to() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = sleeper().await;
    let task = fixture.begin(&agent.url, &short()).await;
    fixture.wait_for_a2a_state(&task["id"], "TASK_STATE_WORKING").await;
    let AssessmentFixture { db, server } = fixture;
    server.shut_down().await.unwrap();
    // Nobody has heard of it for long, and still it is not lost: the assessment is in the queue.
    db.run("UPDATE a2a_tasks SET worked_until = now() - interval '1 hour', expires_at = now() - interval '1 hour'").await;
    agent.replace_script([AgentStep::Act(super::WALK)]);
    let fixture = AssessmentFixture { server: start_server(&db, &[]).await, db };
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": { "id": task["id"] } });
    let subscribed = fixture.server.post("/a2a").json(&call).send().await.unwrap().text().await.unwrap();
    assert!(subscribed.contains("TASK_STATE_COMPLETED"), "{subscribed}");
    let ended = fixture.a2a_task(&task["id"]).await;
    assert_eq!(ended["artifacts"][0]["name"], "Result");
    let started = ended["history"].to_string().matches("Starting MCU evaluation").count();
    assert!(started <= 1, "{ended:#}");
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_waiting_and_not_the_assessment() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    let order = json!({ "participants": { "agent": agent.url }, "config": short() });
    let message = json!({ "kind": "message", "messageId": "m", "role": "user",
        "parts": [{ "kind": "text", "text": order.to_string() }] });
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": { "message": message } });
    let mut answer = fixture.server.post("/a2a").json(&call).send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some());
    drop(answer);
    fixture.db.wait_until("EXISTS (SELECT FROM assessments WHERE state = 'finished')").await;
    fixture.db.wait_until("EXISTS (SELECT FROM a2a_tasks WHERE state = 'completed')").await;
}

#[tokio::test]
async fn a_task_of_an_owners_token_is_seen_with_that_token_alone() {
    let fixture = AssessmentFixture::new(&[("ASSESS", "tokens")]).await;
    let agent = walker().await;
    fixture.add_agent("walker", &agent).await;
    let (own, foreign) = (fixture.make_token("walker", 5).await, fixture.make_token("walker", 5).await);
    let order = json!({ "participants": { "agent": "walker" }, "config": short() });
    let ask = |token: Option<String>, method: &str, params: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = fixture.server.post("/a2a").json(&call);
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        async move { request.send().await.unwrap().json::<Value>().await.unwrap() }
    };
    let params =
        json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": order }] } });
    let done = ask(Some(own.clone()), "SendMessage", params).await;
    let task = &done["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{done:#}");
    let get = json!({ "id": task["id"] });
    assert_eq!(ask(Some(own.clone()), "GetTask", get.clone()).await["result"]["id"], task["id"]);
    for stranger in [None, Some(foreign.clone())] {
        assert_eq!(ask(stranger, "GetTask", get.clone()).await["error"]["code"], -32001);
    }
    assert_eq!(ask(Some(own), "ListTasks", json!({})).await["result"]["tasks"][0]["id"], task["id"]);
    assert_eq!(ask(Some(foreign), "ListTasks", json!({})).await["result"]["tasks"], json!([]));
}
