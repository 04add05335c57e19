//! Parts of a conversion that several processes share.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use zarr_hierarchy::{Error, Result};

/// One part of a conversion that several processes share, on any machines: see
/// [`ConvertOptions::part`](super::ConvertOptions#structfield.part).
///
/// ```
/// use zarr_convert::Part;
///
/// let part: Part = "2/4".parse()?;
/// assert_eq!(part, Part::new(2, 4)?);
/// assert!(Part::new(5, 4).is_err());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: u64,
    of: u64,
}

/// Greatest number of parts: each part has a key in the store.
const MOST: u64 = 100_000;

impl Part {
    /// Creates part `number`, counted from 1, of `of` parts.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if `number` is not from 1 to `of`, or `of` exceeds 100,000.
    pub fn new(number: u64, of: u64) -> Result<Self> {
        if number == 0 || number > of || of > MOST {
            let message =
                format!("found part {number} of {of}, expected one of 1 to the number of parts, {MOST} at most");
            return Err(Error::argument(message));
        }
        Ok(Self { number, of })
    }

    /// Returns the number of the part, counted from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns the number of all parts.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Returns whether a unit belongs to this part. `node` is the index of the array among the nodes, and `counts` is the number of units
    /// along each axis. Successive units belong to different parts, so that parts have equal work wherever chunks are stored.
    pub(super) fn has(self, node: usize, unit: &[u64], counts: &[u64]) -> bool {
        let of = u128::from(self.of);
        let add = |sum: u128, (&index, &count): (&u64, &u64)| (sum * (u128::from(count) % of) + u128::from(index)) % of;
        let position = unit.iter().zip(counts).fold(0, add);
        (position + node as u128) % of == u128::from(self.number - 1)
    }

    /// Returns the range of the positions of this part, of `total` positions that parts share in order.
    pub(super) fn range(self, total: u64) -> Range<u64> {
        let end = |number: u64| {
            let end = u128::from(total) * u128::from(number) / u128::from(self.of);
            u64::try_from(end).unwrap_or(total)
        };
        end(self.number - 1)..end(self.number)
    }

    /// Returns whether all positions of a range that is not empty are of one part, of `total` positions that `of` parts share in order.
    pub(super) fn is_of_one(range: &Range<u64>, total: u64, of: u64) -> bool {
        // The part of a position is the last one that begins at it or before.
        let part = |position: u64| ((u128::from(position) + 1) * u128::from(of) - 1) / u128::from(total.max(1));
        part(range.start) == part(range.end.saturating_sub(1).max(range.start))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let Some((number, of)) = numbers else {
            return Err(Error::argument(format!("found {text:?}, expected a part as 2/4: the second of four")));
        };
        Self::new(number, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_unit_is_of_one_part_and_parts_are_even(
            counts in proptest::collection::vec(1_u64..7, 0..4),
            of in 1_u64..9,
            node in 0_usize..20,
        ) {
            let total: u64 = counts.iter().product();
            let mut sizes = vec![0_u64; of as usize];
            for mut position in 0..total {
                let mut unit = vec![0; counts.len()];
                for (index, count) in unit.iter_mut().zip(&counts).rev() {
                    (*index, position) = (position % count, position / count);
                }
                let parts: Vec<u64> =
                    (1..=of).filter(|&number| Part::new(number, of).unwrap().has(node, &unit, &counts)).collect();
                prop_assert_eq!(parts.len(), 1);
                sizes[parts[0] as usize - 1] += 1;
            }
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    proptest! {
        #[test]
        fn ranges_of_parts_follow_one_another(total in 0_u64..60, of in 1_u64..20) {
            let ranges: Vec<Range<u64>> = (1..=of).map(|number| Part::new(number, of).unwrap().range(total)).collect();
            let mut end = 0;
            for range in &ranges {
                prop_assert_eq!(range.start, end);
                end = range.end;
            }
            prop_assert_eq!(end, total);
            for start in 0..total {
                for end in start + 1..=total {
                    let is_in_one = ranges.iter().any(|range| range.start <= start && end <= range.end);
                    prop_assert_eq!(Part::is_of_one(&(start..end), total, of), is_in_one);
                }
            }
        }
    }

    #[test]
    fn parts_are_read_from_texts() {
        assert_eq!("3/12".parse::<Part>().unwrap().to_string(), "3/12");
        for text in ["", "3", "0/2", "3/2", "1/0", "a/b", "1/2/3", "1/1000000"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
        let huge = [u64::MAX - 1, u64::MAX - 1, 5];
        let parts = (1..=7).filter(|&number| Part::new(number, 7).unwrap().has(3, &huge, &[u64::MAX, u64::MAX, 6]));
        assert_eq!(parts.count(), 1);
    }
}
