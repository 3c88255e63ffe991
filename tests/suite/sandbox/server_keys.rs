//! The server's own keys in the sandbox: who may use them, for which models, and how much in a day.

use buildoff::arena::lent_keys;

use super::*;

/// What one side costs by the usage that the fake provider reports, in millionths of a dollar.
const COST: i64 = 200;

/// The least that a request counts with while it is under way: 15,000 tokens of output.
const LEAST_EXPECTED: i64 = 30_000;

/// In the events of a run whose answer has begun with a character, as a stalled one does.
const ANSWERED: &str = "\"chars\":1,";

const SPENT: &str = "SELECT coalesce(sum(spent), 0)::bigint FROM lent_key_days";

/// A server whose keys everybody may use, behind a trusted proxy.
async fn public_fixture(
    variables: &[(&str, &str)],
    answers: impl Fn(usize) -> FakeResponse + Send + Sync + 'static,
) -> SandboxFixture {
    let public = [("SANDBOX_SERVER_KEYS", "on"), ("TRUSTED_PROXIES", "127.0.0.0/8")];
    SandboxFixture::new(&[&public[..], variables].concat(), answers).await
}

/// What comes of a run of a visitor from this address: the type or the code of each side's last event.
async fn run_from(server: &TestServer, address: &str, body: &Value) -> Vec<String> {
    let request = server.post("/api/generate").header("x-forwarded-for", address).json(body);
    let text = request.send().await.unwrap().text().await.unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let end = |event: Value| match event["type"].as_str().unwrap() {
        "result" => Some("result".to_owned()),
        "error" => Some(event["code"].as_str().unwrap().to_owned()),
        _ => None,
    };
    let mut ends: Vec<_> = events.filter_map(end).collect();
    ends.sort();
    ends
}

fn one_side(mut body: Value) -> Value {
    body["only"] = json!("a");
    body
}

fn two_models(models: &Value) -> Value {
    json!({ "prompt": "a shed", "gridSize": 32, "palette": "simple", "models": models })
}

#[tokio::test]
async fn without_a_decision_keys_are_lent_to_the_own_machine_alone_and_not_behind_a_proxy() {
    let local = "http://localhost:3000";
    for (variables, host, origin, header, found) in [
        (&[][..], "localhost:3000", Some(local), None, 2),
        (&[], "[::1]:3000", Some("http://[::1]:3000"), None, 2),
        (&[], "127.0.0.1:3000", Some("http://127.0.0.1:3000"), None, 2),
        // A proxy that only passes requests on, with the visitor's browser at the public address.
        (&[], "127.0.0.1:3000", Some("https://buildoff.example"), None, 0),
        (&[], "localhost:3000", Some("http://localhost.example:3000"), None, 0),
        (&[], "localhost:3000", Some("null"), None, 0),
        (&[], "localhost:3000", None, None, 0),
        (&[], "rebound.example:3000", Some("http://rebound.example:3000"), None, 0),
        (&[], "127.0.0.1.example", Some("http://127.0.0.1.example"), None, 0),
        (&[], "localhost:3000", Some(local), Some("x-forwarded-for"), 0),
        (&[], "localhost:3000", Some(local), Some("x-forwarded-host"), 0),
        (&[], "localhost:3000", Some(local), Some("x-real-ip"), 0),
        (&[("PUBLIC_URL", "https://buildoff.example")], "localhost:3000", Some(local), None, 0),
        (
            &[("PUBLIC_URL", "https://buildoff.example")],
            "127.0.0.1:3000",
            Some("https://buildoff.example"),
            None,
            0,
        ),
        (&[("TRUSTED_PROXIES", "127.0.0.1")], "localhost:3000", Some(local), None, 0),
        (&[("SANDBOX_SERVER_KEYS", "off")], "localhost:3000", Some(local), None, 0),
        (
            &[("SANDBOX_SERVER_KEYS", "on"), ("PUBLIC_URL", "https://buildoff.example")],
            "buildoff.example",
            Some("https://buildoff.example"),
            Some("x-forwarded-for"),
            2,
        ),
    ] {
        let fixture = SandboxFixture::new(variables, valid_response).await;
        let mut request = fixture.server.post("/api/generate").header("host", host).json(&two_model_run());
        // A browser says so itself, also where a proxy gives the request another host.
        request = request.header("sec-fetch-site", "same-origin");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        if let Some(name) = header {
            request = request.header(name, "203.0.113.9");
        }
        let reply = request.send().await.unwrap().text().await.unwrap();
        let case = format!("{variables:?} {host} {origin:?} {header:?}: {reply}");
        assert_eq!(reply.matches("\"result\"").count(), found, "{case}");
        assert_eq!(reply.matches("\"no_key\"").count(), 2 - found, "{case}");
        assert_eq!(fixture.provider.requests().len(), found, "{case}");
    }
}

