//! Laws of sizes of chunks that follow from their elements.

use super::codecs::canonical;
use zarr_array::{Array, ArrayData};
use zarr_json::{NamedConfig, Value};

/// Checks the size of an uncompressed chunk of elements of variable length.
pub(in crate::fuzz) fn check(array: &Array, all: &ArrayData, chunk: &[u8]) {
    let [codec] = &array.metadata().codecs[..] else { return };
    let Some(elements) = all.variable() else { return };
    let count = elements.len();
    let size: usize = elements.map(<[u8]>::len).sum();
    match canonical(&codec.name) {
        // Number of elements, and the length of each.
        Some("vlen-utf8" | "vlen-bytes" | "numcodecs.vlen-array") => {
            assert_eq!(chunk.len(), 4 + 4 * count + size, "bytes of a chunk of {count} elements of {size} bytes");
        }
        // How long the index is, and where each begins and the last one ends. Bytes in front of the first one are no
        // element.
        Some("zarrs.vlen") if is_plain(codec, "index_codecs") && is_plain(codec, "data_codecs") => {
            let member = |name: &str| codec.configuration.get(name).and_then(Value::as_str);
            let width = if member("index_data_type") == Some("uint64") { 8 } else { 4 };
            let index = (count + 1) * width;
            let start = if member("index_location") == Some("end") { chunk.len() - 8 - index } else { 8 };
            let first = chunk.get(start..start + width).unwrap_or_default();
            let push = |number: usize, byte: &u8| number << 8 | usize::from(*byte);
            let orders = [first.iter().rev().fold(0, push), first.iter().fold(0, push)];
            let unused = chunk.len() - 8 - index - size;
            assert!(orders.contains(&unused), "bytes of a chunk of {count} elements of {size} bytes: {unused} of none");
        }
        _ => {}
    }
}

/// Returns whether a list of codecs has only `bytes`.
fn is_plain(codec: &NamedConfig, list: &str) -> bool {
    let list = codec.configuration.get(list).and_then(Value::as_array).unwrap_or_default();
    matches!(list, [one] if one.as_str().or_else(|| one.get("name")?.as_str()) == Some("bytes"))
}
