//! Filters of chunks, as codecs of Zarr or undone here.

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error as ReaderError;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zarr_json::{Value, json};

use crate::fault::Refusal;
use crate::lzf;

/// The filters by their registered numbers: names, and whether they can be undone here.
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
    (32004, "lz4", false),
    (32008, "bitshuffle", false),
    (32013, "zfp", false),
    (32015, "zstd", false),
    (32026, "blosc2", false),
];
const LZF: u16 = 32000;

/// The codecs of Zarr that stand for filters on elements of `size` bytes; `None` if one has none.
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
            32015 => {
                let level = data(0).unwrap_or(3).min(22);
                json!({"name": "zstd", "configuration": {"level": (level), "checksum": false}})
            }
            _ => return None,
        })
    };
    filters.iter().map(codec).collect()
}

/// The filters undone, into at most `limit` bytes.
pub(crate) fn registry(limit: usize) -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    registry.register(
        LZF,
        Box::new(move |_, input, _| {
            lzf::expand(input, limit).ok_or_else(|| ReaderError::DecompressionError("the bytes are not LZF".to_owned()))
        }),
    );
    registry
}

/// Refuses filters that are not undone here, for a data set whose chunks must be.
pub(crate) fn check(filters: &[FilterDescription], why: &str) -> Result<(), Refusal> {
    for filter in filters {
        let known = FILTERS.iter().find(|(id, ..)| *id == filter.id);
        if known.is_some_and(|(.., is_undone)| *is_undone) {
            continue;
        }
        let id = filter.id;
        let name = known.map_or_else(|| filter.name.clone().unwrap_or_default(), |(_, name, _)| (*name).to_owned());
        let name = name.trim_end_matches('\0');
        // It has a codec, which the elements alone keep it from.
        if codecs(std::slice::from_ref(filter), 1).is_some() {
            return Err(Refusal::new(format!("the filter {name} ({id}) is not read where {why}")));
        }
        return Err(Refusal::new(format!("the filter {name} ({id}) is not read")));
    }
    // The reader does not bound what is decoded behind a filter of ours.
    let behind = filters.iter().skip_while(|filter| filter.id != LZF).skip(1);
    match behind.into_iter().find(|filter| !matches!(filter.id, 2 | 3)) {
        Some(filter) => Err(Refusal::new(format!("the filter {} behind lzf is not read", filter.id))),
        None => Ok(()),
    }
}
