use std::fs;

use proptest::prelude::*;

use super::archive::{Member, archive, member, stored};
use super::entry::{DEFLATED, STORED};
use super::*;
use crate::ZipFault;
use zarr_store::{ErrorKind, StoreExt, testing};

/// Opens a file of these bytes, and calls `look` with the result.
pub(super) fn with<T>(bytes: &[u8], look: impl FnOnce(Result<ZipStore>) -> T) -> T {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.zip");
    fs::write(&path, bytes).expect("written");
    look(ZipStore::open(&path))
}

/// Returns the zip fault of an error; `None` for other errors.
pub(super) fn fault(error: &Error) -> Option<&ZipFault> {
    match error {
        Error::Format { fault, .. } => fault.downcast_ref(),
        _ => None,
    }
}

pub(super) const VALUES: [(&str, &[u8]); 6] = [
    ("zarr.json", b"{\"zarr_format\":3}"),
    ("g/.zarray", b""),
    ("g/c/0/0", &[7; 5000]),
    ("g/c/0/1", b"0123456789"),
    ("g.x", b"between"),
    ("\u{e4}/\u{1f600}", b"other letters"),
];

pub(super) fn members(method: u16) -> Vec<Member> {
    VALUES.iter().map(|(name, value)| member(name, value, method)).collect()
}

#[test]
fn keeps_the_contract_of_reading() {
    for method in [STORED, DEFLATED] {
        for wide in [false, true] {
            let mut members = members(method);
            members.insert(2, stored("g/", b""));
            for member in &mut members {
                member.wide = wide;
                member.local_extra = vec![0; 12];
            }
            with(&archive(&members, b"a comment", wide), |store| {
                let store = store.expect("opened");
                testing::contract_read(&store, &VALUES);
                testing::contract_read_only(&store);
            });
        }
    }
    with(&archive(&[], b"", false), |store| testing::contract_read(&store.expect("opened"), &[]));
}

#[test]
fn other_files_than_zip_files_are_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    assert!(ZipStore::open(folder.path().join("absent.zip")).expect_err("absent").is_not_found());
    assert!(matches!(ZipStore::open(folder.path()), Err(Error::NotAStore { .. })));
    for bytes in [&b""[..], b"PK", &[0; 100_000]] {
        with(bytes, |store| {
            let error = store.expect_err("no zip file");
            assert!(matches!(fault(&error), Some(ZipFault::NoEnd)), "{error}");
            assert_eq!(error.kind(), ErrorKind::Invalid);
        });
    }
}

/// Checks the error of opening a file with one changed entry, or of getting that entry.
fn check(change: impl FnOnce(&mut Member), kind: ErrorKind, message: &str) {
    let mut members = members(DEFLATED);
    members[3] = stored("a", b"0123456789");
    change(&mut members[3]);
    with(&archive(&members, b"", false), |store| {
        let result = store.and_then(|store| store.get_all(&Key::new("a").expect("a key")));
        let error = result.expect_err(message);
        assert!(error.to_string().ends_with(message), "{error}, expected {message}");
        assert_eq!(error.kind(), kind, "{error}");
    });
}

#[test]
fn invalid_files_are_refused() {
    use ErrorKind::{Invalid, Path, Unsupported};
    let rename = |name: &'static str| {
        move |member: &mut Member| {
            member.name = name.as_bytes().to_vec();
            member.local_name = member.name.clone();
        }
    };
    for name in ["../a", "/a", "a/../../b", "..", "a//b", "", "C:/a", "a\\..\\b", "../", "/"] {
        check(
            rename(name),
            Path,
            &format!(
                "entry {name:?}: the name is not a valid key: {}",
                Key::fault(name.strip_suffix('/').unwrap_or(name)).expect("one")
            ),
        );
    }
    check(|member| member.name = vec![0xff], Path, "the name is not UTF-8");
    for flag in [1, 1 << 6, 1 << 13] {
        check(|member| member.flags = flag, Unsupported, "entry \"a\" is encrypted");
    }
    let expected = "compression method 93, expected 0 (stored), 8 (deflate), 12 (bzip2) or 14 (LZMA)";
    check(|member| member.method = 93, Unsupported, expected);
    for (method, feature) in [(12, "bz2"), (14, "lzma")] {
        if !expand::is_read(method) {
            check(|member| member.method = method, Unsupported, &format!("read with the feature `{feature}`"));
        }
    }
    check(|member| member.offset = Some(0), Invalid, "overlaps another or lies outside the file");
    check(|member| member.offset = Some(1 << 30), Invalid, "overlaps another or lies outside the file");
    check(
        |member| (member.wide, member.offset) = (true, Some(u64::MAX)),
        Invalid,
        "overlaps another or lies outside the file",
    );
    check(
        |member| (member.compressed, member.size) = (50_000, 50_000),
        Invalid,
        "overlaps another or lies outside the file",
    );
    check(|member| member.size = 11, Invalid, "entry \"a\": found 10 bytes, expected 11");
    check(|member| member.crc ^= 1, Invalid, "");
    check(|member| member.local_name = b"b".to_vec(), Invalid, "");
    check(|member| member.offset = Some(1), Invalid, "");
}

