//! A block of elements of an array, on which codecs and the information of bits are measured.

use crate::bench::{BenchOptions, CodecBench};
use std::sync::Arc;
use std::time::Duration;
use zarr_array::{Array, ArrayData, ErrorKind, NewArray, Registry, Result, Store, json::Value};
use zarr_grid::{Region, total_size};
use zarr_json::NamedConfig;
use zarr_store::MemoryStore;

/// Maximum ratio of the block to the wanted number of bytes, before the block is cut along its longest axis.
const LARGER: u64 = 4;

/// Maximum number of chunks that a block meets, each of which is a request.
const MOST_CHUNKS: u64 = 1024;

/// Maximum number of chunks into which a block is divided to be measured; a part of them is.
const MOST_PARTS: u64 = 4096;

/// Maximum number of places at which a block is looked for that has other elements than fill values.
const PLACES: usize = 8;

/// Returns items in the middles of equal parts of a list, at most eight.
pub(crate) fn spread<T>(items: &[T]) -> impl Iterator<Item = &T> {
    let count = items.len().min(PLACES);
    (0..count).filter_map(move |number| items.get((2 * number + 1) * items.len() / (2 * count)))
}

/// Block of elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) data: ArrayData,
    data_type: String,
    fill: Option<Value>,
    registry: Arc<Registry>,
}

/// Size and speed of codecs for chunks of one shape, on one thread.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Codecs as [`zarr_codec::CodecList::parse`] takes them.
    pub codecs: String,
    /// Codecs of a chunk in the vocabulary of Zarr v3.
    pub configs: Vec<NamedConfig>,
    /// Ratio of the bytes of the elements to the stored bytes.
    pub ratio: f64,
    /// Bytes of elements that are encoded per second.
    pub encode: f64,
    /// Bytes of elements that are decoded per second.
    pub decode: f64,
    /// Whether decoding returns the same elements.
    pub is_lossless: bool,
}

/// Text of a data type, as [`NewArray::new`] takes it.
pub(crate) fn data_type_text(array: &Array) -> String {
    match array.metadata().data_type.short_value() {
        Value::String(name) => name,
        value => value.to_string(),
    }
}

impl Sample {
    /// Reads a block of about `bytes` bytes from where chunks are stored. `stored` are the indices of stored chunks; empty if they are not
    /// known. `None` if the array has no elements, or if all blocks that were tried have fill values only.
    pub(crate) fn of(array: &Array, stored: &[Vec<u64>], bytes: u64) -> Result<Option<Self>> {
        let shape = array.shape();
        if shape.contains(&0) {
            return Ok(None);
        }
        let part = array.part_shape();
        let item = (array.data_type().item_size() as u64).max(1);
        let block = block(shape, &part, bytes / item);
        let whole = Region::whole(shape);
        let count = if stored.is_empty() { PLACES } else { stored.len() };
        for number in 0..count {
            let at = (2 * number + 1) as f64 / (2 * count) as f64;
            let index = stored.get(number);
            let chunk = index.and_then(|index| array.chunk_grid().chunk_region(index).overlap(&whole));
            let ranges = shape.iter().zip(&block).enumerate().map(|(axis, (&len, &wanted))| {
                let start = match chunk.as_ref().and_then(|chunk| chunk.axes().get(axis)) {
                    Some(range) => range.start,
                    None => {
                        let unit = part.get(axis).copied().unwrap_or(1).max(1);
                        (at * len as f64) as u64 / unit * unit
                    }
                };
                let start = start.min(len.saturating_sub(wanted));
                start..start + wanted.min(len - start)
            });
            let data = array.read_data(Region::from_ranges(&ranges.collect::<Vec<_>>()))?;
            if !array.fill_value().is_all_of(data.items(), data.heap().map(|heap| &**heap)) {
                let fill = array.metadata().fill_value.clone();
                let (data_type, registry) = (data_type_text(array), Arc::clone(array.registry()));
                return Ok(Some(Self { data, data_type, fill, registry }));
            }
        }
        Ok(None)
    }

