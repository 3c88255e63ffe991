//! The form in a browser, with and without scripts, by mouse and by keyboard.

use buildoff::config::CaptchaService;

use super::{builds_of, judge_build, start};
use crate::support::db::TestDb;
use crate::support::fake_captcha::{
    CAPTCHA_SECRET, CAPTCHA_SITE_KEY, CAPTCHA_TOKEN, FakeCaptcha, FakeCaptchaMode, fake_widgets,
};
use crate::support::{TestServer, assert_fits_everywhere, open_page};

const FORM: &str = "!!document.querySelector('#judgement .slider:not([hidden])')";
const RESULT: &str = "!!document.querySelector('#next')";

#[tokio::test]
async fn by_keyboard_ten_builds_in_a_row_are_judged_without_loading_the_page_again() {
    let (db, server) = start(&[]).await;
    let mut page = open_page(&server.low_quality_url("/judge")).await;
    page.wait_until(FORM).await;
    page.run("window.same = true").await;
    for number in 1..=10 {
        page.run("document.querySelector('.slider').focus()").await;
        for key in ["7", "Enter", "1", "0", "Enter", "6", ".", "Enter", "x", "Enter", "Enter"] {
            page.press(key).await;
        }
        page.wait_until(RESULT).await;
        assert_eq!(db.number("SELECT count(*) FROM judgements").await, number);
        assert!(page.text("main").await.contains(&format!("{number} judged today")));
        assert!(
            page.holds(
                "document.activeElement.id === 'next' && location.pathname.startsWith('/judge/builds/')"
            )
            .await
        );
        page.press("Enter").await;
        page.wait_until(if number < 10 { FORM } else { "!!document.querySelector('.empty')" }).await;
    }
    assert!(page.holds("window.same").await, "the page was not loaded again");
    assert_eq!(
        db.number("SELECT count(*) FROM judgements WHERE task_progress = 7 AND material_usage = 10 AND efficiency = 6.5 AND creative_attempts IS NULL").await,
        10
    );
    // The refusal of a next build is one that the page shows.
    let errors = page.take_console_errors().await;
    assert!(errors.iter().all(|error| error.contains("409")), "{errors:?}");
}

#[tokio::test]
async fn a_score_that_was_not_given_is_not_sent() {
    let (db, server) = start(&[]).await;
    let page = open_page(&server.low_quality_url("/judge")).await;
    page.wait_until(FORM).await;
    page.click("#send").await;
    page.wait_until("!document.querySelector('#problem').hidden").await;
    assert!(page.text("#problem").await.contains("Can’t say"));
    page.run("document.querySelectorAll('.unsure input').forEach(box => box.click())").await;
    page.click("#send").await;
    page.wait_until("document.querySelector('#problem').innerText.includes('at least one')").await;
    assert_eq!(db.number("SELECT count(*) FROM judgements").await, 0);
    page.click("#skip").await;
    page.wait_until("[...document.querySelectorAll('.unsure input')].every(box => !box.checked)").await;
}

#[tokio::test]
async fn without_script_the_form_is_filled_in_corrected_and_sent() {
    let (db, server) = start(&[]).await;
    let mut page = open_page("about:blank").await;
    page.disable_scripts().await;
    page.goto(&server.url_for("/judge")).await;
    page.click_without_script("main form button").await;
    page.wait_until("!!document.querySelector('#judgement')").await;
    page.screenshot("judge-without-script").await;
    let picture = "(picture => picture.naturalWidth > 0 && picture.clientHeight > 200)";
    page.wait_until(&format!("{picture}(document.querySelector('.exhibit img'))")).await;
    page.run("document.querySelectorAll('.number').forEach((field, at) => { if (at) field.value = 6.5; })")
        .await;
    page.run("document.querySelector('#note').value = 'A note.'").await;
    page.click_without_script("#send").await;
    page.wait_until("document.querySelector('#problem')?.innerText.includes('Task Progress')").await;
    assert!(page.holds("document.querySelector('#note').value === 'A note.'").await, "nothing is lost");
    page.run("document.querySelector('.unsure input').checked = true").await;
    page.click_without_script("#send").await;
    page.wait_until(RESULT).await;
    assert_eq!(
        db.number("SELECT count(*) FROM judgements WHERE note = 'A note.' AND overall = 6.5").await,
        1
    );
    page.click_without_script("#next").await;
    page.wait_until("!!document.querySelector('#judgement')").await;
    let skipped: String = page.eval("document.querySelector('#judgement').action").await;
    page.click_without_script("#skip").await;
    page.wait_until(&format!("document.querySelector('#judgement').action !== {skipped:?}")).await;
    // Chromium reports that the incomplete form was refused.
    let errors = page.take_console_errors().await;
    assert!(errors.len() == 1 && errors[0].contains("400"), "{errors:?}");
}

