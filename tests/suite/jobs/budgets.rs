//! Budgets: asking models stops when the money for it is spent, and says so.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use buildoff::app::App;
use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::arena::jobs::{ClaimedBuild, attempts};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{JobsFixture, as_build, full_answer, outcomes, request_setup};
use crate::support::db::TestDb;
use crate::support::{FakeProtocol, FakeProvider, TestCatalog, TestServer, sample_spec};

/// What an answer of the fake provider costs, in millionths of a dollar.
const COST: i64 = 200;

/// What an answer of a model is expected to cost by its prices, when nothing else is known.
const EXPECTED: i64 = 34_000;

pub(super) const NO_LIMITS: SpendingLimits = SpendingLimits { day: None, month: None, sandbox_day: None };

const YESTERDAY: &str = "UPDATE spending_days SET day = day - 1";

/// A server without a worker, and the claims that workers would make.
pub(super) struct BudgetFixture {
    pub jobs: JobsFixture,
    models: Vec<String>,
    catalog: TestCatalog,
}

impl BudgetFixture {
    /// With jobs for these models queued, one for each prompt.
    pub async fn with_queued(models: &[&str], prompts: &[&str], variables: &[(&str, &str)]) -> Self {
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
        let catalog = TestCatalog::new(&provider, models, prompts);
        let db = TestDb::new().await;
        let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(variables)).await;
        let jobs = JobsFixture::from_parts(db, provider, server).await;
        for (model, prompt) in
            models.iter().flat_map(|model| prompts.iter().map(move |prompt| (model, prompt)))
        {
            jobs.admin.enqueue(prompt, model).await;
        }
        Self { jobs, models: models.iter().map(ToString::to_string).collect(), catalog }
    }

    /// A claim as one server with these limits makes it.
    async fn claim_from(&self, pool: &PgPool, limits: &SpendingLimits) -> Option<ClaimedBuild> {
        let route =
            |model: &String| ModelRoute { model: model.parse().unwrap(), provider: "somebody".to_owned() };
        let routes: Vec<_> = self.models.iter().map(route).collect();
        let claimed = claims::claim(pool, &routes, 100, limits, Duration::from_secs(30)).await.unwrap();
        claimed.map(as_build)
    }

    pub async fn claim(&self, limits: &SpendingLimits) -> Option<ClaimedBuild> {
        self.claim_from(&self.jobs.db.pool, limits).await
    }

    /// As if so much had been spent on a model today.
    pub async fn spend(&self, model: &str, micros: i64) {
        let sql = format!(
            "INSERT INTO spending_days (day, model_key, purpose, spent)
             VALUES ((now() AT TIME ZONE 'UTC')::date, '{model}', 'job', {micros})
             ON CONFLICT (day, model_key, purpose) DO UPDATE SET spent = {micros}"
        );
        self.jobs.db.run(&sql).await;
    }

    pub async fn app(&self, variables: &[(&str, &str)]) -> App {
        let variables = self.catalog.variables(variables);
        TestServer::start_with_app(self.jobs.db.pool.clone(), &variables).await.1
    }
}

#[tokio::test]
async fn jobs_of_a_dead_server_are_queued_again_although_their_budget_is_used_up() {
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let db = &fixture.jobs.db;
    let limits = SpendingLimits { day: Some(1_000_000), ..SpendingLimits::default() };
    let claimed = fixture.claim(&limits).await.unwrap();
    attempts::begin(&db.pool, &claimed.claim.lease, &request_setup()).await.unwrap();
    fixture.spend("one", 1_000_000).await;
    assert!(fixture.claim(&limits).await.is_none());
    assert_eq!(fixture.jobs.admin.job(&claimed.claim.lease.job.to_string()).await["state"], "running");

    db.run("UPDATE jobs SET leased_until = now()").await;
    assert!(fixture.claim(&limits).await.is_none());
    let job = fixture.jobs.admin.job(&claimed.claim.lease.job.to_string()).await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("queued"), vec!["interrupted"]), "{job}");
}

