//! State of a job and of all jobs that it forked, on an async store.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use zarr_store::{AccessProfile, AsyncStore, Location, Reply, Request, Result};

use super::answer::{Charge, Shares, answers, held_size, together};
use super::future_set::FutureSet;
use super::held::{Held, HeldGet};
use super::permits::Permits;
use crate::InFlightLimits;
use crate::beside::{Run, part};
use crate::trace::Span;
use crate::work::{BoxedWork, Stop, Turn};

/// State of a job, of all jobs that it forked, and of their requests. The driver polls requests and returns the steps that can be run; the
/// caller runs the steps.
///
/// New jobs are started before steps with replies are run, so that requests are in progress while values are decoded. A job is not started
/// while requests of other jobs wait for the limits, while the number of replies that wait for their steps has reached the limit of requests,
/// or while replies and encoded values take all the memory that the limit of bytes allows.
///
/// If the store has locations of values in files, gets of parts of files are delayed until no more jobs can be started, or until they are
/// large enough for a request. Then gets of neighbouring parts, even of different jobs, are joined to one call of the store.
pub(super) struct Driver<'s, 'j> {
    store: &'s dyn AsyncStore,
    permits: &'s Permits,
    limits: InFlightLimits,
    nodes: Vec<Option<Node<'j>>>,
    free: Vec<usize>,
    /// Numbers of jobs that were not started, the next one last.
    fresh: Vec<usize>,
    replied: VecDeque<(usize, Vec<Reply>)>,
    /// Total number of replies in `replied`.
    waiting: usize,
    /// Requests of jobs that wait until the limits allow them.
    asking: VecDeque<Asking>,
    /// Whether the store has locations of values in files, and its profile allows merging.
    locates: bool,
    held: Held,
    /// Runs of gets that are no longer delayed, and wait until the limits allow them.
    runs: VecDeque<Run<HeldGet>>,
    /// Number of steps that are being run; `beginning` is the number of first steps among them.
    taken: usize,
    beginning: usize,
    shares: Shares,
    profile: AccessProfile,
    asked: FutureSet<'s, Answered>,
    /// Number of requests in progress, which are in `asked`.
    requests: usize,
    /// Number of bytes that count for the limit: of replies, expected replies, and values that are encoded or set.
    bytes: u64,
    has_ended: bool,
    /// Tracing span in which the operation was called.
    span: Span,
}

/// Requests of a job that wait until the limits allow them.
struct Asking {
    node: usize,
    requests: Vec<Request>,
    charge: Charge,
    /// Part of a file that each request reads, `None` for a get that cannot be joined with others. The whole field is `None` if the
    /// requests are not all gets, or the store has no locations.
    parts: Option<Vec<Option<Location>>>,
}

/// Replies of one entry of [`Driver::asked`].
enum Answered {
    /// All replies to the requests of the job with this number.
    Job(usize, Result<Vec<Reply>>),
    /// Replies to joined gets. `gets` has the number of the job, and the number of the request in the job, for each get.
    Run {
        gets: Vec<(usize, usize)>,
        /// Number of bytes in the gaps between the parts, which are read in addition.
        extra: u64,
        replies: Result<Vec<Reply>>,
    },
}

/// Job that has not ended: it waits for its start, for replies, or for the jobs that it forked.
struct Node<'j> {
    /// The job; `None` while a step of the job is being run.
    job: Option<BoxedWork<'j>>,
    parent: Option<usize>,
    /// Number of jobs that this job forked and that have not ended.
    forked: usize,
    requests: usize,
    bytes: u64,
    /// Estimated memory of the requests of the job.
    charge: Charge,
    /// Replies to requests that are answered separately, `None` for those without a reply; `unanswered` is the number of `None`.
    replies: Vec<Option<Reply>>,
    unanswered: usize,
}

/// Step of a job that can be run on any thread.
pub(super) struct Step<'j> {
    node: usize,
    job: BoxedWork<'j>,
    replies: Vec<Reply>,
    /// Whether this is the first step of the job.
    begins: bool,
    /// Tracing span of the operation.
    span: Span,
}

/// Result of a step that was run.
pub(super) struct Stepped<'j> {
    node: usize,
    job: BoxedWork<'j>,
    turn: Turn<'j>,
    begins: bool,
}

impl<'j> Step<'j> {
    /// Returns whether this is the first step of the job, which usually makes requests.
    pub(super) fn begins(&self) -> bool {
        self.begins
    }

