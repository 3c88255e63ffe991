//! `/openapi.json` and `/api`. The document and the responses of a running server are saved for `tests/python`,
//! which validates the responses against the document, and `/metrics` against its format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use buildoff::web;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_agent::{AgentStep, FakeAgent};
use crate::support::voter::{TestResponse, solve_work};
use crate::support::{
    FakePart, FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServer, TestVoter, open_page,
    sample_spec, server_with_builds,
};

async fn document(server: &TestServer) -> Value {
    server.get("/openapi.json").send().await.unwrap().json().await.unwrap()
}

/// Every operation by its id: its method, path and documentation.
fn operations(document: &Value) -> BTreeMap<String, (String, String, &Value)> {
    let items = document["paths"].as_object().unwrap().iter();
    let all = items.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            (id, (method.clone(), path.clone(), operation))
        })
    });
    all.collect()
}

/// All routes, read from the router's debug output.
fn routes() -> BTreeSet<String> {
    let router = format!("{:?}", web::routes());
    let words = router.split('"').filter(|word| word.starts_with("/api/"));
    words.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_api_route_is_in_the_document() {
    let server = TestServer::start().await;
    let document = document(&server).await;
    let documented: BTreeSet<_> = document["paths"].as_object().unwrap().keys().cloned().collect();

    assert!(routes().contains("/api/arena/vote"), "the router's debug output must list its routes");
    let text = document.to_string();
    let named = text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    let unknown: BTreeSet<_> =
        named.filter(|name| document["components"]["schemas"].get(name).is_none()).collect();
    assert_eq!(
        unknown,
        BTreeSet::new(),
        "these schemas are referenced but not defined; use #[param(inline)]"
    );

    let missing: Vec<_> = routes().difference(&documented).cloned().collect();
    assert_eq!(
        missing,
        Vec::<String>::new(),
        "these routes are undocumented; add #[utoipa::path] to their handlers"
    );
    for path in [
        "/api/arena/prompts",
        "/api/arena/matchup",
        "/api/arena/matchup/{id}/{side}",
        "/api/arena/matchup/{id}/{side}/image",
        "/api/arena/skip",
        "/api/arena/vote",
        "/api/arena/person-check",
        "/api/judge",
        "/api/judge/next",
        "/api/judge/skip",
        "/api/leaderboard",
        "/api/assessments",
        "/api/assessments/{id}",
        "/api/assessments/{id}/results.json",
        "/api/runs/{id}",
        "/api/agents/board",
        "/api/models/{key}",
        "/api/builds/{id}",
        "/api/builds/{id}/grid",
        "/api/builds/{id}/image",
        "/api/builds/{id}/spec",
        "/api/dataset.tar",
        "/api/votes.csv",
        "/api/votes.jsonl",
        "/api/check",
        "/api/schema",
        "/api/generate",
        "/api/admin/status",
        "/api/admin/seed",
        "/api/admin/judge",
        "/api/admin/import-build",
        "/api/admin/models/{key}",
        "/api/admin/builds/{id}",
        "/healthz",
        "/readyz",
        "/metrics",
    ] {
        assert!(documented.contains(path), "{path} must be documented");
    }
}

#[tokio::test]
async fn the_document_has_version_and_server_url_and_is_cacheable() {
    let db = TestDb::new().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("PUBLIC_URL", "https://buildoff.example")]).await;
    let documentation = document(&server).await;
    assert_eq!(documentation["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(documentation["servers"], json!([{ "url": "https://buildoff.example" }]));
    assert_eq!(document(&TestServer::start().await).await.get("servers"), None);

    let first = server.get("/openapi.json").send().await.unwrap();
    let tag = first.headers()["etag"].clone();
    let again = server.get("/openapi.json").header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
}

/// Responses, each with the operation it belongs to.
#[derive(Default)]
struct RecordedResponses(Vec<Value>);

impl RecordedResponses {
    fn record(&mut self, operation: &str, answer: &TestResponse) -> Value {
        let kind = answer.header("content-type").split(';').next().unwrap().to_owned();
        let body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
        let status = answer.status.to_string();
        self.0.push(json!({ "operation": operation, "status": status, "kind": kind, "body": body }));
        body
    }

    async fn get(&mut self, voter: &TestVoter, operation: &str, path: &str) -> Value {
        let answer = voter.get(path).await;
        self.record(operation, &answer)
    }

    async fn post(&mut self, voter: &TestVoter, operation: &str, path: &str, body: Value) -> Value {
        let answer = voter.send(Method::POST, path, Some(&body)).await.unwrap();
        self.record(operation, &answer)
    }
}

/// Calls every public operation at least once, and many of them with invalid input.
async fn call_public_operations(db: &TestDb, server: &TestServer) -> Vec<Value> {
    let mut recorded = RecordedResponses::default();
    let voter = server.voter();

    recorded.get(&voter, "prompts", "/api/arena/prompts").await;
    recorded.get(&voter, "matchup", "/api/arena/matchup?promptId=nothing-like-it").await;
    recorded.get(&voter, "matchup", "/api/arena/matchup?promptId=x&promptId=y").await;
    let skipped = recorded.get(&voter, "matchup", "/api/arena/matchup").await;
    let skip = json!({ "matchupId": skipped["id"] });
    recorded.post(&voter, "skip", "/api/arena/skip", skip.clone()).await;
    recorded.post(&server.voter(), "skip", "/api/arena/skip", skip.clone()).await;
    recorded.post(&voter, "skip", "/api/arena/skip", json!({ "matchup": 7 })).await;

    let matchup = recorded.get(&voter, "matchup", "/api/arena/matchup").await;
    let build = matchup["a"]["build"]["url"].as_str().unwrap();
    recorded.get(&voter, "matchupBuild", build).await;
    recorded.get(&server.voter(), "matchupBuild", build).await;
    recorded.get(&voter, "matchupImage", &format!("{build}/image?size=64&format=png")).await;
    recorded.get(&voter, "matchupImage", &format!("{build}/image?size=9")).await;
    voter.fetch_builds(&matchup).await;
    let vote = |choice| json!({ "matchupId": matchup["id"], "choice": choice });
    let hurried =
        TestServer::start_with_env(db.pool.clone(), &[("MIN_DWELL_MS", "60000"), ("RATE_LIMITS", "off")])
            .await;
    let waiting = voter.with_base_url(&hurried.url);
    recorded.post(&waiting, "vote", "/api/arena/vote", vote("A")).await;
    let checking =
        TestServer::start_with_env(db.pool.clone(), &[("PERSON_CHECK", "work"), ("RATE_LIMITS", "off")])
            .await;
    let checked = checking.voter();
    let answer = |answer: &str| json!({ "answer": answer });
    recorded.post(&checked, "personCheck", "/api/arena/person-check", answer("")).await;
    let unchecked = recorded.get(&checked, "matchup", "/api/arena/matchup").await;
    let unchecked_vote = json!({ "matchupId": unchecked["id"], "choice": "A" });
    recorded.post(&checked, "vote", "/api/arena/vote", unchecked_vote).await;
    recorded.post(&checked, "personCheck", "/api/arena/person-check", answer("nonsense")).await;
    let solved = answer(&solve_work(&unchecked["personCheck"]));
    recorded.post(&checked, "personCheck", "/api/arena/person-check", solved).await;
    recorded.post(&voter, "vote", "/api/arena/vote", vote("BOTH")).await;
    let counted = recorded.post(&voter, "vote", "/api/arena/vote", vote("TIE")).await;
    recorded.post(&voter, "vote", "/api/arena/vote", vote("B")).await;
    recorded
        .post(&voter, "vote", "/api/arena/vote", json!({ "matchupId": skipped["id"], "choice": "A" }))
        .await;
    recorded.post(&voter, "skip", "/api/arena/skip", json!({ "matchupId": matchup["id"] })).await;

    let judge = server.voter();
    recorded.get(&judge, "nextToJudge", "/api/judge/next?build=nothing").await;
    let skipped = recorded.get(&judge, "nextToJudge", "/api/judge/next").await;
    recorded.post(&judge, "skipJudging", "/api/judge/skip", json!({ "id": skipped["id"] })).await;
    recorded.post(&judge, "skipJudging", "/api/judge/skip", json!({ "id": "nothing" })).await;
    let judging = recorded.get(&judge, "nextToJudge", "/api/judge/next").await;
    let grid = judging["gridUrl"].as_str().unwrap();
    recorded.get(&judge, "judgedGrid", grid).await;
    recorded.get(&server.voter(), "judgedGrid", grid).await;
    recorded.get(&judge, "judgedImage", &grid.replace("/grid", "/image?size=64")).await;
    recorded.get(&judge, "judgedImage", &grid.replace("/grid", "/image?size=9")).await;
    let judgement =
        |score| json!({ "id": judging["id"], "scores": { "task_progress": score, "efficiency": null } });
    recorded.post(&judge, "judge", "/api/judge", judgement(11.0)).await;
    let unchecked = checking.voter();
    recorded.get(&unchecked, "nextToJudge", "/api/judge/next").await;
    recorded.post(&unchecked, "judge", "/api/judge", judgement(7.5)).await;
    recorded.post(&judge, "judge", "/api/judge", judgement(7.5)).await;
    recorded.post(&judge, "judge", "/api/judge", judgement(7.5)).await;

    recorded.get(&voter, "leaderboard", "/api/leaderboard").await;
    recorded.get(&voter, "leaderboard", "/api/leaderboard?tag=no-such-tag").await;
    recorded.get(&voter, "leaderboard", "/api/leaderboard?colour=red").await;
    let key = counted["reveal"]["a"]["key"].as_str().unwrap();
    recorded.get(&voter, "model", &format!("/api/models/{key}")).await;
    recorded.get(&voter, "model", "/api/models/nobody").await;
    recorded.get(&voter, "votesCsv", "/api/votes.csv").await;
    recorded.get(&voter, "votesJsonLines", "/api/votes.jsonl").await;
    recorded.get(&voter, "judgementsCsv", "/api/judgements.csv").await;
    recorded.get(&voter, "judgementsJsonLines", "/api/judgements.jsonl?after=0").await;
    recorded.get(&voter, "judgementsJsonLines", "/api/judgements.jsonl?after=x").await;
    recorded.get(&voter, "judges", "/api/judges").await;
    recorded.get(&voter, "dataset", "/api/dataset.tar").await;
    recorded.get(&voter, "decisions", "/api/decisions").await;
    recorded.get(&voter, "decisions", "/api/decisions?before=x").await;

    let build = counted["reveal"]["a"]["build"]["id"].as_str().unwrap();
    for (operation, below) in [
        ("build", ""),
        ("buildGrid", "/grid"),
        ("buildImage", "/image"),
        ("buildSpec", "/spec"),
        ("buildTurntable", "/turntable"),
        ("buildTurntable", "/turntable?format=png"),
        ("exportBuild", "/export?format=glb"),
        ("exportBuild", "/export?format=json"),
        ("exportBuild", "/export?format=gltf"),
    ] {
        recorded.get(&voter, operation, &format!("/api/builds/{build}{below}")).await;
        recorded.get(&voter, operation, &format!("/api/builds/nothing{below}")).await;
    }

    let sample_spec = json!({ "version": "1.0", "boxes": [{ "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 6, "z2": 27, "type": "bricks" }] });
    let odd = json!({
        "blocks": [{ "x": 1, "y": 1, "z": 1, "type": "stone" }, { "x": 99, "y": 1, "z": 1, "type": "stone" },
            { "x": 1, "y": 1, "z": 1, "type": "air" }],
    });
    recorded.post(&voter, "check", "/api/check", sample_spec).await;
    recorded.post(&voter, "check", "/api/check?cells=1", odd.clone()).await;
    recorded.post(&voter, "check", "/api/check?gridSize=33", odd).await;
    recorded.post(&voter, "check", "/api/check", json!({ "boxes": 7 })).await;
    recorded.post(&voter, "check", "/api/check", json!("nothing")).await;
    recorded.get(&voter, "schema", "/api/schema?gridSize=64").await;
    recorded.get(&voter, "schema", "/api/schema?palette=oak").await;
    recorded.get(&voter, "healthz", "/healthz").await;
    recorded.get(&voter, "readyz", "/readyz").await;
    recorded.get(&voter, "metrics", "/metrics").await;
    recorded.get(&TestServer::start().await.voter(), "readyz", "/readyz").await;
    recorded.0
}

/// Calls the operations of the admin API.
async fn call_admin_operations() -> Vec<Value> {
    let mut recorded = RecordedResponses::default();
    let db = TestDb::new().await;
    let builds = |_: &_| FakeProtocol::Compatible.answer(&[FakePart::Text(&sample_spec(4)), FakePart::Done]);
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, builds).await;
    let catalog = TestCatalog::new(&provider, &["one", "two"], &["arch", "barn"]).with_vision("two");
    let server =
        TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[("SANDBOX_SERVER_KEYS", "on")]))
            .await;
    let admin = server.admin();

    recorded.record("seed", &admin.post("/api/admin/seed?generateBuilds=0", "").await);
    recorded.record("seed", &admin.post("/api/admin/seed?dryRun=1", "").await);
    recorded.record("seed", &admin.post("/api/admin/seed?batchSize=1", "").await);
    recorded.record("seed", &admin.post("/api/admin/seed?batchSize=9", "").await);
    recorded.record("queueJudging", &admin.post("/api/admin/judge?model=two&dryRun=1", "").await);
    recorded.record("queueJudging", &admin.post("/api/admin/judge?model=one", "").await);
    recorded.record("queueJudging", &admin.post("/api/admin/judge?model=nobody", "").await);
    let request = json!({ "promptId": "barn", "modelKey": "two" });
    let job = recorded.record("wantBuild", &admin.json(Method::POST, "/api/admin/jobs", &request).await);
    let job = format!("/api/admin/jobs/{}", job["id"].as_str().unwrap());
    admin.wait_for_job_end(job.rsplit('/').next().unwrap()).await;
    recorded.record("wantBuild", &admin.json(Method::POST, "/api/admin/jobs", &request).await);
    recorded.record("job", &admin.get(&job).await);
    let generated = format!("/api/builds/{}", admin.get(&job).await.json()["buildId"].as_str().unwrap());
    recorded.record("build", &server.voter().get(&generated).await);
    recorded.record("answer", &admin.get(&format!("{job}/attempts/1")).await);
    recorded.record("answer", &admin.get(&format!("{job}/attempts/7")).await);
    recorded.record("cancelJob", &admin.delete(&job).await);
    recorded.record("seed", &admin.post("/api/admin/seed?dryRun=1&maxCost=0&tag=nothing", "").await);
    recorded.record("seed", &admin.post("/api/admin/seed?dryRun=1&maxCost=0&model=one", "").await);
    let followed = json!({ "jobs": [job.rsplit('/').next().unwrap()] });
    let path = "/api/admin/jobs/progress";
    recorded.record("jobsProgress", &admin.json(Method::POST, path, &followed).await);
    recorded.record("jobsProgress", &admin.json(Method::POST, path, &json!({})).await);
    recorded.record("jobs", &admin.get("/api/admin/jobs?state=ready,failed&limit=1").await);
    recorded.record("jobs", &admin.get("/api/admin/jobs?state=lost").await);
    recorded.record("cancelAllJobs", &admin.delete("/api/admin/jobs?model=nobody").await);
    recorded.record("cancelAllJobs", &admin.delete("/api/admin/jobs").await);
    recorded.record("unreadJobs", &admin.get("/api/admin/jobs/unread").await);
    recorded.record("reparse", &admin.post(&format!("{job}/reparse"), "").await);
    db.run("UPDATE build_jobs SET build_id = NULL; UPDATE jobs SET state = 'failed' WHERE state = 'ready'")
        .await;
    db.run("UPDATE builds SET retired_at = now()").await;
    recorded.record("reparse", &admin.post(&format!("{job}/reparse"), "").await);
    db.run(
        "INSERT INTO jobs (id, kind, model_key, subject)
         VALUES ('00000000-0000-0000-0000-000000000001', 'build', 'two', 'arch@64-simple-precise');
         INSERT INTO build_jobs (job_id, prompt_id, settings)
         VALUES ('00000000-0000-0000-0000-000000000001', 'arch', '64-simple-precise')",
    )
    .await;
    recorded.record("cancelJob", &admin.delete("/api/admin/jobs/00000000-0000-0000-0000-000000000001").await);
    recorded.record("job", &admin.get("/api/admin/jobs/nothing").await);

    let import = "/api/admin/import-build?modelKey=one&promptId=arch&overwrite=1";
    let imported = recorded.record("importBuild", &admin.post(import, sample_spec(5)).await);
    recorded.record("importBuild", &admin.post(import, "no build").await);
    recorded.record("importBuild", &admin.post(import, "{\"version\":\"1.0\"}").await);
    recorded.record(
        "importBuild",
        &admin.post("/api/admin/import-build?modelKey=nobody&promptId=arch", sample_spec(5)).await,
    );
    db.run(
        "INSERT INTO provider_pauses (provider, trouble, message, strikes, paused_at, until)
         VALUES ('somebody', 'no_credit', 'Nothing is left.', 1, now(), NULL),
                ('nearby', 'stalled', 'Nothing came.', 2, now(), now() + interval '5 minutes')",
    )
    .await;
    for (key, budget) in [("one", json!({ "dollars": 50 })), ("nobody", json!({ "dollars": 1 }))] {
        let path = format!("/api/admin/models/{key}/budget");
        recorded.record("setModelBudget", &admin.json(Method::PUT, &path, &budget).await);
    }
    recorded.record("pauseQueue", &admin.post("/api/admin/queue/pause", "").await);
    recorded.record("adminStatus", &admin.get("/api/admin/status").await);
    recorded.record("queue", &admin.get("/api/admin/queue").await);
    recorded.record("resumeQueue", &admin.post("/api/admin/queue/resume", "").await);
    for provider in ["somebody", "nearby", "nobody"] {
        let path = format!("/api/admin/providers/{provider}/resume");
        recorded.record("resumeProvider", &admin.post(&path, "").await);
    }
    recorded.record("coverage", &admin.get("/api/admin/coverage").await);
    recorded.record("alarms", &admin.get("/api/admin/votes/alarms").await);
    let none = json!({
        "verdict": "withdrawn",
        "reason": "A test.",
        "selection": { "from": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z" },
    });
    for query in ["?dryRun=1", ""] {
        let path = format!("/api/admin/votes/decisions{query}");
        recorded.record("decideAboutVotes", &admin.json(Method::POST, &path, &none).await);
    }
    let build = format!("/api/admin/builds/{}", imported["buildId"].as_str().unwrap());
    recorded.record("retireBuild", &admin.delete(&build).await);
    recorded.record("retireBuild", &admin.delete(&build).await);

    let model = json!({ "provider": "somebody", "modelId": "x", "displayName": "X", "prices": { "input": 1.0, "output": 2.0 } });
    recorded.record("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &model).await);
    recorded.record("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &model).await);
    recorded.record("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &json!({})).await);
    recorded.record("probeModel", &admin.post("/api/admin/models/new/probe", "").await);
    recorded.record("probeModel", &admin.post("/api/admin/models/nobody/probe", "").await);
    recorded.record(
        "patchModel",
        &admin.json(Method::PATCH, "/api/admin/models/new", &json!({ "enabled": false })).await,
    );
    recorded.record("patchModel", &admin.json(Method::PATCH, "/api/admin/models/nobody", &json!({})).await);
    let path = "/api/admin/models/one";
    let id = json!({ "modelId": "y" });
    recorded.record("patchModel", &admin.json(Method::PATCH, path, &id).await);
    recorded.record("patchModel", &admin.json(Method::PATCH, &format!("{path}?retireBuilds=1"), &id).await);
    for path in [path, "/api/admin/models/new", "/api/admin/models/nobody"] {
        recorded.record("deleteModel", &admin.delete(path).await);
    }
    recorded.record("adminModels", &admin.get("/api/admin/models").await);
    record_agents(&mut recorded, &server, &admin).await;
    let text = |text: &str| json!({ "text": text });
    recorded
        .record("putPrompt", &admin.json(Method::PUT, "/api/admin/prompts/new", &text("a new one")).await);
    recorded.record("putPrompt", &admin.json(Method::PUT, "/api/admin/prompts/arch", &text("another")).await);
    recorded.record(
        "patchPrompt",
        &admin.json(Method::PATCH, "/api/admin/prompts/new", &json!({ "active": false })).await,
    );
    recorded
        .record("patchPrompt", &admin.json(Method::PATCH, "/api/admin/prompts/arch", &text("another")).await);
    recorded.record("adminPrompts", &admin.get("/api/admin/prompts").await);
    recorded.record("audit", &admin.get("/api/admin/audit").await);
    recorded.record(
        "audit",
        &TestAdmin::new(&TestServer::start_with_db(db.pool.clone()).await.url).get("/api/admin/audit").await,
    );
    recorded.record("audit", &server.voter().get("/api/admin/audit").await);
    let run = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "modelKeys": ["one", "two"] });
    let run = record_run(&mut recorded, &server, &run).await;
    recorded.record("draftGrid", &admin.get(&run).await);
    recorded.record("draftGrid", &admin.get("/api/sandbox/drafts/nothing/grid").await);
    record_sandbox(&mut recorded, &server, &run).await;
    let equal = json!({ "prompt": "x", "gridSize": 32, "palette": "simple", "modelKeys": ["one", "one"] });
    recorded.record("generate", &server.voter().post("/api/generate", &equal).await);
    let events = server.get("/api/admin/events").bearer_auth(TOKEN).send().await.unwrap();
    let (status, headers) = (events.status().as_u16(), events.headers().clone());
    recorded.record("adminEvents", &TestResponse { status, headers, bytes: Vec::new() });
    recorded.0
}

async fn record_agents(recorded: &mut RecordedResponses, server: &TestServer, admin: &TestAdmin) {
    let agent = FakeAgent::start([]).await;
    let path = "/api/admin/agents";
    let new = json!({ "key": "tower", "url": agent.url, "builds": true });
    for agent in [&new, &new, &json!({ "key": "x", "url": "nowhere" }), &json!({})] {
        recorded.record("addAgent", &admin.json(Method::POST, path, agent).await);
    }
    recorded.record("adminAgents", &admin.get(path).await);
    let tower = format!("{path}/tower");
    recorded.record("patchAgent", &admin.json(Method::PATCH, &tower, &json!({ "note": "A tower." })).await);
    recorded.record("patchAgent", &admin.json(Method::PATCH, &format!("{path}/no"), &json!({})).await);
    for key in ["tower", "no"] {
        recorded.record("readAgentCard", &admin.post(&format!("{path}/{key}/card"), "").await);
        recorded.record("agentTokens", &admin.get(&format!("{path}/{key}/tokens")).await);
        recorded.get(&server.voter(), "agent", &format!("/api/agents/{key}")).await;
    }
    recorded.get(&server.voter(), "listAgents", "/api/agents").await;
    let name = json!({ "name": "Ada" });
    let made = admin.json(Method::POST, &format!("{tower}/tokens"), &name).await;
    let made = recorded.record("makeAgentToken", &made);
    recorded
        .record("makeAgentToken", &admin.json(Method::POST, &format!("{tower}/tokens"), &json!({})).await);
    for token in [made["token"].as_str().unwrap(), "wrong"] {
        let change = server.request(Method::PATCH, "/api/agents/tower").bearer_auth(token);
        let answer = change.json(&json!({ "note": "Mine." })).send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let bytes = answer.bytes().await.unwrap().to_vec();
        recorded.record("changeOwnAgent", &TestResponse { status, headers, bytes });
    }
    let token = format!("{tower}/tokens/{}", made["id"].as_str().unwrap());
    recorded.record("revokeAgentToken", &admin.delete(&token).await);
    recorded.record("revokeAgentToken", &admin.delete(&format!("{tower}/tokens/nothing")).await);
    recorded.record("removeAgent", &admin.delete(&tower).await);
    recorded.record("removeAgent", &admin.delete(&tower).await);
}

async fn record_sandbox(recorded: &mut RecordedResponses, server: &TestServer, grid: &str) {
    let voter = server.voter();
    for (operation, request, unknown) in [
        ("draftImage", "image?size=64", "image"),
        ("exportDraft", "export?format=json", "export?format=json"),
        ("exportDraft", "export?format=nbt", "export?format=none"),
    ] {
        recorded.get(&voter, operation, &grid.replace("grid", request)).await;
        recorded.get(&voter, operation, &format!("/api/sandbox/drafts/nothing/{unknown}")).await;
    }
    let bring = async |body: String| {
        let answer =
            server.post("/api/sandbox/drafts?gridSize=32&palette=simple").body(body).send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        TestResponse { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
    };
    let draft = recorded.record("bringDraft", &bring(sample_spec(3)).await);
    recorded.record("bringDraft", &bring("{}".to_owned()).await);
    let kept = recorded.post(&voter, "keepRun", "/api/sandbox/runs", json!({ "a": draft["draftId"] })).await;
    recorded.post(&voter, "keepRun", "/api/sandbox/runs", json!({})).await;
    let address = format!("/api/sandbox/runs/{}", kept["id"].as_str().unwrap());
    recorded.get(&voter, "keptRun", &address).await;
    recorded.get(&voter, "keptRun", "/api/sandbox/runs/nothing").await;
    for voter in [&server.voter(), &voter, &voter] {
        recorded.record("forgetRun", &voter.send(Method::DELETE, &address, None).await.unwrap());
    }
}

async fn call_assessment_operations() -> Vec<Value> {
    let mut recorded = RecordedResponses::default();
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &[("RATE_LIMITS", "off")]).await;
    let voter = server.voter();
    let agent = FakeAgent::start([AgentStep::Act(r#"{"keys": ["forward"]}"#)]).await;
    let sleeper = FakeAgent::start([AgentStep::Never]).await;
    let order = |agent: &str| {
        json!({
            "participants": { "agent": agent },
            "config": { "tasks": ["craft_ladder"], "max_steps": 2, "seed": 7 },
        })
    };
    let all = "/api/assessments";
    let ordered = recorded.post(&voter, "orderAssessment", all, order(&agent.url)).await;
    for refused in ["nobody", "http://192.0.2.1", "ftp://127.0.0.1"] {
        recorded.post(&voter, "orderAssessment", all, order(refused)).await;
    }
    recorded.post(&voter, "orderAssessment", all, json!({ "participants": {} })).await;
    let path = format!("{all}/{}", ordered["id"].as_str().unwrap());
    recorded.get(&voter, "assessmentEvents", &format!("{path}/events")).await;
    let assessment = recorded.get(&voter, "assessment", &path).await;
    recorded.get(&voter, "listAssessments", all).await;
    recorded.get(&voter, "listAssessments", &format!("{all}?agent=No%20key")).await;
    recorded.get(&voter, "assessmentResults", &format!("{path}/results.json")).await;
    recorded.get(&voter, "agentBoard", "/api/agents/board").await;
    recorded.get(&voter, "agentBoard", "/api/agents/board?category=flying").await;
    let run = format!("/api/runs/{}", assessment["runs"][0]["id"].as_str().unwrap());
    let unended = recorded.post(&voter, "orderAssessment", all, order(&sleeper.url)).await;
    let unended = format!("{all}/{}", unended["id"].as_str().unwrap());
    recorded.get(&voter, "assessmentResults", &format!("{unended}/results.json")).await;
    for (operation, end) in [("run", ""), ("runRecording", "/recording"), ("runFrame", "/frames/0")] {
        recorded.get(&voter, operation, &format!("{run}{end}")).await;
        recorded.get(&voter, operation, &format!("/api/runs/nothing{end}")).await;
    }
    for (operation, end) in
        [("assessment", ""), ("assessmentEvents", "/events"), ("assessmentResults", "/results.json")]
    {
        recorded.get(&voter, operation, &format!("{all}/nothing{end}")).await;
    }
    for path in [&unended, &unended, &format!("{all}/nothing")] {
        recorded.record("cancelAssessment", &voter.send(Method::DELETE, path, None).await.unwrap());
    }
    recorded.0
}

/// Returns the URL of one of the run's grids.
async fn record_run(recorded: &mut RecordedResponses, server: &TestServer, request: &Value) -> String {
    let answer = server.voter().post("/api/generate", request).await;
    recorded.record("generate", &answer);
    let text = answer.text();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find_map(|event| event["gridUrl"].as_str().map(str::to_owned)).unwrap()
}

#[tokio::test]
async fn every_operation_answers_as_documented() {
    let (db, server) = server_with_builds().await;
    let document = document(&server).await;
    let operations = operations(&document);

    let recorded = [
        call_public_operations(&db, &server).await,
        call_admin_operations().await,
        call_assessment_operations().await,
    ]
    .concat();

    for entry in &recorded {
        let (method, path, documentation) = &operations[entry["operation"].as_str().unwrap()];
        let answer = &documentation["responses"][entry["status"].as_str().unwrap()];
        assert!(answer.is_object(), "{method} {path} does not document {entry}");
        let kind = entry["kind"].as_str().unwrap();
        let kinds = answer["content"].as_object();
        assert!(
            kind.is_empty() || kinds.is_some_and(|kinds| kinds.contains_key(kind)),
            "{method} {path} documents {kinds:?}, but this is {entry}"
        );
    }
    let went_well = |id: &String| {
        recorded.iter().any(|entry| entry["operation"] == **id && entry["status"].as_str().unwrap() < "300")
    };
    let untried: Vec<_> = operations.keys().filter(|id| !went_well(id)).collect();
    assert!(untried.is_empty(), "{untried:?} are not called by call_public_operations");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("document.json"), document.to_string()).unwrap();
    fs::write(folder.join("answers.json"), Value::Array(recorded).to_string()).unwrap();
    fs::write(folder.join("metrics.txt"), server.voter().get("/metrics").await.bytes).unwrap();
}

#[tokio::test]
async fn the_page_lists_every_operation_and_its_anchors_work() {
    let server = TestServer::start().await;
    let document = document(&server).await;
    let page = open_page(&server.url_for("/api")).await;

    let shown: BTreeSet<String> = page
        .eval("[...document.querySelectorAll('.address')].map(e => `${e.children[0].textContent} ${e.children[1].textContent}`)")
        .await;
    let documentation = operations(&document).into_values();
    let documentation: BTreeSet<_> =
        documentation.map(|(method, path, _)| format!("{} {path}", method.to_uppercase())).collect();
    assert_eq!(shown, documentation);

    let lost: Vec<String> = page
        .eval("[...document.querySelectorAll('main a[href^=\"#\"]')].map(a => a.hash).filter(hash => !document.querySelector(hash))")
        .await;
    assert_eq!(lost, Vec::<String>::new());
    let twice: Vec<String> = page
        .eval("[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, at, all) => all.indexOf(id) !== at)")
        .await;
    assert_eq!(twice, Vec::<String>::new());
    let unsited: Vec<String> = page
        .eval("[...document.querySelectorAll('pre[aria-label*=curl]')].map(e => e.innerText).filter(text => !text.includes(location.origin + '/'))")
        .await;
    assert_eq!(unsited, Vec::<String>::new(), "the examples must work when pasted");
}
