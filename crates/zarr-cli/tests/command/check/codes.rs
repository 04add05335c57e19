//! Findings for which it takes more than to damage a good store: large values, limits, stores that fail.

use super::samples::checked_with;
use super::stores::{GROUP, Odd, put};
use crate::folder::Folder;
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use zarr::check::{CheckOptions, Code, Convention, Level};
use zarr::options::Limits;
use zarr::store::{Key, MemoryStore, StoreExt};
use zarr::{Array, NewArray, Options, Store};

/// The codes that are found in all of these stores. Each has to be found in its store.
pub(super) fn of_odd_stores() -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let mut add = |expected: Code, store: Arc<dyn Store>, options: CheckOptions| {
        let (findings, _) = checked_with(&store, "/", &options).unwrap();
        assert!(findings.iter().any(|finding| finding.code == expected), "{expected}: {findings:?}");
        codes.extend(findings.iter().map(|finding| finding.code));
    };
    for (code, values) in documents() {
        add(code, of(&values), CheckOptions::default());
    }
    let plain = of(&[("zarr.json", GROUP.to_owned())]);
    add(Code::NoConvention, plain, CheckOptions::default().named(vec![Convention::Ome]));
    let label = GROUP.replacen('}', r#", "attributes": {"ome": {"version": "0.5", "image-label": {}}}}"#, 1);
    let many = NewArray::new(&[1 << 20], "uint8").chunks(&[4]).codecs("bytes").unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    zarr::create((&store, "/")).array(many).unwrap();
    add(Code::LayoutAdvice, store, CheckOptions::default().level(Level::Advice));
    add(Code::ImageAdvice, of(&[("zarr.json", label)]), CheckOptions::default().named(vec![Convention::Ome]));
    let pyramid = r#"{"multiscales": {"layout": [{"asset": "0"}]}, "spatial:dimensions": ["y", "x"]}"#;
    let pyramid = GROUP.replacen('}', &format!(r#", "attributes": {pyramid}}}"#), 1);
    let pyramid = of(&[("zarr.json", pyramid), ("0/zarr.json", GROUP.to_owned())]);
    add(Code::GeoAdvice, pyramid, CheckOptions::default().named(vec![Convention::GeoZarr]));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[1], "uint8").codecs("bytes").unwrap().attribute("spatial:shape", vec![1, 1]);
    zarr::create((&store, "/")).array(new).unwrap();
    add(Code::GeoDimensions, store, CheckOptions::default());
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    fs::create_dir(folder.path("s/empty")).unwrap();
    let store = zarr::store::open(folder.path("s").to_str().unwrap()).unwrap();
    add(Code::EmptyFolder, store, CheckOptions::default());

    let shared = shard(3, &[7], |_| (0, 1));
    add(Code::ShardShared, shared, CheckOptions::default());
    let torn = shard(1001, &[7; 1001], |number| (number, 0));
    add(Code::MoreFaults, torn, CheckOptions::default());

    let small = |limits| CheckOptions::default().arrays(Options::default().limits(limits));
    let store = filled(Odd::default(), 64, 64);
    add(Code::ChunkOverLimit, store, small(limits(|limits| limits.max_chunk = 16)));
    // The index of a shard has a limit of its own, and is no document.
    add(Code::ChunkOverLimit, shard(3, &[7], |_| (0, 1)), small(limits(|limits| limits.max_index = 16)));

    let odd = Odd { cannot_list: true, ..Odd::default() };
    let new = NewArray::new(&[1 << 25], "uint8").chunks(&[1]).codecs("bytes").unwrap();
    let store: Arc<dyn Store> = Arc::new(odd);
    zarr::create((&store, "/")).array(new).unwrap();
    add(Code::CannotList, store, CheckOptions::default());

    let broken = filled(Odd { broken: Some("c/1"), ..Odd::default() }, 2, 1);
    add(Code::Unreadable, broken, CheckOptions::default());
    let changing: Arc<dyn Store> = Arc::new(Odd { is_changing: true, ..Odd::default() });
    let codecs = sharded(INNER);
    let new = NewArray::new(&[3 * INNER], "uint8").chunks(&[3 * INNER]).codecs(codecs.as_str()).unwrap();
    let array: Array = zarr::create((&changing, "/")).array(new).unwrap();
    array.write(.., &vec![7_u8; 3 * INNER as usize]).unwrap();
    add(Code::ChangingChunk, changing, CheckOptions::default());
    codes
}

/// Bytes of an inner chunk: in shards of more than one of such inner chunks, they are read in parts.
const INNER: u64 = 3 << 20;

fn of(values: &[(&str, String)]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, value) in values {
        put(&store, &[(key, value)]);
    }
    Arc::new(store)
}

