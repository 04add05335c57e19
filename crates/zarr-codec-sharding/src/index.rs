//! Index of a shard: encoding and location.

use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_codec::{Error, InnerChunkIndex, Pipeline, Scratch, View, ViewMut};
use zarr_grid::{Region, Shape};

/// Number of bytes of an entry: offset and length as u64 (sharding codec 1.0, section "Binary shard format").
const ENTRY: usize = 16;

/// End of the shard at which the index is located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Start,
    End,
}

/// Encoding and location of indexes.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) codecs: Arc<Pipeline>,
    /// Codecs to try if `codecs` find no valid index: writers of early 2023 did not state whether they add a checksum. `None` for other
    /// writers.
    pub(crate) without_checksum: Option<Arc<Pipeline>>,
    pub(crate) location: Location,
    pub(crate) max_size: u64,
}

impl Index {
    /// Returns the number of bytes of the encoded index of `grid` inner chunks per axis.
    ///
    /// # Errors
    /// [`Error::Limit`] for an index that exceeds the limit for memory.
    pub(crate) fn size(&self, grid: &[u64]) -> Result<u64, Error> {
        let count = zarr_grid::element_count(grid).unwrap_or(u64::MAX);
        let size = count.checked_mul(ENTRY as u64).filter(|&size| size <= self.max_size);
        let size = size.and_then(|_| self.codecs.encoded_size(&shape(grid)).exact());
        size.ok_or(Error::Limit {
            what: "shard index",
            found: count.saturating_mul(ENTRY as u64),
            limit: self.max_size,
        })
    }

    /// Checks that the index of `grid` inner chunks per axis can be encoded.
    ///
    /// # Errors
    /// The same errors as [`Self::size`], and the errors of the codecs of the index.
    pub(crate) fn check(&self, grid: &[u64]) -> Result<(), Error> {
        self.size(grid)?;
        self.codecs.check(&shape(grid)).map_err(|error| error.under("/configuration/index_codecs"))
    }

    /// Returns the range of the bytes of a shard that are its index of `size` bytes.
    pub(crate) fn range(&self, size: u64) -> ByteRange {
        match self.location {
            Location::Start => ByteRange::Range(0..size),
            Location::End => ByteRange::Suffix(size),
        }
    }

    /// Decodes the index of the shard `shard`, and checks that all entries lie in the shard.
    pub(crate) fn find(&self, shard: &[u8], grid: &[u64]) -> Result<InnerChunkIndex, Error> {
        let size = self.size(grid)?;
        let whole = self.range(size).resolve(shard.len() as u64);
        let bytes = whole.and_then(|range| shard.get(range.start as usize..range.end as usize)).ok_or_else(|| {
            Error::ShardIndex { what: format!("{size} bytes, more than the shard of {} bytes", shard.len()) }
        })?;
        let index = self.decode(bytes, grid)?;
        for entry in index.iter() {
            if let Some(range) = entry? {
                part(shard, &range)?;
            }
        }
        Ok(index)
    }

    /// Decodes an index from its bytes, read from [`range`](Self::range).
    pub(crate) fn decode(&self, bytes: &[u8], grid: &[u64]) -> Result<InnerChunkIndex, Error> {
        let entries = decode(&self.codecs, bytes, grid).or_else(|error| {
            let Some(plain) = &self.without_checksum else { return Err(error) };
            let size = plain.encoded_size(&shape(grid)).exact().and_then(|size| usize::try_from(size).ok());
            let cut = size.and_then(|size| match self.location {
                Location::Start => bytes.get(..size),
                Location::End => bytes.get(bytes.len().checked_sub(size)?..),
            });
            cut.map_or(Err(error), |bytes| decode(plain, bytes, grid))
        })?;
        InnerChunkIndex::new(Shape::from_slice(grid), entries)
    }

    /// Appends the encoded index to `out`.
    pub(crate) fn encode(&self, entries: &[(u64, u64)], grid: &[u64], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut plain = Scratch::empty();
        for (offset, len) in entries {
            plain.extend_from_slice(&offset.to_ne_bytes());
            plain.extend_from_slice(&len.to_ne_bytes());
        }
        self.codecs.encode(&View::new(&plain, 8, &dims(grid))?, out)
    }
}

/// Returns the bytes of an inner chunk.
pub(crate) fn part<'s>(shard: &'s [u8], range: &Range<u64>) -> Result<&'s [u8], Error> {
    let bytes = shard.get(range.start as usize..range.end as usize);
    bytes.ok_or_else(|| Error::ShardIndex { what: format!("bytes {range:?} of a shard of {} bytes", shard.len()) })
}

fn decode(codecs: &Pipeline, bytes: &[u8], grid: &[u64]) -> Result<Vec<(u64, u64)>, Error> {
    let dims = dims(grid);
    let mut scratch = Scratch::take();
    let plain = scratch.sized(dims.iter().product::<usize>() * 8)?;
    let shape = shape(grid);
    codecs.decode(bytes, &shape, &Region::whole(&shape), &mut ViewMut::new(plain, 8, &dims)?).map_err(|error| {
        match error {
            // Bytes that are too short or mangled are a broken index.
            Error::Truncated { .. } | Error::CutOff { .. } | Error::TooLong { .. } | Error::Corrupt { .. } => {
                Error::ShardIndex { what: error.to_string() }
            }
            // The codec is none of the array's.
            Error::Checksum { found, stored, .. } => Error::IndexChecksum { size: bytes.len() as u64, found, stored },
            error => error,
        }
    })?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    let entry = |entry: &[u8; ENTRY]| {
        let (offset, len) = entry.split_at(ENTRY / 2);
        (word(offset), word(len))
    };
    Ok(plain.as_chunks::<ENTRY>().0.iter().map(entry).collect())
}

fn shape(grid: &[u64]) -> Shape {
    grid.iter().copied().chain([2]).collect()
}

fn dims(grid: &[u64]) -> Vec<usize> {
    // Grids whose index exceeds the limit are refused by `size`, so no length is cut here.
    grid.iter().map(|&len| len as usize).chain([2]).collect()
}
