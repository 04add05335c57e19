//! Locations of the chunks of a data set in the file.

use std::sync::atomic::{AtomicU64, Ordering};

use hdf5_reader::btree_v1::{BTreeV1Key, collect_btree_v1_leaves_storage};
use hdf5_reader::chunk_index::{
    ChunkEntry, collect_implicit_chunk_entries, collect_v2_chunk_entries_storage, single_chunk_entry,
};
use hdf5_reader::extensible_array::collect_extensible_array_chunk_entries_storage;
use hdf5_reader::fixed_array::collect_fixed_array_chunk_entries_storage;
use hdf5_reader::messages::dataspace::UNLIMITED;
use hdf5_reader::messages::layout::{ChunkIndexing, DataLayout};

use crate::chunk_indexes::entry_of_btree_v1;
use crate::fault::Refusal;
use crate::file::File;

/// Chunk grid and stored chunks of a data set.
pub(crate) struct Chunks {
    pub(crate) shape: Vec<u64>,
    /// Number of chunks along each axis.
    pub(crate) counts: Vec<u64>,
    pub(crate) places: StoredChunks,
    /// Number of entries of the chunk index, including entries outside the shape of the data set; 0 if the data set has no chunk index.
    pub(crate) listed: usize,
}

/// Stored chunks of a data set.
pub(crate) enum StoredChunks {
    /// Compact data: all elements of the data set, which the object header stores.
    Inline(Vec<u8>),
    /// Chunks that are ranges of the file, in ascending order of `index`.
    At(Vec<Place>),
}

/// Location of a chunk in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Position of the chunk in the chunk grid, counted in C order.
    pub(crate) index: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Filters that the chunk skips, as a bit mask.
    pub(crate) mask: u32,
}

/// Maximum number of chunks in the chunk grid.
const MAX_COUNT: u64 = 1 << 40;