#[tokio::test]
async fn the_form_and_the_result_fit_every_size_and_theme() {
    let (db, server) = start(&[]).await;
    let build = &builds_of(&db, "lighthouse").await[0];
    for score in [3.0, 6.5, 8.0] {
        judge_build(&server.voter(), build, score).await;
    }
    let mut page = open_page(&server.low_quality_url(&format!("/judge/builds/{build}"))).await;
    page.wait_until(FORM).await;
    assert_fits_everywhere(&mut page, "judge-form").await;
    page.run("document.querySelectorAll('.unsure input').forEach((box, at) => at && box.click())").await;
    page.run("document.querySelector('.slider').focus()").await;
    page.press("5").await;
    page.click("#send").await;
    page.wait_until(RESULT).await;
    assert_fits_everywhere(&mut page, "judge-result").await;
    page.goto(&server.low_quality_url("/judge")).await;
    page.wait_until(FORM).await;
}

#[tokio::test]
async fn the_widget_of_a_service_that_checks_visitors_lies_over_the_form() {
    let db = TestDb::seeded().await;
    for service in [CaptchaService::Turnstile, CaptchaService::Hcaptcha] {
        let captcha = FakeCaptcha::start(service, FakeCaptchaMode::Working).await;
        let variables = [
            ("PERSON_CHECK", service.name()),
            ("PERSON_CHECK_SITE_KEY", CAPTCHA_SITE_KEY),
            ("PERSON_CHECK_SECRET", CAPTCHA_SECRET),
            ("RATE_LIMITS", "off"),
            ("MIN_DWELL_MS", "0"),
        ];
        let server = TestServer::start_with_captcha_at(db.pool.clone(), &variables, &captcha.url).await;
        let before = db.number("SELECT count(*) FROM judgements").await;
        let page = open_page("about:blank").await;
        page.add_init_script(&fake_widgets()).await;
        page.goto(&server.low_quality_url("/judge")).await;
        page.wait_until(FORM).await;
        for (width, height) in [(390, 844), (1440, 900)] {
            page.set_size(width, height).await;
            page.run("document.querySelector('.slider').focus()").await;
            for key in ["7", "Enter", "7", "Enter", "7", "Enter", "7", "Enter", "Enter"] {
                page.press(key).await;
            }
            page.wait_until("!!document.querySelector('.person-check #widget')").await;
            page.screenshot(&format!("judge-{}-{width}", service.name())).await;
            let is_in_sight = "(({ top, bottom, left, right }) => \
                top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth)";
            assert!(
                page.holds(&format!(
                    "{is_in_sight}(document.querySelector('.person-check').getBoundingClientRect())"
                ))
                .await
            );
            page.click(".person-check > button").await;
            page.wait_until("document.querySelector('#problem').innerText === 'The check was cancelled.'")
                .await;
        }
        page.click("#send").await;
        page.wait_until("!!document.querySelector('#widget')").await;
        page.click("#widget").await;
        page.wait_until(RESULT).await;
        assert_eq!(
            db.number("SELECT count(*) FROM judgements").await,
            before + 1,
            "nothing is asked for again"
        );
        assert_eq!(captcha.received(), [CAPTCHA_TOKEN]);
    }
}
