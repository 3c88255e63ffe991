//! Headless Chromium: one per test process, a fresh incognito context per page.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use chromiumoxide::browser::Browser;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetScriptExecutionDisabledParams,
};
use chromiumoxide::cdp::browser_protocol::input::{
    DispatchMouseEventParams, DispatchMouseEventType, DispatchTouchEventReturns, MouseButton, TouchPoint,
};
use chromiumoxide::cdp::browser_protocol::log::{EventEntryAdded, LogEntryLevel, LogEntrySource};
use chromiumoxide::cdp::browser_protocol::page::{CaptureScreenshotFormat, Viewport};
use chromiumoxide::cdp::browser_protocol::target::{CreateBrowserContextParams, CreateTargetParams};
use chromiumoxide::cdp::js_protocol::runtime::{EventConsoleApiCalled, EventExceptionThrown};
use chromiumoxide::handler::HandlerConfig;
use chromiumoxide::listeners::EventStream;
use chromiumoxide::page::ScreenshotParams;
use chromiumoxide::types::{Command as BrowserCommand, Method, MethodId};
use futures_util::{FutureExt, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

const FLAGS: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "about:blank",
];

/// How long a test waits for a condition on a page. Drawing without a graphics card is slow.
const WAIT_TIMEOUT: Duration = Duration::from_secs(40);

/// Ends the browser when this process ends in any way: the pipe closes, and `read` returns.
const WATCHDOG: &str = r#"
    "$@" </dev/null >"$PROFILE/log" 2>&1 &
    read -r _
    kill $! 2>/dev/null; wait
    rm -rf "$PROFILE"
"#;

static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::launch);

struct Chromium {
    browser: Browser,
    runtime: Handle,
    /// The watchdog ends the browser when this pipe closes.
    _pipe: ChildStdin,
}

#[derive(Clone, Copy, Debug)]
pub enum Theme {
    Light,
    Dark,
}

/// A tab in its own context: it shares no cookies, cache or storage with other tabs.
pub struct BrowserPage {
    tab: chromiumoxide::Page,
    context: BrowserContextId,
    console: EventStream<EventConsoleApiCalled>,
    exceptions: EventStream<EventExceptionThrown>,
    log: EventStream<EventEntryAdded>,
}

/// Opens `url` at desktop size in the light theme.
pub async fn open_page(url: &str) -> BrowserPage {
    let browser = &CHROMIUM.browser;
    let context = browser.create_browser_context(CreateBrowserContextParams::default()).await.unwrap();
    let mut blank = CreateTargetParams::new("about:blank");
    blank.browser_context_id = Some(context.clone());
    let tab = browser.new_page(blank).await.unwrap();
    tab.enable_log().await.unwrap();
    let page = BrowserPage {
        console: tab.event_listener().await.unwrap(),
        exceptions: tab.event_listener().await.unwrap(),
        log: tab.event_listener().await.unwrap(),
        context,
        tab,
    };
    page.set_size(1440, 900).await;
    page.set_theme(Theme::Light).await;
    page.goto(url).await;
    page
}

impl BrowserPage {
    pub async fn goto(&self, url: &str) {
        self.tab.goto(url).await.unwrap_or_else(|error| panic!("{url} did not open: {error}"));
    }

    pub async fn reload(&self) {
        self.tab.reload().await.unwrap();
    }

    /// Sets the size of the window, which counts as a phone's below 600 pixels.
    pub async fn set_size(&self, width: i64, height: i64) {
        let metrics = SetDeviceMetricsOverrideParams::new(width, height, 1.0, width < 600);
        self.tab.execute(metrics).await.unwrap();
    }

    /// Sets the colour scheme that the visitor's system prefers.
    pub async fn set_theme(&self, theme: Theme) {
        let value = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        self.tab
            .emulate_media_features(vec![MediaFeature::new("prefers-color-scheme", value)])
            .await
            .unwrap();
    }

    /// Sets the system's preference for reduced motion.
    pub async fn reduce_motion(&self) {
        let calm = MediaFeature::new("prefers-reduced-motion", "reduce");
        self.tab.emulate_media_features(vec![calm]).await.unwrap();
    }

    /// Disables scripts from the next load on.
    pub async fn disable_scripts(&self) {
        self.tab.execute(SetScriptExecutionDisabledParams::new(true)).await.unwrap();
    }

    /// Runs a script before the page's own scripts, from the next load on.
    pub async fn add_init_script(&self, script: &str) {
        self.tab.evaluate_on_new_document(script).await.unwrap();
    }

    pub async fn eval<T: DeserializeOwned>(&self, script: &str) -> T {
        let value = self.tab.evaluate(script).await;
        let value = value.unwrap_or_else(|error| panic!("{script} failed: {error}"));
        value.into_value().unwrap_or_else(|error| panic!("{script} returned another type: {error}"))
    }

