//! The check that a voter is a person, before the first vote.

use std::sync::Arc;
use std::time::Duration;

use buildoff::app::App;
use buildoff::arena::Voter;
use buildoff::config::CaptchaService::{self, Hcaptcha, Turnstile};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::time::timeout;
use tracing::subscriber::set_default;
use uuid::Uuid;

use crate::support::db::TestDb;
use crate::support::fake_captcha::{
    CAPTCHA_SECRET, CAPTCHA_SITE_KEY, CAPTCHA_TOKEN, FakeCaptcha, FakeCaptchaMode,
};
use crate::support::voter::{TestResponse, TestVoter, solve_work};
use crate::support::{AbortableRequest, TestLogBuffer, TestServer};

const PERSON_CHECK: &str = "/api/arena/person-check";
const WORK: [(&str, &str); 3] = [("PERSON_CHECK", "work"), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
const NOBODY_LISTENS: &str = "http://127.0.0.1:1/siteverify";

async fn work_server() -> (TestDb, TestServer, App) {
    let db = TestDb::seeded().await;
    let (server, app) = TestServer::start_with_app(db.pool.clone(), &WORK).await;
    (db, server, app)
}

async fn captcha_server(pool: PgPool, service: CaptchaService, verify_url: &str) -> TestServer {
    captcha_server_with_secret(pool, service, verify_url, CAPTCHA_SECRET).await
}

async fn captcha_server_with_secret(
    pool: PgPool,
    service: CaptchaService,
    verify_url: &str,
    secret: &str,
) -> TestServer {
    let variables = [
        ("PERSON_CHECK", service.name()),
        ("PERSON_CHECK_SITE_KEY", CAPTCHA_SITE_KEY),
        ("PERSON_CHECK_SECRET", secret),
        ("RATE_LIMITS", "off"),
        ("MIN_DWELL_MS", "0"),
    ];
    TestServer::start_with_captcha_at(pool, &variables, verify_url).await
}

/// Gets a matchup and fetches its builds.
async fn look(voter: &TestVoter) -> Value {
    let matchup = voter.matchup().await;
    voter.fetch_builds(&matchup).await;
    matchup
}

async fn answer(voter: &TestVoter, answer: &str) -> TestResponse {
    voter.post(PERSON_CHECK, &json!({ "answer": answer })).await
}

fn status_and_code(response: &TestResponse) -> (u16, String) {
    (response.status, response.code())
}

/// The lines of `/metrics` about checks, as in `work/passed 1`, in alphabetical order.
async fn counts(server: &TestServer) -> Vec<String> {
    let metrics = server.get("/metrics").send().await.unwrap().text().await.unwrap();
    let lines = metrics.lines().filter_map(|line| line.strip_prefix("buildoff_person_checks_total{kind=\""));
    let mut lines: Vec<_> = lines.map(|line| line.replace("\",result=\"", "/").replace("\"}", "")).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_vote_without_the_check_is_refused_with_its_challenge_and_counts_after_the_work() {
    let (db, server, _) = work_server().await;
    let voter = server.voter();
    let matchup = look(&voter).await;
    let check = &matchup["personCheck"];
    assert_eq!((&check["kind"], &check["bits"]), (&json!("work"), &json!(17)));

    let refused = voter.vote(&matchup, "A").await;
    let again = &refused.json()["personCheck"];
    assert_eq!(refused.status, 403);
    assert_eq!(
        refused.json(),
        json!({
            "error": "Your browser has to pass a short check before you can vote.",
            "code": "person_check_required",
            "personCheck": { "kind": "work", "challenge": again["challenge"], "bits": 17 },
        })
    );
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 0);

    assert_eq!(answer(&voter, &solve_work(again)).await.status, 204);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
    assert_eq!(voter.matchup().await["personCheck"], json!(null), "who has passed is not asked again");
    assert_eq!(counts(&server).await, ["work/failed 0", "work/passed 1", "work/unreachable 0"]);
}

#[tokio::test]
async fn voters_are_checked_by_default_where_the_site_has_a_public_address() {
    let db = TestDb::seeded().await;
    for (variables, kind) in [
        (vec![], json!(null)),
        (vec![("PUBLIC_URL", "http://buildoff.example")], json!("work")),
        (vec![("PUBLIC_URL", "http://buildoff.example"), ("PERSON_CHECK", "off")], json!(null)),
        (vec![("PERSON_CHECK", "work")], json!("work")),
    ] {
        let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
        assert_eq!(server.voter().matchup().await["personCheck"]["kind"], kind, "{variables:?}");
    }
}

#[tokio::test]
async fn an_answer_is_of_no_use_to_another_voter() {
    let (_db, server, _) = work_server().await;
    let (voter, other) = (server.voter(), server.voter());
    let solved = solve_work(&look(&voter).await["personCheck"]);
    let matchup = look(&other).await;

    let refused = answer(&other, &solved).await;
    assert_eq!(status_and_code(&refused), (403, "person_check_failed".to_owned()));
    assert_eq!(refused.json()["personCheck"]["kind"], "work", "with another challenge");
    assert_eq!(other.vote(&matchup, "A").await.code(), "person_check_required");
    let without_session = answer(&server.voter(), &solved).await;
    assert_eq!(status_and_code(&without_session), (400, "bad_request".to_owned()));
    assert_eq!(answer(&voter, &solved).await.status, 204);
}

#[tokio::test]
async fn a_failed_check_is_counted_and_told_once_and_marks_nothing() {
    let log = TestLogBuffer::default();
    let guard = set_default(tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone()).finish());
    let (db, server, _) = work_server().await;
    let voter = server.voter();
    let check = look(&voter).await["personCheck"].clone();
    let challenge = check["challenge"].as_str().unwrap();
    for wrong in ["", "nonsense", challenge, &"x".repeat(60_000)] {
        let refused = answer(&voter, wrong).await;
        assert_eq!(status_and_code(&refused), (403, "person_check_failed".to_owned()), "{wrong:.40}");
    }
    assert_eq!(counts(&server).await, ["work/failed 4", "work/passed 0", "work/unreachable 0"]);
    drop(guard);
    let log = log.text();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("did not pass the check")).collect();
    assert_eq!(warnings.len(), 1, "of four failures within a minute: {warnings:#?}");
    assert!(warnings[0].contains("WARN") && warnings[0].contains("failed=1 unreachable=0"), "{warnings:#?}");
    assert_eq!(db.number("SELECT count(*) FROM person_checks").await, 0);
    assert_eq!(answer(&voter, &solve_work(&check)).await.status, 204, "the same challenge is still good");
}

