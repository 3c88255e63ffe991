//! Matchups: one open per voter, which models are eligible, and which pair is drawn.

use std::collections::BTreeSet;
use std::time::Instant;

use buildoff::arena::builds::{self, GenerationInfo, PackedBuild};
use buildoff::arena::sampling::pair_code;
use buildoff::arena::{cleanup, shipped_builds};
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};
use tokio::join;
use voxel::codec::Digest;

use super::insert_identical_builds;
use crate::support::db::TestDb;
use crate::support::{TestServer, server_with_builds};

#[tokio::test]
async fn a_matchup_has_its_prompt_and_the_urls_of_its_builds() {
    let (_db, server) = server_with_builds().await;
    let answer = server.voter().matchup_on("lighthouse").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let mut matchup = answer.json();
    let id = matchup["id"].as_str().unwrap().to_owned();
    let expires = OffsetDateTime::parse(matchup["expiresAt"].take().as_str().unwrap(), &Rfc3339).unwrap();
    let left = expires - OffsetDateTime::now_utc();
    assert!(left > Duration::minutes(29) && left <= Duration::minutes(30), "{left}");
    let expected = json!({
        "id": id,
        "prompt": { "id": "lighthouse", "text": "a lighthouse on a rocky island" },
        "a": { "build": { "url": format!("/api/arena/matchup/{id}/a") } },
        "b": { "build": { "url": format!("/api/arena/matchup/{id}/b") } },
        "expiresAt": null,
        "houseOnly": true,
        "personCheck": null,
    });
    assert_eq!(matchup, expected);
}

#[tokio::test]
async fn requesting_again_returns_the_open_matchup() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let first = voter.matchup().await;
    assert_eq!(voter.matchup().await, first);
    assert_eq!(voter.matchup_on(first["prompt"]["id"].as_str().unwrap()).await.json(), first);
    assert_eq!(db.number("SELECT count(*) FROM matchups").await, 1);
}

#[tokio::test]
async fn requesting_another_prompt_skips_the_open_matchup() {
    let (_db, server) = server_with_builds().await;
    let voter = server.voter();
    let first = voter.matchup_on("lighthouse").await.json();
    let second = voter.matchup_on("treehouse").await.json();
    assert_eq!(second["prompt"]["id"], "treehouse");
    let late = voter.vote(&first, "A").await;
    assert_eq!((late.status, late.code().as_str()), (410, "matchup_over"));
    assert_eq!(voter.vote(&second, "A").await.status, 200);
}

/// A request that cannot be served leaves the open matchup as it is.
#[tokio::test]
async fn requesting_an_unknown_prompt_changes_nothing() {
    let (db, server) = server_with_builds().await;
    db.run("INSERT INTO prompts (id, text) VALUES ('nobody-built-this', 'a thing')").await;
    let voter = server.voter();
    let open = voter.matchup().await;
    for (prompt, status, code) in [
        ("no-such-thing", 404, "no_such_prompt"),
        ("No such thing!", 404, "no_such_prompt"),
        ("nobody-built-this", 409, "not_seeded"),
    ] {
        let answer = voter.matchup_on(prompt).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{prompt}");
    }
    assert_eq!(voter.matchup().await, open);
}

#[tokio::test]
async fn concurrent_requests_of_a_voter_get_one_matchup() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let first = voter.matchup().await;
    assert_eq!(voter.skip(&first).await.status, 204);
    let answers = join_all((0..24).map(|_| voter.matchup())).await;
    let ids: BTreeSet<_> = answers.iter().map(|matchup| matchup["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(db.number("SELECT count(*) FROM open_matchups").await, 1);
    assert_eq!(db.number("SELECT count(*) FROM matchups").await, 2);
}

/// This happens if two servers send the two builds of a matchup at the same moment.
#[tokio::test]
async fn a_fetch_is_recorded_even_while_the_matchup_is_locked() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let matchup = voter.matchup().await;
    let mut other = db.pool.begin().await.unwrap();
    sqlx::raw_sql("SELECT FROM open_matchups FOR NO KEY UPDATE").execute(&mut *other).await.unwrap();
    let release = async {
        let begun = Instant::now();
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while db.number(waiting).await == 0 && begun.elapsed() < Duration::milliseconds(300) {}
        other.rollback().await.unwrap();
    };
    let (answer, ()) = tokio::join!(voter.get(matchup["a"]["build"]["url"].as_str().unwrap()), release);
    assert_eq!(answer.status, 200);
    assert_eq!(db.number("SELECT count(*) FROM open_matchups WHERE fetched_a IS NOT NULL").await, 1);
}

