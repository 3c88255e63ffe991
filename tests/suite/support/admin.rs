//! A client of the admin API.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::voter::TestResponse;

pub const TOKEN: &str = "a-token-planted-for-tests-0123456789";

pub struct TestAdmin {
    base_url: String,
    client: Client,
}

impl TestAdmin {
    pub fn new(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), client: Client::new() }
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send(Method::GET, path, Vec::new(), "").await
    }

    pub async fn post(&self, path: &str, body: impl Into<Vec<u8>>) -> TestResponse {
        self.send(Method::POST, path, body.into(), "").await
    }

    pub async fn json(&self, method: Method, path: &str, body: &Value) -> TestResponse {
        self.send(method, path, body.to_string().into_bytes(), "application/json").await
    }

    pub async fn delete(&self, path: &str) -> TestResponse {
        self.send(Method::DELETE, path, Vec::new(), "").await
    }

    /// Enqueues a build, and returns the id of its job.
    pub async fn enqueue(&self, prompt: &str, model: &str) -> String {
        let request = json!({ "promptId": prompt, "modelKey": model });
        let answer = self.json(Method::POST, "/api/admin/jobs", &request).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub async fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/admin/jobs/{id}")).await.json()
    }

    /// Polls the job until the condition holds.
    pub async fn wait_for_job(&self, id: &str, condition: impl Fn(&Value) -> bool) -> Value {
        loop {
            let job = self.job(id).await;
            if condition(&job) {
                return job;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Polls the job until it has ended.
    pub async fn wait_for_job_end(&self, id: &str) -> Value {
        self.wait_for_job(id, |job| !matches!(job["state"].as_str(), Some("queued" | "running"))).await
    }

    async fn send(&self, method: Method, path: &str, body: Vec<u8>, kind: &str) -> TestResponse {
        let mut request =
            self.client.request(method, format!("{}{path}", self.base_url)).bearer_auth(TOKEN).body(body);
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        TestResponse { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }
}
