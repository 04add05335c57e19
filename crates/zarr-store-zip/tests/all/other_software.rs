//! Python's zipfile and unzip on files that were written here, and the other way round.

use std::path::Path;
use std::process::Command;

use zarr_store::StoreExt;
use zarr_store::testing::contract_read;
use zarr_store_zip::{ZipOptions, ZipStore};

use crate::{folder, key};

/// The output of a program; `None` if there is no such program.
///
/// # Panics
/// If it fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.env("PYTHONIOENCODING", "utf-8").output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    Some(text(&output.stdout))
}

fn python(script: &str, path: &Path) -> Option<String> {
    output(Command::new("python3").args(["-c", script]).arg(path))
}

/// Checks that other software finds the file right, with the same values as this one.
pub(crate) fn is_sound(path: &Path) {
    let store = ZipStore::open(path).expect("opened");
    let mut own: Vec<String> = Vec::new();
    for key in store.list().expect("listed") {
        let value = store.get_all(&key).expect("get").expect("there");
        own.push(format!("{} {} {key}", value.len(), crc32fast::hash(&value)));
    }
    own.sort();
    let script = "
import sys, zipfile, zlib
file = zipfile.ZipFile(sys.argv[1])
assert file.testzip() is None
assert len(set(file.namelist())) == len(file.namelist())
for name in file.namelist():
    value = file.read(name)
    if not name.endswith('/'):
        print(len(value), zlib.crc32(value), name)
";
    if let Some(text) = python(script, path) {
        let mut other: Vec<&str> = text.lines().collect();
        other.sort_unstable();
        assert_eq!(other, own, "{}", path.display());
    }
    // Fails for a file without entries.
    if !own.is_empty() {
        output(Command::new("unzip").arg("-tqq").arg(path));
    }
}

const VALUES: [(&str, &[u8]); 5] = [
    ("zarr.json", b"{}"),
    ("c/0/0", &[7; 100_000]),
    ("c/0/1", b""),
    ("\u{e4}/\u{1f600}", b"other letters"),
    ("a b", b"x"),
];

#[test]
fn written_files_are_read() {
    let (_folder, path) = folder();
    let store = ZipStore::create(&path).expect("created").with(ZipOptions::default().replace(true));
    store.flush().expect("flushed");
    is_sound(&path);
    for (name, value) in VALUES {
        store.set_all(&key(name), b"first").expect("set");
        store.set_all(&key(name), value).expect("set");
    }
    store.flush().expect("flushed");
    is_sound(&path);
    store.erase(&key("c/0/1")).expect("erased");
    store.flush().expect("flushed");
    is_sound(&path);
    store.repack().expect("repacked");
    is_sound(&path);
    let listing = output(Command::new("unzip").args(["-Z", "-T"]).arg(&path));
    if let Some(listing) = listing {
        let line = listing.lines().find(|line| line.ends_with("zarr.json")).expect("listed");
        assert!(line.starts_with("-rw-r--r--") && line.contains("19800101.000000"), "{line}");
    }
}

/// A file of Python with all that a directory may have, to which it adds further entries.
const WRITE: &str = "
import sys, time, zipfile
with zipfile.ZipFile(sys.argv[1], 'a', zipfile.ZIP_DEFLATED) as file:
    file.comment = b'a comment'
    file.writestr('g/', b'')
    file.writestr('zarr.json', b'{}')
    file.writestr('zarr.json', b'{ }', zipfile.ZIP_STORED)
    info = zipfile.ZipInfo('c/0', (2001, 2, 3, 4, 5, 6))
    info.comment, info.external_attr, info.extra = b'of c/0', 0o640 << 16, b'\\x99\\x99\\x02\\0ab'
    file.writestr(info, bytes(100000))
    with file.open(zipfile.ZipInfo('c/1'), 'w', force_zip64=True) as entry:
        entry.write(b'wide')
";

/// Program that prints what Python knows of the entry `c/0`, and the comment of the file.
const ASK: &str = "
import sys, zipfile
file = zipfile.ZipFile(sys.argv[1])
info = file.getinfo('c/0')
print(file.comment, info.date_time, info.comment, oct(info.external_attr >> 16), info.extra, info.compress_type)
print(sorted(file.namelist()))
";

#[test]
fn files_of_python_are_appended_to() {
    let (_folder, path) = folder();
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    std::fs::write(&path, [&b"PK\x05\x06"[..], &[0; 18]].concat()).expect("written");
    python(WRITE, &path);
    let asked = || python(ASK, &path).expect("python");
    let before = asked();
    let (about, _) = before.split_once('\n').expect("two lines");
    for expected in ["b'a comment'", "(2001, 2, 3, 4, 5, 6)", "b'of c/0'", "0o640", "b'\\x99\\x99\\x02\\x00ab'"] {
        assert!(about.contains(expected), "{about}, expected {expected}");
    }
    let zeros = vec![0; 100_000];
    let mut values: Vec<(&str, &[u8])> =
        vec![("zarr.json", b"{ }"), ("c/0", &zeros), ("c/1", b"wide"), ("c/2", b"new")];
    let store = ZipStore::append(&path).expect("opened");
    contract_read(&store, &values[..3]);
    store.set_all(&key("c/2"), b"new").expect("set");
    // The same bytes.
    store.set_all(&key("c/0"), &zeros).expect("set");
    contract_read(&store, &values);
    store.close().expect("closed");
    is_sound(&path);
    let names = "['c/0', 'c/1', 'c/2', 'g/', 'zarr.json']";
    assert_eq!(asked(), format!("{about}\n{names}\n"));

    // And once more by Python, and without the entry that counts no more.
    python("import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'a').writestr('c/3', b'of python')", &path);
    values.push(("c/3", b"of python"));
    let store = ZipStore::append(&path).expect("opened");
    contract_read(&store, &values);
    let saved = store.repack().expect("repacked");
    assert!(saved > 0);
    contract_read(&store, &values);
    is_sound(&path);
    assert_eq!(asked(), format!("{about}\n{}\n", names.replace("'c/2'", "'c/2', 'c/3'")));
    assert_eq!(store.repack().expect("repacked"), 0, "nothing is left to remove");
    contract_read(&ZipStore::open(&path).expect("opened"), &values);
}
