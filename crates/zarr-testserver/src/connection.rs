//! Connection of a client: its bandwidth, and whether its client closed it too early.

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

/// State that the requests of a connection share.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    /// Whether the end of an answer was passed to hyper, but perhaps not yet written to the socket.
    is_unwritten: AtomicBool,
    /// Time at which all bytes passed on so far have been transferred, at the current bandwidth; `None` before the first.
    free_at: Mutex<Option<Instant>>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        shared.tally.connected();
        Self { shared, is_unwritten: AtomicBool::new(false), free_at: Mutex::new(None) }
    }

    /// Notes that the last bytes of an answer were passed to hyper.
    pub(crate) fn answer_made(&self) {
        self.is_unwritten.store(true, Ordering::Release);
    }

    /// Returns whether all bytes of the completed answers have been written to the socket.
    pub(crate) fn is_written(&self) -> bool {
        !self.is_unwritten.load(Ordering::Acquire)
    }

    /// Returns the time at which `bytes` more bytes have been transferred, at `bandwidth` bytes/s.
    pub(crate) fn passed_at(&self, bytes: usize, bandwidth: u64) -> Instant {
        /// Greatest delay of timers that is made up for.
        const LATE: Duration = Duration::from_millis(20);
        let now = Instant::now();
        let earliest = now.checked_sub(LATE).unwrap_or(now);
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let start = free_at.map_or(now, |time| time.max(earliest));
        let end = start + Duration::from_secs_f64(bytes as f64 / bandwidth.max(1) as f64);
        *free_at = Some(end);
        end
    }

    /// Begins an answer: idle time since the answer before is not made up for.
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

/// Socket that notes when all bytes of an answer have been written to it.
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

    /// Flushes the socket. hyper calls this after it has written all bytes that it has.
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
