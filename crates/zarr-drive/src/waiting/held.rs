//! Gets of parts of files, held back until those that lie beside them are asked for as well.

use zarr_store::{AccessProfile, Location, Request};

use crate::Limits;
use crate::beside::{Run, runs};

/// A get that is held back.
pub(super) struct HeldGet {
    /// The job that asks.
    pub(super) node: usize,
    /// Number of the request among those of the job.
    pub(super) number: usize,
    pub(super) request: Request,
}

impl HeldGet {
    pub(super) fn new(node: usize, number: usize, request: Request) -> Self {
        Self { node, number, request }
    }
}

/// Gets that are held back.
pub(super) struct Held {
    gets: Vec<(Location, HeldGet)>,
    /// Number of bytes that they ask for.
    bytes: u64,
    /// Number of bytes from which on they are not held back any longer.
    most: u64,
}

/// Minimum number of requests that the bytes under way are divided into.
const SHARES: u64 = 8;

impl Held {
    pub(super) fn new(profile: &AccessProfile, limits: Limits) -> Self {
        Self { gets: Vec::new(), bytes: 0, most: profile.max_size.min(limits.bytes / SHARES).max(1) }
    }

    pub(super) fn push(&mut self, location: Location, node: usize, number: usize, request: Request) {
        self.bytes = self.bytes.saturating_add(location.range.end - location.range.start);
        self.gets.push((location, HeldGet::new(node, number, request)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gets.is_empty()
    }

    /// Whether there are enough bytes for a request.
    pub(super) fn is_large(&self) -> bool {
        self.bytes >= self.most
    }

    /// Takes the gets out, in runs. If more are to come, those of small runs stay, as long as others are taken.
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
