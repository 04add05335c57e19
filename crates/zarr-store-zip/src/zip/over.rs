//! Tests of zip files in other stores.

use std::slice::from_ref;
use std::sync::Arc;

use proptest::prelude::*;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::testing::{self, Altered};
use zarr_store::{
    AccessProfile, AsyncStore, AsyncStoreExt, ByteRange, Bytes, Counted, Counts, ErrorKind, Fetched, GetOptions, Key,
    MemoryStore, Prefix, Store, StoreExt,
};

use super::archive::{Member, archive, member, stored};
use super::entry::{DEFLATED, STORED};
use super::tests::{VALUES, fault, members, with};
use super::{AsyncZipStore, Error, Result, ZipStore};
use crate::ZipFault;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// Returns a store with a zip file of these bytes at `x.zip`.
fn below(file: &[u8]) -> MemoryStore {
    let store = MemoryStore::new();
    store.set_all(&key("x.zip"), file).expect("set");
    store
}

fn over(store: impl Store + 'static) -> Result<ZipStore> {
    ZipStore::over(Arc::new(store), key("x.zip"))
}

fn not_blocking(store: impl Store + 'static) -> Result<AsyncZipStore> {
    block_on(AsyncZipStore::open(Arc::new(SyncAsAsync::new(Arc::new(store))), key("x.zip")))
}

/// Remote store that counts its requests.
type Remote = Counted<Altered<MemoryStore>>;

fn remote(file: &[u8]) -> Arc<Remote> {
    Arc::new(Counted::new(Altered::new(below(file)).with_profile(AccessProfile::REMOTE)))
}

/// Returns the numbers of gets, ranges and bytes since the last call.
fn taken(store: &Remote) -> (u64, u64, u64) {
    let Counts { gets, ranges, bytes_read, .. } = store.take();
    (gets, ranges, bytes_read)
}

#[test]
fn keeps_the_contract_of_reading() {
    for method in [STORED, DEFLATED] {
        for (wide, comment) in [(false, 0), (true, 0), (true, usize::from(u16::MAX))] {
            let mut members = members(method);
            for (i, member) in members.iter_mut().enumerate() {
                member.wide = wide;
                // Longer than what is read with the value, in one of them.
                member.local_extra = vec![0; [0, 12, 1024, 5000][i % 4]];
            }
            let file = archive(&members, &vec![b'c'; comment], wide);
            for profile in [AccessProfile::MEMORY, AccessProfile::LOCAL, AccessProfile::REMOTE] {
                let store = over(Altered::new(below(&file)).with_profile(profile)).expect("opened");
                testing::contract_read(&store, &VALUES);
                testing::contract_read_only(&store);
                // A part of a compressed file costs the decoding of the whole.
                assert_eq!(store.access_profile(), profile.cheap_parts(false));
                assert_eq!((store.path(), store.to_string().as_str()), (None, "memory:x.zip"));
            }
        }
    }
}

#[test]
fn a_store_that_does_not_block_reads_the_same() {
    let file = archive(&members(DEFLATED), b"", false);
    let (blocking, store) = (over(below(&file)).expect("opened"), not_blocking(below(&file)).expect("opened"));
    let root = Prefix::root();
    assert_eq!(block_on(store.list_prefix(&root)).expect("listed"), blocking.list().expect("listed"));
    for prefix in [root, Prefix::new("g/").expect("a prefix")] {
        assert_eq!(block_on(store.list_dir(&prefix)).expect("listed"), blocking.list_dir(&prefix).expect("listed"));
    }
    assert_eq!((store.capabilities(), store.access_profile()), (blocking.capabilities(), blocking.access_profile()));
    assert_eq!(store.to_string(), "memory:x.zip");
    let newest = GetOptions::default();
    for (name, value) in VALUES {
        let key = key(name);
        let get = |ranges: &[ByteRange]| block_on(store.get(&key, ranges, &newest));
        let size = value.len() as u64;
        assert_eq!(get(&[]).expect("get").expect("there").size, Some(size));
        let got = get(&[ByteRange::Full, ByteRange::Suffix(size / 2)]).expect("get").expect("there");
        assert_eq!((got.part(0), got.part(1)), (value, &value[value.len() - value.len() / 2..]));
        assert!(get(&[ByteRange::From(size + 1)]).expect_err("outside").is_range());
    }
    assert!(block_on(store.get(&key("absent"), &[ByteRange::Full], &newest)).expect("get").is_none());
    assert!(block_on(store.erase(&key("zarr.json"))).expect_err("refused").is_read_only());
}

