//! Zip files: they are opened and listed, and every value is read.

use super::laws;
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, mutate};
use flate2::Crc;
use flate2::write::DeflateEncoder;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use zarr::store::{ByteRange, Bytes, Fetched, Key, MemoryStore, StoreExt, ZipOptions, ZipStore};

/// First bytes of a record before a value. The next constants are those of entries of the directory and of the end record.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(super) const END: [u8; 4] = *b"PK\x05\x06";

pub(super) fn run(input: &[u8]) -> bool {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
        // In memory where there is such a file system.
        let shared = PathBuf::from("/dev/shm");
        let folder = if shared.is_dir() { shared } else { std::env::temp_dir() };
        folder.join(format!("zarr-fuzz-{}.zip", std::process::id()))
    });
    thread_local! {
        static NUMBER: PathBuf = PATH.with_extension(format!("{:?}.zip", std::thread::current().id()));
    }
    NUMBER.with(|path| {
        std::fs::write(path, input).expect("a file in the folder of temporary files can be written");
        let taken = read(path, input);
        let _ = std::fs::remove_file(path);
        taken
    })
}

fn read(path: &std::path::Path, file: &[u8]) -> bool {
    let of_value = over(file);
    let Ok(store) = ZipStore::open(path) else {
        assert!(of_value.is_none(), "a value of a store is taken, and not the same file");
        return false;
    };
    let Ok(keys) = store.list() else { return false };
    let archive = laws::zip::archive(file);
    let begins = laws::zip::directory(archive);
    assert_eq!(
        of_value.as_ref().and_then(|store| store.list().ok()).as_ref(),
        Some(&keys),
        "the keys of a value of a store"
    );
    let mut values = Vec::new();
    for key in keys {
        let safe = !key.as_str().split('/').any(|part| matches!(part, "" | "." | ".."));
        assert!(safe, "key {key} leads elsewhere");
        let got = store.get_all(&key);
        assert!(!matches!(got, Ok(None)), "{key} is listed and not there");
        let got = got.ok().flatten();
        let of_value = of_value.as_ref().and_then(|store| store.get_all(&key).ok().flatten());
        assert_eq!(of_value, got, "{key} of a value of a store");
        if let Some(value) = &got {
            laws::zip::value(archive, key.as_str(), value, &begins);
            parts(&store, &key, value);
        }
        values.push((key, got));
    }
    match archive.len() == file.len() {
        true => appended(path, &values),
        false => refused(path, file),
    }
    values.iter().all(|(_, value)| value.is_some())
}

/// Opens the file as a value of another store, which is read by ranges; `None` if it is invalid.
fn over(file: &[u8]) -> Option<ZipStore> {
    let (store, key) = (MemoryStore::new(), Key::new("x.zip").ok()?);
    store.set_all(&key, file).ok()?;
    ZipStore::over(Arc::new(store), key).ok()
}

/// Checks that a write to an archive with bytes around it is refused, since these bytes would be lost.
fn refused(path: &std::path::Path, file: &[u8]) {
    let key = Key::new("zarr-fuzz-new").expect("a key");
    let written = ZipStore::append(path).and_then(|store| {
        store.set_all(&key, b"value")?;
        store.close()
    });
    assert!(written.is_err(), "bytes around an archive are lost");
    assert_eq!(std::fs::read(path).expect("a file that is there"), file);
}

/// Adds a value to the file, and compares the values that were in it before.
fn appended(path: &std::path::Path, values: &[(Key, Option<Bytes>)]) {
    let key = Key::new("zarr-fuzz-new").expect("a key");
    let store = ZipStore::append(path).expect("a file that can be read").with(ZipOptions::default().replace(true));
    store.set_all(&key, b"value").expect("a folder of temporary files takes values");
    store.close().expect("a folder of temporary files takes values");
    let store = ZipStore::open(path).expect("a file that was written");
    assert_eq!(store.get_all(&key).ok().flatten().as_deref(), Some(&b"value"[..]));
    for (key, value) in values.iter().filter(|(old, value)| *old != key && value.is_some()) {
        assert_eq!(store.get_all(key).ok().flatten(), *value, "{key} after a value was added");
    }
}

/// Compares parts of a value with the whole.
fn parts(store: &ZipStore, key: &Key, value: &[u8]) {
    let size = value.len() as u64;
    assert_eq!(store.size(key).ok().flatten(), Some(size), "the size of {key}");
    let ranges = [
        ByteRange::First(size / 3),
        ByteRange::Suffix(size.div_ceil(2)),
        ByteRange::Range(size / 4..size / 2),
        ByteRange::Full,
    ];
    for some in [&ranges[..], &ranges[..1], &ranges[1..3]] {
        // The checksum is that of the whole value, which was right.
        let got = store.get_ranges(key, some).ok().flatten();
        assert!(got.is_some(), "parts {some:?} of {key}");
        for (range, part) in some.iter().zip(got.iter().flat_map(Fetched::parts)) {
            let due = range.resolve(size).map(|range| &value[range.start as usize..range.end as usize]);
            assert_eq!(Some(part), due, "{range:?} of {key}");
        }
    }
    assert!(store.get_ranges(key, &[ByteRange::Range(0..size + 1)]).is_err(), "more than all of {key}");
    let parent = key.parent();
    let listed = store.list_dir(&parent).is_ok_and(|listing| listing.keys.contains(key));
    let below = store.list_prefix(&parent).is_ok_and(|keys| keys.contains(key));
    assert!(listed && below, "{key} is not listed below {parent}");
}

