//! Kinds of damage, each with what a check has to find. `docs/check.md` lists them.

use super::samples::{Chunk, Sample};
use zarr::check::{Code, Protection};
use zarr::hierarchy::StoredNode;
use zarr::meta::json::{Map, Value};
use zarr::meta::{Dialect, Node};
use zarr::store::{Key, Store, StoreExt};

/// A kind of damage: its name, whether a check finds it, and the function that does it to a store, if it can be done to this one.
pub(super) struct Damage {
    pub(super) name: &'static str,
    pub(super) is_detectable: bool,
    pub(super) inject: fn(&Sample, &dyn Store) -> Option<Expected>,
}

/// Findings that a check is expected to have.
pub(super) struct Expected {
    pub(super) codes: &'static [Code],
    /// The key, or the path of the node.
    pub(super) place: String,
}

pub(super) const fn found(name: &'static str, inject: fn(&Sample, &dyn Store) -> Option<Expected>) -> Damage {
    Damage { name, is_detectable: true, inject }
}

const DOCUMENT: &[Code] = &[Code::InvalidJson, Code::InvalidDocument];
const CHUNK: &[Code] = &[Code::BrokenChunk, Code::ChecksumMismatch, Code::ShardIndex];

/// All kinds.
pub(super) const ALL: &[Damage] = &[
    found("the document of an array is cut off", |sample, store| {
        let (key, bytes) = document(sample)?;
        expect(DOCUMENT, put(store, &key, &bytes[..bytes.len() / 2]))
    }),
    found("the document of an array is empty", |sample, store| {
        let (key, _) = document(sample)?;
        expect(DOCUMENT, put(store, &key, b""))
    }),
    found("the document of an array is zeros, as after a loss of power", |sample, store| {
        let (key, bytes) = document(sample)?;
        expect(
            &[Code::InvalidJson, Code::InvalidDocument, Code::UnsupportedVersion],
            put(store, &key, &vec![0; bytes.len()]),
        )
    }),
    found("a member that every array has is missing", |sample, store| {
        edit_shape(sample, store, |map, name| drop(map.remove(name)))
    }),
    found("a length in the shape is negative", |sample, store| {
        edit_shape(sample, store, |map, name| drop(map.insert(name, vec![-1_i64])))
    }),
    found("the data type is not known", |sample, store| {
        let node = sample.array()?;
        let name = node.document_pointer("/data_type").strip_prefix('/')?.to_owned();
        let key = edit(node, store, |map| drop(map.insert(name.as_str(), "nonesuch")))?;
        expect(&[Code::UnknownExtension, Code::InvalidDocument], key)
    }),
    found("a codec is not known", |sample, store| {
        if sample.findings.iter().any(|finding| finding.code == Code::UnknownExtension) {
            return None;
        }
        let node = sample.array().filter(|node| node.dialect.is_v3() || node.dialect == Dialect::V2)?;
        let key = edit(node, store, |map| match node.dialect {
            Dialect::V2 => drop(map.insert("compressor", Value::from_json(r#"{"id": "nonesuch"}"#).unwrap())),
            _ => drop(map.insert("codecs", Value::from_json(r#"[{"name": "nonesuch"}]"#).unwrap())),
        })?;
        expect(&[Code::UnknownExtension, Code::InvalidDocument], key)
    }),
    found("a member that must be understood is not known", |sample, store| {
        let node = sample.array().filter(|node| node.dialect.is_v3())?;
        let member = Value::from_json(r#"{"must_understand": true}"#).unwrap();
        let key = edit(node, store, |map| drop(map.insert("nonesuch", member)))?;
        expect(&[Code::UnknownMember], key)
    }),
    found("a member is there twice", |sample, store| {
        let (key, bytes) = document(sample)?;
        let text = String::from_utf8(bytes).ok()?;
        let twice = text.trim_start().strip_prefix('{')?;
        expect(
            &[Code::InvalidJson, Code::InvalidDocument, Code::Deviation],
            put(store, &key, format!("{{\"a_member\": 1, \"a_member\": 2, {twice}").as_bytes()),
        )
    }),
    found("the document of attributes is cut off", |sample, store| {
        let is_attributes = |key: &&String| key.ends_with(".zattrs");
        let key = sample.values.keys().find(is_attributes)?;
        let is_hidden = |node: &StoredNode| node.documents.contains(key);
        sample.nodes.iter().find(|node| is_hidden(node))?;
        expect(&[Code::BrokenAttributes], put(store, key, b"{\"a\": "))
    }),
    found("the document of an array is lost, and its chunks are not", |sample, store| {
        let chunk = chunk(sample)?;
        let node = chunk.array.found();
        // One document may be of many arrays, and of the root there is nothing else then.
        let others = sample.nodes.iter().filter(|other| other.path != node.path && !other.implicit);
        if node.path.is_root() || others.count() == 0 {
            return None;
        }
        for key in node
            .own_documents()
            .filter(|key| sample.nodes.iter().all(|other| other.path == node.path || !other.documents.contains(key)))
        {
            store.erase(&Key::new(key).unwrap()).unwrap();
        }
        let path = node.path.clone();
        let is_within = sample
            .nodes
            .iter()
            .any(|other| other.path != path && path.is_within(&other.path) && other.node.as_array().is_some());
        expect(&[Code::OrphanChunk], chunk.key.clone()).filter(|_| !is_within)
    }),
    found("the document of a group is lost", |sample, store| {
        let is_group = |node: &&StoredNode| {
            let has_nodes =
                sample.nodes.iter().any(|below| below.path.parent().as_ref() == Some(&node.path) && !below.implicit);
            node.node.as_group().is_some()
                && !node.implicit
                && !node.path.is_root()
                && has_nodes
                && node.warnings.is_empty()
        };
        let node =
            sample.nodes.iter().filter(|node| node.dialect.is_v3() || node.dialect == Dialect::V2).find(is_group)?;
        let key = node.document_key()?;
        store.erase(&Key::new(key).unwrap()).unwrap();
        expect(&[Code::ImplicitGroup], node.path.to_string())
    }),
    found("consolidated metadata is older than a node", |sample, store| {
        let group = consolidated(sample)?;
        let node = sample.array()?;
        let (key, text) = document(sample)?;
        let text = String::from_utf8(text).ok()?;
        let Node::Array(array) = &node.node else { return None };
        let fill = Value::from_json(&text).ok()?;
        let changed = match fill.get("chunk_key_encoding").is_some() || fill.get("fill_value").is_some() {
            true => edit(node, store, |map| {
                drop(map.insert("shape", array.shape.iter().map(|len| len + 1).collect::<Vec<u64>>()))
            })?,
            false => return None,
        };
        assert_eq!(key, changed);
        expect(&[Code::StaleConsolidated], group.path.to_string())
    }),
    found("consolidated metadata names a node that is gone", |sample, store| {
        let group = consolidated(sample)?;
        let node = sample.array().filter(|node| !node.path.is_root())?;
        let is_below = |key: &&String| key.starts_with(&node.path.key_prefix());
        for key in sample.values.keys().filter(is_below).cloned().chain(node.own_documents().map(str::to_owned)) {
            store.erase(&Key::new(&key).unwrap()).unwrap();
        }
        expect(&[Code::StaleConsolidated], group.path.to_string())
    }),
    found("consolidated metadata is cut off", |sample, store| {
        let key = sample.values.keys().find(|key| key.as_str() == ".zmetadata")?;
        consolidated(sample)?;
        expect(&[Code::BadConsolidated], put(store, key, b"{\"metadata\": {"))
    }),
    found("a key belongs to nothing", |sample, store| {
        let group = sample.nodes.first().filter(|node| node.node.as_group().is_some() && node.path.is_root())?;
        let prefix = group.own_prefixes().into_iter().next()?;
        expect(&[Code::StrayKey], put(store, &format!("{prefix}stray.txt"), b"hello"))
    }),
    found("a file of other software lies beside nodes", |sample, store| {
        let group = sample.nodes.first().filter(|node| node.node.as_group().is_some() && node.path.is_root())?;
        let prefix = group.own_prefixes().into_iter().next()?;
        expect(&[Code::OtherFile], put(store, &format!("{prefix}README.md"), b"hello"))
    }),
    found("a key below an array belongs to nothing", |sample, store| {
        let chunk = chunk(sample)?;
        expect(&[Code::StrayKey], put(store, &format!("{}stray.bin", chunk.array.found().chunk_prefix()), b"hello"))
    }),
    found("attributes are left of a node", |sample, store| {
        sample.nodes.first().filter(|node| node.dialect == Dialect::V2 && node.node.as_group().is_some())?;
        expect(&[Code::StrayDocument], put(store, "lost/.zattrs", b"{}"))
    }),
    found("a temporary file of zarr-python 2 is left", |sample, store| {
        let chunk = chunk(sample)?;
        let name = format!("{}.0123456789abcdef0123456789abcdef.partial", chunk.key);
        expect(&[Code::TemporaryFile], put(store, &name, b"half"))
    }),
    found("a lock file of TensorStore is left", |sample, store| {
        let chunk = chunk(sample)?;
        expect(&[Code::TemporaryFile], put(store, &format!("{}.__lock", chunk.key), b""))
    }),
    found("a chunk lies outside of the grid", |sample, store| {
        let chunk = numbered(sample)?;
        let digits = chunk.key.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        let key = format!("{}99999", &chunk.key[..digits]);
        expect(&[Code::ChunkOutsideGrid], put(store, &key, b"old"))
    }),
    found("a chunk has a key of another number of dimensions", |sample, store| {
        let chunk = numbered(sample)?;
        let key = format!("{}/0/0/0/0/0/0/0/0", chunk.key);
        expect(&[Code::ForeignChunk], put(store, &key, b"old"))
    }),
    found("names differ in case only", |sample, store| {
        let node = sample.array().filter(|node| !node.path.is_root() && node.dialect.has_documents_at_paths())?;
        let (key, name) = (node.document_key()?, node.path.name()?);
        let (lower, end) = (node.path.key_prefix(), key.strip_prefix(&node.path.key_prefix())?);
        let upper = format!("{}{}/", &lower[..lower.len() - name.len() - 1], name.to_uppercase());
        put(store, &format!("{upper}{end}"), &sample.values[key]);
        // The name that is told is the second one in the order of keys.
        expect(&[Code::CaseClash], lower.clone()).filter(|_| upper < lower)
    }),
    found("a key is also the beginning of others", |sample, store| {
        let key = sample.values.keys().find_map(|key| key.split_once('/')).map(|(first, _)| first.to_owned())?;
        sample.nodes.first().filter(|node| {
            node.path.is_root() && node.node.as_group().is_some() && node.dialect.has_documents_at_paths()
        })?;
        expect(&[Code::KeyIsPrefix], put(store, &key, b"x"))
    }),
    found("a chunk is cut off in the middle", |sample, store| {
        let (chunk, bytes) = bytes(sample)?;
        expect(CHUNK, put(store, &chunk.key, &bytes[..bytes.len() / 2]))
    }),
    found("a chunk lacks its last byte", |sample, store| {
        let (chunk, bytes) = bytes(sample)?;
        expect(CHUNK, put(store, &chunk.key, &bytes[..bytes.len() - 1]))
    }),
    found("a chunk is empty", |sample, store| {
        let (chunk, _) = bytes(sample)?;
        expect(CHUNK, put(store, &chunk.key, b""))
    }),
    found("an uncompressed chunk has more bytes than its elements", |sample, store| {
        let chunk = sample.chunks.iter().find(|chunk| is_raw(chunk))?;
        let longer = [&sample.values[&chunk.key], &b"x"[..]].concat();
        expect(CHUNK, put(store, &chunk.key, &longer))
    }),
    found("a compressed chunk is replaced by uncompressed elements", |sample, store| {
        let is_compressed =
            |chunk: &&Chunk| chunk.protection.is_some_and(|it| it > Protection::None) && !chunk.array.is_sharded();
        let chunk = sample.chunks.iter().find(is_compressed)?;
        let elements: Vec<u8> = (0..97_u32).map(|number| (number * 7 + 3) as u8).collect();
        expect(CHUNK, put(store, &chunk.key, &elements))
    }),
    found("a bit is flipped in a chunk with a checksum", |sample, store| {
        let has_checksum = |chunk: &&Chunk| chunk.protection == Some(Protection::Checksum) && !chunk.array.is_sharded();
        // In short ones half are the header, which the checksum of gzip does not cover.
        let is_long = |chunk: &&Chunk| sample.values[&chunk.key].len() > 64;
        let chunk = sample.chunks.iter().filter(is_long).find(has_checksum)?;
        expect(CHUNK, flip(sample, store, &chunk.key, sample.values[&chunk.key].len() / 2))
    }),
    Damage {
        name: "a bit is flipped in a chunk of plain bytes",
        is_detectable: false,
        inject: |sample, store| {
            let chunk = sample
                .chunks
                .iter()
                .find(|chunk| is_raw(chunk) && chunk.array.data_type().to_string().contains("int"))?;
            expect(CHUNK, flip(sample, store, &chunk.key, sample.values[&chunk.key].len() / 2))
        },
    },
    Damage {
        name: "elements of a chunk of plain bytes are replaced by others",
        is_detectable: false,
        inject: |sample, store| {
            let chunk = sample
                .chunks
                .iter()
                .find(|chunk| is_raw(chunk) && chunk.array.data_type().to_string().contains("int"))?;
            expect(CHUNK, put(store, &chunk.key, &vec![1; sample.values[&chunk.key].len()]))
        },
    },
    found("the index of a shard is damaged", |sample, store| {
        let chunk = shard(sample)?;
        let is_first = chunk
            .array
            .metadata()
            .codecs
            .iter()
            .any(|codec| codec.configuration.get("index_location").and_then(Value::as_str) == Some("start"));
        let at = if is_first { 7 } else { sample.values[&chunk.key].len() - 1 };
        expect(CHUNK, flip(sample, store, &chunk.key, at))
    }),
    found("the index of a shard points behind its end", |sample, store| {
        index(sample, store, &[Code::ShardIndex], |entry, size| entry[0] = size)
    }),
    found("the index of a shard gives two inner chunks the same bytes in part", |sample, store| {
        index(sample, store, &[Code::ShardOverlap], |entry, _| entry[0] += 1)
    }),
    found("the index of a shard gives an inner chunk too few bytes", |sample, store| {
        index(sample, store, &[Code::BrokenChunk], |entry, _| entry[1] -= 1)
    }),
    found("the index of a shard says that half an entry is missing", |sample, store| {
        index(sample, store, &[Code::ShardIndex], |entry, _| entry[1] = u64::MAX)
    }),
    found("a bit is flipped in an inner chunk with a checksum", |sample, store| {
        let has_checksum = |chunk: &&Chunk| chunk.protection == Some(Protection::Checksum) && chunk.array.is_sharded();
        let chunk = sample.chunks.iter().find(has_checksum).filter(|_| sample.name.starts_with("made"))?;
        expect(&[Code::ChecksumMismatch], flip(sample, store, &chunk.key, 3))
    }),
    found("a conversion was interrupted", |sample, store| {
        let group = root_group(sample)?;
        expect(&[Code::UnfinishedConversion], put(store, &format!("{}.zconversion-a", group.path.key_prefix()), b"{}"))
    }),
    found("a replacement was interrupted", |sample, store| {
        root_group(sample)?;
        put(store, ".zreplacement/a/0123456789abcdef/zarr.json", b"{}");
        expect(&[Code::UnfinishedReplacement], ".zreplacement/a/".to_owned())
    }),
    found("a migration was interrupted", |sample, store| {
        root_group(sample)?;
        expect(&[Code::UnfinishedMigration], put(store, ".zmigration", b"{}"))
    }),
    found("a node lies below an array", |sample, store| {
        let node = sample.array().filter(|node| node.dialect.is_v3())?;
        let key = format!("{}below/zarr.json", node.path.key_prefix());
        expect(&[Code::NodeBelowArray], put(store, &key, br#"{"zarr_format": 3, "node_type": "group"}"#))
    }),
    found("documents of version 2 lie beside those of version 3", |sample, store| {
        let node = sample.array().filter(|node| node.dialect == Dialect::V3)?;
        let key = format!("{}.zgroup", node.path.key_prefix());
        expect(&[Code::HiddenNode], put(store, &key, br#"{"zarr_format": 2}"#))
    }),
    found("a group document lies beside that of an array", |sample, store| {
        let node = sample.array().filter(|node| node.dialect == Dialect::V2)?;
        let key = format!("{}.zgroup", node.path.key_prefix());
        let is_new = !sample.values.contains_key(&key);
        expect(&[Code::HiddenNode], put(store, &key, br#"{"zarr_format": 2}"#)).filter(|_| is_new)
    }),
    found("some chunks are lost", |sample, store| {
        let of = |chunk: &Chunk| chunk.array.stored_chunks().unwrap().len() as u64;
        let is_full = |chunk: &&Chunk| {
            of(chunk) > 1 && chunk.array.chunk_grid().grid_shape().iter().product::<u64>() == of(chunk)
        };
        let chunk = sample.chunks.iter().find(is_full)?;
        store.erase(&Key::new(&chunk.key).unwrap()).unwrap();
        expect(&[Code::MissingChunks], chunk.array.path().to_string())
    }),
    found("a dimension has two sizes", |sample, store| {
        let node = named(sample, "/g/time")?;
        edit(node, store, |map| drop(map.insert("shape", vec![7_u64])))?;
        expect(&[Code::DimensionSizes], "/g/time".to_owned())
    }),
    found("the attribute coordinates names an array that is gone", |sample, store| {
        named(sample, "/g/t2m")?;
        attribute(sample, store, "/g/t2m", r#""time""#, r#""nowhere""#)?;
        expect(&[Code::MissingCoordinate], "/g/t2m".to_owned())
    }),
    found("units of times cannot be read", |sample, store| {
        named(sample, "/g/time")?;
        attribute(sample, store, "/g/time", "days since 2000-01-01", "days since yesterday")?;
        expect(&[Code::BadUnits], "/g/time".to_owned())
    }),
    found("the list of NCZarr lacks a node", |sample, store| {
        let (group, name) = listed(sample)?;
        attribute(sample, store, &group.path.to_string(), &format!("\"{name}\""), "\"other\"")?;
        expect(&[Code::MissingNode], group.path.to_string())
    }),
];

/// A chunk whose key ends in a number.
fn numbered(sample: &Sample) -> Option<&Chunk> {
    let is_numbered = |chunk: &&Chunk| chunk.key.ends_with(|end: char| end.is_ascii_digit());
    chunk(sample).filter(is_numbered).filter(|chunk| !chunk.array.shape().is_empty())
}

pub(super) fn expect(codes: &'static [Code], place: String) -> Option<Expected> {
    Some(Expected { codes, place })
}

pub(super) fn put(store: &dyn Store, key: &str, bytes: &[u8]) -> String {
    store.set_all(&Key::new(key).unwrap(), bytes).unwrap();
    key.to_owned()
}

fn flip(sample: &Sample, store: &dyn Store, key: &str, at: usize) -> String {
    let mut bytes = sample.values[key].to_vec();
    bytes[at] ^= 0x10;
    put(store, key, &bytes)
}

/// The document of an array, if it has one of its own.
fn document(sample: &Sample) -> Option<(String, Vec<u8>)> {
    let node = sample.array()?;
    // A file `meta` that is no JSON, alone, is no sign of Zarr: the command says that there is no node.
    let is_known = node.dialect != Dialect::V1 || sample.values.contains_key("attrs");
    let key = node.document_key().filter(|_| is_known)?;
    Some((key.to_owned(), sample.values.get(key)?.to_vec()))
}

/// Changes the document of a node.
pub(super) fn edit(node: &StoredNode, store: &dyn Store, change: impl FnOnce(&mut Map)) -> Option<String> {
    let key = node.document_key()?;
    let text = store.get_all(&Key::new(key).unwrap()).unwrap()?;
    let Value::Object(mut map) = Value::from_json(std::str::from_utf8(&text).ok()?).ok()? else { return None };
    change(&mut map);
    Some(put(store, key, Value::from(map).to_string().as_bytes()))
}

fn edit_shape(sample: &Sample, store: &dyn Store, change: impl FnOnce(&mut Map, &str)) -> Option<Expected> {
    let node = sample.array()?;
    let name = node.document_pointer("/shape").strip_prefix('/')?.to_owned();
    expect(DOCUMENT, edit(node, store, |map| change(map, &name))?)
}

/// Replaces a text in whichever document of a node has it.
fn attribute(sample: &Sample, store: &dyn Store, path: &str, from: &str, to: &str) -> Option<()> {
    let node = named(sample, path)?;
    for key in node.own_documents() {
        let text = String::from_utf8(sample.values.get(key)?.to_vec()).ok()?;
        if text.contains(from) {
            put(store, key, text.replacen(from, to, 1).as_bytes());
            return Some(());
        }
    }
    None
}

pub(super) fn named<'s>(sample: &'s Sample, path: &str) -> Option<&'s StoredNode> {
    sample.nodes.iter().find(|node| node.path.to_string() == path)
}

fn root_group(sample: &Sample) -> Option<&StoredNode> {
    sample
        .nodes
        .first()
        .filter(|node| node.node.as_group().is_some() && node.path.is_root() && node.dialect.has_documents_at_paths())
}

/// A group that has consolidated metadata that is up to date.
fn consolidated(sample: &Sample) -> Option<&StoredNode> {
    let is_stale = sample
        .findings
        .iter()
        .any(|finding| finding.code == Code::StaleConsolidated || finding.code == Code::UnknownConsolidated);
    let has_inside = |node: &StoredNode| node.node.as_group().is_some_and(|group| group.consolidated.is_some());
    let has = |node: &&StoredNode| has_inside(node) || sample.values.contains_key(".zmetadata");
    sample.nodes.first().filter(has).filter(|node| !is_stale && node.path.is_root() && node.node.as_group().is_some())
}

/// A group with lists of NCZarr, and a name in it.
fn listed(sample: &Sample) -> Option<(&StoredNode, String)> {
    sample.nodes.iter().find_map(|node| {
        let lists = node.node.attributes().get("_nczarr_group")?;
        let name = lists.get("arrays")?.as_array()?.first()?.as_str()?.to_owned();
        Some((node, name))
    })
}

fn chunk(sample: &Sample) -> Option<&Chunk> {
    sample.chunks.first()
}

/// A chunk of some bytes.
fn bytes(sample: &Sample) -> Option<(&Chunk, Vec<u8>)> {
    let chunk = sample.chunks.iter().find(|chunk| sample.values[&chunk.key].len() > 1 && decodes_exactly(chunk))?;
    Some((chunk, sample.values[&chunk.key].to_vec()))
}

/// Some codecs read no further than they must.
fn decodes_exactly(chunk: &Chunk) -> bool {
    !chunk.array.metadata().codecs.iter().any(|codec| codec.name.contains("zfp"))
}

fn is_raw(chunk: &Chunk) -> bool {
    chunk.protection == Some(Protection::None)
        && matches!(chunk.array.metadata().codecs.as_slice(), [codec] if codec.name == "bytes")
}

fn shard(sample: &Sample) -> Option<&Chunk> {
    sample.chunks.iter().find(|chunk| chunk.array.is_sharded() && chunk.array.metadata().codecs.len() == 1)
}

/// Changes the first entry of the index of the shards that are made here, which has no checksum.
fn index(
    sample: &Sample,
    store: &dyn Store,
    codes: &'static [Code],
    change: impl FnOnce(&mut [u64; 2], u64),
) -> Option<Expected> {
    let chunk = sample.chunks.iter().find(|chunk| chunk.array.path().to_string() == "/shards")?;
    // Others have a checksum there.
    sample.name.strip_prefix("made/")?;
    let mut bytes = sample.values[&chunk.key].to_vec();
    let size = bytes.len() as u64;
    let start = bytes.len() - 4 * 16;
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut entry = [word(start), word(start + 8)];
    change(&mut entry, size);
    bytes[start..start + 8].copy_from_slice(&entry[0].to_le_bytes());
    bytes[start + 8..start + 16].copy_from_slice(&entry[1].to_le_bytes());
    expect(codes, put(store, &chunk.key, &bytes))
}
