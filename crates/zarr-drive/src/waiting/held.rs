//! Delayed gets of parts of files, which wait for gets of neighbouring parts.

use zarr_store::{AccessProfile, Location, Request};

use crate::InFlightLimits;
use crate::beside::{Run, runs};

/// Delayed get.
pub(super) struct HeldGet {
    /// Number of the job that made the request.
    pub(super) node: usize,
    /// Position of the request in the list of requests of the job.
    pub(super) number: usize,
    pub(super) request: Request,
}

impl HeldGet {
    pub(super) fn new(node: usize, number: usize, request: Request) -> Self {
        Self { node, number, request }
    }
}

/// All delayed gets, with their parts of files.
pub(super) struct Held {
    gets: Vec<(Location, HeldGet)>,
    /// Sum of the numbers of bytes of the parts.
    bytes: u64,
    /// Value of `bytes` at which the gets are sent.
    most: u64,
}

/// Minimum number of joined requests into which the limit of bytes is divided.
const SHARES: u64 = 8;

impl Held {
    pub(super) fn new(profile: &AccessProfile, limits: InFlightLimits) -> Self {
        Self { gets: Vec::new(), bytes: 0, most: profile.max_size.min(limits.bytes / SHARES).max(1) }
    }

    pub(super) fn push(&mut self, location: Location, node: usize, number: usize, request: Request) {
        self.bytes = self.bytes.saturating_add(location.range.end - location.range.start);
        self.gets.push((location, HeldGet::new(node, number, request)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gets.is_empty()
    }

    /// Returns whether the delayed gets have enough bytes to be sent.
    pub(super) fn is_large(&self) -> bool {
        self.bytes >= self.most
    }

    /// Removes the gets to send, grouped into runs of neighbouring parts. If `more` gets may come, small runs stay delayed, as long as
    /// there are large runs to send.
    pub(super) fn take(&mut self, profile: &AccessProfile, more: bool) -> Vec<Run<HeldGet>> {
        let parts =
            std::mem::take(&mut self.gets).into_iter().map(|(location, get)| (location.clone(), (location, get)));
        let found = runs(parts.collect(), profile);
        self.bytes = 0;
        let is_large = |run: &Run<_>| run.size >= self.most / 2;
        let small = found.iter().filter(|run| !is_large(run)).fold(0, |sum: u64, run| sum.saturating_add(run.asked));
        let stay = more && small < self.most && found.iter().any(is_large);
        let mut taken = Vec::with_capacity(found.len());
        for run in found {
            if stay && !is_large(&run) {
                self.gets.extend(run.gets);
            } else {
                taken.push(run.map(|(_, get)| get));
            }
        }
        self.bytes = if stay { small } else { 0 };
        taken
    }
}