#[tokio::test]
async fn a_server_with_keys_says_at_start_that_nobody_decided_who_may_use_them() {
    for (variables, warned) in [
        (&[("OPENAI_API_KEY", API_KEY)][..], true),
        (&[("OPENAI_API_KEY", API_KEY), ("PUBLIC_URL", "https://buildoff.example")], true),
        (&[("OPENAI_API_KEY", API_KEY), ("SANDBOX_SERVER_KEYS", "on")], false),
        (&[("OPENAI_API_KEY", API_KEY), ("SANDBOX_SERVER_KEYS", "off")], false),
        (&[], false),
    ] {
        let process = TestServerProcess::start(&TestDb::new().await, variables);
        let log = process.log();
        assert_eq!(log.matches("API keys are set").count(), usize::from(warned), "{variables:?}: {log}");
        assert!(!log.contains(API_KEY));
    }
}

#[tokio::test]
async fn lent_keys_are_for_enabled_models_of_the_catalog_alone() {
    let fixture = public_fixture(&[], valid_response).await;
    for models in [
        json!([{ "provider": "somebody", "model": MODEL }, { "provider": "somebody", "model": "x" }]),
        // A provider without a key is lent like one, so a made-up key opens it no further.
        json!([{ "provider": "nearby", "model": MODEL }, { "provider": "nearby", "model": "x", "apiKey": API_KEY }]),
    ] {
        let ends = run_from(&fixture.server, "198.51.100.1", &two_models(&models)).await;
        assert_eq!(ends, ["no_key", "no_key"], "{models}");
    }
    fixture.db.run("UPDATE models SET enabled = false WHERE key = 'two'").await;
    let refused = fixture.start_run(&two_model_run()).await;
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "unknown_model");
    assert!(fixture.provider.requests().is_empty());
    assert_eq!(fixture.db.dump().await.matches("198.51.100").count(), 0);
    assert_eq!(fixture.db.number("SELECT count(*) FROM lent_key_runs").await, 0, "nothing was lent");
}

