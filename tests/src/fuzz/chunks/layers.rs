//! Mutations below codecs: the outer codecs are decoded, the decoded bytes are changed and encoded again, so that the inner codec gets the
//! fault under valid checksums.

use super::{limited, registry, repair};
use crate::mutate;
use crate::random::Random;
use std::ops::Range;
use std::sync::Arc;
use zarr_array::Array;
use zarr_codec::testing::decode_bytes;
use zarr_codec::{BuildContext, BytesToBytes, Codec, Config, ElementSpec, Size, Warnings};
use zarr_dtype::{DataType, FillValue};
use zarr_json::{NamedConfig, Value};

/// Greatest number of bytes that are decoded to be changed.
const MAX_DECODED: u64 = 1 << 20;

pub(super) fn mutate(random: &mut Random, array: &Array, chunk: &[u8]) -> Vec<u8> {
    chain(random, &array.metadata().codecs, &element(array), array.shape(), chunk)
}

/// Changes only entries of the index of a shard, which is the whole chunk or below other codecs.
pub(super) fn mutate_index(random: &mut Random, array: &Array, chunk: &[u8]) -> Vec<u8> {
    let codecs = &array.metadata().codecs;
    let outer = bytes_codecs(codecs, &element(array));
    below(&outer, outer.len(), chunk, |shard| {
        let shards = codecs.iter().find_map(|codec| Shard::of(codec, array.shape(), shard.len()));
        let Some(position) = shards else { return mutate::bytes(random, shard) };
        let mut shard = shard.to_vec();
        position.change_entries(random, &mut shard);
        shard
    })
}

/// Returns the codec from bytes to bytes of a name and a configuration; `None` if there is none.
pub(super) fn named(name: &str, configuration: Value) -> Option<Arc<dyn BytesToBytes>> {
    let codec = NamedConfig::with(name, configuration.as_object()?.clone());
    let data_type = DataType::UInt8;
    let fill = FillValue::zero(&data_type);
    match build(&codec, &ElementSpec::new(data_type, fill)) {
        Some(Codec::BytesToBytes(codec)) => Some(codec),
        _ => None,
    }
}

/// Bytes of a chunk below some of its codecs.
pub(in crate::fuzz) struct Inside<'a> {
    /// Codec that encoded the bytes.
    pub(in crate::fuzz) codec: &'a NamedConfig,
    pub(in crate::fuzz) bytes: Vec<u8>,
    /// Codecs above, the outermost first.
    above: Vec<Arc<dyn BytesToBytes>>,
}

impl<'a> Inside<'a> {
    /// Decodes some of the codecs of a valid chunk.
    pub(in crate::fuzz) fn of(random: &mut Random, array: &'a Array, chunk: &[u8]) -> Option<Self> {
        let codecs = &array.metadata().codecs;
        let outer = bytes_codecs(codecs, &element(array));
        let depth = random.below(outer.len() + 1);
        let above: Vec<_> = outer.into_iter().rev().take(depth).collect();
        let mut bytes = chunk.to_vec();
        for codec in &above {
            bytes = decode_bytes(&**codec, &bytes, Size::AtMost(MAX_DECODED)).ok()?;
        }
        Some(Self { codec: codecs.get(codecs.len().checked_sub(depth + 1)?)?, bytes, above })
    }

    /// Returns the chunk with `bytes` instead of these bytes.
    pub(in crate::fuzz) fn chunk_of(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.above.iter().rev().try_fold(bytes.to_vec(), |bytes, codec| {
            let mut encoded = Vec::new();
            codec.encode(&bytes, &mut encoded).ok().map(|()| encoded)
        })
    }
}

/// Returns the data type and fill value of the elements of an array.
pub(in crate::fuzz) fn element(array: &Array) -> ElementSpec {
    ElementSpec::new(array.data_type().clone(), array.fill_value().clone())
}

/// Changes the bytes below some of the codecs from bytes to bytes of a chain.
fn chain(random: &mut Random, codecs: &[NamedConfig], element: &ElementSpec, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let outer = bytes_codecs(codecs, element);
    let depth = random.below(outer.len() + 1);
    let inner = codecs.len().saturating_sub(depth + 1);
    below(&outer, depth, bytes, |bytes| match codecs.get(inner) {
        Some(codec) => one(random, codec, element, shape, bytes),
        None => mutate::bytes(random, bytes),
    })
}

