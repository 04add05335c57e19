//! The ranges that a get asks a store for.

use std::ops::Range;

use smallvec::SmallVec;
use zarr_store::{AccessProfile, ByteRange, Error, Fetched, GetOptions, Key, Result, StoreKind};

use crate::coalesce::{Merged, coalesce};

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

/// A range that is asked for in parts, since it is large.
pub(crate) struct Parts {
    /// Its bounds; the end is the maximum if the size of the value is not known.
    pub(crate) bounds: Range<u64>,
    /// The bytes of each part.
    pub(crate) part: u64,
}

impl Parts {
    /// `None` if one get is for all of the range.
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

    /// The ranges of the parts, as far as they are known before the first has come, and whether each is certain: of a value whose size is
    /// not known the first is, and the rest is one range.
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

/// Maximum number of parts that a range is divided into; the last of them covers the rest of the range.
const MAX_PARTS: u64 = 1 << 16;

/// A get that a driver makes to answer a [`Request::Get`](zarr_store::Request::Get).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverGet {
    /// The ranges of the value.
    pub ranges: Vec<ByteRange>,
    /// How many replies it waits for: 0, or 1 for the parts of a large value that follow the first.
    pub round: u32,
    /// Whether it is made whatever the size of the value. Else it is the rest of a value whose size is not known before, which is got in
    /// parts if there is one.
    pub is_certain: bool,
}

impl DriverGet {
    /// The gets of a store with this profile that a driver makes of some ranges of a value: it merges ranges that lie near each other, and,
    /// if requests are under way at the same time (`overlapped`, as for stores that do not block), gets each range by itself, large ones in
    /// parts.
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