#[tokio::test]
async fn a_voter_who_is_asked_again_has_to_solve_a_new_challenge() {
    let (db, server, app) = work_server().await;
    let voter = server.voter();
    let matchup = look(&voter).await;
    let first = solve_work(&matchup["personCheck"]);
    assert_eq!(answer(&voter, &first).await.status, 204);

    let id: Uuid =
        sqlx::query_scalar("SELECT voter_id FROM person_checks").fetch_one(&db.pool).await.unwrap();
    app.person_checks.ask_again(Voter(id)).await.unwrap();
    let refused = voter.vote(&matchup, "A").await;
    assert_eq!(status_and_code(&refused), (403, "person_check_required".to_owned()));
    assert_eq!(answer(&voter, &first).await.code(), "person_check_failed", "the answer from before");
    assert_eq!(answer(&voter, &solve_work(&refused.json()["personCheck"])).await.status, 204);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200);
}

#[tokio::test]
async fn servers_on_one_database_accept_each_others_challenges_and_checks() {
    let (db, server, _) = work_server().await;
    let second = TestServer::start_with_env(db.pool.clone(), &WORK).await;
    let voter = server.voter();
    let matchup = look(&voter).await;
    let elsewhere = voter.with_base_url(&second.url);
    assert_eq!(elsewhere.vote(&matchup, "A").await.code(), "person_check_required");

    assert_eq!(answer(&elsewhere, &solve_work(&matchup["personCheck"])).await.status, 204);
    assert_eq!(voter.vote(&matchup, "A").await.status, 200, "at the first server, at once");
}

