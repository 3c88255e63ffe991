use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;
use futures_util::FutureExt;

use super::super::Step;
use super::*;
use crate::arena::Mode;
use voxel::{GridSize, Palette, RejectionCode};

/// A provider that says what it was told to say, and keeps what it was asked.
#[derive(Default)]
struct Scripted {
    lines: Mutex<VecDeque<Line>>,
    asked: Mutex<Vec<Question>>,
    /// Requests under way.
    open: AtomicUsize,
    /// What was wrong with answers, as it was told.
    refused: Mutex<Vec<String>>,
}

enum Line {
    Says(String),
    SaysLate(String),
    Fails(FailureKind, &'static str),
    FailsAfter(FailureKind, String),
    FailsForGood(FailureKind),
    /// In the middle of thinking in silence.
    Breaks(FailureKind),
    Hangs,
}

use Line::*;

struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Provider for Scripted {
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        listen: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        async move {
            self.open.fetch_add(1, Ordering::SeqCst);
            let _open = Open(&self.open);
            self.asked.lock().unwrap().push(question.clone());
            let line = self
                .lines
                .lock()
                .unwrap()
                .pop_front()
                .expect("nobody is asked more often than the script says");
            let usage = Usage { input: Some(1000), output: Some(200), reasoning: None };
            let notes = vec![no_schema()];
            if let SaysLate(_) = line {
                listen(Delta::Sent);
                listen(Delta::Waiting { attempt: 1, reason: "busy".to_owned(), seconds: LATE.as_secs_f64() });
                tokio::time::sleep(LATE).await;
                listen(Delta::Sent);
            }
            match line {
                Says(text) | SaysLate(text) => {
                    listen(Delta::Text(&text));
                    Ok(Answer { text, usage, notes })
                }
                Fails(kind, partial) => Err(failed(kind, false, partial.to_owned(), listen)),
                FailsAfter(kind, partial) => Err(failed(kind, false, partial, listen)),
                FailsForGood(kind) => Err(failed(kind, true, String::new(), listen)),
                Breaks(kind) => Err(Failure { began: true, ..failed(kind, false, String::new(), listen) }),
                Hangs => {
                    listen(Delta::Thinking { chars: 9 });
                    std::future::pending().await
                }
            }
        }
        .boxed()
    }

    fn log_refused(&self, _: &str, why: &str) {
        self.refused.lock().unwrap().push(why.to_owned());
    }
}

/// How long a busy provider keeps one waiting.
const LATE: Duration = Duration::from_millis(100);

fn failed(
    kind: FailureKind,
    is_final: bool,
    partial: String,
    listen: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Failure {
    listen(Delta::Text(&partial));
    let message = format!("the provider says {}", kind.code());
    let usage = Usage { input: Some(1000), output: Some(200), reasoning: None };
    Failure { kind, message, is_final, began: false, partial, usage, notes: vec![no_schema()] }
}

#[derive(Default)]
struct Diary {
    attempts: Vec<Attempt>,
    heard: Vec<(u32, String)>,
    /// The attempt after which it has enough.
    enough: Option<u32>,
}

impl Listener for Diary {
    fn delta(&mut self, attempt: u32, delta: Delta<'_>) {
        if let Delta::Text(text) = delta {
            self.heard.push((attempt, text.to_owned()));
        }
    }

    fn ended<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
        async move {
            self.attempts.push(attempt.clone());
            if self.enough == Some(attempt.number) { Err(anyhow!("the lease is gone")) } else { Ok(()) }
        }
        .boxed()
    }
}

struct Told {
    result: Result<Made, NotMade>,
    provider: Arc<Scripted>,
    diary: Diary,
}

fn settings() -> Settings {
    Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() }
}

fn commission(lines: Vec<Line>) -> (Commission, Arc<Scripted>) {
    let provider = Arc::new(Scripted { lines: Mutex::new(lines.into()), ..Scripted::default() });
    (Commission::new(provider.clone(), "some-model-1", "a lighthouse", settings()), provider)
}

async fn off_thread(look: Look) -> anyhow::Result<Result<Build, RejectedAnswer>> {
    Ok(tokio::task::spawn_blocking(look).await?)
}

async fn tell(lines: Vec<Line>) -> Told {
    tell_to(lines, Diary::default()).await
}

