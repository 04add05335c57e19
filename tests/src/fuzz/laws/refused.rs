//! Chunks that must be refused: variants of accepted chunks with a byte more or less, or a changed bit of a checked part.

use super::super::chunks::layers::Inside;
use super::codecs::canonical;
use crate::random::Random;
use std::ops::Range;
use zarr_array::Array;
use zarr_grid::Selection;
use zarr_json::{NamedConfig, Value};

/// Returns the rules for a chunk of a codec: whether a chunk with one more byte must be refused, whether one with one byte less must be,
/// and the ranges of bytes in which each bit is checked.
fn rules(name: &str, codec: &NamedConfig, chunk: &[u8]) -> (bool, bool, Vec<Range<usize>>) {
    let len = chunk.len();
    let tail = |size: usize| len.saturating_sub(size)..len;
    let head = |end: usize| 0..end;
    match name {
        "bytes" => (true, true, vec![]),
        // How many bits fill up the last byte, where that is stored.
        "packbits" => {
            let padding = match codec.configuration.get("padding_encoding").and_then(Value::as_str) {
                Some("first_byte") => vec![head(1)],
                Some("last_byte") => vec![tail(1)],
                _ => vec![],
            };
            (true, true, padding)
        }
        "gzip" => (true, true, vec![head(3), tail(8)]),
        "numcodecs.zlib" => (true, true, vec![head(2), tail(4)]),
        "zstd" => (true, true, vec![head(4)]),
        // The versions, and the decoded size. Behind the frame, and behind all blocks in it, there may be more.
        "blosc" => {
            let frame = chunk.get(12..16).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
            (false, frame.is_some_and(|size| size as usize == len), vec![head(1), 4..8])
        }
        "numcodecs.lz4" => (true, true, vec![head(4)]),
        "numcodecs.bz2" => (true, true, vec![head(3), tail(4).start..len.saturating_sub(1)]),
        "numcodecs.lzma" if chunk.starts_with(b"\xfd7zXZ\0") => (true, true, vec![head(12), tail(12)]),
        "numcodecs.lzma" => (true, false, vec![]),
        "crc32c" | "numcodecs.crc32" | "numcodecs.adler32" | "numcodecs.fletcher32" | "numcodecs.jenkins_lookup3" => {
            (true, true, vec![head(len)])
        }
        "vlen-utf8" | "vlen-bytes" | "zarrs.vlen_v2" | "numcodecs.vlen-array" => (true, true, vec![head(4)]),
        "n5_default" => (true, true, vec![head(4)]),
        "optional" => (true, true, vec![head(16)]),
        "zarrs.vlen" | "numcodecs.categorize" | "numcodecs.pcodec" | "numcodecs.shuffle" => (true, true, vec![]),
        "numcodecs.msgpack2" | "numcodecs.msgpack" | "numcodecs.pickle" => (true, true, vec![]),
        "zfp" | "numcodecs.zfpy" => (false, true, vec![]),
        "sharding_indexed" => (false, false, index(codec, chunk).into_iter().collect()),
        _ => (false, false, vec![]),
    }
}

/// Returns variants of a chunk that the codec must refuse, each with the reason.
fn variants(random: &mut Random, codec: &NamedConfig, chunk: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let Some(name) = canonical(&codec.name) else { return Vec::new() };
    let (longer, shorter, checked) = rules(name, codec, chunk);
    let mut variants = Vec::new();
    if longer {
        variants.push(("a byte more", [chunk, &[0]].concat()));
    }
    if shorter && let Some((_, shorter)) = chunk.split_last() {
        variants.push(("a byte less", shorter.to_vec()));
    }
    for range in checked.into_iter().filter(|range| range.end <= chunk.len() && !range.is_empty()) {
        let mut changed = chunk.to_vec();
        if let Some(byte) = changed.get_mut(range.start + random.below(range.len())) {
            *byte ^= 1 << random.below(8);
            variants.push(("another bit", changed));
        }
    }
    if name == "blosc" && chunk.get(4..8).is_some_and(|size| size != [0; 4]) {
        // Elements of no bytes, blocks of none, and blocks of more than all.
        for (range, number) in [(3..4, 0), (8..12, 0), (8..12, u32::MAX >> 1)] {
            let mut changed = chunk.to_vec();
            let len = range.len();
            if let Some(position) = changed.get_mut(range) {
                position.copy_from_slice(&number.to_le_bytes()[..len]);
                variants.push(("a size that is none", changed));
            }
        }
    }
    variants.extend(by_hand(random, name, codec, chunk));
    variants
}

