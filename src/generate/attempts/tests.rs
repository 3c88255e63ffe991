use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;
use futures_util::FutureExt;

use super::super::Adjustment;
use super::*;
use crate::arena::Mode;
use voxel::{GridSize, Palette, RejectionCode};

/// A provider that says what it was told to say, and keeps what it was asked.
#[derive(Default)]
struct FakeModelProvider {
    replies: Mutex<VecDeque<FakeReply>>,
    requests: Mutex<Vec<CompletionRequest>>,
    /// Requests under way.
    open: AtomicUsize,
    /// What was wrong with answers, as it was told.
    refused: Mutex<Vec<String>>,
}

enum FakeReply {
    Says(String),
    SaysLate(String),
    Fails(GenerateErrorKind, &'static str),
    FailsAfter(GenerateErrorKind, String),
    FailsForGood(GenerateErrorKind),
    /// In the middle of thinking in silence.
    Breaks(GenerateErrorKind),
    Hangs,
}

use FakeReply::*;

struct OpenRequest<'a>(&'a AtomicUsize);

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ModelProvider for FakeModelProvider {
    fn ask<'a>(
        &'a self,
        request: &'a CompletionRequest,
        on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<CompletionResponse, GenerateError>> {
        async move {
            self.open.fetch_add(1, Ordering::SeqCst);
            let _open = OpenRequest(&self.open);
            self.requests.lock().unwrap().push(request.clone());
            let reply = self
                .replies
                .lock()
                .unwrap()
                .pop_front()
                .expect("nobody is asked more often than the script says");
            let usage = Usage { input: Some(1000), output: Some(200), reasoning: None };
            let notes = vec![no_schema()];
            if let SaysLate(_) = reply {
                on_delta(Delta::Sent);
                on_delta(Delta::Waiting {
                    attempt: 1,
                    reason: "busy".to_owned(),
                    seconds: LATE.as_secs_f64(),
                });
                tokio::time::sleep(LATE).await;
                on_delta(Delta::Sent);
            }
            match reply {
                Says(text) | SaysLate(text) => {
                    on_delta(Delta::Text(&text));
                    Ok(CompletionResponse { text, usage, notes })
                }
                Fails(kind, partial) => Err(failed(kind, false, partial.to_owned(), on_delta)),
                FailsAfter(kind, partial) => Err(failed(kind, false, partial, on_delta)),
                FailsForGood(kind) => Err(failed(kind, true, String::new(), on_delta)),
                Breaks(kind) => {
                    Err(GenerateError { began: true, ..failed(kind, false, String::new(), on_delta) })
                }
                Hangs => {
                    on_delta(Delta::Thinking { chars: 9 });
                    std::future::pending().await
                }
            }
        }
        .boxed()
    }

    fn log_rejected(&self, _: &str, why: &str) {
        self.refused.lock().unwrap().push(why.to_owned());
    }
}

/// How long a busy provider keeps one waiting.
const LATE: Duration = Duration::from_millis(100);

fn failed(
    kind: GenerateErrorKind,
    is_final: bool,
    partial: String,
    on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
) -> GenerateError {
    on_delta(Delta::Text(&partial));
    let message = format!("the provider says {}", kind.code());
    let usage = Usage { input: Some(1000), output: Some(200), reasoning: None };
    GenerateError { kind, message, is_final, began: false, partial, usage, notes: vec![no_schema()] }
}

#[derive(Default)]
struct TestListener {
    attempts: Vec<Attempt>,
    texts: Vec<(u32, String)>,
    /// The attempt after which it has enough.
    stop_after: Option<u32>,
}

impl AttemptListener for TestListener {
    fn on_delta(&mut self, attempt: u32, delta: Delta<'_>) {
        if let Delta::Text(text) = delta {
            self.texts.push((attempt, text.to_owned()));
        }
    }

    fn on_attempt_end<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>> {
        async move {
            self.attempts.push(attempt.clone());
            if self.stop_after == Some(attempt.number) { Err(anyhow!("the lease is gone")) } else { Ok(()) }
        }
        .boxed()
    }
}

struct TestRun {
    result: Result<GeneratedBuild, BuildFailure>,
    provider: Arc<FakeModelProvider>,
    listener: TestListener,
}

fn settings() -> Settings {
    Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() }
}

