//! A socket whose client has to take what is sent to it.

use crate::places::Place;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Bytes that a client has to take in the time that it has: else it holds the connection, and the piece of a value that is being sent.
const LEAST: usize = 16 << 10;

/// A socket that fails once its client takes less than [`LEAST`] bytes in a time.
pub(crate) struct PacedSocket {
    socket: TokioIo<TcpStream>,
    time: Duration,
    /// Runs while bytes wait to be sent.
    timer: Option<Pin<Box<Sleep>>>,
    /// Bytes that were sent since the timer began.
    sent: usize,
    place: Arc<Place>,
}

impl PacedSocket {
    pub(crate) fn new(socket: TcpStream, time: Duration, place: Arc<Place>) -> Self {
        Self { socket: TokioIo::new(socket), time, timer: None, sent: 0, place }
    }

    /// Returns the result of a write, or an error if the client takes too few bytes in the time that it has.
    fn in_time(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) => {
                self.sent = self.sent.saturating_add(count);
                if self.sent >= LEAST {
                    self.timer = None;
                }
                Poll::Ready(Ok(count))
            }
            Poll::Ready(failed) => Poll::Ready(failed),
            Poll::Pending => {
                if self.timer.is_none() {
                    self.sent = 0;
                }
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.time)));
                ready!(timer.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl Read for PacedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl Write for PacedSocket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.in_time(context, written)
    }

    /// hyper flushes once it has written all that it has: nothing waits any more.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.timer = None;
        ready!(Pin::new(&mut self.socket).poll_flush(context))?;
        self.place.is_sent();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
