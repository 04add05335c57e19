//! The ranges that a get asks a store for.

use smallvec::SmallVec;

use crate::coalesce::{Merged, coalesce};
use crate::fetched::{check, pieces};
use crate::{AccessProfile, ByteRange, Error, Fetched, Key, Result};

/// The merged ranges of a get.
pub(crate) struct GetPlan {
    /// The ranges to request: the merged ones first, then the ranges whose offset depends on the size of the value.
    pub(crate) ranges: Vec<ByteRange>,
    merged: Merged,
    /// For each requested range, its index in `ranges`; `None` if it is the next of the merged ones.
    sources: SmallVec<[Option<usize>; 8]>,
}

impl GetPlan {
    /// `None` if nothing can be merged.
    pub(crate) fn new(ranges: &[ByteRange], profile: &AccessProfile) -> Option<Self> {
        if profile.max_size == 0 {
            return None;
        }
        let bounded: SmallVec<[_; 8]> = ranges.iter().filter_map(ByteRange::bounded).cloned().collect();
        // A range that ends before it starts is left for the store to refuse.
        if bounded.len() < 2 || bounded.iter().any(|range| range.start > range.end) {
            return None;
        }
        let merged = coalesce(&bounded, profile);
        if merged.ranges.len() == bounded.len() {
            return None;
        }
        let mut asked: Vec<ByteRange> = merged.ranges.iter().cloned().map(ByteRange::Range).collect();
        let sources = ranges
            .iter()
            .map(|range| {
                range.bounded().is_none().then(|| {
                    asked.push(range.clone());
                    asked.len() - 1
                })
            })
            .collect();
        Some(Self { ranges: asked, merged, sources })
    }

    /// Cuts the pieces of [`GetPlan::ranges`] into the requested ranges.
    pub(crate) fn cut(
        &self,
        store: &dyn std::fmt::Display,
        key: &Key,
        fetched: Option<Fetched>,
    ) -> Result<Option<Fetched>> {
        let Some(mut fetched) = check(store, key, fetched, self.ranges.len())? else { return Ok(None) };
        let mut sub_ranges = self.merged.sub_ranges.iter();
        let mut parts: SmallVec<[(usize, std::ops::Range<usize>); 8]> = SmallVec::with_capacity(self.sources.len());
        for source in &self.sources {
            let part = match source {
                Some(i) => Some((*i, 0..fetched.part(*i).len())),
                None => sub_ranges.next().and_then(|sub| {
                    let start = usize::try_from(sub.offset).ok()?;
                    Some((sub.range, start..start.checked_add(usize::try_from(sub.len).ok()?)?))
                }),
            };
            parts.extend(part);
        }
        let (found, expected) = (parts.len(), self.sources.len());
        if found != expected || !fetched.recut(parts.into_iter()) {
            return Err(pieces(store, key, found, expected));
        }
        Ok(Some(fetched))
    }

    /// Replaces the merged range in an error by the requested range that is not inside the value.
    pub(crate) fn blame(&self, error: Error, asked: &[ByteRange]) -> Error {
        match error {
            Error::Range { store, key, range, size } => {
                let range = asked.iter().find(|range| range.resolve(size).is_none()).cloned().unwrap_or(range);
                Error::Range { store, key, range, size }
            }
            error => error,
        }
    }
}
