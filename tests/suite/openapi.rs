//! `/openapi.json` and `/api`. What the site really answers is written down next to the document for `tests/python`,
//! which holds one against the other; so is `/metrics`, for a reader of its format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use buildoff::web;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::voter::Answer;
use crate::support::{Admin, Provider, Say, Site, Voice, Voter, catalog, hut, page};

async fn document(site: &Site) -> Value {
    site.get("/openapi.json").send().await.unwrap().json().await.unwrap()
}

/// Every operation by its id: method, path, and what is said of it.
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

/// As the router itself lists them.
fn routes() -> BTreeSet<String> {
    let router = format!("{:?}", web::routes());
    let words = router.split('"').filter(|word| word.starts_with("/api/"));
    words.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_address_of_the_api_is_in_the_document() {
    let site = Site::open().await;
    let document = document(&site).await;
    let documented: BTreeSet<_> = document["paths"].as_object().unwrap().keys().cloned().collect();

    assert!(routes().contains("/api/arena/vote"), "the router still lists its routes");
    let text = document.to_string();
    let named = text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    let unknown: BTreeSet<_> =
        named.filter(|name| document["components"]["schemas"].get(name).is_none()).collect();
    assert_eq!(unknown, BTreeSet::new(), "these shapes are named, but not told: say #[param(inline)]");

    let missing: Vec<_> = routes().difference(&documented).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "these are routes: say #[utoipa::path] at their handlers");
    for path in [
        "/api/arena/prompts",
        "/api/arena/matchup",
        "/api/arena/matchup/{id}/{side}",
        "/api/arena/matchup/{id}/{side}/image",
        "/api/arena/skip",
        "/api/arena/vote",
        "/api/leaderboard",
        "/api/models/{key}",
        "/api/builds/{id}",
        "/api/builds/{id}/grid",
        "/api/builds/{id}/image",
        "/api/builds/{id}/spec",
        "/api/votes.csv",
        "/api/votes.jsonl",
        "/api/check",
        "/api/schema",
        "/api/generate",
        "/api/admin/status",
        "/api/admin/seed",
        "/api/admin/import-build",
        "/api/admin/models/{key}",
        "/api/admin/builds/{id}",
        "/healthz",
        "/readyz",
        "/metrics",
    ] {
        assert!(documented.contains(path), "{path} is promised");
    }
}

