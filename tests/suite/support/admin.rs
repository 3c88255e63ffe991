//! Somebody with the admin's token.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::voter::Answer;

pub const TOKEN: &str = "a-token-planted-for-tests-0123456789";

pub struct Admin {
    site: String,
    client: Client,
}

impl Admin {
    pub fn at(site: &str) -> Self {
        Self { site: site.to_owned(), client: Client::new() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Vec::new(), "").await
    }

    pub async fn post(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.send(Method::POST, path, body.into(), "").await
    }

    pub async fn json(&self, method: Method, path: &str, body: &Value) -> Answer {
        self.send(method, path, body.to_string().into_bytes(), "application/json").await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, Vec::new(), "").await
    }

    /// Wants one build. Returns the job.
    pub async fn want(&self, prompt: &str, model: &str) -> String {
        let wanted = json!({ "promptId": prompt, "modelKey": model });
        let answer = self.json(Method::POST, "/api/admin/jobs", &wanted).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub async fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/admin/jobs/{id}")).await.json()
    }

    /// The job, once it has come so far.
    pub async fn job_when(&self, id: &str, so_far: impl Fn(&Value) -> bool) -> Value {
        loop {
            let job = self.job(id).await;
            if so_far(&job) {
                return job;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// The job, once it has ended.
    pub async fn job_ended(&self, id: &str) -> Value {
        self.job_when(id, |job| !matches!(job["state"].as_str(), Some("queued" | "running"))).await
    }

    async fn send(&self, method: Method, path: &str, body: Vec<u8>, kind: &str) -> Answer {
        let mut request =
            self.client.request(method, format!("{}{path}", self.site)).bearer_auth(TOKEN).body(body);
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }
}
