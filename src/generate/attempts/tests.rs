mod interruptions;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::task::Poll;

use anyhow::ensure;
use voxel::{GridSize, Palette};

use super::super::build::{BuildAnswer, BuildTask};
use super::super::error::Retry;
use super::super::{
    Adjustment, CompletionResponse, Note, PictureFormat, PromptPicture, ThinkingEffort, Usage,
};
use super::*;
use crate::arena::{Mode, Settings};

/// A provider that answers by a script, and keeps the requests.
#[derive(Default)]
struct FakeModelProvider {
    replies: Mutex<VecDeque<FakeReply>>,
    requests: Mutex<Vec<CompletionRequest>>,
    /// Requests under way.
    open: AtomicUsize,
    /// Why answers were rejected.
    rejected: Mutex<Vec<String>>,
}

/// How often the fake provider is asked again after an answer that broke off.
const RESENDS: u32 = 3;

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

#[async_trait]
impl ModelProvider for FakeModelProvider {
    async fn ask(
        &self,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let _open = OpenRequest(&self.open);
        self.requests.lock().unwrap().push(request.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        let reply = reply.expect("nobody is asked more often than the script says");
        if let SaysLate(_) = reply {
            on_delta(Delta::Sent);
            on_delta(Delta::Waiting { attempt: 1, reason: "busy".to_owned(), seconds: LATE.as_secs_f64() });
            sleep(LATE).await;
            on_delta(Delta::Sent);
        }
        match reply {
            Says(text) | SaysLate(text) => {
                on_delta(Delta::Text(&text));
                Ok(response(text))
            }
            Fails(kind, partial) => Err(failed(kind, partial.into(), on_delta)),
            FailsAfter(kind, partial) => {
                Err(GenerateError { began: true, ..failed(kind, partial, on_delta) })
            }
            FailsForGood(kind) => {
                Err(GenerateError { retry: Retry::Never, ..failed(kind, String::new(), on_delta) })
            }
            Breaks(kind) => Err(GenerateError { began: true, ..failed(kind, String::new(), on_delta) }),
            Hangs => {
                on_delta(Delta::Thinking { chars: 9 });
                std::future::pending().await
            }
        }
    }

    fn retry_wait(&self, _: &GenerateError, failures: u32) -> Option<Duration> {
        (failures <= RESENDS).then(|| Duration::from_millis(failures.into()))
    }

    fn log_rejected(&self, _: &str, why: &str) {
        self.rejected.lock().unwrap().push(why.to_owned());
    }
}

/// How long the provider is busy before it answers.
const LATE: Duration = Duration::from_millis(100);

fn response(text: String) -> CompletionResponse {
    let usage = Usage { input: Some(1000), output: Some(200), ..Usage::default() };
    CompletionResponse { text, usage, notes: vec![no_schema()], ..CompletionResponse::default() }
}

fn failed(kind: GenerateErrorKind, partial: String, on_delta: &mut dyn FnMut(Delta<'_>)) -> GenerateError {
    on_delta(Delta::Text(&partial));
    let message = format!("the provider says {}", kind.code());
    GenerateError { partial: Box::new(response(partial)), ..GenerateError::new(kind, message) }
}

#[derive(Default)]
struct TestListener {
    started: usize,
    attempts: Vec<Attempt>,
    /// The attempt that follows each one.
    next: Vec<Option<u32>>,
    /// Pieces of text, each with the attempt it belongs to.
    texts: Vec<(usize, String)>,
    /// The number of attempts after which it ends the loop.
    stop_after: Option<usize>,
    /// The waits that were reported: the number of the failure, and the milliseconds.
    waits: Vec<(u32, f64)>,
}

#[async_trait]
impl AttemptListener for TestListener {
    async fn on_attempt_start(&mut self) -> anyhow::Result<()> {
        self.started += 1;
        Ok(())
    }

    fn on_delta(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => self.texts.push((self.started, text.to_owned())),
            Delta::Waiting { attempt, seconds, .. } => self.waits.push((attempt, seconds * 1000.0)),
            _ => {}
        }
    }

    async fn on_attempt_end(&mut self, attempt: &Attempt, next: Option<u32>) -> anyhow::Result<()> {
        self.attempts.push(attempt.clone());
        self.next.push(next);
        ensure!(self.stop_after != Some(self.attempts.len()), "the lease is gone");
        Ok(())
    }
}

struct TestRun {
    result: Result<Generated<BuildAnswer>>,
    provider: Arc<FakeModelProvider>,
    listener: TestListener,
}

fn settings() -> Settings {
    Settings { grid: GridSize::G32, palette: Palette::Simple, mode: Mode::precise() }
}

fn attempt_loop<T: Task>(task: T, replies: Vec<FakeReply>) -> (AttemptLoop<T>, Arc<FakeModelProvider>) {
    let provider =
        Arc::new(FakeModelProvider { replies: Mutex::new(replies.into()), ..FakeModelProvider::default() });
    let attempt_loop = AttemptLoop {
        task: Arc::new(task),
        provider: provider.clone(),
        model: "some-model-1".to_owned(),
        vision: false,
        options: ModelOptions::default(),
        max_attempts: DEFAULT_ATTEMPTS,
        past: PastAttempts::default(),
        work: WorkPool::per_core(),
        work_client: WorkClient::BACKGROUND,
    };
    (attempt_loop, provider)
}

fn build_task() -> BuildTask {
    BuildTask { prompt: "a lighthouse".to_owned(), settings: settings(), max_bytes: 64 << 20, site: None }
}

async fn run_script(replies: Vec<FakeReply>) -> TestRun {
    run_with_listener(replies, TestListener::default()).await
}

async fn run_with_listener(replies: Vec<FakeReply>, mut listener: TestListener) -> TestRun {
    let (attempt_loop, provider) = attempt_loop(build_task(), replies);
    let result = attempt_loop.run(&mut listener).await;
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
    /// The last message of a request, counted from 1.
    fn prompt(&self, number: usize) -> String {
        self.provider.requests.lock().unwrap()[number - 1].prompt.user.clone()
    }

    fn codes(&self) -> Vec<Option<&'static str>> {
        self.listener.attempts.iter().map(|attempt| attempt.code).collect()
    }

