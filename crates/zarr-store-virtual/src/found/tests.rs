//! Tests that compare arrays whose chunks are looked up with a map of their values.

use std::collections::BTreeMap;

use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::testing::{self, Altered};
use zarr_store::{Error, ErrorKind, GetOptions, MemoryStore, Prefix, StoreExt, StoreKind};

use super::*;
use crate::{ChunkKeyForm, Separator, VirtualStore};

/// Table that finds the chunks of a map, and returns an error for chunk 13.
#[derive(Debug)]
struct Finder {
    files: Arc<dyn Store>,
    chunks: BTreeMap<u64, FoundChunk>,
}

const FAULT: u64 = 13;

impl FindChunks for Finder {
    fn count(&self) -> u64 {
        24
    }

    fn find(&self, key: &Key, index: u64) -> Result<FoundChunk> {
        if index == FAULT {
            return Err(Error::Argument { store: "finder".to_owned(), message: key.to_string() });
        }
        Ok(self.chunks.get(&index).cloned().unwrap_or(FoundChunk::Missing))
    }

    fn find_without_blocking<'a>(&'a self, key: &'a Key, index: u64) -> BoxFuture<'a, Result<FoundChunk>> {
        Box::pin(async move { self.find(key, index) })
    }

    fn known(&self, key: &Key, index: u64) -> Option<FoundChunk> {
        self.find(key, index).ok()
    }

    fn next(&self, from: u64) -> Result<Option<u64>> {
        Ok(self.chunks.range(from..).next().map(|(index, _)| *index))
    }

    fn access_profile(&self) -> AccessProfile {
        self.files.access_profile()
    }

    fn not_blocking(&self) -> Option<Arc<dyn AsyncStore>> {
        self.files.as_async()
    }
}

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn files() -> MemoryStore {
    let files = MemoryStore::new();
    files.set_all(&key("x.bin"), b"0123456789").expect("set");
    files
}

/// Returns a store with an array of 4 x 6 chunks, some of which are missing, and the map of its values.
fn store(files: Arc<dyn Store>, form: ChunkKeyForm) -> (VirtualStore, BTreeMap<String, Vec<u8>>) {
    let file = |range: Option<Range<u64>>| FoundChunk::File { store: Arc::clone(&files), file: key("x.bin"), range };
    let chunks = [
        (0, file(Some(2..5)), &b"234"[..]),
        (1, FoundChunk::Inline(Bytes::from_static(b"in memory")), b"in memory"),
        (7, file(None), b"0123456789"),
        (23, file(Some(9..9)), b""),
    ];
    let mut values = BTreeMap::from([("a/zarr.json".to_owned(), b"{}".to_vec())]);
    for (index, _, value) in &chunks {
        let mut name = "a/".to_owned();
        form.write(*index, &[4, 6], &mut name);
        values.insert(name, value.to_vec());
    }
    let chunks = chunks.into_iter().map(|(index, chunk, _)| (index, chunk)).collect();
    let mut builder = VirtualStore::builder("virtual:x");
    builder.document(key("a/zarr.json"), Bytes::from_static(b"{}"));
    let at = Prefix::new("a/").expect("a prefix");
    builder.found_chunks(at, form, &[4, 6], Arc::new(Finder { files, chunks }));
    (builder.build().expect("a store"), values)
}

const FORMS: [ChunkKeyForm; 2] = [ChunkKeyForm::Default(Separator::Slash), ChunkKeyForm::V2(Separator::Dot)];

#[test]
fn chunks_that_are_looked_up_are_values_as_others() {
    for form in FORMS {
        let (store, values) = store(Arc::new(files()), form);
        let expected: Vec<(&str, &[u8])> = values.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
        testing::contract_read(&store, &expected);
        testing::contract_read_only(&store);
        let model = MemoryStore::new();
        for (name, value) in &expected {
            model.set_all(&key(name), value).expect("set");
        }
        for prefix in ["", "a/", "a/c/", "a/c/1/", "b/"].map(|text| Prefix::new(text).expect("a prefix")) {
            assert_eq!(StoreExt::list_dir(&store, &prefix).expect("list"), model.list_dir(&prefix).expect("list"));
            assert_eq!(
                StoreExt::list_prefix(&store, &prefix).expect("list"),
                model.list_prefix(&prefix).expect("list")
            );
            testing::check_sizes(&store, &prefix);
        }
    }
}

#[test]
fn a_store_is_as_far_away_as_the_files_that_may_be_found() {
    assert!(store(Arc::new(files()), FORMS[0]).0.as_async().is_none());
    let remote = Altered::new(files()).with_profile(AccessProfile::REMOTE);
    let far = zarr_drive::AsyncAsSync::new(Arc::new(SyncAsAsync::new(Arc::new(remote))));
    let (store, values) = store(Arc::new(far), FORMS[0]);
    assert_eq!(Store::access_profile(&store).kind, StoreKind::Remote);
    let not_blocking = store.as_async().expect("a store that does not block");
    for (name, value) in values {
        let got = block_on(zarr_store::AsyncStoreExt::get(
            &not_blocking,
            &key(&name),
            &[zarr_store::ByteRange::Full],
            &GetOptions::default(),
        ));
        assert_eq!(got.expect("get").expect("there").part(0), value, "{name}");
    }
}

