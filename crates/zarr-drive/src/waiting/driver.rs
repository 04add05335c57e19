//! The state of a job and of all jobs that it forked.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use zarr_store::{AccessProfile, AsyncStore, Reply, Request, Result};

use super::answer::{Charge, Shares, answers, held_size};
use super::future_set::FutureSet;
use super::permits::Permits;
use crate::Limits;
use crate::trace::Span;
use crate::work::{BoxedWork, Stop, Turn};

/// A job, all jobs that it forked, and their requests. It polls requests and says which steps can be taken; it takes none itself.
///
/// Jobs are begun before replies are gone on with, so that requests wait for their answers while others are decoded. A job is not begun
/// while requests of others wait for the bounds, while as many replies wait for their steps as requests may be under way, or while
/// replies, or values that are encoded or set, take all the memory that there is for them.
pub(super) struct Driver<'s, 'j> {
    store: &'s dyn AsyncStore,
    permits: &'s Permits,
    limits: Limits,
    nodes: Vec<Option<Node<'j>>>,
    free: Vec<usize>,
    /// Jobs that are not begun, the next one last.
    fresh: Vec<usize>,
    replied: VecDeque<(usize, Vec<Reply>)>,
    /// Number of replies that `replied` has.
    waiting: usize,
    /// Requests of jobs that wait until the bounds allow them.
    asking: VecDeque<(usize, Vec<Request>, Charge)>,
    shares: Shares,
    profile: AccessProfile,
    asked: FutureSet<'s, (usize, Result<Vec<Reply>>)>,
    /// How many requests `asked` has.
    requests: usize,
    /// How many bytes the replies take, or are expected to take, and the values that are being set.
    bytes: u64,
    has_ended: bool,
    /// The one in which the operation was called.
    span: Span,
}

/// A job that waits: for its turn, for replies, or for the jobs that it forked.
struct Node<'j> {
    /// `None` while a step is being taken.
    job: Option<BoxedWork<'j>>,
    parent: Option<usize>,
    /// How many of its forked jobs have not ended.
    forked: usize,
    requests: usize,
    bytes: u64,
    /// Bytes of memory that the requests of the job take.
    charge: Charge,
}

/// A step that can be taken, on any thread.
pub(super) struct Step<'j> {
    node: usize,
    job: BoxedWork<'j>,
    replies: Vec<Reply>,
    /// Whether it is the first step of its job.
    begins: bool,
    /// Span of the operation.
    span: Span,
}

/// A step that was taken.
pub(super) struct Stepped<'j> {
    node: usize,
    job: BoxedWork<'j>,
    turn: Turn<'j>,
}

impl<'j> Step<'j> {
    /// Whether it is the first step of its job, which mostly asks for something.
    pub(super) fn begins(&self) -> bool {
        self.begins
    }

    pub(super) fn take(self) -> Stepped<'j> {
        let Self { node, mut job, mut replies, span, .. } = self;
        let turn = job.step(&mut replies, &span);
        // Their memory is free from now on.
        drop(replies);
        Stepped { node, job, turn }
    }
}

impl<'s, 'j> Driver<'s, 'j> {
    pub(super) fn new(store: &'s dyn AsyncStore, permits: &'s Permits, limits: Limits, job: BoxedWork<'j>) -> Self {
        let mut driver = Self {
            store,
            permits,
            limits,
            nodes: Vec::new(),
            free: Vec::new(),
            fresh: Vec::new(),
            replied: VecDeque::new(),
            waiting: 0,
            asking: VecDeque::new(),
            shares: Shares::default(),
            profile: store.access_profile(),
            asked: FutureSet::new(),
            requests: 0,
            bytes: 0,
            has_ended: false,
            span: Span::current(),
        };
        let root = driver.insert(job, None);
        driver.fresh.push(root);
        driver
    }

    fn insert(&mut self, job: BoxedWork<'j>, parent: Option<usize>) -> usize {
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

    fn node(&mut self, number: usize) -> Option<&mut Node<'j>> {
        self.nodes.get_mut(number)?.as_mut()
    }

    /// Whether the job that it began with has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next step that can be taken: the first one of a job, or else one that replies came for.
    pub(super) fn next_step(&mut self) -> Option<Step<'j>> {
        let begun = self.begin();
        let (number, replies) = match begun {
            Some(number) => (number, Vec::new()),
            None => self.replied.pop_front()?,
        };
        self.waiting -= replies.len();
        let job = self.node(number)?.job.take()?;
        Some(Step { node: number, job, replies, begins: begun.is_some(), span: self.span.clone() })
    }

    /// The next job to be begun, if the bounds allow it. What its first step makes counts as long as the step is taken; then its requests
    /// do.
    fn begin(&mut self) -> Option<usize> {
        // Replies that are small, as indexes of shards are, would else be gathered without their inner chunks being asked for.
        if self.waiting >= self.limits.requests.max(1) {
            return None;
        }
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
    /// If the step failed.
    pub(super) fn stepped(&mut self, stepped: Stepped<'j>) -> Result<(), Stop> {
        let Stepped { node: number, job, turn } = stepped;
        if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
            self.bytes = self.bytes.saturating_sub(std::mem::take(&mut node.bytes));
        }
        match turn {
            Turn::Failed => return Err(Stop::Step),
            Turn::Done => {
                drop(job);
                self.done(number);
            }
            Turn::Fork(jobs) => {
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
            Turn::Ask(requests) | Turn::FetchInto(requests) => {
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

    fn done(&mut self, number: usize) {
        let Some(node) = self.nodes.get_mut(number).and_then(Option::take) else { return };
        self.free.push(number);
        let Some(parent) = node.parent else {
            self.has_ended = true;
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
            self.waiting += replies.len();
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

    /// Whether nothing will happen any more without a step.
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }
}
