//! Merging of byte ranges.

use std::ops::Range;

use zarr_store::AccessProfile;

/// Result of [`coalesce`]: merged ranges, and the location of each given range in the merged ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Merged ranges to read, sorted by start.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Location of each given range, in the order in which the ranges were given.
    pub(crate) sub_ranges: Vec<SubRange>,
}

/// Location of a given range in the merged ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SubRange {
    /// Index of the merged range.
    pub(crate) range: usize,
    /// Offset in the merged range, in bytes.
    pub(crate) offset: u64,
    /// Number of bytes of the given range.
    pub(crate) len: u64,
}

/// Merges ranges that overlap or lie near each other, as far as `profile` allows.
///
/// Reading the merged ranges gives the bytes of every given range, fails exactly if reading one of the given ranges
/// would, and never reads beyond the end of the furthest. A range that ends before it starts counts as empty at its
/// start.
pub(crate) fn coalesce(ranges: &[Range<u64>], profile: &AccessProfile) -> Merged {
    let mut merged = Merged { ranges: Vec::new(), sub_ranges: vec![SubRange::default(); ranges.len()] };
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    if !ranges.is_sorted_by_key(|range| range.start) {
        order.sort_by_key(|&i| (ranges[i].start, ranges[i].end));
    }
    for i in order {
        let (start, end) = (ranges[i].start, ranges[i].end.max(ranges[i].start));
        let joined = match merged.ranges.last_mut() {
            Some(last) if profile.joins(last, &(start..end)) => {
                last.end = last.end.max(end);
                last.start
            }
            _ => {
                merged.ranges.push(start..end);
                start
            }
        };
        merged.sub_ranges[i] = SubRange { range: merged.ranges.len() - 1, offset: start - joined, len: end - start };
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_equals_single(
            ranges in proptest::collection::vec((0_u64..200, 0_u64..40).prop_map(|(start, len)| start..start + len), 0..20),
            max_gap in 0_u64..20,
            max_size in 0_u64..100,
        ) {
            let value: Vec<u8> = (0..=255).collect();
            let profile = AccessProfile::LOCAL.merging(max_gap, max_size);
            let merged = coalesce(&ranges, &profile);
            let read: Vec<&[u8]> = merged.ranges.iter().map(|range| slice(&value, range)).collect();
            prop_assert_eq!(merged.sub_ranges.len(), ranges.len());
            for (part, range) in merged.sub_ranges.iter().zip(&ranges) {
                prop_assert_eq!(slice(read[part.range], &(part.offset..part.offset + part.len)), slice(&value, range));
            }
            prop_assert!(merged.ranges.is_sorted_by_key(|range| range.start));
            prop_assert!(merged.ranges.len() <= ranges.len());
            let longest = ranges.iter().map(|range| range.end - range.start).max().unwrap_or(0);
            for range in &merged.ranges {
                prop_assert!(range.end - range.start <= max_size.max(longest));
                prop_assert!(ranges.iter().any(|given| given.end == range.end));
            }
            // Ranges that were not merged are too far apart or would be too long together.
            for pair in merged.ranges.windows(2) {
                let (gap, len) = (pair[1].start.saturating_sub(pair[0].end), pair[1].end - pair[0].start);
                prop_assert!(gap > max_gap || len > max_size);
            }
        }

        #[test]
        fn any_numbers_are_taken(ranges in proptest::collection::vec((any::<u64>(), any::<u64>()).prop_map(|(a, b)| a..b), 0..6)) {
            let merged = coalesce(&ranges, &AccessProfile::LOCAL.merging(u64::MAX, u64::MAX));
            prop_assert!(merged.ranges.len() <= 1);
        }
    }

    fn slice<'a>(value: &'a [u8], range: &Range<u64>) -> &'a [u8] {
        &value[usize::try_from(range.start).expect("small")..usize::try_from(range.end).expect("small")]
    }

    #[test]
    fn neighbours_are_merged() {
        let profile = AccessProfile::LOCAL.merging(10, 1000);
        assert_eq!(coalesce(&[50..60, 0..10, 15..20], &profile).ranges, [0..20, 50..60]);
    }

    #[test]
    fn ranges_in_memory_are_not_merged() {
        let ranges = [0..10, 10..20];
        assert_eq!(coalesce(&ranges, &AccessProfile::MEMORY).ranges, ranges);
    }
}
