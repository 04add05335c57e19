//! Repositories that Python's icechunk wrote (`repositories.py`) are read as it reads them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use zarr_drive::{AsyncAsSync, SyncAsAsync};
use zarr_icechunk::{IcechunkFault, IcechunkOptions, IcechunkStore, Revision, history};
use zarr_store::testing::{Altered, contract_read, contract_read_only};
use zarr_store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Counted, Error, ErrorKind, GetInto, GetOptions, Key,
    MemoryStore, Prefix, Result, Store, StoreExt, Version,
};
use zarr_store_zip::ZipStore;

pub(crate) fn archive(name: &str) -> ZipStore {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    ZipStore::open(path).expect("an archive")
}

/// Returns the files of an archive in memory.
pub(crate) fn files(name: &str) -> MemoryStore {
    let (archive, files) = (archive(name), MemoryStore::new());
    for key in archive.list().expect("listed") {
        files.set_all(&key, &archive.get_all(&key).expect("get").expect("there")).expect("set");
    }
    files
}

/// Keys of a store with their values.
type Values = Vec<(String, Vec<u8>)>;

/// Returns the values that icechunk read, by the version of the format and the revision.
fn expected() -> BTreeMap<(String, String), Values> {
    let archive = archive("expected.zip");
    let mut expected = BTreeMap::<_, Values>::new();
    for key in archive.list().expect("listed") {
        let mut parts = key.as_str().splitn(3, '/').map(str::to_owned);
        let mut next = || parts.next().expect("three parts");
        let value = archive.get_all(&key).expect("get").expect("there").to_vec();
        expected.entry((next(), next())).or_default().push((next(), value));
    }
    expected
}

fn outside() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside.bin")).expect("read")
}

/// Returns options to open a revision, with the file outside of the repositories in a store that has versions.
pub(crate) fn options(revision: &str) -> IcechunkOptions {
    let store = Arc::new(MemoryStore::new());
    store.set_all(&key("outside.bin"), &outside()).expect("set");
    let options = IcechunkOptions::default().revision(Revision::parse(revision));
    let options = options.allow("file:///tmp/zarr-icechunk/,mine=file:///tmp/zarr-icechunk/").expect("URLs");
    options.open_files(Arc::new(move |url| {
        let name = url.strip_prefix("file:///tmp/zarr-icechunk/").expect("an allowed URL");
        Ok((Arc::clone(&store) as Arc<dyn Store>, Key::new(name)?))
    }))
}

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn borrowed(values: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    values.iter().map(|(key, value)| (key.as_str(), value.as_slice())).collect()
}

#[test]
fn every_revision_is_read_as_icechunk_reads_it() {
    let expected = expected();
    assert_eq!(expected.len(), 8);
    for ((version, revision), values) in &expected {
        let values = borrowed(values);
        let below: Arc<dyn Store> = Arc::new(archive(&format!("{version}.zip")));
        let store = IcechunkStore::open(Arc::clone(&below), options(revision)).expect("opened");
        contract_read(&store, &values);
        contract_read_only(&store);
        // The cache keeps nothing: each manifest is read again.
        let store = IcechunkStore::open(below, options(revision).manifest_bytes(0)).expect("opened");
        contract_read(&store, &values);
    }
}

#[test]
fn a_store_that_does_not_block_reads_the_same() {
    for ((version, revision), values) in &expected() {
        let below = SyncAsAsync::new(Arc::new(files(&format!("{version}.zip"))));
        let below: Arc<dyn Store> = Arc::new(AsyncAsSync::new(Arc::new(below)));
        let blocking = IcechunkStore::open(below, options(revision)).expect("opened");
        contract_read(&blocking, &borrowed(values));
        let store = blocking.as_async().expect("it does not block");
        assert_eq!(store.to_string(), blocking.to_string());
        contract_read(&AsyncAsSync::new(store), &borrowed(values));
    }
}

#[test]
fn the_branch_main_is_the_default() {
    for name in ["v1.zip", "v2.zip"] {
        let below: Arc<dyn Store> = Arc::new(files(name));
        let open = |options: IcechunkOptions| IcechunkStore::open(Arc::clone(&below), options).expect("opened");
        let store = open(IcechunkOptions::default());
        assert_eq!(store.to_string(), "icechunk:memory:@main");
        assert_eq!(store.snapshot_id(), open(options("main")).snapshot_id());
        assert_ne!(store.snapshot_id(), open(options("tag.v1")).snapshot_id());
        assert_eq!(open(options(store.snapshot_id())).snapshot_id(), store.snapshot_id());
    }
}