    pub(super) fn take(self) -> Stepped<'j> {
        let Self { node, mut job, mut replies, span, begins } = self;
        let turn = job.step(&mut replies, &span);
        // Frees the memory of replies that the job left.
        drop(replies);
        Stepped { node, job, turn, begins }
    }
}

impl<'s, 'j> Driver<'s, 'j> {
    pub(super) fn new(
        store: &'s dyn AsyncStore,
        permits: &'s Permits,
        limits: InFlightLimits,
        job: BoxedWork<'j>,
    ) -> Self {
        let profile = store.access_profile();
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
            locates: profile.max_size > 0 && store.capabilities().locates,
            held: Held::new(&profile, limits),
            runs: VecDeque::new(),
            taken: 0,
            beginning: 0,
            profile,
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
        let node = Some(Node {
            job: Some(job),
            parent,
            forked: 0,
            requests: 0,
            bytes: 0,
            charge: Charge::default(),
            replies: Vec::new(),
            unanswered: 0,
        });
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

    /// Returns whether the root job has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the next step that can be run: the first step of a job that the limits allow to start, or else a step with replies.
    pub(super) fn next_step(&mut self) -> Option<Step<'j>> {
        let begun = self.begin();
        let (number, replies) = match begun {
            Some(number) => (number, Vec::new()),
            None => self.replied.pop_front()?,
        };
        self.waiting -= replies.len();
        let job = self.node(number)?.job.take()?;
        self.taken += 1;
        self.beginning += usize::from(begun.is_some());
        Some(Step { node: number, job, replies, begins: begun.is_some(), span: self.span.clone() })
    }

    /// Returns the number of the next job to start, if the limits allow it. The weight of the job counts toward the limit of bytes until
    /// its first step has ended.
    fn begin(&mut self) -> Option<usize> {
        let (number, weight) = self.next_to_begin()?;
        self.bytes = self.bytes.saturating_add(weight);
        self.node(number)?.bytes = weight;
        self.fresh.pop()
    }

    /// Returns the number of the next job to start and its weight, if the limits allow it.
    fn next_to_begin(&self) -> Option<(usize, u64)> {
        // Else many small replies, such as shard indexes, would collect before any of their inner chunks is requested.
        if self.waiting >= self.limits.requests.max(1) {
            return None;
        }
        let number = *self.fresh.last()?;
        let weight = self.nodes.get(number)?.as_ref()?.job.as_ref()?.weight();
        let fits = self.bytes == 0 || self.bytes.saturating_add(weight.max(1)) <= self.limits.bytes;
        (fits && self.asking.is_empty() && self.runs.is_empty()).then_some((number, weight))
    }