#[tokio::test]
async fn a_budget_of_the_day_stops_jobs_says_so_and_begins_anew_the_next_day() {
    let responses = (4..6).map(|storeys| full_answer(&sample_spec(storeys)));
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let variables = catalog.variables(&[("BUDGET_DAY", "0.0002")]);
    let server = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let JobsFixture { db, admin, .. } = &fixture;
    let shed = admin.enqueue("shed", "tester").await;
    assert_eq!(admin.wait_for_job_end(&shed).await["state"], "ready");

    let barn = admin.enqueue("barn", "tester").await;
    let seeded = admin.post("/api/admin/seed", "").await.json();
    assert_eq!((&seeded["done"], &seeded["waitsForAdmin"]), (&json!(false), &json!(true)), "{seeded}");
    let waiting = admin.job(&barn).await;
    assert_eq!(
        (&waiting["state"], &waiting["note"]),
        (&json!("queued"), &json!("Today’s budget is used up.")),
        "{waiting}"
    );
    assert_eq!(fixture.provider.requests().len(), 1);
    let budget = admin.get("/api/admin/queue").await.json()["budgets"][0].clone();
    assert_eq!(
        (&budget["kind"], &budget["spent"], &budget["limit"], &budget["percent"]),
        (&json!("day"), &json!(0.0002), &json!(0.0002), &json!(100)),
        "{budget}"
    );
    let sentence = budget["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("Today’s budget of $0.0002 is used up. Jobs wait until "), "{sentence}");
    let metrics = admin.get("/metrics").await.text();
    assert!(metrics.contains("buildoff_budget_used_percent{state=\"day\"} 100\n"), "{metrics}");

    db.run(YESTERDAY).await;
    assert_eq!(admin.wait_for_job_end(&barn).await["state"], "ready");
}

#[tokio::test]
async fn a_budget_of_the_month_counts_all_its_days_and_begins_anew_with_the_next() {
    let fixture = BudgetFixture::with_queued(&["one"], &["shed", "barn"], &[]).await;
    let limits = SpendingLimits { month: Some(1_000_000), ..NO_LIMITS };
    fixture.spend("gone", 1_000_000).await;
    let first = "UPDATE spending_days SET day = date_trunc('month', now() AT TIME ZONE 'UTC')::date";
    fixture.jobs.db.run(first).await;
    assert!(fixture.claim(&limits).await.is_none());
    assert!(fixture.claim(&SpendingLimits { day: Some(2_000_000), ..NO_LIMITS }).await.is_some());
    fixture.jobs.db.run(YESTERDAY).await;
    assert!(fixture.claim(&limits).await.is_some());
}

#[tokio::test]
async fn a_budget_of_a_model_stops_that_model_alone_until_it_is_raised() {
    let fixture = BudgetFixture::with_queued(&["one", "two"], &["shed"], &[]).await;
    let JobsFixture { db, admin, .. } = &fixture.jobs;
    let budget = "/api/admin/models/one/budget";
    let set = admin.json(Method::PUT, budget, &json!({ "dollars": 0.5 })).await;
    assert_eq!(set.json(), json!({ "modelKey": "one", "dollars": 0.5 }));
    fixture.spend("one", 500_000).await;
    db.run("UPDATE spending_days SET day = day - 400").await;
    let claimed = fixture.claim(&NO_LIMITS).await.unwrap();
    assert_eq!(claimed.slot.model.as_str(), "two");
    assert!(fixture.claim(&NO_LIMITS).await.is_none());
    let status = admin.get("/api/admin/status").await.json();
    let notes: Vec<_> = status["queue"].as_array().unwrap().iter().map(|job| &job["note"]).collect();
    assert!(notes.contains(&&json!("The model’s budget is used up.")), "{status}");

    // Seeding leaves alone what an admin has set.
    admin.post("/api/admin/seed?generateBuilds=0", "").await;
    assert!(fixture.claim(&NO_LIMITS).await.is_none());
    admin.json(Method::PUT, budget, &json!({ "dollars": null })).await;
    assert_eq!(fixture.claim(&NO_LIMITS).await.unwrap().slot.model.as_str(), "one");
    assert_eq!(db.number("SELECT count(*) FROM audit WHERE action = 'set budget'").await, 2);
    for (path, body, status) in [
        (budget, json!({ "dollars": -1 }), 400),
        (budget, json!({ "dollars": 1e9 }), 400),
        (budget, json!({}), 422),
        ("/api/admin/models/nobody/budget", json!({ "dollars": 1 }), 404),
    ] {
        assert_eq!(admin.json(Method::PUT, path, &body).await.status, status, "{path} {body}");
    }
}

#[tokio::test]
async fn the_catalog_sets_budgets_of_models_that_no_admin_has_set() {
    let fixture = BudgetFixture::with_queued(&["one"], &["shed"], &[]).await;
    let file = Path::new(fixture.catalog.variables(&[])[0].1).join("models.toml");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "budget = 2.5\n").unwrap();
    let variables = fixture.catalog.variables(&[]);
    let server = TestServer::start_with_env(fixture.jobs.db.pool.clone(), &variables).await;
    let stored = "SELECT coalesce(sum(budget), 0)::bigint FROM model_budgets";
    server.admin().post("/api/admin/seed?generateBuilds=0", "").await;
    assert_eq!(fixture.jobs.db.number(stored).await, 2_500_000);
    server.admin().json(Method::PUT, "/api/admin/models/one/budget", &json!({ "dollars": 7 })).await;
    server.admin().post("/api/admin/seed?generateBuilds=0", "").await;
    assert_eq!(fixture.jobs.db.number(stored).await, 7_000_000);
}

