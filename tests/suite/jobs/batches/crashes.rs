//! Servers that die between any two steps of a batch.

use super::*;

/// Lets another server finish what the last one began, and checks that everything was paid for once.
async fn finish_elsewhere(mut fixture: BatchFixture, what: &str) {
    let protocol = fixture.provider.protocol();
    fixture.provider.set_submission(FakeSubmission::Accepted);
    fixture.start_another().await;
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
    assert_eq!(fixture.provider.batches().len(), 1, "{protocol:?}: {what}: submitted once");
    fixture.provider.complete(0, &sample_spec(4));
    fixture.collect().await;
    for job in fixture.jobs().await {
        assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["accepted"]), "{what}: {job}");
    }
    assert_eq!(fixture.db.number("SELECT count(*) FROM batches").await, 1, "{protocol:?}: {what}");
    assert_eq!(fixture.db.number("SELECT spent FROM installation").await, 300, "{protocol:?}: {what}");
}

#[tokio::test]
async fn a_batch_that_was_reserved_by_a_server_that_died_is_submitted_by_another() {
    for protocol in PROTOCOLS {
        let mut fixture = BatchFixture::start(protocol).await;
        fixture.kill().await;
        fixture.seed().await;
        fixture.db.run(
            "INSERT INTO batches (id, provider, model_key, model_id, price_part, leased_until)
             VALUES ('00000000-0000-7000-8000-000000000000', 'somebody', 'tester', 'some-model-1', 0.5, now() + interval '1 hour');
             UPDATE jobs SET batch_id = '00000000-0000-7000-8000-000000000000'",
        )
        .await;
        finish_elsewhere(fixture, "after reserving").await;
    }
}

#[tokio::test]
async fn a_submission_that_was_lost_is_repeated() {
    for protocol in PROTOCOLS {
        let mut fixture = BatchFixture::start(protocol).await;
        // A batch of somebody else of another size.
        fixture.provider.set_submission(FakeSubmission::Lost);
        fixture.seed().await;
        while fixture.provider.submissions() == 0 {
            sleep(Duration::from_millis(20)).await;
        }
        fixture.kill().await;
        assert_eq!(fixture.db.number("SELECT count(*) FROM batches WHERE state = 'submitting'").await, 1);
        finish_elsewhere(fixture, "a lost submission").await;
    }
}

#[tokio::test]
async fn a_submission_that_arrived_is_found_again_and_not_repeated() {
    for protocol in PROTOCOLS {
        let mut fixture = BatchFixture::start(protocol).await;
        fixture.provider.set_submission(FakeSubmission::Unanswered);
        fixture.seed().await;
        while fixture.provider.batches().is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
        fixture.kill().await;
        // The lists of batches have several pages.
        for requests in [1, 7, 9] {
            fixture.provider.add_foreign_batch(requests);
        }
        fixture.provider.set_submission(FakeSubmission::Accepted);
        fixture.start_another().await;
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        assert_eq!(fixture.provider.submissions(), 1, "{protocol:?}");
        fixture.provider.complete(0, &sample_spec(4));
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT spent FROM installation").await, 300);
    }
}

#[tokio::test]
async fn a_submitted_batch_is_collected_by_another_server() {
    for protocol in PROTOCOLS {
        let mut fixture = BatchFixture::submitted(protocol).await;
        fixture.kill().await;
        finish_elsewhere(fixture, "after the submission").await;
    }
}

#[tokio::test]
async fn a_collection_that_was_cut_off_stores_each_answer_once() {
    for protocol in [FakeProtocol::OpenAi, FakeProtocol::Anthropic] {
        let mut fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.complete(0, &sample_spec(4));
        fixture.provider.hold_results(true);
        fixture.pass_time().await;
        fixture.until(READY, 1).await;
        fixture.kill().await;
        assert_eq!(fixture.db.number("SELECT count(*) FROM batches WHERE state = 'collecting'").await, 1);
        fixture.provider.hold_results(false);
        fixture.start_another().await;
        fixture.until(OPEN, 0).await;
        assert_eq!(fixture.db.number(READY).await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM attempts").await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT spent FROM installation").await, 300, "{protocol:?}");
        assert_eq!(fixture.provider.submissions(), 1);
    }
}

#[tokio::test]
async fn a_guess_at_somebody_elses_batch_costs_nothing_but_time() {
    let mut fixture = BatchFixture::start(FakeProtocol::Anthropic).await;
    fixture.provider.set_submission(FakeSubmission::Lost);
    fixture.seed().await;
    while fixture.provider.submissions() == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    fixture.kill().await;
    fixture.provider.add_foreign_batch(3);
    fixture.provider.set_submission(FakeSubmission::Accepted);
    fixture.start_another().await;
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted' AND is_guess", 1).await;

    fixture.provider.complete(0, &sample_spec(4));
    fixture.pass_time().await;
    fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted' AND NOT is_guess", 1).await;
    assert_eq!(fixture.db.number("SELECT count(*) FROM attempts").await, 0);
    fixture.provider.complete(1, &sample_spec(4));
    fixture.collect().await;
    assert_eq!(fixture.db.number(READY).await, 3);
    assert!(!fixture.provider.batches()[0].cancel_requested, "somebody else's batch must go on");
}

#[tokio::test]
async fn two_servers_submit_and_collect_once() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::start(protocol).await;
        let variables = fixture.catalog.variables(&[]);
        let (_server, other) = TestServer::start_with_app(fixture.db.pool.clone(), &variables).await;
        let other_working = work(&other);
        fixture.seed().await;
        other.worker.wake();
        fixture.until("SELECT count(*) FROM batches WHERE state = 'submitted'", 1).await;
        assert_eq!((fixture.provider.submissions(), fixture.provider.probes()), (1, 1), "{protocol:?}");
        fixture.provider.complete(0, &sample_spec(4));
        fixture.db.run(MAKE_DUE).await;
        fixture.app.worker.wake();
        other.worker.wake();
        fixture.until(OPEN, 0).await;
        assert_eq!(fixture.provider.downloads(), 1, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM attempts").await, 3);
        other_working.abort();
    }
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_batches() {
    let mut fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    fixture.app.worker.drain();
    (&mut fixture.working).await.unwrap();
    assert_eq!(fixture.db.number("SELECT count(*) FROM batches WHERE state = 'submitted'").await, 1);
    finish_elsewhere(fixture, "after a stop").await;
}
