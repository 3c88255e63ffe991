//! What attempts and jobs cost: known, at least so much, or unknown.

use serde_json::{Value, json};

use super::{JobsFixture, full_answer, partial_answer};
use crate::console;
use crate::support::admin::TOKEN;
use crate::support::{FakeBodyStep, FakePart, FakeProtocol, FakeResponse, sample_spec};

const WITHOUT_PRICES: &str = "UPDATE models SET prices = NULL, edited_at = now()";

fn refusal() -> FakeResponse {
    let error = json!({ "message": "There is no such model.", "code": "model_not_found" });
    FakeResponse::json(404, &json!({ "error": error }))
}

/// A complete answer with this report of what it used.
fn answer_using(usage: &Value) -> FakeResponse {
    let spec = sample_spec(4);
    let chunk =
        json!({ "choices": [{ "delta": { "content": spec }, "finish_reason": "stop" }], "usage": usage });
    FakeResponse::stream().send(FakeProtocol::Compatible.frame(&chunk))
}

fn cost(of: &Value) -> (Option<f64>, bool) {
    (of["cost"].as_f64(), of["costIsMinimum"].as_bool().unwrap())
}

/// What the console shows as the cost of a job, and as what all have cost.
async fn shown(fixture: &JobsFixture, job: &Value) -> [String; 2] {
    let signed_in = console::sign_in(&fixture.server, TOKEN).await;
    let cookie = console::cookie(&signed_in).unwrap();
    let text = async |path: &str, before: &str| {
        let (status, html) = console::visit(&fixture.server, path, &cookie).await;
        assert_eq!(status, 200);
        let after = html.split_once(before).unwrap_or_else(|| panic!("{before} in {html}")).1;
        after.split_once("</dd>").unwrap().0.to_owned()
    };
    let job = format!("/admin/jobs/{}", job["id"].as_str().unwrap());
    [text(&job, "<dt>Cost</dt><dd>").await, text("/admin", "data-sum=\"spent\">").await]
}

#[tokio::test]
async fn an_attempt_that_was_refused_before_the_answer_began_cost_nothing() {
    let fixture = JobsFixture::with_responses([refusal()]).await;
    let job = fixture.run_job().await;
    assert_eq!((cost(&job), cost(&job["attempts"][0])), ((Some(0.0), false), (Some(0.0), false)), "{job}");
    assert_eq!(shown(&fixture, &job).await, ["$0.00", "$0.00"]);
    let coverage = fixture.admin.get("/api/admin/coverage").await.json();
    assert_eq!(coverage["sum"]["unpriced"], 0);
    fixture.admin.post("/api/admin/seed?generateBuilds=0", "").await;
    let dry = fixture.admin.post("/api/admin/seed?dryRun=1&retryFailed=1", "").await.json();
    assert!(dry["estimate"]["dollars"].as_f64().unwrap() > 0.0, "a refusal is no build's price: {dry}");
}

#[tokio::test]
async fn an_unknown_cost_is_a_dash_and_not_zero() {
    let fixture = JobsFixture::with_responses([full_answer(&sample_spec(4))]).await;
    fixture.db.run(WITHOUT_PRICES).await;
    let job = fixture.run_job().await;
    assert_eq!(
        (job["cost"].clone(), job["attempts"][0]["cost"].clone()),
        (Value::Null, Value::Null),
        "{job}"
    );
    assert_eq!(shown(&fixture, &job).await, ["—", "—"]);
}

#[tokio::test]
async fn what_the_provider_says_that_it_charges_is_the_cost_with_and_without_prices() {
    for prices in ["SELECT 1", WITHOUT_PRICES] {
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 50, "cost": 0.25 });
        let fixture = JobsFixture::with_responses([answer_using(&usage)]).await;
        fixture.db.run(prices).await;
        let job = fixture.run_job().await;
        assert_eq!(cost(&job), (Some(0.25), false), "{job}");
        assert_eq!(shown(&fixture, &job).await, ["$0.25", "$0.25"]);
    }
}

#[tokio::test]
async fn cached_input_costs_what_its_price_says() {
    let usage = json!({
        "prompt_tokens": 1000, "completion_tokens": 500, "prompt_tokens_details": { "cached_tokens": 800 },
    });
    let fixture = JobsFixture::with_responses([answer_using(&usage)]).await;
    let prices =
        r#"UPDATE models SET prices = '{"input": 10, "cachedInput": 1, "output": 100}', edited_at = now()"#;
    fixture.db.run(prices).await;
    let job = fixture.run_job().await;
    assert_eq!(cost(&job), (Some(0.0528), false), "{job}");
    assert_eq!(job["attempts"][0]["tokensCached"], 800);
}

#[tokio::test]
async fn an_answer_that_was_cut_cost_at_least_what_had_come() {
    let cut = partial_answer(&"x".repeat(50_000)).then(FakeBodyStep::Disconnect);
    let fixture = JobsFixture::with_responses([cut, refusal()]).await;
    let job = fixture.run_job().await;
    let (least, is_minimum) = cost(&job["attempts"][0]);
    assert!(is_minimum && least.is_some_and(|cost| (0.02..0.03).contains(&cost)), "{job}");
    assert_eq!(cost(&job), (least, true), "{job}");
    let [of_job, of_all] = shown(&fixture, &job).await;
    assert!(of_job.starts_with("≥\u{a0}$0.02"), "{of_job}");
    assert_eq!(of_job, of_all);
    let coverage = fixture.admin.get("/api/admin/coverage").await.json();
    assert_eq!(coverage["sum"]["unpriced"], 1, "{coverage}");
}

#[tokio::test]
async fn an_answer_that_was_truncated_and_reported_has_its_exact_cost() {
    let truncated = || FakeProtocol::Compatible.answer(&[FakePart::Text("{"), FakePart::Truncated]);
    let fixture = JobsFixture::with_responses((0..3).map(|_| truncated())).await;
    let job = fixture.run_job().await;
    assert_eq!(cost(&job), (Some(0.0006), false), "{job}");
}

#[tokio::test]
async fn an_answer_that_was_cancelled_cost_at_least_what_had_come() {
    let begun = partial_answer(&"x".repeat(50_000)).then(FakeBodyStep::Stall);
    let fixture = JobsFixture::with_responses([begun]).await;
    let job = fixture.admin.enqueue("shed", "tester").await;
    // It is known while the answer streams in, so it would be known if this server was killed.
    fixture.admin.wait_for_job(&job, |job| job["attempts"][0]["cost"].as_f64() == Some(0.02)).await;
    assert_eq!(fixture.admin.delete(&format!("/api/admin/jobs/{job}")).await.status, 204);
    let job = fixture.admin.job(&job).await;
    assert_eq!((cost(&job), cost(&job["attempts"][0])), ((Some(0.02), true), (Some(0.02), true)), "{job}");
}
