//! The console: signing in, and its pages with and without script.

mod budgets;
mod large;
mod lines;
mod matrix;
mod pages;
mod pauses;
mod session;

use std::fs;

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use tempfile::TempDir;

use crate::support::admin::TOKEN;
use crate::support::db::TestDb;
use crate::support::fake_protocol::MODEL;
use crate::support::fake_provider::{API_KEY, RecordedRequest};
use crate::support::{
    BrowserPage, FakePart, FakeProtocol, FakeProvider, FakeResponse, TestServer, open_page,
};

const SIGN_IN: &str = "Sign in with the server’s";

/// A valid build: a block of stone.
const BUILD: &str = r#"{ "version": "1.0", "boxes": [{ "x1": 0, "y1": 0, "z1": 0, "x2": 19, "y2": 7, "z2": 19, "type": "stone" }] }"#;

/// The catalog has two prompts, two models of a local provider, one of a provider without a key, and one
/// reference builder.
const PROMPTS: &str = r#"
    [[prompt]]
    slug = "blue-door"
    text = "a blue door"
    tags = ["objects"]

    [[prompt]]
    slug = "stone-bridge"
    text = "a bridge of stone"
"#;

/// An installation whose models belong to a fake provider.
struct ConsoleFixture {
    server: TestServer,
    db: TestDb,
    provider: FakeProvider,
    _data_dir: TempDir,
}

impl ConsoleFixture {
    /// The provider sends these responses in order.
    async fn with_responses(responses: impl IntoIterator<Item = FakeResponse>) -> Self {
        Self::with_provider(FakeProvider::with_responses(FakeProtocol::Compatible, responses).await).await
    }

    /// The provider answers each request with the handler's response.
    async fn with_handler(
        handler: impl Fn(&RecordedRequest) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        Self::with_provider(FakeProvider::with_handler(FakeProtocol::Compatible, handler).await).await
    }

    async fn with_provider(provider: FakeProvider) -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        fs::write(data_dir.path().join("prompts.toml"), PROMPTS).unwrap();
        fs::write(data_dir.path().join("models.toml"), models(&provider)).unwrap();
        let db = TestDb::new().await;
        let server = start_server(&db, &data_dir).await;
        let fixture = Self { server, provider, db, _data_dir: data_dir };
        let seeded = fixture.api("POST", "/api/admin/seed?generateBuilds=0").send().await.unwrap();
        assert_eq!(seeded.status(), 200, "{}", seeded.text().await.unwrap());
        fixture
    }

    fn api(&self, method: &str, path: &str) -> RequestBuilder {
        self.server.request(method.parse().unwrap(), path).bearer_auth(TOKEN)
    }

    async fn import(&self, prompt: &str, model: &str) {
        let path = format!("/api/admin/import-build?promptId={prompt}&modelKey={model}");
        let answer = self.api("POST", &path).body(BUILD).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// Waits until no job is queued or running.
    async fn wait_for_jobs_to_end(&self) {
        self.db.wait_until("NOT EXISTS (SELECT FROM jobs WHERE state IN ('queued', 'running'))").await;
    }

    /// Opens a tab, signs in, and goes to the path.
    async fn open_signed_in(&self, path: &str) -> BrowserPage {
        open_signed_in(&self.server, path).await
    }

    /// The cookie of a new signed-in session.
    async fn cookie(&self) -> String {
        cookie(&sign_in(&self.server, TOKEN).await).unwrap()
    }
}

/// Opens a tab, signs in, and goes to the path.
async fn open_signed_in(server: &TestServer, path: &str) -> BrowserPage {
    let page = open_page(&server.url_for("/admin")).await;
    page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
    page.click("main [type=submit]").await;
    wait_until(&page, "document.querySelector('nav.console')").await;
    page.goto(&server.url_for(path)).await;
    page
}

/// Says yes to the question that the page asks.
async fn confirm(page: &BrowserPage) {
    wait_until(page, "document.getElementById('sure').open").await;
    page.click("#sure [data-yes]").await;
}

async fn start_server(db: &TestDb, data_dir: &TempDir) -> TestServer {
    let data_dir = data_dir.path().to_str().unwrap();
    let variables =
        [("ADMIN_TOKEN", TOKEN), ("DATA_DIR", data_dir), ("LOCAL_API_KEY", API_KEY), ("RATE_LIMITS", "off")];
    TestServer::start_with_worker(db.pool.clone(), &variables).await
}

fn models(provider: &FakeProvider) -> String {
    let address = format!("{}{}", provider.url, FakeProtocol::Compatible.base_path());
    format!(
        r#"
        [[provider]]
        key = "local"
        displayName = "Local"
        kind = "compatible"
        baseUrl = "{address}"
        keyVariable = "LOCAL_API_KEY"

        [[model]]
        key = "mason"
        provider = "local"
        modelId = "{MODEL}"
        displayName = "Mason 1"
        prices = {{ input = 1000.0, output = 2000.0 }}

        [[model]]
        key = "potter"
        provider = "openai"
        modelId = "potter"
        displayName = "Potter"

        [[model]]
        key = "house"
        provider = "reference"
        modelId = "house"
        displayName = "House"
        "#
    )
}

/// An answer with a valid build.
fn valid_response() -> FakeResponse {
    FakeProtocol::Compatible.answer(&[FakePart::Text(BUILD), FakePart::Done])
}

fn unknown_model() -> FakeResponse {
    FakeResponse::json(
        404,
        &json!({ "error": { "message": "There is no such model here.", "code": "model_not_found" } }),
    )
}

pub(crate) async fn sign_in(server: &TestServer, token: &str) -> Response {
    with_form(server.post("/admin/session"), &[("token", token)]).send().await.unwrap()
}

/// Adds a form to a request as a browser would.
fn with_form(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(fields.join("&"))
}

pub(crate) fn cookie(answer: &Response) -> Option<String> {
    let set = answer.headers().get(SET_COOKIE)?.to_str().unwrap();
    set.split(';').next().map(str::to_owned)
}

/// The status and the HTML of a page.
pub(crate) async fn visit(server: &TestServer, path: &str, cookie: &str) -> (u16, String) {
    let answer = server.get(path).header(COOKIE, cookie).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Waits until the condition holds.
async fn wait_until(page: &BrowserPage, condition: &str) {
    page.wait_until(condition).await;
}

/// The selector of the matrix cell of a prompt and a model.
fn cell(prompt: &str, model: &str) -> String {
    format!("#matrix a[href=\"/admin/places/{prompt}/{model}\"]")
}
