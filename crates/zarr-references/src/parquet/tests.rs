//! Tests that read written references in Parquet.

use std::sync::Arc;

use proptest::prelude::*;
use zarr_store::testing::Altered;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Bytes, Call, Capabilities, Counted, Error, ErrorKind, GetOptions, Key,
    MemoryStore, Prefix, Result, Store, StoreExt, ValueGet, fallback_blocking,
};
use zarr_store_virtual::VirtualStore;

use crate::{ParquetWriter, Reference, ReferencesOptions, open_parquet};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn folder() -> Prefix {
    Prefix::new("dir/refs.parq/").expect("a prefix")
}

const DATA: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Returns a store with the files that the references name.
fn files() -> Arc<MemoryStore> {
    let files = MemoryStore::new();
    for name in ["dir/data.bin", "dir/sub/more.bin", "dir/\u{e4}.bin"] {
        files.set_all(&key(name), DATA).expect("set");
    }
    Arc::new(files)
}

const URLS: [&str; 3] = ["data.bin", "sub/more.bin", "\u{e4}.bin"];

fn array(counts: &[u64]) -> String {
    let shape: Vec<u64> = counts.iter().map(|count| count * 2).collect();
    let chunks = vec![2; counts.len()];
    format!(r#"{{"zarr_format": 2, "shape": {shape:?}, "chunks": {chunks:?}, "dtype": "<i2", "compressor": null}}"#)
}

fn open(files: &Arc<MemoryStore>) -> VirtualStore {
    open_parquet(files.clone(), &folder(), &ReferencesOptions::default()).expect("a store")
}

/// Reference of a chunk of the model; the files have the numbers of [`URLS`].
#[derive(Clone, Debug)]
enum Made {
    Missing,
    Raw(Vec<u8>),
    Range(usize, u64, u64),
    Whole(usize),
}

fn made() -> impl Strategy<Value = Made> {
    prop_oneof![
        Just(Made::Missing),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Made::Raw),
        (0..3_usize, 0..30_u64, 0..6_u64).prop_map(|(url, offset, length)| Made::Range(url, offset, length)),
        (0..3_usize).prop_map(Made::Whole),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(
        parts in prop::collection::vec((made(), 1..40_usize), 1..20),
        record_size in 1..70_u64,
        more in 0..50_u64,
    ) {
        let chunks: Vec<&Made> = parts.iter().flat_map(|(made, count)| std::iter::repeat_n(made, *count)).collect();
        let count = chunks.len() as u64 + more;
        let files = files();
        let mut writer = ParquetWriter::new(files.clone(), folder(), record_size).expect("a writer");
        writer.document(".zgroup", br#"{"zarr_format": 2}"#).expect("a document");
        writer.document("g/a/.zarray", array(&[count]).as_bytes()).expect("a document");
        let mut references = writer.array("g/a").expect("an array");
        let model = MemoryStore::new();
        for (index, made) in chunks.iter().enumerate() {
            let (reference, value) = match made {
                Made::Missing => continue,
                Made::Raw(bytes) => (Reference::Inline(Bytes::copy_from_slice(bytes)), &bytes[..]),
                Made::Range(url, offset, length) => {
                    let value = &DATA[*offset as usize..][..*length as usize];
                    (Reference::range(URLS[*url], *offset, *length), value)
                }
                Made::Whole(url) => (Reference::file(URLS[*url]), DATA),
            };
            references.push(index as u64, &reference).expect("a reference");
            model.set_all(&key(&format!("g/a/{index}")), value).expect("set");
        }
        references.finish().expect("written");
        writer.finish().expect("written");
        let store = open(&files);
        for index in 0..count {
            let key = key(&format!("g/a/{index}"));
            prop_assert_eq!(store.get_all(&key).expect("get"), model.get_all(&key).expect("get"), "{}", key);
        }
        for key in [".zgroup", "g/a/.zarray"].map(key) {
            model.set_all(&key, &store.get_all(&key).expect("get").expect("there")).expect("set");
        }
        for prefix in ["", "g/", "g/a/"].map(|text| Prefix::new(text).expect("a prefix")) {
            prop_assert_eq!(StoreExt::list_dir(&store, &prefix).expect("list"), StoreExt::list_dir(&model, &prefix).expect("list"));
            prop_assert_eq!(
                StoreExt::list_prefix(&store, &prefix).expect("list"),
                StoreExt::list_prefix(&model, &prefix).expect("list")
            );
            zarr_store::testing::check_sizes(&store, &prefix);
        }
    }
}

#[test]
fn writers_refuse_what_fsspec_does_not_read() {
    let writer = || ParquetWriter::new(files(), folder(), 10).expect("a writer");
    let nested = array(&[2, 2]).replace('}', r#", "dimension_separator": "/"}"#);
    for (key, text, expected) in [
        ("a/zarr.json", "{}", "found the document a/zarr.json, expected those of Zarr v2"),
        (".zmetadata", "{}", "found the document .zmetadata"),
        (".zarray", "{}", "found an array at the root"),
        ("a/.zarray", "{}", "a/.zarray: found no shapes"),
        ("a/.zarray", "{", "document a/.zarray: line 1"),
        ("a/.zarray", &nested, "found keys of chunks with slashes, expected points"),
    ] {
        let error = writer().document(key, text.as_bytes()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut twice = writer();
    twice.document("a/.zarray", array(&[9]).as_bytes()).expect("a document");
    assert!(twice.document("a/.zarray", b"{}").expect_err("refused").to_string().contains("twice"));
    assert!(twice.array("b").expect_err("refused").to_string().contains("array b: found no document"));
    let mut array = twice.array("a").expect("an array");
    let (url, length) = ("data.bin", 1);
    array.push(3, &Reference::file(url)).expect("a reference");
    for (index, offset, expected) in [
        (3, 0, "a/chunk 3: found 9 chunks in the array, and chunk 4 as the next"),
        (9, 0, "chunk 9: found 9 chunks"),
        (4, 1 << 63, "more than 63 bits"),
    ] {
        let error = array.push(index, &Reference::range(url, offset, length)).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
    for size in [0, (1 << 22) + 1] {
        ParquetWriter::new(files(), folder(), size).expect_err("refused");
    }
}

/// Returns a store that cannot list keys, and counts gets.
fn without_lists(files: Arc<MemoryStore>) -> impl Store {
    #[derive(Debug)]
    struct Web(Counted<Arc<MemoryStore>>);
    impl std::fmt::Display for Web {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }
    impl Store for Web {
        fn call(&self, call: Call<'_>) -> Result<Answer> {
            if let Call::Get { .. } = call { self.0.call(call) } else { fallback_blocking(self, call) }
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::none()
        }
        fn access_profile(&self) -> AccessProfile {
            AccessProfile::MEMORY
        }
    }
    Web(Counted::new(files))
}

/// Writes references to an array of `count` chunks, of which each `step`th is stored.
fn written(files: &Arc<MemoryStore>, count: u64, step: usize, record_size: u64) {
    let mut writer = ParquetWriter::new(files.clone(), folder(), record_size).expect("a writer");
    writer.document("a/.zarray", array(&[count]).as_bytes()).expect("a document");
    let mut references = writer.array("a").expect("an array");
    for index in (0..count).step_by(step) {
        references.push(index, &Reference::range("data.bin", index % 30, 1)).expect("a reference");
    }
    references.finish().expect("written");
    writer.finish().expect("written");
}

#[test]
fn files_are_read_when_their_chunks_are_asked_for() {
    let files = files();
    written(&files, 40, 1, 10);
    let counted = Arc::new(Counted::new(files));
    let open = |max_cached| {
        let options = ReferencesOptions::default().max_cached(max_cached);
        open_parquet(counted.clone(), &folder(), &options).expect("a store")
    };
    let gets = |store: &VirtualStore, index: u64| {
        store.get_all(&key(&format!("a/{index}"))).expect("get").expect("there");
        counted.take().gets
    };
    let store = open(1 << 20);
    assert_eq!(counted.take().gets, 1);
    // A get of the file of references, and a get of the file with the chunk.
    assert_eq!([0, 1, 9, 10, 11, 0].map(|index| gets(&store, index)), [2, 1, 1, 2, 1, 1]);
    // The cache has room for the last file of references only.
    let store = open(0);
    counted.take();
    assert_eq!([0, 1, 10, 0].map(|index| gets(&store, index)), [2, 1, 2, 2]);
}

#[test]
fn chunks_that_lie_beside_each_other_are_got_together_once_their_file_was_read() {
    let files = files();
    let mut writer = ParquetWriter::new(files.clone(), folder(), 10).expect("a writer");
    writer.document("a/.zarray", array(&[30]).as_bytes()).expect("a document");
    let mut references = writer.array("a").expect("an array");
    for index in 0..30 {
        references.push(index, &Reference::range(URLS[index as usize / 15], index, 1)).expect("a reference");
    }
    references.finish().expect("written");
    writer.finish().expect("written");
    let counted = Arc::new(Counted::new(Altered::new(files).with_profile(AccessProfile::REMOTE)));
    let store = open_parquet(counted.clone(), &folder(), &ReferencesOptions::default()).expect("a store");
    let at = |index: u64| Store::location(&store, &key(&format!("a/{index}")));
    assert_eq!(at(3), None, "its file of references was not read");
    assert_eq!(store.get_all(&key("a/3")).expect("get").as_deref(), Some(&b"3"[..]));
    let (third, fourth) = (at(3).expect("known"), at(4).expect("known"));
    assert_eq!((third.range, fourth.range, third.file), (3..4, 4..5, fourth.file));
    assert_eq!(at(10), None);
    for index in [10, 20] {
        store.get_all(&key(&format!("a/{index}"))).expect("get");
    }
    counted.take();
    let keys: Vec<Key> = (0..30).map(|index| key(&format!("a/{index}"))).collect();
    let options = GetOptions::default();
    let gets = keys.iter().map(|key| ValueGet::new(key, &[ByteRange::Full], &options)).collect();
    let got = StoreExt::get_many(&store, gets).expect("gets");
    let values: Vec<u8> = got.into_iter().map(|got| got.expect("get").expect("there").part(0)[0]).collect();
    assert_eq!(values, &DATA[..30]);
    assert_eq!(counted.take().gets, 2, "one for each file");
}

#[test]
fn lists_look_at_the_files_that_there_are() {
    let files = files();
    // A few chunks among very many.
    written(&files, 1 << 40, 1 << 38, 1000);
    let store = open(&files);
    let prefix = Prefix::new("a/").expect("a prefix");
    let names: Vec<String> =
        StoreExt::list_prefix(&store, &prefix).expect("list").iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a/.zarray", "a/0", "a/274877906944", "a/549755813888", "a/824633720832"]);
    let far = Arc::new(without_lists(files));
    let store = open_parquet(far, &folder(), &ReferencesOptions::default()).expect("a store");
    store.get_all(&key("a/274877906944")).expect("get").expect("there");
    let error = StoreExt::list_prefix(&store, &prefix).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.to_string().contains("found 1099511628 files that cannot be listed, expected at most 65536"),
        "{error}"
    );
    let few = self::files();
    written(&few, 100, 25, 10);
    let store = open_parquet(Arc::new(without_lists(few)), &folder(), &ReferencesOptions::default()).expect("a store");
    assert_eq!(StoreExt::list_prefix(&store, &prefix).expect("list").len(), 5);
}

#[test]
fn references_lead_where_those_in_json_may() {
    let files = files();
    files.set_all(&key("outside.bin"), DATA).expect("set");
    let urls = ["data.bin", "/data/dir/data.bin", "/other/x.bin", "../outside.bin", "/etc/passwd", "s3://b/x"];
    let mut writer = ParquetWriter::new(files.clone(), folder(), 10).expect("a writer");
    writer.document("a/.zarray", array(&[6]).as_bytes()).expect("a document");
    let mut references = writer.array("a").expect("an array");
    for (index, url) in urls.iter().enumerate() {
        references.push(index as u64, &Reference::range(*url, 0, 1)).expect("a reference");
    }
    references.finish().expect("written");
    writer.finish().expect("written");
    let options = ReferencesOptions::default().directory("/data/dir").allow("/other").open_by(|_| {
        let other = MemoryStore::new();
        other.set_all(&key("x.bin"), b"elsewhere")?;
        Ok(Arc::new(other))
    });
    let store = open_parquet(files, &folder(), &options).expect("a store");
    let got = |index: usize| store.get_all(&key(&format!("a/{index}")));
    for (index, expected) in [b"0", b"0", b"e"].into_iter().enumerate() {
        assert_eq!(got(index).expect("get").as_deref(), Some(&expected[..]));
    }
    for (index, url) in urls.iter().enumerate().skip(3) {
        let error = got(index).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(
            error.to_string().contains(&format!("key a/{index}: refers to {url}, which does not lie below")),
            "{error}"
        );
    }
}

#[test]
fn documents_with_faults_are_refused() {
    let opened = |text: &str| {
        let files = files();
        files.set_all(&key("dir/refs.parq/.zmetadata"), text.as_bytes()).expect("set");
        open_parquet(files, &folder(), &ReferencesOptions::default()).expect_err("refused")
    };
    let array = array(&[2]);
    for (text, expected) in [
        ("{", ".zmetadata: line 1"),
        (r#"{"metadata": {}}"#, "found nothing as record_size, expected the number of references in a file"),
        (r#"{"metadata": {}, "record_size": 0}"#, "found 0 as record_size"),
        (r#"{"metadata": {}, "record_size": -5}"#, "found -5 as record_size"),
        (r#"{"metadata": [], "record_size": 5}"#, "found no object as metadata"),
        (r#"{"metadata": {"a/.zarray": {}}, "record_size": 5}"#, "a/.zarray: found no shapes of the array"),
        (r#"{"metadata": {"a/../.zarray": {}}, "record_size": 5}"#, ""),
    ] {
        let error = opened(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let missing = open_parquet(files(), &folder(), &ReferencesOptions::default()).expect_err("no store");
    assert_eq!(missing.to_string(), Error::NoStore { store: "memory:dir/refs.parq".to_owned() }.to_string());
    let long = ReferencesOptions::default().max_size(10);
    let files = files();
    written(&files, 5, 1, 10);
    let error = open_parquet(files.clone(), &folder(), &long).expect_err("too long").to_string();
    assert!(error.contains("of which at most 10 are read"), "{error}");
    // A document is a string, as in references in JSON.
    let text =
        format!(r#"{{"metadata": {{"a/.zarray": {}}}, "record_size": 10}}"#, zarr_json::Value::from(array.as_str()));
    files.set_all(&key("dir/refs.parq/.zmetadata"), text.as_bytes()).expect("set");
    let store = open(&files);
    assert_eq!(store.get_all(&key("a/.zarray")).expect("get").as_deref(), Some(array.as_bytes()));
    // The file has rows for more chunks than the array.
    assert_eq!(store.get_all(&key("a/1")).expect("get").as_deref(), Some(&b"1"[..]));
    files.set_all(&key("dir/refs.parq/a/refs.0.parq"), b"PAR1").expect("set");
    let error = open(&files).get_all(&key("a/1")).expect_err("refused").to_string();
    assert!(error.starts_with("memory:dir/refs.parq: a/refs.0.parq: byte 4: found other bytes"), "{error}");
}
