//! Keys of chunks: the key of a chunk, the chunks of listed keys, and the prefix under which the chunks of an array lie if there are
//! several candidates.

use crate::Result;
use crate::core::ArrayCore;
use zarr_grid::{ChunkIndex, ChunkKeyEncoding};
use zarr_store::{Key, Listing};

/// Notes that chunks lie below `prefix` if `listing`, a listing of `prefix`, has keys of chunks or their directories.
pub(crate) fn note_listed(core: &ArrayCore, prefix: &str, listing: &Listing) {
    let rank = core.grid.rank();
    let shows = |keys: &ChunkKeyEncoding| {
        // Whether the key of some chunk begins with a directory of this name.
        let is_directory = |name: &str| {
            let digits = name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            let mut index = vec![0; rank];
            if let Some(first) = index.first_mut() {
                *first = digits.parse().unwrap_or(0);
            }
            let mut key = String::new();
            keys.write_key(&index, &mut key);
            key.split_once('/').is_some_and(|(first, _)| first == name)
        };
        listing.keys.iter().any(|key| keys.parse_key(key.name(), rank).is_some())
            || listing.prefixes.iter().any(|prefix| prefix.name().is_some_and(is_directory))
    };
    let found = core.locations().find(|(_, found, keys)| *found == prefix && shows(keys)).map(|(number, ..)| number);
    if let Some(number) = found {
        core.note_location(number);
    }
}

/// Returns the prefixes to list in order to find the location of the chunks; none if the location is known.
pub(crate) fn possible_prefixes(core: &ArrayCore) -> Vec<String> {
    let mut prefixes: Vec<_> = core.locations().map(|(_, prefix, _)| prefix.to_owned()).collect();
    prefixes.dedup();
    if core.is_location_unknown() { prefixes } else { Vec::new() }
}

/// Returns the key of a chunk; an error if the chunk is not in the grid.
pub(crate) fn chunk_key(core: &ArrayCore, chunk: &[u64]) -> Result<Key> {
    core.grid.check_index(chunk).map_err(|error| core.locate(error.into()))?;
    core.key(chunk).map_err(|error| core.locate(error))
}

/// Returns the chunks among `keys`, with their keys, inside or outside of the grid.
pub(crate) fn parse_all(core: &ArrayCore, keys: Vec<Key>) -> Vec<(ChunkIndex, Key)> {
    let rank = core.grid.rank();
    let parse = |key: Key| {
        let index =
            core.locations().find_map(|(_, prefix, keys)| keys.parse_key(key.as_str().strip_prefix(prefix)?, rank))?;
        Some((index, key))
    };
    keys.into_iter().filter_map(parse).collect()
}

/// Returns the chunks of the grid among `keys`, with their keys.
pub(crate) fn parse_in_grid(core: &ArrayCore, keys: Vec<Key>) -> Vec<(ChunkIndex, Key)> {
    let parse = |key: Key| Some((core.parse_key(key.as_str())?, key));
    keys.into_iter().filter_map(parse).collect()
}
