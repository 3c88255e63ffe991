//! Ratings: order, filters, replay, skill and records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use buildoff::app::App;
use buildoff::arena::elo::{self, Standing};
use buildoff::arena::leaderboard::LadderStats;
use buildoff::arena::{Arena, Choice, ReferencePolicy};
use buildoff::background;
use buildoff::config::Config;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::{busy_ladder, ladder, settings, small_ladder};
use crate::support::db::TestDb;
use crate::support::{TestServerProcess, TestVoter};

#[tokio::test]
async fn the_leaderboard_response_is_complete() {
    let fixture = small_ladder().await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    fixture.vote("owl", "fir", "ash", Choice::BothBad).await;
    fixture.vote("owl", "ash", "elm", Choice::Tie).await;

    let mut reply = fixture.api("/api/leaderboard").await;

    let as_of = reply["asOf"].take();
    let parsed = OffsetDateTime::parse(as_of.as_str().unwrap(), &Rfc3339);
    assert!((OffsetDateTime::now_utc() - parsed.unwrap()).abs() < time::Duration::minutes(1), "{as_of}");
    // The result of the formula for these three votes.
    let (elm, fir) = elo::apply_vote(Standing::NEW, Standing::NEW, Choice::A);
    let (fir, ash) = elo::apply_vote(fir, Standing::NEW, Choice::BothBad);
    let (ash, elm) = elo::apply_vote(ash, elm, Choice::Tie);
    let expected = json!({
        "settings": { "gridSize": 32, "palette": "simple", "mode": "precise" },
        "asOf": null,
        "equalSize": null,
        "models": [
            { "rank": 1, "key": "elm", "provider": "north", "displayName": "Elm", "elo": elm.elo, "votes": 2,
              "wins": 1, "losses": 0, "ties": 1, "bothBad": 0, "shown": 2, "skill": null, "skillAtEqualSize": null },
            { "rank": 2, "key": "ash", "provider": "south", "displayName": "Ash", "elo": ash.elo, "votes": 2,
              "wins": 0, "losses": 1, "ties": 1, "bothBad": 1, "shown": 2, "skill": null, "skillAtEqualSize": null },
            { "rank": 3, "key": "fir", "provider": "south", "displayName": "Fir", "elo": fir.elo, "votes": 2,
              "wins": 0, "losses": 2, "ties": 0, "bothBad": 1, "shown": 2, "skill": null, "skillAtEqualSize": null },
        ],
    });
    assert_eq!(reply, expected);
}

#[tokio::test]
async fn ties_are_ordered_by_key_and_a_provider_filter_keeps_ranks() {
    let fixture = small_ladder().await;
    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["ash", "elm", "fir"]);

    fixture.vote("castle", "elm", "ash", Choice::A).await;

    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["elm", "fir", "ash"]);
    assert_eq!(fixture.column("/api/leaderboard?provider=south", "key").await, ["fir", "ash"]);
    assert_eq!(fixture.column("/api/leaderboard?provider=south", "rank").await, [2, 3]);
    assert_eq!(fixture.column("/api/leaderboard?provider=nobody", "rank").await, Vec::<Value>::new());
    let wrong = fixture.server.get("/api/leaderboard?colour=red").send().await.unwrap();
    assert_eq!(wrong.status(), 400);
}

#[tokio::test]
async fn a_tags_ladder_counts_only_votes_on_its_prompts() {
    let fixture = busy_ladder().await;
    let votes: Vec<(String, String, String)> = sqlx::query_as(
        "
        SELECT model_a, model_b, choice
        FROM votes
        JOIN matchups ON matchups.id = matchup_id
        WHERE prompt_id IN ('owl', 'fox')
        ",
    )
    .fetch_all(&fixture.db.pool)
    .await
    .unwrap();
    let mut expected: BTreeMap<String, Standing> = BTreeMap::new();
    for (a, b, choice) in &votes {
        let standing = |model| expected.get(model).copied().unwrap_or(Standing::NEW);
        let (left, right) = elo::apply_vote(standing(a), standing(b), choice.parse().unwrap());
        expected.extend([(a.clone(), left), (b.clone(), right)]);
    }
    let whole = fixture.api("/api/leaderboard").await;
    let elo = |key: &Value| {
        let mut models = whole["models"].as_array().unwrap().iter();
        models.find(|model| model["key"] == *key).unwrap()["elo"].clone()
    };

    let reply = fixture.api("/api/leaderboard?tag=animal").await;

    let models = reply["models"].as_array().unwrap();
    assert_eq!(models.len(), 5);
    for model in models {
        let standing = expected[model["key"].as_str().unwrap()];
        for (column, count) in [
            ("votes", standing.votes()),
            ("shown", standing.votes()),
            ("wins", standing.wins),
            ("losses", standing.losses),
            ("ties", standing.ties),
            ("bothBad", standing.both_bad),
        ] {
            assert_eq!(model[column], count, "{column} of {model}");
        }
        assert_eq!(model["elo"], elo(&model["key"]), "Elo must be that of the whole ladder");
    }

    fixture.vote("owl", "yew", "elm", Choice::A).await;
    let votes_now: i64 = fixture
        .column("/api/leaderboard?tag=animal", "votes")
        .await
        .iter()
        .map(|votes| votes.as_i64().unwrap())
        .sum();
    assert_eq!(votes_now, 2 * (votes.len() as i64 + 1), "a vote after the first request must be counted");
    let html = fixture.html("/leaderboard?tag=animal").await;
    assert!(html.contains("A separate leaderboard") && html.contains("on prompts tagged animal"), "{html}");
    assert_eq!(fixture.html("/leaderboard?tag=%3Cb%3E").await, fixture.html("/leaderboard?").await);
}

