//! What holds for builds in batches as for all others: how they were asked for stands with them, budgets stop them, and
//! nothing is stored for a model that is asked differently now.

use buildoff::arena::budgets::SpendingLimits;
use buildoff::arena::jobs::batches::{self, BatchRoute};
use reqwest::Method;

use super::super::TESTER;
use super::super::generations::build;
use super::*;
use crate::support::fake_protocol::MODEL;

const IN_BATCHES: &str = "SELECT count(*) FROM jobs WHERE batch_id IS NOT NULL";

impl BatchFixture {
    /// With jobs for all three builds that no server sends.
    async fn waiting(protocol: FakeProtocol) -> Self {
        let mut fixture = Self::start(protocol).await;
        fixture.kill().await;
        fixture.seed().await;
        fixture
    }

    async fn set_budget(&self, dollars: f64) {
        let path = format!("{TESTER}/budget");
        let set = self.admin.json(Method::PUT, &path, &json!({ "dollars": dollars })).await;
        assert!(set.status < 300, "{}", set.text());
    }

    /// Reserves a batch as a server does.
    async fn reserve(&self) -> bool {
        let route = BatchRoute {
            model: "tester".parse().unwrap(),
            provider: "somebody".to_owned(),
            model_id: MODEL.to_owned(),
            price_part: 0.5,
        };
        batches::reserve(&self.db.pool, &[route], &SpendingLimits::default()).await.unwrap()
    }
}

#[tokio::test]
async fn a_build_made_in_a_batch_says_how_it_was_asked_for_and_cost_half() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::start(protocol).await;
        assert_eq!(fixture.admin.post("/api/admin/seed?generateBuilds=0", "").await.status, 200);
        let options = json!({ "effort": null, "temperature": null, "maxOutputTokens": 9000 });
        let changed = fixture.admin.json(Method::PATCH, TESTER, &json!({ "options": options })).await;
        assert_eq!(changed.status, 200, "{}", changed.text());
        fixture.seed().await;
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        fixture.provider.complete(0, &sample_spec(4));
        fixture.collect().await;
        let job = &fixture.jobs().await[0];
        let build = build(&fixture.server, &job["buildId"]).await;
        let generation = &build["generation"];
        assert_eq!(
            (&generation["provider"], &generation["modelId"], &generation["options"]),
            (&json!("somebody"), &json!(MODEL), &options),
            "{build}"
        );
        assert_eq!(generation["sent"]["maxOutputTokens"], 9000, "{build}");
        assert_eq!(generation["template"].as_str().unwrap().len(), 64, "{build}");
        assert_eq!(
            (&generation["cost"], &generation["costIsMinimum"]),
            (&json!(0.0001), &json!(false)),
            "{build}"
        );
        assert_eq!(generation["changes"], json!(["batch"]), "{build}");
        let spent = "SELECT spent FROM spending_days WHERE purpose = 'job'";
        assert_eq!(fixture.db.number(spent).await, 300, "{protocol:?}");
        let expected = "SELECT answers_cost / answers FROM spending_days WHERE purpose = 'job'";
        assert_eq!(fixture.db.number(expected).await, 200, "the next answer is expected at the list price");
    }
}

#[tokio::test]
async fn a_used_up_budget_keeps_jobs_out_of_a_batch() {
    let fixture = BatchFixture::waiting(FakeProtocol::OpenAi).await;
    // An answer is expected to cost $0.034, and half of that in a batch.
    fixture.set_budget(0.03).await;
    assert!(fixture.reserve().await);
    assert_eq!(fixture.db.number(IN_BATCHES).await, 2, "the last one may exceed what is left");
    assert!(!fixture.reserve().await, "jobs of the batch count as under way");
    let jobs = fixture.jobs().await;
    let left = jobs.iter().find(|job| job["note"].as_str().is_some_and(|note| note.contains("budget")));
    assert_eq!(left.unwrap_or_else(|| panic!("{jobs:?}"))["state"], "queued");
    fixture.set_budget(1.0).await;
    assert!(fixture.reserve().await);
    assert_eq!(fixture.db.number(IN_BATCHES).await, 3);
}

#[tokio::test]
async fn a_batch_whose_budget_was_used_up_before_it_was_sent_is_put_back() {
    let mut fixture = BatchFixture::waiting(FakeProtocol::OpenAi).await;
    assert!(fixture.reserve().await);
    fixture.set_budget(0.0).await;
    fixture.start_another().await;
    fixture.until(OPEN, 0).await;
    assert_eq!((fixture.provider.submissions(), fixture.db.number(QUEUED).await), (0, 3));
    assert_eq!(fixture.db.number(IN_BATCHES).await, 0);
    let change = json!({ "options": { "effort": "low" } });
    let changed = fixture.admin.json(Method::PATCH, TESTER, &change).await;
    assert_eq!(changed.status, 200, "nobody was asked: {}", changed.text());
}

#[tokio::test]
async fn an_answer_of_a_batch_is_not_stored_once_its_model_is_asked_differently() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        let change = json!({ "options": { "effort": "low" } });
        let refused = fixture.admin.json(Method::PATCH, TESTER, &change).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "model_is_fixed"), "{protocol:?}");
        fixture.provider.complete(0, &sample_spec(4));
        let forced = format!("{TESTER}?retireBuilds=1");
        let forced = fixture.admin.json(Method::PATCH, &forced, &change).await;
        assert_eq!(forced.status, 200, "{}", forced.text());
        fixture.provider.complete(0, &sample_spec(4));
        fixture.collect().await;
        for job in fixture.jobs().await {
            assert_eq!(
                (&job["state"], &job["code"]),
                (&json!("cancelled"), &json!("model_changed")),
                "{job}"
            );
        }
        assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 0, "{protocol:?}");
        fixture.seed().await;
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        let batches = fixture.provider.batches();
        let bodies = |number: usize| -> Vec<_> {
            batches[number].requests.iter().map(|(_, body)| body.clone()).collect()
        };
        assert_ne!(bodies(0), bodies(1), "{protocol:?}: the new jobs are asked for with the new effort");
    }
}

#[tokio::test]
async fn a_limit_of_the_cost_counts_batches_at_their_price() {
    let fixture = BatchFixture::waiting(FakeProtocol::OpenAi).await;
    fixture.db.run("UPDATE jobs SET state = 'cancelled', ended_at = now(), forgiven = true").await;
    // $0.034 for each build, and half of that in a batch.
    let queued = async |query: &str| {
        let seeded = fixture.admin.post(&format!("/api/admin/seed?maxCost=0.04&{query}"), "").await;
        assert_eq!(seeded.status, 200, "{}", seeded.text());
        (seeded.json()["jobs"].as_array().unwrap().len(), seeded.json()["left"]["builds"].clone())
    };
    assert_eq!(queued("batchApi=1").await, (2, json!(1)));
    assert_eq!(queued("batchApi=1").await, (0, json!(1)), "what is in a batch counts");
    assert_eq!(queued("background=1").await, (0, json!(1)), "also when others are queued");
}