/// Changes the output of one codec, in a way that the codec may not notice at once.
fn one(random: &mut Random, codec: &NamedConfig, element: &ElementSpec, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    if random.below(4) > 0
        && let Some(shard) = Shard::of(codec, shape, bytes.len())
    {
        return shard.mutate(random, codec, element, bytes);
    }
    if codec.name.contains("json")
        && random.below(4) > 0
        && let Ok(value) = Value::from_json(&String::from_utf8_lossy(bytes))
    {
        return mutate::document(random, bytes, &value);
    }
    if matches!(codec.name.as_str(), "blosc" | "numcodecs.blosc")
        && random.below(8) == 0
        && let Some(changed) = move_block(random, bytes)
    {
        return changed;
    }
    let mut changed = mutate::bytes(random, bytes);
    if random.below(4) > 0 {
        repair::repair(&codec.name, &mut changed);
    }
    changed
}

/// Changes the start of a block of a blosc frame: to the position of another number before the blocks, which is then read as a length, or
/// to any position.
fn move_block(random: &mut Random, frame: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| frame.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let blocks = usize::try_from(number(4)?.checked_div(number(8)?)?).ok()?.min(frame.len() / 4);
    let start = match random.below(2) {
        0 => 4 * random.below(5 + blocks),
        _ => random.below(frame.len()),
    };
    let mut changed = frame.to_vec();
    let entry = 16 + 4 * random.below(1 + blocks);
    changed.get_mut(entry..entry + 4)?.copy_from_slice(&u32::try_from(start).ok()?.to_le_bytes());
    Some(changed)
}

/// Returns the codecs from bytes to bytes at the end of a chain, the outermost last.
fn bytes_codecs(codecs: &[NamedConfig], element: &ElementSpec) -> Vec<Arc<dyn BytesToBytes>> {
    let mut built = Vec::new();
    for codec in codecs.iter().rev() {
        match build(codec, element) {
            Some(Codec::BytesToBytes(codec)) => built.insert(0, codec),
            _ => break,
        }
    }
    built
}

/// Builds the codec of a configuration; `None` if that fails.
pub(in crate::fuzz) fn build(codec: &NamedConfig, element: &ElementSpec) -> Option<Codec> {
    let registry = registry();
    let entry = registry.codecs.get(&codec.name)?;
    let (config, limits, warnings) = (Config::new(&codec.configuration), limited().limits, Warnings::default());
    entry.build(&BuildContext::new(&codec.name, &config, element, &registry.codecs, &limits, &warnings)).ok()
}

