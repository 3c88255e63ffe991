//! What judges have said: their log, how good they are, and where that is shown.

use std::process::Command;

use serde_json::Value;
use uuid::Uuid;

use super::{LadderFixture, busy_ladder, small_ladder};
use crate::support::judgements::{insert_judge_vote, insert_person_scores, insert_scores};
use crate::support::{assert_fits_everywhere, open_page};

const MODELS: [&str; 5] = ["elm", "fir", "ash", "oak", "yew"];
const PROMPTS: [&str; 5] = ["castle", "owl", "fox", "tower", "tram"];

/// What no page of an open matchup may contain.
const TELLTALE: &str = "The roof has real shingles and the gate has hinges, which nobody asked for";

async fn build(fixture: &LadderFixture, prompt: &str, model: &str) -> Uuid {
    sqlx::query_scalar("SELECT id FROM builds WHERE prompt_id = $1 AND model_key = $2")
        .bind(prompt)
        .bind(model)
        .fetch_one(&fixture.db.pool)
        .await
        .unwrap()
}

/// Two judges and some people: elm mostly sees what voters see, oak often chooses the left.
async fn judged_ladder() -> LadderFixture {
    let fixture = busy_ladder().await;
    fixture
        .execute("UPDATE builds SET block_count = 400 + 100 * length(prompt_id) + 37 * ascii(model_key)")
        .await;
    let pool = &fixture.db.pool;
    for (number, prompt) in PROMPTS.iter().enumerate() {
        let mut builds = Vec::new();
        for model in MODELS {
            builds.push(build(&fixture, prompt, model).await);
        }
        for (place, id) in builds.iter().enumerate() {
            let swing = ((3 * number + 7 * place) % 5) as f64 / 4.0;
            let score = 8.5 - 1.3 * place as f64;
            insert_scores(pool, "elm", *id, [score, score + swing, score - swing, 3.0 + swing], TELLTALE)
                .await;
            let score = 6.0 + swing - 0.4 * ((place + number) % 5) as f64;
            insert_scores(pool, "oak", *id, [score, score + 1.0, 9.0 - swing, 4.0], TELLTALE).await;
            for person in 0..(place + number) % 4 {
                let score = 7.0 - place as f64 + person as f64 / 2.0;
                let voter = Uuid::from_u128(person as u128 + 1);
                insert_person_scores(pool, voter, *id, [score; 4], "My own words", None).await;
            }
        }
        for first in 0..5 {
            for second in first + 1..5 {
                let dice = (number + 2 * first + 3 * second) % 5;
                for (left, right) in [(first, second), (second, first)] {
                    let sides = [builds[left], builds[right]];
                    let better = if left < right { "A" } else { "B" };
                    let worse = if left < right { "B" } else { "A" };
                    let elm = if dice == 4 { "TIE" } else { better };
                    insert_judge_vote(pool, "elm", sides, elm, TELLTALE).await;
                    let oak = match dice {
                        0 | 1 => "A",
                        2 => worse,
                        _ => better,
                    };
                    insert_judge_vote(pool, "oak", sides, oak, TELLTALE).await;
                }
            }
        }
    }
    fixture
}

impl LadderFixture {
    async fn text(&self, path: &str) -> String {
        let answer = self.server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap()
    }

