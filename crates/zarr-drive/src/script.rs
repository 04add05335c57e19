//! Scripts: jobs that are written as async functions.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use zarr_store::{BoxFuture, Error, Fetched, Key, Listing, Lock, Prefix, Reply, Request, Result};

use crate::{Job, Next};

/// An async function as a [`Job`]: it waits for replies to its requests, which it leaves in a mailbox ([`Io`]), and for nothing else.
///
/// Each step of the job puts the replies into the mailbox, polls the function once, and returns the requests that it finds there.
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
    /// `None` after its end.
    run: Option<BoxFuture<'a, Result<T, E>>>,
    io: Io,
    /// Number of replies that it waits for.
    asked: usize,
    name: &'static str,
}

impl<'a, T, E> Script<'a, T, E> {
    /// The job that runs `function`.
    pub fn new<F: Future<Output = Result<T, E>> + Send + 'a>(function: impl FnOnce(Io) -> F) -> Self {
        let io = Io::default();
        Self { run: Some(Box::pin(function(io.clone()))), io, asked: 0, name: std::any::type_name::<F>() }
    }

    /// The same job with a name of the caller's ([`Job::name`]) instead of that of the function.
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

/// The mailbox of a [`Script`]. Its functions are awaited one after another; what is to be asked at the same time is one call.
///
/// A request that fails ends the job: the driver returns the error, and the script does not see it. What is to go on after such an error is
/// two jobs.
#[derive(Clone, Debug, Default)]
pub struct Io(Arc<Mutex<Mail>>);

#[derive(Debug, Default)]
struct Mail {
    requests: Option<Vec<Request>>,
    replies: Option<Vec<Reply>>,
    /// Whether there were requests when others came.
    is_mixed: bool,
}

impl Io {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes requests at the same time, and waits for the replies: as many, in the same order. Without requests there is nothing to wait
    /// for.
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

    /// Gets values ([`Request::Get`]).
    ///
    /// # Errors
    /// [`Error::Job`] if the driver answers other requests.
    pub async fn get(&self, requests: Vec<Request>) -> Result<Vec<Option<Fetched>>> {
        self.ask(requests).await.into_iter().map(Reply::into_got).collect()
    }

    /// Lists the keys and prefixes directly under each of some prefixes.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn list(&self, prefixes: Vec<Prefix>) -> Result<Vec<Listing>> {
        let requests = prefixes.into_iter().map(|prefix| Request::List { prefix }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_listing).collect()
    }

    /// Lists all keys under each of some prefixes.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn list_all(&self, prefixes: Vec<Prefix>) -> Result<Vec<Vec<Key>>> {
        let requests = prefixes.into_iter().map(|prefix| Request::ListAll { prefix }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_keys).collect()
    }

    /// Gets the sizes of values.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn sizes(&self, keys: Vec<Key>) -> Result<Vec<Option<u64>>> {
        let requests = keys.into_iter().map(|key| Request::Size { key }).collect();
        self.ask(requests).await.into_iter().map(Reply::into_size).collect()
    }

    /// Sets and erases values, and orders writes ([`Request::Barrier`]). Returns whether all changes were made: false if the precondition
    /// of one did not hold.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn change(&self, requests: Vec<Request>) -> Result<bool> {
        let made: Vec<bool> = self.ask(requests).await.iter().map(Reply::is_made).collect::<Result<_>>()?;
        Ok(made.into_iter().all(|is_made| is_made))
    }

    /// Takes the lock of a prefix; `None` if another holds it.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn lock(&self, prefix: Prefix) -> Result<Option<Lock>> {
        match &self.ask(vec![Request::Lock { prefix }]).await[..] {
            [Reply::Locked(lock)] => Ok(lock.clone()),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// Waits.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn pause(&self, duration: Duration) -> Result<()> {
        match &self.ask(vec![Request::Pause { duration }]).await[..] {
            [Reply::Paused] => Ok(()),
            _ => Err(Error::OTHER_REPLY),
        }
    }

    /// Runs a job, and the jobs that it forks one after another.
    ///
    /// # Errors
    /// The errors of the jobs.
    pub async fn job<J: Job>(&self, mut job: J) -> Result<J::Output, J::Error> {
        // Jobs that are to be run, and below them the one that forked them.
        let mut waiting = Vec::new();
        let mut replies = Vec::new();
        loop {
            let next = job.step(&mut replies)?;
            // What a job leaves is not kept while others are waited for.
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

    /// Runs jobs that do not fork at the same time: what they ask in a step is asked together. The outputs are in the order of the jobs.
    ///
    /// # Errors
    /// The first error of a job, which ends all.
    pub async fn all<J: Job>(&self, jobs: Vec<J>) -> Result<Vec<J::Output>, J::Error> {
        let mut outputs: Vec<Option<J::Output>> = jobs.iter().map(|_| None).collect();
        // Jobs that have not ended, with their numbers, and how many replies each of them waits for.
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