#[tokio::test]
async fn a_tags_ladder_is_ordered_by_skill_on_its_prompts() {
    let models = [("elm", "north"), ("fir", "south"), ("ash", "south")];
    let prompts = [("castle", "house"), ("owl", "animal")];
    let fixture = ladder(&models, &prompts).await;
    // Elm wins on castles, and ash on owls.
    for (prompt, first, last) in [("castle", "elm", "ash"), ("owl", "ash", "elm")] {
        for round in 0..16 {
            let upset = round % 4 == 3;
            for (a, b) in [(first, "fir"), ("fir", last), (first, last)] {
                let (a, b) = if upset { (b, a) } else { (a, b) };
                fixture.vote(prompt, a, b, Choice::A).await;
            }
        }
    }
    assert_eq!(fixture.column("/api/leaderboard?tag=animal", "key").await, ["ash", "fir", "elm"]);
    assert_eq!(fixture.column("/api/leaderboard?tag=house", "key").await, ["elm", "fir", "ash"]);
    assert_eq!(fixture.column("/api/leaderboard?tag=house", "rank").await, [1, 2, 3]);
    let html = fixture.html("/leaderboard?tag=animal").await;
    assert!(html.find("/models/ash").unwrap() < html.find("/models/elm").unwrap(), "{html}");
}

#[tokio::test]
async fn open_matchups_do_not_count_as_shown() {
    let fixture = small_ladder().await;
    let (voter, skipped) = fixture.serve("castle", "elm", "fir").await;
    let (_, expired) = fixture.serve("owl", "ash", "fir").await;
    for path in ["/api/leaderboard", "/api/leaderboard?tag=animal"] {
        assert_eq!(fixture.column(path, "shown").await, [0, 0, 0], "{path} must not count open matchups");
    }

    fixture.arena.skip(voter, skipped).await.unwrap();
    sqlx::query("UPDATE open_matchups SET expires_at = now() WHERE matchup_id = $1")
        .bind(expired)
        .execute(&fixture.db.pool)
        .await
        .unwrap();

    // The counts are read at most once a second.
    let begun = Instant::now();
    while fixture.column("/api/leaderboard", "shown").await != [1, 1, 2] {
        assert!(begun.elapsed() < Duration::from_secs(10), "closed matchups must count as shown");
    }
}

#[tokio::test]
async fn disabled_models_and_models_without_builds_leave_the_ladder_and_votes_stay() {
    let fixture = small_ladder().await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    fixture.execute("UPDATE models SET enabled = false WHERE key = 'fir'").await;
    fixture
        .execute("INSERT INTO models (key, provider, model_id, display_name) VALUES ('new', 'x', 'x', 'New')")
        .await;

    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["elm", "ash"]);
    assert_eq!(fixture.column("/api/leaderboard", "elo").await, [1508.0, 1500.0]);
    let fir = fixture.html("/models/fir").await;
    assert!(
        fir.contains("Disabled.") && fir.contains("Not on the leaderboard: this model is disabled."),
        "{fir}"
    );
    let new = fixture.html("/models/new").await;
    assert!(new.contains("Not on the leaderboard yet") && new.contains("No builds yet"), "{new}");
}

