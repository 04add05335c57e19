//! Socket that fails if its client reads too slowly.

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

/// Number of bytes that a client must take within the time limit, since a slow client occupies its connection and a piece of a value.
const LEAST: usize = 16 << 10;

/// Socket that fails if its client takes less than [`LEAST`] bytes within a time limit.
pub(crate) struct PacedSocket {
    socket: TokioIo<TcpStream>,
    time: Duration,
    /// Timer that runs while bytes wait to be sent.
    timer: Option<Pin<Box<Sleep>>>,
    /// Number of bytes sent since the timer began.
    sent: usize,
    place: Arc<Place>,
}

impl PacedSocket {
    pub(crate) fn new(socket: TcpStream, time: Duration, place: Arc<Place>) -> Self {
        Self { socket: TokioIo::new(socket), time, timer: None, sent: 0, place }
    }

    /// Returns the result of a write, or an error if the client has taken too few bytes within the time limit.
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

    /// Flushes the socket. hyper calls this once all bytes are written, so nothing waits to be sent.
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
