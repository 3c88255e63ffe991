//! The accept loop. The one of axum sets no timeouts: a client that never finishes its header would keep its
//! connection for ever.

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
/// Accepting fails mostly for lack of file descriptors, so wait until some connections have closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// How long the server waits for clients.
#[derive(Clone, Copy)]
pub struct ServerTimeouts {
    /// For a complete header. Idle connections are kept as long, which should be longer than a proxy in front keeps
    /// them.
    pub header: Duration,
    /// For requests in progress, when the server stops.
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
            "{address} is already in use, perhaps by another Buildoff. Choose another port, for example: PORT={} buildoff",
            address.port().checked_add(1).unwrap_or(3000)
        ),
        ErrorKind::PermissionDenied => anyhow::anyhow!(
            "not allowed to listen on {address}. Choose another port, for example: PORT=3000 buildoff"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen on {address}. Choose another address with BIND")),
    })
}

/// The address of the listener for a browser on this machine.
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

/// Serves until `stop` resolves, then waits for requests in progress.
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

/// Passes the requests of one connection to the router, with the client's address.
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

/// Never fails: an error in accepting concerns one client only, or is a temporary shortage.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, visitor)) => {
                let _ = stream.set_nodelay(true);
                return (stream, visitor);
            }
            Err(error) if is_about_one_client(&error) => debug!("a client disconnected at once: {error}"),
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_about_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}