impl Chunks {
    /// Reads the chunk index of a data set of `shape`, with the maximum shape `most`, whose elements have `size` bytes. `shown` is the
    /// shape of the Zarr array, which may be larger than `shape`. If `leaves_edges`, chunks that extend beyond `shape` skip all filters.
    /// Contiguous data is divided into chunks of about `part` bytes.
    pub(crate) fn new(
        file: &File,
        layout: &DataLayout,
        (shape, most): (&[u64], Option<&[u64]>),
        shown: &[u64],
        size: usize,
        (is_filtered, leaves_edges): (bool, bool),
        part: u64,
    ) -> Result<Self, Refusal> {
        let size = size as u64;
        let too_large =
            || Refusal::new(format!("found the shape {shape:?} of elements of {size} bytes, which is too large"));
        let bytes = |shape: &[u64]| shape.iter().try_fold(size, |bytes, len| bytes.checked_mul(*len));
        let whole: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
        match layout {
            DataLayout::Compact { data } => {
                let len = usize::try_from(bytes(shape).ok_or_else(too_large)?).unwrap_or(usize::MAX);
                let data = data
                    .get(..len)
                    .ok_or_else(|| Refusal::new(format!("found {} bytes in the header, expected {len}", data.len())))?;
                let counts: Vec<u64> = shape.iter().map(|len| u64::from(*len > 0)).collect();
                let places = if len == 0 { StoredChunks::At(Vec::new()) } else { StoredChunks::Inline(data.to_vec()) };
                Ok(Self { shape: whole, counts, places, listed: 0 })
            }
            DataLayout::Contiguous { address, size: found } => {
                let total = bytes(shape).ok_or_else(too_large)?;
                let is_stored = !file.is_undefined(*address) && total > 0;
                if is_stored && *found < total {
                    return Err(Refusal::new(format!("found {found} bytes for its elements, expected {total}")));
                }
                let len = file.storage().len();
                if is_stored && address.checked_add(total).is_none_or(|end| end > len) {
                    return Err(Refusal::new(format!(
                        "found {total} bytes at byte {address} for its elements, the file has {len}"
                    )));
                }
                let shape_of_chunks = if is_stored { divided(shape, size, part, &file.tries) } else { whole };
                let counts = counts(shape, &shape_of_chunks);
                let step = bytes(&shape_of_chunks).ok_or_else(too_large)?;
                let number = if is_stored { total / step } else { 0 };
                let place = |index: u64| Place { index, offset: address + index * step, size: step, mask: 0 };
                Ok(Self {
                    shape: shape_of_chunks,
                    counts,
                    places: StoredChunks::At((0..number).map(place).collect()),
                    listed: 0,
                })
            }
            DataLayout::Chunked { address, dims, chunk_indexing, .. } => {
                // Newer versions list the size of elements as one more dimension.
                let dims = match dims.len() {
                    len if len == shape.len() + 1 => &dims[..shape.len()],
                    _ => &dims[..],
                };
                if dims.len() != shape.len() || dims.contains(&0) {
                    return Err(Refusal::new(format!(
                        "found chunks of shape {dims:?}, expected {} lengths above 0",
                        shape.len()
                    )));
                }
                let chunk: Vec<u64> = dims.iter().map(|len| u64::from(*len)).collect();
                let counts = counts(shown, &chunk);
                let count = counts.iter().try_fold(1_u64, |count, along| count.checked_mul(*along));
                let count = count.filter(|count| *count <= MAX_COUNT).ok_or_else(too_large)?;
                let full = bytes(&chunk).ok_or_else(too_large)?;
                let (mut places, mut listed) = (Vec::new(), 0);
                if count > 0 && !file.is_undefined(*address) {
                    for entry in entries(file, *address, chunk_indexing.as_ref(), (shape, most), dims, size)? {
                        listed += 1;
                        if file.is_undefined(entry.address) || entry.offsets.len() < shape.len() {
                            continue;
                        }
                        let mut index = Some(0_u64);
                        for ((offset, len), along) in entry.offsets.iter().zip(&chunk).zip(&counts) {
                            let at = Some(offset / len).filter(|at| at < along);
                            index = index.zip(at).map(|(index, at)| index * along + at);
                        }
                        // Chunks behind the ends of a data set that was made smaller are kept in the file.
                        let Some(index) = index else { continue };
                        let size = if is_filtered && entry.size > 0 { entry.size } else { full };
                        let mut ends = entry.offsets.iter().zip(&chunk).zip(shape);
                        let is_cut_off = ends.any(|((offset, len), end)| offset.saturating_add(*len) > *end);
                        let mask = if leaves_edges && is_cut_off { u32::MAX } else { entry.filter_mask };
                        places.push(Place { index, offset: entry.address, size, mask });
                    }
                }
                places.sort_unstable_by_key(|place| place.index);
                Ok(Self { shape: chunk, counts, places: StoredChunks::At(places), listed })
            }
            #[allow(unreachable_patterns, reason = "a later reader may know more layouts")]
            _ => Err(Refusal::new("the layout of its data is not read")),
        }
    }
}

fn counts(shape: &[u64], chunk: &[u64]) -> Vec<u64> {
    shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect()
}

fn entries(
    file: &File,
    address: u64,
    indexing: Option<&ChunkIndexing>,
    (shape, most): (&[u64], Option<&[u64]>),
    dims: &[u32],
    size: u64,
) -> Result<Vec<ChunkEntry>, Refusal> {
    let (offsets, lengths) = (file.offset_size(), file.length_size());
    let storage = &match indexing {
        None => file.metered_as(entry_of_btree_v1(shape.len(), offsets)),
        Some(_) => file.metered(),
    };
    let rank = u32::try_from(shape.len()).unwrap_or(u32::MAX);
    // Indexes of a fixed number of chunks have those of the largest shape.
    let whole: Vec<u64> = match most {
        Some(most) if most.len() == shape.len() => {
            shape.iter().zip(most).map(|(len, most)| if *most == UNLIMITED { *len } else { *most }).collect()
        }
        _ => shape.to_vec(),
    };
    // Entries of this index are made, not read.
    if let Some(ChunkIndexing::Implicit) = indexing {
        let chunks = counts(&whole, &dims.iter().map(|len| u64::from(*len)).collect::<Vec<_>>());
        file.entries.take(chunks.iter().fold(1, |all: u64, along| all.saturating_mul(*along)))?;
    }
    let read = || match indexing {
        None => {
            let leaves = collect_btree_v1_leaves_storage(storage, address, offsets, lengths, Some(rank), dims, None)?;
            let entry = |(key, address): (BTreeV1Key, u64)| match key {
                BTreeV1Key::RawData { chunk_size, filter_mask, offsets } => {
                    Some(ChunkEntry { address, size: chunk_size.into(), filter_mask, offsets })
                }
                BTreeV1Key::Group { .. } => None,
            };
            Ok(leaves.into_iter().filter_map(entry).collect())
        }
        Some(ChunkIndexing::SingleChunk { filtered_size, filters }) => {
            Ok(vec![single_chunk_entry(address, *filtered_size, *filters, shape.len())])
        }
        Some(ChunkIndexing::Implicit) => {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            collect_implicit_chunk_entries(address, &whole, dims, size, None, file.storage().len())
        }
        Some(ChunkIndexing::FixedArray { .. }) => {
            collect_fixed_array_chunk_entries_storage(storage, address, offsets, lengths, &whole, dims, None)
        }
        Some(ChunkIndexing::ExtensibleArray { .. }) => {
            collect_extensible_array_chunk_entries_storage(storage, address, offsets, lengths, shape, most, dims, None)
        }
        Some(ChunkIndexing::BTreeV2) => {
            collect_v2_chunk_entries_storage(storage, address, offsets, lengths, rank, dims, None)
        }
    };
    file.guard(read)
}

