//! How assessments are run: their results, and what happens if something stops in the middle.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use world::Terrains;
use world::record::Recording;

use super::{ASSESSMENTS, AssessmentFixture, short, sleeper, start_server, walker};
use crate::support::TestServerProcess;
use crate::support::db::TestDb;
use crate::support::fake_agent::{AgentStep, FakeAgent};

#[tokio::test]
async fn an_assessment_is_run_and_published_in_the_familys_shape() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = FakeAgent::start([AgentStep::Act(r#"{"craft": "oak_planks"}"#)]).await;
    let config = json!({ "task_category": "craft", "tasks": ["craft_oak_planks", "craft_ladder"], "max_steps": 6, "seed": 7 });
    let id = fixture.ordered(&agent.url, &config).await;
    let ended = fixture.finished(&id).await;
    let host = agent.url.strip_prefix("http://").unwrap();
    assert_eq!((&ended["agent"], &ended["host"], &ended["seed"]), (&Value::Null, &json!(host), &json!(7)));
    assert_eq!(ended["card"]["version"], "1");

    let file = fixture.result(&id).await;
    assert_eq!(file["participants"], json!({ "agent": host }));
    let result = &file["results"][0];
    assert_eq!(file["results"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&result["task_category"], &result["asked"], &result["num_tasks"], &result["max_score"]),
        (&json!(["crafting"]), &json!(["craft"]), &json!(2), &json!(20.0))
    );
    let planks = &result["task_metrics"]["craft_oak_planks"];
    assert_eq!(planks, &json!({ "sim_score": 10.0, "video_score": null, "total_score": 10.0 }));
    assert_eq!(result["total_score"], 10.0);
    assert_eq!(
        (&result["judge"], &result["seed"], &result["assisted"]),
        (&Value::Null, &json!(7), &json!(true))
    );
    assert_eq!(result["provenance"]["card"], ended["card"]["digest"]);
    assert_eq!((&result["revision"], &result["world"]), (&json!("mcu-1"), &json!(world::ENGINE)));

    for run in ended["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        assert_eq!(&fixture.get(&format!("/api/runs/{id}")).await.1, run);
        assert_eq!(
            (&run["steps"], &run["ending"], &run["unreadable"]),
            (&json!(6), &json!("finished"), &json!(0))
        );
        let recording = fixture.server.get(&format!("/api/runs/{id}/recording")).send().await.unwrap();
        let recording = Recording::read(&recording.bytes().await.unwrap()).unwrap();
        recording.replay(&Terrains::default(), |_| {}).unwrap();
        for (step, status) in [(0, 200), (6, 200), (7, 404)] {
            let frame = fixture.server.get(&format!("/api/runs/{id}/frames/{step}")).send().await.unwrap();
            assert_eq!(frame.status(), status);
            assert!(status == 404 || frame.bytes().await.unwrap().starts_with(b"RIFF"));
        }
    }
    let (_, listed) = fixture.get(&format!("{ASSESSMENTS}?category=crafting")).await;
    assert_eq!(listed["assessments"][0]["id"], id);
    assert_eq!(fixture.get(&format!("{ASSESSMENTS}?category=motion")).await.1["assessments"], json!([]));
}

#[tokio::test]
async fn two_assessments_with_one_seed_are_equal_to_the_byte_but_for_times() {
    let fixture = AssessmentFixture::new(&[]).await;
    let mut results = Vec::new();
    for _ in 0..2 {
        let agent = walker().await;
        let config = json!({ "task_category": ["motion"], "max_steps": 20, "seed": 11 });
        let id = fixture.ordered(&agent.url, &config).await;
        fixture.finished(&id).await;
        let mut file = fixture.result(&id).await;
        file["participants"]["agent"] = Value::Null;
        let result = &mut file["results"][0];
        result["provenance"] = Value::Null;
        let sql = format!("SELECT recording FROM runs WHERE assessment_id = '{id}' ORDER BY number");
        let recordings: Vec<Vec<u8>> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&fixture.db.pool).await.unwrap();
        assert_eq!(recordings.len(), 4);
        results.push((file.to_string(), recordings));
    }
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn a_drawn_seed_and_what_was_seen_are_secret_until_the_assessment_has_ended() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = FakeAgent::start([AgentStep::Act("{}")]).await;
    let slow = sleeper().await;
    let config = json!({ "tasks": ["craft_ladder", "craft_to_clock"], "max_steps": 4 });
    let id = fixture.ordered(&slow.url, &config).await;
    let running = fixture.wait_for(&id, |assessment| assessment["runs"][0]["state"] == "running").await;
    assert_eq!((&running["seed"], &running["seedIsDrawn"]), (&Value::Null, &json!(true)));
    let run = running["runs"][0]["id"].as_str().unwrap();
    for path in [
        format!("/api/runs/{run}/recording"),
        format!("/api/runs/{run}/frames/0"),
        format!("{ASSESSMENTS}/{id}/results.json"),
    ] {
        let (status, refused) = fixture.get(&path).await;
        assert_eq!((status, &refused["code"]), (409, &json!("not_published")), "{path}");
    }
    let other = fixture.ordered(&agent.url, &config).await;
    let ended = fixture.finished(&other).await;
    assert!(ended["seed"].as_u64().unwrap() >= 1000, "the seeds of solutions are never drawn");
}

#[tokio::test]
async fn an_agent_that_cannot_be_asked_fails_the_assessment_in_words() {
    let fixture = AssessmentFixture::new(&[]).await;
    let private = walker().await;
    private.change_card(|card| {
        card["supportedInterfaces"][0]["url"] = json!("http://169.254.169.254/latest");
    });
    for (url, words) in [("http://127.0.0.1:1", "card"), (&private.url, "169.254")] {
        let id = fixture.ordered(url, &short()).await;
        let ended = fixture.wait_for(&id, |assessment| assessment["endedAt"].is_string()).await;
        if ended["state"] == "failed" {
            assert!(ended["problem"].as_str().unwrap().contains(words), "{ended:#}");
        } else {
            // The card could be read, and its address could not be reached.
            assert_eq!(ended["runs"][0]["ending"], "refused", "{ended:#}");
            assert_eq!(ended["runs"][0]["steps"], 0);
        }
    }
}

#[tokio::test]
async fn whoever_watches_sees_each_change_until_the_end() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    let id = fixture.ordered(&agent.url, &short()).await;
    let watching = fixture.server.get(&format!("{ASSESSMENTS}/{id}/events")).send();
    let text = timeout(Duration::from_secs(30), async { watching.await.unwrap().text().await.unwrap() });
    let text = text.await.unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(events.last().unwrap(), &fixture.assessment(&id).await);
    assert_eq!(events.last().unwrap()["state"], "finished");
}