    fn total_usage(&self) -> Usage {
        self.listener.attempts.iter().fold(Usage::default(), |sum, attempt| sum.plus(&attempt.usage))
    }
}

#[tokio::test]
async fn a_good_answer_is_taken_at_once_with_prose_around_it() {
    let run = run_script(vec![Says(format!("Here it is:\n```json\n{}\n```", hut(8)))]).await;
    let generated = run.result.as_ref().unwrap();
    assert_eq!(generated.output.build.block_count, 24 * 24 * 8);
    assert_eq!(generated.output.spec, hut(8));
    let usage = run.total_usage();
    assert_eq!((generated.attempts, usage.input, usage.output), (1, Some(1000), Some(200)));
    assert!(generated.generation_time > Duration::ZERO);
    assert_eq!(run.codes(), [None]);
    assert_eq!(run.listener.texts[0].0, 1);
    let attempt = &run.listener.attempts[0];
    assert!(attempt.answer.starts_with("Here it is:") && run.listener.next == [None]);
    assert_eq!(attempt.notes, json!([no_schema()]));
    let request = &run.provider.requests.lock().unwrap()[0];
    assert_eq!(request.model, "some-model-1");
    assert_eq!(request.schema, build_task().schema());
    assert!(request.prompt.system.contains("master builder") && request.prompt.user.contains("a lighthouse"));
}