#[tokio::test]
async fn answers_to_the_check_are_limited_for_each_voter() {
    let db = TestDb::seeded().await;
    let server = TestServer::start_with_env(db.pool.clone(), &[("PERSON_CHECK", "work")]).await;
    let voter = server.voter();
    voter.matchup().await;
    for _ in 0..5 {
        assert_eq!(answer(&voter, "nonsense").await.status, 403);
    }
    let limited = answer(&voter, "nonsense").await;
    assert_eq!(status_and_code(&limited), (429, "rate_limited".to_owned()));
    assert!(!limited.header("retry-after").is_empty());
}

#[tokio::test]
async fn an_answer_counts_although_its_voter_has_left() {
    let db = TestDb::seeded().await;
    let allowed = Arc::new(Notify::new());
    let captcha = FakeCaptcha::start(Turnstile, FakeCaptchaMode::Held(Arc::clone(&allowed))).await;
    let server = captcha_server(db.pool.clone(), Turnstile, &captcha.url).await;
    let voter = server.voter();
    let matchup = look(&voter).await;
    let request = AbortableRequest::json(PERSON_CHECK, &json!({ "answer": CAPTCHA_TOKEN }))
        .header("cookie", voter.cookie().unwrap());
    tokio::select! {
        _ = request.send(&server.url) => panic!("the service has not answered yet"),
        () = captcha.wait_for_request() => {}
    }
    allowed.notify_one();
    let voted = async { while voter.vote(&matchup, "A").await.status == 403 {} };
    timeout(Duration::from_secs(20), voted).await.expect("the answer was not taken");
    assert_eq!(db.number("SELECT count(*) FROM votes").await, 1);
}

#[tokio::test]
async fn a_token_of_a_service_passes_once() {
    for service in [Turnstile, Hcaptcha] {
        let db = TestDb::seeded().await;
        let captcha = FakeCaptcha::start(service, FakeCaptchaMode::Working).await;
        let server = captcha_server(db.pool.clone(), service, &captcha.url).await;
        let (voter, other) = (server.voter(), server.voter());
        let matchup = look(&voter).await;
        let name = service.name();
        assert_eq!(matchup["personCheck"], json!({ "kind": name, "siteKey": CAPTCHA_SITE_KEY }));

        assert_eq!(answer(&voter, "").await.code(), "person_check_failed", "{name}: no token");
        assert_eq!(answer(&voter, "made-up").await.code(), "person_check_failed", "{name}: another token");
        assert_eq!(answer(&voter, CAPTCHA_TOKEN).await.status, 204, "{name}");
        assert_eq!(voter.vote(&matchup, "A").await.status, 200);
        other.matchup().await;
        assert_eq!(answer(&other, CAPTCHA_TOKEN).await.code(), "person_check_failed", "{name}: a used token");
        let expected = ["failed 3", "passed 1", "unreachable 0"].map(|count| format!("{name}/{count}"));
        assert_eq!(counts(&server).await, expected);
        assert!(!db.dump().await.contains(CAPTCHA_SECRET));
    }
}

