//! Layout of the values of variables in a file, and division of variables into chunks.

use std::ops::RangeInclusive;

use zarr_store_virtual::{ChunkTable, ChunkTableBuilder, SourceId, VirtualFault};

use crate::NetcdfFault;
use crate::cursor::padded;
use crate::header::{Header, Variable};

/// Size in bytes up to which a variable is one chunk, unless bytes of other variables lie between its records.
const CHUNK: u64 = 64 << 20;
/// Minimum size in bytes of the chunks of a divided variable, unless the variable is larger than `LARGEST`.
const SMALLEST: u64 = 1 << 20;
/// Size in bytes up to which a variable stays one chunk if no divisor of its lengths gives chunks of at least `SMALLEST` bytes.
const LARGEST: u64 = 1 << 30;
/// Number of candidates that are tried as divisors of a length, beginning with the smallest that gives chunks of at most `CHUNK` bytes.
const DIVISORS: u64 = 4096;
/// Largest candidate that [`largest_part`] tries as a divisor of a length.
const TRIED: u64 = 1 << 20;

/// Records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    pub(crate) count: u64,
    /// Distance in bytes from the beginning of one record to the next.
    size: u64,
}

/// Shape of the array of a variable, and the places of its chunks in the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunk_shape: Vec<u64>,
    /// Number of chunks along each axis.
    pub(crate) counts: Vec<u64>,
    pub(crate) count: u64,
    begin: u64,
    /// Size of a chunk in bytes.
    length: u64,
    /// Distance in bytes from the beginning of one chunk to the next.
    stride: u64,
}

impl Records {
    /// Returns the number and size of the records of a file of `file` bytes.
    pub(crate) fn of(header: &Header, file: u64) -> Result<Self, NetcdfFault> {
        let variables = || header.variables.iter().filter(|variable| variable.is_record);
        let mut size = 0_u64;
        for variable in variables() {
            let sum = size.checked_add(padded(variable.size)).filter(|sum| *sum < u64::MAX);
            size = sum.ok_or_else(|| NetcdfFault::TooLarge { name: variable.name.clone() })?;
        }
        // The records of a single record variable have no padding.
        if let Some(last) = variables().next_back().filter(|last| padded(last.size) == size) {
            size = last.size;
        }
        let first = variables().map(|variable| variable.begin).min().unwrap_or(file);
        let by_size = || file.saturating_sub(first).checked_div(size).unwrap_or(0);
        Ok(Self { count: header.records.unwrap_or_else(by_size), size })
    }
}

impl Layout {
    pub(crate) fn of(variable: &Variable, records: Records) -> Result<Self, NetcdfFault> {
        let mut shape = variable.lengths.clone();
        let Variable { begin, size, nc_type, .. } = *variable;
        let too_large = || NetcdfFault::TooLarge { name: variable.name.clone() };
        if variable.is_record {
            shape.insert(0, records.count);
            records.size.checked_mul(records.count).ok_or_else(too_large)?;
        }
        // Records without bytes of other variables between them are divided as any other axis.
        let lies_apart = variable.is_record && records.size != size;
        let chunk_shape = if lies_apart {
            std::iter::once(1).chain(variable.lengths.iter().copied()).collect()
        } else {
            divided(&shape, nc_type.size()).ok_or_else(too_large)?
        };
        let ceil = |(length, chunk): (&u64, &u64)| length.checked_div(*chunk).unwrap_or(0);
        let counts: Vec<u64> = shape.iter().zip(&chunk_shape).map(ceil).collect();
        let product =
            |numbers: &[u64], first: u64| numbers.iter().try_fold(first, |product, n| product.checked_mul(*n));
        let count = product(&counts, 1).ok_or_else(too_large)?;
        let length = product(&chunk_shape, nc_type.size()).ok_or_else(too_large)?;
        let stride = if lies_apart { records.size } else { length };
        Ok(Self { shape, chunk_shape, counts, count, begin, length, stride })
    }

    /// Returns the table of the chunks, which are ranges of the file `source`.
    pub(crate) fn table(&self, source: SourceId) -> Result<ChunkTable, VirtualFault> {
        let mut table = ChunkTableBuilder::new(self.count);
        table.set_even(0..self.count, source, self.begin, self.length, self.stride)?;
        table.build()
    }
}

/// Returns a chunk shape for an array of shape `shape` whose elements have `item` bytes; `None` if its size does not fit into 64 bits. Each
/// chunk is contiguous in the file: its length is 1 along the axes before the divided axis, and the length of the array along the axes
/// behind the divided axis.
fn divided(shape: &[u64], item: u64) -> Option<Vec<u64>> {
    let mut chunk: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
    let mut size = chunk.iter().try_fold(item, |size, length| size.checked_mul(*length))?;
    for length in &mut chunk {
        if size <= CHUNK {
            break;
        }
        let row = size / *length;
        let least = size.div_ceil(CHUNK).min(*length);
        let parts = (least..=least.saturating_add(DIVISORS).min(*length)).find(|parts| length.is_multiple_of(*parts));
        match parts {
            Some(parts) if row.saturating_mul(*length / parts) >= SMALLEST || size > LARGEST => *length /= parts,
            _ if size <= LARGEST => break,
            // Chunks of one element would be too many. A chunk may be large, since it is not compressed, and parts of it are read without
            // the rest.
            _ if row == item => match largest_part(*length, SMALLEST / item..=LARGEST / item) {
                Some(part) => *length = part,
                None => break,
            },
            _ => *length = 1,
        }
        size = row * *length;
        if *length > 1 {
            break;
        }
    }
    Some(chunk)
}

/// Returns the largest divisor of `length` within `bounds`. Divisor pairs whose smaller number is greater than [`TRIED`] are not found.
fn largest_part(length: u64, bounds: RangeInclusive<u64>) -> Option<u64> {
    let small = (1..=TRIED.min(length.isqrt())).filter(|divisor| length.is_multiple_of(*divisor));
    let parts = small.flat_map(|divisor| [divisor, length / divisor]);
    parts.filter(|part| bounds.contains(part)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_variables_are_divided_along_their_first_axes() {
        let cases: [(&[u64], u64, &[u64]); 12] = [
            (&[], 8, &[]),
            (&[3, 4], 8, &[3, 4]),
            (&[0, 4], 8, &[1, 4]),
            // 400 MiB need seven chunks at least; 100 has the divisor 10.
            (&[100, 1024, 1024], 4, &[10, 1024, 1024]),
            // One row is larger than `CHUNK`, and is divided as well.
            (&[3, 64, 1024, 1024], 4, &[1, 16, 1024, 1024]),
            // A prime number of small rows: one chunk.
            (&[1_000_003, 100], 4, &[1_000_003, 100]),
            // A prime number of small rows, which is too large for one chunk.
            (&[1_000_003, 1000], 4, &[1, 1000]),
            (&[2, 1 << 23], 8, &[1, 1 << 23]),
            (&[1 << 62], 1, &[1 << 26]),
            // One long axis: a prime number of elements, a number with large divisors, and a number with divisors that are too small.
            (&[1_610_612_741], 1, &[1_610_612_741]),
            (&[5003 * 1_000_003], 8, &[1_000_003]),
            (&[40_009 * 40_013], 1, &[40_009 * 40_013]),
        ];
        for (shape, item, expected) in cases {
            assert_eq!(divided(shape, item).as_deref(), Some(expected), "{shape:?}");
        }
        assert_eq!(divided(&[1 << 62, 8], 1), None);
    }
}
