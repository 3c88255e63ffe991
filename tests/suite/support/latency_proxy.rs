//! A slow connection to a database, as between two data centres.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::db::TestDb;

/// A TCP proxy to a database. Dropping it closes all its connections.
pub struct LatencyProxy {
    options: PgConnectOptions,
    sent: Arc<AtomicUsize>,
    _connections: JoinSet<()>,
}

#[derive(Clone)]
enum LatencyProxyTarget {
    Socket(PathBuf),
    Host(String, u16),
}

impl LatencyProxy {
    /// Starts a proxy that delays every byte by this much in each direction.
    pub async fn start(db: &TestDb, delay: Duration) -> Self {
        let upstream = db.options();
        let server = match upstream.get_socket() {
            Some(folder) => {
                LatencyProxyTarget::Socket(folder.join(format!(".s.PGSQL.{}", upstream.get_port())))
            }
            None => LatencyProxyTarget::Host(upstream.get_host().to_owned(), upstream.get_port()),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = upstream.to_url_lossy();
        let mut options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(listener.local_addr().unwrap().port())
            .username(url.username())
            .database(upstream.get_database().unwrap())
            .ssl_mode(PgSslMode::Disable);
        if let Some(password) = url.password() {
            options = options.password(password);
        }
        let sent = Arc::default();
        let mut connections = JoinSet::new();
        connections.spawn(accept(listener, server, delay, Arc::clone(&sent)));
        Self { options, sent, _connections: connections }
    }

    pub fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// The number of chunks that were sent to the database so far. A chunk is about one message.
    pub fn chunks_sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    pub async fn wait_for_chunks(&self, chunks: usize) {
        while self.chunks_sent() < chunks {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn accept(listener: TcpListener, server: LatencyProxyTarget, delay: Duration, sent: Arc<AtomicUsize>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        client.set_nodelay(true).unwrap();
        let (server, sent) = (server.clone(), Arc::clone(&sent));
        connections.spawn(async move {
            let (from_client, to_client) = client.into_split();
            // If the database cannot be reached, the client sees its connection close.
            match server {
                LatencyProxyTarget::Socket(path) => {
                    let Ok(upstream) = UnixStream::connect(path).await else { return };
                    let (from_server, to_server) = upstream.into_split();
                    join_directions(
                        forward(from_client, to_server, delay, &sent),
                        forward(from_server, to_client, delay, &AtomicUsize::default()),
                    )
                    .await;
                }
                LatencyProxyTarget::Host(host, port) => {
                    let Ok(upstream) = TcpStream::connect((host, port)).await else { return };
                    let (from_server, to_server) = upstream.into_split();
                    join_directions(
                        forward(from_client, to_server, delay, &sent),
                        forward(from_server, to_client, delay, &AtomicUsize::default()),
                    )
                    .await;
                }
            }
        });
    }
}

/// Each direction ends by itself, as on a real connection.
async fn join_directions(upstream: impl Future<Output = ()>, back: impl Future<Output = ()>) {
    tokio::join!(upstream, back);
}

/// Forwards every chunk, and the end of the stream, after the same delay.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
    count: &AtomicUsize,
) {
    let (write, mut chunks) = unbounded_channel::<(Instant, Vec<u8>)>();
    let reading = async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = write.send((Instant::now() + delay, buffer[..length].to_vec()));
        }
    };
    let writing = async move {
        while let Some((moment, chunk)) = chunks.recv().await {
            sleep_until(moment).await;
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    };
    tokio::join!(reading, writing);
}
