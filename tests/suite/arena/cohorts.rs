//! Cohorts: the builds of a model are voted on once it has built its share of the active prompts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::console;
use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::{FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServer, sample_spec};

const PROMPTS: [&str; 4] = ["arch", "barn", "cave", "dock"];

struct CohortFixture {
    _db: TestDb,
    server: TestServer,
    admin: TestAdmin,
}

impl CohortFixture {
    /// A server with two models and four prompts, without builds.
    async fn with_env(more: &[(&str, &str)]) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
        let catalog = TestCatalog::new(&provider, &["one", "two"], &PROMPTS);
        let db = TestDb::new().await;
        let mut variables = catalog.variables(&[("MIN_DWELL_MS", "0")]);
        variables.extend(more);
        let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
        let admin = server.admin();
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        Self { _db: db, server, admin }
    }

    /// Gives both models a build of each of these prompts.
    async fn build(&self, prompts: &[&str]) {
        for prompt in prompts {
            for (model, storeys) in [("one", 3), ("two", 4)] {
                let path = format!("/api/admin/import-build?modelKey={model}&promptId={prompt}");
                let imported = self.admin.post(&path, sample_spec(storeys)).await;
                assert_eq!(imported.status, 200, "{}", imported.text());
            }
        }
    }

    /// The prompts that can be voted on.
    async fn eligible(&self) -> Vec<String> {
        let reply: Value = self.server.get("/api/arena/prompts").send().await.unwrap().json().await.unwrap();
        let eligible =
            reply["prompts"].as_array().unwrap().iter().filter(|prompt| prompt["eligible"] == true);
        eligible.map(|prompt| prompt["id"].as_str().unwrap().to_owned()).collect()
    }

    async fn waiting(&self) -> Value {
        self.admin.get("/api/admin/status").await.json()["waiting"].clone()
    }

    async fn on_ladder(&self) -> usize {
        let reply: Value = self.server.get("/api/leaderboard").send().await.unwrap().json().await.unwrap();
        reply["models"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn partial_cohorts_are_not_voted_on_until_half_of_the_active_prompts_are_built() {
    let fixture = CohortFixture::with_env(&[]).await;
    fixture.build(&PROMPTS[..1]).await;
    assert_eq!((fixture.eligible().await.len(), fixture.on_ladder().await), (0, 0));
    assert_eq!(fixture.server.voter().matchup_on("arch").await.code(), "not_seeded");
    fixture.build(&PROMPTS[1..2]).await;
    assert_eq!(
        (fixture.eligible().await, fixture.on_ladder().await),
        (vec!["arch".into(), "barn".into()], 2)
    );
    assert_eq!(fixture.waiting().await, json!([]));
    fixture.server.voter().matchup().await;
}

#[tokio::test]
async fn the_console_and_the_api_say_which_models_wait_and_for_what() {
    let fixture = CohortFixture::with_env(&[]).await;
    fixture.build(&PROMPTS[..1]).await;
    let waiting = json!([
        { "key": "one", "displayName": "Model one", "builds": 1, "needed": 2 },
        { "key": "two", "displayName": "Model two", "builds": 1, "needed": 2 },
    ]);
    assert_eq!(fixture.waiting().await, waiting);
    assert_eq!(fixture.admin.get("/api/admin/coverage").await.json()["waiting"], waiting);
    let cookie = console::cookie(&console::sign_in(&fixture.server, TOKEN).await).unwrap();
    let (_, html) = console::visit(&fixture.server, "/admin", &cookie).await;
    assert!(html.contains("2 models wait until 2 active prompts are built"), "{html}");
    assert!(html.contains("<dt>Model one</dt><dd>1 of 2</dd>"), "{html}");
    let import = "/api/admin/import-build?modelKey=one&promptId=arch&overwrite=1";
    let hint = fixture.admin.post(import, sample_spec(5)).await.json()["hint"].clone();
    assert!(hint.as_str().unwrap().contains("once it has built 2"), "{hint}");
}

#[tokio::test]
async fn whole_cohorts_can_be_required_and_partial_ones_allowed() {
    let whole = CohortFixture::with_env(&[("COHORT_PERCENT", "100")]).await;
    whole.build(&PROMPTS[..3]).await;
    assert_eq!(whole.eligible().await, [""; 0]);
    whole.build(&PROMPTS[3..]).await;
    assert_eq!(whole.eligible().await.len(), 4);
    let partial = CohortFixture::with_env(&[("COHORT_PERCENT", "0")]).await;
    partial.build(&PROMPTS[..1]).await;
    assert_eq!(partial.eligible().await, ["arch"]);
}

#[tokio::test]
async fn a_model_that_was_voted_on_stays_when_prompts_are_added() {
    let fixture = CohortFixture::with_env(&[]).await;
    fixture.build(&PROMPTS[..2]).await;
    let voter = fixture.server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    for number in 0..6 {
        let path = format!("/api/admin/prompts/more-{number}");
        let text = json!({ "text": format!("shed number {number}") });
        assert_eq!(fixture.admin.json(Method::PUT, &path, &text).await.status, 201);
    }
    assert_eq!((fixture.eligible().await.len(), fixture.waiting().await), (2, json!([])));
}