/// Zip file that `tests/methods.py` has written.
const OF_PYTHON: &[u8] = include_bytes!("../../tests/methods.zip");

#[cfg(all(feature = "bz2", feature = "lzma"))]
#[test]
fn values_compressed_by_bzip2_and_lzma_are_read() {
    let many: Vec<u8> = (0..20).flat_map(|_| 0..=255).collect();
    let mut values: Vec<(String, &[u8])> = Vec::new();
    for method in ["bzip2", "lzma"] {
        let of_method: [(&str, &[u8]); 4] =
            [("zarr.json", b"{\"zarr_format\":3}"), ("empty", b""), ("c/0", &[7; 5000]), ("c/1", &many)];
        values.extend(of_method.map(|(key, value)| (format!("{method}/{key}"), value)));
    }
    let values: Vec<(&str, &[u8])> = values.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    with(OF_PYTHON, |store| testing::contract_read(&store.expect("opened"), &values));
}

#[cfg(all(feature = "bz2", feature = "lzma"))]
#[test]
fn damaged_values_of_bzip2_and_lzma_are_errors() {
    let get = |bytes: &[u8], name: &str| {
        with(bytes, |store| store.and_then(|store| store.get_all(&Key::new(name).expect("a key"))))
    };
    let begin = |name: &[u8]| OF_PYTHON.windows(name.len()).position(|at| at == name).expect("there") + name.len();
    for name in ["bzip2/c/1", "lzma/c/1"] {
        let value = get(OF_PYTHON, name).expect("read");
        let mut refused = 0;
        for at in 0..60 {
            let mut bytes = OF_PYTHON.to_vec();
            bytes[begin(name.as_bytes()) + at] ^= 0x10;
            match get(&bytes, name) {
                Ok(got) => assert!(got == value, "{name}: {at}"),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
                }
            }
        }
        assert!(refused > 40, "{name}: {refused}");
    }
    // A size in the directory that is not that of the value: no memory is taken for it.
    let mut bytes = OF_PYTHON.to_vec();
    let header = bytes.windows(4).rposition(|at| at == 0x0201_4b50_u32.to_le_bytes()).expect("a directory");
    bytes[header + 24..header + 28].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    with(&bytes, |store| {
        let error = store.and_then(|store| store.get_all(&Key::new("lzma/c/1").expect("a key"))).expect_err("a lie");
        assert!(error.to_string().contains("found 5120 bytes, expected 4026531840"), "{error}");
    });
}

#[test]
fn bytes_before_and_behind_an_archive_are_passed_over() {
    for wide in [false, true] {
        let mut members = members(DEFLATED);
        members.iter_mut().for_each(|member| member.wide = wide);
        let alone = archive(&members, b"a comment", wide);
        for (before, behind) in [(0, 0), (1000, 0), (0, 1000), (10, 10), (70_000, 60_000)] {
            let bytes = [&vec![0xaa; before][..], &alone, &vec![0; behind]].concat();
            with(&bytes, |store| {
                let store = store.unwrap_or_else(|error| panic!("{wide}, {before}, {behind}: {error}"));
                testing::contract_read(&store, &VALUES);
            });
            let folder = tempfile::tempdir().expect("a directory");
            let path = folder.path().join("x.zip");
            fs::write(&path, &bytes).expect("written");
            let key = Key::new("new").expect("a key");
            let written = ZipStore::update(&path).and_then(|store| store.set_all(&key, b"x"));
            if (before, behind) == (0, 0) {
                written.expect("written");
            } else {
                let error = written.expect_err("other bytes would be lost").to_string();
                let words = format!("{before} bytes before the archive and {behind} behind it");
                assert!(error.contains(&words), "{error}");
                assert!(fs::read(&path).expect("read") == bytes, "{before}, {behind}");
            }
        }
    }
}

#[test]
fn a_value_that_was_set_twice_is_the_later() {
    with(include_bytes!("../../tests/rewritten.zip"), |store| {
        let store = store.expect("opened");
        let get = |name| store.get_all(&Key::new(name).expect("a key")).expect("read").expect("there").to_vec();
        assert_eq!((get("q/c/0"), get("q/c/1")), (vec![7, 2], vec![3, 4]));
        assert!(get("q/zarr.json").windows(5).any(|text| text == b"\"set\""));
        let keys: Vec<_> = store.list().expect("listed").iter().map(Key::to_string).collect();
        assert_eq!(keys, ["q/c/0", "q/c/1", "q/zarr.json", "zarr.json"]);
    });
}

