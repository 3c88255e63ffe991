//! Alarms about votes, and what admins do about them: by the API, in the console, and for everybody to read.

use std::net::IpAddr;

use buildoff::arena::Choice;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};

use super::{LadderFixture, small_ladder};
use crate::support::admin::TOKEN;
use crate::support::{TestAdmin, TestServer, assert_fits_everywhere, open_page};

const FLOOD_NETWORKS: usize = 50;
const FLOOD_VOTES: usize = 3;

const PAIRS: [(&str, &str, &str); 4] =
    [("castle", "elm", "fir"), ("owl", "fir", "ash"), ("castle", "ash", "elm"), ("owl", "ash", "fir")];

fn address(block: u8, network: usize) -> IpAddr {
    [10, block, u8::try_from(network).unwrap(), 1].into()
}

impl LadderFixture {
    async fn cast(&self, pair: (&str, &str, &str), choice: Choice, address: IpAddr) {
        let (prompt, a, b) = pair;
        let (voter, matchup) = self.serve(prompt, a, b).await;
        self.arena.vote(voter, matchup, choice, address).await.unwrap();
    }

    /// Three votes from each of these networks, none of which has a favourite.
    async fn honest_network(&self, network: usize) {
        for number in 0..3 {
            let pair = PAIRS[(network + number) % PAIRS.len()];
            self.cast(pair, Choice::ALL[number], address(1, network)).await;
        }
    }

    /// Votes from this network, all for one model, each with a new cookie.
    async fn flood_network(&self, network: usize) {
        for number in 0..FLOOD_VOTES {
            let (pair, choice) =
                [(PAIRS[0], Choice::B), (PAIRS[1], Choice::A), (PAIRS[3], Choice::B)][number % 3];
            self.cast(pair, choice, address(2, network)).await;
        }
    }

    async fn admin_server(&self) -> TestServer {
        let variables = [("ADMIN_TOKEN", TOKEN), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
        TestServer::start_with_env(self.db.pool.clone(), &variables).await
    }
}

/// Forty honest networks, and a flood from fifty others among them.
async fn flooded_ladder() -> LadderFixture {
    let ladder = small_ladder().await;
    for network in 0..FLOOD_NETWORKS {
        if network < 40 {
            ladder.honest_network(network).await;
        }
        ladder.flood_network(network).await;
    }
    ladder
}

async fn alarms(admin: &TestAdmin) -> Vec<Value> {
    let answer = admin.get("/api/admin/votes/alarms").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["alarms"].as_array().unwrap().clone()
}

fn find<'a>(alarms: &'a [Value], kind: &str) -> Option<&'a Value> {
    alarms.iter().find(|alarm| alarm["kind"] == kind)
}

fn decision(verdict: &str, reason: &str, selection: &Value) -> Value {
    json!({ "verdict": verdict, "reason": reason, "selection": selection })
}

#[tokio::test]
async fn a_flood_from_fifty_networks_raises_an_alarm_and_one_withdrawal_restores_the_ladder_to_the_last_bit()
{
    let (flooded, untouched) = (flooded_ladder().await, small_ladder().await);
    for network in 0..40 {
        untouched.honest_network(network).await;
    }
    let (server, other_server) = (flooded.admin_server().await, flooded.admin_server().await);
    let (admin, other_admin) = (server.admin(), other_server.admin());
    let raised = alarms(&admin).await;
    assert!(find(&alarms(&other_admin).await, "crowd").is_some());
    let crowd = &raised[0];
    let votes = FLOOD_NETWORKS * FLOOD_VOTES;
    assert_eq!(
        (&crowd["id"], &crowd["severity"], &crowd["votes"], &crowd["selection"]["model"]),
        (&json!("crowd-fir"), &json!("critical"), &json!(votes), &json!("fir")),
        "{raised:#?}"
    );
    assert_eq!(crowd["selection"]["networks"].as_array().unwrap().len(), FLOOD_NETWORKS);

    let request = decision("withdrawn", "Fifty networks voted for one model.", &crowd["selection"]);
    let before = flooded.consequences().await;
    let counted = admin.json(Method::POST, "/api/admin/votes/decisions?dryRun=1", &request).await;
    assert_eq!(
        (counted.status, counted.json()),
        (200, json!({ "votes": votes, "judgements": 0, "voters": votes, "networks": FLOOD_NETWORKS }))
    );
    assert_eq!(flooded.consequences().await, before, "a dry run changes nothing");

    let withdrawn = admin.json(Method::POST, "/api/admin/votes/decisions", &request).await;
    assert_eq!((withdrawn.status, &withdrawn.json()["votes"]), (201, &json!(votes)), "{}", withdrawn.text());
    assert_eq!(flooded.consequences().await, untouched.consequences().await);
    flooded.assert_verified().await;

    for admin in [&admin, &other_admin] {
        let left = alarms(admin).await;
        assert!(find(&left, "crowd").is_none(), "{left:#?}");
    }
    let again = admin.json(Method::POST, "/api/admin/votes/decisions", &request).await;
    assert_eq!((again.status, again.code().as_str()), (409, "no_votes"));
}