async fn tell_to(lines: Vec<Line>, mut diary: Diary) -> Told {
    let (commission, provider) = commission(lines);
    let result = commission.carry_out(off_thread, &mut diary).await;
    assert_eq!(provider.open.load(Ordering::SeqCst), 0);
    Told { result, provider, diary }
}

fn no_schema() -> Note {
    Note { step: Step::NoSchema, why: "schemas are not for this model".to_owned() }
}

fn hut(height: u32) -> String {
    format!(
        r#"{{"version":"1.0","boxes":[{{"x1":4,"y1":0,"z1":4,"x2":27,"y2":{},"z2":27,"type":"stone"}}],"lines":[],"blocks":[]}}"#,
        height - 1
    )
}

impl Told {
    /// The last turn of a question, counted from 1.
    fn asked(&self, number: usize) -> String {
        self.provider.asked.lock().unwrap()[number - 1].turns.last().unwrap().text.clone()
    }

    fn codes(&self) -> Vec<Option<&'static str>> {
        self.diary.attempts.iter().map(|attempt| attempt.outcome.code()).collect()
    }
}

#[tokio::test]
async fn a_good_answer_is_taken_at_once_with_prose_around_it() {
    let told = tell(vec![Says(format!("Here it is:\n```json\n{}\n```", hut(8)))]).await;
    let made = told.result.as_ref().unwrap();
    assert_eq!(made.build.stats().block_count, 24 * 24 * 8);
    assert_eq!(made.spec, hut(8));
    assert_eq!((made.attempts, made.usage.input, made.usage.output), (1, Some(1000), Some(200)));
    assert!(made.generation_time > Duration::ZERO);
    assert_eq!(told.codes(), [None]);
    assert_eq!(told.diary.heard[0].0, 1);
    let attempt = &told.diary.attempts[0];
    assert!(attempt.text.starts_with("Here it is:") && !attempt.again);
    assert_eq!(attempt.notes, [no_schema()]);
    let question = &told.provider.asked.lock().unwrap()[0];
    assert_eq!(question.model, "some-model-1");
    let schema = schema::with_plan(voxel::schema(GridSize::G32, Palette::Simple));
    assert_eq!(question.schema.as_deref(), Some(&schema));
    assert!(question.system.contains("master builder") && question.turns[0].text.contains("a lighthouse"));
}

#[tokio::test]
async fn what_is_wrong_goes_back_with_the_answer_until_it_is_right() {
    let broken = hut(8).replace("\"x2\":27", "\"x2\":27.5");
    let told = tell(vec![Says(hut(2)), Says(broken.clone()), Says(hut(8))]).await;
    let made = told.result.as_ref().unwrap();
    assert_eq!(made.attempts, 3);
    assert_eq!((made.usage.input, made.usage.output, made.usage.reasoning), (Some(3000), Some(600), None));
    assert_eq!(told.codes(), [Some("height_too_small"), Some("bad_spec"), None]);
    assert_eq!(
        told.diary.attempts.iter().map(|attempt| attempt.again).collect::<Vec<_>>(),
        [true, true, false]
    );

    let second = told.asked(2);
    for part in [
        "a lighthouse",
        "`height_too_small`: it is 2 high",
        "1152 filled cells, x from 4 to 27, y from 0 to 1",
        &hut(2),
    ] {
        assert!(second.contains(part), "{part:?} is not in {second}");
    }
    assert_eq!(told.provider.refused.lock().unwrap().len(), 2);
    let third = told.asked(3);
    assert!(third.contains("boxes[0].x2: expected a whole number, got 27.5"), "{third}");
    assert!(third.contains(&broken) && !third.contains("height_too_small"), "only the last answer is mended");
    let questions = told.provider.asked.lock().unwrap();
    assert!(
        questions.windows(2).all(|pair| pair[0].system == pair[1].system),
        "what is the same stays cached"
    );
}

#[tokio::test]
async fn after_the_last_attempt_its_fault_is_the_reason() {
    let told =
        tell(vec![Says("I would rather not say.".to_owned()), Says("{".to_owned()), Says(hut(3))]).await;
    let not_made = told.result.unwrap_err();
    assert_eq!((not_made.reason.code(), not_made.attempts), ("height_too_small", 3));
    assert_eq!(not_made.usage.input, Some(3000));
    assert!(!told.diary.attempts[2].again);
    assert!(matches!(
        not_made.reason,
        Reason::Refused(Rejection { code: RejectionCode::HeightTooSmall, .. })
    ));
}