#[test]
fn revisions_that_are_not_there_are_named_with_those_that_are() {
    for name in ["v1.zip", "v2.zip"] {
        let below: Arc<dyn Store> = Arc::new(files(name));
        let fails = |revision: &str, text: &str| {
            let error = IcechunkStore::open(Arc::clone(&below), options(revision)).expect_err("not there");
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::Argument, format!("memory:: {text}")), "{name}");
        };
        fails("mian", "no branch or snapshot \"mian\"; branches: dev, main");
        fails("branch.a/b", "no branch \"a/b\"; branches: dev, main");
        fails("tag.v2", "no tag \"v2\"; tags: v1");
        let gone = IcechunkStore::open(Arc::clone(&below), options("tag.gone")).expect_err("it was deleted");
        assert_eq!(gone.kind(), ErrorKind::Argument, "{gone}");
        let id = "00000000000000000000";
        let error = IcechunkStore::open(Arc::clone(&below), options(id)).expect_err("not there");
        assert_eq!(error.to_string(), format!("memory:: snapshots/{id}: no such file, though revision {id} names it"));
    }
    let error = IcechunkStore::open(Arc::new(MemoryStore::new()), options("main")).expect_err("nothing");
    assert!(matches!(error, Error::NotAStore { .. }), "{error}");
}

#[test]
fn commits_name_those_that_they_were_made_from() {
    for name in ["v1.zip", "v2.zip"] {
        let below: Arc<dyn Store> = Arc::new(files(name));
        let of = |revision: &str, limit| history(Arc::clone(&below), &Revision::parse(revision), limit);
        let main = of("main", usize::MAX).expect("listed");
        let store = IcechunkStore::open(Arc::clone(&below), options("main")).expect("opened");
        assert_eq!((main[0].id.as_str(), main.len()), (store.snapshot_id(), 3), "{name}");
        for (commit, parent) in main.iter().zip(&main[1..]) {
            assert_eq!(commit.parent.as_deref(), Some(parent.id.as_str()), "{name}");
            assert!(commit.time > parent.time && parent.time > 1_700_000_000_000_000, "{name}");
        }
        assert_eq!(main[2].parent, None);
        assert_eq!(of("tag.v1", 9).expect("listed"), main[1..]);
        assert_eq!(of("tag.v1", 1).expect("listed"), main[1..2]);
        assert_eq!(of(&main[1].id, 9).expect("listed"), main[1..]);
        assert_eq!(of("branch.none", 9).expect_err("not there").kind(), ErrorKind::Argument);
        let gone = of("00000000000000000000", 9).expect_err("not there").to_string();
        assert!(gone.ends_with("no such file, though revision 00000000000000000000 names it"), "{gone}");
    }
}

#[track_caller]
fn fault<T: std::fmt::Debug>(result: Result<T>) -> IcechunkFault {
    match result.expect_err("refused") {
        Error::Format { fault, .. } => fault.downcast_ref::<IcechunkFault>().expect("a fault of Icechunk").clone(),
        error => panic!("{error}"),
    }
}

#[test]
fn files_outside_are_read_only_where_that_is_allowed() {
    let below: Arc<dyn Store> = Arc::new(files("v2.zip"));
    let store = IcechunkStore::open(Arc::clone(&below), IcechunkOptions::default()).expect("opened");
    let get = |name: &str| store.get_all(&key(name));
    let refused = get("outside/c/0/0").expect_err("not allowed");
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert_eq!(
        refused.to_string(),
        "icechunk:memory:@main: chunk outside/c/0/0 lies outside of the repository, in file:///tmp/zarr-icechunk/outside.bin: \
         option allow=file:///tmp/zarr-icechunk/ lets it be read"
    );
    let refused = get("named/c/0").expect_err("not allowed").to_string();
    assert!(
        refused.ends_with("option allow=mine=URL says where the container mine is, and that it may be read"),
        "{refused}"
    );
    // What the repository has itself is read, and the sizes of all are known.
    assert!(get("time/c/0").expect("get").is_some() && get("outside/c/3/0").expect("get").is_none());
    assert_eq!(store.size(&key("outside/c/0/0")).expect("size"), Some(40));
}