    /// Whether a condition holds. It does not during a navigation.
    pub async fn holds(&self, condition: &str) -> bool {
        let value = self.tab.evaluate(condition).await;
        value.is_ok_and(|value| value.into_value().unwrap_or(false))
    }

    pub async fn wait_until(&self, condition: &str) {
        self.wait_until_described(condition, condition).await;
    }

    /// Waits until the condition holds; `what` says in a failure's message what did not happen.
    pub async fn wait_until_described(&self, condition: &str, what: &str) {
        let begun = Instant::now();
        while !self.holds(&format!("document.readyState === 'complete' && !!({condition})")).await {
            if begun.elapsed() > WAIT_TIMEOUT {
                self.screenshot("stuck").await;
                panic!(
                    "timed out after {WAIT_TIMEOUT:?} (see target/shots/stuck.png): {what}\n\
                     condition: {condition}\npage: {}",
                    self.text("main").await
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Runs a script for its effect.
    pub async fn run(&self, script: &str) {
        self.eval::<bool>(&format!("{script}; true")).await;
    }

    /// The visible text of the first element that matches.
    pub async fn text(&self, css: &str) -> String {
        self.eval(&format!("document.querySelector({css:?})?.innerText ?? 'nothing matches ' + {css:?}"))
            .await
    }

    pub async fn click(&self, css: &str) {
        self.wait_until_at_rest(css).await;
        let found = self.tab.find_element(css).await;
        let element = found.unwrap_or_else(|error| panic!("{css} cannot be clicked: {error}"));
        element.click().await.unwrap();
    }

    /// Waits until the first element that matches stays where it is, for a few seconds at most: a click goes to a place, and
    /// while a page loads, what was there may move away.
    async fn wait_until_at_rest(&self, css: &str) {
        let place = format!(
            "(() => {{ const {{ x, y }} = document.querySelector({css:?})?.getBoundingClientRect() ?? {{}}; return `${{document.readyState}} ${{x}} ${{y}}` }})()"
        );
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < Duration::from_secs(3) {
            let now = self
                .tab
                .evaluate(place.as_str())
                .await
                .ok()
                .and_then(|value| value.into_value::<String>().ok());
            if now == last && now.as_ref().is_some_and(|place| place.starts_with("complete")) {
                return;
            }
            last = now;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Drags from the middle of the first element that matches, by this many pixels.
    pub async fn drag(&self, css: &str, right: f64, down: f64) {
        let found = self.tab.find_element(css).await;
        let element = found.unwrap_or_else(|error| panic!("{css} cannot be dragged: {error}"));
        let from = element.scroll_into_view().await.unwrap().clickable_point().await.unwrap();
        for (kind, way) in [
            (DispatchMouseEventType::MousePressed, 0.0),
            (DispatchMouseEventType::MouseMoved, 0.5),
            (DispatchMouseEventType::MouseMoved, 1.0),
            (DispatchMouseEventType::MouseReleased, 1.0),
        ] {
            let mut event = DispatchMouseEventParams::new(kind, from.x + way * right, from.y + way * down);
            event.button = Some(MouseButton::Left);
            event.buttons = Some(1);
            event.click_count = Some(1);
            self.tab.execute(event).await.unwrap();
        }
    }

    /// Moves the mouse to the middle of the first element that matches.
    pub async fn hover(&self, css: &str) {
        let (x, y) = self.center(css).await;
        let event = DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, x, y);
        self.tab.execute(event).await.unwrap();
    }

    /// Clicks on a page without script, where [`Self::click`] would never return.
    pub async fn click_without_script(&self, css: &str) {
        let (x, y) = self.center(css).await;
        for kind in [DispatchMouseEventType::MousePressed, DispatchMouseEventType::MouseReleased] {
            let mut event = DispatchMouseEventParams::new(kind, x, y);
            event.button = Some(MouseButton::Left);
            event.click_count = Some(1);
            self.tab.execute(event).await.unwrap();
        }
    }

    /// Taps the middle of the first element that matches.
    pub async fn tap(&self, css: &str) {
        self.swipe(css, 0.0).await;
    }

    /// Touches the middle of the first element that matches, and moves to the right by this many pixels.
    pub async fn swipe(&self, css: &str, right: f64) {
        const STEPS: u32 = 10;
        let (x, y) = self.center(css).await;
        self.touch("touchStart", &[TouchPoint::new(x, y)]).await;
        for step in 1..=STEPS {
            let moved = right * f64::from(step) / f64::from(STEPS);
            if right != 0.0 {
                self.touch("touchMove", &[TouchPoint::new(x + moved, y)]).await;
            }
        }
        self.touch("touchEnd", &[]).await;
    }

    async fn touch(&self, kind: &'static str, points: &[TouchPoint]) {
        self.tab.execute(DispatchTouchEvent { kind, points: points.to_vec() }).await.unwrap();
    }

    /// The middle of the visible part of the first element that matches.
    async fn center(&self, css: &str) -> (f64, f64) {
        self.eval(&format!(
            "(element => {{
                if (element.getBoundingClientRect().bottom > innerHeight) element.scrollIntoView({{ block: 'end', behavior: 'instant' }});
                const {{ left, right, top, bottom }} = element.getBoundingClientRect();
                return [(Math.max(left, 0) + Math.min(right, innerWidth)) / 2, (top + bottom) / 2];
            }})(document.querySelector({css:?}))"
        ))
        .await
    }

    /// Presses a key in the focused element.
    pub async fn press(&self, key: &str) {
        let body = self.tab.find_element("body").await.unwrap();
        body.press_key(key).await.unwrap();
    }

    /// Saves a picture of the whole page as `target/shots/<name>.png`.
    pub async fn screenshot(&self, name: &str) {
        let whole = self.tab.layout_metrics().await.unwrap().css_content_size;
        let clip = Viewport { x: 0.0, y: 0.0, width: whole.width, height: whole.height, scale: 1.0 };
        let params = ScreenshotParams::builder()
            .format(CaptureScreenshotFormat::Png)
            .clip(clip)
            .capture_beyond_viewport(true)
            .build();
        let png = self.tab.screenshot(params).await.unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("shots");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }

    /// The console's errors, warnings, exceptions and violations of the content security policy since the
    /// last call. The status of the page itself does not count, since error pages are tested too.
    pub async fn take_console_errors(&mut self) -> Vec<String> {
        // The browser sends all pending events before the result of this script.
        let here: String = self.eval("location.href").await;
        let mut errors = Vec::new();
        while let Some(Some(event)) = self.console.next().now_or_never() {
            if matches!(event.r#type.as_ref(), "error" | "warning" | "assert") {
                errors.push(format!("console: {:?}", event.args));
            }
        }
        while let Some(Some(event)) = self.exceptions.next().now_or_never() {
            errors.push(format!("exception: {:?}", event.exception_details));
        }
        while let Some(Some(event)) = self.log.next().now_or_never() {
            let entry = &event.entry;
            let about_itself =
                entry.source == LogEntrySource::Network && entry.url.as_deref() == Some(here.as_str());
            let serious = matches!(entry.level, LogEntryLevel::Error | LogEntryLevel::Warning);
            if serious && !about_itself {
                errors.push(format!("log: {} ({})", entry.text, entry.url.as_deref().unwrap_or("")));
            }
        }
        errors
    }
}

/// The library's own command omits an empty list of points, which a `touchEnd` needs.
#[derive(Debug, Serialize)]
struct DispatchTouchEvent {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "touchPoints")]
    points: Vec<TouchPoint>,
}

