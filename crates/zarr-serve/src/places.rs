//! Limit for concurrent connections. If all places are taken, the connection that has waited longest for a request gives way to a new one.

use crate::answer_memory::Connection;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Time for which a waiting connection keeps its place, since it may have sent a request that was not read yet.
const GRACE: Duration = Duration::from_millis(250);

/// Places for concurrent connections.
pub(crate) struct ConnectionLimit {
    free: Arc<Semaphore>,
    waiting: Mutex<WaitingConnections>,
    /// Notified when a connection begins to wait for a request.
    more: Notify,
}

/// Connections that wait for the head of a request, in the order in which they began to wait.
#[derive(Default)]
struct WaitingConnections {
    next: u64,
    connections: BTreeMap<u64, (Instant, Arc<Connection>)>,
}

/// Place of a connection, which is free again once this value is dropped.
pub(crate) struct Place {
    places: Arc<ConnectionLimit>,
    connection: Arc<Connection>,
    state: Mutex<ConnectionState>,
    _permit: OwnedSemaphorePermit,
}

/// State of a connection.
#[derive(Clone, Copy)]
enum ConnectionState {
    /// The connection waits for the head of a request, with this number in the list of waiting connections.
    Waits(u64),
    /// A request is being answered.
    Answers,
    /// The answer is complete, and not all of it is sent.
    Sends,
}

impl ConnectionLimit {
    pub(crate) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count.max(1)));
        Arc::new(Self { free, waiting: Mutex::default(), more: Notify::new() })
    }

    /// Takes a place for a new connection. If none is free, ends the connection that has waited longest for a request; if all are being
    /// answered, waits until one is free.
    pub(crate) async fn take(self: &Arc<Self>) -> Option<Place> {
        let permit = Arc::clone(&self.free).acquire_owned();
        tokio::pin!(permit);
        let mut has_ended = false;
        let permit = loop {
            // Whatever began to wait from here on is told.
            let more = self.more.notified();
            let mut grace = None;
            if self.free.available_permits() == 0 && !has_ended {
                grace = self.end_oldest();
                has_ended = grace == Some(Duration::ZERO);
            }
            tokio::select! {
                biased;
                permit = &mut permit => break permit.ok()?,
                () = more => {}
                () = after(grace.filter(|_| !has_ended)) => {}
            }
        };
        let connection = Arc::new(Connection::default());
        let number = self.list().add(Arc::clone(&connection));
        let state = Mutex::new(ConnectionState::Waits(number));
        self.more.notify_waiters();
        Some(Place { places: Arc::clone(self), connection, state, _permit: permit })
    }

    /// Ends the connection that has waited longest, unless it waits for less than [`GRACE`]. Returns the time for which it still keeps its
    /// place; `None` if no connection waits.
    fn end_oldest(&self) -> Option<Duration> {
        let mut waiting = self.list();
        let oldest = waiting.connections.first_entry()?;
        let left = GRACE.saturating_sub(oldest.get().0.elapsed());
        if left.is_zero() {
            let (_, connection) = oldest.remove();
            connection.give_up();
        }
        Some(left)
    }

    fn list(&self) -> MutexGuard<'_, WaitingConnections> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a time; forever if `time` is `None`.
async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

impl WaitingConnections {
    fn add(&mut self, connection: Arc<Connection>) -> u64 {
        self.next += 1;
        self.connections.insert(self.next, (Instant::now(), connection));
        self.next
    }
}

impl Place {
    /// Returns the connection that has the place.
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Records that the head of a request has arrived. The request is being answered while the returned guard exists.
    pub(crate) fn answers(self: &Arc<Self>) -> AnswerGuard {
        if let ConnectionState::Waits(number) = std::mem::replace(&mut *self.state(), ConnectionState::Answers) {
            self.places.list().connections.remove(&number);
        }
        AnswerGuard(Arc::clone(self))
    }

    /// Records that everything was sent, so that the connection waits for the next request.
    pub(crate) fn is_sent(&self) {
        let mut state = self.state();
        if let ConnectionState::Sends = *state {
            *state = ConnectionState::Waits(self.places.list().add(Arc::clone(&self.connection)));
            self.places.more.notify_waiters();
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let ConnectionState::Waits(number) = *self.state() {
            self.places.list().connections.remove(&number);
        }
    }
}

/// Guard that exists while a request is being answered.
pub(crate) struct AnswerGuard(Arc<Place>);

impl AnswerGuard {
    /// Wraps the body of the answer, whose end completes the answer.
    pub(crate) fn of<B>(self, body: B) -> AnswerBody<B> {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        *self.0.state() = ConnectionState::Sends;
    }
}

/// Body of an answer, with the guard of the request.
pub(crate) struct AnswerBody<B> {
    body: B,
    _answering: AnswerGuard,
}

impl<B: Body + Unpin> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
