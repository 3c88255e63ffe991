//! What providers send back: answers, errors, nothing, and what nobody asked for.

use super::*;

fn error_of(protocol: FakeProtocol, status: u16, message: &str) -> FakeResult {
    let error = match protocol {
        FakeProtocol::Anthropic => {
            let kind = if status == 400 { "invalid_request_error" } else { "api_error" };
            json!({ "type": kind, "message": message })
        }
        FakeProtocol::Google => json!({ "code": if status == 400 { 3 } else { 14 }, "message": message }),
        _ => json!({ "message": message, "type": "invalid_request_error" }),
    };
    FakeResult::Error(status, error)
}

#[tokio::test]
async fn requests_that_expire_wait_for_the_next_batch_and_answers_that_came_count() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.end(0, FakeBatchEnd::Expired, |number, _| {
            if number == 0 { FakeResult::Answer(sample_spec(4)) } else { FakeResult::Unanswered }
        });
        fixture.collect_and_submit_again().await;
        assert_eq!(fixture.db.number(READY).await, 1, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM attempts").await, 1, "{protocol:?}");
        assert_eq!(fixture.provider.batches()[1].requests.len(), 2, "{protocol:?}");
        fixture.provider.complete(1, &sample_spec(4));
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT spent FROM installation").await, 300, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_job_that_expires_again_and_again_fails() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    fixture.db.run("UPDATE jobs SET setbacks = 5").await;
    fixture.provider.end(0, FakeBatchEnd::Expired, |_, _| FakeResult::Unanswered);
    fixture.collect().await;
    for job in fixture.jobs().await {
        assert_eq!((&job["state"], &job["code"]), (&json!("failed"), &json!("expired")), "{job}");
        assert_eq!(job["cost"], json!(0.0), "{job}");
    }
}

#[tokio::test]
async fn an_error_of_one_request_ends_only_its_job() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.end(0, FakeBatchEnd::Completed, |number, _| match number {
            0 => error_of(protocol, 400, "That will not do."),
            _ => FakeResult::Answer(sample_spec(4)),
        });
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 2, "{protocol:?}");
        let jobs = fixture.jobs().await;
        let failed = jobs.iter().find(|job| job["state"] == "failed").unwrap();
        assert_eq!((&failed["code"], &failed["cost"]), (&json!("bad_request"), &json!(0.0)), "{failed}");
        assert!(failed["error"].as_str().unwrap().contains("That will not do."), "{failed}");
    }
}

#[tokio::test]
async fn a_request_that_met_an_overloaded_provider_waits_for_the_next_batch() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.end(0, FakeBatchEnd::Completed, |number, _| match number {
            0 => error_of(protocol, 500, "Something went wrong."),
            _ => FakeResult::Answer(sample_spec(4)),
        });
        fixture.collect_and_submit_again().await;
        assert_eq!(fixture.provider.batches()[1].requests.len(), 1, "{protocol:?}");
        fixture.provider.complete(1, &sample_spec(4));
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 3, "{protocol:?}");
        let interrupted = "SELECT count(*) FROM attempts WHERE outcome = 'interrupted' AND cost = 0";
        assert_eq!(fixture.db.number(interrupted).await, 1, "{protocol:?}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_costs_half_and_is_asked_for_again() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    let mut cut = FakeProtocol::OpenAi.document("{ \"boxes\": [");
    cut["status"] = json!("incomplete");
    cut["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    fixture.provider.end(0, FakeBatchEnd::Completed, |_, _| FakeResult::Document(cut.clone()));
    fixture.collect_and_submit_again().await;
    let again = fixture.provider.batches()[1].requests[0].1.to_string();
    assert!(again.contains("cut off before its end"), "the request must ask for a shorter answer: {again}");
    let job = &fixture.jobs().await[0];
    assert_eq!((&job["attempts"][0]["code"], &job["cost"]), (&json!("truncated"), &json!(0.0001)), "{job}");
}

#[tokio::test]
async fn cancelled_jobs_are_ignored_and_the_others_are_collected() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        let cancelled = fixture.provider.batches()[0].requests[0].0.clone();
        assert_eq!(fixture.admin.delete(&format!("/api/admin/jobs/{cancelled}")).await.status, 204);
        fixture.provider.complete(0, &sample_spec(4));
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 2, "{protocol:?}");
        let job = fixture.admin.job(&cancelled).await;
        assert_eq!((&job["state"], &job["attempts"]), (&json!("cancelled"), &json!([])), "{job}");
        assert!(!fixture.provider.batches()[0].cancel_requested);
    }
}

