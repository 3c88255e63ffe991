//! The public vote log, and recomputing the ladder from it.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use buildoff::arena::audit::Admin;
use buildoff::arena::replay::{self, ReplayReport};
use buildoff::arena::vote_log::{LoggedVote, VoteLog};
use buildoff::arena::{Arena, Choice, Mode, ReferencePolicy, Settings, Voter};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use voxel::{GridSize, Palette};

use super::insert_identical_builds;
use crate::support::db::TestDb;
use crate::support::{CHOICES, TestServer, server_with_builds};

/// A server with the votes of three voters, each of whom made every choice once.
async fn server_with_votes() -> (TestDb, TestServer) {
    let (db, server) = server_with_builds().await;
    for _ in 0..3 {
        let voter = server.voter();
        for choice in CHOICES {
            let matchup = voter.matchup().await;
            voter.fetch_builds(&matchup).await;
            assert_eq!(voter.vote(&matchup, choice).await.status, 200);
        }
    }
    (db, server)
}

/// Runs `buildoff recompute` on a database with this standard input.
fn recompute(db: &TestDb, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_buildoff"))
        .arg("recompute")
        .args(arguments)
        .env("DATABASE_URL", db.url())
        .env("LOG", "error")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feeding = std::thread::spawn(move || {
        // The command may stop reading at a line that it refuses, which breaks the pipe.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|printed| String::from_utf8(printed).unwrap());
    (output.status.code().unwrap(), out, err)
}

async fn text(server: &TestServer, path: &str) -> String {
    server.get(path).send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_log_has_every_vote_and_is_the_same_in_both_formats() {
    let (db, server) = server_with_votes().await;
    let csv = text(&server, "/api/votes.csv").await;
    let jsonl = text(&server, "/api/votes.jsonl").await;

    let mut rows = csv.lines();
    assert_eq!(
        rows.next().unwrap(),
        "id,at,matchup_id,prompt_id,model_a,model_b,build_a,build_b,choice,side,settings,\
         elo_a_before,elo_a_after,elo_b_before,elo_b_after,probability,dwell_ms,exclusion,decision"
    );
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    let votes: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), votes.len()), (12, 12));
    for (row, vote) in rows.iter().zip(&votes) {
        let vote = vote.as_object().unwrap();
        assert_eq!(vote.keys().map(String::as_str).collect::<Vec<_>>(), LoggedVote::COLUMNS);
        assert_eq!(row.len(), LoggedVote::COLUMNS.len());
        for (cell, value) in row.iter().zip(vote.values()) {
            match value {
                Value::String(text) => assert_eq!(cell, text),
                Value::Null => assert_eq!(*cell, ""),
                number => {
                    assert_eq!(cell.parse::<f64>().unwrap().to_bits(), number.as_f64().unwrap().to_bits());
                }
            }
        }
    }
    let kept: Vec<Value> = sqlx::query_scalar(
        "SELECT jsonb_build_array(votes.id, matchup_id, matchups.prompt_id, model_a, model_b,
                a.log_id, b.log_id, choice, matchups.settings, dwell_ms)
         FROM votes JOIN matchups ON matchups.id = matchup_id
         JOIN builds a ON a.id = build_a JOIN builds b ON b.id = build_b ORDER BY votes.id",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    let reported = votes.iter().map(|vote| {
        json!([
            vote["id"],
            vote["matchup_id"],
            vote["prompt_id"],
            vote["model_a"],
            vote["model_b"],
            vote["build_a"],
            vote["build_b"],
            vote["choice"],
            vote["settings"],
            vote["dwell_ms"]
        ])
    });
    assert_eq!(reported.collect::<Vec<_>>(), kept);
    assert!(votes.iter().all(|vote| vote["side"] == "left" && vote["settings"] == "32-simple-precise"));
    assert!(votes.iter().all(|vote| vote["probability"] == 1.0 && vote["dwell_ms"].is_u64()));
    assert!(votes.iter().all(|vote| vote["at"].as_str().unwrap().ends_with('Z')));
}