#[tokio::test]
async fn references_are_on_the_ladder_while_they_can_be_matched_or_have_votes() {
    let models = [("elm", "north"), ("ref", "reference")];
    let fixture = ladder(&models, &[("castle", "house")]).await;
    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["elm", "ref"]);
    assert!(fixture.html("/leaderboard").await.contains("<span class=\"mark\">Reference</span>"));
    assert!(fixture.html("/models/ref").await.contains("A reference model."));

    let off = Arena::new(fixture.db.pool.clone(), settings(), ReferencePolicy::Off, Duration::ZERO);
    assert_eq!(off.leaderboard().await.unwrap().rows.len(), 1);

    // Under this policy a second model excludes references from matchups.
    fixture
        .execute(
            "INSERT INTO models (key, provider, model_id, display_name) VALUES ('fir', 'south', 'f', 'Fir')",
        )
        .await;
    fixture
        .execute(
            "
        INSERT INTO builds (
            id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec, warnings, block_count
        )
        SELECT gen_random_uuid(), prompt_id, 'fir', settings, digest, grid, true, spec, warnings, 1
        FROM builds WHERE model_key = 'elm'
    ",
        )
        .await;
    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["elm", "fir"]);
    fixture.vote("castle", "ref", "elm", Choice::A).await;
    assert_eq!(fixture.column("/api/leaderboard", "key").await, ["ref", "fir", "elm"]);
}

#[tokio::test]
async fn skill_follows_the_votes_in_the_background() {
    let fixture = busy_ladder().await;
    let config = Config::from_lookup(|_| None).unwrap();
    let background = background::start(&App::new(Arc::new(config), fixture.db.pool.clone()).unwrap());

    let skill = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let reply = fixture.api("/api/leaderboard").await;
            let found = reply["models"].as_array().unwrap().iter().find(|model| !model["skill"].is_null());
            if let Some(model) = found {
                return model["skill"].clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("skill was not fitted within 20 s");

    drop(background);
    let fields: Vec<_> = skill.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["rating", "low", "high", "rankBest", "rankWorst"]);
    assert!(skill["low"].as_f64().unwrap() < skill["rating"].as_f64().unwrap(), "{skill}");
}

#[tokio::test]
async fn statistics_are_stored_and_continued_by_the_next_server() {
    let fixture = busy_ladder().await;
    let first = fixture.arena.stats().await.unwrap();
    assert_eq!(first.votes, 90);
    let stored = async || -> i64 {
        sqlx::query_scalar("SELECT votes FROM ladder_stats").fetch_one(&fixture.db.pool).await.unwrap()
    };
    assert_eq!(stored().await, 90);

    let next = Arena::new(fixture.db.pool.clone(), settings(), ReferencePolicy::Auto, Duration::ZERO);
    let found = next.stats().await.unwrap();
    assert_eq!(
        found.computed_at.unix_timestamp(),
        first.computed_at.unix_timestamp(),
        "the stored statistics must be reused"
    );
    assert_eq!((&found.duels, &found.fit), (&first.duels, &first.fit));

    fixture.vote("castle", "elm", "fir", Choice::A).await;
    let later = next.stats().await.unwrap();
    assert_eq!((later.votes, stored().await), (91, 91));
    let points = |stats: &LadderStats| stats.history.lines.values().map(Vec::len).sum::<usize>();
    assert_eq!(points(&later), points(&first) + 2, "the history must continue with the new vote only");

    fixture.execute("UPDATE models SET enabled = false WHERE key = 'yew'").await;
    let without = next.stats().await.unwrap();
    assert!(!without.fit.models.keys().any(|model| model.as_str() == "yew"));

    fixture.execute("DELETE FROM ladder_stats").await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    let anew = next.stats().await.unwrap();
    assert_eq!(points(&anew), points(&later) + 2, "deleted statistics must be recomputed from the votes");
}

#[tokio::test]
async fn counted_votes_of_a_heavy_voter_are_those_of_one_person() {
    let fixture = busy_ladder().await;
    let mut matchups = Vec::new();
    for prompt in ["castle", "owl", "fox", "tower", "tram"] {
        for other in ["elm", "fir", "ash", "oak"] {
            matchups.push(fixture.vote(prompt, "yew", other, Choice::A).await);
        }
    }
    let fit_anew = async || {
        fixture.execute("DELETE FROM ladder_stats").await;
        let arena = Arena::new(fixture.db.pool.clone(), settings(), ReferencePolicy::Auto, Duration::ZERO);
        arena.stats().await.unwrap().fit.clone()
    };
    let of_many_people = fit_anew().await;

    let voter = Uuid::new_v4();
    sqlx::query("UPDATE matchups SET voter_id = $1 WHERE id = ANY($2)")
        .bind(voter)
        .bind(&matchups)
        .execute(&fixture.db.pool)
        .await
        .unwrap();
    let set_total = async |votes: i32| {
        let total = "
            INSERT INTO voter_totals (settings, voter_id, votes)
            VALUES ('32-simple-precise', $1, $2)
            ON CONFLICT (settings, voter_id) DO UPDATE SET votes = excluded.votes
        ";
        sqlx::query(total).bind(voter).bind(votes).execute(&fixture.db.pool).await.unwrap();
    };
    set_total(19).await;
    assert_eq!(fit_anew().await, of_many_people, "19 votes do not make a heavy voter");
    set_total(20).await;
    let of_one = fit_anew().await;
    let yew = "yew".parse().unwrap();
    let (many, one) = (&of_many_people.models[&yew], &of_one.models[&yew]);
    assert_eq!(one.rating, many.rating);
    assert!(one.high.unwrap() - one.rating > 1.5 * (many.high.unwrap() - many.rating), "{one:?} {many:?}");

    fixture.execute("UPDATE votes SET exclusion = 'over_budget'").await;
    assert_eq!(fit_anew().await, of_many_people, "votes that do not count widen nothing");
}