#[tokio::test]
async fn what_is_wrong_goes_back_with_the_answer_until_it_is_right() {
    let broken = hut(8).replace("\"x2\":27", "\"x2\":27.5");
    let run = run_script(vec![Says(hut(2)), Says(broken.clone()), Says(hut(8))]).await;
    let generated = run.result.as_ref().unwrap();
    assert_eq!(generated.attempts, 3);
    assert_eq!(run.total_usage(), Usage { input: Some(3000), output: Some(600), ..Usage::default() });
    assert_eq!(run.codes(), [Some("height_too_small"), Some("bad_spec"), None]);
    assert_eq!(run.listener.next, [Some(2), Some(3), None]);

    let second = run.prompt(2);
    for part in [
        "a lighthouse",
        "`height_too_small`: the build is 2 cells high",
        "1152 filled cells, x from 4 to 27, y from 0 to 1",
        &hut(2),
    ] {
        assert!(second.contains(part), "{part:?} is not in {second}");
    }
    assert_eq!(run.provider.rejected.lock().unwrap().len(), 2);
    let third = run.prompt(3);
    assert!(third.contains("boxes[0].x2: expected a whole number, got 27.5"), "{third}");
    assert!(third.contains(&broken) && !third.contains("height_too_small"), "only the last answer is mended");
    let questions = run.provider.requests.lock().unwrap();
    assert!(
        questions.windows(2).all(|pair| pair[0].prompt.system == pair[1].prompt.system),
        "what is the same stays cached"
    );
}

#[tokio::test]
async fn after_the_last_attempt_its_fault_is_the_reason() {
    let run =
        run_script(vec![Says("I would rather not say.".to_owned()), Says("{".to_owned()), Says(hut(3))])
            .await;
    assert_eq!(run.total_usage().input, Some(3000));
    assert_eq!(run.listener.next, [Some(2), Some(3), None]);
    assert_eq!(run.result.err().unwrap().kind, GenerateErrorKind::Rejected("height_too_small"));
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
        let failure = run.result.err().unwrap();
        assert_eq!(failure.kind, kind);
        assert_eq!(failure.to_string(), format!("the provider says {}", kind.code()));
        let [attempt] = &run.listener.attempts[..] else { panic!("one attempt") };
        assert_eq!((&*attempt.answer, run.listener.next[0]), ("I cannot", None));
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
        assert!(run.listener.attempts[0].answer.ends_with("{\"x1\":"), "what had come is kept");
    }
}

#[tokio::test]
async fn an_answer_that_got_lost_is_asked_for_again_as_before() {
    use GenerateErrorKind::*;
    for kind in [Empty, Stalled, TimedOut, BadAnswer] {
        let run = run_script(vec![Fails(kind, ""), Says(hut(8))]).await;
        assert_eq!(run.result.as_ref().unwrap().attempts, 2, "{kind:?}");
        assert_eq!(run.prompt(1), run.prompt(2));
    }
    let run = run_script(vec![Fails(Empty, ""), Fails(Stalled, ""), Fails(TimedOut, "")]).await;
    assert_eq!(run.result.err().unwrap().kind.code(), "timed_out");
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
        assert_eq!(run.result.err().unwrap().kind.code(), kind.code());
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
        assert_eq!(run.result.as_ref().unwrap().output.spec, hut(9));
        assert_eq!(run.codes(), [Some("cut_off"), None]);
    }
}

#[tokio::test]
async fn what_would_end_the_same_is_not_asked_for_again() {
    let run = run_script(vec![FailsForGood(GenerateErrorKind::BadAnswer)]).await;
    assert!(run.result.is_err());
    assert_eq!(run.listener.next, [None]);
}

#[tokio::test]
async fn whoever_takes_over_after_a_cut_off_answer_asks_for_a_shorter_one() {
    for (code, is_shorter) in [(Some("truncated"), true), (Some("stalled"), false), (None, false)] {
        let (mut attempt_loop, provider) = attempt_loop(build_task(), vec![Says(hut(8))]);
        attempt_loop.past =
            PastAttempts { count: 1, code: code.map(str::to_owned), ..PastAttempts::default() };
        let generated = attempt_loop.run(&mut TestListener::default()).await.unwrap();
        let prompt = &provider.requests.lock().unwrap()[0].prompt.user;
        assert_eq!((generated.attempts, prompt.contains("cut off")), (2, is_shorter), "{code:?}");
    }
}