#[tokio::test]
async fn votes_of_people_raise_no_alarm_and_an_empty_arena_has_none() {
    let ladder = small_ladder().await;
    let server = ladder.admin_server().await;
    assert_eq!(alarms(&server.admin()).await, Vec::<Value>::new());
    for network in 0..40 {
        ladder.honest_network(network).await;
    }
    // Another server has no report yet.
    let server = ladder.admin_server().await;
    assert_eq!(alarms(&server.admin()).await, Vec::<Value>::new());
}

#[tokio::test]
async fn decisions_that_cannot_be_made_are_refused_with_a_reason() {
    let ladder = small_ladder().await;
    ladder.honest_network(0).await;
    let server = ladder.admin_server().await;
    let admin = server.admin();
    let all = json!({ "from": "2020-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z" });
    let too_many = json!({ "from": all["from"], "until": all["until"], "networks": vec!["00"; 1001] });
    let nobody = json!({ "from": all["from"], "until": all["until"], "networks": ["00"] });
    let long = "x".repeat(501);
    for (request, status, code) in [
        (decision("withdrawn", " ", &all), 400, "bad_reason"),
        (decision("withdrawn", &long, &all), 400, "bad_reason"),
        (decision("withdrawn", "Why not.", &nobody), 409, "no_votes"),
        (decision("counted", "Why not.", &all), 409, "no_votes"),
        (decision("withdrawn", "Why not.", &too_many), 400, "bad_request"),
        (decision("deleted", "Why not.", &all), 422, "bad_request"),
        (decision("withdrawn", "Why not.", &json!({ "from": all["from"] })), 422, "bad_request"),
    ] {
        let answer = admin.json(Method::POST, "/api/admin/votes/decisions", &request).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text());
    }
    assert_eq!(ladder.db.number("SELECT count(*) FROM vote_decisions").await, 0);
}

#[tokio::test]
async fn everybody_can_read_what_was_decided_and_why() {
    let ladder = flooded_ladder().await;
    assert_eq!(ladder.api("/api/decisions").await, json!({ "decisions": [] }));
    assert!(ladder.html("/decisions").await.contains("No votes were withdrawn."));
    assert!(ladder.html("/about").await.contains("So far, all do."));

    let server = ladder.admin_server().await;
    let admin = server.admin();
    let selection = find(&alarms(&admin).await, "crowd").unwrap()["selection"].clone();
    for (verdict, reason) in [("suspect", "It looks like a flood."), ("withdrawn", "It was <one>.")] {
        let request = decision(verdict, reason, &selection);
        assert_eq!(admin.json(Method::POST, "/api/admin/votes/decisions", &request).await.status, 201);
    }
    let listed = ladder.api("/api/decisions").await;
    let first = &listed["decisions"][0];
    assert_eq!(
        (&first["verdict"], &first["votes"], &first["reason"]),
        (&json!("withdrawn"), &json!(150), &json!("It was <one>."))
    );
    assert!(first["decidedAt"].is_string() && first["firstAt"].is_string(), "{first}");
    let older = ladder.api(&format!("/api/decisions?before={}", first["id"])).await;
    assert_eq!(older["decisions"].as_array().unwrap().len(), 1);
    assert_eq!(older["decisions"][0]["verdict"], "suspect");

    let html = ladder.html("/decisions").await;
    assert!(
        html.contains("Withdrawn") && html.contains("Set aside") && html.contains("It looks like a flood.")
    );
    assert!(html.contains("It was &#60;one&#62;."), "{html}");
    // The first server has cached its numbers for a minute.
    let later = ladder.admin_server().await;
    let about = later.get("/about").send().await.unwrap().text().await.unwrap();
    assert!(about.contains("150 because an admin"), "{about}");
    assert!(about.contains("href=\"/decisions\""));
}

