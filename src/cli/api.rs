//! The admin API for commands: of a running server, or the same routes in this process, over the database.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Method, Request, StatusCode};
use reqwest::{Client, Url};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
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

pub(super) struct AdminApi {
    transport: Transport,
    pub stop: CommandStop,
}

enum Transport {
    InProcess(Router),
    Remote { client: Client, server: Url, token: Secret },
}

/// What this process carries out while a command waits for it. A server carries out everything by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandWork {
    /// The command waits for nothing.
    Nothing,
    /// What models are asked for.
    Jobs,
    Assessments,
}

impl CommandWork {
    pub fn jobs_if(waits: bool) -> Self {
        if waits { Self::Jobs } else { Self::Nothing }
    }
}

/// How a command that waits for work is ended from outside.
#[derive(Clone, Default)]
pub(super) struct CommandStop {
    /// Cancelled at the first signal.
    pub requested: CancellationToken,
    /// Cancelled when nothing more comes: the answers that streamed in this process have ended.
    pub settled: CancellationToken,
}

/// An error that the API answered.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct AdminApiError {
    pub status: StatusCode,
    pub code: String,
    pub message: String,
}

/// The server did not answer, or the connection broke off.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnreachableServer(String);

/// Whether the same request may succeed later, as when the server restarts.
pub(super) fn is_temporary(error: &anyhow::Error) -> bool {
    let status = error.downcast_ref::<AdminApiError>().map(|error| error.status);
    let is_busy =
        status.is_some_and(|status| status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS);
    is_busy || error.is::<UnreachableServer>()
}

impl ApiArgs {
    /// Runs a command that uses the API. The work that it waits for is carried out by this process meanwhile, unless the
    /// command goes to a server, which does that itself. A signal ends commands that wait for nothing; others end by
    /// themselves, once the answers that stream have come or the second signal has.
    pub fn run(
        &self,
        work: CommandWork,
        command: impl AsyncFnOnce(&AdminApi) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        self.run_with_token(None, work, command)
    }

    /// The same with a token in place of that in `ADMIN_TOKEN`, for a server.
    pub fn run_with_token(
        &self,
        token: Option<&str>,
        work: CommandWork,
        command: impl AsyncFnOnce(&AdminApi) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        let config = Config::load()?;
        logging::start_quietly(&config.logging)?;
        if let Some(server) = &self.server {
            let transport = Transport::remote(server.clone(), token.map(Secret::new).or(config.admin_token))?;
            return super::runtime()?.block_on(run_remotely(transport, work, command));
        }
        let config = Arc::new(config);
        super::open_database(&config, async |database| {
            let app = App::new(Arc::clone(&config), database.pool().clone())?;
            app.worker.refresh_agents().await?;
            run_in_process(app, work, command).await
        })
    }
}

/// The server goes on with the work, so there is nothing to wait for after a signal.
async fn run_remotely(
    transport: Transport,
    work: CommandWork,
    command: impl AsyncFnOnce(&AdminApi) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    if work == CommandWork::Nothing {
        return command(&AdminApi { transport, stop: CommandStop::default() }).await;
    }
    let signals = signals::watch()?;
    let stop = CommandStop { requested: signals.first.clone(), settled: signals.first };
    let api = AdminApi { transport, stop };
    tokio::select! {
        result = command(&api) => result,
        () = signals.second.cancelled() => Ok(ExitCode::from(130)),
    }
}

async fn run_in_process(
    app: App,
    work: CommandWork,
    command: impl AsyncFnOnce(&AdminApi) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let signals = signals::watch()?;
    let (worker, assessor, closing) = (app.worker.clone(), app.assessor.clone(), app.shutdown.clone());
    let mut working = tokio::spawn({
        let (worker, assessor) = (worker.clone(), assessor.clone());
        async move {
            match work {
                CommandWork::Nothing => {}
                CommandWork::Jobs => worker.run().await,
                CommandWork::Assessments => assessor.run().await,
            }
        }
    });
    let stop = CommandStop { requested: signals.first.clone(), settled: CancellationToken::new() };
    let api = AdminApi { transport: Transport::InProcess(web::router(app)), stop: stop.clone() };
    let done = CancellationToken::new();
    let commanded = async {
        let result = tokio::select! {
            result = command(&api) => result,
            () = signals.first.cancelled(), if work == CommandWork::Nothing => Ok(ExitCode::from(130)),
        };
        done.cancel();
        result
    };
    let drained = async {
        tokio::select! {
            () = signals.first.cancelled() => {}
            () = done.cancelled() => {}
        }
        // What has not ended goes back to the queue.
        assessor.stop();
        let ended = signals::drain(&worker, &mut working, &signals.second).await;
        stop.settled.cancel();
        ended
    };
    let (result, ended) = tokio::join!(commanded, drained);
    closing.cancel();
    ended.context("the worker panicked")?;
    result
}

impl Transport {
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

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        kind: Option<&str>,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let (client, server, token) = match self {
            Self::InProcess(router) => {
                return call_in_process(router.clone(), method, path, body, kind).await;
            }
            Self::Remote { client, server, token } => (client, server, token),
        };
        let mut request = client.request(method, server.join(path)?).body(body);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let response = token.authorize(request).send().await;
        let unreachable = |error| UnreachableServer(format!("cannot reach {server}: {}", root_cause(&error)));
        let response = response.map_err(unreachable)?;
        if let Some(location) =
            response.headers().get("location").filter(|_| response.status().is_redirection())
        {
            let location = String::from_utf8_lossy(location.as_bytes());
            bail!("{server} redirects to {location}: use that address with --server if it is your server");
        }
        let (status, bytes) = (response.status(), response.bytes().await);
        let lost =
            |error| UnreachableServer(format!("the connection to {server} was lost: {}", root_cause(&error)));
        Ok((status, bytes.map_err(lost)?))
    }
}

impl AdminApi {
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

    /// A file, as it is.
    pub async fn download(&self, path: &str) -> anyhow::Result<Bytes> {
        self.fetch(Method::GET, path, Bytes::new(), None).await
    }

    /// The address of a page for people, if there is a server.
    pub fn page(&self, path: &str) -> Option<Url> {
        match &self.transport {
            Transport::InProcess(_) => None,
            Transport::Remote { server, .. } => server.join(path).ok(),
        }
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        kind: Option<&str>,
    ) -> anyhow::Result<T> {
        let bytes = self.fetch(method, path, body, kind).await?;
        // A parser's message would not help: what was sent is for programs.
        let answer = serde_json::from_slice(if bytes.is_empty() { b"null" } else { &bytes });
        answer.map_err(|_| {
            anyhow!("the answer to {path} could not be read: is --server a Buildoff of this version?")
        })
    }

    async fn fetch(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        kind: Option<&str>,
    ) -> anyhow::Result<Bytes> {
        let (status, bytes) = self.transport.request(method, path, body, kind).await?;
        if status.is_success() {
            return Ok(bytes);
        }
        let error: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let message = error["error"].as_str().map(str::to_owned);
        let message =
            message.unwrap_or_else(|| format!("the server answered {status} without an explanation"));
        let code = error["code"].as_str().unwrap_or_default().to_owned();
        Err(AdminApiError { status, code, message }.into())
    }
}

/// What went wrong in the end, without the layers through which it came up, nor the address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.is_timeout() { "it did not answer in time".to_owned() } else { cause.to_string() }
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