#[tokio::test]
async fn the_log_is_a_download_and_empty_without_votes() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_db(db.pool.clone()).await;
    for (path, kind, name, body) in [
        (
            "/api/votes.csv",
            "text/csv; charset=utf-8; header=present",
            "votes.csv",
            LoggedVote::COLUMNS.join(",") + "\n",
        ),
        ("/api/votes.jsonl", "application/jsonl", "votes.jsonl", String::new()),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let answer = server.request(method.clone(), path).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            assert_eq!(answer.headers()["content-type"], kind);
            assert_eq!(answer.headers()["content-disposition"], format!("attachment; filename=\"{name}\""));
            assert!(!answer.headers().contains_key("set-cookie"));
            let expected = if method == Method::GET { body.as_str() } else { "" };
            assert_eq!(answer.text().await.unwrap(), expected, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn the_log_does_not_identify_voters() {
    let (db, server) = server_with_votes().await;
    let voters: Vec<String> =
        sqlx::query_scalar("SELECT DISTINCT voter_id::text FROM matchups").fetch_all(&db.pool).await.unwrap();
    let sessions: Vec<String> =
        sqlx::query_scalar("SELECT encode(id, 'hex') FROM sessions").fetch_all(&db.pool).await.unwrap();
    assert_eq!((voters.len(), sessions.len()), (3, 3));
    for path in ["/api/votes.csv", "/api/votes.jsonl"] {
        let log = text(&server, path).await;
        for secret in voters.iter().chain(&sessions) {
            assert!(!log.contains(secret), "{path} names {secret}");
            assert!(!log.contains(&secret.replace('-', "")), "{path} names {secret}");
        }
        assert!(!log.contains("127.0.0.1"));
    }
}

#[tokio::test]
async fn the_ladder_is_recomputed_from_the_log_alone() {
    let (db, server) = server_with_votes().await;
    let other = TestServer::start_with_env(
        db.pool.clone(),
        &[("ARENA_MODE", "fast"), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")],
    )
    .await;
    db.run("UPDATE builds SET settings = '32-simple-fast' WHERE prompt_id = 'lighthouse'").await;
    let voter = other.voter();
    assert_eq!(voter.vote(&voter.matchup().await, "B").await.status, 200);
    let log = text(&server, "/api/votes.jsonl").await;
    assert_eq!(log.lines().count(), 13);

    let nowhere = TestDb::new().await;
    let (code, printed, _) = recompute(&nowhere, &["--from", "-"], &log);
    assert_eq!(code, 0, "{printed}");
    for part in [
        "32-simple-fast\n",
        "32-simple-precise\n",
        "13 votes replayed",
        "2 leaderboards",
        "identical to the log, bit for bit",
    ] {
        assert!(printed.contains(part), "{part:?} is not in\n{printed}");
    }

    let (code, reported, _) = recompute(&nowhere, &["--from", "-", "--json"], &log);
    assert_eq!(code, 0);
    let reported: Value = serde_json::from_str(&reported).unwrap();
    assert_eq!((&reported["votes"], &reported["equal"]), (&json!(13), &json!(true)));
    let mut models = Vec::new();
    for ladder in reported["ladders"].as_array().unwrap() {
        for model in ladder["models"].as_array().unwrap() {
            models.push(json!([
                ladder["settings"],
                model["key"],
                model["elo"],
                model["wins"],
                model["losses"],
                model["ties"],
                model["bothBad"]
            ]));
        }
    }
    models.sort_by_key(ToString::to_string);
    let mut kept: Vec<Value> = sqlx::query_scalar(
        "SELECT jsonb_build_array(settings, model_key, elo, wins, losses, ties, both_bad) FROM ratings",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    kept.sort_by_key(ToString::to_string);
    let bits =
        |rows: &[Value]| rows.iter().map(|row| row[2].as_f64().unwrap().to_bits()).collect::<BTreeSet<_>>();
    assert_eq!((models.len(), bits(&models)), (4, bits(&kept)));
}

#[tokio::test]
async fn an_inconsistent_log_is_refused_with_the_line_number() {
    let (db, server) = server_with_votes().await;
    let log = text(&server, "/api/votes.jsonl").await;
    let lines: Vec<&str> = log.lines().collect();
    let with = |number: usize, line: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = line;
        lines.join("\n")
    };

    let wrong = lines[6].replace("\"choice\":\"TIE\"", "\"choice\":\"A\"");
    assert_ne!(wrong, lines[6]);
    let (code, out, err) = recompute(&db, &["--from", "-"], &with(7, &wrong));
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("cannot be right: vote 385 is stored with"), "{err}");
    assert!(out.contains("32-simple-precise"), "the ladder that follows from the choices is printed even so");

    let without_choice = lines[2].replace("\"choice\"", "\"verdict\"");
    let no_such_model = lines[2].replace("\"model_a\":\"", "\"model_a\":\"No Such ");
    let alone = lines[2].replace("reference_sculptor", "reference_architect");
    let long = format!("{{\"id\":\"{}\"}}", "9".repeat(70_000));
    for (number, line, words) in [
        (3, "not a vote", "line 3 is not a vote: expected"),
        (3, without_choice.as_str(), "line 3 is not a vote: missing field `choice`"),
        (3, no_such_model.as_str(), "line 3 is not a vote: a model's key is"),
        (3, "", "line 3 is not a vote"),
        (3, alone.as_str(), "line 3: vote 129 compares reference_architect with itself"),
        (5, lines[3], "line 5: vote 193 comes after vote 193"),
        (9, long.as_str(), "line 9 is longer than 65536 bytes"),
    ] {
        let (code, _, err) = recompute(&db, &["--from", "-"], &with(number, line));
        assert_eq!(code, 2, "{words}: {err}");
        assert!(err.contains(words), "{words:?} is not in {err}");
    }
    let (code, _, err) = recompute(&db, &["--from", "/no/such/file"], "");
    assert!(code == 2 && err.contains("cannot read /no/such/file"), "{err}");
}

#[tokio::test]
async fn stored_ratings_are_compared_with_the_votes_and_repaired() {
    let (db, _server) = server_with_votes().await;
    let (code, printed, _) = recompute(&db, &["--verify"], "");
    assert_eq!(
        (code, printed.as_str()),
        (0, "12 votes replayed, 2 ratings on 1 leaderboard\nidentical, bit for bit\n")
    );
    let rows = async || -> (Vec<Value>, Vec<Value>, Vec<Value>) {
        let votes = sqlx::query_scalar("SELECT to_jsonb(votes) FROM votes ORDER BY id").fetch_all(&db.pool);
        let ratings = sqlx::query_scalar("SELECT to_jsonb(ratings) FROM ratings ORDER BY model_key")
            .fetch_all(&db.pool);
        let tallies = sqlx::query_scalar("SELECT to_jsonb(tallies) FROM tallies ORDER BY build_a, build_b")
            .fetch_all(&db.pool);
        (votes.await.unwrap(), ratings.await.unwrap(), tallies.await.unwrap())
    };
    let right = rows().await;

    let damages = [
        (
            "UPDATE ratings SET elo = elo + 1e-12 WHERE model_key = 'reference_sculptor'",
            "0 votes and 1 rating differ; the first: reference_sculptor (32-simple-precise) is stored with Elo",
        ),
        (
            "UPDATE ratings SET ties = ties + 1 WHERE model_key = 'reference_architect'",
            "the first: reference_architect (32-simple-precise) is stored with ties 4; by its votes, that is 3",
        ),
        (
            "UPDATE votes SET elo_b_after = 0 WHERE id = 385",
            "1 vote and 0 ratings differ; the first: vote 385 is stored with",
        ),
        (
            "DELETE FROM ratings WHERE model_key = 'reference_architect'",
            "reference_architect (32-simple-precise) has votes, but no stored rating",
        ),
        (
            "INSERT INTO ratings (settings, model_key, wins) VALUES ('64-simple-precise', 'reference_architect', 1)",
            "reference_architect (64-simple-precise) has a stored rating, but no votes",
        ),
        (
            "UPDATE tallies SET b = b + 1 WHERE build_a = (SELECT max(build_a::text)::uuid FROM tallies)",
            "0 votes, 0 ratings and 1 tally differ; the first: the tally of builds",
        ),
        ("DELETE FROM tallies", "0 votes, 0 ratings and "),
        ("UPDATE tallies SET first_votes = 7", "0 votes, 0 ratings and "),
        (
            "UPDATE voter_totals SET votes = votes + 1",
            "differ; the first: the number of counted votes is stored wrongly for ",
        ),
        (
            "UPDATE votes SET elo_a_before = 1, elo_a_after = 2; UPDATE ratings SET elo = 3",
            "12 votes and 2 ratings differ",
        ),
    ];
    for (number, (damage, words)) in (1..).zip(damages) {
        db.run(damage).await;
        let damaged = rows().await;
        let (code, printed, _) = recompute(&db, &["--verify"], "");
        assert_eq!(code, 1, "{damage}: {printed}");
        assert!(printed.contains(words), "{words:?} is not in {printed}");
        assert_eq!(rows().await, damaged, "a comparison must change nothing");

        let (code, printed, _) = recompute(&db, &["--write"], "");
        assert!(code == 0 && printed.contains("corrected; the first: "), "{printed}");
        assert_eq!(rows().await, right, "after {damage}");
        let (code, printed, _) = recompute(&db, &["--write"], "");
        assert!(code == 0 && printed.contains("nothing was changed"), "{printed}");
        assert_eq!(recompute(&db, &["--verify"], "").0, 0);
        let repairs = "SELECT count(*) FROM audit WHERE action = 'recompute' AND via = 'cli'";
        assert_eq!(db.number(repairs).await, number, "only repairs that changed something are in the audit");
    }
}

#[test]
fn recompute_rejects_conflicting_options() {
    for arguments in [vec![], vec!["--verify", "--write"], vec!["--verify", "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        // If the arguments were accepted by mistake, the command must not find a database.
        command.arg("recompute").args(&arguments).env("DATABASE_URL", "nowhere");
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(printed.contains("Usage: "), "{arguments:?}: {printed}");
    }
}

fn new_arena(db: &TestDb) -> Arena {
    let settings = Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() };
    Arena::new(db.pool.clone(), settings, ReferencePolicy::Off, Duration::ZERO)
}

/// Casts votes from several voters concurrently.
async fn vote_concurrently(arena: Arc<Arena>, voters: usize, votes: usize) {
    let vote = |arena: Arc<Arena>| async move {
        let voter = Voter(Uuid::new_v4());
        for number in 0..votes {
            let matchup = arena.matchup(voter, None).await.unwrap();
            arena
                .vote(voter, matchup.id, Choice::ALL[number % 4], std::net::Ipv4Addr::LOCALHOST.into())
                .await
                .unwrap();
        }
    };
    let tasks: Vec<_> = (0..voters).map(|_| tokio::spawn(vote(Arc::clone(&arena)))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// The log is read in pages without a transaction around them, while votes are being committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_read_during_voting_can_be_replayed() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 6, 8).await;
    let arena = Arc::new(new_arena(&db));
    vote_concurrently(Arc::clone(&arena), 6, 100).await;
    let voting = tokio::spawn(vote_concurrently(arena, 6, 60));
    let mut readings = 0;
    while readings < 3 || !voting.is_finished() {
        let committed = db.number("SELECT count(*) FROM votes").await;
        let mut log = VoteLog::open(&db.pool, 0, i64::MAX).await.unwrap();
        let mut report = ReplayReport::default();
        let mut pages = 0;
        loop {
            let votes = log.next(&db.pool).await.unwrap();
            if votes.is_empty() {
                break;
            }
            votes.iter().for_each(|vote| {
                report.next(vote).unwrap();
            });
            pages += 1;
        }
        assert!(pages > 1, "the test needs a log of several pages");
        assert_eq!(report.first, None, "in reading {readings}");
        assert!(
            report.replay.votes as i64 >= committed,
            "every vote committed before the reading must be in it"
        );
        readings += 1;
    }
    voting.await.unwrap();
    assert!(replay::verify(&db.pool).await.unwrap().is_clean());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repairing_during_voting_loses_nothing() {
    let db = TestDb::seeded().await;
    insert_identical_builds(&db, 6, 8).await;
    let arena = Arc::new(new_arena(&db));
    vote_concurrently(Arc::clone(&arena), 2, 20).await;
    let done = Arc::new(AtomicBool::new(false));
    let (pool, stop) = (db.pool.clone(), Arc::clone(&done));
    let repairing = tokio::spawn(async move {
        let mut repairs = 0;
        while repairs < 5 || !stop.load(Ordering::SeqCst) {
            sqlx::query("UPDATE votes SET elo_a_after = 0 WHERE id = (SELECT min(id) FROM votes)")
                .execute(&pool)
                .await
                .unwrap();
            let report = replay::repair(&pool, Admin::COMMAND_LINE).await.unwrap();
            assert_eq!((report.differing_votes, report.differing_ratings), (1, 0));
            repairs += 1;
        }
    });
    vote_concurrently(arena, 6, 40).await;
    done.store(true, Ordering::SeqCst);
    repairing.await.unwrap();
    let report = replay::verify(&db.pool).await.unwrap();
    assert_eq!((report.first, report.replay.votes), (None, 2 * 20 + 6 * 40));
}