/// Maximum number of chunks into which contiguous data is divided.
const MAX_PARTS: u64 = 1 << 16;

/// Returns the shape of the chunks into which contiguous data is divided. Each chunk is one range of elements in C order, no chunk extends
/// beyond `shape`, and a chunk has at most `part` bytes if at most [`MAX_PARTS`] chunks that divide each axis evenly allow it. `tries` is
/// the remaining number of trial divisions; without them an axis is not divided further.
fn divided(shape: &[u64], size: u64, part: u64, tries: &AtomicU64) -> Vec<u64> {
    let mut chunk = shape.to_vec();
    let mut inner = shape.iter().product::<u64>().saturating_mul(size);
    let mut left = MAX_PARTS;
    for (axis, len) in shape.iter().enumerate() {
        if inner <= part {
            break;
        }
        inner /= len;
        let fitting = (part / inner.max(1)).max(1);
        if fitting == 1 && *len <= left {
            chunk[axis] = 1;
            left /= len;
            continue;
        }
        let most = left.min(*len);
        let spend = |tries: u64| tries.checked_sub(most);
        if tries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            break;
        }
        let least = len.div_ceil(fitting);
        let divides = |parts: &u64| len.is_multiple_of(*parts);
        let parts = (least..=most).find(divides).or_else(|| (1..=most.min(least)).rev().find(divides));
        chunk[axis] = len / parts.unwrap_or(1);
        // Later axes may be divided only if chunks have length 1 along this axis.
        if chunk[axis] > 1 {
            break;
        }
        left /= len;
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::MAX_DIVISIONS;

    #[test]
    fn contiguous_elements_are_divided_into_ranges() {
        let divided_by = |tries| move |shape: &[u64], size, part| divided(shape, size, part, &AtomicU64::new(tries));
        let (divided, at_once) = (divided_by(MAX_DIVISIONS), divided_by(9));
        assert_eq!(divided(&[10, 6], 1, 100), [10, 6]);
        assert_eq!(divided(&[10, 6], 1, 30), [5, 6]);
        assert_eq!(divided(&[10, 6], 1, 6), [1, 6]);
        assert_eq!(divided(&[10, 6], 1, 5), [1, 3]);
        assert_eq!(divided(&[7], 8, 16), [1]);
        assert_eq!(divided(&[100_003], 8, 16), [100_003]);
        assert_eq!(divided(&[], 8, 1), [0; 0]);
        // More parts than the limit: fewer and larger ones.
        assert_eq!(divided(&[1 << 20, 2], 1, 2), [16, 2]);
        assert_eq!(divided(&[1 << 20], 1, 2), [16]);
        assert_eq!(divided(&[2, 100_003], 8, 16), [1, 100_003]);
        // Any length costs few divisions, and a file has a bounded number of them.
        assert_eq!(divided(&[1 << 62], 1, 2), [1 << 46]);
        assert_eq!(at_once(&[1 << 62], 1, 2), [1 << 62]);
    }
}
