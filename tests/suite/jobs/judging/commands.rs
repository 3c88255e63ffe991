//! `buildoff judge`.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{JudgingFixture, SCORES};

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