#[tokio::test]
async fn metrics_count_excluded_votes_and_alarms_and_name_no_model() {
    let ladder = flooded_ladder().await;
    ladder
        .execute("UPDATE votes SET exclusion = 'over_budget' WHERE id IN (SELECT id FROM votes LIMIT 7)")
        .await;
    let text = ladder.server.get("/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        r#"buildoff_vote_alarms{kind="crowd",severity="critical"} 1"#,
        r#"buildoff_vote_alarms{kind="one_side",severity="warning"} 0"#,
        r#"buildoff_excluded_votes{state="over_budget"} 7"#,
        r#"buildoff_excluded_votes{state="withdrawn"} 0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.to_lowercase().contains("fir\""), "no label may name a model");
}

/// A session of the console, without JavaScript.
struct ConsoleClient {
    server: TestServer,
    cookie: String,
}

impl ConsoleClient {
    async fn sign_in(ladder: &LadderFixture) -> Self {
        let server = ladder.admin_server().await;
        let form = server.post("/admin/session").header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = form.body(format!("token={TOKEN}")).send().await.unwrap();
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        Self { server, cookie }
    }

    async fn html(&self, path: &str) -> String {
        let answer = self.server.get(path).header(COOKIE, &self.cookie).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Submits the form of this page. Returns the status, where it leads, and the page.
    async fn submit(&self, html: &str, verdict: &str, reason: &str) -> (u16, String, String) {
        let hidden = html.split("name=\"selection\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let selection = hidden.replace("&#34;", "\"").replace("&quot;", "\"");
        let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let body = format!("verdict={verdict}&reason={}&selection={}", escaped(reason), escaped(&selection));
        let form = self.server.post("/admin/votes/decisions").header(COOKIE, &self.cookie);
        let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
        let answer = form.send().await.unwrap();
        let location = answer.headers().get(LOCATION).map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), location.unwrap_or_default(), answer.text().await.unwrap())
    }
}

#[tokio::test]
async fn an_alarm_is_looked_at_and_its_votes_are_withdrawn_without_script() {
    let ladder = flooded_ladder().await;
    let console = ConsoleClient::sign_in(&ladder).await;
    let overview = console.html("/admin/votes").await;
    assert!(overview.contains("50 networks voted for Fir and for nothing else"), "{overview}");
    assert!(overview.contains("/admin/votes/selection?alarm=crowd-fir"), "{overview}");

    let look = console.html("/admin/votes/selection?alarm=crowd-fir").await;
    assert!(look.contains("Withdraw 150") && look.contains("Set aside 150"), "{look}");
    assert!(look.contains("Count again 0") && look.contains("The latest 100 votes"), "{look}");

    let (status, _, page) = console.submit(&look, "withdrawn", "").await;
    assert!(status == 400 && page.contains("Give a reason of 1 to 500 characters."), "{status} {page}");
    let (status, location, _) = console.submit(&look, "withdrawn", "A flood.").await;
    assert_eq!(status, 303);
    let done = console.html(&location).await;
    assert!(done.contains("Withdrawn: 150 votes.") && !done.contains("alarm=crowd"), "{done}");
    let (status, _, page) = console.submit(&look, "withdrawn", "A flood.").await;
    assert!(status == 409 && page.contains("No votes match"), "{status} {page}");

    // One network of it turns out to be honest.
    let network: (String,) =
        sqlx::query_as("SELECT encode(network, 'hex') FROM votes WHERE exclusion IS NOT NULL LIMIT 1")
            .fetch_one(&ladder.db.pool)
            .await
            .unwrap();
    let look = console.html(&format!("/admin/votes/selection?network={}", network.0)).await;
    assert!(look.contains("Count again 3") && look.contains("Withdraw 0"), "{look}");
    assert_eq!(console.submit(&look, "counted", "They are people.").await.0, 303);
    assert_eq!(ladder.db.number("SELECT count(*) FROM votes WHERE exclusion = 'withdrawn'").await, 147);
    ladder.assert_verified().await;
    let audit = console.html("/admin/audit").await;
    assert!(audit.contains("withdrawn") && audit.contains("They are people."), "{audit}");
}

#[tokio::test]
async fn votes_are_selected_by_boxes_and_by_rule() {
    let ladder = flooded_ladder().await;
    let console = ConsoleClient::sign_in(&ladder).await;
    let networks: Vec<(String,)> =
        sqlx::query_as("SELECT DISTINCT encode(network, 'hex') FROM votes LIMIT 40")
            .fetch_all(&ladder.db.pool)
            .await
            .unwrap();
    let boxes: Vec<_> = networks.iter().map(|(id,)| format!("network={id}")).collect();
    let look = console.html(&format!("/admin/votes/selection?{}", boxes.join("&"))).await;
    assert!(look.contains("Withdraw 120") && look.contains("40 networks"), "{look}");

    let on_fir = ladder.db.number("SELECT count(*) FROM votes JOIN matchups ON matchups.id = matchup_id WHERE 'fir' IN (model_a, model_b)").await;
    let look = console.html("/admin/votes/selection?hours=1&model=fir&seconds=60").await;
    assert!(look.contains(&format!("Withdraw {on_fir}")), "{look}");
    for nothing in ["", "?alarm=crowd-nobody", "?network=zz&voter=7&model=&seconds=-1&hours=0"] {
        let page = console.html(&format!("/admin/votes/selection{nothing}")).await;
        assert!(page.contains("No votes are selected."), "{nothing}");
    }
}

#[tokio::test]
async fn the_pages_about_votes_fit_every_size_and_theme() {
    let (empty, ladder) = (small_ladder().await, flooded_ladder().await);
    for network in 0..20 {
        ladder.cast(PAIRS[network % 4], Choice::A, address(3, 1)).await;
    }
    for (fixture, name) in [(&empty, "admin-votes-empty"), (&ladder, "admin-votes")] {
        let server = fixture.admin_server().await;
        let mut page = open_page(&server.url_for("/admin")).await;
        page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
        page.click("main [type=submit]").await;
        page.wait_until("document.querySelector('nav.console')").await;
        page.goto(&server.url_for("/admin/votes")).await;
        assert_fits_everywhere(&mut page, name).await;
        let nameless: Vec<String> = page
            .eval("[...document.querySelectorAll('main :is(a, button, input, select)')].filter(e => e.checkVisibility() && !(e.innerText || e.labels?.length || e.ariaLabel)).map(e => e.outerHTML)")
            .await;
        assert_eq!(nameless, Vec::<String>::new(), "{name} has elements without a name");
        page.goto(&server.url_for("/decisions")).await;
        assert_fits_everywhere(&mut page, &name.replace("admin-votes", "decisions")).await;
        if name == "admin-votes" {
            page.goto(&server.url_for("/admin/votes/selection?alarm=crowd-fir")).await;
            assert_fits_everywhere(&mut page, "admin-selection").await;
            let admin = server.admin();
            let selection = find(&alarms(&admin).await, "crowd").unwrap()["selection"].clone();
            let request = decision(
                "withdrawn",
                "Fifty networks voted for one model within an hour, and for nothing else.",
                &selection,
            );
            admin.json(Method::POST, "/api/admin/votes/decisions", &request).await;
            page.goto(&server.url_for("/admin/votes?decided=1")).await;
            assert_fits_everywhere(&mut page, "admin-votes-decided").await;
            page.goto(&server.url_for("/decisions")).await;
            assert_fits_everywhere(&mut page, "decisions").await;
        }
    }
}