#[test]
fn faults_of_a_table_are_those_of_its_chunks() {
    let (store, _) = store(Arc::new(files()), FORMS[1]);
    let error = store.get_all(&key("a/2.1")).expect_err("refused");
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Argument, "finder: a/2.1"));
    assert_eq!(store.get_all(&key("a/2.2")).expect("get"), None);
    // The array and the table have different numbers of chunks.
    let mut builder = VirtualStore::builder("virtual:x");
    let finder = Finder { files: Arc::new(files()), chunks: BTreeMap::new() };
    builder.found_chunks(Prefix::new("a/").expect("a prefix"), FORMS[0], &[5], Arc::new(finder));
    let error = builder.build().expect_err("refused").to_string();
    assert_eq!(error, "virtual:x: array a/: found a table of 24 chunks, expected [5]");
}

#[test]
fn a_document_stands_in_the_place_of_a_chunk() {
    let files: Arc<dyn Store> = Arc::new(files());
    let range = Some(2..5);
    let chunk = FoundChunk::File { store: Arc::clone(&files), file: key("x.bin"), range };
    let mut builder = VirtualStore::builder("virtual:x");
    builder.document(key("a/0.0"), Bytes::from_static(b"document"));
    let finder = Finder { files, chunks: BTreeMap::from([(0, chunk.clone()), (1, chunk)]) };
    builder.found_chunks(Prefix::new("a/").expect("a prefix"), FORMS[1], &[4, 6], Arc::new(finder));
    let store = builder.build().expect("a store");
    testing::contract_read(&store, &[("a/0.0", b"document"), ("a/0.1", b"234")]);
    testing::check_sizes(&store, &Prefix::root());
    assert!(matches!(store.find_chunk(&key("a/0.0")), Ok(Some(FoundChunk::Inline(bytes))) if &*bytes == b"document"));
    assert!(
        matches!(store.find_chunk(&key("a/0.1")), Ok(Some(FoundChunk::File { range: Some(range), .. })) if range == (2..5))
    );
    assert!(matches!(store.find_chunk(&key("a/0.2")), Ok(Some(FoundChunk::Missing))));
    assert!(matches!(store.find_chunk(&key("b/0.0")), Ok(None)));
}

#[test]
fn chunks_that_are_known_are_got_together() {
    let remote = Altered::new(files()).with_profile(AccessProfile::REMOTE);
    let counted = Arc::new(zarr_store::Counted::new(SyncAsAsync::new(Arc::new(remote))));
    let far: Arc<dyn Store> = Arc::new(zarr_drive::AsyncAsSync::new(counted.clone()));
    let file = |file: &str, range| FoundChunk::File { store: Arc::clone(&far), file: key(file), range: Some(range) };
    let places = [file("x.bin", 2..5), file("x.bin", 6..8), file("y.bin", 0..2), file("x.bin", 0..1)];
    let mut builder = VirtualStore::builder("virtual:x");
    let finder = Finder { files: Arc::clone(&far), chunks: (0..).zip(places).collect() };
    builder.found_chunks(Prefix::new("a/").expect("a prefix"), FORMS[1], &[4, 6], Arc::new(finder));
    let store = builder.build().expect("a store");
    let at = |name: &str| Store::location(&store, &key(name));
    let (first, second) = (at("a/0.0").expect("known"), at("a/0.1").expect("known"));
    assert_eq!((first.range, second.range, first.file), (2..5, 6..8, second.file));
    assert_ne!(at("a/0.2").expect("known").file, first.file);
    assert_eq!((at("a/0.5"), at("a/2.1")), (None, None));
    let keys = ["a/0.0", "a/0.2", "a/0.1", "a/0.3", "a/0.5", "a/2.1"].map(key);
    let options = GetOptions::default();
    let gets =
        || keys.iter().map(|key| zarr_store::ValueGet::new(key, &[zarr_store::ByteRange::Full], &options)).collect();
    for is_blocking in [true, false] {
        let got = match is_blocking {
            true => StoreExt::get_many(&store, gets()),
            false => block_on(zarr_store::AsyncStoreExt::get_many(&store, gets())),
        };
        let got: Vec<_> =
            got.expect("gets").into_iter().map(|got| got.map(|got| got.map(|got| got.part(0).to_vec()))).collect();
        let values = got.iter().map(|got| got.as_ref().ok().cloned().flatten());
        let expected = [Some(&b"234"[..]), None, Some(b"67"), Some(b"0"), None, None];
        assert_eq!(values.collect::<Vec<_>>(), expected.map(|value| value.map(<[u8]>::to_vec)));
        // There is no y.bin.
        let errors: Vec<usize> = got.iter().enumerate().filter(|(_, got)| got.is_err()).map(|(at, _)| at).collect();
        assert_eq!(errors, [1, 5]);
        assert_eq!(counted.take().gets, 2, "one for each file");
    }
}

#[test]
fn a_range_that_ends_before_it_begins_is_an_error() {
    let files: Arc<dyn Store> = Arc::new(files());
    #[expect(clippy::reversed_empty_ranges, reason = "the fault")]
    let range = Some(5..2);
    let chunk = FoundChunk::File { store: Arc::clone(&files), file: key("x.bin"), range };
    let mut builder = VirtualStore::builder("virtual:x");
    let finder = Finder { files, chunks: BTreeMap::from([(0, chunk)]) };
    builder.found_chunks(Prefix::new("a/").expect("a prefix"), FORMS[1], &[4, 6], Arc::new(finder));
    let error = builder.build().expect("a store").get_all(&key("a/0.0")).expect_err("refused").to_string();
    assert!(error.contains("a chunk from 5 to 2"), "{error}");
}