fn build_request(replies: Vec<FakeReply>) -> (BuildRequest, Arc<FakeModelProvider>) {
    let provider =
        Arc::new(FakeModelProvider { replies: Mutex::new(replies.into()), ..FakeModelProvider::default() });
    (BuildRequest::new(provider.clone(), "some-model-1", "a lighthouse", settings()), provider)
}

async fn off_thread(check: Check) -> anyhow::Result<Result<CheckedAnswer, RejectedAnswer>> {
    Ok(tokio::task::spawn_blocking(check).await?)
}

async fn run_script(replies: Vec<FakeReply>) -> TestRun {
    run_with_listener(replies, TestListener::default()).await
}

async fn run_with_listener(replies: Vec<FakeReply>, mut listener: TestListener) -> TestRun {
    let (build_request, provider) = build_request(replies);
    let result = build_request.run(off_thread, &mut listener).await;
    assert_eq!(provider.open.load(Ordering::SeqCst), 0);
    TestRun { result, provider, listener }
}

fn no_schema() -> Note {
    Note { step: Adjustment::NoSchema, why: "schemas are not for this model".to_owned() }
}

fn hut(height: u32) -> String {
    format!(
        r#"{{"version":"1.0","boxes":[{{"x1":4,"y1":0,"z1":4,"x2":27,"y2":{},"z2":27,"type":"stone"}}],"lines":[],"blocks":[]}}"#,
        height - 1
    )
}

impl TestRun {
    /// The last turn of a question, counted from 1.
    fn prompt(&self, number: usize) -> String {
        self.provider.requests.lock().unwrap()[number - 1].messages.last().unwrap().text.clone()
    }

    fn codes(&self) -> Vec<Option<&'static str>> {
        self.listener.attempts.iter().map(|attempt| attempt.outcome.code()).collect()
    }
}

#[tokio::test]
async fn a_good_answer_is_taken_at_once_with_prose_around_it() {
    let run = run_script(vec![Says(format!("Here it is:\n```json\n{}\n```", hut(8)))]).await;
    let generated = run.result.as_ref().unwrap();
    assert_eq!(generated.build.stats().block_count, 24 * 24 * 8);
    assert_eq!(generated.spec, hut(8));
    assert_eq!(
        (generated.attempts, generated.usage.input, generated.usage.output),
        (1, Some(1000), Some(200))
    );
    assert!(generated.generation_time > Duration::ZERO);
    assert_eq!(run.codes(), [None]);
    assert_eq!(run.listener.texts[0].0, 1);
    let attempt = &run.listener.attempts[0];
    assert!(attempt.text.starts_with("Here it is:") && !attempt.again);
    assert_eq!(attempt.notes, [no_schema()]);
    let request = &run.provider.requests.lock().unwrap()[0];
    assert_eq!(request.model, "some-model-1");
    let schema = schema::with_plan(voxel::schema(GridSize::G32, Palette::Simple));
    assert_eq!(request.schema.as_deref(), Some(&schema));
    assert!(request.system.contains("master builder") && request.messages[0].text.contains("a lighthouse"));
}

#[tokio::test]
async fn what_is_wrong_goes_back_with_the_answer_until_it_is_right() {
    let broken = hut(8).replace("\"x2\":27", "\"x2\":27.5");
    let run = run_script(vec![Says(hut(2)), Says(broken.clone()), Says(hut(8))]).await;
    let generated = run.result.as_ref().unwrap();
    assert_eq!(generated.attempts, 3);
    assert_eq!(
        (generated.usage.input, generated.usage.output, generated.usage.reasoning),
        (Some(3000), Some(600), None)
    );
    assert_eq!(run.codes(), [Some("height_too_small"), Some("bad_spec"), None]);
    assert_eq!(
        run.listener.attempts.iter().map(|attempt| attempt.again).collect::<Vec<_>>(),
        [true, true, false]
    );

    let second = run.prompt(2);
    for part in [
        "a lighthouse",
        "`height_too_small`: it is 2 high",
        "1152 filled cells, x from 4 to 27, y from 0 to 1",
        &hut(2),
    ] {
        assert!(second.contains(part), "{part:?} is not in {second}");
    }
    assert_eq!(run.provider.refused.lock().unwrap().len(), 2);
    let third = run.prompt(3);
    assert!(third.contains("boxes[0].x2: expected a whole number, got 27.5"), "{third}");
    assert!(third.contains(&broken) && !third.contains("height_too_small"), "only the last answer is mended");
    let questions = run.provider.requests.lock().unwrap();
    assert!(
        questions.windows(2).all(|pair| pair[0].system == pair[1].system),
        "what is the same stays cached"
    );
}

