//! `buildoff judge`.

use std::process::{Command, Output};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::super::following::{FollowingCommand, gated, until_asked};
use super::{JudgingFixture, SCORES};
use crate::support::{FakeProtocol, FakeProvider};

async fn run(fixture: &JudgingFixture, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
    command.arg("judge").args(arguments).env("DATABASE_URL", fixture.db.url());
    command.envs(fixture.catalog.variables(&[]));
    let Output { status, stdout, stderr } = spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let [out, err] = [stdout, stderr].map(|printed| String::from_utf8(printed).unwrap());
    (status.code().unwrap(), out, err)
}

#[tokio::test(flavor = "multi_thread")]
async fn judge_tells_what_it_would_cost_then_follows_and_sums_up() {
    let fixture = JudgingFixture::always(SCORES).await;
    let (code, printed, error) = run(&fixture, &["--model", "judge", "--dry-run", "--limit", "2"]).await;
    assert_eq!(code, 0, "{printed}{error}");
    for part in [
        "judge has judged 0 of 3 builds, 0 failed",
        "would judge barn by maker",
        "9 pictures",
        "estimated cost: $0.0",
    ] {
        assert!(printed.contains(part), "{part:?} must be printed: {printed}");
    }
    let (code, printed, error) = run(&fixture, &["--model", "judge", "--limit", "2"]).await;
    assert_eq!(code, 0, "{printed}{error}");
    for part in [
        "2 builds to judge: 2 at Somebody",
        "judge judges barn, by maker: 7.5 of 10 (1 attempt",
        "judge has judged 2 of 3 builds, 0 failed",
        "2 builds ended, which cost $0.00",
    ] {
        assert!(printed.contains(part), "{part:?} must be printed: {printed}");
    }
    let (code, printed, _) = run(&fixture, &["--model", "judge", "--json"]).await;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["judged"], &printed["stopped"]), (0, &json!(3), &json!(false)), "{printed}");
    assert_eq!(fixture.provider.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn judge_ends_with_2_for_a_model_that_sees_no_pictures_and_with_1_if_an_answer_failed() {
    let fixture = JudgingFixture::always("No.").await;
    let (code, _, error) = run(&fixture, &["--model", "maker"]).await;
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("Model maker does not see pictures, so it cannot judge builds."), "{error}");
    let (code, printed, _) = run(&fixture, &["--model", "judge", "--prompt", "barn"]).await;
    assert_eq!(code, 1, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn judge_that_is_stopped_keeps_the_answer_that_streams_and_says_what_stays_queued() {
    let gate = Arc::new(Notify::new());
    let waiting = Arc::clone(&gate);
    let handler = move |_: &_| gated(SCORES, Arc::clone(&waiting));
    let provider = FakeProvider::with_handler(FakeProtocol::Compatible, handler).await;
    let fixture = JudgingFixture::start(provider, false).await;
    let JudgingFixture { db, catalog, admin, provider, .. } = &fixture;
    let variables = catalog.variables(&[("AI_AT_ONCE", "1")]);
    let command = FollowingCommand::start("judge", db, &variables, &["--model", "judge"]);
    until_asked(provider).await;
    admin.enqueue("shed", "judge").await;
    command.interrupt();
    command.until_logged("waiting for an answer to end").await;
    gate.notify_one();
    let (code, printed) = command.end().await;
    assert_eq!(code, 130, "{printed}");
    for part in [
        "judge has judged 1 of 3 builds, 0 failed",
        "1 build ended, which cost $",
        "Stopped. 2 builds still queued or running. A running Buildoff goes on with them, or else the next that starts.",
        "To drop them: buildoff cancel --kind judge --model judge",
    ] {
        assert!(printed.contains(part), "{part:?} in {printed}");
    }
    let mut cancel = Command::new(env!("CARGO_BIN_EXE_buildoff"));
    cancel
        .args(["cancel", "--kind", "judge", "--model", "judge"])
        .env("DATABASE_URL", db.url())
        .envs(variables);
    let cancelled = spawn_blocking(move || cancel.output().unwrap()).await.unwrap();
    assert!(String::from_utf8_lossy(&cancelled.stdout).contains("2 jobs cancelled."), "{cancelled:?}");
    let left = "SELECT count(*) FROM jobs WHERE state = 'queued' AND kind = 'build'";
    assert_eq!(
        (db.number(left).await, provider.requests().len()),
        (1, 1),
        "the judge's own build is still wanted"
    );
}
