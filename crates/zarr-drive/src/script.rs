//! Scripts: jobs that are written as async functions.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use zarr_store::{BoxFuture, Error, Fetched, Key, Listing, Lock, Prefix, Reply, Request, Result};

use crate::{Job, Next};

/// Async function wrapped as a [`Job`], which may only wait for replies to requests that it makes through its mailbox ([`Io`]).
///
/// Each step of the job puts the replies into the mailbox, polls the function once, and returns the requests that it finds in the mailbox.
///
/// # Example
/// ```
/// use zarr_drive::{Io, Script, run};
/// use zarr_store::{Error, Key, MemoryStore, Precondition, Request, StoreExt};
///
/// /// Copies a value, and says whether there was one.
/// async fn copy(io: &Io, from: Key, to: Key) -> Result<bool, Error> {
///     let [Some(value)] = &io.get(vec![Request::get(from)]).await?[..] else { return Ok(false) };
///     io.change(vec![Request::set(to, value.part(0).to_vec(), Precondition::None)]).await
/// }
///
/// let store = MemoryStore::new();
/// let (a, b) = (Key::new("a")?, Key::new("b")?);
/// store.set_all(&a, b"1")?;
/// let (from, to) = (a.clone(), b.clone());
/// assert!(run(&store, Script::new(|io| async move { copy(&io, from, to).await }))?);
/// assert_eq!(store.get_all(&b)?.as_deref(), Some(&b"1"[..]));
/// # Ok::<(), Error>(())
/// ```
pub struct Script<'a, T, E> {
    /// Future of the async function; `None` after its end.
    run: Option<BoxFuture<'a, Result<T, E>>>,
    io: Io,
    /// Number of replies that the next step needs.
    asked: usize,
    name: &'static str,
}

impl<'a, T, E> Script<'a, T, E> {
    /// Creates the job that runs `function`.
    pub fn new<F: Future<Output = Result<T, E>> + Send + 'a>(function: impl FnOnce(Io) -> F) -> Self {
        let io = Io::default();
        Self { run: Some(Box::pin(function(io.clone()))), io, asked: 0, name: std::any::type_name::<F>() }
    }

    /// Sets the name of the job in tracing spans ([`Job::name`]), which is the type name of the future by default.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

impl<T, E> fmt::Debug for Script<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("name", &self.name).field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl<T: Send, E: From<Error> + Send> Job for Script<'_, T, E> {
    type Output = T;
    type Error = E;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>, E> {
        let run = self.run.as_mut().ok_or_else(|| Error::Job("a job went on after its end"))?;
        if replies.len() != self.asked {
            return Err(Error::Replies { found: replies.len(), expected: self.asked }.into());
        }
        self.io.mail().replies = (self.asked > 0).then(|| std::mem::take(replies));
        match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => {
                self.run = None;
                output.map(Next::Done)
            }
            Poll::Pending => match std::mem::take(&mut *self.io.mail()) {
                Mail { requests: Some(requests), is_mixed: false, .. } => {
                    self.asked = requests.len();
                    Ok(Next::Ask(requests))
                }
                Mail { is_mixed: true, .. } => Err(Error::Job("a script asks two things at once").into()),
                _ => Err(Error::Job("a script waits for something else than replies").into()),
            },
        }
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

/// Mailbox of a [`Script`], by which its async function makes requests. Each method must be awaited before the next one is called; requests
/// that are to be made concurrently go into one call.
///
/// A failed request ends the job: the driver returns the error, and the script does not continue. To continue after an error, use two jobs.
#[derive(Clone, Debug, Default)]
pub struct Io(Arc<Mutex<Mail>>);

#[derive(Debug, Default)]
struct Mail {
    requests: Option<Vec<Request>>,
    replies: Option<Vec<Reply>>,
    /// Whether the function made requests while other requests waited for replies, which is an error.
    is_mixed: bool,
}