pub(super) fn seeds() -> Result<Vec<Vec<u8>>, Fault> {
    let mut files = Vec::new();
    for archive in ARCHIVES {
        for case in cases(archive)? {
            if let Some((_, name)) = &case.expected.file {
                files.push(case.file(name)?);
            }
        }
    }
    for wide in [false, true] {
        for deflated in [false, true] {
            files.push(written(&[("zarr.json", b"{}"), ("c/0/0", &[7; 300]), ("c/0/1", b"")], deflated, wide));
        }
    }
    files.push(written(&[], false, false));
    Ok(files)
}

/// Returns a zip file, with numbers in the form of zip64 if `wide`.
fn written(values: &[(&str, &[u8])], deflated: bool, wide: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, value) in values {
        let data = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            // Writing to memory does not fail.
            let _ = encoder.write_all(value);
            encoder.finish().unwrap_or_default()
        } else {
            value.to_vec()
        };
        let mut crc = Crc::new();
        crc.update(value);
        let sizes = [data.len() as u64, value.len() as u64];
        let mut head = Vec::new();
        for number in [20, 0, u16::from(deflated) * 8, 0, 33] {
            head.extend_from_slice(&u16::to_le_bytes(number));
        }
        head.extend_from_slice(&crc.sum().to_le_bytes());
        for size in sizes {
            head.extend_from_slice(&if wide { u32::MAX } else { size as u32 }.to_le_bytes());
        }
        head.extend_from_slice(&(name.len() as u16).to_le_bytes());
        let extra = |numbers: &[u64]| {
            let mut extra = Vec::new();
            if wide {
                extra.extend_from_slice(&1_u16.to_le_bytes());
                extra.extend_from_slice(&(8 * numbers.len() as u16).to_le_bytes());
                numbers.iter().for_each(|number| extra.extend_from_slice(&number.to_le_bytes()));
            }
            extra
        };
        let offset = file.len() as u64;
        let local = extra(&[sizes[1], sizes[0]]);
        let central = extra(&[sizes[1], sizes[0], offset]);
        file.extend_from_slice(&LOCAL);
        file.extend_from_slice(&head);
        file.extend_from_slice(&(local.len() as u16).to_le_bytes());
        file.extend([name.as_bytes(), &local, &data].concat());
        directory.extend_from_slice(&CENTRAL);
        directory.extend_from_slice(&20_u16.to_le_bytes());
        directory.extend_from_slice(&head);
        directory.extend_from_slice(&(central.len() as u16).to_le_bytes());
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&if wide { u32::MAX } else { offset as u32 }.to_le_bytes());
        directory.extend([name.as_bytes(), &central].concat());
    }
    let (start, count) = (file.len() as u64, values.len() as u64);
    file.extend_from_slice(&directory);
    if wide {
        let end = file.len() as u64;
        file.extend_from_slice(b"PK\x06\x06");
        file.extend_from_slice(&44_u64.to_le_bytes());
        file.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [count, count, directory.len() as u64, start] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        file.extend_from_slice(&end.to_le_bytes());
        file.extend_from_slice(&1_u32.to_le_bytes());
    }
    file.extend_from_slice(&END);
    file.extend_from_slice(&[0; 4]);
    for number in [count, count] {
        file.extend_from_slice(&if wide { u16::MAX } else { number as u16 }.to_le_bytes());
    }
    for number in [directory.len() as u64, start] {
        file.extend_from_slice(&if wide { u32::MAX } else { number as u32 }.to_le_bytes());
    }
    file.extend_from_slice(&[0, 0]);
    file
}

/// Changes a file, and mostly corrects its offsets and checksums.
pub(super) fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let mut changed = mutate::bytes(random, input);
    if random.below(4) > 0 {
        repair(&mut changed, random.below(2) == 0);
    }
    changed
}

/// Corrects the offsets of the records and, with `checksums`, the checksums of values that are stored uncompressed.
fn repair(file: &mut [u8], checksums: bool) {
    let offsets = |begin: [u8; 4]| -> Vec<usize> {
        file.windows(4).enumerate().filter(|(_, bytes)| *bytes == begin).map(|(at, _)| at).collect()
    };
    let (locals, centrals, ends) = (offsets(LOCAL), offsets(CENTRAL), offsets(END));
    for (central, local) in centrals.iter().zip(&locals) {
        set(file, central + 42, *local);
        let size = number(file, local + 18, 4);
        let start = local + 30 + number(file, local + 26, 2) + number(file, local + 28, 2);
        if checksums && let Some(data) = size.checked_add(start).and_then(|end| file.get(start..end)) {
            let mut crc = Crc::new();
            crc.update(data);
            let sum = crc.sum() as usize;
            set(file, local + 14, sum);
            set(file, central + 16, sum);
        }
    }
    if let (Some(end), Some(first)) = (ends.last(), centrals.first()) {
        set(file, end + 16, *first);
        set(file, end + 12, end - first.min(end));
    }
}

/// Returns the little-endian number of `len` bytes at `at`.
pub(super) fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes.iter().skip(at).take(len).rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn set(bytes: &mut [u8], at: usize, number: usize) {
    if let Some(index) = bytes.get_mut(at..at + 4) {
        index.copy_from_slice(&(number as u32).to_le_bytes());
    }
}
