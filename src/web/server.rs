//! The accept loop, and what holds for every connection: how many there may be, and how long a client may take. The
//! server of axum has no such bounds: a client that never finishes its header would keep its connection for ever.

mod connections;
pub mod open_files;
mod paced_stream;

pub use self::connections::ConnectionLimits;
pub use super::data_rate::MinDataRate;

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tower::Service;
use tracing::{debug, warn};

use self::connections::{ActiveRequest, Connection, Connections};
use self::paced_stream::PacedStream;
use crate::config::local_url;

const HEADER_BYTES: usize = 32 * 1024;
/// Accepting fails mostly for lack of file descriptors. After this time, the connection that made room has closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Between two lines of the log about the same problem.
const LOG_PAUSE: Duration = Duration::from_secs(1);
/// Connections that are open in all, if there are enough file descriptors. One that sends nothing takes about 20 KiB.
const MAX_CONNECTIONS: usize = 4096;
/// The part of the connections that one network may have.
const NETWORK_SHARE: usize = 8;
/// What the system keeps of an answer beyond what the client's window takes. Without a bound it would keep megabytes
/// for a client that reads nothing, and the server could not tell how fast the client is.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT_BYTES: u32 = 32 << 10;

const OVERLOADED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n\
    content-type: text/plain; charset=utf-8\r\ncontent-length: 47\r\n\r\n\
    Too many connections. Try again in 5 seconds.\r\n";

/// What one server takes at a time, and how long it waits for clients.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// For a complete header, from its first byte or from the beginning of the connection.
    pub header: Duration,
    /// For the next request on an open connection, which should be longer than a proxy in front keeps it.
    pub idle: Duration,
    /// For requests in progress, when the server stops.
    pub drain: Duration,
    /// For the bodies of requests and for answers.
    pub min_rate: MinDataRate,
    /// For a client to take one answer. Only the time counts in which the server waits for the client.
    pub answer: Duration,
    pub connections: ConnectionLimits,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            drain: Duration::from_secs(5),
            min_rate: MinDataRate::default(),
            answer: Duration::from_secs(600),
            connections: ConnectionLimits::for_room(MAX_CONNECTIONS),
        }
    }
}

impl ConnectionLimits {
    /// The limits where there is room for so many connections.
    pub fn for_room(room: usize) -> Self {
        let total = room.min(MAX_CONNECTIONS);
        Self { total, per_network: (total / NETWORK_SHARE).max(1), trusted_proxies: Vec::new() }
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
    Ok(local_url(listener.local_addr().context("the listener has no address")?))
}

/// Serves until `stop` resolves, then waits for requests in progress.
pub async fn serve<S: Future>(listener: TcpListener, router: Router, limits: ServerLimits, stop: S) {
    let mut stop = pin!(stop);
    let limits = Arc::new(limits);
    let builder = connection_builder(&limits);
    let connections = Connections::new(limits.connections.clone());
    let open = GracefulShutdown::new();
    loop {
        let (stream, visitor) = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            _ = &mut stop => break,
        };
        let Some(connection) = connections.admit(visitor.ip()) else {
            refuse(&stream);
            continue;
        };
        let connection = Arc::new(connection);
        let evicted = connection.evicted.clone();
        let stream = PacedStream::new(stream, Arc::clone(&limits), Arc::clone(&connection.activity));
        let service = request_service(router.clone(), visitor, limits.min_rate, connection);
        let served = open.watch(builder.serve_connection(TokioIo::new(stream), service_fn(service)));
        tokio::spawn(async move {
            tokio::select! {
                ended = served => if let Err(error) = ended {
                    debug!(%visitor, "connection ended early: {error}");
                },
                () = evicted.cancelled() => debug!(%visitor, "an idle connection made room for another"),
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, open.shutdown()).await.is_err() {
        warn!("some requests did not finish in time and were cut off");
    }
}

/// HTTP/1 only: where a proxy speaks a later version to visitors, it speaks this one to the server behind it.
fn connection_builder(limits: &ServerLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // This timeout begins when the header is awaited, so it bounds idle connections. `PacedStream` bounds the header.
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle.max(limits.header))
        .max_buf_size(HEADER_BYTES)
        .max_headers(100);
    builder
}

/// Passes the requests of one connection to the router, with the client's address and the least rate of its body.
fn request_service(
    router: Router,
    visitor: SocketAddr,
    min_rate: MinDataRate,
    connection: Arc<Connection>,
) -> impl Fn(Request<Incoming>) -> AnswerFuture {
    move |request| {
        let active = connection.begin_request();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(visitor));
        request.extensions_mut().insert(min_rate);
        let answer = router.clone().call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| ActiveBody { body, _active: active })) })
    }
}

type AnswerFuture = Pin<Box<dyn Future<Output = Result<Response<ActiveBody>, Infallible>> + Send>>;

/// The body of an answer. Its connection counts as busy until it is sent.
struct ActiveBody {
    body: Body,
    _active: ActiveRequest,
}

impl HttpBody for ActiveBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Tells a client why it is not served, if it still listens.
fn refuse(stream: &TcpStream) {
    debug!("a connection was refused, because too many are open");
    let _ = stream.try_write(OVERLOADED);
}

/// Never fails: an error in accepting concerns one client only, or is a temporary shortage.
async fn accept(listener: &TcpListener, connections: &Connections) -> (TcpStream, SocketAddr) {
    let mut logged: Option<Instant> = None;
    loop {
        match listener.accept().await {
            Ok((stream, visitor)) => {
                let _ = stream.set_nodelay(true);
                #[cfg(any(target_os = "android", target_os = "linux"))]
                let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES);
                return (stream, visitor);
            }
            Err(error) if is_about_one_client(&error) => debug!("a client disconnected at once: {error}"),
            Err(error) => {
                if logged.is_none_or(|at| at.elapsed() >= LOG_PAUSE) {
                    logged = Some(Instant::now());
                    warn!("cannot accept a connection: {error}");
                }
                connections.evict_oldest_idle();
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