#[tokio::test]
async fn it_names_the_version_and_where_it_is_served_and_is_sent_once() {
    let db = TestDb::new().await;
    let site = Site::open_as(db.pool.clone(), &[("PUBLIC_URL", "https://buildoff.example")]).await;
    let told = document(&site).await;
    assert_eq!(told["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(told["servers"], json!([{ "url": "https://buildoff.example" }]));
    assert_eq!(document(&Site::open().await).await.get("servers"), None);

    let first = site.get("/openapi.json").send().await.unwrap();
    let tag = first.headers()["etag"].clone();
    let again = site.get("/openapi.json").header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
}

/// Answers, with the operation they were given by.
#[derive(Default)]
struct Notes(Vec<Value>);

impl Notes {
    fn take(&mut self, operation: &str, answer: &Answer) -> Value {
        let kind = answer.header("content-type").split(';').next().unwrap().to_owned();
        let body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
        let status = answer.status.to_string();
        self.0.push(json!({ "operation": operation, "status": status, "kind": kind, "body": body }));
        body
    }

    async fn get(&mut self, voter: &Voter, operation: &str, path: &str) -> Value {
        let answer = voter.get(path).await;
        self.take(operation, &answer)
    }

    async fn post(&mut self, voter: &Voter, operation: &str, path: &str, body: Value) -> Value {
        let answer = voter.send(Method::POST, path, Some(&body)).await.unwrap();
        self.take(operation, &answer)
    }
}

/// Asks everything there is at least once, and much of it in ways that go wrong.
async fn ask_everything(db: &TestDb, site: &Site) -> Vec<Value> {
    let mut notes = Notes::default();
    let voter = site.voter();

    notes.get(&voter, "prompts", "/api/arena/prompts").await;
    notes.get(&voter, "matchup", "/api/arena/matchup?promptId=nothing-like-it").await;
    notes.get(&voter, "matchup", "/api/arena/matchup?promptId=x&promptId=y").await;
    let skipped = notes.get(&voter, "matchup", "/api/arena/matchup").await;
    let skip = json!({ "matchupId": skipped["id"] });
    notes.post(&voter, "skip", "/api/arena/skip", skip.clone()).await;
    notes.post(&site.voter(), "skip", "/api/arena/skip", skip.clone()).await;
    notes.post(&voter, "skip", "/api/arena/skip", json!({ "matchup": 7 })).await;

    let matchup = notes.get(&voter, "matchup", "/api/arena/matchup").await;
    let build = matchup["a"]["build"]["url"].as_str().unwrap();
    notes.get(&voter, "matchupBuild", build).await;
    notes.get(&site.voter(), "matchupBuild", build).await;
    notes.get(&voter, "matchupImage", &format!("{build}/image?size=64&format=png")).await;
    notes.get(&voter, "matchupImage", &format!("{build}/image?size=9")).await;
    voter.look(&matchup).await;
    let vote = |choice| json!({ "matchupId": matchup["id"], "choice": choice });
    let hurried = Site::open_as(db.pool.clone(), &[("MIN_DWELL_MS", "60000"), ("RATE_LIMITS", "off")]).await;
    let waiting = voter.moved_to(&hurried.url);
    notes.post(&waiting, "vote", "/api/arena/vote", vote("A")).await;
    notes.post(&voter, "vote", "/api/arena/vote", vote("BOTH")).await;
    let counted = notes.post(&voter, "vote", "/api/arena/vote", vote("TIE")).await;
    notes.post(&voter, "vote", "/api/arena/vote", vote("B")).await;
    notes.post(&voter, "vote", "/api/arena/vote", json!({ "matchupId": skipped["id"], "choice": "A" })).await;
    notes.post(&voter, "skip", "/api/arena/skip", json!({ "matchupId": matchup["id"] })).await;

    notes.get(&voter, "leaderboard", "/api/leaderboard").await;
    notes.get(&voter, "leaderboard", "/api/leaderboard?tag=no-such-tag").await;
    notes.get(&voter, "leaderboard", "/api/leaderboard?colour=red").await;
    let key = counted["reveal"]["a"]["key"].as_str().unwrap();
    notes.get(&voter, "model", &format!("/api/models/{key}")).await;
    notes.get(&voter, "model", "/api/models/nobody").await;
    notes.get(&voter, "votesCsv", "/api/votes.csv").await;
    notes.get(&voter, "votesJsonLines", "/api/votes.jsonl").await;

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
        notes.get(&voter, operation, &format!("/api/builds/{build}{below}")).await;
        notes.get(&voter, operation, &format!("/api/builds/nothing{below}")).await;
    }

    let hut = json!({ "version": "1.0", "boxes": [{ "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 6, "z2": 27, "type": "bricks" }] });
    let odd = json!({
        "blocks": [{ "x": 1, "y": 1, "z": 1, "type": "stone" }, { "x": 99, "y": 1, "z": 1, "type": "stone" },
            { "x": 1, "y": 1, "z": 1, "type": "air" }],
    });
    notes.post(&voter, "check", "/api/check", hut).await;
    notes.post(&voter, "check", "/api/check?cells=1", odd.clone()).await;
    notes.post(&voter, "check", "/api/check?gridSize=33", odd).await;
    notes.post(&voter, "check", "/api/check", json!({ "boxes": 7 })).await;
    notes.post(&voter, "check", "/api/check", json!("nothing")).await;
    notes.get(&voter, "schema", "/api/schema?gridSize=64").await;
    notes.get(&voter, "schema", "/api/schema?palette=oak").await;
    notes.get(&voter, "healthz", "/healthz").await;
    notes.get(&voter, "readyz", "/readyz").await;
    notes.get(&voter, "metrics", "/metrics").await;
    notes.get(&Site::open().await.voter(), "readyz", "/readyz").await;
    notes.0
}

/// The same for what only admins ask.
async fn ask_as_an_admin() -> Vec<Value> {
    let mut notes = Notes::default();
    let db = TestDb::new().await;
    let builds = |_: &_| Voice::Compatible.says(&[Say::Text(&hut(4)), Say::Done]);
    let provider = Provider::improvising(Voice::Compatible, builds).await;
    let catalog = catalog(&provider, &["one", "two"], &["arch", "barn"]);
    let site = Site::open_working(db.pool.clone(), &catalog.variables(&[])).await;
    let admin = site.admin();

    notes.take("seed", &admin.post("/api/admin/seed?generateBuilds=0", "").await);
    notes.take("seed", &admin.post("/api/admin/seed?dryRun=1", "").await);
    notes.take("seed", &admin.post("/api/admin/seed?batchSize=1", "").await);
    notes.take("seed", &admin.post("/api/admin/seed?batchSize=9", "").await);
    let wanted = json!({ "promptId": "barn", "modelKey": "two" });
    let job = notes.take("wantBuild", &admin.json(Method::POST, "/api/admin/jobs", &wanted).await);
    let job = format!("/api/admin/jobs/{}", job["id"].as_str().unwrap());
    admin.job_ended(job.rsplit('/').next().unwrap()).await;
    notes.take("wantBuild", &admin.json(Method::POST, "/api/admin/jobs", &wanted).await);
    notes.take("job", &admin.get(&job).await);
    notes.take("answer", &admin.get(&format!("{job}/attempts/1")).await);
    notes.take("answer", &admin.get(&format!("{job}/attempts/7")).await);
    notes.take("cancelJob", &admin.delete(&job).await);
    notes.take("cancelAllJobs", &admin.delete("/api/admin/jobs").await);
    notes.take("unreadJobs", &admin.get("/api/admin/jobs/unread").await);
    notes.take("reparse", &admin.post(&format!("{job}/reparse"), "").await);
    db.run("UPDATE jobs SET state = 'failed', build_id = NULL WHERE state = 'ready'").await;
    db.run("UPDATE builds SET retired_at = now()").await;
    notes.take("reparse", &admin.post(&format!("{job}/reparse"), "").await);
    db.run(
        "INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode)
         VALUES ('00000000-0000-0000-0000-000000000001', 'arch', 'two', 64, 'simple', 'precise')",
    )
    .await;
    notes.take("cancelJob", &admin.delete("/api/admin/jobs/00000000-0000-0000-0000-000000000001").await);
    notes.take("job", &admin.get("/api/admin/jobs/nothing").await);

    let import = "/api/admin/import-build?modelKey=one&promptId=arch&overwrite=1";
    let imported = notes.take("importBuild", &admin.post(import, hut(5)).await);
    notes.take("importBuild", &admin.post(import, "no build").await);
    notes.take("importBuild", &admin.post(import, "{\"version\":\"1.0\"}").await);
    notes.take(
        "importBuild",
        &admin.post("/api/admin/import-build?modelKey=nobody&promptId=arch", hut(5)).await,
    );
    notes.take("adminStatus", &admin.get("/api/admin/status").await);
    notes.take("coverage", &admin.get("/api/admin/coverage").await);
    let build = format!("/api/admin/builds/{}", imported["buildId"].as_str().unwrap());
    notes.take("retireBuild", &admin.delete(&build).await);
    notes.take("retireBuild", &admin.delete(&build).await);

    let model = json!({ "provider": "somebody", "modelId": "x", "displayName": "X", "prices": { "input": 1.0, "output": 2.0 } });
    notes.take("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &model).await);
    notes.take("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &model).await);
    notes.take("putModel", &admin.json(Method::PUT, "/api/admin/models/new", &json!({})).await);
    notes.take(
        "patchModel",
        &admin.json(Method::PATCH, "/api/admin/models/new", &json!({ "enabled": false })).await,
    );
    notes.take("patchModel", &admin.json(Method::PATCH, "/api/admin/models/nobody", &json!({})).await);
    notes.take("adminModels", &admin.get("/api/admin/models").await);
    let text = |text: &str| json!({ "text": text });
    notes.take("putPrompt", &admin.json(Method::PUT, "/api/admin/prompts/new", &text("a new one")).await);
    notes.take("putPrompt", &admin.json(Method::PUT, "/api/admin/prompts/arch", &text("another")).await);
    notes.take(
        "patchPrompt",
        &admin.json(Method::PATCH, "/api/admin/prompts/new", &json!({ "active": false })).await,
    );
    notes.take("patchPrompt", &admin.json(Method::PATCH, "/api/admin/prompts/arch", &text("another")).await);
    notes.take("adminPrompts", &admin.get("/api/admin/prompts").await);
    notes.take("audit", &admin.get("/api/admin/audit").await);
    notes.take("audit", &Admin::at(&Site::open_on(db.pool.clone()).await.url).get("/api/admin/audit").await);
    notes.take("audit", &site.voter().get("/api/admin/audit").await);
    let run = json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "modelKeys": ["one", "two"] });
    let run = notes_of_a_run(&mut notes, &site, &run).await;
    notes.take("draftGrid", &admin.get(&run).await);
    notes.take("draftGrid", &admin.get("/api/sandbox/drafts/nothing/grid").await);
    notes_of_the_rest_of_the_sandbox(&mut notes, &site, &run).await;
    let equal = json!({ "prompt": "x", "gridSize": 32, "palette": "simple", "modelKeys": ["one", "one"] });
    notes.take("generate", &site.voter().post("/api/generate", &equal).await);
    let events = site.get("/api/admin/events").bearer_auth(TOKEN).send().await.unwrap();
    let (status, headers) = (events.status().as_u16(), events.headers().clone());
    notes.take("adminEvents", &Answer { status, headers, bytes: Vec::new() });
    notes.0
}

async fn notes_of_the_rest_of_the_sandbox(notes: &mut Notes, site: &Site, grid: &str) {
    let voter = site.voter();
    for (operation, wanted, unknown) in [
        ("draftImage", "image?size=64", "image"),
        ("exportDraft", "export?format=json", "export?format=json"),
        ("exportDraft", "export?format=nbt", "export?format=none"),
    ] {
        notes.get(&voter, operation, &grid.replace("grid", wanted)).await;
        notes.get(&voter, operation, &format!("/api/sandbox/drafts/nothing/{unknown}")).await;
    }
    let bring = async |body: String| {
        let answer =
            site.post("/api/sandbox/drafts?gridSize=32&palette=simple").body(body).send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
    };
    let brought = notes.take("bringDraft", &bring(hut(3)).await);
    notes.take("bringDraft", &bring("{}".to_owned()).await);
    let kept = notes.post(&voter, "keepRun", "/api/sandbox/runs", json!({ "a": brought["draftId"] })).await;
    notes.post(&voter, "keepRun", "/api/sandbox/runs", json!({})).await;
    let address = format!("/api/sandbox/runs/{}", kept["id"].as_str().unwrap());
    notes.get(&voter, "keptRun", &address).await;
    notes.get(&voter, "keptRun", "/api/sandbox/runs/nothing").await;
    for voter in [&site.voter(), &voter, &voter] {
        notes.take("forgetRun", &voter.send(Method::DELETE, &address, None).await.unwrap());
    }
}

/// Returns where one of its grids is.
async fn notes_of_a_run(notes: &mut Notes, site: &Site, wanted: &Value) -> String {
    let answer = site.voter().post("/api/generate", wanted).await;
    notes.take("generate", &answer);
    let text = answer.text();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find_map(|event| event["gridUrl"].as_str().map(str::to_owned)).unwrap()
}

#[tokio::test]
async fn every_operation_answers_as_documented() {
    let db = TestDb::seeded().await;
    let site = Site::open_on(db.pool.clone()).await;
    let document = document(&site).await;
    let operations = operations(&document);

    let notes = [ask_everything(&db, &site).await, ask_as_an_admin().await].concat();

    for note in &notes {
        let (method, path, told) = &operations[note["operation"].as_str().unwrap()];
        let answer = &told["responses"][note["status"].as_str().unwrap()];
        assert!(answer.is_object(), "{method} {path} does not tell of {note}");
        let kind = note["kind"].as_str().unwrap();
        let kinds = answer["content"].as_object();
        assert!(
            kind.is_empty() || kinds.is_some_and(|kinds| kinds.contains_key(kind)),
            "{method} {path} tells of {kinds:?}, and this is {note}"
        );
    }
    let went_well = |id: &String| {
        notes.iter().any(|note| note["operation"] == **id && note["status"].as_str().unwrap() < "300")
    };
    let untried: Vec<_> = operations.keys().filter(|id| !went_well(id)).collect();
    assert!(untried.is_empty(), "{untried:?} are not asked by ask_everything");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("document.json"), document.to_string()).unwrap();
    fs::write(folder.join("answers.json"), Value::Array(notes).to_string()).unwrap();
    fs::write(folder.join("metrics.txt"), site.voter().get("/metrics").await.bytes).unwrap();
}

#[tokio::test]
async fn the_page_tells_of_every_operation_and_its_anchors_lead_somewhere() {
    let site = Site::open().await;
    let document = document(&site).await;
    let page = page(&site.at("/api")).await;

    let shown: BTreeSet<String> = page
        .eval("[...document.querySelectorAll('.address')].map(e => `${e.children[0].textContent} ${e.children[1].textContent}`)")
        .await;
    let told = operations(&document).into_values();
    let told: BTreeSet<_> =
        told.map(|(method, path, _)| format!("{} {path}", method.to_uppercase())).collect();
    assert_eq!(shown, told);

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
    assert_eq!(unsited, Vec::<String>::new(), "examples work as they are pasted");
}
