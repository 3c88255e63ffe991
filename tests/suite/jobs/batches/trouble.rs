//! Providers that take no batch, and queues that are paused.

use super::*;

#[tokio::test]
async fn a_bad_key_pauses_the_provider_and_the_jobs_wait_for_the_next_batch() {
    let fixture = BatchFixture::start(FakeProtocol::OpenAi).await;
    let error = json!({ "error": { "message": "Incorrect API key provided", "code": "invalid_api_key" } });
    fixture.provider.set_probe_error(Some((401, error)));
    fixture.seed().await;
    fixture
        .until("SELECT count(*) FROM provider_pauses WHERE until IS NULL AND trouble = 'bad_key'", 1)
        .await;
    fixture.until(OPEN, 0).await;
    assert_eq!((fixture.provider.submissions(), fixture.db.number(QUEUED).await), (0, 3));
    assert_eq!(fixture.jobs().await[0]["note"], "Somebody is paused.");
    fixture.pass_time().await;
    assert_eq!(fixture.provider.probes(), 1, "a paused provider is left alone");

    fixture.provider.set_probe_error(None);
    assert_eq!(fixture.admin.post("/api/admin/providers/somebody/resume", "").await.status, 200);
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.db.number("SELECT count(*) FROM provider_pauses").await, 0, "the trouble is over");
}

#[tokio::test]
async fn a_batch_that_is_refused_for_lack_of_credit_pauses_the_provider() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::start(protocol).await;
        let error = json!({ "error": { "message": "Your credit balance is too low", "type": "invalid_request_error" } });
        fixture.provider.set_submission(FakeSubmission::Refused(400, error));
        fixture.seed().await;
        fixture.until("SELECT count(*) FROM provider_pauses WHERE trouble = 'no_credit'", 1).await;
        fixture.until(OPEN, 0).await;
        assert_eq!(fixture.db.number(QUEUED).await, 3, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_model_that_the_provider_does_not_know_fails_its_jobs_before_anything_is_submitted() {
    let fixture = BatchFixture::start(FakeProtocol::Google).await;
    let error = json!({ "error": { "code": 404, "message": "models/some-model-1 is not found", "status": "NOT_FOUND" } });
    fixture.provider.set_probe_error(Some((404, error)));
    fixture.seed().await;
    fixture.until("SELECT count(*) FROM jobs WHERE error_code = 'no_such_model'", 3).await;
    assert_eq!(fixture.provider.submissions(), 0);
}

#[tokio::test]
async fn a_batch_that_the_provider_finds_too_many_waits_and_is_submitted_again() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    let error =
        json!({ "code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": null });
    fixture.provider.fail(0, error);
    fixture.collect().await;
    assert_eq!(
        fixture.db.number("SELECT count(*) FROM provider_pauses WHERE trouble = 'rate_limited'").await,
        1
    );
    assert_eq!(fixture.db.number(QUEUED).await, 3);
    fixture.db.run("UPDATE provider_pauses SET until = now()").await;
    fixture.app.worker.wake();
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.provider.submissions(), 2);
}

#[tokio::test]
async fn a_provider_that_breaks_down_during_a_submission_is_paused_and_the_batch_is_not_submitted_twice() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::start(protocol).await;
        fixture
            .provider
            .set_submission(FakeSubmission::Refused(503, json!({ "error": { "message": "Down." } })));
        fixture.seed().await;
        fixture.until("SELECT count(*) FROM provider_pauses WHERE trouble = 'overloaded'", 1).await;
        assert_eq!(fixture.db.number("SELECT count(*) FROM batches WHERE state = 'submitting'").await, 1);
        fixture.provider.set_submission(FakeSubmission::Accepted);
        fixture.db.run("UPDATE provider_pauses SET until = now()").await;
        fixture.until("SELECT count(*) FROM batches WHERE leased_until IS NULL", 1).await;
        fixture.pass_time().await;
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        assert_eq!(fixture.provider.batches().len(), 1, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_paused_queue_submits_nothing_and_still_collects() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    assert_eq!(fixture.admin.post("/api/admin/queue/pause", "").await.status, 200);
    fixture.provider.end(0, FakeBatchEnd::Expired, |number, _| {
        if number == 0 { FakeResult::Answer(sample_spec(4)) } else { FakeResult::Unanswered }
    });
    fixture.collect().await;
    assert_eq!((fixture.db.number(READY).await, fixture.db.number(QUEUED).await), (1, 2));
    fixture.pass_time().await;
    assert_eq!(fixture.provider.submissions(), 1);
    assert_eq!(fixture.admin.post("/api/admin/queue/resume", "").await.status, 200);
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.provider.submissions(), 2);
}

#[tokio::test]
async fn no_secret_reaches_the_database_from_batches() {
    let fixture = BatchFixture::start(FakeProtocol::OpenAi).await;
    let key = crate::support::fake_provider::API_KEY;
    let error = json!({ "error": { "message": format!("The key {key} may not do that"), "code": "x" } });
    fixture.provider.set_submission(FakeSubmission::Refused(400, error));
    fixture.seed().await;
    fixture.until("SELECT count(*) FROM jobs WHERE state = 'failed'", 3).await;
    fixture.until(OPEN, 0).await;
    assert!(!fixture.db.dump().await.contains(key));
}

#[tokio::test]
async fn a_batch_that_never_ends_is_given_up_after_three_days() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    fixture.db.run("UPDATE batches SET submitting_at = now() - interval '73 hours'").await;
    fixture.pass_time().await;
    fixture.until("SELECT count(*) FROM batches WHERE outcome = 'lost'", 1).await;
    assert!(fixture.provider.batches()[0].cancel_requested);
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.provider.batches()[1].requests.len(), 3, "the jobs wait for the next batch");
}
