//! Bodies: those of answers are sent in pieces at a bandwidth, those of requests are read as a whole.

use crate::connection::Connection;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// Number of bytes that are sent at once. Smaller pieces show more exactly when a client closes the connection; larger ones cost less time.
const PIECE: usize = 256 << 10;

/// Tracker of a request that is being answered. If dropped before its answer is complete, the request counts as aborted by the client.
pub(crate) struct Tracker {
    connection: Arc<Connection>,
    number: u64,
    is_open: bool,
}

impl Tracker {
    pub(crate) fn new(connection: Arc<Connection>, number: u64) -> Self {
        Self { connection, number, is_open: true }
    }

    pub(crate) fn answered(&self, status: u16) {
        self.connection.shared.tally.answered(self.number, status);
    }

    /// Marks the request as finished, whether it succeeded or not.
    ///
    /// A client that has the whole answer may send its next request at once. Must therefore be called before the last byte is sent;
    /// otherwise more requests would be counted as in flight than the client has.
    pub(crate) fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.connection.shared.tally.end(self.number);
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        if self.is_open {
            self.connection.shared.tally.aborted();
            self.connection.shared.tally.end(self.number);
        }
    }
}

/// Body of an answer.
pub(crate) struct ReplyBody {
    rest: Bytes,
    /// Whether the body has fewer bytes than the headers promise, so that the connection has to be closed after them.
    is_short: bool,
    /// Bandwidth in bytes/s; `None` for no limit.
    bandwidth: Option<u64>,
    sleep: Option<Pin<Box<Sleep>>>,
    connection: Arc<Connection>,
    tracker: Tracker,
}

impl ReplyBody {
    pub(crate) fn new(bytes: Bytes, is_short: bool, bandwidth: Option<u64>, mut tracker: Tracker) -> Self {
        let connection = tracker.connection.clone();
        connection.begin_pace();
        if bytes.is_empty() {
            tracker.close();
            connection.answer_made();
        }
        Self { rest: bytes, is_short, bandwidth, sleep: None, connection, tracker }
    }

    /// Waits until the time that `time` returns. `time` is only called when a wait begins.
    fn poll_sleep(&mut self, context: &mut Context<'_>, time: impl FnOnce() -> Instant) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(time())));
        ready!(sleep.as_mut().poll(context));
        self.sleep = None;
        Poll::Ready(())
    }

    /// Waits until all earlier bytes are written to the socket, since hyper closes the connection at once after a body that is too short.
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<()> {
        const INTERVAL: Duration = Duration::from_millis(2);
        while !self.connection.is_written() {
            ready!(self.poll_sleep(context, || Instant::now() + INTERVAL));
        }
        Poll::Ready(())
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if this.rest.is_empty() {
            if this.is_short {
                ready!(this.poll_written(context));
            }
            return Poll::Ready(None);
        }
        let mut count = this.rest.len().min(PIECE);
        if let Some(bandwidth) = this.bandwidth {
            // A hundredth of a second, but not so few bytes that timers cannot follow.
            count = count.min(usize::try_from(bandwidth / 100).unwrap_or(PIECE).max(1));
            let connection = this.connection.clone();
            ready!(this.poll_sleep(context, || connection.passed_at(count, bandwidth).into()));
        }
        let piece = this.rest.split_to(count);
        this.connection.shared.tally.sent(piece.len());
        if this.rest.is_empty() {
            this.tracker.close();
            this.connection.answer_made();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && !self.is_short
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_short { SizeHint::default() } else { SizeHint::with_exact(self.rest.len() as u64) }
    }
}

/// Reason why the body of a request was not read.
pub(crate) enum Unread {
    /// The body has more than [`LARGEST`] bytes.
    TooLarge,
    /// The client closed the connection.
    Gone,
}

/// Greatest number of bytes of the body of a request, as S3 has it for one `PUT`.
const LARGEST: usize = 5 << 30;

/// Reads the whole body of a request, at no more than `bandwidth` bytes/s.
pub(crate) async fn read(connection: &Connection, mut body: Incoming, bandwidth: Option<u64>) -> Result<Bytes, Unread> {
    // A client may promise more than it sends.
    const RESERVED: u64 = 64 << 20;
    let mut whole: Option<BytesMut> = None;
    let mut first = Bytes::new();
    connection.begin_pace();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Gone)?.into_data() else {
            continue;
        };
        connection.shared.tally.received(data.len());
        if let Some(bandwidth) = bandwidth {
            sleep_until(connection.passed_at(data.len(), bandwidth).into()).await;
        }
        if first.is_empty() && whole.is_none() {
            first = data;
            continue;
        }
        // A small body, in one piece, is not copied.
        let whole = whole.get_or_insert_with(|| {
            let more = body.size_hint().lower().min(RESERVED) as usize;
            let mut whole = BytesMut::with_capacity(first.len() + data.len() + more);
            whole.extend_from_slice(&first);
            whole
        });
        if whole.len() + data.len() > LARGEST {
            return Err(Unread::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.map_or(first, BytesMut::freeze))
}