#[test]
fn a_file_outside_that_is_changed_is_noticed() {
    let below: Arc<dyn Store> = Arc::new(files("v1.zip"));
    let (source, name) = (Arc::new(MemoryStore::new()), key("outside.bin"));
    let opened = Arc::clone(&source);
    let options =
        options("main").open_files(Arc::new(move |_| Ok((Arc::clone(&opened) as Arc<dyn Store>, key("outside.bin")))));
    let store = IcechunkStore::open(below, options).expect("opened");
    let get = |options: &GetOptions| store.get(&key("outside/c/2/1"), &[ByteRange::Range(4..6)], options);
    let missing = fault(get(&GetOptions::default()));
    assert!(missing.to_string().ends_with("there is no such file"), "{missing}");
    source.set_all(&name, &outside()).expect("set");
    let first = get(&GetOptions::snapshot()).expect("get").expect("there");
    assert_eq!(first.part(0), 102_i16.to_le_bytes());
    let version = first.version.clone().expect("a version");
    assert!(get(&GetOptions::if_none_match(version)).expect("get").expect("there").is_unchanged());
    source.set_all(&name, &outside()[..210]).expect("set");
    // A store in memory holds on to the older state.
    let same = get(&GetOptions::if_match(first.snapshot.clone())).expect("get").expect("there");
    assert_eq!(same.part(0), first.part(0));
    let short = fault(store.get_all(&key("outside/c/2/1")));
    assert!(matches!(short, IcechunkFault::Short { size: 210, start: 200, end: 240, .. }), "{short}");
}

/// A reference with an ETag or a time of change is read only where the file is still in that state.
#[test]
fn files_outside_are_compared_with_what_references_say_of_them() {
    const TIME: u64 = 1_145_188_800;
    let store = |etag: Option<&'static str>, modified: Option<u64>| {
        let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
        source.set_all(&key("outside.bin"), &outside()).expect("set");
        let told: Arc<dyn Store> = Arc::new(Told { store: source, etag, modified });
        let options = IcechunkOptions::default().allow("file:///tmp/zarr-icechunk/").expect("URLs");
        let options = options.open_files(Arc::new(move |_| Ok((Arc::clone(&told), key("outside.bin")))));
        IcechunkStore::open(Arc::new(files("checked.zip")), options).expect("a repository")
    };
    let get = |store: &IcechunkStore, name: &str| store.get_all(&key(&format!("{name}/c/1")));
    let same = store(Some("\"abc\""), Some(TIME));
    for name in ["etag", "time", "neither"] {
        assert_eq!(get(&same, name).expect("get").expect("there")[..], outside()[40..80], "{name}");
    }
    let changed = store(Some("\"abd\""), Some(TIME + 1));
    let told = fault(get(&changed, "etag")).to_string();
    assert!(
        told.ends_with(
            "outside.bin has ETag \"abd\", expected one that has ETag \"abc\", as when its reference was stored"
        ),
        "{told}"
    );
    let told = fault(get(&changed, "time")).to_string();
    let expected = "was changed at 2006-04-16T12:00:01Z, expected one that was not changed after 2006-04-16T12:00:00Z, as \
        when its reference was stored";
    assert!(told.ends_with(expected), "{told}");
    let unknown = store(None, None);
    for name in ["etag", "time"] {
        assert!(matches!(fault(get(&unknown, name)), IcechunkFault::Unchecked { .. }), "{name}");
        assert_eq!(unknown.size(&key(&format!("{name}/c/1"))).expect("size"), Some(40));
    }
    for store in [&changed, &unknown] {
        assert!(get(store, "neither").expect("get").is_some());
    }
}

