//! A connection: its pace, and whether its client closed it too early.

use crate::shared::Shared;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// The state that the requests of a connection share.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    /// Whether an answer was made of which some bytes may not have been written to the socket.
    is_unwritten: AtomicBool,
    /// The time when the bytes that were given out so far have passed, at the bandwidth that is set.
    free_at: Mutex<Option<Instant>>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        shared.tally.connected();
        Self { shared, is_unwritten: AtomicBool::new(false), free_at: Mutex::new(None) }
    }

    /// The last bytes of an answer have been made.
    pub(crate) fn answer_made(&self) {
        self.is_unwritten.store(true, Ordering::Release);
    }

    /// Whether all bytes of the answers that were made have been written to the socket.
    pub(crate) fn is_written(&self) -> bool {
        !self.is_unwritten.load(Ordering::Acquire)
    }

    /// When `bytes` more may have passed, at `bandwidth` bytes/s.
    pub(crate) fn passed_at(&self, bytes: usize, bandwidth: u64) -> Instant {
        /// Timers are late. What they lose is made up for, but not more than this.
        const LATE: Duration = Duration::from_millis(20);
        let now = Instant::now();
        let earliest = now.checked_sub(LATE).unwrap_or(now);
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let start = free_at.map_or(now, |time| time.max(earliest));
        let end = start + Duration::from_secs_f64(bytes as f64 / bandwidth.max(1) as f64);
        *free_at = Some(end);
        end
    }

    /// A new answer begins: time in which nothing was sent is not made up for.
    pub(crate) fn begin_pace(&self) {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = free_at.filter(|time| *time > Instant::now());
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_written() {
            self.shared.tally.aborted();
        }
    }
}

/// A socket that notes when all bytes of an answer have been written to it.
pub(crate) struct Io {
    socket: TokioIo<TcpStream>,
    connection: Arc<Connection>,
}

impl Io {
    pub(crate) fn new(socket: TcpStream, connection: Arc<Connection>) -> Self {
        Self { socket: TokioIo::new(socket), connection }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl Write for Io {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, slices)
    }

    /// hyper flushes after it has written all that it has.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.socket).poll_flush(context);
        if matches!(result, Poll::Ready(Ok(()))) {
            self.connection.is_unwritten.store(false, Ordering::Release);
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
