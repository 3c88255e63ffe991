//! The console: its door, and its pages with and without script.

mod door;
mod matrix;
mod pages;

use std::fs;

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use tempfile::TempDir;

use crate::support::db::TestDb;
use crate::support::provider::{KEY, Request};
use crate::support::voice::MODEL;
use crate::support::{Page, Provider, Say, Script, Site, Voice, page};

const TOKEN: &str = "a token for tests only";
const SIGN_IN: &str = "Sign in with the value";

/// Sound by all rules: a block of stone.
const BUILD: &str = r#"{ "version": "1.0", "boxes": [{ "x1": 0, "y1": 0, "z1": 0, "x2": 19, "y2": 7, "z2": 19, "type": "stone" }] }"#;

/// Two prompts, two models of a provider on this machine, one of a provider without a key, one reference.
const PROMPTS: &str = r#"
    [[prompt]]
    slug = "blue-door"
    text = "a blue door"
    tags = ["objects"]

    [[prompt]]
    slug = "stone-bridge"
    text = "a bridge of stone"
"#;

/// An installation whose models are asked on this machine.
struct House {
    site: Site,
    _db: TestDb,
    provider: Provider,
    _home: TempDir,
}

impl House {
    /// The provider answers with these, in turn.
    async fn with(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::of(Provider::with(Voice::Compatible, scripts).await).await
    }

    /// The provider answers as it is asked.
    async fn improvising(improvise: impl Fn(&Request) -> Script + Send + Sync + 'static) -> Self {
        Self::of(Provider::improvising(Voice::Compatible, improvise).await).await
    }

    async fn of(provider: Provider) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("prompts.toml"), PROMPTS).unwrap();
        fs::write(home.path().join("models.toml"), models(&provider)).unwrap();
        let db = TestDb::new().await;
        let site = working(&db, &home).await;
        let house = Self { site, provider, _db: db, _home: home };
        let seeded = house.api("POST", "/api/admin/seed?generateBuilds=0").send().await.unwrap();
        assert_eq!(seeded.status(), 200, "{}", seeded.text().await.unwrap());
        house
    }

    fn api(&self, method: &str, path: &str) -> RequestBuilder {
        self.site.request(method.parse().unwrap(), path).bearer_auth(TOKEN)
    }

    async fn import(&self, prompt: &str, model: &str) {
        let path = format!("/api/admin/import-build?promptId={prompt}&modelKey={model}");
        let answer = self.api("POST", &path).body(BUILD).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// A tab in which an admin has signed in, at this address.
    async fn open(&self, path: &str) -> Page {
        let page = page(&self.site.at("/admin")).await;
        page.run(&format!("document.getElementById('token').value = {TOKEN:?}")).await;
        page.click("main [type=submit]").await;
        until(&page, "document.querySelector('nav.console')").await;
        page.goto(&self.site.at(path)).await;
        page
    }

    /// A signed-in admin's cookie.
    async fn cookie(&self) -> String {
        cookie(&sign_in(&self.site, TOKEN).await).unwrap()
    }
}

async fn working(db: &TestDb, home: &TempDir) -> Site {
    let home = home.path().to_str().unwrap();
    let variables =
        [("ADMIN_TOKEN", TOKEN), ("DATA_DIR", home), ("LOCAL_API_KEY", KEY), ("RATE_LIMITS", "off")];
    Site::open_working(db.pool.clone(), &variables).await
}

fn models(provider: &Provider) -> String {
    let address = format!("{}{}", provider.url, Voice::Compatible.base_path());
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

/// What a sound answer is.
fn build() -> Script {
    Voice::Compatible.says(&[Say::Text(BUILD), Say::Done])
}

fn wrong_key() -> Script {
    Script::error(
        401,
        &json!({ "error": { "message": "That key is not known here.", "code": "invalid_api_key" } }),
    )
}

async fn sign_in(site: &Site, token: &str) -> Response {
    filled(site.post("/admin/session"), &[("token", token)]).send().await.unwrap()
}

/// A form as a browser sends it.
fn filled(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(fields.join("&"))
}

fn cookie(answer: &Response) -> Option<String> {
    let set = answer.headers().get(SET_COOKIE)?.to_str().unwrap();
    set.split(';').next().map(str::to_owned)
}

/// The status of a page, and the page.
async fn visit(site: &Site, path: &str, cookie: &str) -> (u16, String) {
    let answer = site.get(path).header(COOKIE, cookie).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Returns once it is so.
async fn until(page: &Page, condition: &str) {
    page.until(condition).await;
}

/// The cell of a prompt and a model.
fn cell(prompt: &str, model: &str) -> String {
    format!("#matrix a[href=\"/admin/places/{prompt}/{model}\"]")
}