/// Store that tells an ETag and a time in place of its own versions.
#[derive(Debug)]
struct Told {
    store: Arc<dyn Store>,
    etag: Option<&'static str>,
    modified: Option<u64>,
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

impl Store for Told {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        let Call::Get { key, ranges, .. } = call else { return self.store.call(call) };
        let mut fetched = self.store.get(&key, &ranges, &GetOptions::default())?;
        if let Some(fetched) = &mut fetched {
            fetched.version = self.etag.map(Version::new);
            fetched.modified = self.modified.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        }
        Ok(Answer::Got(fetched))
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

#[test]
fn few_requests_read_a_chunk() {
    let below = Arc::new(Counted::new(files("v2.zip")));
    let store = IcechunkStore::open(below.clone(), options("main")).expect("opened");
    // The file of the repository, and the snapshot.
    assert_eq!(below.take().gets, 2);
    store.get_all(&key("group/data/zarr.json")).expect("get").expect("there");
    assert_eq!(below.take().gets, 0);
    for (name, gets) in
        [("group/data/c/0/0", 2), ("group/data/c/0/0", 1), ("group/data/c/1/0", 0), ("group/none/c/0", 0)]
    {
        store.get_all(&key(name)).expect("get");
        assert_eq!(below.take().gets, gets, "{name}");
    }
    // Only the manifest that contains the chunk is read, and not the other manifests of the array.
    store.get_all(&key("group/split/c/7/0")).expect("get").expect("there");
    assert_eq!(below.take().gets, 1);
    store.list_dir(&Prefix::new("group/split/c/9/").expect("a prefix")).expect("listed");
    assert_eq!(below.take().gets, 1);
}

#[test]
fn manifests_in_memory_are_bounded() {
    let below = Arc::new(Counted::new(files("v2.zip")));
    // Two manifests, one after the other, then the first again.
    for (bytes, gets) in [(1, 3), (1 << 20, 2)] {
        let store = IcechunkStore::open(below.clone(), options("main").manifest_bytes(bytes)).expect("opened");
        below.take();
        for name in ["group/split/c/7/1", "group/split/c/2/1", "group/split/c/6/1"] {
            // These chunks are in the manifests.
            store.get_all(&key(name)).expect("get").expect("there");
        }
        assert_eq!(below.take().gets, gets, "{bytes}");
    }
}

#[test]
fn threads_wait_for_one_that_loads_a_manifest() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let below = Altered::new(files("v1.zip")).getting(move |store, key, ranges| {
        seen.lock().expect("not poisoned").push(key.clone());
        if key.as_str().starts_with("manifests/") {
            std::thread::sleep(Duration::from_millis(50));
        }
        store.get_ranges(key, ranges)
    });
    let store = IcechunkStore::open(Arc::new(below), options("tag.v1")).expect("opened");
    std::thread::scope(|scope| {
        for i in 0..8 {
            let store = &store;
            scope.spawn(move || store.get_all(&key(&format!("group/many/c/{i}"))).expect("get").expect("there"));
        }
    });
    let asked = asked.lock().expect("not poisoned");
    assert_eq!(asked.iter().filter(|key| key.as_str().starts_with("manifests/")).count(), 1, "{asked:?}");
}

#[test]
fn files_that_are_missing_are_no_fill_values() {
    for name in ["v1.zip", "v2.zip"] {
        let files = Arc::new(files(name));
        let store = IcechunkStore::open(files.clone(), options("tag.v1")).expect("opened");
        let chunk = key("group/data/c/0/0");
        store.get_all(&chunk).expect("get").expect("there");
        files.erase_prefix(&Prefix::new("chunks/").expect("a prefix")).expect("erased");
        let missing = fault(store.get_all(&chunk));
        assert!(matches!(&missing, IcechunkFault::Missing { by, .. } if by == "chunk group/data/c/0/0"), "{missing}");
        let mut buffer = vec![0; usize::try_from(store.size(&chunk).expect("size").expect("there")).expect("small")];
        match store.get_into(&chunk, &mut buffer) {
            Ok(outcome) => assert_eq!(outcome, GetInto::Declined),
            Err(error) => assert_eq!(fault::<()>(Err(error)), missing),
        }
        files.erase_prefix(&Prefix::new("manifests/").expect("a prefix")).expect("erased");
        let missing = fault(store.get_all(&key("time/c/0")));
        assert!(matches!(&missing, IcechunkFault::Missing { file, .. } if file.starts_with("manifests/")), "{missing}");
    }
}

#[test]
fn a_store_shows_one_snapshot() {
    let files = Arc::new(files("v1.zip"));
    let store = IcechunkStore::open(files.clone(), options("main")).expect("opened");
    let before = store.list().expect("listed");
    let dev = files.get_all(&key("refs/branch.dev/ref.json")).expect("get").expect("there");
    files.set_all(&key("refs/branch.main/ref.json"), &dev).expect("set");
    assert_eq!(store.list().expect("listed"), before);
    assert_ne!(IcechunkStore::open(files, options("main")).expect("opened").list().expect("listed"), before);
}
