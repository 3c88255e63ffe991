//! A fake of the services that verify tokens. It fails the test if the real service would reject a request for its form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use buildoff::config::CaptchaService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The secret of the account. No real service has issued it.
pub const CAPTCHA_SECRET: &str = "0x4AAA-planted-captcha-5up3rs3cr3t";
/// The site key of the account.
pub const CAPTCHA_SITE_KEY: &str = "10000000-ffff-ffff-ffff-000000000001";
/// A token that the service has issued. It can be verified once.
pub const CAPTCHA_TOKEN: &str = "P1_eyJ0.abc-DEF_123";

/// What the services' scripts offer: a widget that gives its token when it is clicked.
const FAKE_WIDGETS: &str = r#"
    const widget = {
      render(box, { sitekey, callback }) {
        const button = document.createElement("button");
        button.id = "widget";
        button.textContent = sitekey;
        button.addEventListener("click", () => callback(TOKEN));
        box.append(button);
      },
    };
    window.turnstile = window.hcaptcha = widget;
"#;

/// A script that stands in for those of the services.
pub fn fake_widgets() -> String {
    FAKE_WIDGETS.replace("TOKEN", &format!("{CAPTCHA_TOKEN:?}"))
}

/// How the service behaves.
#[derive(Clone)]
pub enum FakeCaptchaMode {
    /// Verifies tokens.
    Working,
    /// Answers with this status and this text.
    Broken(u16, &'static str),
    /// Verifies tokens once the test allows it.
    Held(Arc<Notify>),
}

pub struct FakeCaptcha {
    pub url: String,
    service: Arc<FakeCaptchaState>,
    task: JoinHandle<()>,
}

struct FakeCaptchaState {
    service: CaptchaService,
    mode: FakeCaptchaMode,
    received: Mutex<Vec<String>>,
    problems: Mutex<Vec<String>>,
    /// Notified with each request.
    arrived: Notify,
}

impl FakeCaptcha {
    pub async fn start(service: CaptchaService, mode: FakeCaptchaMode) -> Self {
        let service = Arc::new(FakeCaptchaState {
            service,
            mode,
            received: Mutex::default(),
            problems: Mutex::default(),
            arrived: Notify::new(),
        });
        let router = Router::new().fallback(site_verify).with_state(Arc::clone(&service));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/siteverify", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, service, task }
    }

    /// The tokens that it was asked about.
    pub fn received(&self) -> Vec<String> {
        self.service.received.lock().unwrap().clone()
    }

    pub async fn wait_for_request(&self) {
        self.service.arrived.notified().await;
    }
}

impl Drop for FakeCaptcha {
    fn drop(&mut self) {
        self.task.abort();
        if !std::thread::panicking() {
            let problems = self.service.problems.lock().unwrap().clone();
            assert!(problems.is_empty(), "requests that the service would reject: {problems:#?}");
        }
    }
}

async fn site_verify(
    State(service): State<Arc<FakeCaptchaState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
    service.problems.lock().unwrap().extend(service.problem(&method, &uri, &headers, &fields));
    let fields: BTreeMap<String, String> = fields.into_iter().collect();
    let token = fields.get("response").cloned().unwrap_or_default();
    let is_used = {
        let mut received = service.received.lock().unwrap();
        let is_used = received.contains(&token);
        received.push(token.clone());
        is_used
    };
    service.arrived.notify_one();
    match &service.mode {
        FakeCaptchaMode::Working => {}
        FakeCaptchaMode::Broken(status, text) => {
            return (StatusCode::from_u16(*status).unwrap(), *text).into_response();
        }
        FakeCaptchaMode::Held(allowed) => allowed.notified().await,
    }
    let secret = fields.get("secret").map_or("", String::as_str);
    axum::Json(service.verdict(secret, &token, is_used)).into_response()
}

impl FakeCaptchaState {
    fn problem(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        fields: &[(String, String)],
    ) -> Option<String> {
        let kind = headers.get("content-type").map_or("", |kind| kind.to_str().unwrap());
        let names: BTreeSet<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        let expected: &[&str] = match self.service {
            CaptchaService::Turnstile => &["response", "secret"],
            CaptchaService::Hcaptcha => &["response", "secret", "sitekey"],
        };
        let site_key = fields.iter().find(|(name, _)| name == "sitekey").map(|(_, value)| value.as_str());
        if method != Method::POST || uri.path() != "/siteverify" || uri.query().is_some() {
            Some(format!("{method} {uri}"))
        } else if kind != "application/x-www-form-urlencoded" {
            Some(format!("content-type: {kind}"))
        } else if names.iter().ne(expected) || fields.len() != expected.len() {
            Some(format!("the fields {names:?}, where {expected:?} are expected"))
        } else if site_key.is_some_and(|key| key != CAPTCHA_SITE_KEY) {
            Some(format!("the site key {site_key:?}"))
        } else {
            None
        }
    }

    fn verdict(&self, secret: &str, token: &str, is_used: bool) -> Value {
        let used = match self.service {
            CaptchaService::Turnstile => "timeout-or-duplicate",
            CaptchaService::Hcaptcha => "already-seen-response",
        };
        let refused = |code: &str| json!({ "success": false, "error-codes": [code] });
        if secret != CAPTCHA_SECRET {
            return refused("invalid-input-secret");
        } else if token.is_empty() {
            return refused("missing-input-response");
        } else if token != CAPTCHA_TOKEN {
            return refused("invalid-input-response");
        } else if is_used {
            return refused(used);
        }
        match self.service {
            CaptchaService::Turnstile => json!({
                "success": true,
                "challenge_ts": "2026-02-28T15:14:30.096Z",
                "hostname": "buildoff.example",
                "error-codes": [],
                "action": "",
                "cdata": "",
                "metadata": { "interactive": false },
            }),
            CaptchaService::Hcaptcha => json!({
                "success": true,
                "challenge_ts": "2026-02-28T15:14:30.000000Z",
                "hostname": "buildoff.example",
                "credit": false,
            }),
        }
    }
}