#[test]
fn few_requests_open_a_file() {
    let large = stored("large", &[1; 200_000]);
    let many: Vec<Member> = (0..2000).map(|i| stored(&format!("c/{i}/{:0>40}", 0), b"")).collect();
    let small = [stored("a", b"1")];
    let long = vec![b'c'; usize::from(u16::MAX)];
    // 65,577 bytes are the longest end of a file.
    for (file, requests) in [
        (archive(from_ref(&large), b"", false), 1),
        (archive(from_ref(&large), b"a comment", true), 1),
        // The suffix is longer than the file.
        (archive(&small, b"", false), 2),
        // The directory is not in the end of the file.
        (archive(&many, b"", false), 2),
        (archive(from_ref(&large), &long, false), 2),
        // The zip64 record isn't either.
        (archive(&[large], &long, true), 3),
    ] {
        let store = remote(&file);
        ZipStore::over(store.clone(), key("x.zip")).expect("opened");
        let (gets, ..) = taken(&store);
        assert_eq!(gets, requests, "{} bytes", file.len());
        block_on(AsyncZipStore::open(Arc::new(SyncAsAsync::new(store.clone())), key("x.zip"))).expect("opened");
        assert_eq!(taken(&store).0, requests);
    }
}

#[test]
fn one_request_gets_a_value() {
    let value: Vec<u8> = (0..3_000_000_u32).map(|i| i as u8).collect();
    let with_extra = |name: &str, len: usize| Member { local_extra: vec![0; len], ..stored(name, &value) };
    let file = archive(&[with_extra("a", 28), with_extra("b", 0), with_extra("c", 5000)], b"", false);
    let store = remote(&file);
    let zip = ZipStore::over(store.clone(), key("x.zip")).expect("opened");
    store.take();
    let check = |name: &str, ranges: &[ByteRange], requests: (u64, u64, u64)| {
        let got = zip.get_ranges(&key(name), ranges).expect("get").expect("there");
        for (part, range) in got.parts().zip(ranges) {
            let at = range.resolve(value.len() as u64).expect("inside");
            assert_eq!(part, &value[at.start as usize..at.end as usize], "{name}: {range}");
        }
        assert_eq!(taken(&store), requests, "{name}: {ranges:?}");
    };
    let (near, far) = (ByteRange::Range(1000..1010), ByteRange::Suffix(10));
    // The local header, its name, and the bytes up to the end of the range; the header may be longer by the 28 bytes that the
    // directory leaves room for.
    check("a", from_ref(&near), (1, 1, 31 + 28 + 1010));
    check("a", from_ref(&near), (1, 1, 10));
    check("a", &[near.clone(), far.clone()], (1, 2, 20));
    // Too far behind the header: a range of its own, of the same get.
    check("b", from_ref(&far), (1, 2, 31 + 10));
    check("b", &[ByteRange::Full], (1, 1, 3_000_000));
    // A longer header than is expected.
    check("c", from_ref(&near), (2, 2, 31 + 1024 + 1010 + 10));
    check("c", &[near], (1, 1, 10));
    assert_eq!(zip.size(&key("c")).expect("size"), Some(3_000_000));
    assert!(zip.get_all(&key("absent")).expect("get").is_none());
    assert_eq!(taken(&store), (0, 0, 0));
}

#[test]
fn a_deflated_value_is_read_whole() {
    let value = vec![5; 100_000];
    let member = member("a", &value, DEFLATED);
    let compressed = member.data.len() as u64;
    let store = remote(&archive(&[member], b"", false));
    let zip = ZipStore::over(store.clone(), key("x.zip")).expect("opened");
    store.take();
    for due in [(1, 1, 31 + compressed), (1, 1, compressed)] {
        let got = zip.get_ranges(&key("a"), &[ByteRange::Range(9..11)]).expect("get").expect("there");
        assert_eq!(got.part(0), [5, 5]);
        assert_eq!(taken(&store), due);
    }
}

#[track_caller]
fn is_replaced(error: &Error, found: &str) {
    assert!(matches!(fault(error), Some(ZipFault::Replaced { .. })), "{error}");
    assert!(error.to_string().contains(&format!("(found {found}")), "{error}");
    // Neither read again nor taken for a lost race.
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Io, false));
}

#[test]
fn a_file_that_was_replaced_is_an_error() {
    let first = archive(&members(STORED), b"", false);
    let second = archive(&[stored("zarr.json", &[b'x'; 10_000])], b"", false);
    // A store that tells versions, and does not hold on to an older state.
    let store = Altered::new(below(&first)).getting(|store, key, ranges| store.get_ranges(key, ranges));
    let (store, name) = (Arc::new(store), key("x.zip"));
    let zip = ZipStore::over(store.clone(), name.clone()).expect("opened");
    let not_blocking = block_on(AsyncZipStore::open(Arc::new(SyncAsAsync::new(store.clone())), name.clone()));
    let not_blocking = not_blocking.expect("opened");
    zip.get_all(&key("zarr.json")).expect("get").expect("there");
    store.set_all(&name, &second).expect("set");
    // One of which the header is known, and one of which it is not.
    for entry in ["zarr.json", "g/c/0/0"] {
        is_replaced(&zip.get_all(&key(entry)).expect_err("replaced"), "version ");
        let got = block_on(not_blocking.get(&key(entry), &[ByteRange::Full], &GetOptions::default()));
        is_replaced(&got.expect_err("replaced"), "version ");
    }
    store.erase(&name).expect("erase");
    is_replaced(&zip.get_all(&key("zarr.json")).expect_err("gone"), "no file");
    assert!(ZipStore::over(store.clone(), name).expect_err("gone").is_not_found());
}