/// Requesting and skipping matchups without looking must not influence which models are drawn.
#[tokio::test]
async fn a_model_counts_as_shown_once_both_builds_of_its_matchup_were_fetched() {
    let (db, server) = server_with_builds().await;
    let shown = async || db.number("SELECT coalesce(sum(times), 0)::bigint FROM shown").await;
    let voter = server.voter();
    let fetch = async |matchup: &Value, side: &str| {
        let url = matchup[side]["build"]["url"].as_str().unwrap();
        assert_eq!(voter.get(url).await.status, 200);
    };
    let first = voter.matchup().await;
    assert_eq!(shown().await, 0);
    fetch(&first, "a").await;
    fetch(&first, "a").await;
    assert_eq!(shown().await, 0, "one of two builds was fetched");
    fetch(&first, "b").await;
    fetch(&first, "b").await;
    assert_eq!(shown().await, 2);
    assert_eq!(voter.vote(&first, "A").await.status, 200);
    fetch(&first, "b").await;
    assert_eq!(shown().await, 2, "the vote and further fetches must change nothing");

    let skipped = voter.matchup().await;
    assert_eq!(voter.skip(&skipped).await.status, 204);
    voter.fetch_builds(&skipped).await;
    assert_eq!(shown().await, 2, "fetching the builds of a skipped matchup must not count");
}

#[tokio::test]
async fn an_old_matchup_without_a_vote_is_dropped_and_its_pair_is_not_served_again() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    let skipped = voter.matchup_on("lighthouse").await.json();
    assert_eq!(voter.skip(&skipped).await.status, 204);
    let voted = voter.matchup_on("treehouse").await.json();
    assert_eq!(voter.vote(&voted, "A").await.status, 200);
    let open = voter.matchup_on("pirate-ship").await.json();

    let now = OffsetDateTime::now_utc();
    cleanup::purge(&db.pool, now).await.unwrap();
    assert_eq!(db.number("SELECT count(*) FROM matchups").await, 3, "no matchup is old yet");
    assert_eq!(voter.matchup().await, open);

    let tomorrow = now + Duration::DAY + Duration::HOUR;
    let (one, other) = tokio::join!(cleanup::purge(&db.pool, tomorrow), cleanup::purge(&db.pool, tomorrow));
    one.unwrap();
    other.unwrap();
    cleanup::purge(&db.pool, tomorrow).await.unwrap();

    assert_eq!(db.number("SELECT count(*) FROM matchups").await, 1, "a matchup with a vote must stay");
    assert_eq!(db.number("SELECT cardinality(pairs)::bigint FROM seen_pairs").await, 2);
    assert_eq!(voter.vote(&skipped, "A").await.status, 404);
    for prompt in ["lighthouse", "treehouse", "pirate-ship"] {
        assert_eq!(voter.matchup_on(prompt).await.code(), "all_voted", "{prompt}");
    }
    let mut prompts = BTreeSet::new();
    while let answer = voter.get("/api/arena/matchup").await
        && answer.status == 200
    {
        prompts.insert(answer.json()["prompt"]["id"].as_str().unwrap().to_owned());
        assert_eq!(voter.skip(&answer.json()).await.status, 204);
    }
    assert_eq!(prompts.into_iter().collect::<Vec<_>>(), ["sleeping-dragon", "steam-locomotive"]);

    let next_year = now + Duration::days(401);
    cleanup::purge(&db.pool, next_year).await.unwrap();
    assert_eq!(
        db.number("SELECT count(*) FROM seen_pairs").await,
        0,
        "seen pairs of expired sessions must be deleted"
    );
}

#[tokio::test]
async fn the_database_and_the_program_give_a_pair_the_same_code() {
    let db = TestDb::seeded().await;
    for (prompt, one, other) in [("lighthouse", "b_model", "a_model"), ("owl", "z9", "z_9")] {
        let code = pair_code(
            "32-simple-precise",
            &prompt.parse().unwrap(),
            &one.parse().unwrap(),
            &other.parse().unwrap(),
        );
        for (a, b) in [(one, other), (other, one)] {
            let sql = format!("SELECT pair_code('32-simple-precise', '{prompt}', '{a}', '{b}')");
            assert_eq!(db.number(&sql).await, code, "{prompt}, {a} and {b}");
        }
    }
}