#[tokio::test]
async fn a_batch_whose_jobs_are_all_cancelled_is_cancelled_at_the_provider() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        assert_eq!(fixture.admin.delete("/api/admin/jobs").await.json()["cancelled"], 3);
        // At once, and not when it is looked at the next time.
        fixture.until(OPEN, 0).await;
        assert!(fixture.provider.batches()[0].cancel_requested, "{protocol:?}");
        assert_eq!(fixture.provider.downloads(), 0, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_batch_that_was_cancelled_at_the_provider_cancels_its_jobs() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.end(0, FakeBatchEnd::Cancelled, |number, _| {
            if number == 0 { FakeResult::Answer(sample_spec(4)) } else { FakeResult::Unanswered }
        });
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 1, "{protocol:?}");
        let cancelled = "SELECT count(*) FROM jobs WHERE state = 'cancelled' AND error_code = 'cancelled'";
        assert_eq!(fixture.db.number(cancelled).await, 2, "{protocol:?}");
        assert_eq!(fixture.provider.submissions(), 1, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_request_without_a_result_fails_and_is_not_paid_for_again() {
    for protocol in PROTOCOLS {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.end(0, FakeBatchEnd::Completed, |number, _| match number {
            // Neither an answer nor an error of this protocol.
            0 => FakeResult::Document(json!({})),
            _ => FakeResult::Answer(sample_spec(4)),
        });
        let unanswered = fixture.provider.batches()[0].requests[0].0.clone();
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 2, "{protocol:?}");
        let job = fixture.admin.job(&unanswered).await;
        assert_eq!((&job["state"], &job["code"]), (&json!("failed"), &json!("bad_answer")), "{job}");
        assert_eq!(fixture.provider.submissions(), 1, "{protocol:?}");
    }
}

#[tokio::test]
async fn results_that_nobody_asked_for_or_that_come_twice_are_left_out() {
    for protocol in [FakeProtocol::OpenAi, FakeProtocol::Anthropic] {
        let fixture = BatchFixture::submitted(protocol).await;
        fixture.provider.complete(0, &sample_spec(4));
        fixture.provider.repeat_entries(0);
        let long = "x".repeat(17 << 20);
        for line in [
            "no JSON",
            "",
            "{}",
            r#"{"custom_id": 7}"#,
            r#"{"custom_id": "../../jobs", "response": null, "error": null, "result": {"type": "expired"}}"#,
            long.as_str(),
        ] {
            fixture.provider.add_hostile_lines(line, 1);
        }
        let answer = FakeProtocol::OpenAi.document("of nobody");
        let response = json!({ "status_code": 200, "body": answer });
        let stranger = json!({
            "custom_id": uuid::Uuid::now_v7(), "response": response, "error": null,
            "result": { "type": "succeeded", "message": FakeProtocol::Anthropic.document("of nobody") },
        });
        fixture.provider.add_hostile_lines(stranger.to_string(), 2);
        fixture.collect().await;
        assert_eq!(fixture.db.number(READY).await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM attempts").await, 3, "{protocol:?}");
        assert_eq!(fixture.db.number("SELECT count(*) FROM builds").await, 3, "{protocol:?}");
    }
}

#[tokio::test]
async fn results_that_are_too_large_are_not_read_to_the_end() {
    let fixture = BatchFixture::submitted(FakeProtocol::Anthropic).await;
    fixture.provider.complete(0, &sample_spec(4));
    fixture.provider.add_hostile_lines("x".repeat(1 << 20), 300);
    fixture.collect().await;
    for job in fixture.jobs().await {
        assert_eq!((&job["state"], &job["code"]), (&json!("failed"), &json!("too_large")), "{job}");
    }
    assert_eq!(fixture.provider.submissions(), 1, "nothing is paid for again");
}

#[tokio::test]
async fn an_imported_build_stays_and_the_answer_is_kept() {
    let fixture = BatchFixture::submitted(FakeProtocol::OpenAi).await;
    // As if the import had not seen the job.
    fixture.db.run("UPDATE build_jobs SET prompt_id = 'arch' WHERE prompt_id = 'barn'").await;
    fixture.provider.complete(0, &sample_spec(4));
    fixture.collect().await;
    assert_eq!(fixture.db.number(READY).await, 2);
    let failed = "SELECT count(*) FROM jobs JOIN attempts ON job_id = id WHERE error_code = 'exists' AND outcome = 'accepted'";
    assert_eq!(fixture.db.number(failed).await, 1);
}