impl Io {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `requests` concurrently, and returns the replies in the order of `requests`. Returns at once if `requests` is empty.
    pub async fn ask(&self, requests: Vec<Request>) -> Vec<Reply> {
        if requests.is_empty() {
            return Vec::new();
        }
        {
            let mut mail = self.mail();
            mail.is_mixed |= mail.requests.replace(requests).is_some();
        }
        poll_fn(|_| self.mail().replies.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Reads values by requests of the kind [`Request::Get`]. Returns `None` for a key without a value.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn get(&self, requests: Vec<Request>) -> Result<Vec<Option<Fetched>>> {
        self.ask(requests).await.into_iter().map(Reply::into_got).collect()
    }

    /// Lists the keys and prefixes directly under each of `prefixes`.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn list(&self, prefixes: Vec<Prefix>) -> Result<Vec<Listing>> {
        let requests = prefixes.into_iter().map(|prefix| Request::List { prefix }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_listing).collect()
    }

    /// Lists all keys under each of `prefixes`.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn list_all(&self, prefixes: Vec<Prefix>) -> Result<Vec<Vec<Key>>> {
        let requests = prefixes.into_iter().map(|prefix| Request::ListAll { prefix }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_keys).collect()
    }

    /// Returns the number of bytes of each value; `None` for a key without a value.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn sizes(&self, keys: Vec<Key>) -> Result<Vec<Option<u64>>> {
        let requests = keys.into_iter().map(|key| Request::Size { key }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_size).collect()
    }

    /// Makes requests that set and erase values or order writes ([`Request::Barrier`]). Returns `false` if a precondition did not hold.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn change(&self, requests: Vec<Request>) -> Result<bool> {
        let made: Vec<bool> = self.ask(requests).await.iter().map(Reply::is_made).collect::<Result<_>>()?;
        Ok(made.into_iter().all(|is_made| is_made))
    }

    /// Acquires the lock of `prefix`; `None` if another process or thread holds it.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn lock(&self, prefix: Prefix) -> Result<Option<Lock>> {
        match &self.ask(vec![Request::Lock { prefix }]).await[..] {
            [Reply::Locked(lock)] => Ok(lock.clone()),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// Waits for `duration`.
    ///
    /// # Errors
    /// [`Error::Job`] if the driver replies to another kind of request.
    pub async fn pause(&self, duration: Duration) -> Result<()> {
        match &self.ask(vec![Request::Pause { duration }]).await[..] {
            [Reply::Paused] => Ok(()),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// Runs `job` inside of the script. Jobs that it forks run one after another.
    ///
    /// # Errors
    /// The errors of the jobs.
    pub async fn job<J: Job>(&self, mut job: J) -> Result<J::Output, J::Error> {
        // Stack of jobs: forked jobs that wait for their turn are above the job that forked them.
        let mut waiting = Vec::new();
        let mut replies = Vec::new();
        loop {
            let next = job.step(&mut replies)?;
            // Frees replies that the job left before waiting.
            replies.clear();
            match next {
                Next::Ask(requests) | Next::FetchInto(requests) => replies = self.ask(requests).await,
                Next::Fork(forked) => {
                    waiting.push(job);
                    waiting.extend(forked.into_iter().rev());
                    job = waiting.pop().ok_or(Error::Job("a job that forked is lost"))?;
                }
                Next::Done(output) => match waiting.pop() {
                    Some(next) => job = next,
                    None => return Ok(output),
                },
            }
        }
    }

    /// Runs `jobs` concurrently inside of the script: the requests of all their steps are made together. Returns the outputs in the order
    /// of `jobs`, which must not fork.
    ///
    /// # Errors
    /// The first error of a job, which ends all.
    pub async fn all<J: Job>(&self, jobs: Vec<J>) -> Result<Vec<J::Output>, J::Error> {
        let mut outputs: Vec<Option<J::Output>> = jobs.iter().map(|_| None).collect();
        // Number of each job that has not ended, the job, and the number of replies that it waits for.
        let mut running: Vec<(usize, J, usize)> =
            jobs.into_iter().enumerate().map(|(number, job)| (number, job, 0)).collect();
        let mut replies = Vec::new();
        while !running.is_empty() {
            let (mut rest, mut requests) = (replies.into_iter(), Vec::new());
            for (number, mut job, asked) in std::mem::take(&mut running) {
                match job.step(&mut rest.by_ref().take(asked).collect())? {
                    Next::Ask(more) | Next::FetchInto(more) => {
                        running.push((number, job, more.len()));
                        requests.extend(more);
                    }
                    Next::Fork(_) => return Err(Error::Job("a job that runs with others forked").into()),
                    Next::Done(output) => {
                        if let Some(slot) = outputs.get_mut(number) {
                            *slot = Some(output);
                        }
                    }
                }
            }
            replies = self.ask(requests).await;
        }
        Ok(outputs.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
