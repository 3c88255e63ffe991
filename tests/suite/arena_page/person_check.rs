//! The check that a voter is a person, as a visitor of the arena sees it: not at all, most of the time.

use buildoff::arena::Voter;
use buildoff::config::CaptchaService::{self, Hcaptcha, Turnstile};

use super::*;
use crate::support::fake_captcha::{
    CAPTCHA_SECRET, CAPTCHA_SITE_KEY, CAPTCHA_TOKEN, FakeCaptcha, FakeCaptchaMode, fake_widgets,
};

/// Keeps every text that the note under the buttons has shown.
const KEEP_NOTES: &str = r#"
    window.notes = [];
    addEventListener("DOMContentLoaded", () => {
      const note = document.getElementById("note");
      new MutationObserver(() => note.textContent && notes.push(note.textContent)).observe(note, { childList: true });
    });
"#;

/// Keeps the worker from beginning until the test calls `release()`.
const HOLD_WORK: &str = r#"
    const released = new Promise((resolve) => (window.release = resolve));
    window.Worker = class extends Worker {
      constructor(address, options) {
        super(address, options);
        if (String(address).includes("proof-of-work")) this.postMessage = (work) => released.then(() => super.postMessage(work));
      }
    };
"#;

/// Whether the server has accepted an answer.
const IS_CHECKED: &str = "performance.getEntriesByType('resource').some(e => e.name.endsWith('/person-check') && e.responseStatus === 204)";