#[tokio::test]
async fn no_pair_of_a_prompt_is_served_twice() {
    let (_db, server) = server_with_builds().await;
    let voter = server.voter();
    let mut prompts = BTreeSet::new();
    for choice in ["A", "B", "TIE", "BOTH_BAD"] {
        let matchup = voter.matchup().await;
        prompts.insert(matchup["prompt"]["id"].as_str().unwrap().to_owned());
        assert_eq!(voter.vote(&matchup, choice).await.status, 200);
    }
    // Skipped pairs count as served.
    let last = voter.matchup().await;
    prompts.insert(last["prompt"]["id"].as_str().unwrap().to_owned());
    assert_eq!(voter.skip(&last).await.status, 204);
    assert_eq!(prompts.len(), 5);
    for path in ["/api/arena/matchup", "/api/arena/matchup?promptId=lighthouse"] {
        let answer = voter.get(path).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "all_voted"), "{path}");
    }
    assert_eq!(
        server.voter().matchup_on("lighthouse").await.status,
        200,
        "other voters have not seen this pair"
    );
}

#[tokio::test]
async fn no_pair_is_served_twice_by_two_servers_in_turn() {
    let (db, one) = server_with_builds().await;
    let other = TestServer::start_with_db(db.pool.clone()).await;
    let voter = one.voter();
    let at_other = voter.with_base_url(&other.url);
    let mut prompts = BTreeSet::new();
    // Each server serves two in a row, and then some that the other does not know of.
    for client in [&voter, &voter, &at_other, &at_other, &voter] {
        let matchup = client.matchup().await;
        prompts.insert(matchup["prompt"]["id"].as_str().unwrap().to_owned());
        assert_eq!(client.skip(&matchup).await.status, 204);
    }
    assert_eq!(prompts.len(), 5);
    for client in [&at_other, &voter] {
        assert_eq!(client.get("/api/arena/matchup").await.code(), "all_voted");
    }
}

#[tokio::test]
async fn without_pairs_the_arena_says_so() {
    let db = TestDb::new().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let answer = server.voter().get("/api/arena/matchup").await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "not_seeded"));
}

/// Disabled models, retired builds and inactive prompts are left out from the next matchup on.
#[tokio::test]
async fn eligibility_changes_apply_at_once() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 3, 2).await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let serves = async || server.voter().get("/api/arena/matchup").await.status;
    let models = async || {
        db.number("SELECT count(DISTINCT key) FROM (SELECT model_a AS key FROM matchups UNION SELECT model_b FROM matchups) served").await
    };

    db.run("UPDATE models SET enabled = false WHERE key = 'model_1'").await;
    for _ in 0..12 {
        assert_eq!(serves().await, 200);
    }
    assert_eq!(models().await, 2);
    db.run("UPDATE builds SET retired_at = now() WHERE model_key = 'model_2' AND prompt_id = 'prompt-1'")
        .await;
    assert_eq!(server.voter().matchup_on("prompt-1").await.code(), "not_seeded");
    assert_eq!(serves().await, 200);
    db.run("UPDATE prompts SET active = false WHERE id = 'prompt-2'").await;
    assert_eq!(serves().await, 409);
    assert_eq!(server.voter().matchup_on("prompt-2").await.code(), "no_such_prompt");
    db.run("UPDATE models SET enabled = true WHERE key = 'model_1'").await;
    assert_eq!(serves().await, 200);
}