#[tokio::test]
async fn while_a_service_cannot_verify_voters_pass_for_ten_minutes_and_are_counted() {
    let broken = |status, text| FakeCaptcha::start(Turnstile, FakeCaptchaMode::Broken(status, text));
    let down = broken(503, "<html>upstream connect error</html>").await;
    let moved = broken(301, "").await;
    let vague = broken(200, "{\"ok\":true}").await;
    let working = FakeCaptcha::start(Turnstile, FakeCaptchaMode::Working).await;
    for (verify_url, secret) in [
        (NOBODY_LISTENS, CAPTCHA_SECRET),
        (&down.url, CAPTCHA_SECRET),
        (&moved.url, CAPTCHA_SECRET),
        (&vague.url, CAPTCHA_SECRET),
        (&working.url, "a-secret-that-was-revoked"),
    ] {
        let db = TestDb::seeded().await;
        let server = captcha_server_with_secret(db.pool.clone(), Turnstile, verify_url, secret).await;
        let voter = server.voter();
        let matchup = look(&voter).await;
        assert_eq!(answer(&voter, "unavailable").await.status, 204, "{verify_url}");
        assert_eq!(voter.vote(&matchup, "A").await.status, 200, "{verify_url}");
        let expected = ["turnstile/failed 0", "turnstile/passed 0", "turnstile/unreachable 1"];
        assert_eq!(counts(&server).await, expected, "{verify_url}");
        let minutes = "SELECT ceil(extract(epoch FROM passed_until - now()) / 60)::bigint FROM person_checks";
        assert_eq!(db.number(minutes).await, 10, "{verify_url}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_token_is_refused_without_asking_the_service() {
    let db = TestDb::seeded().await;
    let captcha = FakeCaptcha::start(Hcaptcha, FakeCaptchaMode::Broken(403, "blocked by a firewall")).await;
    let server = captcha_server(db.pool.clone(), Hcaptcha, &captcha.url).await;
    let voter = server.voter();
    voter.matchup().await;
    for forged in ["' OR 1=1 --", "<script>", "a b", "\u{e9}", &"x".repeat(16_385)] {
        assert_eq!(answer(&voter, forged).await.code(), "person_check_failed", "{forged:.40}");
    }
    assert_eq!(captcha.received(), Vec::<String>::new());
}

#[tokio::test]
async fn only_the_arenas_page_allows_a_services_scripts_and_only_if_it_is_configured() {
    let db = TestDb::seeded().await;
    let policy = async |server: &TestServer, path: &str| {
        let answer = server.get(path).send().await.unwrap();
        answer.headers()["content-security-policy"].to_str().unwrap().to_owned()
    };
    let plain = TestServer::start_with_env(db.pool.clone(), &WORK).await;
    let usual = policy(&plain, "/about").await;
    assert_eq!(policy(&plain, "/").await, usual);
    for (service, host) in
        [(Turnstile, "https://challenges.cloudflare.com"), (Hcaptcha, "https://*.hcaptcha.com")]
    {
        let server = captcha_server(db.pool.clone(), service, NOBODY_LISTENS).await;
        let arena = policy(&server, "/").await;
        for directive in ["script-src 'self'", "frame-src"] {
            let rule = arena.split("; ").find(|rule| rule.starts_with(directive));
            assert!(rule.is_some_and(|rule| rule.contains(host)), "{directive}: {arena}");
        }
        assert!(arena.contains("default-src 'none'") && !arena.contains("unsafe"), "{arena}");
        for path in ["/about", "/admin", "/nothing", "/api/arena/prompts"] {
            assert_eq!(policy(&server, path).await, usual, "{path}");
        }
    }
}

#[tokio::test]
async fn expired_checks_are_dropped_and_their_voters_are_asked_like_new_ones() {
    let (db, server, app) = work_server().await;
    let voter = server.voter();
    let check = look(&voter).await["personCheck"].clone();
    assert_eq!(answer(&voter, &solve_work(&check)).await.status, 204);
    let rows = "SELECT count(*) FROM person_checks";
    buildoff::arena::person_checks::purge(&app.pool).await.unwrap();
    assert_eq!(db.number(rows).await, 1);

    db.run("UPDATE person_checks SET passed_until = now() - interval '25 hours'").await;
    buildoff::arena::person_checks::purge(&app.pool).await.unwrap();
    assert_eq!(db.number(rows).await, 0);
    let second = TestServer::start_with_env(db.pool.clone(), &WORK).await;
    assert_eq!(voter.with_base_url(&second.url).matchup().await["personCheck"]["kind"], "work");
}

#[tokio::test]
async fn the_about_page_says_how_visitors_are_checked() {
    let db = TestDb::seeded().await;
    let about = async |server: TestServer| server.get("/about").send().await.unwrap().text().await.unwrap();
    let off = about(TestServer::start_with_env(db.pool.clone(), &[]).await).await;
    let work = about(TestServer::start_with_env(db.pool.clone(), &WORK).await).await;
    let captcha = about(captcha_server(db.pool.clone(), Turnstile, NOBODY_LISTENS).await).await;
    let says = |page: &str| {
        ["your browser computes something", "Cloudflare Turnstile"].map(|words| page.contains(words))
    };
    assert_eq!([off, work, captcha].map(|page| says(&page)), [[false, false], [true, false], [false, true]]);
}