#[tokio::test]
async fn a_lent_model_keeps_its_configured_limits() {
    let fixture = public_fixture(&[], valid_response).await;
    fixture.db.run(r#"UPDATE models SET options = '{"maxOutputTokens": 4321}' WHERE key = 'one'"#).await;
    let ends = run_from(&fixture.server, "198.51.100.1", &one_side(two_model_run())).await;
    assert_eq!(ends, ["result"]);
    let body = &fixture.provider.requests()[0].body;
    assert!(body["max_tokens"] == 4321 || body["max_completion_tokens"] == 4321, "{body}");
}

#[tokio::test]
async fn a_network_has_its_runs_a_day_over_all_servers_and_restarts() {
    let fixture = public_fixture(&[("SANDBOX_DAILY_RUNS", "2")], valid_response).await;
    let variables =
        [("SANDBOX_SERVER_KEYS", "on"), ("TRUSTED_PROXIES", "127.0.0.0/8"), ("SANDBOX_DAILY_RUNS", "2")];
    let other = fixture.another_server(&variables).await;
    let run = two_model_run();
    for (server, address, expected) in [
        (&fixture.server, "198.51.100.1", "result"),
        (&other, "198.51.100.2", "result"),
        (&fixture.server, "198.51.100.3", "over_budget"),
        (&other, "::ffff:198.51.100.4", "over_budget"),
        (&other, "198.51.101.1", "result"),
        (&fixture.server, "2001:db8:1:1::1", "result"),
        (&fixture.server, "2001:db8:1:2::1", "result"),
        (&other, "2001:db8:1:3::1", "over_budget"),
        (&other, "2001:db8:2:1::1", "result"),
    ] {
        assert_eq!(run_from(server, address, &run).await, [expected, expected], "{address}");
    }
    let own = json!([{ "key": "one", "apiKey": API_KEY }, { "key": "two", "apiKey": API_KEY }]);
    let ends = run_from(&fixture.server, "198.51.100.1", &two_models(&own)).await;
    assert_eq!(ends, ["result", "result"], "a visitor's own key needs no budget");
}

#[tokio::test]
async fn networks_are_stored_only_as_digests_that_change_every_day() {
    let fixture = public_fixture(&[], valid_response).await;
    run_from(&fixture.server, "198.51.100.77", &two_model_run()).await;
    let network = "SELECT encode(network, 'hex') FROM lent_key_runs";
    let first: String = sqlx::query_scalar(network).fetch_one(&fixture.db.pool).await.unwrap();
    // Another day begins with another salt.
    fixture.db.run("DELETE FROM lent_key_days").await;
    run_from(&fixture.server, "198.51.100.77", &two_model_run()).await;
    let second: String = sqlx::query_scalar(network).fetch_one(&fixture.db.pool).await.unwrap();
    assert_eq!((first.len(), second.len()), (64, 64));
    assert_ne!(first, second, "the same network must have another digest on another day");
    let stored = fixture.db.dump().await;
    assert!(!stored.contains("198.51.100"), "an address is stored");
}

#[tokio::test]
async fn days_are_forgotten_after_two() {
    let db = TestDb::new().await;
    db.run("INSERT INTO lent_key_days (day) SELECT (now() AT TIME ZONE 'UTC')::date - n FROM generate_series(0, 3) AS n")
        .await;
    db.run("INSERT INTO lent_key_runs (day, network, runs) SELECT day, sha256('x'), 1 FROM lent_key_days")
        .await;
    lent_keys::purge(&db.pool).await.unwrap();
    let today_and_yesterday =
        "SELECT count(*) FROM lent_key_days WHERE day >= (now() AT TIME ZONE 'UTC')::date - 1";
    assert_eq!(db.number(today_and_yesterday).await, 2);
    assert_eq!(db.number("SELECT count(*) FROM lent_key_days").await, 2);
    assert_eq!(db.number("SELECT count(*) FROM lent_key_runs").await, 2, "the digests go with their day");
}

#[tokio::test]
async fn what_lent_keys_cost_counts_once_it_is_known() {
    let fixture = public_fixture(&[], valid_response).await;
    run_from(&fixture.server, "198.51.100.1", &two_model_run()).await;
    assert_eq!(fixture.db.number(SPENT).await, 2 * COST);
}

#[tokio::test]
async fn a_spent_budget_ends_lending_until_the_next_day() {
    let fixture = public_fixture(&[("SANDBOX_DAILY_DOLLARS", "0.1")], valid_response).await;
    let run = one_side(two_model_run());
    assert_eq!(run_from(&fixture.server, "198.51.100.1", &run).await, ["result"]);
    fixture.db.run("UPDATE lent_key_days SET spent = 90000").await;
    assert_eq!(run_from(&fixture.server, "203.0.113.1", &run).await, ["over_budget"]);
    assert_eq!(fixture.provider.requests().len(), 1, "a request beyond the budget must not be sent");
    let runs = fixture.db.number("SELECT coalesce(sum(runs), 0)::bigint FROM lent_key_runs").await;
    assert_eq!(runs, 1, "a run that the budget refused must not count among its network's");
    assert_eq!(fixture.db.number(SPENT).await, 90_000);
    fixture.db.run("DELETE FROM lent_key_runs; UPDATE lent_key_days SET day = day - 1").await;
    assert_eq!(run_from(&fixture.server, "203.0.113.1", &run).await, ["result"]);
}

#[tokio::test]
async fn requests_at_the_same_time_on_two_servers_stay_within_the_budget() {
    // Each counts with at least 0.03 dollars while it is under way, and with less than 0.04.
    let variables = [
        ("SANDBOX_SERVER_KEYS", "on"),
        ("TRUSTED_PROXIES", "127.0.0.0/8"),
        ("SANDBOX_DAILY_DOLLARS", "0.12"),
    ];
    let fixture = SandboxFixture::new(&variables, stalled_response).await;
    let other = fixture.another_server(&variables).await;
    let body = one_side(two_model_run());
    let runs = (0..8).map(|n| {
        let server = if n % 2 == 0 { &fixture.server } else { &other };
        let request = server.post("/api/generate").header("x-forwarded-for", format!("198.51.{n}.1"));
        let body = &body;
        async move {
            let mut answer = request.json(body).send().await.unwrap();
            let mut received = String::new();
            while !received.contains(ANSWERED) && !received.contains("\"over_budget\"") {
                received += &String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap());
            }
            (received.contains(ANSWERED), answer)
        }
    });
    let answers = futures_util::future::join_all(runs).await;
    assert_eq!(answers.iter().filter(|(is_running, _)| *is_running).count(), 3);
    assert_eq!(fixture.provider.requests().len(), 3);
}

