//! Chunks that skip filters, wrapped so that Zarr codecs can decode them.
//!
//! HDF5 may skip a filter for single chunks that the filter does not make smaller, which Zarr cannot express. Such chunks are wrapped into
//! the uncompressed frame formats of the filters that they skip.

use std::fmt;
use std::sync::Arc;

use hdf5_reader::checksum::fletcher32;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zarr_store::{Bytes, Error, ErrorKind, Result};
use zarr_store_virtual::{MakeChunk, zlib_copy, zlib_copy_size, zstd_copy, zstd_copy_size};

use crate::fault::Fault;
use crate::file::File;
use crate::layout::Place;

const DEFLATE: u16 = 1;
pub(crate) const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const BLOSC: u16 = 32001;
const ZSTD: u16 = 32015;

/// Converter that wraps chunks into the frame formats of the filters that they skip.
pub(crate) struct Wrapper {
    pub(crate) file: Arc<File>,
    /// Path of the data set, for messages.
    pub(crate) path: String,
    pub(crate) places: Vec<Place>,
    pub(crate) filters: Vec<FilterDescription>,
}

/// Returns whether chunks that skip the filters in the bit mask `mask` can be wrapped: after the first skipped filter all filters must be
/// skipped too, except a checksum at the end.
pub(crate) fn is_possible(filters: &[FilterDescription], mask: u32) -> bool {
    let is_skipped = |at: usize| at < 32 && mask & (1 << at) != 0;
    let mut behind = filters.iter().enumerate().skip_while(|(at, _)| !is_skipped(*at));
    behind.all(|(at, filter)| match filter.id {
        DEFLATE | SHUFFLE | BLOSC | ZSTD => is_skipped(at),
        FLETCHER32 => at + 1 == filters.len(),
        _ => false,
    })
}

/// Wraps the chunk `stored` into the frame formats of the filters in `mask`. Returns `None` if its checksum differs or a filter has no
/// frame format.
fn wrapped(filters: &[FilterDescription], mask: u32, stored: &[u8]) -> Option<Vec<u8>> {
    let is_skipped = |at: usize| at < 32 && mask & (1 << at) != 0;
    let has_checksum = filters.last().is_some_and(|last| last.id == FLETCHER32) && !is_skipped(filters.len() - 1);
    let mut bytes = stored.to_vec();
    if has_checksum {
        let (data, checksum) = stored.split_last_chunk::<4>()?;
        if fletcher32(data) != u32::from_le_bytes(*checksum) {
            return None;
        }
        bytes.truncate(data.len());
    }
    for (at, filter) in filters.iter().enumerate() {
        let is_checksum = filter.id == FLETCHER32 && at + 1 == filters.len();
        if !is_skipped(at) && !is_checksum {
            continue;
        }
        bytes = match filter.id {
            DEFLATE => zlib_copy(&bytes),
            SHUFFLE => shuffled(&bytes, filter.client_data.first().copied().unwrap_or(1) as usize),
            FLETCHER32 => [&bytes[..], &fletcher32(&bytes).to_le_bytes()].concat(),
            BLOSC => blosc(&bytes, filter.client_data.get(2).copied().unwrap_or(1))?,
            ZSTD => zstd_copy(&bytes),
            _ => return None,
        };
    }
    Some(bytes)
}

/// Returns the number of bytes of a chunk of `len` stored bytes after [`wrapped`].
fn wrapped_size(filters: &[FilterDescription], mask: u32, len: u64) -> Option<u64> {
    let is_skipped = |at: usize| at < 32 && mask & (1 << at) != 0;
    let has_checksum = filters.last().is_some_and(|last| last.id == FLETCHER32) && !is_skipped(filters.len() - 1);
    let mut size = if has_checksum { len.checked_sub(4)? } else { len };
    for (at, filter) in filters.iter().enumerate() {
        let is_checksum = filter.id == FLETCHER32 && at + 1 == filters.len();
        if is_skipped(at) || is_checksum {
            size = match filter.id {
                DEFLATE => zlib_copy_size(size),
                SHUFFLE => size,
                FLETCHER32 => size + 4,
                BLOSC => size + 16,
                ZSTD => zstd_copy_size(size),
                _ => return None,
            };
        }
    }
    Some(size)
}