/// Stores of documents alone.
fn documents() -> Vec<(Code, Vec<(&'static str, String)>)> {
    let group = |more: &str| GROUP.replacen('}', &format!(", {more}}}"), 1);
    let copy = |kind: &str, metadata: &str| {
        let copy = format!(r#"{{"kind": "{kind}", "must_understand": false, "metadata": {metadata}}}"#);
        group(&format!(r#""consolidated_metadata": {copy}"#))
    };
    let entry = r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0",
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []}"#;
    let array = r#"{"shape": [1], "data_type": {"extension": "https://example.org/x", "type": "x", "fallback": "int8"},
        "chunk_grid": {"type": "regular", "chunk_shape": [1], "separator": "/"}, "chunk_memory_layout": "C",
        "fill_value": 0, "extensions": [], "attributes": {}}"#;
    let georeference = r#""attributes": {"spatial:bbox": [0, 0, 1, 1], "spatial:shape": [2, 2],
        "spatial:transform": [1, 0, 0, 0, 1, 0]}"#;
    let missing_asset = r#""attributes": {"zarr_conventions": [{"uuid": "d35379db-88df-4056-af3a-620245f8e347"}],
        "multiscales": {"layout": [{"asset": "0"}]}}"#;
    let large = group(&format!(r#""attributes": {{"text": "{}"}}"#, "x".repeat(17 << 20)));
    vec![
        (Code::UnsupportedVersion, vec![("zarr.json", GROUP.replacen('3', "9", 1))]),
        (Code::UnsafeName, vec![("zarr.json", copy("inline", &format!(r#"{{"../x": {GROUP}}}"#)))]),
        (Code::TooLarge, vec![("zarr.json", large)]),
        (Code::FallbackType, vec![("zarr.json", entry.to_owned()), ("meta/a.array.json", array.to_owned())]),
        (Code::OddName, vec![("zarr.json", GROUP.to_owned()), ("__a/zarr.json", GROUP.to_owned())]),
        (Code::BadGeo, vec![("zarr.json", group(r#""attributes": {"proj:code": "4326"}"#))]),
        (Code::MissingAsset, vec![("zarr.json", group(missing_asset))]),
        (Code::GeoContradiction, vec![("zarr.json", group(georeference))]),
        (Code::UnknownConsolidated, vec![("zarr.json", copy("other", "{}"))]),
    ]
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// The store with an array of `len` elements in chunks of `chunk`.
fn filled(odd: Odd, len: u64, chunk: u64) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(odd);
    let new = NewArray::new(&[len], "uint8").chunks(&[chunk]).codecs("bytes").unwrap();
    let array: Array = zarr::create((&store, "/")).array(new).unwrap();
    array.write(.., &vec![7_u8; len as usize]).unwrap();
    store
}

fn sharded(inner: u64) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{inner}],
        "codecs": [{{"name": "bytes"}}],
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
    )
}

/// A store with one shard of these bytes and an index that says where each of its `count` inner chunks of one element is.
fn shard(count: u64, data: &[u8], range: impl Fn(u64) -> (u64, u64)) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = sharded(1);
    let new = NewArray::new(&[count], "uint8").chunks(&[count]).codecs(codecs.as_str()).unwrap();
    zarr::create((&store, "/")).array(new).unwrap();
    let index = (0..count).map(range).flat_map(|(start, len)| [start.to_le_bytes(), len.to_le_bytes()].concat());
    let bytes: Vec<u8> = data.iter().copied().chain(index).collect();
    store.set_all(&Key::new("c/0").unwrap(), &bytes).unwrap();
    store
}