#[tokio::test]
async fn a_visitor_who_leaves_is_charged_what_was_expected_or_what_has_come() {
    let fixture = public_fixture(&[("SANDBOX_DAILY_DOLLARS", "100")], |n| {
        let text = if n == 0 { "word".to_owned() } else { "word ".repeat(60_000) };
        FakeResponse::stream()
            .send(FakeProtocol::Compatible.stream(&[FakePart::Text(&text)]))
            .then(FakeBodyStep::Stall)
    })
    .await;
    for (received_chars, least) in [(4, LEAST_EXPECTED), (300_000, 200_000)] {
        fixture.db.run("UPDATE lent_key_days SET spent = 0").await;
        let body = one_side(two_model_run());
        let request = fixture.server.post("/api/generate").header("x-forwarded-for", "198.51.100.1");
        let mut answer = request.json(&body).send().await.unwrap();
        let mut received = String::new();
        let all = format!("\"chars\":{received_chars},");
        while !received.contains(&all) {
            received += &String::from_utf8_lossy(&answer.chunk().await.unwrap().unwrap());
        }
        drop(answer);
        fixture.provider.wait_for_disconnect().await;
        timeout(Duration::from_secs(20), async {
            while fixture.db.number(SPENT).await < least {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("an answer of {received_chars} characters must cost at least {least}"));
    }
}

#[tokio::test]
async fn a_request_that_the_provider_declined_costs_nothing() {
    let declined =
        |_| FakeResponse::json(401, &json!({ "error": { "message": "no", "code": "invalid_api_key" } }));
    let fixture = public_fixture(&[], declined).await;
    assert_eq!(run_from(&fixture.server, "198.51.100.1", &two_model_run()).await, ["bad_key", "bad_key"]);
    assert_eq!(fixture.db.number(SPENT).await, 0);
}

#[tokio::test]
async fn a_model_without_a_price_counts_as_an_expensive_one() {
    let fixture = public_fixture(&[], valid_response).await;
    fixture.db.run("UPDATE models SET prices = NULL WHERE key = 'one'").await;
    run_from(&fixture.server, "198.51.100.1", &one_side(two_model_run())).await;
    assert_eq!(fixture.db.number(SPENT).await, 100 * 10 + 50 * 50);
}

#[tokio::test]
async fn what_lent_keys_cost_counts_for_the_day_the_month_and_the_model() {
    let fixture = public_fixture(&[("BUDGET_DAY", "0.05"), ("BUDGET_MONTH", "0.08")], valid_response).await;
    let run = one_side(two_model_run());
    assert_eq!(run_from(&fixture.server, "198.51.100.1", &run).await, ["result"]);
    let counted = "SELECT spent FROM spending_days WHERE model_key = 'one' AND purpose = 'sandbox'";
    assert_eq!(fixture.db.number(counted).await, COST);
    let refused = async |spend: &str, words: &str| {
        fixture.db.run(spend).await;
        let request =
            fixture.server.post("/api/generate").header("x-forwarded-for", "198.51.100.1").json(&run);
        let text = request.send().await.unwrap().text().await.unwrap();
        assert!(text.contains("\"over_budget\"") && text.contains(words), "{spend}: {text}");
    };
    refused("UPDATE spending_days SET spent = 50000", "is used up for today").await;
    let earlier = "UPDATE spending_days SET spent = 80000, day = date_trunc('month', day)::date; \
                   UPDATE lent_key_days SET spent = 0";
    // On the first of a month, the day is used up as well.
    refused(earlier, "is used up for t").await;
    fixture.db.run("DELETE FROM spending_days").await;
    let budget = json!({ "dollars": 0 });
    fixture.server.admin().json(reqwest::Method::PUT, "/api/admin/models/one/budget", &budget).await;
    refused("SELECT 1", "budget for this model is used up").await;
    assert_eq!(fixture.provider.requests().len(), 1, "what was refused must not be sent");
}

#[tokio::test]
async fn the_page_shows_what_is_left_of_the_budget_beside_the_keys() {
    let fixture = public_fixture(&[("SANDBOX_DAILY_DOLLARS", "4")], valid_response).await;
    let page = async || fixture.server.get("/sandbox").send().await.unwrap().text().await.unwrap();
    assert!(page().await.contains("Left for all visitors today: $4.00."));
    fixture
        .db
        .run("INSERT INTO lent_key_days (day, spent) VALUES ((now() AT TIME ZONE 'UTC')::date, 3250000)")
        .await;
    assert!(page().await.contains("Left for all visitors today: $0.75."));
    let queue = fixture.server.admin().get("/api/admin/queue").await.json();
    let budget = &queue["budgets"][0];
    assert_eq!(
        (&budget["kind"], &budget["percent"], &budget["sentence"]),
        (&json!("sandbox"), &json!(81), &json!("80 % or more of today’s sandbox budget of $4.00 is spent.")),
        "{queue}"
    );
    let closed = SandboxFixture::new(&[("SANDBOX_SERVER_KEYS", "off")], valid_response).await;
    let page = closed.server.get("/sandbox").send().await.unwrap().text().await.unwrap();
    assert!(!page.contains("Left for all visitors"));
}