/// Returns `bytes` as an uncompressed frame of Blosc 1; `None` if there are too many bytes for the format.
fn blosc(bytes: &[u8], type_size: u32) -> Option<Vec<u8>> {
    let len = u32::try_from(bytes.len()).ok()?;
    let mut out = vec![2, 1, 0x02, type_size.clamp(1, 255) as u8];
    out.extend(len.to_le_bytes());
    out.extend(len.max(1).to_le_bytes());
    out.extend(len.checked_add(16)?.to_le_bytes());
    out.extend_from_slice(bytes);
    Some(out)
}

/// Shuffles `bytes` by elements of `size` bytes: the first bytes of all elements, then the second bytes, and so on. An incomplete element
/// stays at the end.
fn shuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let size = size.max(1);
    if size > bytes.len() {
        return bytes.to_vec();
    }
    let whole = bytes.len() - bytes.len() % size;
    let (elements, rest) = bytes.split_at(whole);
    let of = |at: usize| elements.iter().skip(at).step_by(size).copied();
    (0..size).flat_map(of).chain(rest.iter().copied()).collect()
}

impl MakeChunk for Wrapper {
    fn size(&self, number: u32) -> Result<u64> {
        let place = self.places.get(number as usize);
        match place.and_then(|place| wrapped_size(&self.filters, place.mask, place.size)) {
            Some(size) => Ok(size),
            None => self.make(number).map(|bytes| bytes.len() as u64),
        }
    }

    fn make(&self, number: u32) -> Result<Bytes> {
        let fault = |text: &str| {
            let fault = Fault::new(format!("data set {}, chunk {number}: {text}", self.path));
            Error::Format { store: self.file.source.to_string(), kind: ErrorKind::Invalid, fault: Box::new(fault) }
        };
        let place = self.places.get(number as usize).ok_or_else(|| fault("there is no such chunk"))?;
        let stored = self.file.source.get(place.offset, place.offset.saturating_add(place.size))?;
        let wrapped = wrapped(&self.filters, place.mask, &stored);
        wrapped.map(Bytes::from).ok_or_else(|| fault("its checksum differs, or it skips filters that it cannot"))
    }
}

impl fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wrapper").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(ids: &[u16], data: &[u32]) -> Vec<FilterDescription> {
        let filter = |id: &u16| FilterDescription { id: *id, name: None, client_data: data.to_vec() };
        ids.iter().map(filter).collect()
    }

    #[test]
    fn sizes_are_those_of_the_bytes() {
        for ids in [&[DEFLATE][..], &[SHUFFLE, DEFLATE, FLETCHER32], &[ZSTD], &[BLOSC], &[SHUFFLE, FLETCHER32]] {
            let filters = filters(ids, &[4, 2, 4]);
            for len in [0, 1, 7, 0xffff, 0x10000, 1 << 17, (1 << 17) + 1] {
                let bytes = vec![7; len];
                let size = wrapped(&filters, u32::MAX, &bytes).map(|bytes| bytes.len() as u64);
                assert_eq!(wrapped_size(&filters, u32::MAX, len as u64), size, "{ids:?} {len}");
                let with_checksum = [&bytes[..], &fletcher32(&bytes).to_le_bytes()].concat();
                if ids.ends_with(&[FLETCHER32]) {
                    let mask = (1 << (ids.len() - 1)) - 1;
                    let size = wrapped(&filters, mask, &with_checksum).map(|bytes| bytes.len() as u64);
                    assert!(size.is_some());
                    assert_eq!(wrapped_size(&filters, mask, with_checksum.len() as u64), size, "{ids:?} {len}");
                }
            }
        }
    }

    #[test]
    fn elements_larger_than_a_chunk_are_not_shuffled() {
        assert_eq!(shuffled(&[1, 2, 3], usize::MAX), [1, 2, 3]);
        assert_eq!(shuffled(&[1, 2, 3, 4, 5], 2), [1, 3, 2, 4, 5]);
    }
}