#[tokio::test]
async fn an_assessment_that_is_cancelled_stops_and_publishes_nothing() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = sleeper().await;
    let id = fixture.ordered(&agent.url, &short()).await;
    fixture.wait_for(&id, |assessment| assessment["runs"][0]["state"] == "running").await;
    assert_eq!(fixture.admin().delete(&format!("{ASSESSMENTS}/{id}")).await.status, 204);
    assert_eq!(fixture.assessment(&id).await["state"], "cancelled");
    assert_eq!(fixture.get(&format!("{ASSESSMENTS}/{id}/results.json")).await.0, 409);
    // The next one of the same agent is not held up.
    let other = fixture.ordered(&agent.url, &short()).await;
    fixture.wait_for(&other, |assessment| assessment["state"] == "running").await;
}

#[tokio::test]
async fn after_a_killed_server_another_goes_on_at_the_first_run_that_had_not_ended() {
    let db = TestDb::new().await;
    // Ready, and then silent from the second run on.
    let act = AgentStep::Act(super::WALK);
    let script = [vec![act.clone(); 6], vec![AgentStep::Never]].concat();
    let agent = FakeAgent::start(script).await;
    let mut killed = TestServerProcess::start(&db, &[]);
    let order = json!({
        "participants": { "agent": agent.url },
        "config": { "tasks": ["craft_ladder", "craft_to_clock", "look_at_the_sky"], "max_steps": 4, "seed": 7 }
    });
    let client = reqwest::Client::new();
    let ordered = client.post(format!("{}{ASSESSMENTS}", killed.url)).json(&order).send().await.unwrap();
    assert_eq!(ordered.status(), 202);
    let id = ordered.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    db.wait_until("EXISTS (SELECT FROM runs WHERE number = 2 AND state = 'running')").await;
    let first = db.number("SELECT extract(epoch FROM ended_at)::bigint FROM runs WHERE number = 1").await;
    killed.kill();

    agent.replace_script([act]);
    db.run("UPDATE assessments SET leased_until = now()").await;
    let server = start_server(&db, &[]).await;
    let fixture = AssessmentFixture { db, server };
    let ended = fixture.finished(&id).await;
    let ends: Vec<_> = ended["runs"].as_array().unwrap().iter().map(|run| &run["ending"]).collect();
    assert_eq!(ends, ["finished"; 3]);
    let again =
        fixture.db.number("SELECT extract(epoch FROM ended_at)::bigint FROM runs WHERE number = 1").await;
    assert_eq!(again, first, "the first run is not run again");
    assert_eq!(fixture.db.number("SELECT breaks::bigint FROM assessments").await, 1);
    assert_eq!(fixture.result(&id).await["results"][0]["num_tasks"], 3);
}