    /// Creates an array in memory for elements of the sample.
    fn array(&self, shape: &[u64], chunk: &[u64]) -> Result<Array> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(shape, self.data_type.as_str()).chunks(chunk).codecs("none")?;
        let new = match &self.fill {
            Some(fill) => new.fill(fill.clone()),
            None => new,
        };
        Array::create(&store, "/", new, &self.registry)
    }

    /// Measures codecs for chunks of a shape, which is cut where the sample is shorter. Codecs that the data type cannot have are left out.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if none of the codecs could be measured.
    pub(crate) fn measure(&self, chunk: &[u64], codecs: &[String], time: Duration) -> Result<Vec<Measured>> {
        let shape = self.data.shape();
        let chunk: Vec<u64> = chunk.iter().zip(shape).map(|(&chunk, &len)| chunk.clamp(1, len.max(1))).collect();
        let mut shape = shape.to_vec();
        loop {
            let counts: Vec<u64> = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
            if counts.iter().fold(1_u64, |all, &count| all.saturating_mul(count)) <= MOST_PARTS {
                break;
            }
            let Some(axis) = (0..counts.len()).max_by_key(|&axis| counts.get(axis)) else { break };
            let half = counts.get(axis).map_or(1, |count| count.div_ceil(2));
            let part = chunk.get(axis).copied().unwrap_or(1);
            shape.get_mut(axis).into_iter().for_each(|len| *len = (*len).min(half * part));
        }
        let array = self.array(&shape, &chunk)?;
        match shape == self.data.shape() {
            true => array.write(.., &self.data)?,
            false => {
                let whole = self.array(self.data.shape(), self.data.shape())?;
                whole.write(.., &self.data)?;
                array.write(.., &whole.read_data(Region::whole(&shape))?)?;
            }
        }
        let options = BenchOptions::default().sample(u64::MAX).time(time);
        let bench = CodecBench::of(&array, codecs, &options)?;
        let measured = bench.codecs.into_iter().filter_map(|result| {
            let found = result.measured.ok()?;
            Some(Measured {
                codecs: result.name?,
                configs: result.codecs,
                ratio: found.ratio,
                encode: found.encode,
                decode: found.decode,
                is_lossless: found.is_lossless,
            })
        });
        let measured: Vec<Measured> = measured.collect();
        if measured.is_empty() {
            let message = format!("none of the codecs {} fits the data type", codecs.join(", "));
            return Err(zarr_array::Error::new(ErrorKind::Argument, message));
        }
        Ok(measured)
    }
}

/// Shape of a block of about `elements` elements: the chunk, grown along the axes of which it has the smallest share, or cut along its
/// longest axis if it is much larger.
fn block(shape: &[u64], chunk: &[u64], elements: u64) -> Vec<u64> {
    let mut block: Vec<u64> = chunk.iter().zip(shape).map(|(&chunk, &len)| chunk.clamp(1, len.max(1))).collect();
    let elements = u128::from(elements.max(1));
    while total_size(&block, 1) > elements * u128::from(LARGER) {
        let Some(longest) = block.iter_mut().max() else { break };
        *longest = longest.div_ceil(2);
    }
    let chunks = |block: &[u64]| {
        let counts = block.iter().zip(chunk).map(|(block, chunk)| block.div_ceil((*chunk).max(1)));
        counts.fold(1_u64, u64::saturating_mul)
    };
    while total_size(&block, 1) * 2 <= elements && chunks(&block) * 2 <= MOST_CHUNKS {
        let share = |(_, (block, len)): &(usize, (&u64, &u64))| **block as f64 / **len as f64;
        let can_grow = block.iter().zip(shape).enumerate().filter(|(_, (block, len))| block < len);
        let Some((axis, (_, &len))) = can_grow.min_by(|a, b| share(a).total_cmp(&share(b))) else { break };
        block.get_mut(axis).into_iter().for_each(|block| *block = block.saturating_mul(2).min(len));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_evenly_and_are_cut() {
        assert_eq!(block(&[1000, 100, 100], &[1, 100, 100], 40_000), [4, 100, 100]);
        assert_eq!(block(&[1000, 1000], &[10, 10], 10_000), [80, 80]);
        assert_eq!(block(&[10, 10], &[10, 10], 10_000), [10, 10]);
        assert_eq!(block(&[1 << 40], &[1 << 40], 1 << 20), [1 << 22]);
        assert_eq!(block(&[], &[], 10), [0_u64; 0]);
        // Small chunks are few.
        assert_eq!(block(&[1 << 30], &[4], 1 << 22), [4096]);
        assert_eq!(block(&[3, 5], &[100, 2], 0), [2, 2]);
    }
}
