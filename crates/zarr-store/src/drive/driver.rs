//! The state of a job and of all jobs that it forked.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use super::answer::{Charge, Shares, answers, held_size};
use super::future_set::FutureSet;
use super::permits::Permits;
use crate::trace::Span;
use crate::{AccessProfile, AsyncStore, Error, Job, Limits, Next, Reply, Request, Result};

/// A job, all jobs that it forked, and their requests. It polls requests and says which steps can be taken; it takes none itself.
///
/// Jobs with replies go before jobs that are not begun, since replies take memory. A job is not begun while requests of others wait
/// for the bounds, or while replies, or values that are encoded or set, take all the memory that there is for them.
pub(super) struct Driver<'s, J: Job> {
    store: &'s dyn AsyncStore,
    permits: &'s Permits,
    limits: Limits,
    nodes: Vec<Option<Node<J>>>,
    free: Vec<usize>,
    /// Jobs that are not begun, the next one last.
    fresh: Vec<usize>,
    replied: VecDeque<(usize, Vec<Reply>)>,
    /// Requests of jobs that wait until the bounds allow them.
    asking: VecDeque<(usize, Vec<Request>, Charge)>,
    shares: Shares,
    profile: AccessProfile,
    asked: FutureSet<'s, (usize, Result<Vec<Reply>>)>,
    /// How many requests `asked` has.
    requests: usize,
    /// How many bytes the replies take, or are expected to take, and the values that are being set.
    bytes: u64,
    output: Option<J::Output>,
    /// The one in which the operation was called.
    span: Span,
}

/// A job that waits: for its turn, for replies, or for the jobs that it forked.
struct Node<J> {
    /// `None` while a step is being taken.
    job: Option<J>,
    parent: Option<usize>,
    /// How many of its forked jobs have not ended.
    forked: usize,
    requests: usize,
    bytes: u64,
    /// What its requests take.
    charge: Charge,
}

/// A step that can be taken, on any thread.
pub(super) struct Step<J> {
    node: usize,
    job: J,
    replies: Vec<Reply>,
    /// Of the operation.
    span: Span,
}

/// A step that was taken.
pub(super) struct Stepped<J: Job> {
    node: usize,
    job: J,
    next: Result<Next<J>, J::Error>,
}

impl<J: Job> Step<J> {
    pub(super) fn take(self) -> Stepped<J> {
        let Self { node, mut job, replies, span } = self;
        let next = span.step::<J>().within(|| job.step(&replies));
        // Their memory is free from now on.
        drop(replies);
        Stepped { node, job, next }
    }
}

impl<'s, J: Job> Driver<'s, J> {
    pub(super) fn new(store: &'s dyn AsyncStore, permits: &'s Permits, limits: Limits, job: J) -> Self {
        let mut driver = Self {
            store,
            permits,
            limits,
            nodes: Vec::new(),
            free: Vec::new(),
            fresh: Vec::new(),
            replied: VecDeque::new(),
            asking: VecDeque::new(),
            shares: Shares::default(),
            profile: store.access_profile(),
            asked: FutureSet::new(),
            requests: 0,
            bytes: 0,
            output: None,
            span: Span::current(),
        };
        let root = driver.insert(job, None);
        driver.fresh.push(root);
        driver
    }