#[tokio::test]
async fn statistics_of_fewer_votes_never_replace_newer_ones() {
    let fixture = busy_ladder().await;
    fixture.arena.stats().await.unwrap();
    fixture.execute("UPDATE ladder_stats SET votes = 1000").await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    assert_eq!(fixture.arena.stats().await.unwrap().votes, 91);
    let stored: i64 =
        sqlx::query_scalar("SELECT votes FROM ladder_stats").fetch_one(&fixture.db.pool).await.unwrap();
    assert_eq!(stored, 1000);
}

#[tokio::test]
async fn statistics_are_computed_even_if_the_visitor_leaves() {
    let fixture = busy_ladder().await;
    let mut blocked = fixture.db.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE tallies IN ACCESS EXCLUSIVE MODE").execute(&mut *blocked).await.unwrap();
    for _ in 0..40 {
        let impatient = fixture.server.get("/leaderboard").timeout(Duration::from_millis(20)).send().await;
        assert!(impatient.is_err(), "the statistics must not be available yet");
    }
    let waiting: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    .fetch_one(&fixture.db.pool)
    .await
    .unwrap();
    // One reads who takes part, and one the statistics.
    assert!(waiting <= 2, "{waiting} connections read the same");
    blocked.rollback().await.unwrap();
    assert!(fixture.html("/leaderboard").await.contains("Who beats whom"));
}

#[tokio::test]
async fn a_models_records_add_up_to_its_ladder_row() {
    let fixture = busy_ladder().await;
    let reply = fixture.api("/api/models/elm").await;

    let standing = &reply["standing"];
    for list in ["opponents", "prompts"] {
        for column in ["votes", "wins", "losses", "ties", "bothBad"] {
            let sum: i64 =
                reply[list].as_array().unwrap().iter().map(|row| row[column].as_i64().unwrap()).sum();
            assert_eq!(standing[column], sum, "{column} over the {list}");
        }
    }
    let names: Vec<_> = reply.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "key provider modelId displayName about enabled reference createdAt settings standing opponents prompts builds";
    assert_eq!(names.join(" "), expected);
    assert_eq!(
        (&reply["modelId"], &reply["reference"], &standing["rank"]),
        (&json!("elm-1"), &json!(false), &json!(1))
    );
    assert_eq!(reply["builds"].as_array().unwrap().len(), 5);
    let shares: Vec<_> =
        reply["prompts"].as_array().unwrap().iter().map(|prompt| prompt["share"].as_f64().unwrap()).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "the best first: {shares:?}");

    let page = fixture.html("/models/elm").await;
    for part in ["Strongest", "Weakest", "/leaderboard/pairs?a=elm&amp;b=fir", "Builds</h2>", "Elo over time"]
    {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    for path in ["/models/nobody", "/api/models/nobody", "/models/No%20Body"] {
        assert_eq!(fixture.server.get(path).send().await.unwrap().status(), 404, "{path}");
    }
}

#[tokio::test]
async fn pages_that_may_lag_use_the_replica_and_votes_use_the_primary() {
    // A copy that no longer receives changes shows which reads use the replica.
    let (db, replica) = (TestDb::seeded().await, TestDb::seeded().await);
    let server = TestServerProcess::start(&db, &[("DATABASE_REPLICA_URL", &replica.url())]);
    let voter = TestVoter::new(&server.url);
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);

    assert_eq!(db.number("SELECT count(*) FROM votes").await, 1);
    let reply = voter.get("/api/leaderboard").await.json();
    assert!(reply["models"].as_array().unwrap().iter().all(|model| model["votes"] == 0), "{reply}");
    assert_eq!(voter.get("/api/votes.jsonl").await.text(), "");
    assert!(
        voter.get("/me").await.text().contains("One vote"),
        "a voter's own votes must come from the primary"
    );
}