#[tokio::test]
async fn references_are_matched_while_fewer_than_two_models_have_builds() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    let fields = [("REFERENCE_MODELS", "off"), ("COHORT_PERCENT", "0")];
    let without = TestServer::start_with_env(db.pool.clone(), &fields).await;
    assert_eq!(without.voter().get("/api/arena/matchup").await.code(), "not_seeded");

    let copy = |model: &str| {
        format!(
            "INSERT INTO models (key, provider, model_id, display_name) VALUES ('{model}', 'someone', 'm', 'M');
             INSERT INTO builds (id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec, warnings, block_count)
             SELECT gen_random_uuid(), prompt_id, '{model}', settings, digest, grid, true, spec, warnings, block_count
             FROM builds WHERE prompt_id = 'lighthouse' AND model_key = 'reference_architect'"
        )
    };
    db.run(&copy("one")).await;
    let matchup = server.voter().matchup_on("lighthouse").await.json();
    assert_eq!(matchup["houseOnly"], false);
    db.run(&copy("two")).await;
    for _ in 0..6 {
        assert_eq!(server.voter().matchup_on("lighthouse").await.status, 200);
    }
    let references = "SELECT count(*) FROM matchups WHERE served_at > (SELECT max(created_at) FROM builds)
                      AND (model_a LIKE 'reference%' OR model_b LIKE 'reference%')";
    assert_eq!(db.number(references).await, 0);
    assert_eq!(without.voter().get("/api/arena/matchup").await.json()["prompt"]["id"], "lighthouse");
}

#[tokio::test]
async fn each_combination_of_settings_is_an_arena_of_its_own() {
    let (db, server) = server_with_builds().await;
    let other = TestServer::start_with_env(db.pool.clone(), &[("ARENA_GRID", "64")]).await;
    assert_eq!(other.voter().get("/api/arena/matchup").await.code(), "not_seeded");
    assert_eq!(server.voter().get("/api/arena/matchup").await.status, 200);
}

#[tokio::test]
async fn all_active_prompts_are_listed_with_their_availability() {
    let (db, server) = server_with_builds().await;
    db.run("INSERT INTO prompts (id, text, tags) VALUES ('zeppelin', 'a zeppelin', '{vehicle}')").await;
    db.run("UPDATE prompts SET active = false WHERE id = 'lighthouse'").await;
    let prompts = server.voter().get("/api/arena/prompts").await.json();
    let prompts = prompts["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 20, "one prompt was added and one deactivated");
    assert!(prompts.is_sorted_by_key(|it| it["text"].as_str()));
    let eligible: Vec<_> =
        prompts.iter().filter(|it| it["eligible"] == true).map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(eligible, ["pirate-ship", "sleeping-dragon", "steam-locomotive", "treehouse"]);
    let zeppelin = json!({ "id": "zeppelin", "text": "a zeppelin", "tags": ["vehicle"], "eligible": false });
    assert!(prompts.contains(&zeppelin));
}

/// The lock of a vote on the ratings is held until the end of the test.
#[tokio::test]
async fn serving_a_matchup_does_not_wait_for_votes() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    assert_eq!(voter.vote(&voter.matchup().await, "A").await.status, 200);
    let mut vote = db.pool.begin().await.unwrap();
    sqlx::raw_sql("SELECT FROM ratings FOR UPDATE").execute(&mut *vote).await.unwrap();
    let served = tokio::time::timeout(std::time::Duration::from_secs(20), voter.matchup()).await;
    assert!(served.is_ok(), "serving a matchup waited for the lock on the ratings");
    vote.rollback().await.unwrap();
}

#[tokio::test]
async fn a_link_on_another_site_cannot_skip_a_matchup() {
    let (_db, server) = server_with_builds().await;
    let voter = server.voter();
    let open = voter.matchup_on("lighthouse").await.json();
    let link = server.get("/api/arena/matchup?promptId=treehouse").header("cookie", voter.cookie().unwrap());
    assert_eq!(link.header("sec-fetch-site", "cross-site").send().await.unwrap().status(), 403);
    assert_eq!(voter.matchup().await, open);
}

#[tokio::test]
async fn only_the_voters_own_open_matchup_can_be_skipped() {
    let (_db, server) = server_with_builds().await;
    let (voter, stranger) = (server.voter(), server.voter());
    let matchup = voter.matchup().await;
    stranger.matchup().await;
    assert_eq!(stranger.skip(&matchup).await.status, 404);
    assert_eq!(server.voter().skip(&matchup).await.status, 404);
    assert_eq!(voter.skip(&json!({ "id": "nonsense" })).await.code(), "no_such_matchup");
    assert_eq!(voter.skip(&matchup).await.status, 204);
    assert_eq!(voter.skip(&matchup).await.status, 204, "skipping twice must equal skipping once");
    let next = voter.matchup().await;
    assert_ne!(next["id"], matchup["id"]);
    voter.vote(&next, "TIE").await;
    let late = voter.skip(&next).await;
    assert_eq!((late.status, late.code().as_str()), (409, "already_voted"));
}