/// Changes the bytes below the outermost `depth` codecs; if they cannot be decoded, changes the outermost bytes.
fn below(
    codecs: &[Arc<dyn BytesToBytes>],
    depth: usize,
    bytes: &[u8],
    change: impl FnOnce(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let opened = codecs.iter().rev().take(depth);
    let mut inner = bytes.to_vec();
    for codec in opened.clone() {
        match decode_bytes(&**codec, &inner, Size::AtMost(MAX_DECODED)) {
            Ok(decoded) => inner = decoded,
            Err(_) => return change(bytes),
        }
    }
    let mut changed = change(&inner);
    for codec in opened.rev() {
        let mut encoded = Vec::new();
        if codec.encode(&changed, &mut encoded).is_err() {
            return changed;
        }
        changed = encoded;
    }
    changed
}

/// Place and form of the index of a shard.
struct Shard {
    index: Range<usize>,
    checksum: bool,
    inner_shape: Vec<u64>,
}

impl Shard {
    /// Returns the place of the index in a shard of `len` bytes; `None` if `codec` makes no shards, or the index has an unusual form or
    /// does not fit.
    fn of(codec: &NamedConfig, shape: &[u64], len: usize) -> Option<Self> {
        if codec.name != "sharding_indexed" {
            return None;
        }
        let member = |name: &str| codec.configuration.get(name);
        let inner_shape: Vec<u64> = member("chunk_shape")?.as_array()?.iter().filter_map(Value::as_u64).collect();
        let mut count = shape.iter().zip(&inner_shape).map(|(len, inner)| len.checked_div(*inner));
        let count = count.try_fold(1_u64, |product, axis| product.checked_mul(axis?))?;
        let codecs = member("index_codecs")?.as_array()?;
        let checksum = codecs.iter().any(|codec| codec.get("name").and_then(Value::as_str) == Some("crc32c"));
        let size = usize::try_from(count.checked_mul(16)?).ok()?.checked_add(if checksum { 4 } else { 0 })?;
        let at_start = member("index_location").and_then(Value::as_str) == Some("start");
        let start = if at_start { 0 } else { len.checked_sub(size)? };
        let index = start..start.checked_add(size)?;
        (index.end <= len && !codecs.is_empty()).then_some(Self { index, checksum, inner_shape })
    }

    /// Returns the range of the entries, without the checksum.
    fn entries(&self) -> Range<usize> {
        self.index.start..self.index.end - if self.checksum { 4 } else { 0 }
    }

    /// Changes an entry, or the inner chunk to which it points.
    fn mutate(&self, random: &mut Random, codec: &NamedConfig, element: &ElementSpec, bytes: &[u8]) -> Vec<u8> {
        let mut shard = bytes.to_vec();
        let inner = codec.configuration.get("codecs").and_then(Value::as_array).unwrap_or_default();
        let inner: Vec<_> = inner.iter().filter_map(NamedConfig::from_value).collect();
        let at = self.entries().start + 16 * random.below(self.entries().len() / 16);
        let found = word(&shard, at).zip(word(&shard, at + 8));
        let range = found.and_then(|(offset, len)| {
            let offset = usize::try_from(offset).ok()?;
            let end = offset.checked_add(usize::try_from(len).ok()?)?;
            (end <= shard.len()).then_some(offset..end)
        });
        match range.filter(|_| random.below(3) > 0) {
            Some(range) => {
                let part = shard.get(range.clone()).unwrap_or_default().to_vec();
                let changed = chain(random, &inner, element, &self.inner_shape, &part);
                self.replace(&mut shard, at, &range, &changed);
            }
            None => self.change_entries(random, &mut shard),
        }
        shard
    }

    /// Replaces an inner chunk: in place if the new one is not longer, else after all inner chunks.
    fn replace(&self, shard: &mut Vec<u8>, entry: usize, range: &Range<usize>, changed: &[u8]) {
        let fits = changed.len() <= range.len();
        let at_end = self.index.end == shard.len() && self.index.start > 0;
        // Bytes that are put in front of the index move it.
        let moved = if !fits && at_end { changed.len() } else { 0 };
        let offset = if fits {
            range.start
        } else if at_end {
            shard.splice(self.index.start..self.index.start, changed.iter().copied());
            self.index.start
        } else {
            shard.extend_from_slice(changed);
            shard.len() - changed.len()
        };
        if let Some(position) = shard.get_mut(offset..offset + changed.len()) {
            position.copy_from_slice(changed);
        }
        set_word(shard, entry + moved, offset as u64);
        set_word(shard, entry + moved + 8, changed.len() as u64);
        self.seal(shard, moved);
    }

    fn change_entries(&self, random: &mut Random, shard: &mut [u8]) {
        for _ in 0..=random.below(3) {
            let words = self.entries().len() / 8;
            let at = self.entries().start + 8 * random.below(words);
            let other = word(shard, self.entries().start + 8 * random.below(words)).unwrap_or(0);
            let old = word(shard, at).unwrap_or(0);
            let new = match random.below(9) {
                0 => u64::MAX,
                1 => u64::MAX - random.below(32) as u64,
                2 => 0,
                3 => shard.len() as u64,
                4 => 1 << random.below(64),
                5 => other,
                6 => old.wrapping_add(1),
                7 => old.wrapping_sub(1),
                _ => random.below(shard.len()) as u64,
            };
            set_word(shard, at, new);
        }
        self.seal(shard, 0);
    }

    /// Corrects the checksum of the index, which has moved by `moved` bytes.
    fn seal(&self, shard: &mut [u8], moved: usize) {
        let entries = self.entries();
        if self.checksum
            && let Some((entries, sum)) = shard
                .get_mut(entries.start + moved..self.index.end + moved)
                .and_then(|index| index.split_at_mut_checked(entries.len()))
        {
            sum.copy_from_slice(&repair::crc32c(entries).to_le_bytes());
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
}

fn set_word(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(position) = bytes.get_mut(at..at + 8) {
        position.copy_from_slice(&word.to_le_bytes());
    }
}
