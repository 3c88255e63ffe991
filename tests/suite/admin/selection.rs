//! What a part of the matrix is seeded, cancelled and listed by.

use std::time::Duration;

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::claims::{self, ModelRoute};
use buildoff::web::{JobsProgressResponse, SeedResponse};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::db::TestDb;
use crate::support::{FakeProtocol, FakeProvider, TestAdmin, TestCatalog, TestServer};

/// Two models by three prompts on a server without a worker, so that jobs stay as they are.
struct SelectionFixture {
    db: TestDb,
    admin: TestAdmin,
    _server: TestServer,
    _provider: FakeProvider,
    catalog: TestCatalog,
}

impl SelectionFixture {
    async fn new() -> Self {
        let db = TestDb::new().await;
        let provider = FakeProvider::with_responses(FakeProtocol::Compatible, []).await;
        let catalog = TestCatalog::new(&provider, &["one", "two"], &["arch", "barn", "cave"]);
        let server = TestServer::start_with_env(db.pool.clone(), &catalog.variables(&[])).await;
        let admin = server.admin();
        let tagged = json!({ "tags": ["round", "old"] });
        assert_eq!(admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        assert_eq!(admin.json(Method::PATCH, "/api/admin/prompts/arch", &tagged).await.status, 200);
        Self { db, admin, _server: server, _provider: provider, catalog }
    }

    async fn seed(&self, query: &str) -> SeedResponse {
        let answer = self.admin.post(&format!("/api/admin/seed?{query}"), "").await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        serde_json::from_value(answer.json()).unwrap()
    }

    /// What a dry run would generate.
    async fn plan(&self, query: &str) -> Vec<String> {
        let planned = self.seed(&format!("dryRun=1&{query}")).await;
        planned.next.iter().map(|next| format!("{}/{}", next.prompt_id, next.model_key)).collect()
    }

    /// Prompt, model and state of the jobs that are listed.
    async fn list(&self, query: &str) -> Vec<String> {
        let answer = self.admin.get(&format!("/api/admin/jobs?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let text = |job: &Value, name: &str| job[name].as_str().unwrap().to_owned();
        let line =
            |job| format!("{}/{} {}", text(job, "promptId"), text(job, "modelKey"), text(job, "state"));
        let mut lines: Vec<_> = answer.json()["jobs"].as_array().unwrap().iter().map(line).collect();
        lines.sort();
        lines
    }

    /// Queues everything, and lets the jobs for barn and cave fail for different reasons.
    async fn fail_some(&self) {
        self.seed("background=1").await;
        for (prompt, code) in [("barn", "refused"), ("cave", "truncated")] {
            let failed = format!(
                "UPDATE jobs SET state = 'failed', ended_at = now(), error_code = '{code}', error = 'No.'
                 WHERE subject LIKE '{prompt}@%'"
            );
            self.db.run(&failed).await;
        }
    }
}

#[tokio::test]
async fn models_prompts_and_tags_select_what_is_seeded_and_counted() {
    let fixture = SelectionFixture::new().await;
    for (query, planned) in [
        ("model=one", &["arch/one", "barn/one", "cave/one"][..]),
        ("prompt=barn", &["barn/one", "barn/two"]),
        ("prompt=barn,cave&model=two", &["barn/two", "cave/two"]),
        ("tag=round", &["arch/one", "arch/two"]),
        ("tag=old&prompt=barn", &[]),
    ] {
        assert_eq!(fixture.plan(query).await, planned, "{query}");
    }
    let queued = fixture.seed("background=1&model=one&prompt=arch,barn").await;
    assert_eq!((queued.prompt_count, queued.model_count, queued.total_expected_builds), (2, 1, 2));
    assert_eq!((queued.jobs.len(), queued.remaining_builds), (2, 2));
    assert_eq!(fixture.list("").await, ["arch/one queued", "barn/one queued"]);
}

#[tokio::test]
async fn a_mistyped_selection_is_an_error_and_changes_nothing() {
    let fixture = SelectionFixture::new().await;
    let before = fixture.db.dump().await;
    for (query, status, code, message) in [
        ("model=won", 404, "no_model", "The model won does not exist."),
        ("prompt=barn,bran", 404, "no_prompt", "The prompt bran does not exist."),
        ("tag=flat", 400, "bad_request", "No prompt has the tag flat."),
        ("maxCost=-1&background=1", 400, "bad_request", "maxCost is an amount"),
        ("maxCost=NaN&background=1", 400, "bad_request", "maxCost is an amount"),
        ("maxCost=5", 400, "bad_request", "maxCost needs background=1, batchApi=1 or dryRun=1."),
        ("onlyFailed=1", 400, "bad_request", "onlyFailed and reason need background=1"),
        ("reason=refused", 400, "bad_request", "onlyFailed and reason need background=1"),
        ("model=", 400, "bad_request", "a model's key is"),
    ] {
        let answer = fixture.admin.post(&format!("/api/admin/seed?{query}"), "").await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{query}: {}", answer.text());
        assert!(answer.text().contains(message), "{query}: {}", answer.text());
    }
    for query in ["model=won", "prompt=bran", "model=", "all=1"] {
        let answer = fixture.admin.delete(&format!("/api/admin/jobs?{query}")).await;
        assert!((400..=404).contains(&answer.status), "{query}: {}", answer.text());
    }
    assert_eq!(fixture.db.dump().await, before);
}

#[tokio::test]
async fn max_cost_takes_whole_prompts_first_counts_what_is_under_way_and_leaves_unknown_prices() {
    let fixture = SelectionFixture::new().await;
    let unpriced = json!({ "provider": "somebody", "modelId": "x", "displayName": "X" });
    fixture.admin.json(Method::PUT, "/api/admin/models/free", &unpriced).await;
    // Each build by the other two costs $0.034 by the estimate.
    assert_eq!(fixture.plan("maxCost=0.11").await, ["arch/one", "arch/two", "barn/one"]);
    assert_eq!(fixture.plan("maxCost=0").await, [""; 0]);
    let queued = fixture.seed("background=1&maxCost=0.11").await;
    let left = queued.left.unwrap();
    assert_eq!((queued.jobs.len(), left.builds, left.estimate.unknown), (3, 6, 3));
    assert!((left.estimate.dollars - 3.0 * 0.034).abs() < 1e-9, "{}", left.estimate.dollars);

    let again = fixture.seed("background=1&maxCost=0.11").await;
    assert_eq!(
        (again.jobs.len(), again.left.unwrap().builds),
        (3, 6),
        "the first three cost as much already"
    );
    assert_eq!(fixture.seed("background=1&maxCost=0.14").await.jobs.len(), 4);
}

#[tokio::test]
async fn what_max_cost_leaves_out_stays_failed() {
    let fixture = SelectionFixture::new().await;
    fixture.fail_some().await;
    fixture.db.run("UPDATE jobs SET state = 'cancelled', ended_at = now() WHERE state = 'queued'").await;
    // Two of the six builds that failed or were cancelled cost no more.
    let seeded = fixture.seed("background=1&retryFailed=1&maxCost=0.07").await;
    assert_eq!((seeded.jobs.len(), seeded.left.unwrap().builds), (2, 4));
    assert_eq!(fixture.plan("").await, [""; 0], "without retryFailed, failed builds stay failed");
}

#[tokio::test]
async fn the_audit_log_tells_what_was_seeded() {
    let fixture = SelectionFixture::new().await;
    fixture.seed("background=1&retryFailed=1&model=one&prompt=arch,barn&tag=round&maxCost=0.5").await;
    let sql = "SELECT detail FROM audit WHERE action = 'seed' ORDER BY at DESC LIMIT 1";
    let detail: Value = sqlx::query_scalar(sql).fetch_one(&fixture.db.pool).await.unwrap();
    let told = json!({
        "jobs": 1, "what": "background", "models": ["one"], "prompts": ["arch", "barn"], "tags": ["round"],
        "retryFailed": true, "reasons": [], "maxCost": 0.5,
    });
    assert_eq!(detail, told);
}

#[tokio::test]
async fn seeding_holds_up_no_claims_and_a_dry_run_waits_for_none() {
    let fixture = SelectionFixture::new().await;
    let pool = &fixture.db.pool;
    fixture.seed("background=1&prompt=arch").await;
    // Seeding waits for this table at its end, which no claim needs.
    let mut editor = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE audit").execute(&mut *editor).await.unwrap();
    let seeding = async { fixture.seed("background=1&prompt=barn").await.jobs.len() };
    let claiming = async {
        fixture.db.wait_until("count(*) > 0 FROM pg_locks WHERE NOT granted").await;
        let routes = [ModelRoute { model: "one".parse().unwrap(), provider: "somebody".to_owned() }];
        let limits = SpendingLimits::default();
        let claimed = claims::claim(pool, &routes, 4, &limits, Duration::from_secs(30));
        assert!(timeout(Duration::from_secs(10), claimed).await.unwrap().unwrap().is_some());
        editor.rollback().await.unwrap();
    };
    assert_eq!(tokio::join!(seeding, claiming).0, 2);

    let mut claim = pool.begin().await.unwrap();
    sqlx::query("SELECT pg_advisory_xact_lock(x'6a6f627300000000'::bigint)")
        .execute(&mut *claim)
        .await
        .unwrap();
    assert_eq!(fixture.plan("prompt=cave").await, ["cave/one", "cave/two"]);
}

#[tokio::test]
async fn failed_builds_are_retried_by_reason_alone() {
    let fixture = SelectionFixture::new().await;
    fixture.fail_some().await;
    let coverage = fixture.admin.get("/api/admin/coverage").await.json();
    assert_eq!(
        coverage["sum"]["failures"],
        json!([
            { "code": "refused", "sentence": "The model declined", "count": 2 },
            { "code": "truncated", "sentence": "The token limit ended the answer", "count": 2 },
        ])
    );
    assert_eq!(fixture.plan("").await, [""; 0]);
    assert_eq!(fixture.plan("reason=refused").await, ["barn/one", "barn/two"]);
    assert_eq!(fixture.plan("reason=refused&model=two").await, ["barn/two"]);
    assert_eq!(fixture.plan("onlyFailed=1&model=one").await, ["barn/one", "cave/one"]);

    fixture
        .db
        .run("UPDATE jobs SET state = 'cancelled', ended_at = now(), forgiven = true WHERE state = 'queued'")
        .await;
    assert_eq!(fixture.plan("retryFailed=1&model=one").await, ["arch/one", "barn/one", "cave/one"]);
    let retried = fixture.seed("background=1&reason=truncated").await;
    assert_eq!(retried.jobs.len(), 2);
    assert_eq!(fixture.list("state=queued").await, ["cave/one queued", "cave/two queued"]);
}

#[tokio::test]
async fn jobs_are_listed_by_state_model_prompt_provider_and_reason_page_by_page() {
    let fixture = SelectionFixture::new().await;
    fixture.fail_some().await;
    for (query, listed) in [
        ("state=queued", &["arch/one queued", "arch/two queued"][..]),
        ("model=one", &["arch/one queued", "barn/one failed", "cave/one failed"]),
        ("state=failed,ready&prompt=cave", &["cave/one failed", "cave/two failed"]),
        ("reason=refused", &["barn/one failed", "barn/two failed"]),
        ("provider=somebody&state=queued", &["arch/one queued", "arch/two queued"]),
        ("provider=openai", &[]),
    ] {
        assert_eq!(fixture.list(query).await, listed, "{query}");
    }
    let page = fixture.admin.get("/api/admin/jobs?limit=4").await.json();
    let jobs = page["jobs"].as_array().unwrap();
    assert_eq!((jobs.len(), &page["more"]), (4, &json!(true)));
    let rest = format!("/api/admin/jobs?limit=4&before={}", jobs[3]["id"].as_str().unwrap());
    let rest = fixture.admin.get(&rest).await.json();
    assert_eq!((rest["jobs"].as_array().unwrap().len(), &rest["more"]), (2, &json!(false)));
    for query in
        ["state=lost", "limit=0", "limit=1001", "provider=a%00b", "reason=%27", "before=x", "colour=red"]
    {
        let answer = fixture.admin.get(&format!("/api/admin/jobs?{query}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "bad_request"),
            "{query}: {}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn jobs_are_cancelled_by_model_and_prompt() {
    let fixture = SelectionFixture::new().await;
    fixture.seed("background=1").await;
    let cancel = async |query: &str| fixture.admin.delete(&format!("/api/admin/jobs?{query}")).await.json();
    assert_eq!(cancel("model=one&prompt=arch").await["cancelled"], 1);
    assert_eq!(cancel("model=one").await["cancelled"], 2);
    assert_eq!(fixture.list("state=queued").await, ["arch/two queued", "barn/two queued", "cave/two queued"]);
    assert_eq!(cancel("prompt=cave,barn").await["cancelled"], 2);
    assert_eq!(cancel("").await["cancelled"], 1);
    assert_eq!(fixture.list("state=queued,running").await, [""; 0]);
}

#[tokio::test]
async fn jobs_of_a_provider_whose_key_is_gone_say_so_wherever_they_are_shown() {
    let fixture = SelectionFixture::new().await;
    let ids = fixture.seed("background=1&prompt=arch").await.jobs.into_iter().map(|job| job.id);
    let ids: Vec<_> = ids.collect();
    let mut keyless = fixture.catalog.variables(&[]);
    keyless.retain(|(name, _)| *name != "SOMEBODY_API_KEY");
    let server = TestServer::start_with_env(fixture.db.pool.clone(), &keyless).await;
    let admin = server.admin();
    let reason = json!("SOMEBODY_API_KEY is not set.");
    let listed = admin.get("/api/admin/jobs").await.json();
    assert_eq!(listed["jobs"][0]["note"], reason);
    assert_eq!(admin.job(&ids[0]).await["note"], reason);
    assert_eq!(admin.get("/api/admin/status").await.json()["queue"][0]["note"], reason);
    let followed = admin.json(Method::POST, "/api/admin/jobs/progress", &json!({ "jobs": ids })).await.json();
    let followed: JobsProgressResponse = serde_json::from_value(followed).unwrap();
    assert!(followed.waits_for_admin);
    assert_eq!(followed.under_way[0].waits_for.as_deref(), Some("SOMEBODY_API_KEY is not set."));
}

#[tokio::test]
async fn progress_lists_what_has_ended_and_counts_the_rest_by_provider() {
    let fixture = SelectionFixture::new().await;
    fixture.fail_some().await;
    let all = fixture.admin.get("/api/admin/jobs").await.json();
    let ids: Vec<_> = all["jobs"].as_array().unwrap().iter().map(|job| job["id"].clone()).collect();
    let follow = async |jobs: Value| {
        fixture.admin.json(Method::POST, "/api/admin/jobs/progress", &json!({ "jobs": jobs })).await
    };
    let followed = follow(json!(ids)).await.json();
    assert_eq!(followed["ended"].as_array().unwrap().len(), 4);
    assert_eq!(
        followed["underWay"],
        json!([{ "key": "somebody", "displayName": "Somebody", "queued": 2, "running": 0, "waitsFor": null }])
    );
    let unknown = follow(json!(["00000000-0000-0000-0000-000000000000"])).await.json();
    assert_eq!((&unknown["ended"], &unknown["underWay"]), (&json!([]), &json!([])));
    let many = vec!["00000000-0000-0000-0000-000000000000"; 20_001];
    assert_eq!(follow(json!(many)).await.status, 400);
}

#[tokio::test]
async fn errors_name_the_field_and_the_place_without_a_parsers_words() {
    let fixture = SelectionFixture::new().await;
    let admin = &fixture.admin;
    let sentence = |answer: &Value| answer["error"].as_str().unwrap().to_owned();
    let enqueue = async |body: &str| {
        sentence(
            &admin.json(Method::POST, "/api/admin/jobs", &serde_json::from_str(body).unwrap()).await.json(),
        )
    };
    assert_eq!(enqueue("{}").await, "promptId is missing (line 1, column 2).");
    let told = enqueue("{\"promptId\":3,\"modelKey\":\"one\"}").await;
    assert!(told.starts_with("promptId: a text is needed here, not 3 (line 1, column "), "{told}");
    let told = sentence(&admin.post("/api/admin/seed?surprise=1", "").await.json());
    assert!(told.starts_with("surprise is not known here; possible: generateBuilds, dryRun, "), "{told}");
    let told = sentence(&admin.post("/api/admin/seed?batchSize=x", "").await.json());
    assert_eq!(told, "batchSize: not a whole number.");
}
