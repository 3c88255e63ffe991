//! A connection's socket, with a bound on how long it waits for its client.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::ServerLimits;
use super::connections::Activity;
use crate::web::data_rate::DataRateMonitor;

/// Fails with [`ErrorKind::TimedOut`] if the client
///
/// - does not complete a header in time, counted from its first byte, or from the beginning of the connection;
/// - takes an answer more slowly than the least rate, or makes the server wait too long for all of one answer.
///
/// Bodies of requests are bounded where they are read, since handlers may take as long as they like before that.
pub(super) struct PacedStream {
    stream: TcpStream,
    limits: Arc<ServerLimits>,
    activity: Arc<Activity>,
    /// When the current header must be complete.
    header: HeaderDeadline,
    reads: Pin<Box<Sleep>>,
    pace: DataRateMonitor,
    /// Since when a write has been waiting for the client.
    blocked_since: Option<Instant>,
    /// For how long the current answer has waited for the client, and which request it belongs to.
    blocked: Duration,
    answered: u64,
    writes: Pin<Box<Sleep>>,
}

/// The deadline of one header. Once its request has begun, it no longer applies.
struct HeaderDeadline {
    /// How many requests had begun before this header.
    after: u64,
    at: Option<Instant>,
}

impl PacedStream {
    pub fn new(stream: TcpStream, limits: Arc<ServerLimits>, activity: Arc<Activity>) -> Self {
        let now = Instant::now();
        let deadline = now + limits.header;
        Self {
            stream,
            activity,
            header: HeaderDeadline { after: 0, at: Some(deadline) },
            reads: Box::pin(sleep_until(deadline)),
            pace: DataRateMonitor::new(limits.min_rate),
            blocked_since: None,
            blocked: Duration::ZERO,
            answered: 0,
            writes: Box::pin(sleep_until(now)),
            limits,
        }
    }

    /// Accounts for a write, and waits no longer than the client may take.
    fn paced(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let now = Instant::now();
        let requests = self.activity.requests();
        if self.answered != requests {
            self.answered = requests;
            self.blocked = Duration::ZERO;
        }
        if let Poll::Ready(written) = written {
            if let Some(since) = self.blocked_since.take() {
                self.pace.waited(now - since);
                self.blocked += now - since;
            }
            if let Ok(bytes) = &written {
                self.pace.transferred(*bytes);
            }
            return Poll::Ready(written);
        }
        if self.blocked_since.is_none() {
            self.blocked_since = Some(now);
            let patience = self.pace.remaining().min(self.limits.answer.saturating_sub(self.blocked));
            self.writes.as_mut().reset(now + patience);
        }
        match self.writes.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for PacedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let (requests, is_busy) = (this.activity.requests(), this.activity.is_busy());
        if this.header.after != requests {
            this.header = HeaderDeadline { after: requests, at: None };
        }
        // While a request is being answered, these are bytes of its body, or of a request that has to wait.
        if is_busy {
            return read;
        }
        match (read, this.header.at) {
            (Poll::Pending, Some(_)) => match this.reads.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
            (Poll::Ready(Ok(())), None) if buffer.filled().len() > before => {
                let deadline = Instant::now() + this.limits.header;
                this.header.at = Some(deadline);
                this.reads.as_mut().reset(deadline);
                Poll::Ready(Ok(()))
            }
            (read, _) => read,
        }
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.paced(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, pieces);
        this.paced(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
