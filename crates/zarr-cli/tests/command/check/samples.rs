//! Stores to be damaged: fixtures of every dialect, and stores with all that they lack.

use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::check::{CheckDepth, CheckOptions, Event, Finding, Protection, Report, check};
use zarr::hierarchy::StoredNode;
use zarr::store::{Bytes, Key, MemoryStore, StoreExt};
use zarr::{Array, Dialect, NewArray, NewGroup, Store};
use zarr_tests::{ARCHIVES, Outcome, cases};

/// A store that is good, in memory.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) values: BTreeMap<String, Bytes>,
    pub(super) nodes: Vec<StoredNode>,
    /// Stored chunks of arrays that can be opened.
    pub(super) chunks: Vec<Chunk>,
    pub(super) findings: Vec<Finding>,
    pub(super) report: Report,
}

/// A stored chunk.
pub(super) struct Chunk {
    pub(super) key: String,
    pub(super) array: Array,
    pub(super) protection: Option<Protection>,
}

impl Sample {
    pub(super) fn of(name: &str, from: &dyn Store) -> Self {
        let keys = from.list().unwrap();
        let value = |key: &Key| (key.to_string(), from.get_all(key).unwrap().unwrap());
        let values: BTreeMap<String, Bytes> = keys.iter().map(value).collect();
        let store = copy(&values);
        let nodes = zarr::hierarchy::walk(&*store, "/", None).map(|walk| walk.nodes).unwrap_or_default();
        let mut chunks = Vec::new();
        for node in nodes.iter().filter(|node| node.node.as_array().is_some()) {
            let registry = zarr::registry::default();
            let Ok(array) = Array::from_found(&store, node.clone(), &registry, zarr::Options::default()) else {
                continue;
            };
            let Some(index) = array.stored_chunks().unwrap().into_iter().next() else { continue };
            let keys = zarr_hierarchy_keys(node);
            let prefixes = |key: &&String| keys.iter().any(|prefix| key.starts_with(prefix.as_str()));
            // The key that the chunk has: the one that holds its bytes.
            let bytes = array.read_chunk_bytes(&index).unwrap();
            let found = values.keys().filter(prefixes).find(|key| values.get(*key).cloned() == bytes);
            let Some(key) = found.cloned() else { continue };
            let protection = std::sync::Mutex::new(None);
            let one = [(Key::new(&key).unwrap(), index.clone())];
            let report = |chunk: zarr::check::CheckedChunk| *protection.lock().unwrap() = chunk.protection;
            array.check_chunks(&one, CheckDepth::Values, &report).unwrap();
            chunks.push(Chunk { key, array, protection: protection.into_inner().unwrap() });
        }
        let (findings, report) = checked(&store).unwrap();
        Self { name: name.to_owned(), values, nodes, chunks, findings, report }
    }

    /// A store that may be damaged.
    pub(super) fn copy(&self) -> Arc<dyn Store> {
        copy(&self.values)
    }

    pub(super) fn array(&self) -> Option<&StoredNode> {
        self.nodes.iter().find(|node| node.node.as_array().is_some() && !node.implicit)
    }
}

/// The prefixes of the chunks of an array.
fn zarr_hierarchy_keys(node: &StoredNode) -> Vec<String> {
    let other = node.fallback_keys.iter().map(|form| form.prefix.clone());
    std::iter::once(node.chunk_prefix()).chain(other).collect()
}

fn copy(values: &BTreeMap<String, Bytes>) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, value) in values {
        store.set_all(&Key::new(key).unwrap(), value).unwrap();
    }
    Arc::new(store)
}

/// All findings in a store.
pub(super) fn checked(store: &Arc<dyn Store>) -> zarr::Result<(Vec<Finding>, Report)> {
    checked_with(store, "/", &CheckOptions::default())
}

