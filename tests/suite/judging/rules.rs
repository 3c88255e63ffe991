//! What is taken, and what counts.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{CRITERIA, builds_of, judge, judge_build, next, scores, start, start_another};
use crate::support::AbortableRequest;
use crate::support::admin::TOKEN;
use crate::support::voter::solve_work;

#[tokio::test]
async fn a_judgement_is_stored_and_answered_with_the_maker_and_what_others_say() {
    let (db, server) = start(&[]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    let first = judge_build(&server.voter(), build, 4.0).await;
    assert_eq!(
        first["others"],
        json!({ "models": [], "people": { "count": 0, "overall": null, "scores": {} } })
    );
    judge_build(&server.voter(), build, 8.0).await;

    let voter = server.voter();
    let judging = voter.get(&format!("/api/judge/next?build={build}")).await.json();
    let body = json!({
        "id": judging["id"], "scores": { "task_progress": 7.5, "efficiency": null },
        "evidence": { "task_progress": " Clear\nat once. " }, "note": "Nice.",
    });
    let answer = voter.post("/api/judge", &body).await.json();
    let spread = json!({ "count": 2, "mean": 6.0, "spread": 8.0_f64.sqrt() });
    let by_criterion: serde_json::Map<_, _> =
        CRITERIA.map(|key| (key.to_owned(), spread.clone())).into_iter().collect();
    assert_eq!(
        answer,
        json!({
            "ok": true, "build": build, "model": answer["model"],
            "own": { "scores": { "task_progress": 7.5 }, "overall": 7.5 },
            "others": { "models": [], "people": { "count": 2, "overall": spread, "scores": by_criterion } },
            "url": format!("/judge/builds/{build}"),
        })
    );
    assert_eq!(answer["model"]["provider"], "reference");
    assert_eq!(db.number("SELECT count(*) FROM judgements WHERE evidence = '{\"task_progress\": \"Clear at once.\"}' AND note = 'Nice.' AND length(network) = 16").await, 1);
    assert_eq!(db.number("SELECT sum(people_judgements)::bigint FROM builds").await, 3);
}

#[tokio::test]
async fn a_build_is_judged_once_by_each_person_even_on_two_servers_at_once() {
    let (db, server) = start(&[]).await;
    let other = start_another(&db, &[]).await;
    let voter = server.voter();
    let judging = next(&voter).await;
    let elsewhere = voter.with_base_url(&other.url);
    let (a, b) = tokio::join!(judge(&voter, &judging, 3.0), judge(&elsewhere, &judging, 9.0));
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let refused = if a.status == 409 { &a } else { &b };
    assert_eq!(refused.code(), "already_judged");
    let stored = refused.json()["own"]["overall"].as_f64().unwrap();
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 1);
    assert_eq!(db.number("SELECT sum(overall)::bigint FROM judgements").await, stored as i64);

    let build = refused.json()["build"].as_str().unwrap().to_owned();
    let again = voter.get(&format!("/api/judge/next?build={build}")).await;
    assert_eq!((again.status, again.code().as_str()), (409, "already_judged"));
}

#[tokio::test]
async fn everybody_judges_each_build_once_and_those_with_few_judgements_first() {
    let (db, server) = start(&[]).await;
    for _ in 0..5 {
        let voter = server.voter();
        judge(&voter, &next(&voter).await, 5.0).await;
    }
    assert_eq!(db.number("SELECT max(people_judgements)::bigint FROM builds").await, 1, "each another build");
    let voter = server.voter();
    for _ in 0..10 {
        assert_eq!(judge(&voter, &next(&voter).await, 5.0).await.status, 200);
    }
    let none = voter.get("/api/judge/next").await;
    assert_eq!((none.status, none.code().as_str()), (409, "all_judged"));
}