impl Method for DispatchTouchEvent {
    fn identifier(&self) -> MethodId {
        "Input.dispatchTouchEvent".into()
    }
}

impl BrowserCommand for DispatchTouchEvent {
    type Response = DispatchTouchEventReturns;
}

impl Drop for BrowserPage {
    fn drop(&mut self) {
        let context = self.context.clone();
        CHROMIUM.runtime.spawn(CHROMIUM.browser.dispose_browser_context(context));
    }
}

impl Chromium {
    /// Runs the connection on a separate thread with its own runtime, since each test's runtime ends with it.
    fn launch() -> Self {
        let (profile, mut watchdog) = launch_chromium();
        let pipe = watchdog.stdin.take().unwrap();
        let address = debugger_address(&profile);
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let config = HandlerConfig { viewport: None, ..HandlerConfig::default() };
                let (browser, mut events) = Browser::connect_with_config(address, config).await.unwrap();
                send.send((browser, Handle::current())).unwrap();
                while events.next().await.is_some() {}
            });
        });
        let (browser, runtime) = receive.recv().expect("Chromium started, but the connection to it failed");
        Self { browser, runtime, _pipe: pipe }
    }
}

fn launch_chromium() -> (PathBuf, Child) {
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    assert!(
        Path::new(&chromium).exists(),
        "The page tests need Chromium, and there is none at {chromium}. Install it (apt-get install chromium), \
         or set CHROMIUM to where it is."
    );
    let profile = tempfile::Builder::new().prefix("buildoff-chromium-").tempdir().unwrap().keep();
    File::create(profile.join("log")).unwrap();
    let watchdog = Command::new("/bin/sh")
        .args(["-c", WATCHDOG, "keeper", &chromium])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(FLAGS)
        .env("PROFILE", &profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (profile, watchdog)
}

fn debugger_address(profile: &Path) -> String {
    let file = profile.join("DevToolsActivePort");
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let port_file = fs::read_to_string(&file).unwrap_or_default();
        if let Some((port, path)) = port_file.trim().split_once('\n') {
            return format!("ws://127.0.0.1:{port}{path}");
        }
        let log = || fs::read_to_string(profile.join("log")).unwrap_or_default();
        assert!(Instant::now() < deadline, "Chromium did not start. It said:\n{}", log());
        thread::sleep(Duration::from_millis(20));
    }
}
