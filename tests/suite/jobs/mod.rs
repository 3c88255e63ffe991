//! Jobs: what was wanted is asked for once, and what was paid for is not lost.

mod crashes;
mod endings;
mod sharing;

use serde_json::Value;

use crate::support::db::TestDb;
use crate::support::{Admin, Provider, Say, Script, Site, Voice, catalog, hut};

/// A site over a provider that plays these scripts, with one model and one prompt.
struct Scene {
    db: TestDb,
    site: Site,
    admin: Admin,
    provider: Provider,
}

impl Scene {
    async fn with(scripts: impl IntoIterator<Item = Script>) -> Self {
        let provider = Provider::with(Voice::Compatible, scripts).await;
        let catalog = catalog(&provider, &["tester"], &["shed"]);
        let db = TestDb::new().await;
        let site = Site::open_working(db.pool.clone(), &catalog.variables(&[])).await;
        Self::open(db, provider, site).await
    }

    /// The same, where nobody works.
    async fn asleep() -> Self {
        let provider = Provider::with(Voice::Compatible, []).await;
        let catalog = catalog(&provider, &["tester"], &["shed"]);
        let db = TestDb::new().await;
        let site = Site::open_as(db.pool.clone(), &catalog.variables(&[])).await;
        Self::open(db, provider, site).await
    }

    async fn open(db: TestDb, provider: Provider, site: Site) -> Self {
        let admin = site.admin();
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        Self { db, site, admin, provider }
    }

    /// Wants the one build, and waits for what becomes of it.
    async fn outcome(&self) -> Value {
        let job = self.admin.want("shed", "tester").await;
        self.admin.job_ended(&job).await
    }
}

/// An answer that says this, and is whole.
fn says(text: &str) -> Script {
    Voice::Compatible.says(&[Say::Text(text), Say::Done])
}

/// The beginning of an answer.
fn begins(text: &str) -> Script {
    Script::stream().send(Voice::Compatible.stream(&[Say::Text(text)]))
}

fn outcomes(job: &Value) -> Vec<&str> {
    job["attempts"].as_array().unwrap().iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_wanted_build_is_asked_for_stored_and_told() {
    let scene = Scene::with([says(&format!("Here it is:\n{}", hut(4)))]).await;
    let job = scene.outcome().await;
    assert_eq!(job["state"], "ready", "{job}");
    assert_eq!(outcomes(&job), ["accepted"]);
    let build =
        scene.site.get(&format!("/api/builds/{}", job["buildId"].as_str().unwrap())).send().await.unwrap();
    let build: Value = build.json().await.unwrap();
    assert_eq!(build["attempts"], 1, "{build}");
    assert!(build["generationTimeMs"].as_i64().is_some_and(|ms| ms >= 0), "{build}");
    let answer = scene.admin.get(job["attempts"][0]["answerUrl"].as_str().unwrap()).await;
    assert_eq!(answer.text(), format!("Here it is:\n{}", hut(4)));
}

#[tokio::test]
async fn what_is_wrong_goes_back_and_each_answer_is_kept() {
    let scene = Scene::with([says("{\"version\": \"1.0\"}"), says("{ \"boxes\": ["), says(&hut(4))]).await;
    let job = scene.outcome().await;
    assert_eq!(outcomes(&job), ["refused", "refused", "accepted"], "{job}");
    let codes: Vec<_> =
        job["attempts"].as_array().unwrap().iter().map(|attempt| attempt["code"].as_str()).collect();
    assert_eq!(codes, [Some("no_blocks"), Some("bad_json"), None]);
    let second = scene.provider.requests()[1].body.to_string();
    assert!(second.contains("no_blocks"), "the repair prompt should name what was wrong: {second}");
}

#[tokio::test]
async fn tokens_are_counted_and_priced() {
    let scene = Scene::with([says(&hut(4))]).await;
    let job = scene.outcome().await;
    let attempt = &job["attempts"][0];
    let (tokens_in, tokens_out) =
        (attempt["tokensIn"].as_f64().unwrap(), attempt["tokensOut"].as_f64().unwrap());
    let cost = (tokens_in + 2.0 * tokens_out) / 1e6;
    assert!((attempt["cost"].as_f64().unwrap() - cost).abs() < 1e-6, "{attempt}");
    assert!((job["cost"].as_f64().unwrap() - cost).abs() < 1e-6, "{job}");
    let coverage = scene.admin.get("/api/admin/coverage").await.json();
    assert!((coverage["sum"]["spent"].as_f64().unwrap() - cost).abs() < 1e-6, "{coverage}");
}

#[tokio::test]
async fn answers_are_stored_compressed() {
    let verbose = format!("{}\n{}", "I place another brick, and another. ".repeat(2000), hut(4));
    let scene = Scene::with([says(&verbose)]).await;
    assert_eq!(scene.outcome().await["state"], "ready");
    let (kept, stored) = (
        scene.db.number("SELECT octet_length(answer)::bigint FROM attempts").await,
        scene.db.number("SELECT pg_column_size(answer)::bigint FROM attempts").await,
    );
    assert_eq!(kept, verbose.len() as i64);
    assert!(stored * 5 < kept, "{stored} bytes for {kept}");
}