    fn insert(&mut self, job: J, parent: Option<usize>) -> usize {
        let node = Some(Node { job: Some(job), parent, forked: 0, requests: 0, bytes: 0, charge: Charge::default() });
        match self.free.pop() {
            Some(number) => {
                if let Some(slot) = self.nodes.get_mut(number) {
                    *slot = node;
                }
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    fn node(&mut self, number: usize) -> Option<&mut Node<J>> {
        self.nodes.get_mut(number)?.as_mut()
    }

    /// The output of the job that it began with, once that has ended.
    pub(super) fn take_output(&mut self) -> Option<J::Output> {
        self.output.take()
    }

    /// The next step that can be taken.
    pub(super) fn next_step(&mut self) -> Option<Step<J>> {
        let (number, replies) = match self.replied.pop_front() {
            Some(replied) => replied,
            None => (self.begin()?, Vec::new()),
        };
        let job = self.node(number)?.job.take()?;
        Some(Step { node: number, job, replies, span: self.span.clone() })
    }

    /// The next job to be begun, if the bounds allow it. What its first step makes counts as long as the step is taken; then its requests
    /// do.
    fn begin(&mut self) -> Option<usize> {
        let number = *self.fresh.last()?;
        let weight = self.node(number)?.job.as_ref()?.weight();
        let fits = self.bytes == 0 || self.bytes.saturating_add(weight.max(1)) <= self.limits.bytes;
        if !fits || !self.asking.is_empty() {
            return None;
        }
        self.bytes = self.bytes.saturating_add(weight);
        self.node(number)?.bytes = weight;
        self.fresh.pop()
    }

    /// Goes on with a step that was taken.
    ///
    /// # Errors
    /// The error of the job.
    pub(super) fn stepped(&mut self, stepped: Stepped<J>) -> Result<(), J::Error> {
        let Stepped { node: number, job, next } = stepped;
        let next = next?;
        if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
            self.bytes = self.bytes.saturating_sub(std::mem::take(&mut node.bytes));
        }
        match next {
            Next::Done(output) => {
                drop(job);
                self.done(number, output);
            }
            Next::Fork(jobs) => {
                let forked = jobs.len();
                if let Some(node) = self.node(number) {
                    node.job = Some(job);
                    node.forked = forked;
                }
                let begun = self.fresh.len();
                for job in jobs {
                    let job = self.insert(job, Some(number));
                    self.fresh.push(job);
                }
                if let Some(forked) = self.fresh.get_mut(begun..) {
                    forked.reverse();
                }
                if forked == 0 {
                    self.replied.push_back((number, Vec::new()));
                }
            }
            // Requests run at the same time, so that none can borrow the job.
            Next::Ask(requests) | Next::FetchInto(requests) => {
                let charge = Charge::of(&requests, &self.profile);
                if let Some(node) = self.node(number) {
                    node.job = Some(job);
                    node.charge = charge;
                }
                self.asking.push_back((number, requests, charge));
            }
        }
        Ok(())
    }

    fn done(&mut self, number: usize, output: J::Output) {
        let Some(node) = self.nodes.get_mut(number).and_then(Option::take) else { return };
        self.free.push(number);
        let Some(parent) = node.parent else {
            self.output = Some(output);
            return;
        };
        let Some(above) = self.node(parent) else { return };
        above.forked = above.forked.saturating_sub(1);
        if above.forked == 0 {
            self.replied.push_back((parent, Vec::new()));
        }
    }

    /// Sends requests as far as the bounds allow, and takes replies. Says whether replies came; if none did, the task of `context` is
    /// woken when some have.
    ///
    /// # Errors
    /// The error of a request.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Result<bool> {
        let mut came = false;
        loop {
            self.send();
            let Poll::Ready(Some((number, replies))) = self.asked.poll_next(context) else { return Ok(came) };
            came = true;
            let replies = replies?;
            let held = held_size(&replies);
            if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
                self.shares.note(&node.charge, held);
                let held = held.max(node.charge.ranges);
                self.requests = self.requests.saturating_sub(std::mem::take(&mut node.requests));
                self.bytes = self.bytes.saturating_sub(std::mem::replace(&mut node.bytes, held)).saturating_add(held);
            }
            self.replied.push_back((number, replies));
        }
    }

    fn send(&mut self) {
        while let Some((number, requests, charge)) = self.asking.pop_front() {
            let bytes = self.shares.bytes(&charge);
            let fits = (self.bytes == 0 || self.bytes.saturating_add(bytes) <= self.limits.bytes)
                && (self.requests == 0 || self.requests + requests.len() <= self.limits.requests);
            if !fits {
                self.asking.push_front((number, requests, charge));
                return;
            }
            self.bytes = self.bytes.saturating_add(bytes);
            self.requests += requests.len();
            if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
                (node.requests, node.bytes) = (requests.len(), bytes);
            }
            let (store, permits) = (self.store, self.permits);
            let answered = self.span.during(answers(store, permits, requests));
            self.asked.push(Box::pin(async move { (number, answered.await) }));
        }
    }

    /// Whether it has not ended.
    pub(super) fn has_more(&self) -> bool {
        self.output.is_none()
    }

    /// Whether nothing will happen any more without a step.
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }
}

/// The error of a driver that has nothing to do and no output.
pub(super) fn stalled() -> Error {
    Error::Replies { found: 0, expected: 1 }
}
