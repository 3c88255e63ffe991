//! A visitor who looks at matchups and votes.

use std::sync::{Arc, Mutex};

use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

/// All choices of a vote, as in the API.
pub const CHOICES: [&str; 4] = ["A", "B", "TIE", "BOTH_BAD"];

/// A visitor with its own session, which clones share.
#[derive(Clone)]
pub struct TestVoter {
    base_url: String,
    client: Client,
    cookie: Arc<Mutex<Option<String>>>,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl TestVoter {
    pub fn new(base_url: &str) -> Self {
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { base_url: base_url.to_owned(), client, cookie: Arc::default() }
    }

    /// The same voter at another server of the same installation.
    pub fn with_base_url(&self, base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), ..self.clone() }
    }

    pub fn cookie(&self) -> Option<String> {
        self.cookie.lock().unwrap().clone()
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send(Method::GET, path, None).await.unwrap()
    }

    pub async fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.send(Method::POST, path, Some(body)).await.unwrap()
    }

    pub async fn matchup(&self) -> Value {
        let answer = self.get("/api/arena/matchup").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    pub async fn matchup_on(&self, prompt: &str) -> TestResponse {
        self.get(&format!("/api/arena/matchup?promptId={prompt}")).await
    }

    /// Fetches both builds, which a vote requires.
    pub async fn fetch_builds(&self, matchup: &Value) {
        for side in ["a", "b"] {
            let url = matchup[side]["build"]["url"].as_str().unwrap();
            assert_eq!(self.get(url).await.status, 200, "{url}");
        }
    }

    pub async fn vote(&self, matchup: &Value, choice: &str) -> TestResponse {
        self.post("/api/arena/vote", &json!({ "matchupId": matchup["id"], "choice": choice })).await
    }

    pub async fn skip(&self, matchup: &Value) -> TestResponse {
        self.post("/api/arena/skip", &json!({ "matchupId": matchup["id"] })).await
    }

    /// Returns an error if there is no complete response.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<TestResponse> {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        self.send_with_cookie(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
    }

    /// Sends a form, as a browser without scripts does.
    pub async fn post_form(&self, path: &str, fields: &[(String, &str)]) -> TestResponse {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.client.post(format!("{}{path}", self.base_url)).body(body);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send_with_cookie(request).await.unwrap()
    }

    async fn send_with_cookie(&self, mut request: RequestBuilder) -> reqwest::Result<TestResponse> {
        if let Some(cookie) = self.cookie() {
            request = request.header(COOKIE, cookie);
        }
        let response = request.send().await?;
        let set = response.headers().get(SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
        if let Some(set) = set {
            let pair = set.split(';').next().unwrap().to_owned();
            *self.cookie.lock().unwrap() = Some(pair);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(TestResponse { status, headers, bytes: response.bytes().await?.to_vec() })
    }
}

/// Does the work that a `personCheck` asks for, as a program would.
pub fn solve_work(check: &Value) -> String {
    let challenge = check["challenge"].as_str().unwrap_or_else(|| panic!("no challenge: {check}"));
    let bits = check["bits"].as_u64().unwrap();
    let is_solved = |answer: &String| {
        let first = Sha256::digest(answer)[..8].try_into().unwrap();
        u64::from(u64::from_be_bytes(first).leading_zeros()) >= bits
    };
    (0..).map(|number| format!("{challenge}{number}")).find(is_solved).unwrap()
}

impl TestResponse {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or("none").to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