#[tokio::test]
async fn a_skipped_build_does_not_come_back_and_the_open_one_stays() {
    let (_db, server) = start(&[]).await;
    let voter = server.voter();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let judging = next(&voter).await;
        assert_eq!(next(&voter).await["id"], judging["id"], "until it is skipped");
        seen.insert(judging["id"].to_string());
        for _ in 0..2 {
            assert_eq!(voter.post("/api/judge/skip", &json!({ "id": judging["id"] })).await.status, 204);
        }
        assert_eq!(judge(&voter, &judging, 5.0).await.code(), "judging_over");
    }
    assert_eq!(seen.len(), 10);
    assert_eq!(voter.get("/api/judge/next").await.code(), "all_judged");
}

#[tokio::test]
async fn a_judgement_uses_a_vote_of_the_days_budget_and_beyond_it_does_not_count() {
    for variable in ["VOTER_VOTES_PER_DAY", "NETWORK_VOTES_PER_DAY"] {
        let (db, server) = start(&[(variable, "2")]).await;
        let voter = server.voter();
        let matchup = voter.matchup().await;
        voter.fetch_builds(&matchup).await;
        assert_eq!(voter.vote(&matchup, "A").await.status, 200);
        for _ in 0..2 {
            assert_eq!(judge(&voter, &next(&voter).await, 5.0).await.status, 200, "answered alike");
        }
        let counted = "SELECT count(*) FROM judgements WHERE exclusion IS NULL";
        assert_eq!(db.number(counted).await, 1, "{variable}");
        assert_eq!(db.number("SELECT count(*) FROM judgements WHERE exclusion = 'over_budget'").await, 1);
        assert_eq!(db.number("SELECT sum(people_judgements)::bigint FROM builds").await, 1);
        let matchup = voter.matchup().await;
        voter.fetch_builds(&matchup).await;
        assert_eq!(voter.vote(&matchup, "A").await.status, 200);
        assert_eq!(db.number("SELECT count(*) FROM votes WHERE exclusion IS NULL").await, 1, "{variable}");
    }
}

#[tokio::test]
async fn a_judgement_waits_for_a_look_and_for_the_check_that_a_person_judges() {
    let (_db, server) = start(&[("MIN_DWELL_MS", "50"), ("PERSON_CHECK", "work")]).await;
    let voter = server.voter();
    let judging = next(&voter).await;
    let refused = judge(&voter, &judging, 5.0).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "person_check_required"));
    let answer = solve_work(&refused.json()["personCheck"]);
    assert_eq!(voter.post("/api/arena/person-check", &json!({ "answer": answer })).await.status, 204);
    let url = judging["gridUrl"].as_str().unwrap();
    voter.send(Method::HEAD, url, None).await.unwrap();
    let early = judge(&voter, &judging, 5.0).await;
    assert_eq!((early.status, early.code().as_str(), early.header("retry-after")), (429, "too_soon", "1"));
    assert_eq!(voter.get(url).await.status, 200);
    // The time has to pass on the server's clock.
    while judge(&voter, &judging, 5.0).await.status == 429 {
        tokio::task::yield_now().await;
    }
    assert_eq!(judge(&voter, &judging, 5.0).await.code(), "already_judged");
}

