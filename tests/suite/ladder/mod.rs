//! The ladder and its pages, with a small set of models.

mod alarms;
mod decisions;
mod delay;
mod held_out;
mod judges;
mod pages;
mod ratings;
mod sizes_and_costs;

use std::time::Duration;

use buildoff::arena::builds::{self, BuildSlot, GenerationInfo, PackedBuild};
use buildoff::arena::{Arena, Choice, Mode, ReferencePolicy, Settings, Voter};
use serde_json::{Value, json};
use uuid::Uuid;
use voxel::{GridSize, Palette};

use crate::support::TestServer;
use crate::support::db::TestDb;

/// A server with the models, prompts and builds that a test has chosen.
struct LadderFixture {
    db: TestDb,
    server: TestServer,
    arena: Arena,
}

fn settings() -> Settings {
    Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() }
}

/// Models are given by key and provider, prompts by id and tag; every model has a build of every prompt.
async fn ladder(models: &[(&str, &str)], prompts: &[(&str, &str)]) -> LadderFixture {
    let db = TestDb::new().await;
    for (key, provider) in models {
        let name = key[..1].to_uppercase() + &key[1..];
        sqlx::query(
            "INSERT INTO models (key, provider, model_id, display_name) VALUES ($1, $2, $1 || '-1', $3)",
        )
        .bind(key)
        .bind(provider)
        .bind(name)
        .execute(&db.pool)
        .await
        .unwrap();
    }
    for (id, tag) in prompts {
        sqlx::query("INSERT INTO prompts (id, text, tags) VALUES ($1, 'a ' || $1, ARRAY[$2])")
            .bind(id)
            .bind(tag)
            .execute(&db.pool)
            .await
            .unwrap();
    }
    let mut connection = db.pool.acquire().await.unwrap();
    let build = json!({ "version": "1.0", "boxes": [{ "x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 6, "z2": 27, "type": "bricks" }] });
    let build = PackedBuild::read(build.to_string().as_bytes(), &settings(), 1 << 20).unwrap();
    for (model, _) in models {
        for (prompt, _) in prompts {
            let (prompt, model) = (prompt.parse().unwrap(), model.parse().unwrap());
            let slot = BuildSlot { prompt, model, settings: settings() };
            builds::store(&mut connection, &slot, &build, GenerationInfo::default(), false).await.unwrap();
        }
    }
    drop(connection);
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let arena = Arena::new(db.pool.clone(), settings(), ReferencePolicy::Auto, Duration::ZERO);
    LadderFixture { db, server, arena }
}

/// Three models, two prompts.
async fn small_ladder() -> LadderFixture {
    ladder(&[("elm", "north"), ("fir", "south"), ("ash", "south")], &[("castle", "house"), ("owl", "animal")])
        .await
}

impl LadderFixture {
    /// Opens a matchup of this pair with both builds fetched, as the arena does.
    async fn serve(&self, prompt: &str, a: &str, b: &str) -> (Voter, Uuid) {
        let (voter, matchup) = (Voter(Uuid::new_v4()), Uuid::new_v4());
        sqlx::query(
            "
            WITH opened AS (
                INSERT INTO open_matchups VALUES ($2, $1, now() + interval '30 minutes', now(), now())
            )
            INSERT INTO matchups
                (id, voter_id, settings, prompt_id, model_a, model_b, build_a, build_b, probability, pair)
            SELECT $1, $2, '32-simple-precise', $3, a.model_key, b.model_key, a.id, b.id, 0.5,
                pair_code('32-simple-precise', $3, a.model_key, b.model_key)
            FROM builds a, builds b
            WHERE a.prompt_id = $3 AND b.prompt_id = $3 AND a.model_key = $4 AND b.model_key = $5
            ",
        )
        .bind(matchup)
        .bind(voter.0)
        .bind(prompt)
        .bind(a)
        .bind(b)
        .execute(&self.db.pool)
        .await
        .unwrap();
        sqlx::query(
            "
            INSERT INTO shown
            VALUES ('32-simple-precise', $3, $1, 1), ('32-simple-precise', $3, $2, 1)
            ON CONFLICT (settings, prompt_id, model_key) DO UPDATE SET times = shown.times + 1
            ",
        )
        .bind(a)
        .bind(b)
        .bind(prompt)
        .execute(&self.db.pool)
        .await
        .unwrap();
        (voter, matchup)
    }

    async fn vote(&self, prompt: &str, a: &str, b: &str, choice: Choice) -> Uuid {
        let (voter, matchup) = self.serve(prompt, a, b).await;
        self.arena.vote(voter, matchup, choice, std::net::Ipv4Addr::LOCALHOST.into()).await.unwrap();
        matchup
    }

    async fn api(&self, path: &str) -> Value {
        let answer = self.server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    async fn html(&self, path: &str) -> String {
        let answer = self.server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let text = answer.text().await.unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// This field of each model, in the order of the ladder.
    async fn column(&self, path: &str, column: &str) -> Vec<Value> {
        let models = self.api(path).await;
        models["models"].as_array().unwrap().iter().map(|model| model[column].clone()).collect()
    }

    async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.db.pool).await.unwrap();
    }
}

/// A ladder with many votes, in which models earlier in the list tend to win.
async fn busy_ladder() -> LadderFixture {
    let models = [("elm", "north"), ("fir", "south"), ("ash", "south"), ("oak", "north"), ("yew", "east")];
    let prompts =
        [("castle", "house"), ("owl", "animal"), ("fox", "animal"), ("tower", "house"), ("tram", "machine")];
    let fixture = ladder(&models, &prompts).await;
    for round in 0..90_usize {
        let (a, b) = (round % 5, (round + 1 + round / 5 % 4) % 5);
        let choice = match round % 9 {
            7 => Choice::Tie,
            8 => Choice::BothBad,
            4 => {
                if a < b {
                    Choice::B
                } else {
                    Choice::A
                }
            }
            _ => {
                if a < b {
                    Choice::A
                } else {
                    Choice::B
                }
            }
        };
        fixture.vote(prompts[round / 7 % 5].0, models[a].0, models[b].0, choice).await;
    }
    fixture
}