#[tokio::test]
async fn a_wide_queue_on_two_servers_begins_no_more_than_the_budget_is_expected_to_pay_for() {
    let prompts = ["arch", "barn", "cave", "dock", "elm", "fort", "gate", "hall"];
    let fixture = BudgetFixture::with_queued(&["one"], &prompts, &[]).await;
    let pools = [fixture.jobs.db.pool.clone(), PgPool::connect(&fixture.jobs.db.url()).await.unwrap()];
    // Two are covered, and the third begins because something is left.
    let limits = SpendingLimits { day: Some(EXPECTED * 5 / 2), ..NO_LIMITS };
    let claims = (0..8).map(|n| fixture.claim_from(&pools[n % 2], &limits));
    let claimed: Vec<_> = futures_util::future::join_all(claims).await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 3);
    let reason = fixture.jobs.admin.get("/api/admin/queue").await.json();
    assert_eq!(reason["budgets"], json!([]), "this server has no budget: {reason}");

    // What is recorded of an attempt is not expected any more, and what its model's answers cost is the expectation.
    fixture
        .jobs
        .db
        .run("DELETE FROM spending_days; UPDATE jobs SET state = 'queued', leased_until = NULL")
        .await;
    fixture
        .jobs
        .db
        .run(
            "INSERT INTO spending_days (day, model_key, purpose, answers, answers_cost)
         VALUES ((now() AT TIME ZONE 'UTC')::date - 1, 'one', 'job', 2, 2000)",
        )
        .await;
    let limits = SpendingLimits { day: Some(5_000), ..NO_LIMITS };
    let mut claimed = 0;
    while fixture.claim(&limits).await.is_some() {
        claimed += 1;
    }
    assert_eq!(claimed, 5, "each is expected to cost a thousand");
    pools[1].close().await;
}

#[tokio::test]
async fn what_costs_nothing_goes_on_when_the_budget_is_used_up() {
    let fixture = BudgetFixture::with_queued(&["one", "two"], &["shed"], &[("BUDGET_DAY", "0")]).await;
    fixture
        .jobs
        .db
        .run(r#"UPDATE models SET prices = '{"input": 0, "output": 0}', edited_at = now() WHERE key = 'two'"#)
        .await;
    let limits = SpendingLimits { day: Some(0), ..NO_LIMITS };
    assert_eq!(fixture.claim(&limits).await.unwrap().slot.model.as_str(), "two");
    assert!(fixture.claim(&limits).await.is_none());
}

#[tokio::test]
async fn jobs_and_probes_count_and_unknown_costs_are_told_beside_what_is_known() {
    let responses = [full_answer(&sample_spec(4)), full_answer("{}"), full_answer(&sample_spec(5))];
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, responses).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed", "barn"]);
    let db = TestDb::new().await;
    let variables = catalog.variables(&[("BUDGET_DAY", "10"), ("BUDGET_MONTH", "100")]);
    let server = TestServer::start_with_worker(db.pool.clone(), &variables).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    let JobsFixture { db, admin, .. } = &fixture;
    fixture.run_job().await;
    let spent = |purpose: &str| {
        format!("SELECT coalesce(sum(spent), 0)::bigint FROM spending_days WHERE purpose = '{purpose}'")
    };
    assert_eq!(db.number(&spent("job")).await, COST);
    admin.post("/api/admin/models/tester/probe", "").await;
    assert_eq!(db.number(&spent("probe")).await, COST);
    db.run("UPDATE models SET prices = NULL, edited_at = now()").await;
    let barn = admin.enqueue("barn", "tester").await;
    assert_eq!(admin.wait_for_job_end(&barn).await["state"], "ready");
    let budgets = admin.get("/api/admin/queue").await.json()["budgets"].clone();
    let both = (&budgets[0], &budgets[1]);
    for (budget, kind) in [(both.0, "day"), (both.1, "month")] {
        assert_eq!(
            (&budget["kind"], &budget["spent"], &budget["unpriced"], &budget["sentence"]),
            (&json!(kind), &json!(0.0004), &json!(1), &Value::Null),
            "{budget}"
        );
    }
    let all = "SELECT spent - (SELECT sum(spent) FROM spending_days WHERE purpose = 'job')::bigint FROM installation";
    assert_eq!(db.number(all).await, 0, "the days add up to what all attempts have cost");
}

#[tokio::test(flavor = "multi_thread")]
async fn seeding_ends_with_words_when_a_budget_is_used_up() {
    let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
            .args(arguments)
            .env("DATABASE_URL", db.url())
            .envs(catalog.variables(&[("BUDGET_MONTH", "0")]))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (code, said) = run(&["seed"]);
    assert_eq!(code, Some(1), "{said}");
    for words in [
        "This month’s budget of $0.00 is used up. Jobs wait until 1 ",
        "Nothing can be generated before a budget allows it.",
    ] {
        assert!(said.contains(words), "{words:?} is not in\n{said}");
    }
    assert!(provider.requests().is_empty());
    assert_eq!(run(&["models", "budget", "tester", "12.5"]).1, "tester may cost $12.50 in all.\n");
    assert_eq!(run(&["models", "budget", "tester", "none"]).1, "tester has no budget of its own.\n");
}