#[tokio::test]
async fn hostile_bodies_are_refused_and_store_nothing() {
    let (db, server) = start(&[]).await;
    let voter = server.voter();
    let id = next(&voter).await["id"].clone();
    let long = "x".repeat(1001);
    for body in [
        json!({}),
        json!({ "id": id }),
        json!({ "id": id, "scores": {} }),
        json!({ "id": id, "scores": [7] }),
        json!({ "id": id, "scores": { "efficiency": null } }),
        json!({ "id": id, "scores": { "efficiency": -0.5 } }),
        json!({ "id": id, "scores": { "efficiency": 1e300 } }),
        json!({ "id": id, "scores": { "efficiency": 0.25 } }),
        json!({ "id": id, "scores": { "action_control": 5 } }),
        json!({ "id": id, "scores": { "overall": 5 } }),
        json!({ "id": id, "scores": scores(5.0), "note": long }),
        json!({ "id": id, "scores": scores(5.0), "evidence": { "efficiency": long } }),
        json!({ "id": id, "scores": scores(5.0), "evidence": { "nothing": "x" } }),
        json!({ "id": id, "scores": scores(5.0), "voter": "x" }),
    ] {
        let answer = voter.post("/api/judge", &body).await;
        assert!(matches!(answer.status, 400 | 422), "{body}: {} {}", answer.status, answer.text());
    }
    for stranger_id in [json!("x"), json!("0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")] {
        let body = json!({ "id": stranger_id, "scores": scores(5.0) });
        assert_eq!(voter.post("/api/judge", &body).await.code(), "no_such_judging");
    }
    assert_eq!(judge(&server.voter(), &json!({ "id": id }), 5.0).await.code(), "no_such_judging");
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 0);
    let odd = json!({ "id": id, "scores": scores(5.0), "note": "\u{0}\u{1}<b>\u{202e}" });
    assert_eq!(voter.post("/api/judge", &odd).await.status, 200);
}

#[tokio::test]
async fn withheld_and_retired_builds_are_not_judged_even_if_they_were_open() {
    let (db, server) = start(&[("ADMIN_TOKEN", TOKEN)]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    let address = format!("/api/judge/next?build={build}");
    let (voter, late) = (server.voter(), server.voter());
    judge_build(&voter, build, 5.0).await;
    let open = late.get(&address).await.json();

    db.run("UPDATE prompts SET held_out = true WHERE id = 'lighthouse'").await;
    let url = open["gridUrl"].as_str().unwrap();
    assert_eq!(late.get(url).await.status, 404);
    assert_eq!(judge(&late, &open, 5.0).await.code(), "judging_over");
    assert_eq!(server.voter().get(&address).await.code(), "no_build");
    for path in [format!("/judge/builds/{build}"), address.clone()] {
        assert_eq!(voter.get(&path).await.status, 404, "{path}");
    }
    for _ in 0..8 {
        let judging = next(&late).await;
        assert_ne!(judging["prompt"]["id"], "lighthouse");
        assert_eq!(judge(&late, &judging, 5.0).await.status, 200);
    }
    assert_eq!(late.get("/api/judge/next").await.code(), "all_judged");

    db.run("UPDATE prompts SET held_out = false WHERE id = 'lighthouse'").await;
    assert_eq!(voter.get(&format!("/judge/builds/{build}")).await.status, 200);
    assert_eq!(server.admin().delete(&format!("/api/admin/builds/{build}")).await.status, 204);
    assert_eq!(server.voter().get(&address).await.code(), "build_retired");
    assert!(server.voter().get(&format!("/judge/builds/{build}")).await.text().contains("no longer judged"));
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 9);
}

#[tokio::test]
async fn visitors_who_leave_in_the_middle_leave_nothing_half_done() {
    let (db, server) = start(&[]).await;
    for ms in 0..24 {
        let voter = server.voter();
        let judging = next(&voter).await;
        let limit = Duration::from_micros(ms * 250);
        let with = |request: AbortableRequest| request.header("cookie", voter.cookie().unwrap());
        let url = judging["gridUrl"].as_str().unwrap();
        with(AbortableRequest::get(url)).send_with_timeout(&server.url, limit).await;
        let image = url.replace("/grid", "/image?size=64");
        with(AbortableRequest::get(image)).send_with_timeout(&server.url, limit).await;
        let body = json!({ "id": judging["id"], "scores": scores(5.0) });
        with(AbortableRequest::json("/api/judge", &body)).send_with_timeout(&server.url, limit).await;
        let after: Value = judge(&voter, &judging, 5.0).await.json();
        assert!(after["own"]["overall"] == json!(5.0), "{after}");
    }
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 24);
    assert_eq!(db.number("SELECT sum(people_judgements)::bigint FROM builds").await, 24);
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    db.wait_until(&format!("({waiting}) = 0")).await;
}
