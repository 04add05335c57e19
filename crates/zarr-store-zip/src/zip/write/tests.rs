use std::path::PathBuf;

use proptest::prelude::*;
use zarr_store::{ErrorKind, Precondition};

use super::*;
use crate::zip::archive::{archive, stored};
use crate::zip::directory;
use crate::zip::entry::{DEFLATED, STORED};
use crate::{ZipOptions, ZipStore};
use zarr_store::{StoreExt, testing};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.zip");
    (folder, path)
}

fn session(store: &ZipStore) -> &Session {
    store.session().expect("a store that writes")
}

#[test]
fn keeps_the_contract() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(ZipOptions::default().replace(true));
    testing::contract(&store);
    // On the file that is there, and on a copy of it.
    testing::contract(&store);
    store.close().expect("closed");
    testing::contract_read(&ZipStore::open(&path).expect("opened"), &[]);
    let store = ZipStore::append(&path).expect("opened").with(ZipOptions::default().replace(true));
    testing::contract(&store);
    for value in [b"1", b"2"] {
        store.set_all(&key("a"), value).expect("set");
    }
    assert!(store.repack().expect("repacked") > 0);
    store.erase(&key("a")).expect("erased");
    testing::contract(&store);
}

#[test]
fn keeps_the_contract_between_others() {
    let (_folder, path) = folder();
    let options = ZipOptions::default().replace(true).release(true);
    let store = ZipStore::create(&path).expect("created").with(options);
    testing::contract(&store);
    store.flush().expect("flushed");
    // From its first write on.
    testing::contract(&ZipStore::update(&path).expect("opened").with(options));
}

#[test]
fn a_failed_write_leaves_no_entry() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("before"), b"1").expect("set");
    // A handle that takes no writes.
    let broken = |store: &ZipStore| {
        let mut writer = session(store).writer();
        let target = writer.target.as_mut().expect("a file that is written");
        let read_only = Arc::new(File::open(path.with_file_name(".x.zip.zarr-tmp")).expect("opened"));
        std::mem::replace(&mut target.file, read_only)
    };
    let sound = broken(&store);
    for value in [&[2; 10][..], &[2; 200_000]] {
        let error = store.set_all(&key("a"), value).expect_err("no writes");
        assert!(error.to_string().ends_with("x.zip: set a"), "{error}");
    }
    assert_eq!(store.flush().expect_err("no writes").kind(), ErrorKind::Io);
    assert_eq!(store.list().expect("listed"), [key("before")]);
    session(&store).writer().target.as_mut().expect("a file").file = sound;
    store.set_all(&key("b"), b"3").expect("set");
    store.close().expect("closed");
    testing::contract_read(&ZipStore::open(&path).expect("opened"), &[("b", b"3"), ("before", b"1")]);
}

#[test]
fn entries_behind_4_gib() {
    const FAR: u64 = 5 << 30;
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    store.set_all(&key("near"), b"1").expect("set");
    // A hole in the file.
    session(&store).writer().end = FAR;
    store.set_all(&key("far"), b"2").expect("set");
    store.flush().expect("flushed");
    let values: [(&str, &[u8]); 2] = [("far", b"2"), ("near", b"1")];
    testing::contract_read(&store, &values);
    testing::contract_read(&ZipStore::open(&path).expect("opened"), &values);
    if let Ok(python) = std::process::Command::new("python3")
        .args(["-c", "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('far'))"])
        .arg(&path)
        .output()
    {
        assert_eq!(String::from_utf8_lossy(&python.stdout).trim(), "b'2'", "{python:?}");
    }
    // Nothing needs the hole.
    assert!(store.repack().expect("repacked") > FAR - 1000);
    testing::contract_read(&ZipStore::open(&path).expect("opened"), &values);
}

#[test]
fn records_of_any_size_are_read_as_they_were() {
    let wide = u64::from(u32::MAX);
    for (size, compressed, offset) in [
        (1, 1, 1),
        (wide, 7, 0),
        (7, wide, wide - 1),
        (wide - 1, wide - 1, wide),
        (u64::MAX >> 8, u64::MAX >> 9, u64::MAX >> 7),
    ] {
        let mut record = Record::stored("\u{e4}", 9, 0, offset);
        (record.size, record.compressed) = (size, compressed);
        let mut bytes = Vec::new();
        record.put_central("\u{e4}".as_bytes(), &mut bytes);
        let (header, rest) = directory::header(&bytes).expect("a record");
        assert_eq!((header.size, header.compressed, header.offset, header.crc), (size, compressed, offset, 9));
        assert_eq!((header.name, rest, header.flags), ("\u{e4}".as_bytes(), &[][..], 1 << 11));
        assert_eq!(header.needed, if size.max(compressed).max(offset) >= wide { 45 } else { 20 });
        let again = Record::of(&header);
        let mut twice = Vec::new();
        again.put_central("\u{e4}".as_bytes(), &mut twice);
        assert_eq!(bytes, twice);
        let local = record.local(b"a");
        let extra = if size.max(compressed) >= wide { 20 } else { 0 };
        assert_eq!(local.len(), 31 + extra);
        if extra > 0 {
            assert_eq!(local[35..43], size.to_le_bytes());
            assert_eq!(local[43..51], compressed.to_le_bytes());
        }
    }
}

