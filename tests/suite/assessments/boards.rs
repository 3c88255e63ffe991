//! Boards: what stands on them, and in which order.

use serde_json::{Value, json};

use super::{AssessmentFixture, walker};
use crate::support::fake_agent::{AgentStep, FakeAgent};

impl AssessmentFixture {
    async fn board(&self, query: &str) -> Vec<Value> {
        let (status, board) = self.get(&format!("/api/agents/board?{query}")).await;
        assert_eq!(status, 200, "{board}");
        board["agents"].as_array().unwrap().clone()
    }

    async fn assess(&self, agent: &str, config: &Value) -> String {
        let id = self.ordered(agent, config).await;
        self.finished(&id).await;
        id
    }
}

/// An agent that ends each of its runs at once, so that whole categories are quick.
async fn refuser() -> FakeAgent {
    FakeAgent::start([AgentStep::Error(-32603, "not today")]).await
}

#[tokio::test]
async fn only_whole_categories_with_a_drawn_seed_and_the_usual_steps_of_known_agents_rank() {
    let fixture = AssessmentFixture::new(&[]).await;
    let (agent, stranger) = (refuser().await, refuser().await);
    fixture.add_agent("refuser", &agent).await;
    for config in [
        json!({ "task_category": ["motion"], "seed": 9 }),
        json!({ "task_category": ["motion"], "max_steps": 500 }),
        json!({ "tasks": ["craft_ladder"] }),
    ] {
        fixture.assess("refuser", &config).await;
    }
    fixture.assess(&stranger.url, &json!({ "task_category": ["motion"] })).await;
    assert_eq!(fixture.board("category=motion").await, Vec::<Value>::new());

    let id = fixture.assess("refuser", &json!({ "task_category": ["motion"], "max_steps": 600 })).await;
    for board in [fixture.board("category=motion").await, fixture.board("").await] {
        let row = &board[0];
        assert_eq!((board.len(), &row["rank"], &row["key"]), (1, &json!(1), &json!("refuser")));
        assert_eq!((&row["total"], &row["maxTotal"], &row["tasks"]), (&json!(0.0), &json!(40.0), &json!(4)));
        assert_eq!(
            (&row["band"], &row["tries"], &row["assessment"]),
            (&json!("struggling"), &json!(1), &json!(id))
        );
    }
    assert_eq!(fixture.board("category=crafting").await, Vec::<Value>::new());
    assert_eq!(fixture.board("category=motion&assisted=true").await, Vec::<Value>::new());
    assert_eq!(fixture.board("category=motion&revision=mcu-1-code").await, Vec::<Value>::new());
    assert_eq!(fixture.get("/api/agents/board?category=flying").await.0, 400);
}

#[tokio::test]
async fn the_best_of_an_agents_tries_counts_and_a_new_version_begins_anew() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = refuser().await;
    fixture.add_agent("refuser", &agent).await;
    let config = json!({ "task_category": ["motion"] });
    let first = fixture.assess("refuser", &config).await;
    fixture.assess("refuser", &config).await;
    let board = fixture.board("category=motion").await;
    assert_eq!(
        (&board[0]["tries"], &board[0]["assessment"]),
        (&json!(2), &json!(first)),
        "the earlier one stays"
    );

    fixture.db.run("UPDATE board_entries SET total = -1").await;
    let better = fixture.assess("refuser", &config).await;
    let board = fixture.board("category=motion").await;
    assert_eq!((&board[0]["tries"], &board[0]["assessment"]), (&json!(3), &json!(better)));

    agent.change_card(|card| card["version"] = json!("2"));
    let newer = fixture.assess("refuser", &config).await;
    let board = fixture.board("category=motion").await;
    assert_eq!((board.len(), &board[0]["version"]), (1, &json!("2")));
    assert_eq!((&board[0]["tries"], &board[0]["assessment"]), (&json!(1), &json!(newer)));
}

#[tokio::test]
async fn agents_are_ranked_by_total_then_tasks_then_the_earlier_one() {
    let fixture = AssessmentFixture::new(&[]).await;
    let agent = walker().await;
    let assessment =
        fixture.assess(&agent.url, &json!({ "tasks": ["craft_ladder"], "max_steps": 1, "seed": 5 })).await;
    let entry = |key: &str, total: f64, tasks: i64, at: &str| {
        format!(
            "INSERT INTO agents (key, name, url) VALUES ('{key}', '{key}', 'http://{key}.example');
             INSERT INTO board_entries (category, agent_key, url, version, world, revision, judge, assisted,
                 assessment_id, tasks, total, max, ended_at)
             VALUES ('motion', '{key}', 'http://{key}.example', '1', '{}', 'mcu-1', NULL, false, '{assessment}', {tasks},
                 {total}, 40, '{at}')",
            world::ENGINE
        )
    };
    for sql in [
        entry("late", 30.0, 4, "2026-01-02"),
        entry("early", 30.0, 4, "2026-01-01"),
        entry("fewer", 30.0, 3, "2026-01-01"),
        entry("best", 37.0, 2, "2026-01-03"),
    ] {
        for statement in sql.split(';') {
            fixture.db.run(statement).await;
        }
    }
    let board = fixture.board("category=motion").await;
    let order: Vec<_> =
        board.iter().map(|row| (row["key"].as_str().unwrap(), row["rank"].as_i64().unwrap())).collect();
    assert_eq!(order, [("best", 1), ("early", 2), ("late", 3), ("fewer", 4)]);
    assert_eq!((&board[0]["band"], &board[1]["band"]), (&json!("expert"), &json!("proficient")));
}
