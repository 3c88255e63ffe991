//! The accept loop. axum's own sets no timers, and a visitor who never finishes a header would be kept forever.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tower::Service;
use tracing::{debug, warn};

const HEADER_BYTES: usize = 32 * 1024;
/// Out of file descriptors, most likely: wait until some connections have gone.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// How long the server waits for others.
#[derive(Clone, Copy)]
pub struct ServerTimeouts {
    /// For a header to be complete; an idle connection is kept as long, which should be longer than a proxy
    /// in front keeps it.
    pub header: Duration,
    /// For requests under way, when the server is to stop.
    pub drain: Duration,
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        Self { header: Duration::from_secs(75), drain: Duration::from_secs(5) }
    }
}

pub async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "{address} is taken, perhaps by another Buildoff; PORT= chooses another port, as in PORT={} buildoff",
            address.port().checked_add(1).unwrap_or(3000)
        ),
        ErrorKind::PermissionDenied => anyhow::anyhow!(
            "this user may not listen on {address}; PORT= chooses another port, as in PORT=3000 buildoff"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}; BIND= chooses another address")),
    })
}

/// Where a browser on this machine finds the listener.
pub fn url(listener: &TcpListener) -> anyhow::Result<String> {
    let mut address = listener.local_addr().context("the listener has no address")?;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(format!("http://{address}"))
}

/// Serves until `stop` resolves (or its other half is gone), then lets what is under way finish.
pub async fn serve<S: Future>(listener: TcpListener, router: Router, timeouts: ServerTimeouts, stop: S) {
    let mut stop = pin!(stop);
    let builder = connection_builder(timeouts);
    let connections = GracefulShutdown::new();
    loop {
        let (stream, visitor) = tokio::select! {
            accepted = accept(&listener) => accepted,
            _ = &mut stop => break,
        };
        let connection = builder
            .serve_connection(TokioIo::new(stream), service_fn(request_service(router.clone(), visitor)))
            .into_owned();
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!(%visitor, "connection ended early: {error}");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(timeouts.drain, connections.shutdown()).await.is_err() {
        warn!("some requests did not finish in time and were cut off");
    }
}

fn connection_builder(timeouts: ServerTimeouts) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.header)
        .max_buf_size(HEADER_BYTES)
        .max_headers(100);
    builder
}

/// One connection's way into the router; handlers can ask who is at the other end.
fn request_service(
    router: Router,
    visitor: SocketAddr,
) -> impl Fn(Request<Incoming>) -> <Router as Service<Request>>::Future {
    move |request| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(visitor));
        router.clone().call(request)
    }
}

/// Never fails: an error in accepting is about one visitor or about a shortage that passes.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, visitor)) => {
                let _ = stream.set_nodelay(true);
                return (stream, visitor);
            }
            Err(error) if is_about_one_visitor(&error) => debug!("a visitor was gone at once: {error}"),
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_about_one_visitor(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}