#[test]
fn more_entries_than_16_bits_count() {
    const COUNT: usize = 70_000;
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created");
    for i in 0..COUNT {
        store.set_all(&key(&format!("c/{i}")), &(i as u32).to_le_bytes()).expect("set");
    }
    store.close().expect("closed");
    let store = ZipStore::append(&path).expect("opened");
    store.set_all(&key("c/last"), b"").expect("set");
    store.close().expect("closed");
    let store = ZipStore::open(&path).expect("opened");
    assert_eq!(store.list().expect("listed").len(), COUNT + 1);
    for i in [0, 1, 65_535, 65_536, COUNT - 1] {
        let value = store.get_all(&key(&format!("c/{i}"))).expect("get").expect("there");
        assert_eq!(*value, (i as u32).to_le_bytes());
    }
}

#[test]
fn a_version_is_of_one_state_of_the_file() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(ZipOptions::default().replace(true));
    let first = store.set_all(&key("a"), b"1").expect("set").expect("a version");
    assert_eq!(store.set_all(&key("a"), b"1").expect("the same"), Some(first.clone()));
    store.repack().expect("repacked");
    // Other bytes may be at the same offset by now.
    let error = store.set_if(&key("a"), b"2", &Precondition::Version(first)).expect_err("another version");
    assert!(error.is_precondition());
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"1"[..]));
}

/// Returns the values that can be read.
fn values(store: &ZipStore) -> Vec<(Key, Bytes)> {
    let keys = store.list().expect("listed");
    keys.into_iter().filter_map(|key| store.get_all(&key).ok().flatten().map(|value| (key, value))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn damaged_files_keep_what_can_be_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        wide: bool,
        deflate: bool,
        comment in prop::collection::vec(any::<u8>(), 0..30),
    ) {
        let mut members = crate::zip::tests::members(if deflate { DEFLATED } else { STORED });
        members.iter_mut().for_each(|member| member.wide = wide);
        let mut bytes = archive(&members, &comment, wide);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (_folder, path) = folder();
        fs::write(&path, &bytes).expect("written");
        let Ok(before) = ZipStore::open(&path).map(|store| values(&store)) else {
            prop_assert!(ZipStore::append(&path).is_err(), "readers and writers refuse the same files");
            prop_assert_eq!(fs::read(&path).expect("read"), bytes);
            return Ok(());
        };
        let is_kept = |store: &ZipStore| {
            let after = values(store);
            before.iter().all(|value| after.contains(value)) && after.contains(&(key("new"), Bytes::from_static(b"value")))
        };
        let store = match ZipStore::append(&path) {
            // A changed comment or offset leaves bytes outside the archive, which readers pass over.
            Err(error) if error.to_string().contains("before the archive and") => {
                prop_assert_eq!(fs::read(&path).expect("read"), bytes);
                return Ok(());
            }
            opened => opened.expect("opened"),
        };
        prop_assert_eq!(&values(&store), &before);
        store.set_all(&key("new"), b"value").expect("set");
        prop_assert!(is_kept(&store));
        store.flush().expect("flushed");
        let flushed = fs::read(&path).expect("read");
        prop_assert!(flushed.ends_with(&session(&store).writer().comment));
        prop_assert!(is_kept(&store) && is_kept(&ZipStore::open(&path).expect("opened")));
        if store.repack().is_err() {
            prop_assert_eq!(fs::read(&path).expect("read"), flushed);
        }
        prop_assert!(is_kept(&store) && is_kept(&ZipStore::open(&path).expect("opened")));
    }
}

#[test]
fn a_damaged_value_can_be_replaced_by_the_same() {
    let (_folder, path) = folder();
    let mut bytes = archive(&[stored("a", b"value")], b"", false);
    let at = bytes.windows(5).position(|window| window == b"value").expect("the value");
    bytes[at] = b'V';
    fs::write(&path, bytes).expect("written");
    let store = ZipStore::append(&path).expect("opened");
    assert_eq!(store.set_all(&key("a"), b"value").expect_err("its checksum").kind(), ErrorKind::Invalid);
    let store = store.with(ZipOptions::default().replace(true));
    store.set_all(&key("a"), b"value").expect("replaced");
    store.repack().expect("repacked");
    testing::contract_read(&ZipStore::open(&path).expect("opened"), &[("a", b"value")]);
}
