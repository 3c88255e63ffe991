//! What is queued for a judge, and what is not.

use buildoff::arena::budgets::SpendingLimits;
use reqwest::Method;
use serde_json::json;

use super::super::outcomes;
use super::{JudgingFixture, SCORES, claim};

#[tokio::test]
async fn withheld_builds_are_judged_once_they_are_released() {
    let fixture = JudgingFixture::without_worker().await;
    let queued = fixture.judge("&prompt=shed").await;
    assert_eq!(queued["jobs"].as_array().unwrap().len(), 2, "{queued}");
    fixture.hold_out_sheds(true).await;
    assert!(claim(&fixture.db.pool, &SpendingLimits::default()).await.is_none());
    for job in queued["jobs"].as_array().unwrap() {
        let job = fixture.admin.job(job["id"].as_str().unwrap()).await;
        assert_eq!((&job["state"], &job["code"]), (&json!("cancelled"), &json!("withheld")), "{job}");
        assert_eq!(outcomes(&job).len(), 0, "nobody is asked: {job}");
    }
    let all = fixture.judge("").await;
    assert_eq!(
        (&all["targets"], all["jobs"].as_array().unwrap().len()),
        (&json!(1), 1),
        "only the barn: {all}"
    );
    fixture.hold_out_sheds(false).await;
    let released = fixture.judge("").await;
    assert_eq!((&released["targets"], &released["open"]), (&json!(3), &json!(2)), "{released}");
}

#[tokio::test]
async fn a_build_that_is_retired_while_it_waits_is_not_judged() {
    let fixture = JudgingFixture::without_worker().await;
    let queued = fixture.judge("&prompt=barn").await;
    fixture.db.run("UPDATE builds SET retired_at = now()").await;
    assert!(claim(&fixture.db.pool, &SpendingLimits::default()).await.is_none());
    let job = fixture.admin.job(queued["jobs"][0]["id"].as_str().unwrap()).await;
    assert_eq!((&job["state"], &job["code"]), (&json!("cancelled"), &json!("retired")), "{job}");
}

#[tokio::test]
async fn a_dry_run_asks_nobody_stores_nothing_and_tells_the_cost() {
    let fixture = JudgingFixture::always(SCORES).await;
    let before = fixture.db.dump().await;
    let plan = fixture.judge("&dryRun=1").await;
    assert_eq!((&plan["open"], plan["next"].as_array().unwrap().len()), (&json!(3), 3), "{plan}");
    assert_eq!((&plan["jobs"], &plan["judged"]), (&json!([]), &json!(0)), "{plan}");
    let estimate = &plan["estimate"];
    assert_eq!((&estimate["pictures"], &estimate["unknown"]), (&json!(9), &json!(0)), "{estimate}");
    let tokens = |name: &str| estimate[name].as_f64().unwrap();
    // A million tokens in and out cost 1 and 2 dollars.
    let each = (tokens("pictureTokens") + tokens("textTokens") + 2.0 * tokens("answerTokens")) / 1e6;
    assert!(
        tokens("pictureTokens") > 9.0 * 100.0 && (tokens("dollars") - 3.0 * each).abs() < 1e-5,
        "{estimate}"
    );
    assert!(before == fixture.db.dump().await, "a dry run must store nothing");
    assert_eq!(fixture.provider.requests().len(), 0);

    fixture.db.run("UPDATE models SET prices = NULL").await;
    let plan = fixture.judge("&dryRun=1&limit=2").await;
    assert_eq!(plan["estimate"]["unknown"], 2, "{plan}");
}

#[tokio::test]
async fn what_earlier_judgements_have_cost_is_what_the_next_may_cost() {
    let fixture = JudgingFixture::always(SCORES).await;
    let job = fixture.judge_shed().await;
    let plan = fixture.judge("&dryRun=1").await;
    let dollars = plan["estimate"]["dollars"].as_f64().unwrap();
    assert!((dollars - 2.0 * job["cost"].as_f64().unwrap()).abs() < 1e-9, "{plan}");
}

#[tokio::test]
async fn a_limit_counts_what_is_under_way_so_that_a_repeated_call_queues_nothing_more() {
    let fixture = JudgingFixture::without_worker().await;
    let first = fixture.judge("&limit=2").await;
    let second = fixture.judge("&limit=2").await;
    assert_eq!((first["jobs"].as_array().unwrap().len(), &first["jobs"]), (2, &second["jobs"]));
    assert_eq!(fixture.judge("&limit=3").await["jobs"].as_array().unwrap().len(), 3);
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs").await, 3);
}