/// The listener may have lost the right to store anything.
#[tokio::test]
async fn nobody_is_asked_again_for_a_listener_that_has_enough() {
    let listener = TestListener { stop_after: Some(1), ..TestListener::default() };
    let run = run_with_listener(vec![Says(hut(2)), Says(hut(8))], listener).await;
    let failure = run.result.err().unwrap();
    assert_eq!(failure.kind, GenerateErrorKind::Cancelled);
    assert!(failure.to_string().contains("the lease is gone"));
    assert_eq!(failure.cancelled_by.unwrap().to_string(), "the lease is gone");
    assert_eq!(run.provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_looked_at_is_kept_and_not_paid_for_again() {
    let (mut attempt_loop, provider) = attempt_loop(build_task(), vec![Says(hut(8)), Says(hut(8))]);
    attempt_loop.work_client = WorkClient::visitor([192, 0, 2, 1].into());
    let (work, client) = (attempt_loop.work.clone(), attempt_loop.work_client);
    // Pieces of work hold all slots until the end of this test, and as many others wait for this client as may.
    let (_held, is_held) = mpsc::channel::<()>();
    let is_held = Arc::new(Mutex::new(is_held));
    let mut pieces = Vec::new();
    loop {
        let is_held = Arc::clone(&is_held);
        let mut piece = Box::pin(work.run(client, move || is_held.lock().unwrap().recv().is_err()));
        match futures_util::poll!(&mut piece) {
            Poll::Pending => pieces.push(piece),
            Poll::Ready(refused) => break assert!(refused.is_err()),
        }
    }
    let mut listener = TestListener::default();
    let failure = attempt_loop.run(&mut listener).await.err().unwrap();
    assert_eq!(failure.kind, GenerateErrorKind::Unread);
    assert_eq!((&*listener.attempts[0].answer, listener.next[0]), (&*hut(8), None));
    assert_eq!(listener.attempts[0].outcome, Outcome::Unread);
    let message = listener.attempts[0].message.as_deref().unwrap();
    assert_eq!(message, "the answer could not be checked: this client has too much work queued");
    assert_eq!(provider.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_is_asked_as_the_catalog_says() {
    let options = ModelOptions {
        effort: Some(ThinkingEffort::High),
        temperature: Some(0.5),
        max_output_tokens: Some(9000),
        ..ModelOptions::default()
    };
    let (mut attempt_loop, provider) = attempt_loop(build_task(), vec![Says(hut(8))]);
    attempt_loop.options = options;
    attempt_loop.run(&mut TestListener::default()).await.unwrap();
    assert_eq!(provider.requests.lock().unwrap()[0].options, options);
}

#[tokio::test]
async fn a_text_beyond_the_bound_is_rejected_unread() {
    let task = BuildTask { max_bytes: 20, ..build_task() };
    let (mut attempt_loop, _) = attempt_loop(task, vec![Says(hut(8))]);
    attempt_loop.max_attempts = 1;
    let failure = attempt_loop.run(&mut TestListener::default()).await.err().unwrap();
    assert_eq!(failure.kind, GenerateErrorKind::Rejected("too_large"));
}

#[tokio::test]
async fn waiting_for_a_busy_provider_is_not_generation_time() {
    let started = Instant::now();
    let run = run_script(vec![SaysLate(hut(8))]).await;
    assert!(started.elapsed() >= run.result.unwrap().generation_time + LATE);
}

#[tokio::test]
async fn dropping_the_loop_ends_the_request() {
    let (attempt_loop, provider) = attempt_loop(build_task(), vec![Hangs]);
    let mut listener = TestListener::default();
    let mut making = Box::pin(attempt_loop.run(&mut listener));
    assert!(futures_util::poll!(&mut making).is_pending());
    assert_eq!(provider.open.load(Ordering::SeqCst), 1);
    drop(making);
    assert_eq!(provider.open.load(Ordering::SeqCst), 0);
    assert!(listener.attempts.is_empty());
}

/// A task that has nothing to do with builds: a score from 0 to 10.
struct ScoreTask;

impl Task for ScoreTask {
    type Output = u8;

    fn first_prompt(&self) -> ChatPrompt {
        chat_prompt("Score this from 0 to 10.").with_pictures([what_is_scored()])
    }

    fn shorter_prompt(&self) -> ChatPrompt {
        chat_prompt("Answer with the score only.")
    }

    fn read(&self, answer: &str) -> Result<u8, RejectedAnswer> {
        let score = serde_json::from_str::<Value>(answer).ok().and_then(|json| json["score"].as_u64());
        score.and_then(|score| u8::try_from(score).ok()).filter(|score| *score <= 10).ok_or_else(|| {
            RejectedAnswer {
                code: "bad_score",
                message: "a score is a whole number from 0 to 10".to_owned(),
                repair: chat_prompt(&format!("This is not a score: {answer}"))
                    .with_pictures([what_is_scored()]),
            }
        })
    }
}

fn what_is_scored() -> PromptPicture {
    PromptPicture { label: "A hut".to_owned(), format: PictureFormat::Png, bytes: Arc::new(*b"a picture") }
}

fn chat_prompt(user: &str) -> ChatPrompt {
    ChatPrompt::new("You judge.", user)
}

#[tokio::test]
async fn the_loop_serves_any_task() {
    let replies = vec![
        Fails(GenerateErrorKind::Truncated, "{\"score\": 7}"),
        Says("{\"score\": 11}".to_owned()),
        Says("{\"score\": 7}".to_owned()),
    ];
    let (attempt_loop, provider) = attempt_loop(ScoreTask, replies);
    let mut listener = TestListener::default();
    let generated = attempt_loop.run(&mut listener).await.unwrap();
    assert_eq!((generated.output, generated.attempts), (7, 3));
    let codes: Vec<_> = listener.attempts.iter().map(|attempt| attempt.code).collect();
    assert_eq!(codes, [Some("truncated"), Some("bad_score"), None]);
    let requests = provider.requests.lock().unwrap();
    let prompts: Vec<_> = requests.iter().map(|request| request.prompt.user.as_str()).collect();
    assert_eq!(
        prompts,
        ["Score this from 0 to 10.", "Answer with the score only.", "This is not a score: {\"score\": 11}"]
    );
    assert!(requests.iter().all(|request| request.schema.is_none() && request.prompt.system == "You judge."));
    // The task decides which of its prompts show something.
    let shown: Vec<_> = requests.iter().map(|request| request.prompt.pictures.len()).collect();
    assert_eq!(shown, [1, 0, 1]);
}

#[tokio::test]
async fn an_answer_of_an_earlier_worker_is_checked_before_anything_is_sent() {
    for (answer, sent) in [("{\"score\": 4}", 0), ("{\"score\": 40}", 1)] {
        let (mut attempt_loop, provider) = attempt_loop(ScoreTask, vec![Says("{\"score\": 7}".to_owned())]);
        let answer = Some((answer.into(), Duration::from_secs(5)));
        attempt_loop.past = PastAttempts { count: 2, answer, ..PastAttempts::default() };
        let generated = attempt_loop.run(&mut TestListener::default()).await.unwrap();
        let expected = if sent == 0 { (4, 2) } else { (7, 3) };
        assert_eq!((generated.output, generated.attempts), expected);
        assert_eq!(provider.requests.lock().unwrap().len(), sent);
    }
}
