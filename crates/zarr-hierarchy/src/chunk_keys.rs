//! Keys of the chunks of an array in a store, without regard to codecs and data type.

use crate::{Error, ErrorKind, Result};
use zarr_grid::{ChunkGrid, ChunkIndex, ChunkKeyEncoding, Separator};
use zarr_meta::StoredNode;
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Location of chunks of an array: the prefix and the form of their keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkLocation {
    /// Prefix of all chunk keys.
    pub prefix: String,
    /// Encoding of the index of a chunk as the rest of the key.
    pub keys: ChunkKeyEncoding,
}

/// Returns the locations where chunks of the array may be stored besides the location that the metadata implies, whose prefix is `prefix`.
/// `rank` is the number of dimensions.
///
/// # Errors
/// [`ErrorKind::UnknownExtension`] or [`ErrorKind::InvalidMetadata`] for a chunk key encoding that is not known or is broken.
pub fn other_locations(found: &StoredNode, prefix: &str, rank: usize) -> Result<Vec<ChunkLocation>> {
    let mut others = Vec::new();
    if found.separator_unmarked && rank > 1 {
        others.push(ChunkLocation {
            prefix: prefix.to_owned(),
            keys: ChunkKeyEncoding::V2 { separator: Separator::Slash },
        });
    }
    for other in &found.fallback_keys {
        let keys = ChunkKeyEncoding::from_config(&other.encoding)
            .map_err(|error| Error::in_metadata("/chunk_key_encoding", error))?;
        others.push(ChunkLocation { prefix: other.prefix.clone(), keys });
    }
    Ok(others)
}

impl ChunkLocation {
    fn key(&self, chunk: &[u64]) -> Result<Key> {
        let mut text = self.prefix.clone();
        self.keys.write_key(chunk, &mut text);
        Ok(Key::new(&text)?)
    }
}

/// Keys of the chunks of an array: converts the index of a chunk to its key, and back.
#[derive(Debug)]
pub struct ChunkKeys {
    grid: ChunkGrid,
    /// Location that the metadata implies, followed by the alternative locations.
    locations: Vec<ChunkLocation>,
}

impl ChunkKeys {
    /// Returns the chunk keys of the array `found`, as its metadata determines them.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a group; [`ErrorKind::InvalidMetadata`] for a broken chunk grid or chunk key encoding.
    pub fn new(found: &StoredNode) -> Result<Self> {
        let Some(array) = found.node.as_array() else {
            return Err(Error::new(ErrorKind::NotFound, "found a group, expected an array"));
        };
        let invalid = |error: zarr_grid::Error| Error::from(error).with_kind(ErrorKind::InvalidMetadata);
        let keys = ChunkKeyEncoding::from_config(&array.chunk_key_encoding).map_err(invalid)?;
        let prefix = found.chunk_prefix();
        let others = other_locations(found, &prefix, array.shape.len())?;
        Ok(Self {
            grid: ChunkGrid::from_config(&array.chunk_grid, &array.shape).map_err(invalid)?,
            locations: std::iter::once(ChunkLocation { prefix, keys }).chain(others).collect(),
        })
    }

    /// Returns the chunk grid of the array.
    pub fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// Returns the key of the chunk at index `chunk` in the location that the metadata implies.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] if the key is not safe.
    pub fn key(&self, chunk: &[u64]) -> Result<Key> {
        match self.locations.first() {
            Some(location) => location.key(chunk),
            None => Err(Error::internal("an array has no prefix for its chunks")),
        }
    }

    /// Iterates over the keys that the chunk at index `chunk` may have, one per location. The chunk is stored under the first key that
    /// exists.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] for a key that is not safe.
    pub fn keys_of<'k>(&'k self, chunk: &'k [u64]) -> impl Iterator<Item = Result<Key>> + 'k {
        self.locations.iter().map(|location| location.key(chunk))
    }

    /// Iterates over the prefixes of chunk keys, one per location.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.locations.iter().map(|location| location.prefix.as_str())
    }

    /// Returns the index of the chunk whose key in one of the locations is `key`; `None` for other keys.
    pub fn chunk_at(&self, key: &Key) -> Option<ChunkIndex> {
        let chunk = |location: &ChunkLocation| {
            let rest = key.as_str().strip_prefix(location.prefix.as_str())?;
            location.keys.parse_key(rest, self.grid.rank()).filter(|chunk| self.grid.check_index(chunk).is_ok())
        };
        self.locations.iter().find_map(chunk)
    }

    /// Whether `key` has the form of a chunk key of any location, even of a chunk outside of the grid: the array may have been larger
    /// before.
    pub fn has_form(&self, key: &Key) -> bool {
        self.locations.iter().any(|location| {
            let rest = key.as_str().strip_prefix(location.prefix.as_str());
            rest.is_some_and(|rest| location.keys.parse_key(rest, self.grid.rank()).is_some())
        })
    }

    /// Returns the keys and indices of the stored chunks, sorted by index; each key is that of the first location that has the chunk. A
    /// store that cannot list is asked for each chunk of the grid.
    ///
    /// # Errors
    /// [`ErrorKind::Store`]; [`ErrorKind::Argument`] if the store cannot list and there are too many chunks to ask for each.
    pub fn stored(&self, store: &dyn Store) -> Result<Vec<(Key, ChunkIndex)>> {
        self.stored_within(store, &zarr_grid::Region::whole(self.grid.shape()))
    }

    /// Returns the keys and indices of the stored chunks that have elements of `region`, sorted by index. A store that cannot list is asked
    /// for each chunk that the region touches.
    ///
    /// # Errors
    /// The errors of [`stored`](Self::stored).
    pub fn stored_within(&self, store: &dyn Store, region: &zarr_grid::Region) -> Result<Vec<(Key, ChunkIndex)>> {
        if !store.capabilities().list {
            return self.probed(store, region);
        }
        let is_whole = region.is_whole(self.grid.shape());
        let is_met = |chunk: &ChunkIndex| is_whole || !region.numbers_in(&self.grid.chunk_region(chunk)).is_empty();
        let mut stored = Vec::new();
        for location in &self.locations {
            for key in store.list_prefix(&Prefix::new(&location.prefix)?)? {
                let rest = key.as_str().strip_prefix(location.prefix.as_str());
                let chunk = rest.and_then(|rest| location.keys.parse_key(rest, self.grid.rank()));
                if let Some(chunk) = chunk.filter(|chunk| self.grid.check_index(chunk).is_ok() && is_met(chunk)) {
                    stored.push((key, chunk));
                }
            }
        }
        stored.sort_by(|(_, a), (_, b)| a.cmp(b));
        stored.dedup_by(|(_, next), (_, first)| next == first);
        Ok(stored)
    }

    /// Finds the stored chunks of `region` in a store that cannot list, by asking for each key.
    fn probed(&self, store: &dyn Store, region: &zarr_grid::Region) -> Result<Vec<(Key, ChunkIndex)>> {
        const MOST: u64 = 1 << 24;
        let overlaps = self.grid.intersect(region);
        if overlaps.len() > MOST {
            let message =
                format!("{} chunks, and a store that cannot list: at most {MOST} are asked for", overlaps.len());
            return Err(Error::argument(message));
        }
        let mut stored = Vec::new();
        for overlap in overlaps.iter() {
            for key in self.keys_of(&overlap.index) {
                let key = key?;
                if store.size(&key)?.is_some() {
                    stored.push((key, overlap.index.clone()));
                    break;
                }
            }
        }
        Ok(stored)
    }
}