#[tokio::test]
async fn after_the_last_attempt_its_fault_is_the_reason() {
    let run =
        run_script(vec![Says("I would rather not say.".to_owned()), Says("{".to_owned()), Says(hut(3))])
            .await;
    let failure = run.result.unwrap_err();
    assert_eq!((failure.reason.code(), failure.attempts), ("height_too_small", 3));
    assert_eq!(failure.usage.input, Some(3000));
    assert!(!run.listener.attempts[2].again);
    assert!(matches!(
        failure.reason,
        FailureReason::Refused(Rejection { code: RejectionCode::HeightTooSmall, .. })
    ));
}

#[tokio::test]
async fn what_asking_again_cannot_change_ends_at_once() {
    use GenerateErrorKind::*;
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
        let run = run_script(vec![Fails(kind, "I cannot")]).await;
        let failure = run.result.unwrap_err();
        assert_eq!((failure.reason.code(), failure.attempts), (kind.code(), 1));
        assert_eq!(failure.reason.to_string(), format!("the provider says {}", kind.code()));
        let [attempt] = &run.listener.attempts[..] else { panic!("one attempt") };
        assert_eq!((&*attempt.text, attempt.again), ("I cannot", false));
        assert_eq!(attempt.usage.output, Some(200), "a refusal costs, too");
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_asked_for_again_and_shorter() {
    use GenerateErrorKind::*;
    for kind in [Truncated, TooLarge] {
        let run =
            run_script(vec![Fails(kind, "{\"version\":\"1.0\",\"boxes\":[{\"x1\":"), Says(hut(8))]).await;
        assert_eq!(run.result.as_ref().unwrap().attempts, 2);
        assert_eq!(run.codes(), [Some(kind.code()), None]);
        assert!(run.prompt(2).contains("cut off") && run.prompt(2).contains("a lighthouse"));
        assert!(run.listener.attempts[0].text.ends_with("{\"x1\":"), "what had come is kept");
    }
}

#[tokio::test]
async fn an_answer_that_got_lost_is_asked_for_again_as_before() {
    use GenerateErrorKind::*;
    for kind in [Empty, Stalled, TimedOut, CutOff, BadAnswer] {
        let run = run_script(vec![Fails(kind, ""), Says(hut(8))]).await;
        assert_eq!(run.result.as_ref().unwrap().attempts, 2, "{kind:?}");
        assert_eq!(run.prompt(1), run.prompt(2));
    }
    for kind in [RateLimited, Overloaded, Unreachable] {
        let run = run_script(vec![Breaks(kind), Says(hut(8))]).await;
        assert_eq!(run.result.as_ref().unwrap().attempts, 2, "{kind:?} after an answer had begun");
    }
    let run = run_script(vec![Fails(Empty, ""), Fails(Stalled, ""), Fails(TimedOut, "")]).await;
    assert_eq!(run.result.unwrap_err().reason.code(), "timed_out");
}

#[tokio::test]
async fn a_spec_that_came_whole_before_the_end_was_lost_is_taken() {
    use GenerateErrorKind::*;
    for kind in [Truncated, CutOff, TimedOut, Stalled, Overloaded] {
        for around in [("", ""), ("Here:\n```json\n", "\n```\nI hope that"), ("", " \n")] {
            let run = run_script(vec![FailsAfter(kind, format!("{}{}{}", around.0, hut(8), around.1))]).await;
            assert_eq!(run.result.unwrap().attempts, 1, "{kind:?} {around:?}");
        }
    }
    for kind in [Refused, Filtered] {
        let run = run_script(vec![FailsAfter(kind, hut(8))]).await;
        assert_eq!(run.result.unwrap_err().reason.code(), kind.code());
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
        let run = run_script(vec![FailsAfter(GenerateErrorKind::CutOff, partial), Says(hut(9))]).await;
        assert_eq!(run.result.as_ref().unwrap().spec, hut(9));
        assert_eq!(run.codes(), [Some("cut_off"), None]);
    }
}

#[tokio::test]
async fn what_would_end_the_same_is_not_asked_for_again() {
    let run = run_script(vec![FailsForGood(GenerateErrorKind::BadAnswer)]).await;
    assert_eq!(run.result.unwrap_err().attempts, 1);
}

#[tokio::test]
async fn whoever_takes_over_after_a_cut_off_answer_asks_for_a_shorter_one() {
    for (code, is_shorter) in [(Some("truncated"), true), (Some("stalled"), false), (None, false)] {
        let (mut build_request, provider) = build_request(vec![Says(hut(8))]);
        build_request.prior = PriorAttempts { attempts: 1, code: code.map(str::to_owned), answer: None };
        let generated = build_request.run(off_thread, &mut TestListener::default()).await.unwrap();
        let prompt = &provider.requests.lock().unwrap()[0].messages[0].text;
        assert_eq!((generated.attempts, prompt.contains("cut off")), (2, is_shorter), "{code:?}");
    }
}

/// The listener may have lost the right to store anything.
#[tokio::test]
async fn nobody_is_asked_again_for_a_listener_that_has_enough() {
    let listener = TestListener { stop_after: Some(1), ..TestListener::default() };
    let run = run_with_listener(vec![Says(hut(2)), Says(hut(8))], listener).await;
    let failure = run.result.unwrap_err();
    assert_eq!(failure.reason.code(), "unheard");
    assert!(failure.reason.to_string().contains("the lease is gone"));
    assert_eq!(run.provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_looked_at_is_kept_and_not_paid_for_again() {
    let (build_request, provider) = build_request(vec![Says(hut(8)), Says(hut(8))]);
    let mut listener = TestListener::default();
    let busy = |_: Check| async { Err(anyhow!("too much heavy work is waiting already")) };
    let failure = build_request.run(busy, &mut listener).await.unwrap_err();
    assert_eq!(failure.reason.code(), "unread");
    assert_eq!((&*listener.attempts[0].text, listener.attempts[0].again), (&*hut(8), false));
    assert_eq!(listener.attempts[0].outcome.message(), Some("too much heavy work is waiting already"));
    assert_eq!(provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_is_asked_as_the_catalog_says() {
    let options = catalog::ModelOptions {
        effort: Some(catalog::ThinkingEffort::High),
        temperature: Some(0.5),
        max_output_tokens: Some(9000),
    };
    let (build_request, provider) = build_request(vec![Says(hut(8))]);
    build_request.with_options(options).run(off_thread, &mut TestListener::default()).await.unwrap();
    let request = &provider.requests.lock().unwrap()[0];
    assert_eq!(request.max_output_tokens, Some(9000));
    assert_eq!(
        (request.options.effort, request.options.temperature),
        (Some(catalog::ThinkingEffort::High), Some(0.5))
    );
}

#[tokio::test]
async fn a_text_beyond_the_bound_log_refused_unread() {
    let (mut build_request, _) = build_request(vec![Says(hut(8))]);
    build_request.max_bytes = 20;
    build_request.attempts = 1;
    let failure = build_request.run(off_thread, &mut TestListener::default()).await.unwrap_err();
    assert_eq!(failure.reason.code(), "too_large");
}

/// An hour in a queue is not the model's doing.
#[tokio::test]
async fn waiting_for_a_busy_provider_is_no_generation_time() {
    let run = run_script(vec![SaysLate(hut(8))]).await;
    assert!(run.listener.attempts[0].duration >= run.result.unwrap().generation_time + LATE);
}

#[tokio::test]
async fn dropping_the_loop_ends_the_request() {
    let (build_request, provider) = build_request(vec![Hangs]);
    let mut listener = TestListener::default();
    let mut making = Box::pin(build_request.run(off_thread, &mut listener));
    assert!(futures_util::poll!(&mut making).is_pending());
    assert_eq!(provider.open.load(Ordering::SeqCst), 1);
    drop(making);
    assert_eq!(provider.open.load(Ordering::SeqCst), 0);
    assert!(listener.attempts.is_empty());
}

#[test]
fn usage_adds_up_and_what_nobody_knows_stays_unknown() {
    let usage = |input, output, reasoning| Usage { input, output, reasoning };
    let sum = usage(Some(1), None, None).plus(&usage(Some(2), Some(3), None));
    assert_eq!(sum, usage(Some(3), Some(3), None));
    assert_eq!(usage(Some(u64::MAX), None, None).plus(&usage(Some(1), None, None)).input, Some(u64::MAX));
}
