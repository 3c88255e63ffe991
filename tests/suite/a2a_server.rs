//! Buildoff as an agent, at `/a2a`.

use std::time::Duration;

use reqwest::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, LOCATION, SET_COOKIE};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::TestServer;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;

fn spec() -> Value {
    json!({ "version": "1.0", "boxes": [
        { "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "oak_planks" },
    ] })
}

/// A server with a database of its own.
async fn start() -> (TestDb, TestServer) {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    (db, server)
}

fn rpc(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn message(parts: &Value) -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": parts } })
}

/// Asks with a method of 1.0, and returns the whole answer.
async fn ask(server: &TestServer, method: &str, params: &Value) -> Value {
    let answer = server.post("/a2a").json(&rpc(method, params)).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.json().await.unwrap()
}

async fn send(server: &TestServer, parts: &Value) -> Value {
    ask(server, "SendMessage", &message(parts)).await
}

/// The A2A task that a check ends with.
async fn check(server: &TestServer, parts: &Value) -> Value {
    let answer = send(server, parts).await;
    let task = answer["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    task
}

fn report(task: &Value) -> &Value {
    &task["artifacts"][0]["parts"][1]["data"]
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

/// The events of a stream, to its end.
async fn events(request: RequestBuilder) -> Vec<Value> {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()[CONTENT_TYPE], "text/event-stream");
    let text = timeout(Duration::from_secs(30), answer.text()).await.unwrap().unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

#[tokio::test]
async fn a_build_is_checked_as_data_as_text_and_as_a_file_with_the_report_of_the_plain_api() {
    let (_db, server) = start().await;
    let plain: Value =
        server.post("/api/check").body(spec().to_string()).send().await.unwrap().json().await.unwrap();
    assert_eq!(plain["ok"], true);
    let prose = format!("Here is a hut:\n```json\n{}\n```", spec());
    let file = json!([{ "raw": "eyJib3hlcyI6W119", "filename": "empty.json" }]);
    for parts in
        [json!([{ "data": spec() }]), json!([{ "text": prose }]), json!([{ "text": spec().to_string() }])]
    {
        let task = check(&server, &parts).await;
        assert_eq!(task["artifacts"][0]["name"], "Report");
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], "Valid: 3456 blocks.");
        assert_eq!(report(&task), &plain);
    }
    assert_eq!(report(&check(&server, &file).await)["error"]["code"], "no_blocks");
    let nothing = check(&server, &json!([{ "data": { "skill": "check" } }, { "text": "no build" }])).await;
    assert_eq!(report(&nothing)["error"]["code"], "bad_json");
    assert!(nothing["artifacts"][0]["parts"][0]["text"].as_str().unwrap().starts_with("Not valid: "));
}

#[tokio::test]
async fn grid_palette_and_a_picture_are_asked_for_in_a_data_part_or_the_metadata() {
    let (_db, server) = start().await;
    let options = json!({ "gridSize": 64, "palette": "advanced", "picture": true });
    let task = check(&server, &json!([{ "data": spec() }, { "data": options }])).await;
    assert_eq!((&report(&task)["gridSize"], &report(&task)["palette"]), (&json!(64), &json!("advanced")));
    let picture = &task["artifacts"][0]["parts"][2];
    assert_eq!(picture["mediaType"], "image/png");
    assert!(picture["raw"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG begins so");
    let mut params = message(&json!([{ "data": spec() }]));
    params["message"]["metadata"] = json!({ "skill": "check", "gridSize": 128 });
    let answer = ask(&server, "SendMessage", &params).await;
    assert_eq!(report(&answer["result"]["task"])["gridSize"], 128);
}

#[tokio::test]
async fn everything_else_is_answered_with_the_rules() {
    let server = TestServer::start().await;
    for parts in [
        json!([{ "text": "hello" }]),
        json!([{ "data": { "skill": "build-rules" } }]),
        json!([{ "data": [1] }]),
    ] {
        let answer = send(&server, &parts).await;
        let message = &answer["result"]["message"];
        assert_eq!(message["role"], "ROLE_AGENT", "{answer}");
        assert!(message["parts"][0]["text"].as_str().unwrap().contains("32"), "{message}");
        assert_eq!(message["parts"][1]["data"]["schema"]["type"], "object");
    }
    let other = json!([{ "text": r#"{"skill": "build-rules", "gridSize": 64, "palette": "advanced"}"# }]);
    let rules = send(&server, &other).await["result"]["message"]["parts"][1]["data"].clone();
    assert_eq!((&rules["gridSize"], &rules["palette"]), (&json!(64), &json!("advanced")));
}

#[tokio::test]
async fn unknown_skills_and_options_and_an_order_without_an_agent_are_refused_in_words() {
    let server = TestServer::start().await;
    for (data, expected, words) in [
        (json!({ "skill": "paint" }), -32602, "There is no skill \"paint\"."),
        (json!({ "skill": "check", "gridSize": 33 }), -32602, "The data part cannot be read"),
        (json!({ "skill": 7 }), -32602, "The data part cannot be read"),
        (json!({ "skill": "assess" }), -32602, "An order for an assessment names the agent"),
    ] {
        let answer = send(&server, &json!([{ "data": data }])).await;
        assert_eq!(code(&answer), expected);
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(words), "{answer}");
    }
}

#[tokio::test]
async fn a_stream_tells_of_the_check_and_ends() {
    let (_db, server) = start().await;
    let request =
        server.post("/a2a").json(&rpc("SendStreamingMessage", &message(&json!([{ "data": spec() }]))));
    let events = events(request).await;
    assert!(events[0]["result"]["task"]["id"].is_string(), "{events:?}");
    let last = &events.last().unwrap()["result"];
    let state = last["statusUpdate"]["status"]["state"].as_str().or(last["task"]["status"]["state"].as_str());
    assert_eq!(state, Some("TASK_STATE_COMPLETED"), "{events:?}");
    let with_report = events.iter().any(|event| !event.to_string().contains("\"ok\":true"));
    assert!(with_report);
}

#[tokio::test]
async fn any_server_answers_for_a_task_also_after_a_restart() {
    let db = TestDb::new().await;
    let first = TestServer::start_with_db(db.pool.clone()).await;
    let task = check(&first, &json!([{ "data": spec() }])).await;
    let second = TestServer::start_with_db(db.pool.clone()).await;
    let get = json!({ "id": task["id"] });
    assert_eq!(ask(&second, "GetTask", &get).await["result"], task);
    first.shut_down().await.unwrap();
    let third = TestServer::start_with_db(db.pool.clone()).await;
    assert_eq!(ask(&third, "GetTask", &get).await["result"], task);
    // In the shape of the other version.
    let old = ask(&third, "tasks/get", &get).await["result"].clone();
    assert_eq!((&old["kind"], &old["status"]["state"]), (&json!("task"), &json!("completed")));
}

#[tokio::test]
async fn a_task_whose_server_was_lost_fails_instead_of_hanging() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let task = check(&server, &json!([{ "data": spec() }])).await;
    db.run(
        "UPDATE a2a_tasks SET state = 'working', worked_until = now() - interval '1 s', \
         task = replace(task, 'TASK_STATE_COMPLETED', 'TASK_STATE_WORKING')",
    )
    .await;
    let get = json!({ "id": task["id"] });
    let now = ask(&server, "GetTask", &get).await["result"].clone();
    assert_eq!(now["status"]["state"], "TASK_STATE_FAILED");
    let words = now["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(words.contains("was stopped"), "{words}");
    assert_eq!(code(&ask(&server, "CancelTask", &get).await), -32002);
}

#[tokio::test]
async fn anonymous_tasks_expire_and_keep_no_large_parts() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let bar = |index: usize| {
        let (y, z) = (index / 24 % 8, 4 + index % 24);
        json!({ "x1": 4, "y1": y, "z1": z, "x2": 27, "y2": y, "z2": z, "type": "oak_planks" })
    };
    let boxes: Vec<Value> = (0..2000).map(bar).collect();
    let task = check(&server, &json!([{ "data": { "version": "1.0", "boxes": boxes } }])).await;
    assert_eq!(report(&task)["ok"], true);
    let small = (0..100).map(|_| json!({ "text": "x".repeat(1000) }));
    let parts: Vec<Value> = std::iter::once(json!({ "data": spec() })).chain(small).collect();
    let many = check(&server, &json!(parts)).await;
    assert_eq!((report(&many)["ok"].as_bool(), &many["history"]), (Some(true), &Value::Null));
    let kept = task["history"][0]["parts"][0]["text"].as_str().unwrap();
    assert!(kept.ends_with("bytes that are not kept]"), "{kept}");
    db.run("UPDATE a2a_tasks SET expires_at = now() - interval '1 s'").await;
    assert_eq!(code(&ask(&server, "GetTask", &json!({ "id": task["id"] })).await), -32001);
    buildoff::arena::a2a_tasks::purge(&db.pool).await.unwrap();
    assert_eq!(db.number("SELECT count(*) FROM a2a_tasks").await, 0);
}

#[tokio::test]
async fn tasks_of_an_admin_are_foreign_to_everybody_else() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("ADMIN_TOKEN", TOKEN)]).await;
    let as_admin = async |method: &str, params: &Value| -> Value {
        let request = server.post("/a2a").bearer_auth(TOKEN).json(&rpc(method, params));
        request.send().await.unwrap().json().await.unwrap()
    };
    let mut params = message(&json!([{ "data": spec() }]));
    params["message"]["contextId"] = json!("shared");
    let own = as_admin("SendMessage", &params).await["result"]["task"].clone();
    let public = ask(&server, "SendMessage", &params).await["result"]["task"].clone();
    let get = json!({ "id": own["id"] });
    for method in ["GetTask", "CancelTask"] {
        assert_eq!(code(&ask(&server, method, &get).await), -32001, "{method}");
    }
    assert_eq!(as_admin("GetTask", &get).await["result"]["id"], own["id"]);
    let ids = |page: &Value| -> Vec<Value> {
        page["result"]["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    let in_context = json!({ "contextId": "shared" });
    assert_eq!(ids(&ask(&server, "ListTasks", &in_context).await), [public["id"].clone()]);
    assert_eq!(ids(&ask(&server, "ListTasks", &json!({})).await), Vec::<Value>::new());
    assert_eq!(ids(&as_admin("ListTasks", &json!({})).await), [own["id"].clone()]);
    assert_eq!(ids(&as_admin("ListTasks", &in_context).await), [public["id"].clone(), own["id"].clone()]);

    let wrong =
        server.post("/a2a").bearer_auth("wrong").json(&rpc("ListTasks", &json!({}))).send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(wrong.json::<Value>().await.unwrap()["code"], "bad_token");
}

#[tokio::test]
async fn only_json_is_taken_and_nothing_is_for_browsers() {
    let server = TestServer::start().await;
    let body = rpc("SendMessage", &message(&json!([{ "text": "hello" }]))).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        let answer = server.post("/a2a").header(CONTENT_TYPE, kind).body(body.clone()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
        assert_eq!(code(&answer.json().await.unwrap()), -32005);
    }
    let charset =
        server.post("/a2a").header(CONTENT_TYPE, "application/json; charset=utf-8").body(body.clone());
    let answer = charset.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers().get(SET_COOKIE).is_none());
    assert!(answer.headers().get(ACCESS_CONTROL_ALLOW_ORIGIN).is_none());
    let elsewhere = server
        .post("/a2a")
        .header("sec-fetch-site", "cross-site")
        .header("origin", "https://elsewhere.example")
        .header(CONTENT_TYPE, "application/json");
    assert_eq!(elsewhere.body(body).send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let opened = server.get("/a2a").send().await.unwrap();
    assert_eq!(
        (opened.status(), &opened.headers()[LOCATION]),
        (StatusCode::SEE_OTHER, &"/agents/connect".parse().unwrap())
    );
}

#[tokio::test]
async fn the_version_may_stand_in_the_header_or_the_query() {
    let server = TestServer::start().await;
    let body = rpc("SendMessage", &message(&json!([{ "text": "hello" }])));
    for (path, header, expected) in [
        ("/a2a", Some("1.0"), None),
        ("/a2a", Some("0.3"), Some(-32601)),
        ("/a2a", Some("7"), Some(-32009)),
        ("/a2a?A2A-Version=1.0", None, None),
        ("/a2a?A2A-Version=0.3", None, Some(-32601)),
        ("/a2a?A2A-Version=0.3", Some("1.0"), None),
    ] {
        let request = server.post(path).json(&body);
        let request = header.into_iter().fold(request, |request, value| request.header("A2A-Version", value));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["error"]["code"].as_i64(), expected, "{path} {header:?}");
    }
}

#[tokio::test]
async fn large_requests_are_builds_to_check_and_nothing_else() {
    let db = TestDb::new().await;
    let variables = [("CHECK_MAX_MIB", "2"), ("RATE_LIMITS", "off")];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    let padding = " ".repeat(3 << 19);
    let text = format!("{padding}{}", spec());
    assert_eq!(report(&check(&server, &json!([{ "text": text }])).await)["ok"], true);
    let rules = send(&server, &json!([{ "text": padding }])).await;
    assert_eq!(code(&rules), -32602);
    assert_eq!(rules["error"]["message"], "A request of more than 1 MiB can only be a build to check.");
    let body = rpc("SendMessage", &message(&json!([{ "text": " ".repeat(4 << 20) }])));
    let refused = server.post("/a2a").json(&body).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_client_that_leaves_leaves_nothing_behind_but_its_task() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    for index in 0..40 {
        let method = if index % 2 == 0 { "SendMessage" } else { "SendStreamingMessage" };
        let request = server.post("/a2a").json(&rpc(method, &message(&json!([{ "data": spec() }]))));
        let _ = timeout(Duration::from_millis(index % 8), request.send()).await;
    }
    db.wait_until("count(*) = 0 FROM a2a_tasks WHERE state IN ('submitted', 'working')").await;
    assert_eq!(report(&check(&server, &json!([{ "data": spec() }])).await)["ok"], true);
    assert_eq!(db.number("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()").await, 0);
}

#[tokio::test]
async fn the_card_serves_both_versions_at_both_addresses_and_asks_no_database() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(
        db.pool.clone(),
        &[("PUBLIC_URL", "https://arena.example"), ("PERSON_CHECK", "off")],
    )
    .await;
    db.pool.close().await;
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
        let answer = server.get(path).header("host", "evil.example").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/json");
        let card: Value = answer.json().await.unwrap();
        assert_eq!(card["url"], "https://arena.example/a2a");
        assert_eq!(card["supportedInterfaces"][0]["protocolVersion"], "1.0");
        assert_eq!(card["supportedInterfaces"][1]["protocolVersion"], "0.3");
        let skills: Vec<_> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
        assert_eq!(skills, ["check", "build-rules", "assess"]);
        assert_eq!(card["securitySchemes"], Value::Null);
    }
}