#[tokio::test]
async fn what_asking_again_cannot_change_ends_at_once() {
    use FailureKind::*;
    let lasting = [
        BadKey,
        NoCredit,
        NoSuchModel,
        Refused,
        Filtered,
        BadRequest,
        Cancelled,
        RateLimited,
        Overloaded,
        Unreachable,
    ];
    for kind in lasting {
        let told = tell(vec![Fails(kind, "I cannot")]).await;
        let not_made = told.result.unwrap_err();
        assert_eq!((not_made.reason.code(), not_made.attempts), (kind.code(), 1));
        assert_eq!(not_made.reason.to_string(), format!("the provider says {}", kind.code()));
        let [attempt] = &told.diary.attempts[..] else { panic!("one attempt") };
        assert_eq!((&*attempt.text, attempt.again), ("I cannot", false));
        assert_eq!(attempt.usage.output, Some(200), "a refusal costs, too");
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_asked_for_again_and_shorter() {
    use FailureKind::*;
    for kind in [Truncated, TooLarge] {
        let told = tell(vec![Fails(kind, "{\"version\":\"1.0\",\"boxes\":[{\"x1\":"), Says(hut(8))]).await;
        assert_eq!(told.result.as_ref().unwrap().attempts, 2);
        assert_eq!(told.codes(), [Some(kind.code()), None]);
        assert!(told.asked(2).contains("cut off") && told.asked(2).contains("a lighthouse"));
        assert!(told.diary.attempts[0].text.ends_with("{\"x1\":"), "what had come is kept");
    }
}

#[tokio::test]
async fn an_answer_that_got_lost_is_asked_for_again_as_before() {
    use FailureKind::*;
    for kind in [Empty, Stalled, TimedOut, CutOff, BadAnswer] {
        let told = tell(vec![Fails(kind, ""), Says(hut(8))]).await;
        assert_eq!(told.result.as_ref().unwrap().attempts, 2, "{kind:?}");
        assert_eq!(told.asked(1), told.asked(2));
    }
    for kind in [RateLimited, Overloaded, Unreachable] {
        let told = tell(vec![Breaks(kind), Says(hut(8))]).await;
        assert_eq!(told.result.as_ref().unwrap().attempts, 2, "{kind:?} after an answer had begun");
    }
    let told = tell(vec![Fails(Empty, ""), Fails(Stalled, ""), Fails(TimedOut, "")]).await;
    assert_eq!(told.result.unwrap_err().reason.code(), "timed_out");
}

#[tokio::test]
async fn a_spec_that_came_whole_before_the_end_was_lost_is_taken() {
    use FailureKind::*;
    for kind in [Truncated, CutOff, TimedOut, Stalled, Overloaded] {
        for around in [("", ""), ("Here:\n```json\n", "\n```\nI hope that"), ("", " \n")] {
            let told = tell(vec![FailsAfter(kind, format!("{}{}{}", around.0, hut(8), around.1))]).await;
            assert_eq!(told.result.unwrap().attempts, 1, "{kind:?} {around:?}");
        }
    }
    for kind in [Refused, Filtered] {
        let told = tell(vec![FailsAfter(kind, hut(8))]).await;
        assert_eq!(told.result.unwrap_err().reason.code(), kind.code());
    }
}

#[tokio::test]
async fn a_spec_that_is_cut_off_or_followed_by_another_is_not_taken() {
    let whole = hut(8);
    for partial in [
        whole[..whole.len() - 1].to_owned(),
        format!("First a sketch: {whole} and now the whole: {{\"version\":\"1.0\",\"boxes\":["),
        format!("{{\"sketch\": {whole}, \"boxes\": [{{\"x1\":1}}"),
        hut(2),
    ] {
        let told = tell(vec![FailsAfter(FailureKind::CutOff, partial), Says(hut(9))]).await;
        assert_eq!(told.result.as_ref().unwrap().spec, hut(9));
        assert_eq!(told.codes(), [Some("cut_off"), None]);
    }
}

#[tokio::test]
async fn what_would_end_the_same_is_not_asked_for_again() {
    let told = tell(vec![FailsForGood(FailureKind::BadAnswer)]).await;
    assert_eq!(told.result.unwrap_err().attempts, 1);
}

#[tokio::test]
async fn whoever_takes_over_after_a_cut_off_answer_asks_for_a_shorter_one() {
    for (code, is_shorter) in [(Some("truncated"), true), (Some("stalled"), false), (None, false)] {
        let (mut commission, provider) = commission(vec![Says(hut(8))]);
        commission.earlier = Earlier { attempts: 1, code: code.map(str::to_owned), answer: None };
        let made = commission.carry_out(off_thread, &mut Diary::default()).await.unwrap();
        let asked = &provider.asked.lock().unwrap()[0].turns[0].text;
        assert_eq!((made.attempts, asked.contains("cut off")), (2, is_shorter), "{code:?}");
    }
}

/// The listener may have lost the right to store anything.
#[tokio::test]
async fn nobody_is_asked_again_for_a_listener_that_has_enough() {
    let diary = Diary { enough: Some(1), ..Diary::default() };
    let told = tell_to(vec![Says(hut(2)), Says(hut(8))], diary).await;
    let not_made = told.result.unwrap_err();
    assert_eq!(not_made.reason.code(), "unheard");
    assert!(not_made.reason.to_string().contains("the lease is gone"));
    assert_eq!(told.provider.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_looked_at_is_kept_and_not_paid_for_again() {
    let (commission, provider) = commission(vec![Says(hut(8)), Says(hut(8))]);
    let mut diary = Diary::default();
    let busy = |_: Look| async { Err(anyhow!("too much heavy work is waiting already")) };
    let not_made = commission.carry_out(busy, &mut diary).await.unwrap_err();
    assert_eq!(not_made.reason.code(), "unread");
    assert_eq!((&*diary.attempts[0].text, diary.attempts[0].again), (&*hut(8), false));
    assert_eq!(diary.attempts[0].outcome.message(), Some("too much heavy work is waiting already"));
    assert_eq!(provider.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_is_asked_as_the_catalog_says() {
    let options = catalog::ModelOptions {
        effort: Some(catalog::ThinkingEffort::High),
        temperature: Some(0.5),
        max_output_tokens: Some(9000),
    };
    let (commission, provider) = commission(vec![Says(hut(8))]);
    commission.with(options).carry_out(off_thread, &mut Diary::default()).await.unwrap();
    let question = &provider.asked.lock().unwrap()[0];
    assert_eq!(question.max_output_tokens, Some(9000));
    assert_eq!(
        (question.options.effort, question.options.temperature),
        (Some(catalog::ThinkingEffort::High), Some(0.5))
    );
}

#[tokio::test]
async fn a_text_beyond_the_bound_log_refused_unread() {
    let (mut commission, _) = commission(vec![Says(hut(8))]);
    commission.max_bytes = 20;
    commission.attempts = 1;
    let not_made = commission.carry_out(off_thread, &mut Diary::default()).await.unwrap_err();
    assert_eq!(not_made.reason.code(), "too_large");
}

/// An hour in a queue is not the model's doing.
#[tokio::test]
async fn waiting_for_a_busy_provider_is_no_generation_time() {
    let told = tell(vec![SaysLate(hut(8))]).await;
    assert!(told.diary.attempts[0].duration >= told.result.unwrap().generation_time + LATE);
}

#[tokio::test]
async fn dropping_the_loop_ends_the_request() {
    let (commission, provider) = commission(vec![Hangs]);
    let mut diary = Diary::default();
    let mut making = Box::pin(commission.carry_out(off_thread, &mut diary));
    assert!(futures_util::poll!(&mut making).is_pending());
    assert_eq!(provider.open.load(Ordering::SeqCst), 1);
    drop(making);
    assert_eq!(provider.open.load(Ordering::SeqCst), 0);
    assert!(diary.attempts.is_empty());
}

#[test]
fn usage_adds_up_and_what_nobody_knows_stays_unknown() {
    let usage = |input, output, reasoning| Usage { input, output, reasoning };
    let sum = usage(Some(1), None, None).plus(&usage(Some(2), Some(3), None));
    assert_eq!(sum, usage(Some(3), Some(3), None));
    assert_eq!(usage(Some(u64::MAX), None, None).plus(&usage(Some(1), None, None)).input, Some(u64::MAX));
}
