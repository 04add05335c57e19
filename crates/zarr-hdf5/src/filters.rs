//! HDF5 filters of chunks: as Zarr codecs, or decoded by this crate.

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error as ReaderError;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zarr_json::{Value, json};

use crate::block_filters::{Bitshuffle, expand_lz4};
use crate::fault::Refusal;
use crate::lzf;

/// Known filters: registered number, name, and whether this crate can decode the filter.
const FILTERS: &[(u16, &str, bool)] = &[
    (1, "deflate", true),
    (2, "shuffle", true),
    (3, "fletcher32", true),
    (4, "szip", true),
    (5, "nbit", true),
    (6, "scale-offset", true),
    (307, "bz2", false),
    (LZF, "lzf", true),
    (32001, "blosc", false),
    (LZ4, "lz4", true),
    (BITSHUFFLE, "bitshuffle", true),
    (32013, "zfp", false),
    (ZSTD, "zstd", cfg!(feature = "zstd")),
    (32026, "blosc2", false),
];
const LZF: u16 = 32000;
const LZ4: u16 = 32004;
const BITSHUFFLE: u16 = 32008;
const ZSTD: u16 = 32015;
/// Filters that functions of this crate decode on behalf of `hdf5_reader`.
const OWN: &[u16] = &[LZF, LZ4, BITSHUFFLE, ZSTD];

/// Returns the Zarr codecs for `filters` on elements of `size` bytes; `None` if a filter has no Zarr codec.
pub(crate) fn codecs(filters: &[FilterDescription], size: usize) -> Option<Vec<Value>> {
    let codec = |filter: &FilterDescription| {
        let data = |at: usize| filter.client_data.get(at).copied();
        Some(match filter.id {
            1 => json!({"name": "numcodecs.zlib", "configuration": {"level": (data(0).unwrap_or(6).min(9))}}),
            2 => {
                let size = data(0).map_or(size, |size| size as usize);
                json!({"name": "numcodecs.shuffle", "configuration": {"elementsize": (size as u64)}})
            }
            3 => json!({"name": "numcodecs.fletcher32"}),
            307 => json!({"name": "numcodecs.bz2", "configuration": {"level": (data(0).unwrap_or(9).clamp(1, 9))}}),
            32001 => {
                let name = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"].get(data(6).unwrap_or(0) as usize)?;
                let shuffle = ["noshuffle", "shuffle", "bitshuffle"].get(data(5).unwrap_or(1) as usize)?;
                let level = data(4).unwrap_or(5).min(9);
                let typesize = data(2).unwrap_or(1).clamp(1, 255);
                json!({"name": "blosc", "configuration": {
                    "cname": (*name), "clevel": (level), "shuffle": (*shuffle), "typesize": (typesize), "blocksize": 0
                }})
            }
            ZSTD => {
                let level = data(0).unwrap_or(3).min(22);
                json!({"name": "zstd", "configuration": {"level": (level), "checksum": false}})
            }
            _ => return None,
        })
    };
    filters.iter().map(codec).collect()
}

/// Returns the registry of the filters that this crate decodes, each to at most `limit` bytes.
pub(crate) fn registry(limit: usize) -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    for id in OWN {
        let undo = move |filter: &FilterDescription, input: &[u8], _: usize| {
            undone(filter, input, limit)
                .ok_or_else(|| ReaderError::DecompressionError(format!("the bytes are not those of {}", name(filter))))
        };
        registry.register(*id, Box::new(undo));
    }
    registry
}

/// Decodes `input` by a filter of this crate. Returns `None` if `input` is invalid or decodes to more than `limit` bytes.
fn undone(filter: &FilterDescription, input: &[u8], limit: usize) -> Option<Vec<u8>> {
    match filter.id {
        LZF => lzf::expand(input, limit),
        LZ4 => expand_lz4(input, limit),
        BITSHUFFLE => Bitshuffle::new(&filter.client_data).ok()?.undo(input, limit),
        #[cfg(feature = "zstd")]
        ZSTD => zstd::bulk::decompress(input, limit).ok(),
        _ => None,
    }
}

/// Returns the name of a filter for messages: that of [`FILTERS`], else that in the file, with the number of the filter.
fn name(filter: &FilterDescription) -> String {
    let known = FILTERS.iter().find(|(id, ..)| *id == filter.id).map(|(_, name, _)| *name);
    let name = known.or(filter.name.as_deref()).unwrap_or_default().trim_end_matches('\0');
    format!("{name} ({})", filter.id)
}

/// Refuses `filters` that this crate cannot decode. Filters in the bit mask `skipped`, which all chunks skip, are not checked. `why` says
/// in the message why the filters cannot be codecs.
pub(crate) fn check(filters: &[FilterDescription], skipped: u32, why: &str) -> Result<(), Refusal> {
    let applied = || filters.iter().enumerate().filter(|(at, _)| *at >= 32 || skipped & (1 << at) == 0);
    let applied = || applied().map(|(_, filter)| filter);
    for filter in applied() {
        if filter.id == BITSHUFFLE
            && let Err(what) = Bitshuffle::new(&filter.client_data)
        {
            return Err(Refusal::new(format!("the filter {} {what} is not read", name(filter))));
        }
        if FILTERS.iter().any(|(id, _, is_undone)| *id == filter.id && *is_undone) {
            continue;
        }
        // The filter has a Zarr codec, which only the form of the elements rules out.
        if codecs(std::slice::from_ref(filter), 1).is_some() {
            return Err(Refusal::new(format!("the filter {} is not read where {why}", name(filter))));
        }
        return Err(Refusal::new(format!("the filter {} is not read", name(filter))));
    }
    // The reader does not bound the output of its own filters after a filter of this crate.
    let mut behind = applied().skip_while(|filter| !OWN.contains(&filter.id));
    let Some(own) = behind.next() else { return Ok(()) };
    match behind.find(|filter| !matches!(filter.id, 2 | 3) && !OWN.contains(&filter.id)) {
        Some(filter) => Err(Refusal::new(format!("the filter {} behind {} is not read", filter.id, name(own)))),
        None => Ok(()),
    }
}
