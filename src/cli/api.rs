//! The admin API for commands: of a running server, or the same routes in this process, over the database.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Method, Request, StatusCode};
use reqwest::{Client, Url};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use tower::ServiceExt;

use super::signals;
use crate::app::App;
use crate::arena::audit::Admin;
use crate::config::Config;
use crate::generate::Secret;
use crate::{logging, outbound, web};

/// The largest answer of the admin API that is read.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

#[derive(clap::Args)]
pub(super) struct ApiArgs {
    /// Use the API of a running Buildoff, such as https://buildoff.example, with the token in ADMIN_TOKEN. Without
    /// it, the command opens the database itself.
    #[arg(long, value_name = "URL", global = true)]
    pub server: Option<Url>,
}

pub(super) enum AdminApi {
    InProcess(Router),
    Remote { client: Client, server: Url, token: Secret },
}

/// An error that the API answered.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct AdminApiError {
    pub status: StatusCode,
    pub code: String,
    pub message: String,
}

impl ApiArgs {
    /// Runs a command that uses the API. With `works`, this process carries out jobs meanwhile, unless the command
    /// goes to a server, which does that itself. A signal ends the command, and then waits for the answers that stream.
    pub fn run(
        &self,
        works: bool,
        command: impl AsyncFnOnce(&AdminApi) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        let config = Config::load()?;
        logging::start_quietly(&config.logging)?;
        if let Some(server) = &self.server {
            let api = AdminApi::remote(server.clone(), config.admin_token)?;
            return super::runtime()?.block_on(command(&api));
        }
        let config = Arc::new(config);
        super::open_database(&config, async |database| {
            let signals = signals::watch()?;
            let app = App::new(Arc::clone(&config), database.pool().clone())?;
            let (worker, closing) = (app.worker.clone(), app.shutdown.clone());
            let mut working = tokio::spawn({
                let worker = worker.clone();
                async move {
                    if works {
                        worker.run().await;
                    }
                }
            });
            let api = AdminApi::InProcess(web::router(app));
            let result = tokio::select! {
                result = command(&api) => result,
                () = signals.first.cancelled() => Ok(ExitCode::from(130)),
            };
            let ended = signals::drain(&worker, &mut working, &signals.second).await;
            closing.cancel();
            ended.context("the worker panicked")?;
            result
        })
    }
}

impl AdminApi {
    fn remote(server: Url, token: Option<Secret>) -> anyhow::Result<Self> {
        let is_origin = server.username().is_empty() && server.path() == "/";
        ensure!(
            is_origin && matches!(server.scheme(), "http" | "https"),
            "--server must be an address such as https://buildoff.example, without user name, password or path"
        );
        let token = token.context("ADMIN_TOKEN is not set: set it to the admin token of the server")?;
        let client = outbound::client_builder(None)
            .context("cannot set up encrypted connections")?
            .read_timeout(Duration::from_secs(180))
            .build()?;
        Ok(Self::Remote { client, server, token })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.request(Method::GET, path, Bytes::new(), None).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: impl Into<Bytes>) -> anyhow::Result<T> {
        self.request(Method::POST, path, body.into(), None).await
    }

    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> anyhow::Result<T> {
        self.request(method, path, body.to_string().into(), Some("application/json")).await
    }

    pub async fn delete(&self, path: &str) -> anyhow::Result<()> {
        // The answer is empty.
        self.request::<IgnoredAny>(Method::DELETE, path, Bytes::new(), None).await.map(drop)
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        kind: Option<&str>,
    ) -> anyhow::Result<T> {
        let (status, bytes) = match self {
            Self::InProcess(router) => call_in_process(router.clone(), method, path, body, kind).await?,
            Self::Remote { client, server, token } => {
                let mut request = client.request(method, server.join(path)?).body(body);
                if let Some(kind) = kind {
                    request = request.header("content-type", kind);
                }
                let request = token.authorize(request);
                let response = request.send().await.map_err(reqwest::Error::without_url)?;
                if let Some(location) =
                    response.headers().get("location").filter(|_| response.status().is_redirection())
                {
                    let location = String::from_utf8_lossy(location.as_bytes());
                    bail!(
                        "{server} redirects to {location}: use that address with --server if it is your server"
                    );
                }
                (response.status(), response.bytes().await.map_err(reqwest::Error::without_url)?)
            }
        };
        if status.is_success() {
            let bytes = if bytes.is_empty() { &b"null"[..] } else { &bytes };
            return serde_json::from_slice(bytes).context("the server sent an unexpected answer");
        }
        let error: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let Some(message) = error["error"].as_str() else {
            bail!("the server answered {status} without an explanation")
        };
        let code = error["code"].as_str().unwrap_or_default().to_owned();
        Err(AdminApiError { status, code, message: message.to_owned() }.into())
    }
}

async fn call_in_process(
    router: Router,
    method: Method,
    path: &str,
    body: Bytes,
    kind: Option<&str>,
) -> anyhow::Result<(StatusCode, Bytes)> {
    let mut request = Request::builder().method(method).uri(path).extension(Admin::COMMAND_LINE);
    if let Some(kind) = kind {
        request = request.header("content-type", kind);
    }
    let response = router.oneshot(request.body(Body::from(body))?).await?;
    let status = response.status();
    Ok((status, to_bytes(response.into_body(), MAX_RESPONSE_BYTES).await?))
}
