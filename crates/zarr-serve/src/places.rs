//! How many connections are served at the same time. When all are taken, the connection that has waited longest for a request gives way to a new one.

use crate::answer_memory::Connection;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// A connection that waits no longer than this may have sent a request that was not looked at yet: it keeps its place.
const GRACE: Duration = Duration::from_millis(250);

/// As many places as connections may be served at the same time.
pub(crate) struct ConnectionLimit {
    free: Arc<Semaphore>,
    waiting: Mutex<WaitingConnections>,
    /// A connection waits that did not before.
    more: Notify,
}

/// The connections that wait for the head of a request, by when they began to.
#[derive(Default)]
struct WaitingConnections {
    next: u64,
    connections: BTreeMap<u64, (Instant, Arc<Connection>)>,
}

/// The place of a connection, free once this is dropped.
pub(crate) struct Place {
    places: Arc<ConnectionLimit>,
    connection: Arc<Connection>,
    state: Mutex<ConnectionState>,
    _permit: OwnedSemaphorePermit,
}

/// The state of a connection.
#[derive(Clone, Copy)]
enum ConnectionState {
    /// It waits for the whole head of a request, under this number.
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

    /// A place for a new connection. Where none is free, the connection that has waited longest for a request ends; where all are
    /// answered, it waits until one is free.
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

    /// Ends the connection that has waited longest. Gives the time for which it keeps its place still; `None` if none waits.
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

/// Ends after a time; never without one.
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
    /// The connection that has the place.
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The head of a request has come.
    pub(crate) fn answers(self: &Arc<Self>) -> AnswerGuard {
        if let ConnectionState::Waits(number) = std::mem::replace(&mut *self.state(), ConnectionState::Answers) {
            self.places.list().connections.remove(&number);
        }
        AnswerGuard(Arc::clone(self))
    }

    /// All that there was to send is sent.
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

/// A request is being answered for as long as this is there.
pub(crate) struct AnswerGuard(Arc<Place>);

impl AnswerGuard {
    /// The body of the answer, by the end of which it is complete.
    pub(crate) fn of<B>(self, body: B) -> AnswerBody<B> {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        *self.0.state() = ConnectionState::Sends;
    }
}

/// The body of an answer.
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
