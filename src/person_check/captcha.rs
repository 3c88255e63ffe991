//! Services that check visitors. Turnstile and hCaptcha verify answers in the same way: a form with the secret and the
//! token that the visitor's browser got from the service, answered by JSON.
//!
//! Nothing about the visitor is sent but the token.

use std::time::Duration;

use anyhow::Context;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use serde::Deserialize;
use tokio::time::timeout;
use url::form_urlencoded::Serializer;

use super::{PersonCheck, PersonVerdict};
use crate::config::{CaptchaConfig, CaptchaService};
use crate::outbound;

/// A voter waits for this long at most.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// No token is longer: those of hCaptcha have a few thousand characters, those of Turnstile 2,048 at most.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// Error codes that tell of this installation's account or of the service, and that no token can cause: otherwise a
/// visitor could pass with a token that makes the service fail.
const ACCOUNT_ERRORS: [&str; 3] = ["missing-input-secret", "invalid-input-secret", "internal-error"];

pub(super) struct Captcha {
    account: CaptchaConfig,
    client: Client,
}

#[derive(Deserialize)]
struct SiteVerifyResponse {
    success: bool,
    #[serde(default, rename = "error-codes")]
    error_codes: Vec<String>,
}

impl Captcha {
    pub fn new(account: CaptchaConfig) -> anyhow::Result<Self> {
        let client =
            outbound::client_builder(None)?.build().context("no HTTP client for the person check")?;
        Ok(Self { account, client })
    }

    pub fn service(&self) -> CaptchaService {
        self.account.service
    }

    pub fn check(&self) -> PersonCheck {
        PersonCheck::Captcha { service: self.account.service, site_key: self.account.site_key.clone() }
    }

    pub async fn verify(&self, token: &str) -> PersonVerdict {
        // Anything else could provoke an answer that is none, such as that of a firewall in front of the service.
        if token.len() > MAX_TOKEN_BYTES || !token.bytes().all(is_token_byte) {
            return PersonVerdict::Failed("the answer is not a token".to_owned());
        }
        let name = self.service().name();
        match timeout(VERIFY_TIMEOUT, self.request(token)).await {
            Ok(Ok(SiteVerifyResponse { success: true, .. })) => PersonVerdict::Passed,
            Ok(Ok(SiteVerifyResponse { error_codes, .. })) => {
                let why: String = error_codes.join(", ").chars().take(200).collect();
                let why = format!("{name} said: {why}");
                if error_codes.iter().any(|code| ACCOUNT_ERRORS.contains(&code.as_str())) {
                    PersonVerdict::Unreachable(why)
                } else {
                    PersonVerdict::Failed(why)
                }
            }
            Ok(Err(error)) => PersonVerdict::Unreachable(format!("{name} did not answer: {error:#}")),
            Err(_) => PersonVerdict::Unreachable(format!("{name} did not answer within {VERIFY_TIMEOUT:?}")),
        }
    }

    /// Errors never show the form, which has the secret in it.
    async fn request(&self, token: &str) -> anyhow::Result<SiteVerifyResponse> {
        let request = self
            .client
            .post(&self.account.verify_url)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(self.form(token));
        let response = request.send().await?;
        let status = response.status();
        let body = bounded_body(response).await?;
        // A refusal may have an error's status, but is JSON all the same.
        serde_json::from_slice(&body).with_context(|| format!("status {status} without a verdict"))
    }

    fn form(&self, token: &str) -> String {
        let mut form = Serializer::new(String::new());
        self.account.secret.append_to(&mut form, "secret");
        form.append_pair("response", token);
        // Turnstile knows the site by the secret.
        if self.service() == CaptchaService::Hcaptcha {
            form.append_pair("sitekey", &self.account.site_key);
        }
        form.finish()
    }
}

async fn bounded_body(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        anyhow::ensure!(body.len() + chunk.len() <= MAX_RESPONSE_BYTES, "the answer is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~:=+/".contains(&byte)
}