#[test]
fn a_store_that_holds_the_older_state_gives_that() {
    let store = Arc::new(below(&archive(&members(STORED), b"", false)));
    let zip = ZipStore::over(store.clone(), key("x.zip")).expect("opened");
    store.set_all(&key("x.zip"), &archive(&[stored("zarr.json", b"another")], b"", false)).expect("set");
    testing::contract_read(&zip, &VALUES);
}

/// Returns a store without versions.
fn without_versions(change: impl Fn(&mut Fetched, &[ByteRange]) + Send + Sync + 'static) -> Altered<MemoryStore> {
    let file = archive(&[stored("a", &[1; 200_000])], b"", false);
    Altered::new(below(&file)).getting(move |store, key, ranges| {
        let mut fetched = store.get_ranges(key, ranges)?;
        if let Some(fetched) = &mut fetched {
            (fetched.version, fetched.snapshot) = (None, None);
            change(fetched, ranges);
        }
        Ok(fetched)
    })
}

#[test]
fn another_size_is_noticed_where_there_are_no_versions() {
    let store = Arc::new(without_versions(|_, _| {}));
    let zip = ZipStore::over(store.clone(), key("x.zip")).expect("opened");
    assert_eq!(zip.get_all(&key("a")).expect("get").expect("there").len(), 200_000);
    let mut file = store.inner().get_all(&key("x.zip")).expect("get").expect("there").to_vec();
    file.push(0);
    store.inner().set_all(&key("x.zip"), &file).expect("set");
    is_replaced(&zip.get_all(&key("a")).expect_err("longer"), "200101 bytes");
    file.truncate(100_000);
    store.inner().set_all(&key("x.zip"), &file).expect("set");
    is_replaced(&zip.get_all(&key("a")).expect_err("shorter"), "100000 bytes");
}

#[test]
fn a_store_need_not_tell_the_size_of_the_file() {
    let store = without_versions(|fetched, ranges| {
        if !ranges.is_empty() {
            fetched.size = None;
        }
    });
    let zip = over(store).expect("opened");
    assert_eq!(zip.get_all(&key("a")).expect("get").expect("there").len(), 200_000);
}

#[test]
fn a_store_that_breaks_its_contract() {
    let never = over(without_versions(|fetched, _| fetched.size = None)).expect_err("no size");
    assert!(matches!(never, Error::Contract { .. }), "{never}");
    let few = over(without_versions(|fetched, _| fetched.truncate(0))).expect_err("no pieces");
    assert!(matches!(few, Error::Contract { .. }), "{few}");
    let short = over(without_versions(|fetched, _| {
        let cut = fetched.part(0).len().saturating_sub(1);
        assert!(fetched.recut([(0, 0..cut)].into_iter()));
    }));
    assert!(matches!(short, Err(Error::Contract { .. })), "{short:?}");
}

/// Returns all keys with their values, or errors without the name of the store.
fn outcome(store: Result<&dyn Store, &Error>, name: &str) -> Vec<Result<(Key, Bytes), String>> {
    let text = |error: &Error| error.to_string().replace(name, "");
    let store = match store {
        Ok(store) => store,
        Err(error) => return vec![Err(text(error))],
    };
    let get = |key: Key| match store.get_all(&key) {
        Ok(value) => Ok((key, value.expect("a key that is listed"))),
        Err(error) => Err(text(&error)),
    };
    store.list().expect("listed").into_iter().map(get).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damage_has_one_outcome_however_a_file_is_read(
        at in any::<prop::sample::Index>(),
        byte: u8,
        wide: bool,
        deflate: bool,
        remote: bool,
    ) {
        let mut members = members(if deflate { DEFLATED } else { STORED });
        members.iter_mut().for_each(|member| member.wide = wide);
        let mut file = archive(&members, b"", wide);
        let at = at.index(file.len());
        file[at] = byte;
        let below = || {
            let profile = if remote { AccessProfile::REMOTE } else { AccessProfile::MEMORY };
            Altered::new(below(&file)).with_profile(profile)
        };
        let of_value = over(below());
        let of_value = outcome(of_value.as_ref().map(|store| store as &dyn Store), "memory:x.zip");
        let of_file = with(&file, |store| match store {
            Ok(store) => outcome(Ok(&store), store.to_string().as_str()),
            Err(error) => outcome(Err(&error), error.store().expect("a name")),
        });
        prop_assert_eq!(&of_value, &of_file);
        let not_blocking = not_blocking(below());
        let of_async: Vec<_> = match &not_blocking {
            Err(error) => vec![Err(error.to_string().replace("memory:x.zip", ""))],
            Ok(store) => {
                let keys = block_on(store.list_prefix(&Prefix::root())).expect("listed");
                keys.into_iter().map(|key| {
                    let got = block_on(store.get(&key, &[ByteRange::Full], &GetOptions::default()));
                    let got = got.map_err(|error| error.to_string().replace("memory:x.zip", ""))?;
                    Ok((key, got.expect("a key that is listed").into_bytes()))
                }).collect()
            }
        };
        prop_assert_eq!(of_async, of_file);
    }
}
