//! Patterns of reads and writes, and the places at which they are counted.

use std::fmt;
use zarr_array::{Error, Result};
use zarr_grid::Region;

/// Pattern of a read or a write: a number of elements along some dimensions, at random places, and all elements along the other dimensions.
///
/// ```
/// use zarr_stats::advise::Access;
/// let series = Access::parse("lat=1,lon=1")?;
/// let names = ["time", "lat", "lon"].map(|name| Some(name.to_owned()));
/// assert_eq!(series.lengths(&[8760, 721, 1440], &names)?, [8760, 1, 1]);
/// assert!(series.lengths(&[8760], &names[..1]).is_err());
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    text: String,
    lengths: Vec<(String, u64)>,
}

impl Access {
    /// Parses `DIM=LENGTH,DIM=LENGTH..`: names of dimensions, or numbers of axes, with numbers of elements. `all` is the pattern of all
    /// elements.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] for any other string, a length of 0, or a dimension that is given twice.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let mut lengths: Vec<(String, u64)> = Vec::new();
        for part in text.split(',').filter(|_| text != "all") {
            let wrong = |what: &str| Error::argument(format!("{text:?}: found {part:?}, expected {what}"));
            let (name, len) = part.split_once('=').ok_or_else(|| wrong("a dimension and a number, as time=1"))?;
            let (name, len) = (name.trim(), len.trim().replace('_', ""));
            let len = len.parse().ok().filter(|&len: &u64| len > 0 && !name.is_empty());
            let len = len.ok_or_else(|| wrong("a dimension and a number above 0, as time=1"))?;
            if lengths.iter().any(|(known, _)| known == name) {
                return Err(wrong("each dimension once"));
            }
            lengths.push((name.to_owned(), len));
        }
        Ok(Self { text: text.to_owned(), lengths })
    }

    /// Whether an array with dimensions of these names has all dimensions of the pattern.
    pub fn fits(&self, names: &[Option<String>]) -> bool {
        self.lengths.iter().all(|(name, _)| axis(name, names).is_some())
    }

    /// Returns `count` boxes of the pattern in an array of `shape`, spread over the array: those at which reads are counted, the same ones in
    /// each call. One box if the pattern has all elements.
    ///
    /// # Errors
    /// As those of [`lengths`](Self::lengths).
    pub fn places(&self, shape: &[u64], names: &[Option<String>], count: usize) -> Result<Vec<Region>> {
        Ok(places(shape, &self.lengths(shape, names)?, count))
    }

    /// Returns the number of elements along each axis of an array of `shape`, whose dimensions have the given names: at most its length.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] if the array has no dimension of a name.
    pub fn lengths(&self, shape: &[u64], names: &[Option<String>]) -> Result<Vec<u64>> {
        let mut lengths = shape.to_vec();
        for (name, len) in &self.lengths {
            let unknown = || {
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                let known = if known.is_empty() { String::new() } else { format!("one of {}, or ", known.join(", ")) };
                Error::argument(format!(
                    "{:?}: found no dimension {name:?}, expected {known}the number of an axis",
                    self.text
                ))
            };
            let axis = axis(name, names).ok_or_else(unknown)?;
            lengths.get_mut(axis).into_iter().for_each(|of_axis| *of_axis = (*of_axis).min(*len));
        }
        Ok(lengths)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the axis that a name or a number stands for.
fn axis(name: &str, names: &[Option<String>]) -> Option<usize> {
    let named = names.iter().position(|known| known.as_deref() == Some(name));
    named.or_else(|| name.parse().ok().filter(|&axis: &usize| axis < names.len()))
}

/// Returns `count` boxes with `lengths` elements in an array of `shape`, spread over the array: the same boxes in each call. One box if all
/// boxes would be the same.
pub(super) fn places(shape: &[u64], lengths: &[u64], count: usize) -> Vec<Region> {
    const BASES: [u64; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let is_whole = shape.iter().zip(lengths).all(|(len, part)| part >= len);
    let count = if is_whole { 1 } else { count };
    let place = |number: u64| {
        let axes = shape.iter().zip(lengths).zip(BASES.iter().cycle());
        let ranges = axes.map(|((&len, &part), &base)| {
            let part = part.min(len);
            let starts = (len - part).saturating_add(1);
            let start = (inverse(number + 1, base) * starts as f64) as u64;
            let start = start.min(len - part);
            start..start + part
        });
        Region::from_ranges(&ranges.collect::<Vec<_>>())
    };
    (0..count as u64).map(place).collect()
}

/// Returns the digits of `number` in `base` behind the point, in reverse order: a number from 0 to 1. Successive numbers are spread evenly.
fn inverse(mut number: u64, base: u64) -> f64 {
    let (mut value, mut digit) = (0.0, 1.0 / base as f64);
    while number > 0 {
        value += (number % base) as f64 * digit;
        number /= base;
        digit /= base as f64;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parsed() {
        for text in ["time=1", " y = 256 , x=256", "0=1_000", "all"] {
            assert!(Access::parse(text).is_ok(), "{text}");
        }
        for text in ["", "time", "time=0", "time=-1", "time=1,time=2", "=1", "time=x", "time=1,"] {
            assert!(Access::parse(text).is_err(), "{text}");
        }
        let all = Access::parse("all").unwrap();
        assert_eq!(all.lengths(&[3, 4], &[None, None]).unwrap(), [3, 4]);
        let first = Access::parse("0=9").unwrap();
        assert_eq!(first.lengths(&[3, 4], &[None, None]).unwrap(), [3, 4]);
        assert!(Access::parse("2=9").unwrap().lengths(&[3, 4], &[None, None]).is_err());
    }

    #[test]
    fn places_lie_in_the_array_and_apart() {
        let found = places(&[100, 7, 1], &[10, 7, 1], 32);
        assert_eq!(found.len(), 32);
        for place in &found {
            place.check(&[100, 7, 1]).unwrap();
            assert_eq!(place.shape().as_slice(), [10, 7, 1]);
        }
        let starts: Vec<u64> = found.iter().map(|place| place.axes()[0].start).collect();
        let mean = starts.iter().sum::<u64>() as f64 / 32.0;
        assert!((40.0..50.0).contains(&mean), "{mean}");
        assert_eq!(places(&[3], &[3], 32).len(), 1);
        assert_eq!(places(&[], &[], 32).len(), 1);
        assert!(places(&[0, 4], &[0, 1], 4).iter().all(Region::is_empty));
    }
}
