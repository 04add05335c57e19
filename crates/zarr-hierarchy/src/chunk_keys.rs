//! The chunks of an array as keys of a store, without regard to codecs and data type.

use crate::{Error, ErrorKind, Result};
use zarr_grid::{ChunkGrid, ChunkIndex, ChunkKeyEncoding, Separator};
use zarr_meta::StoredNode;
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Where chunks may lie, and under which keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkLocation {
    /// The beginning of all chunk keys.
    pub prefix: String,
    /// How the rest of a key is made of the index of a chunk.
    pub keys: ChunkKeyEncoding,
}

/// Where chunks may lie beside the location that the metadata implies, which is below `prefix`.
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

/// The keys of the chunks of an array: from the index of a chunk to its key, and back.
#[derive(Debug)]
pub struct ChunkKeys {
    grid: ChunkGrid,
    /// Where the metadata implies that they lie, and then where they may lie instead.
    locations: Vec<ChunkLocation>,
}

impl ChunkKeys {
    /// The keys of an array, as its metadata says.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a group; [`ErrorKind::InvalidMetadata`] for a chunk grid or chunk key encoding that is broken.
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

    /// The chunk grid.
    pub fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// The key of a chunk at the location that the metadata implies.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] if the key is not safe.
    pub fn key(&self, chunk: &[u64]) -> Result<Key> {
        match self.locations.first() {
            Some(location) => location.key(chunk),
            None => Err(Error::internal("an array has no prefix for its chunks")),
        }
    }

    /// The keys that a chunk may have, one at each location: it is stored under the first of these that is there.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] for a key that is not safe.
    pub fn keys_of<'k>(&'k self, chunk: &'k [u64]) -> impl Iterator<Item = Result<Key>> + 'k {
        self.locations.iter().map(|location| location.key(chunk))
    }

    /// The prefix of the keys of chunks at each location.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.locations.iter().map(|location| location.prefix.as_str())
    }

    /// The chunk that has this key at one of the locations; `None` for other keys.
    pub fn chunk_at(&self, key: &Key) -> Option<ChunkIndex> {
        let chunk = |location: &ChunkLocation| {
            let rest = key.as_str().strip_prefix(location.prefix.as_str())?;
            location.keys.parse_key(rest, self.grid.rank()).filter(|chunk| self.grid.check_index(chunk).is_ok())
        };
        self.locations.iter().find_map(chunk)
    }

    /// Whether a key has the form of chunk keys, be the chunk in the grid or not: a smaller array may have been larger.
    pub fn has_form(&self, key: &Key) -> bool {
        self.locations.iter().any(|location| {
            let rest = key.as_str().strip_prefix(location.prefix.as_str());
            rest.is_some_and(|rest| location.keys.parse_key(rest, self.grid.rank()).is_some())
        })
    }

    /// The chunks that are stored, each with the key of the first location that has it; all there could be if the store
    /// cannot list.
    ///
    /// # Errors
    /// [`ErrorKind::Store`]; [`ErrorKind::Argument`] if the store cannot list and there are too many chunks to ask for each.
    pub fn stored(&self, store: &dyn Store) -> Result<Vec<(Key, ChunkIndex)>> {
        self.stored_within(store, &zarr_grid::Region::whole(self.grid.shape()))
    }

    /// As [`stored`](Self::stored), those chunks alone that have elements of a region.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
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

    /// As [`stored`](Self::stored) where the store cannot list: asks for each key.
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
