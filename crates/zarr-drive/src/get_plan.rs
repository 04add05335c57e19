//! Ranges that drivers request from a store to answer a get.

use std::ops::Range;

use smallvec::SmallVec;
use zarr_store::{AccessProfile, ByteRange, Error, Fetched, GetOptions, Key, Result, StoreKind};

use crate::coalesce::{Merged, coalesce};

/// Plan of a get with merged ranges.
pub(crate) struct GetPlan {
    /// Ranges to request: first the merged ranges, then the given ranges whose offset depends on the size of the value.
    pub(crate) ranges: Vec<ByteRange>,
    merged: Merged,
    /// Source of each given range: `None` for the next of `merged.sub_ranges`, else an index in `ranges`.
    sources: SmallVec<[Option<usize>; 8]>,
}

impl GetPlan {
    /// Creates the plan of a get of `ranges`; `None` if no ranges can be merged.
    pub(crate) fn new(ranges: &[ByteRange], profile: &AccessProfile) -> Option<Self> {
        if profile.max_size == 0 {
            return None;
        }
        let bounded: SmallVec<[_; 8]> = ranges.iter().filter_map(ByteRange::bounded).cloned().collect();
        // The store refuses a range that ends before it starts.
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

    /// Cuts `fetched`, the reply for [`GetPlan::ranges`], into the pieces for the given ranges.
    pub(crate) fn cut(
        &self,
        store: &dyn std::fmt::Display,
        key: &Key,
        fetched: Option<Fetched>,
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
        let Some(mut fetched) = Fetched::checked(store, key, fetched, self.ranges.len(), options)? else {
            return Ok(None);
        };
        if fetched.is_unchanged() {
            return Ok(Some(fetched));
        }
        let mut sub_ranges = self.merged.sub_ranges.iter();
        let mut parts: SmallVec<[(usize, Range<usize>); 8]> = SmallVec::with_capacity(self.sources.len());
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
            return Err(Error::pieces(store, key, found, expected));
        }
        Ok(Some(fetched))
    }

    /// Replaces the merged range in a range error by the first of the given ranges `asked` that is outside of the value.
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

/// Division of a large range into parts, which are read by separate requests.
pub(crate) struct Parts {
    /// Begin and end of the range in the value; the end is `u64::MAX` if it is unknown.
    pub(crate) bounds: Range<u64>,
    /// Number of bytes of each part.
    pub(crate) part: u64,
}

impl Parts {
    /// Returns the division of `range`; `None` if `range` is read by one request.
    pub(crate) fn of(range: &ByteRange, options: &GetOptions, profile: &AccessProfile) -> Option<Self> {
        let part = profile.part_size?.max(1);
        let is_large = |size: u64| size / 2 > part;
        let bounds = match range {
            ByteRange::Range(range) if is_large(range.end.saturating_sub(range.start)) => range.clone(),
            ByteRange::Full if options.expected_size.is_some_and(is_large) => 0..u64::MAX,
            ByteRange::First(len) if options.expected_size.is_none_or(is_large) && is_large(*len) => 0..*len,
            _ => return None,
        };
        Some(Self { bounds, part })
    }

    /// Returns the ranges of the parts, each with whether it exists for any size of the value. If the end of the range depends on the size,
    /// these are the first part, and the rest as one range, which may be empty.
    fn ranges(&self, range: &ByteRange) -> Vec<(ByteRange, bool)> {
        let Self { bounds, part } = self;
        if !matches!(range, ByteRange::Range(_)) {
            return vec![(ByteRange::First(*part), true), (ByteRange::From(*part), false)];
        }
        let count = (bounds.end - bounds.start).div_ceil(*part);
        let listed = count.min(MAX_PARTS);
        let bound = |number: u64| bounds.start + number * part;
        let end = |number: u64| if number + 1 == listed { bounds.end } else { bound(number + 1) };
        (0..listed).map(|number| (ByteRange::Range(bound(number)..end(number)), true)).collect()
    }
}

/// Maximum number of parts that [`DriverGet::of`] lists for a range; the last of them covers the rest of the range.
const MAX_PARTS: u64 = 1 << 16;

/// One of the gets that a driver sends to a store to answer a [`Request::Get`](zarr_store::Request::Get).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverGet {
    /// Ranges of the value that the get requests.
    pub ranges: Vec<ByteRange>,
    /// Number of replies for which the get must wait: 1 for parts of a large range after the first part, which wait for the first part,
    /// else 0.
    pub round: u32,
    /// Whether the driver sends the get for any size of the value. `false` for the rest of a large value whose size is unknown before the
    /// first part has come: the driver sends it, in parts, only if the value is larger than the first part.
    pub is_certain: bool,
}

impl DriverGet {
    /// Returns the gets that a driver sends for `ranges` of a value to a store with `profile`. Ranges that lie near each other are merged.
    /// If requests are concurrent (`overlapped`, as on async stores), each merged range is a get of its own, and large ranges are divided
    /// into parts.
    ///
    /// ```
    /// use zarr_drive::DriverGet;
    /// use zarr_store::{AccessProfile, ByteRange, GetOptions};
    /// let ranges = [ByteRange::Range(0..10), ByteRange::Range(20..30), ByteRange::Range(9_000_000..9_000_001)];
    /// let gets = DriverGet::of(&ranges, &GetOptions::default(), &AccessProfile::REMOTE, true);
    /// assert_eq!(gets[0].ranges, [ByteRange::Range(0..30)]);
    /// assert_eq!(gets.len(), 2);
    /// ```
    pub fn of(ranges: &[ByteRange], options: &GetOptions, profile: &AccessProfile, overlapped: bool) -> Vec<Self> {
        let certain = |ranges: Vec<ByteRange>| Self { ranges, round: 0, is_certain: true };
        let ranges = GetPlan::new(ranges, profile).map_or_else(|| ranges.to_vec(), |plan| plan.ranges);
        if !overlapped || profile.kind != StoreKind::Remote || ranges.is_empty() {
            return vec![certain(ranges)];
        }
        let mut gets = Vec::with_capacity(ranges.len());
        for range in ranges {
            let Some(parts) = Parts::of(&range, options, profile) else {
                gets.push(certain(vec![range]));
                continue;
            };
            gets.extend(parts.ranges(&range).into_iter().enumerate().map(|(number, (part, is_certain))| Self {
                ranges: vec![part],
                round: u32::from(number > 0),
                is_certain,
            }));
        }
        gets
    }
}
