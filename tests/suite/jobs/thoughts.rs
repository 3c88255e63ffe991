//! Thoughts that leak into an answer: a draft in them is never the build.

use serde_json::{Value, json};

use super::{JobsFixture, outcomes};
use crate::support::db::TestDb;
use crate::support::{
    FakePart, FakeProtocol, FakeProvider, FakeResponse, TestCatalog, TestServer, sample_spec,
};

/// A spec with more entries than the one that is the answer.
fn draft() -> String {
    let boxes: Vec<Value> = (0..9)
        .map(|y| json!({ "x1": 1, "y1": y, "z1": 1, "x2": 30, "y2": y, "z2": 30, "type": "stone" }))
        .collect();
    json!({ "version": "1.0", "boxes": boxes }).to_string()
}

/// 19 by 19 columns, as high as the sample is.
const BLOCKS: usize = 19 * 19 * 8;

async fn fixture(protocol: FakeProtocol, answers: Vec<FakeResponse>) -> JobsFixture {
    let provider = FakeProvider::with_responses(protocol, answers).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    JobsFixture::from_parts(db, provider, server).await
}

fn whole(protocol: FakeProtocol, text: &str) -> FakeResponse {
    // A leaked tag may come in two pieces.
    let (first, second) = text.split_at(text.rfind("</").map_or(1, |at| at + 3));
    protocol.answer(&[FakePart::Text(first), FakePart::Text(second), FakePart::Done])
}

async fn block_count(fixture: &JobsFixture) -> Value {
    let job = fixture.run_job().await;
    assert_eq!((&job["state"], outcomes(&job)), (&json!("ready"), vec!["accepted"]), "{job}");
    job["blockCount"].clone()
}

#[tokio::test]
async fn a_draft_in_thoughts_that_leak_is_not_the_build_at_any_provider() {
    for protocol in FakeProtocol::ALL {
        for (open, close) in [("<think>", "</think>"), ("", "</think>"), ("<Thinking>", "</Thinking>")] {
            let text = format!("{open}First try:\n{}\nBetter:{close}\n{}", draft(), sample_spec(4));
            let fixture = fixture(protocol, vec![whole(protocol, &text)]).await;
            assert_eq!(block_count(&fixture).await, BLOCKS, "{protocol:?} {open}");
        }
    }
}

#[tokio::test]
async fn a_spec_in_thoughts_is_taken_if_none_follows() {
    let protocol = FakeProtocol::Compatible;
    let text = format!("<think>{}</think>\nThat is it.", sample_spec(4));
    let fixture = fixture(protocol, vec![whole(protocol, &text)]).await;
    assert_eq!(block_count(&fixture).await, BLOCKS);
}

#[tokio::test]
async fn a_tag_within_the_spec_hides_nothing() {
    let protocol = FakeProtocol::Compatible;
    let spec = sample_spec(4).replacen('{', r#"{"plan":"I <think> so </think>, {","#, 1);
    let fixture = fixture(protocol, vec![whole(protocol, &spec)]).await;
    assert_eq!(block_count(&fixture).await, BLOCKS);
}

#[tokio::test]
async fn what_is_wrong_with_the_spec_after_thoughts_is_mended_and_the_draft_is_not_taken() {
    let protocol = FakeProtocol::Compatible;
    let broken = sample_spec(4).replace("\"x2\":20", "\"x2\":20.5");
    let first = whole(protocol, &format!("<think>{}</think>{broken}", draft()));
    let fixture = fixture(protocol, vec![first, whole(protocol, &sample_spec(4))]).await;
    let job = fixture.run_job().await;
    assert_eq!((outcomes(&job), &job["blockCount"]), (vec!["refused", "accepted"], &json!(BLOCKS)), "{job}");
    let repair = fixture.provider.requests()[1].body.to_string();
    assert!(repair.contains("20.5") && !repair.contains("<think>"), "{repair}");
}

#[tokio::test]
async fn a_draft_in_an_answer_that_was_cut_in_the_middle_of_a_thought_is_not_taken() {
    let protocol = FakeProtocol::Compatible;
    for cut in [format!("<think>{}", draft()), format!("{}</think>\n", draft())] {
        let responses = vec![
            protocol.answer(&[FakePart::Text(&cut), FakePart::Truncated]),
            whole(protocol, &sample_spec(4)),
        ];
        let fixture = fixture(protocol, responses).await;
        let job = fixture.run_job().await;
        let ended = (outcomes(&job), &job["blockCount"]);
        assert_eq!(ended, (vec!["failed", "accepted"], &json!(BLOCKS)), "{job}");
    }
}

#[tokio::test]
async fn a_draft_is_not_found_when_a_cut_answer_is_parsed_again_either() {
    let protocol = FakeProtocol::Compatible;
    let cut = format!("<think>{}", draft());
    let responses = (0..3).map(|_| protocol.answer(&[FakePart::Text(&cut), FakePart::Truncated]));
    let fixture = fixture(protocol, responses.collect()).await;
    let job = fixture.run_job().await;
    assert_eq!(job["code"], "truncated", "{job}");
    let path = format!("/api/admin/jobs/{}/reparse", job["id"].as_str().unwrap());
    let again = fixture.admin.post(&path, "").await.json();
    assert_eq!(again["ok"], false, "{again}");
}

/// Whoever uploads a text has written all of it.
#[tokio::test]
async fn in_what_people_upload_nothing_is_hidden() {
    let fixture = JobsFixture::without_worker().await;
    let text = format!("<think>{}</think>{}", draft(), sample_spec(4));
    let checked = fixture.admin.post("/api/check", text).await.json();
    assert_eq!(checked["blockCount"], 30 * 30 * 9, "{checked}");
}

#[tokio::test]
async fn minimax_is_asked_to_keep_thoughts_apart() {
    let protocol = FakeProtocol::Compatible;
    let provider = FakeProvider::with_responses(protocol, vec![whole(protocol, &sample_spec(4))]).await;
    let catalog = TestCatalog::new(&provider, &["tester"], &["shed"]);
    let db = TestDb::new().await;
    let server = TestServer::start_with_worker(db.pool.clone(), &catalog.variables(&[])).await;
    let fixture = JobsFixture::from_parts(db, provider, server).await;
    fixture.db.run("UPDATE models SET model_id = 'MiniMax-M2.7', edited_at = now()").await;
    assert_eq!(block_count(&fixture).await, BLOCKS);
    assert_eq!(fixture.provider.requests()[0].body["reasoning_split"], true);
}