#[test]
fn deflated_entries_are_checked() {
    use ErrorKind::Invalid;
    let deflated = |change: fn(&mut Member)| {
        move |a: &mut Member| {
            *a = member("a", &[5; 1000], DEFLATED);
            change(a);
        }
    };
    check(deflated(|a| a.size = 999), Invalid, "entry \"a\": found 1000 bytes, expected 999");
    check(deflated(|a| a.size = 1001), Invalid, "entry \"a\": found 1000 bytes, expected 1001");
    check(deflated(|a| a.size = 1 << 31), Invalid, &format!("bytes, expected {}", 1_u64 << 31));
    check(deflated(|a| a.crc ^= 1), Invalid, "");
    check(deflated(|a| a.compressed -= 1), Invalid, "entry \"a\": invalid deflate stream");
    check(deflated(|a| (a.data, a.compressed) = (vec![0xff; 50], 50)), Invalid, "entry \"a\": invalid deflate stream");
    let trailing = deflated(|a| {
        a.data.push(0);
        a.compressed += 1;
    });
    check(trailing, Invalid, "entry \"a\": invalid deflate stream");
}

#[test]
fn memory_is_taken_for_bytes_that_are_there() {
    const SIZE: u64 = 64 << 20;
    let key = Key::new("a").expect("a key");
    let sound = member("a", &vec![0; SIZE as usize], DEFLATED);
    let lies = Member { size: SIZE + 1, ..sound.clone() };
    with(&archive(&[lies], b"", false), |store| {
        let error = store.expect("opened").get_all(&key).expect_err("shorter");
        assert!(error.to_string().contains("found 67108864 bytes, expected 67108865"), "{error}");
        assert_eq!(Fetched::new().spare(), 0, "nothing was taken");
    });
    let impossible = Member { size: sound.compressed * 1032 + 1, ..sound.clone() };
    with(&archive(&[impossible], b"", false), |store| {
        assert_eq!(store.expect_err("refused").kind(), ErrorKind::Invalid)
    });
    with(&archive(&[sound], b"", false), |store| {
        let store = store.expect("opened");
        let first = store.get_ranges(&key, &[ByteRange::First(1000)]).expect("get").expect("there");
        assert_eq!((first.part(0), first.size), (&[0; 1000][..], Some(SIZE)));
        drop(first);
        assert_eq!(Fetched::new().spare(), 1000, "no more was taken than was wanted");
        assert_eq!(store.get_all(&key).expect("get").expect("there").len() as u64, SIZE);
    });
}

#[test]
fn a_local_header_that_lies() {
    let good = archive(&[stored("a", b"0123456789"), stored("b", b"")], b"", false);
    let mut file = good.clone();
    // The length of the extra field, which pushes the data into the next entry.
    file[28] = 1;
    with(&file, |store| {
        let error = store.expect("opened").get_all(&Key::new("a").expect("a key")).expect_err("overlaps");
        assert!(matches!(fault(&error), Some(ZipFault::Overlap { .. })), "{error}");
    });
}

#[test]
fn ends_that_lie() {
    let good = archive(&members(STORED), b"", false);
    let end = good.len() - 22;
    let check = |at: usize, bytes: &[u8], expected: &str| {
        let mut file = good.clone();
        file[end + at..end + at + bytes.len()].copy_from_slice(bytes);
        with(&file, |store| {
            let error = store.expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}, expected {expected}");
        });
    };
    check(4, &[1], "spans several files");
    check(8, &[9, 0, 9, 0], "found 6 entries, expected 9");
    check(12, &[0xff; 4], "bad end of central directory record");
    check(16, &[0xff; 4], "bad end of central directory record");
    // As if there were as many bytes before the archive, with which no entry is inside the file.
    check(16, &[0; 4], "overlaps another or lies outside the file");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damage_is_an_error_or_a_value(
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
        cut in any::<prop::sample::Index>(),
        wide: bool,
        deflate: bool,
    ) {
        let mut members = members(if deflate { DEFLATED } else { STORED });
        members.iter_mut().for_each(|member| member.wide = wide);
        let good = archive(&members, b"", wide);
        let mut flipped = good.clone();
        flipped[at.index(good.len())] ^= flip;
        for bytes in [&flipped[..], &good[..cut.index(good.len())]] {
            with(bytes, |store| {
                let Ok(store) = store else { return };
                for key in store.list().expect("list") {
                    if let Ok(Some(value)) = store.get_all(&key)
                        && let Some((_, expected)) = VALUES.iter().find(|(name, _)| *name == key.as_str()) {
                            assert_eq!(value, *expected, "the checksum did not match");
                    }
                }
            });
        }
    }
}
