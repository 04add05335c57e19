//! Nodes that are copied within a bucket: the service copies the chunks, whose bytes do not come here.

use std::sync::Arc;
use zarr::convert::{Action, Conversion, ConvertOptions, Transfer};
use zarr::prelude::*;
use zarr::store::{AsyncAsSync, Counted, Prefix, Prefixed, Store};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

const CHUNKS: u64 = 40;
const CHUNK: u64 = 50_000;
/// The bytes of one chunk.
const BYTES: u64 = 2 * CHUNK;

fn open(server: &TestServer, address: &str) -> Arc<dyn Store> {
    let url = server.url();
    let options = [("anonymous", "true"), ("endpoint", url.as_str()), ("deadline", "10"), ("timeout", "2")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Arc::new(AsyncAsSync::new(Arc::new(BucketStore::open(address, &options).expect("a store"))))
}

fn elements() -> Vec<u16> {
    (0..CHUNKS * CHUNK).map(|at| (at % 65_521) as u16).collect()
}

/// A bucket with an array of version 2.
fn setup() -> (TestServer, Arc<dyn Store>) {
    let (data, other) = (Bucket::s3().public(), Bucket::s3().public());
    let server = TestServer::builder().bucket("data", data).bucket("other", other).start().unwrap();
    let store = open(&server, "s3://data/x.zarr");
    let new =
        NewArray::new(&[CHUNKS * CHUNK], "uint16").chunks(&[CHUNK]).dialect(zarr::Dialect::V2).codecs("bytes").unwrap();
    zarr::create((&store, "/g/a")).array(new).unwrap().write(.., &elements()).unwrap();
    server.reset_counts();
    (server, store)
}

/// How many requests copied a value, after a check that no others had bytes of chunks.
fn copies(server: &TestServer) -> u64 {
    let counts = server.counts();
    assert!(counts.bytes_received < BYTES && counts.bytes_sent < BYTES, "{counts:?}");
    let copies = server.log().into_iter().filter(|logged| logged.copy_source.is_some()).count() as u64;
    server.reset_counts();
    copies
}

#[test]
fn chunks_are_copied_by_the_service() {
    let (server, store) = setup();
    let registry = zarr::registry::default();
    let check = |store: &Arc<dyn Store>, path: &str| {
        assert_eq!(copies(&server), CHUNKS, "each once, also the first, which shows whether the service copies");
        assert_eq!(zarr::open((store, path)).array().unwrap().read::<u16>(..).unwrap(), elements());
        server.reset_counts();
    };
    Transfer::of(&store, "/g").to("/h").copy(&registry).unwrap();
    check(&store, "/h/a");
    // Stores of their own, of which one is a part of another and one counts.
    let other = open(&server, "s3://data/deep/y.zarr");
    Transfer::of(&store, "/g/a").in_store(&other).to("/b").copy(&registry).unwrap();
    check(&other, "/b");
    let below = Prefixed::new(open(&server, "s3://data"), Prefix::new("z.zarr/").unwrap());
    let below: Arc<dyn Store> = Arc::new(Counted::new(below));
    Transfer::of(&other, "/b").in_store(&below).to("/c/d").move_all(&registry).unwrap();
    check(&below, "/c/d");
    assert!(zarr::open((&other, "/b")).array().is_err());
    // Another version, of which the chunks have the same bytes.
    let target = open(&server, "s3://data/v3.zarr");
    let options = ConvertOptions::default().dialect(zarr::Dialect::NEWEST);
    let conversion = Conversion::plan(&store, &registry, options).unwrap();
    assert!(conversion.nodes().iter().any(|node| node.how == Action::CopyChunks));
    conversion.run(&target, |_| {}).unwrap();
    let gone = server.counts();
    assert!(gone.bytes_received < BYTES, "{gone:?}");
    assert_eq!(zarr::open((&target, "/g/a")).array().unwrap().read::<u16>(..).unwrap(), elements());
}

/// Attempts that fail or have no answer are made again; what the service does not copy goes through this machine.
#[test]
fn copies_that_fail() {
    let (server, store) = setup();
    let registry = zarr::registry::default();
    for (percent, kind) in [(10, FaultKind::DropAfter), (10, FaultKind::status(503)), (5, FaultKind::DropBefore)] {
        server.fault(Fault::new(kind).on(Operation::Put).percent(percent).always());
    }
    Transfer::of(&store, "/g").to("/h").copy(&registry).unwrap();
    server.clear_faults();
    assert!(copies(&server) > CHUNKS);
    assert_eq!(zarr::open((&store, "/h/a")).array().unwrap().read::<u16>(..).unwrap(), elements());
    // Some are too large for a copy; then the service has none at all.
    for (to, only) in [("/some", "/7"), ("/none", "")] {
        let is_copy =
            move |logged: &zarr_testserver::Logged| logged.copy_source.is_some() && logged.path.ends_with(only);
        let status = if only.is_empty() { 501 } else { 400 };
        server.fault(Fault::new(FaultKind::status(status)).on(Operation::Put).when(is_copy).always());
        Transfer::of(&store, "/g").to(to).copy(&registry).unwrap();
        server.clear_faults();
        let copied = zarr::open((&store, &format!("{to}/a"))).array().unwrap();
        assert_eq!(copied.read::<u16>(..).unwrap(), elements(), "{to}");
    }
    // Another bucket is another store.
    server.reset_counts();
    let other = open(&server, "s3://other/x.zarr");
    Transfer::of(&store, "/g").in_store(&other).to("/g").copy(&registry).unwrap();
    assert!(server.log().iter().all(|logged| logged.copy_source.is_none()));
    assert_eq!(zarr::open((&other, "/g/a")).array().unwrap().read::<u16>(..).unwrap(), elements());
}