/// All findings in a node and below.
pub(super) fn checked_with(
    store: &Arc<dyn Store>,
    path: &str,
    options: &CheckOptions,
) -> zarr::Result<(Vec<Finding>, Report)> {
    let mut findings = Vec::new();
    let take = |event| {
        if let Event::Finding(finding) = event {
            findings.push(finding);
        }
    };
    let report = check(store, path, &zarr::registry::default(), options, take)?;
    Ok((findings, report))
}

/// The fixtures of each dialect that can be read: `few` of each, or all.
pub(super) fn fixtures(few: Option<usize>) -> Vec<Sample> {
    let mut samples = Vec::new();
    for archive in ARCHIVES.into_iter().filter(|archive| !archive.starts_with("bad")) {
        let good = cases(archive).unwrap().into_iter().filter(|case| matches!(case.expected.outcome, Outcome::Good(_)));
        for case in good.take(few.unwrap_or(usize::MAX)) {
            let store = zarr::store::open(&case.url()).unwrap();
            samples.push(Sample::of(&format!("{archive}/{}", case.name), &*store));
        }
    }
    samples
}

/// Stores of this library, with shards, checksums, consolidated metadata and conventions.
pub(super) fn made() -> Vec<Sample> {
    let mut samples = Vec::new();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        zarr::create((&store, "/")).group(NewGroup::new().dialect(dialect)).unwrap();
        zarr::create((&store, "/g")).group(NewGroup::new()).unwrap();
        let create = |path: &str, new: NewArray| zarr::create((&store, path)).array(new).unwrap();
        let numbers: Vec<i32> = (0..64).collect();
        let new = |codecs: &str| NewArray::new(&[8, 8], "int32").chunks(&[4, 4]).codecs(codecs).unwrap();
        let time = NewArray::new(&[8], "int32").chunks(&[8]).dimension_names(&["time"]);
        let time = time.attribute("units", "days since 2000-01-01").codecs("bytes").unwrap();
        create("/g/time", time).write(.., &numbers[..8]).unwrap();
        let t2m = new("bytes").dimension_names(&["time", "x"]).attribute("coordinates", "time");
        create("/g/t2m", t2m).write(.., &numbers).unwrap();
        let image = super::conventions::attributes(super::conventions::MULTISCALES, None, dialect == Dialect::V2);
        let image = image.iter().fold(NewGroup::new(), |new, (name, value)| new.attribute(name, value.clone()));
        zarr::create((&store, "/img")).group(image).unwrap();
        for (name, shape, data_type) in [
            ("fine", &[8, 8][..], "uint16"),
            ("coarse", &[4, 4], "uint16"),
            ("coarser", &[2, 2], "uint16"),
            ("wide", &[4, 4], "uint32"),
            ("line", &[4], "uint16"),
        ] {
            create(&format!("/img/{name}"), NewArray::new(shape, data_type));
        }
        for (path, attributes) in super::conventions::groups(dialect == Dialect::V2) {
            let group =
                attributes.iter().fold(NewGroup::new(), |new, (name, value)| new.attribute(name, value.clone()));
            zarr::create((&store, path)).group(group).unwrap();
        }
        for (path, data_type) in
            [("/img/labels/cells/0", "uint8"), ("/img/labels/cells/float", "float32"), ("/plate/A/1/0/0", "uint8")]
        {
            create(path, NewArray::new(&[4, 4], data_type));
        }
        for (name, codecs) in
            [("raw", "bytes"), ("sum", "bytes,crc32c"), ("gzip", "bytes,gzip"), ("zstd", "bytes,zstd")]
        {
            create(&format!("/{name}"), new(codecs)).write(.., &numbers).unwrap();
        }
        if dialect == Dialect::V3 {
            let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "end"}}]"#;
            create("/shards", new(sharded)).write(.., &numbers).unwrap();
            let summed = sharded.replace(
                r#""configuration": {"endian": "little"}}],"#,
                r#""configuration": {"endian": "little"}}, {"name": "crc32c"}],"#,
            );
            create("/summed", new(&summed)).write(.., &numbers).unwrap();
        }
        zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
        samples.push(Sample::of(&format!("made/{dialect}"), &*store));
    }
    samples
}