    async fn log_lines(&self, path: &str) -> Vec<Value> {
        self.text(path).await.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn the_log_has_all_judgements_in_one_order_and_nothing_about_people() {
    let fixture = small_ladder().await;
    let pool = &fixture.db.pool;
    let (elm, fir) = (build(&fixture, "castle", "elm").await, build(&fixture, "castle", "fir").await);
    let person = Uuid::new_v4();
    insert_scores(pool, "ash", elm, [8.0, 7.0, 6.0, 5.0], TELLTALE).await;
    insert_judge_vote(pool, "ash", [elm, fir], "A", TELLTALE).await;
    insert_person_scores(pool, person, elm, [9.0; 4], "My own words", None).await;
    insert_person_scores(pool, Uuid::new_v4(), elm, [0.0; 4], "Spam", Some("over_budget")).await;
    insert_judge_vote(pool, "ash", [fir, elm], "B", TELLTALE).await;

    let lines = fixture.log_lines("/api/judgements.jsonl").await;

    let kinds: Vec<_> =
        lines.iter().map(|line| (line["kind"].clone(), line["judge"]["key"].clone())).collect();
    let expected =
        [("scores", "ash"), ("pair", "ash"), ("scores", "people"), ("scores", "people"), ("pair", "ash")];
    assert_eq!(kinds, expected.map(|(kind, key)| (kind.into(), key.into())));
    assert!(lines.is_sorted_by_key(|line| line["id"].as_i64().unwrap()));
    assert_eq!(lines[0]["evidence"]["task_progress"], TELLTALE);
    assert_eq!(lines[0]["scores"]["efficiency"], 6.0);
    assert_eq!(lines[1]["choice"], "A");
    assert_eq!(lines[1]["reason"], TELLTALE);
    assert_eq!((&lines[2]["exclusion"], &lines[3]["exclusion"]), (&Value::Null, &"over_budget".into()));
    let text = fixture.text("/api/judgements.jsonl").await;
    for secret in [person.to_string(), "My own words".into(), "Spam".into(), elm.to_string(), "0707".into()] {
        assert!(!text.contains(&secret), "the log contains {secret}");
    }

    let rest = format!("/api/judgements.jsonl?after={}", lines[1]["id"]);
    assert_eq!(fixture.log_lines(&rest).await, lines[2..]);
    let csv = fixture.text("/api/judgements.csv").await;
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    assert!(
        rows[0].ends_with(&["exclusion", "decision"]) && rows[4].ends_with(&["over_budget", ""]),
        "{csv}"
    );
    let ids: Vec<_> = rows[1..].iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(ids, lines.iter().map(|line| line["id"].to_string()).collect::<Vec<_>>());
    assert_eq!(fixture.server.get("/api/judgements.jsonl?after=x").send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn a_long_log_is_read_in_pages_and_misses_nothing() {
    let fixture = judged_ladder().await;
    let rows = "SELECT (SELECT count(*) FROM judgements) + (SELECT count(*) FROM judge_votes)";
    let lines = fixture.log_lines("/api/judgements.jsonl").await;
    assert_eq!(lines.len() as i64, fixture.db.number(rows).await);
    assert!(lines.is_sorted_by(|one, next| one["id"].as_i64() < next["id"].as_i64()));
}

#[tokio::test]
async fn the_two_logs_give_the_numbers_of_the_page() {
    let fixture = judged_ladder().await;
    let folder = tempfile::tempdir().unwrap();
    for log in ["judgements.jsonl", "votes.jsonl"] {
        std::fs::write(folder.path().join(log), fixture.text(&format!("/api/{log}")).await).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .args(["judges", "--json", "--from", "judgements.jsonl", "votes.jsonl"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let computed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = fixture.api("/api/judges").await;
    let (computed, shown) = (computed["judges"].as_array().unwrap(), shown["judges"].as_array().unwrap());
    assert_eq!((computed.len(), shown.len()), (3, 3));
    for (computed, shown) in computed.iter().zip(shown) {
        for (measure, value) in computed.as_object().unwrap() {
            assert_near(value, &shown[measure], &format!("{} of {}", measure, computed["judge"]["key"]));
        }
    }
    let elm = &shown[0];
    assert_eq!((&elm["votes"], &elm["judgements"]), (&100.into(), &25.into()));
    assert!(elm["agreement"]["share"]["value"].as_f64() > shown[1]["agreement"]["share"]["value"].as_f64());
    assert!(elm["rankCorrelation"]["value"].as_f64().unwrap() > 0.8, "{elm:#}");
    assert!(shown[1]["left"]["low"].as_f64().unwrap() > 0.5, "oak leans left");
}

/// Sums are made in different orders, so the last digits may differ.
fn assert_near(one: &Value, other: &Value, what: &str) {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() < 1e-6, "{what}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{what}");
            a.iter().zip(b).for_each(|(a, b)| assert_near(a, b, what));
        }
        (Value::Object(a), Value::Object(_)) => {
            a.iter().for_each(|(key, a)| assert_near(a, &other[key], &format!("{what}, {key}")));
        }
        _ => assert_eq!(one, other, "{what}"),
    }
}

#[tokio::test]
async fn nothing_that_belongs_to_an_open_matchup_has_a_judgement() {
    let fixture = judged_ladder().await;
    let voter = fixture.server.voter();
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    let mut paths = vec!["/".to_owned(), "/api/arena/matchup".to_owned(), "/me".to_owned()];
    paths.push(format!("/matchups/{}", matchup["id"].as_str().unwrap()));
    for side in ["a", "b"] {
        let address = matchup[side]["build"]["url"].as_str().unwrap();
        paths.extend([address.to_owned(), format!("{address}/image?size=64")]);
    }
    for path in paths {
        let answer = voter.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains(TELLTALE), "{path} says what a judge has said");
    }
    assert!(!matchup.to_string().to_lowercase().contains("judg"), "{matchup:#}");
}

#[tokio::test]
async fn judgements_of_a_withheld_build_are_nowhere() {
    let fixture = judged_ladder().await;
    let castle = build(&fixture, "castle", "elm").await;
    let before = fixture.log_lines("/api/judgements.jsonl").await;
    let log_id: Uuid = sqlx::query_scalar("SELECT log_id FROM builds WHERE id = $1")
        .bind(castle)
        .fetch_one(&fixture.db.pool)
        .await
        .unwrap();
    assert!(fixture.text("/api/judgements.jsonl").await.contains(&log_id.to_string()));
    fixture.execute("UPDATE prompts SET held_out = true WHERE id = 'castle'").await;
    fixture.execute("UPDATE builds SET withheld = true WHERE prompt_id = 'castle'").await;

    let after = fixture.log_lines("/api/judgements.jsonl").await;
    assert!(after.len() < before.len() && !after.is_empty());
    assert!(after.iter().all(|line| line["prompt_id"] != "castle"));
    for path in ["/api/judgements.csv", "/api/judges", "/judges", "/models/elm", "/builds"] {
        let text = fixture.text(path).await;
        for name in [castle.to_string(), log_id.to_string()] {
            assert!(!text.contains(&name), "{path} names a withheld build");
        }
    }
    let elm = &fixture.api("/api/judges").await["judges"][0];
    assert_eq!(
        (&elm["judgements"], &elm["scoredBuilds"], &elm["votes"]),
        (&20.into(), &20.into(), &80.into())
    );
    assert_eq!(fixture.server.get(&format!("/builds/{castle}")).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn pages_say_what_judges_have_said() {
    let fixture = small_ladder().await;
    let castle = build(&fixture, "castle", "elm").await;
    let pages = [format!("/builds/{castle}"), "/models/elm".to_owned(), "/judges".to_owned()];
    let words =
        ["Nobody has judged this build yet", "No judge has scored its builds yet", "No judgements yet"];
    for (page, words) in pages.iter().zip(words) {
        let html = fixture.html(page).await;
        assert!(html.contains(words), "{page} has no {words:?}: {html}");
    }
    assert!(fixture.html("/judges").await.contains("buildoff judge --model"));

    let pool = &fixture.db.pool;
    insert_scores(pool, "ash", castle, [8.0, 7.0, 6.0, 5.0], "Its <b>towers</b> stand apart").await;
    insert_person_scores(pool, Uuid::new_v4(), castle, [9.0; 4], "My own words", None).await;
    insert_person_scores(pool, Uuid::new_v4(), castle, [6.0; 4], "My own words", None).await;
    insert_person_scores(pool, Uuid::new_v4(), castle, [0.0; 4], "Spam", Some("over_budget")).await;

    let html = fixture.html(&pages[0]).await;
    assert!(html.contains("<h3>Ash <strong>7.2</strong></h3>"), "{html}");
    assert!(html.contains("<h3>2 people <strong>7.5</strong></h3>"), "{html}");
    assert!(html.contains("href=\"/judges#task_progress\""), "{html}");
    assert!(html.contains("Its &#60;b&#62;towers&#60;/b&#62; stand apart") && !html.contains("My own words"));
    let html = fixture.html(&pages[1]).await;
    assert!(html.contains("As a table") && html.contains("People"), "{html}");
    let html = fixture.html(&pages[2]).await;
    assert!(html.contains(">Ash</a>") && html.contains("–") && html.contains("judgements.jsonl"), "{html}");
    assert!(fixture.html("/leaderboard").await.contains("href=\"/judges\""));
    assert!(fixture.html("/about").await.contains("href=\"/judges\""));
}

#[tokio::test]
async fn pages_with_judgements_fit_every_size_and_theme() {
    let empty = small_ladder().await;
    let castle = build(&empty, "castle", "elm").await;
    for (name, path) in
        [("judges-none", "/judges".to_owned()), ("build-unjudged", format!("/builds/{castle}"))]
    {
        let mut page = open_page(&empty.server.url_for(&path)).await;
        assert_fits_everywhere(&mut page, name).await;
    }
    insert_scores(&empty.db.pool, "ash", castle, [8.0, 7.0, 6.0, 5.0], TELLTALE).await;
    let mut page = open_page(&empty.server.url_for("/judges")).await;
    assert_fits_everywhere(&mut page, "judges-few").await;

    let fixture = judged_ladder().await;
    let tower = build(&fixture, "tower", "yew").await;
    for (name, path) in [
        ("judges-many", "/judges".to_owned()),
        ("build-judged", format!("/builds/{tower}")),
        ("model-judged", "/models/fir".to_owned()),
    ] {
        let mut page = open_page(&fixture.server.url_for(&path)).await;
        assert_fits_everywhere(&mut page, name).await;
    }
}