#[tokio::test]
async fn a_server_that_stops_gives_its_assessment_back_at_once() {
    let db = TestDb::new().await;
    let agent = sleeper().await;
    let first = AssessmentFixture { server: start_server(&db, &[]).await, db };
    let id = first.ordered(&agent.url, &short()).await;
    first.wait_for(&id, |assessment| assessment["runs"][0]["state"] == "running").await;
    let AssessmentFixture { db, server } = first;
    server.shut_down().await.unwrap();
    db.wait_until("EXISTS (SELECT FROM assessments WHERE state = 'queued')").await;
    agent.replace_script([AgentStep::Act(super::WALK)]);
    let second = AssessmentFixture { server: start_server(&db, &[]).await, db };
    second.finished(&id).await;
    assert_eq!(second.db.number("SELECT breaks::bigint FROM assessments").await, 0);
}

#[tokio::test]
async fn two_servers_share_assessments_and_assess_no_agent_twice_at_a_time() {
    let fixture = AssessmentFixture::new(&[]).await;
    let _other = start_server(&fixture.db, &[]).await;
    let agents = [walker().await, walker().await];
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(fixture.ordered(&agents[number % 2].url, &short()).await);
    }
    for id in &ids {
        fixture.finished(id).await;
    }
    for agent in &agents {
        // One message for the beginning and one for each of four steps, three times.
        assert_eq!(agent.requests().len(), 3 * 5);
    }
    let overlaps = "SELECT count(*) FROM assessments a JOIN assessments b ON a.url = b.url AND a.id < b.id \
        WHERE a.started_at < b.ended_at AND b.started_at < a.ended_at";
    assert_eq!(fixture.db.number(overlaps).await, 0);
}

#[tokio::test]
async fn an_agent_that_fails_in_every_way_still_gets_a_result() {
    let fixture = AssessmentFixture::new(&[("ASSESS_ANSWER_SECONDS", "1")]).await;
    let garbage = FakeAgent::start([AgentStep::Act("I would rather not.")]).await;
    let gone = FakeAgent::start([AgentStep::Act(super::WALK), AgentStep::Error(-32603, "gone")]).await;
    let refuses = FakeAgent::start([AgentStep::Error(-32603, "not today")]).await;
    for (agent, ending, words) in
        [(&garbage, "finished", ""), (&gone, "silent", "gone"), (&refuses, "refused", "not today")]
    {
        let config = json!({ "tasks": ["craft_ladder"], "max_steps": 20, "seed": 7 });
        let id = fixture.ordered(&agent.url, &config).await;
        let run = fixture.finished(&id).await["runs"][0].clone();
        assert_eq!(run["ending"], ending, "{run}");
        assert!(run["problem"].as_str().unwrap_or_default().contains(words), "{run}");
        let scores = fixture.result(&id).await["results"][0]["task_metrics"]["craft_ladder"].clone();
        assert_eq!(scores["total_score"], 0.0, "{scores}");
    }
}
