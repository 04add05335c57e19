//! The chunks of an array as keys of a store, without regard to codecs and data type.

use crate::core::{Place, other_places};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use zarr_grid::{ChunkGrid, ChunkIndex, ChunkKeyEncoding};
use zarr_meta::Found;
use zarr_store::{Key, Prefix, Store};

impl Place {
    fn key(&self, chunk: &[u64]) -> Result<Key> {
        let mut text = self.prefix.clone();
        self.keys.write_key(chunk, &mut text);
        Ok(Key::new(&text)?)
    }
}

/// Where the chunks of an array lie.
#[derive(Debug)]
pub(crate) struct Keys {
    grid: ChunkGrid,
    /// Where the metadata implies that they lie, and then where they may lie instead.
    places: Vec<Place>,
}

impl Keys {
    pub(crate) fn new(found: &Found) -> Result<Self> {
        let Some(array) = found.node.as_array() else {
            return Err(Error::new(ErrorKind::NotFound, "found a group, expected an array"));
        };
        let invalid = |error: zarr_grid::Error| Error::from(error).with_kind(ErrorKind::InvalidMetadata);
        let keys = ChunkKeyEncoding::from_config(&array.chunk_key_encoding).map_err(invalid)?;
        let prefix = found.chunk_prefix();
        let others = other_places(found, &prefix, array.shape.len())?;
        Ok(Self {
            grid: ChunkGrid::from_config(&array.chunk_grid, &array.shape).map_err(invalid)?,
            places: std::iter::once(Place { prefix, keys }).chain(others).collect(),
        })
    }

    pub(crate) fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// The key of a chunk at the place that the metadata implies.
    pub(crate) fn key(&self, chunk: &[u64]) -> Result<Key> {
        match self.places.first() {
            Some(place) => place.key(chunk),
            None => Err(Error::internal("an array has no prefix for its chunks")),
        }
    }

    /// What the keys of chunks begin with at each place.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.prefix.as_str())
    }

    /// The chunk that has this key at one of the places; `None` for other keys.
    pub(crate) fn chunk_at(&self, key: &Key) -> Option<ChunkIndex> {
        let chunk = |place: &Place| {
            let rest = key.as_str().strip_prefix(place.prefix.as_str())?;
            place.keys.parse_key(rest, self.grid.rank()).filter(|chunk| self.grid.check_index(chunk).is_ok())
        };
        self.places.iter().find_map(chunk)
    }

    /// Whether a key has the form of those of chunks, be the chunk in the grid or not: a smaller array may have been larger.
    pub(crate) fn has_form(&self, key: &Key) -> bool {
        self.places.iter().any(|place| {
            let rest = key.as_str().strip_prefix(place.prefix.as_str());
            rest.is_some_and(|rest| place.keys.parse_key(rest, self.grid.rank()).is_some())
        })
    }

    /// The chunks that are stored, each with the key of the first place that has it; all there could be if the store
    /// cannot list.
    pub(crate) fn stored(&self, store: &dyn Store) -> Result<Vec<(Key, ChunkIndex)>> {
        if !store.capabilities().list {
            return self.probed(store);
        }
        let mut stored = BTreeMap::new();
        for place in &self.places {
            for key in store.list_prefix(&Prefix::new(&place.prefix)?)? {
                let rest = key.as_str().strip_prefix(place.prefix.as_str());
                let chunk = rest.and_then(|rest| place.keys.parse_key(rest, self.grid.rank()));
                if let Some(chunk) = chunk.filter(|chunk| self.grid.check_index(chunk).is_ok()) {
                    stored.entry(chunk).or_insert(key);
                }
            }
        }
        Ok(stored.into_iter().map(|(chunk, key)| (key, chunk)).collect())
    }

    /// As [`stored`](Self::stored) where the store cannot list: asks for each key.
    fn probed(&self, store: &dyn Store) -> Result<Vec<(Key, ChunkIndex)>> {
        const MOST: u64 = 1 << 24;
        let cuts = self.grid.meet(&zarr_grid::Region::whole(self.grid.shape()));
        if cuts.len() > MOST {
            let message = format!("{} chunks, and a store that cannot list: at most {MOST} are asked for", cuts.len());
            return Err(Error::argument(message));
        }
        let mut stored = Vec::new();
        for cell in cuts.iter() {
            for place in &self.places {
                let key = place.key(&cell.index)?;
                if store.size(&key)?.is_some() {
                    stored.push((key, cell.index.clone()));
                    break;
                }
            }
        }
        Ok(stored)
    }
}