/// A public site, with the check that it has by default.
async fn public_site() -> ArenaFixture {
    let db = TestDb::seeded().await;
    let variables =
        [("PUBLIC_URL", "http://buildoff.example"), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
    let server = TestServer::start_with_env(db.pool.clone(), &variables).await;
    ArenaFixture { server, db }
}

async fn site_with_captcha(service: CaptchaService, verify_url: &str) -> ArenaFixture {
    let db = TestDb::seeded().await;
    let variables = [
        ("PERSON_CHECK", service.name()),
        ("PERSON_CHECK_SITE_KEY", CAPTCHA_SITE_KEY),
        ("PERSON_CHECK_SECRET", CAPTCHA_SECRET),
        ("RATE_LIMITS", "off"),
        ("MIN_DWELL_MS", "0"),
    ];
    let server = TestServer::start_with_captcha_at(db.pool.clone(), &variables, verify_url).await;
    ArenaFixture { server, db }
}

#[tokio::test]
async fn the_check_passes_while_the_visitor_looks_and_nothing_of_it_is_seen() {
    for (width, height) in [(1440, 900), (390, 844)] {
        let site = public_site().await;
        let mut page = site.open_page_with_script(KEEP_NOTES, "/").await;
        page.set_size(width, height).await;
        wait_for_condition(&page, IS_CHECKED, "The check passes").await;
        page.screenshot(&format!("person-check-{width}")).await;
        page.click("[data-choice=A]").await;
        wait_until(&page, "revealed").await;
        assert_eq!(site.choices().await, ["A"]);
        assert_eq!(page.eval::<Vec<String>>("notes").await, Vec::<String>::new());

        page.click("#next").await;
        wait_until(&page, "ready").await;
        page.click("[data-choice=B]").await;
        wait_until(&page, "revealed").await;
        let checks =
            "performance.getEntriesByType('resource').filter(e => e.name.endsWith('/person-check')).length";
        assert_eq!(page.eval::<u32>(checks).await, 1, "one check a session");
        assert_eq!(page.take_console_errors().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_vote_before_the_check_has_ended_says_so_and_follows_by_itself() {
    let site = public_site().await;
    let mut page = site.open_page_with_script(HOLD_WORK, "/").await;
    for (width, height) in [(1440, 900), (390, 844)] {
        page.set_size(width, height).await;
        if width == 1440 {
            page.press("2").await;
        }
        let words = "Your browser is finishing a short check. Your vote follows by itself …";
        let shown = format!("document.getElementById('note').innerText === {words:?}");
        wait_for_condition(&page, &shown, "It says that it waits").await;
        assert_eq!(phase(&page).await, "sending");
        page.screenshot(&format!("person-check-waiting-{width}")).await;
        crate::support::assert_fits(&mut page, "person-check-waiting", width).await;
    }
    assert_eq!(site.choices().await, Vec::<String>::new());
    page.run("release()").await;
    wait_until(&page, "revealed").await;
    assert_eq!(site.choices().await, ["B"]);
    assert_eq!(page.text("#note").await, "");
}

#[tokio::test]
async fn a_voter_who_is_asked_again_passes_without_doing_anything() {
    let db = TestDb::seeded().await;
    let variables = [("PERSON_CHECK", "work"), ("RATE_LIMITS", "off"), ("MIN_DWELL_MS", "0")];
    let (server, app) = TestServer::start_with_app(db.pool.clone(), &variables).await;
    let site = ArenaFixture { server, db };
    let page = site.open_page_with_script("", "/").await;
    wait_for_condition(&page, IS_CHECKED, "The check passes").await;
    let voter =
        sqlx::query_scalar("SELECT voter_id FROM person_checks").fetch_one(&site.db.pool).await.unwrap();
    app.person_checks.ask_again(Voter(voter)).await.unwrap();
    page.press("1").await;
    wait_until(&page, "revealed").await;
    assert_eq!(site.choices().await, ["A"]);
    assert_eq!(site.db.number("SELECT round::bigint FROM person_checks WHERE passed_until > now()").await, 1);
}

#[tokio::test]
async fn without_script_the_pages_say_that_voting_needs_it_and_offer_the_rest() {
    let site = public_site().await;
    let page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&site.server.url).await;
    assert!(page.text("main").await.contains("Voting on this site needs JavaScript"));
    assert!(!page.eval::<bool>("document.getElementById('pick').checkVisibility()").await);
    page.screenshot("person-check-without-script").await;

    let voter = site.server.voter();
    let matchup = voter.matchup().await;
    let path = format!("/matchups/{}", matchup["id"].as_str().unwrap());
    let html = voter.get(&path).await.text();
    assert!(
        html.contains("Voting on this site needs JavaScript") && !html.contains("class=\"ballot\""),
        "{html}"
    );
    assert!(html.contains("/skip\""), "skipping needs no check");
}

#[tokio::test]
async fn a_services_widget_is_shown_with_the_first_vote_only() {
    for service in [Turnstile, Hcaptcha] {
        let captcha = FakeCaptcha::start(service, FakeCaptchaMode::Working).await;
        let site = site_with_captcha(service, &captcha.url).await;
        let mut page = site.open_page_with_script(&fake_widgets(), "/").await;
        assert!(!page.holds("document.querySelector('.person-check')").await, "while the visitor looks");
        page.press("1").await;
        wait_for_condition(&page, "document.querySelector('.person-check #widget')", "The widget comes")
            .await;
        assert_eq!(page.text("#widget").await, CAPTCHA_SITE_KEY);
        page.screenshot(&format!("person-check-{}", service.name())).await;
        page.click(".person-check > button").await;
        let cancelled = "document.getElementById('note').innerText.startsWith('The check was cancelled.')";
        wait_for_condition(&page, cancelled, "Cancelling keeps the matchup").await;
        assert_eq!(site.choices().await, Vec::<String>::new());

        page.click("#note button").await;
        wait_for_condition(&page, "document.querySelector('#widget')", "The widget comes again").await;
        page.click("#widget").await;
        wait_until(&page, "revealed").await;
        assert_eq!(site.choices().await, ["A"]);
        page.press("Enter").await;
        wait_until(&page, "ready").await;
        page.press("2").await;
        wait_until(&page, "revealed").await;
        assert_eq!(captcha.received(), [CAPTCHA_TOKEN]);
        let refused: Vec<_> = page.take_console_errors().await;
        assert!(refused.iter().all(|line| line.contains("403")), "{refused:#?}");
    }
}

#[tokio::test]
async fn a_blocked_widget_is_named_and_an_unreachable_service_stops_nobody() {
    /// As a blocker does it.
    const BLOCK: &str = r#"
        const append = Element.prototype.append;
        Element.prototype.append = function (...nodes) {
          const script = nodes.find((node) => node.localName === "script");
          if (script) return void setTimeout(() => script.dispatchEvent(new Event("error")));
          return append.apply(this, nodes);
        };
    "#;
    let captcha = FakeCaptcha::start(Turnstile, FakeCaptchaMode::Working).await;
    let blocked = site_with_captcha(Turnstile, &captcha.url).await;
    let page = blocked.open_page_with_script(BLOCK, "/").await;
    page.press("1").await;
    let named = "document.getElementById('note').innerText.startsWith('Cloudflare Turnstile, which checks visitors, could not be loaded.')";
    wait_for_condition(&page, named, "It names the service").await;
    assert_eq!(blocked.choices().await, Vec::<String>::new());

    let unreachable = site_with_captcha(Turnstile, "http://127.0.0.1:1/siteverify").await;
    let page = unreachable.open_page_with_script(BLOCK, "/").await;
    page.press("1").await;
    wait_until(&page, "revealed").await;
    assert_eq!(unreachable.choices().await, ["A"]);
}