#[tokio::test]
async fn too_many_requests_are_told_to_wait() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[]).await;
    let sent_until_refused = async |body: &Value| {
        for sent in 0..1000 {
            let answer = server.post("/a2a").json(body).send().await.unwrap();
            if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                assert!(answer.headers().contains_key("retry-after"));
                return sent;
            }
            assert_eq!(answer.status(), StatusCode::OK);
        }
        panic!("never refused");
    };
    let messages = sent_until_refused(&rpc("SendMessage", &message(&json!([{ "text": "hello" }])))).await;
    let looks = sent_until_refused(&rpc("ListTasks", &json!({}))).await;
    assert!((60..200).contains(&messages) && looks > messages, "{messages} messages and {looks} looks");
}

#[tokio::test]
async fn the_commands_on_the_page_work_as_shown() {
    let (_db, server) = start().await;
    let html = server.get("/agents/connect").send().await.unwrap().text().await.unwrap();
    assert!(html.contains(&server.url_for("/.well-known/agent-card.json")), "{html}");
    let (_, after) = html.split_once("/a2a -H 'Content-Type: application/json' -d '").unwrap();
    let (body, _) = after.split_once("'</code>").unwrap();
    let request = server.post("/a2a").header(CONTENT_TYPE, "application/json").body(body.to_owned());
    let checked: Value = request.send().await.unwrap().json().await.unwrap();
    let parts = &checked["result"]["task"]["artifacts"][0]["parts"];
    assert_eq!((&parts[1]["data"]["ok"], &parts[2]["mediaType"]), (&json!(true), &json!("image/png")));

    let example = server.get("/agents/builder.py").send().await.unwrap();
    assert_eq!(example.headers()[CONTENT_TYPE], "text/x-python; charset=utf-8");
    assert!(example.text().await.unwrap().contains("def build(prompt, grid_size):"));
}