#[tokio::test]
async fn who_cannot_judge_is_refused_in_words() {
    let fixture = JudgingFixture::without_worker().await;
    for (query, status, code, words) in [
        ("model=maker", 409, "no_vision", "does not see pictures"),
        ("model=nobody", 404, "no_model", "does not exist"),
        ("model=judge&prompt=castle", 404, "no_prompt", "castle"),
        ("model=judge&of=nobody", 404, "no_model", "nobody"),
        ("model=judge&limit=0", 400, "bad_request", "limit"),
    ] {
        let answer = fixture.admin.post(&format!("/api/admin/judge?{query}"), "").await;
        let json = answer.json();
        assert_eq!((answer.status, &json["code"]), (status, &json!(code)), "{query}: {json}");
        assert!(json["error"].as_str().unwrap().contains(words), "{query}: {json}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs").await, 0);
}

#[tokio::test]
async fn budgets_pauses_and_cancelling_hold_for_judges_too() {
    let fixture = JudgingFixture::without_worker().await;
    let (pool, limits) =
        (&fixture.db.pool, SpendingLimits { day: Some(1_000_000), ..SpendingLimits::default() });
    fixture.judge("").await;
    fixture.admin.post("/api/admin/queue/pause", "").await;
    assert!(claim(pool, &limits).await.is_none(), "the queue is paused");
    fixture.admin.post("/api/admin/queue/resume", "").await;
    assert!(claim(pool, &limits).await.is_some());
    fixture
        .db
        .run(
            "INSERT INTO spending_days (day, model_key, purpose, spent)
             VALUES ((now() AT TIME ZONE 'UTC')::date, 'judge', 'job', 1000000)",
        )
        .await;
    assert!(claim(pool, &limits).await.is_none(), "the budget is used up");
    let barns = fixture.admin.delete("/api/admin/jobs?prompt=barn").await.json();
    assert_eq!(barns["cancelled"], 1, "{barns}");
    let off =
        fixture.admin.json(Method::PATCH, "/api/admin/models/judge", &json!({ "enabled": false })).await;
    assert_eq!(off.status, 200, "{}", off.text());
    assert_eq!(fixture.db.number("SELECT count(*) FROM jobs WHERE state = 'queued'").await, 0);
}

#[tokio::test]
async fn jobs_are_listed_by_their_kind() {
    let fixture = JudgingFixture::without_worker().await;
    fixture.judge("&prompt=shed&of=maker").await;
    fixture.admin.enqueue("barn", "other").await;
    let listed = async |kind: &str| {
        let jobs = fixture.admin.get(&format!("/api/admin/jobs{kind}")).await.json();
        let name =
            |job: &serde_json::Value| format!("{} {} {}", job["kind"], job["modelKey"], job["judged"]["of"]);
        jobs["jobs"].as_array().unwrap().iter().map(name).collect::<Vec<_>>().join(", ").replace('"', "")
    };
    assert_eq!(listed("").await, "build other null, judge judge maker");
    assert_eq!(listed("?kind=judge").await, "judge judge maker");
    assert_eq!(listed("?kind=build").await, "build other null");
    assert_eq!(fixture.admin.get("/api/admin/jobs?kind=run").await.status, 400);
    assert_eq!(listed("?prompt=shed").await, "judge judge maker");
    let audit = fixture.admin.get("/api/admin/audit").await.text();
    assert!(audit.contains("\"judge\""), "{audit}");
}

#[tokio::test]
async fn jobs_of_one_kind_are_cancelled_and_those_of_the_other_stay() {
    let fixture = JudgingFixture::without_worker().await;
    let JudgingFixture { admin, .. } = &fixture;
    fixture.judge("").await;
    admin.enqueue("shed", "judge").await;
    let counts = async || admin.get("/api/admin/status").await.json()["counts"].clone();
    assert_eq!((&counts().await["queuedJudging"], &counts().await["runningJudging"]), (&json!(3), &json!(0)));
    let cancelled = admin.delete("/api/admin/jobs?kind=judge&model=judge&prompt=barn").await.json();
    assert_eq!(cancelled["cancelled"], 1, "{cancelled}");
    let cancelled = admin.delete("/api/admin/jobs?kind=judge&model=judge").await.json();
    assert_eq!(cancelled["cancelled"], 2, "{cancelled}");
    assert_eq!(counts().await["queuedJudging"], 0);
    assert_eq!(
        fixture.db.number("SELECT count(*) FROM jobs WHERE state = 'queued' AND kind = 'build'").await,
        1
    );
    let cancelled = admin.delete("/api/admin/jobs?kind=build").await.json();
    assert_eq!(cancelled["cancelled"], 1, "{cancelled}");
    assert_eq!(admin.delete("/api/admin/jobs?kind=run").await.status, 400);
}