/// Returns changes of a chunk that only this codec refuses.
fn by_hand(random: &mut Random, name: &str, codec: &NamedConfig, chunk: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let with = |at: usize, change: &dyn Fn(u8) -> u8| {
        let mut changed = chunk.to_vec();
        let byte = changed.get_mut(at)?;
        *byte = change(*byte);
        Some(changed)
    };
    let flags = |at: usize| chunk.get(at).copied().unwrap_or(0);
    let made = match name {
        "conditional" => vec![("a bit of no codec", bit_of_no_codec(random, codec, chunk))],
        "gzip" if flags(3) == 0 => {
            let reserved = 0x20 << random.below(3);
            vec![
                ("a flag without meaning", with(3, &|flags| flags | reserved)),
                ("another checksum of the header", checked_header(random, chunk)),
            ]
        }
        "blosc" if flags(2) & 2 == 0 => {
            let bit = 1 << random.below(8);
            vec![
                ("a flag without meaning", with(2, &|flags| flags | 8)),
                // Of a frame that holds nothing there is no stream.
                (
                    "another version of streams",
                    with(1, &|version| version ^ bit).filter(|_| chunk.get(4..8) != Some(&[0; 4])),
                ),
            ]
        }
        "blosc" => vec![("a byte behind bytes as they are", longer(chunk, 12..16))],
        "optional" if chunk.get(8..16) == Some(&[0; 8]) => vec![("a byte of no value", longer(chunk, 8..16))],
        "optional" => vec![("values where none is", without_mask(chunk))],
        _ => vec![],
    };
    made.into_iter().filter_map(|(what, variant)| Some((what, variant?))).collect()
}

/// Returns a chunk with one more byte, and with that byte counted in the little-endian number at `position`.
fn longer(chunk: &[u8], position: Range<usize>) -> Option<Vec<u8>> {
    let mut changed = [chunk, &[0]].concat();
    for byte in changed.get_mut(position)? {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    Some(changed)
}

/// Returns a chunk of `optional` with a mask of zeros, after which no values may follow.
fn without_mask(chunk: &[u8]) -> Option<Vec<u8>> {
    let len = chunk.first_chunk().and_then(|len| usize::try_from(u64::from_le_bytes(*len)).ok())?;
    let mut changed = chunk.to_vec();
    changed.get_mut(16..)?.get_mut(..len)?.fill(0);
    Some(changed)
}

/// Returns a gzip member with a checksum of its header, one bit of which is wrong; `None` if the member has flags.
fn checked_header(random: &mut Random, member: &[u8]) -> Option<Vec<u8>> {
    let (header, rest) = member.split_at_checked(10)?;
    let mut header = header.to_vec();
    *header.get_mut(3)? |= 2;
    let mut crc = flate2::Crc::new();
    crc.update(&header);
    let wrong = (crc.sum() as u16) ^ 1 << random.below(16);
    Some([&header, &wrong.to_le_bytes()[..], rest].concat())
}

/// Returns a chunk of `conditional` with one of the padding bits of its header set; `None` if there are none.
fn bit_of_no_codec(random: &mut Random, codec: &NamedConfig, chunk: &[u8]) -> Option<Vec<u8>> {
    let codecs = codec.configuration.get("codecs")?.as_array()?.len();
    let stored = codec.configuration.get("header_bits").and_then(Value::as_u64);
    let bits = stored.map_or(Some(codecs.next_multiple_of(8)), |bits| usize::try_from(bits).ok())?;
    let bit = codecs + random.below(bits.checked_sub(codecs).filter(|&unused| unused > 0)?);
    let mut changed = chunk.to_vec();
    *changed.get_mut(bit / 8)? |= 1 << (bit % 8);
    Some(changed)
}

/// Returns the range of the index of a shard; `None` unless the index has a checksum and is at one end of the shard.
fn index(codec: &NamedConfig, shard: &[u8]) -> Option<Range<usize>> {
    let member = |name: &str| codec.configuration.get(name);
    let index = member("index_codecs")?.as_array()?;
    let name = |codec: &Value| codec.get("name").and_then(Value::as_str).map(str::to_owned);
    let plain = index.len() == 2 && name(&index[0])? == "bytes" && name(&index[1])? == "crc32c";
    if !plain || member("index_checksum_optional").is_some() {
        return None;
    }
    // The checksum and the last entry, or the first entry.
    let len = shard.len();
    Some(if member("index_location").and_then(Value::as_str) == Some("start") {
        0..16
    } else {
        len.checked_sub(20)?..len
    })
}

/// Checks that the blocks of a blosc frame begin after the table of their starts.
fn blosc_starts(frame: &[u8]) {
    let number =
        |at: usize| frame.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    let (size, block) = (number(4), number(8));
    let is_plain = frame.get(2).is_none_or(|flags| flags & 2 != 0);
    if is_plain || size == 0 {
        return;
    }
    let end = 16 + 4 * size.div_ceil(block) as usize;
    let starts = (16..end).step_by(4).map(|at| number(at) as usize);
    assert!(starts.into_iter().all(|start| start >= end), "a block in the table: {}", frame.escape_ascii());
}

/// Checks that variants of a chunk that was read, changed below some of its codecs, are refused.
pub(in crate::fuzz) fn check(random: &mut Random, array: &Array, index: &[u64], chunk: &[u8]) {
    let Some(inside) = Inside::of(random, array, chunk) else { return };
    if canonical(&inside.codec.name) == Some("blosc") {
        blosc_starts(&inside.bytes);
    }
    for (what, variant) in variants(random, inside.codec, &inside.bytes) {
        let Some(variant) = inside.chunk_of(&variant) else { continue };
        if array.write_chunk_bytes(index, &variant).is_err() {
            continue;
        }
        let region = array.chunk_grid().chunk_region(index);
        let read = array.read_data(Selection::Region(region));
        assert!(read.is_err(), "{} takes a chunk with {what}: {}", inside.codec.name, variant.escape_ascii());
    }
}