    /// Processes the result of a step.
    ///
    /// # Errors
    /// [`Stop::Step`] if the step failed.
    pub(super) fn stepped(&mut self, stepped: Stepped<'j>) -> Result<(), Stop> {
        let Stepped { node: number, job, turn, begins } = stepped;
        self.taken -= 1;
        self.beginning -= usize::from(begins);
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
            // Requests are concurrent, so that no request can borrow the job for a destination.
            Turn::Ask(requests) | Turn::FetchInto(requests) => {
                let parts = self.parts(&requests);
                let charge = match &parts {
                    None => Charge::of(&requests, &self.profile),
                    Some(parts) => {
                        let alone = requests.iter().zip(parts).filter(|(_, part)| part.is_none());
                        let mut charge = Charge::of(alone.map(|(request, _)| request), &self.profile);
                        let sizes = parts.iter().flatten().map(|part| part.range.end - part.range.start);
                        charge.ranges = sizes.fold(charge.ranges, u64::saturating_add);
                        charge
                    }
                };
                if let Some(node) = self.node(number) {
                    node.job = Some(job);
                    node.charge = charge;
                }
                self.asking.push_back(Asking { node: number, requests, charge, parts });
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

    /// Sends requests up to the limits, and receives replies. Returns whether replies came; if none came, the task of `context` is woken as soon
    /// as one can be received.
    ///
    /// # Errors
    /// The error of a request.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Result<bool> {
        let mut came = false;
        loop {
            self.send();
            let Poll::Ready(Some(answered)) = self.asked.poll_next(context) else { return Ok(came) };
            came = true;
            match answered {
                Answered::Job(number, replies) => self.replied(number, replies?),
                Answered::Run { gets, extra, replies } => {
                    self.requests = self.requests.saturating_sub(1);
                    self.bytes = self.bytes.saturating_sub(extra);
                    for ((number, index), reply) in gets.into_iter().zip(replies?) {
                        let Some(node) = self.node(number) else { continue };
                        if let Some(slot) = node.replies.get_mut(index) {
                            *slot = Some(reply);
                        }
                        node.unanswered = node.unanswered.saturating_sub(1);
                        if node.unanswered == 0 {
                            let replies = std::mem::take(&mut node.replies).into_iter().flatten().collect();
                            self.replied(number, replies);
                        }
                    }
                }
            }
        }
    }

    /// Queues the next step of the job `number`, all of whose requests now have `replies`.
    fn replied(&mut self, number: usize, replies: Vec<Reply>) {
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

    /// Returns the part of a file that each request reads; `None` if not all `requests` are gets, or the store has no locations.
    fn parts(&self, requests: &[Request]) -> Option<Vec<Option<Location>>> {
        let is_get = |request: &Request| matches!(request, Request::Get { .. });
        let location = |key: &_| self.store.location(key);
        let are_gets = self.locates && !requests.is_empty() && requests.iter().all(is_get);
        are_gets.then(|| requests.iter().map(|request| part(request, &self.profile, location)).collect())
    }

    fn send(&mut self) {
        while let Some(asking) = self.asking.pop_front() {
            let bytes = self.shares.bytes(&asking.charge);
            let count = if asking.parts.is_some() { 0 } else { asking.requests.len() };
            let fits = (self.bytes == 0 || self.bytes.saturating_add(bytes) <= self.limits.bytes)
                && (self.requests == 0 || self.requests + count <= self.limits.requests);
            if !fits {
                self.asking.push_front(asking);
                break;
            }
            let Asking { node: number, requests, parts, .. } = asking;
            self.bytes = self.bytes.saturating_add(bytes);
            self.requests += count;
            if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
                (node.requests, node.bytes) = (count, bytes);
            }
            match parts {
                None => {
                    let answered = self.span.during(answers(self.store, self.permits, requests));
                    self.asked.push(Box::pin(async move { Answered::Job(number, answered.await) }));
                }
                Some(parts) => self.hold(number, requests, parts),
            }
        }
        if self.is_time() {
            let more = self.has_more();
            self.runs.extend(self.held.take(&self.profile, more));
        }
        self.send_runs();
    }

    /// Delays those gets that can be joined with others; the remaining ones only wait for the limits.
    fn hold(&mut self, number: usize, requests: Vec<Request>, parts: Vec<Option<Location>>) {
        if let Some(node) = self.nodes.get_mut(number).and_then(Option::as_mut) {
            node.replies = requests.iter().map(|_| None).collect();
            node.unanswered = requests.len();
        }
        for (index, (request, part)) in requests.into_iter().zip(parts).enumerate() {
            match part {
                Some(part) => self.held.push(part, number, index, request),
                None => self.runs.push_back(Run::alone(HeldGet::new(number, index, request))),
            }
        }
    }

    /// Returns whether further gets may be added before a reply comes.
    fn has_more(&self) -> bool {
        !self.fresh.is_empty() || self.beginning > 0 || !self.asking.is_empty()
    }

    /// Returns whether delayed gets should be sent now.
    fn is_time(&self) -> bool {
        let is_still = self.taken == 0
            && self.replied.is_empty()
            && self.asked.is_empty()
            && self.runs.is_empty()
            && self.next_to_begin().is_none();
        !self.held.is_empty() && (self.held.is_large() || is_still || !self.has_more())
    }

    fn send_runs(&mut self) {
        while let Some(run) = self.runs.pop_front() {
            let extra = run.size.saturating_sub(run.asked);
            let fits = self.requests < self.limits.requests
                && (extra == 0 || self.bytes.saturating_add(extra) <= self.limits.bytes);
            if !fits && !self.asked.is_empty() {
                self.runs.push_front(run);
                return;
            }
            self.requests += 1;
            self.bytes = self.bytes.saturating_add(extra);
            let (gets, requests) = run.gets.into_iter().map(|get| ((get.node, get.number), get.request)).unzip();
            let answered = self.span.during(together(self.store, self.permits, requests));
            self.asked.push(Box::pin(async move { Answered::Run { gets, extra, replies: answered.await } }));
        }
    }

    /// Returns whether no request is in progress, so that only a step can make progress.
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }
}