#[tokio::test]
async fn a_session_cookie_is_stored_only_as_a_hash() {
    let (db, server) = server_with_builds().await;
    let voter = server.voter();
    assert_eq!(voter.get("/").await.header("set-cookie"), "", "reading must create no session");
    assert_eq!(voter.get("/api/arena/prompts").await.header("set-cookie"), "");
    let answer = voter.get("/api/arena/matchup").await;
    let cookie = answer.header("set-cookie").to_owned();
    let parts: Vec<_> = cookie.split("; ").collect();
    assert_eq!(parts[1..], ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=31536000"], "{cookie}");
    let value = parts[0].strip_prefix("session=").unwrap();
    assert_eq!(value.len(), 22, "128 bits");
    assert_eq!(voter.get("/api/arena/matchup").await.header("set-cookie"), "", "the cookie is set only once");

    let rows: Vec<String> =
        sqlx::query_scalar("SELECT id::text || data::text FROM sessions").fetch_all(&db.pool).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!rows[0].contains(value));
    let shared: i64 = db
        .number(
            "SELECT count(*) FROM sessions, matchups WHERE sessions.data::text LIKE '%' || voter_id || '%'",
        )
        .await;
    assert_eq!(shared, 1, "matchups must refer to the session's voter");
}

#[tokio::test]
async fn behind_tls_the_cookie_is_secure_and_belongs_to_the_host() {
    let db = TestDb::seeded().await;
    let server =
        TestServer::start_with_env(db.pool.clone(), &[("PUBLIC_URL", "https://buildoff.example")]).await;
    let answer = server.voter().get("/api/arena/matchup").await;
    let cookie = answer.header("set-cookie");
    let (name, attributes) = (cookie.split('=').next().unwrap(), cookie.split("; ").skip(1));
    // Browsers take a cookie with this prefix only if it is secure, has no domain, and is for every path.
    assert_eq!(name, "__Host-session");
    let attributes: Vec<_> = attributes.collect();
    assert_eq!(attributes, ["HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=31536000"]);
}

#[tokio::test]
async fn an_unknown_cookie_gets_a_new_session() {
    let (_db, server) = server_with_builds().await;
    for cookie in ["session=AAAAAAAAAAAAAAAAAAAAAA", "session=x", "session=", "session=%00%ff"] {
        let answer = server.get("/api/arena/matchup").header("cookie", cookie).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{cookie}");
        let set = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(!set.starts_with(&format!("{cookie};")), "{cookie} was accepted as a session");
    }
}

/// Many small grids are read at once; a large one is read alone.
#[tokio::test]
async fn a_build_reaches_its_voter_whatever_its_size() {
    let (db, server) = server_with_builds().await;
    let slot = shipped_builds::slot_for_path("32-simple/lighthouse/reference_architect.json").unwrap();
    let blocks = slot.settings.palette.blocks();
    let mut random = StdRng::seed_from_u64(7);
    let cells = (0..24_576).map(|cell| {
        let id = &blocks[random.random_range(0..blocks.len())].id;
        json!({ "x": cell % 32, "y": cell / 32 % 32, "z": cell / 1024, "type": id })
    });
    let noise = json!({ "version": "1.0", "blocks": cells.collect::<Vec<_>>() }).to_string();
    let packed = PackedBuild::read(noise.as_bytes(), &slot.settings, 8 << 20).unwrap();
    let mut connection = db.pool.acquire().await.unwrap();
    builds::store(&mut connection, &slot, &packed, GenerationInfo::default(), true).await.unwrap();
    assert_eq!(db.number("SELECT count(*) FROM builds WHERE octet_length(grid) > 8192").await, 1);

    let fetched = join_all((0..40).map(async |_| {
        let voter = server.voter();
        let matchup = voter.matchup_on("lighthouse").await.json();
        let fetch = |side: &str| voter.get(matchup[side]["build"]["url"].as_str().unwrap());
        let (a, b) = join!(fetch("a"), fetch("b"));
        [a, b].map(|answer| (answer.status, Digest::of(&answer.bytes)))
    }))
    .await;
    let answers = fetched.concat();
    assert!(answers.iter().all(|(status, _)| *status == 200));
    let noisy = answers.iter().filter(|(_, digest)| *digest == packed.digest).count();
    assert!((1..80).contains(&noisy), "{noisy} of 80 builds are the large one");
}
