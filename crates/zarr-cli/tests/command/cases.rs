//! Stores as other software left them, in `tests/cases`: what the command makes of each.

mod bounded;
mod changed;
mod looked_at;
mod read;

use crate::folder::{Folder, Ran};
use std::fs;
use std::path::Path;
use zarr::meta::json::Value;

/// A folder with a copy of the files of a case as `store`.
fn case(name: &str) -> Folder {
    let folder = Folder::new();
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")).join(name);
    copy(&source, &folder.path("store"));
    folder
}

pub(crate) fn copy(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { fs::write(to, fs::read(from).unwrap()).unwrap() }
    }
}

/// The lines of what a command prints that succeeds without a warning.
fn lines(folder: &Folder, args: &[&str]) -> Vec<String> {
    let ran = folder.run(args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    split(&ran)
}

/// The lines of what a command prints that succeeds with these warnings alone.
fn warned(folder: &Folder, args: &[&str], warnings: &[&str]) -> Vec<String> {
    let ran = folder.run(args);
    let found: Vec<&str> = ran.err.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    assert_eq!((ran.code, found), (Some(0), warnings.to_vec()), "{args:?}: {}", ran.err);
    split(&ran)
}

/// The lines of errors of a command that ends with this code.
fn refused(folder: &Folder, code: i32, args: &[&str]) -> String {
    let ran = folder.run(args);
    assert_eq!((ran.code, ran.out.as_slice()), (Some(code), &b""[..]), "{args:?}: {}", ran.err);
    ran.err
}

fn split(ran: &Ran) -> Vec<String> {
    std::str::from_utf8(&ran.out).unwrap().lines().map(str::to_owned).collect()
}

/// Finds nothing wrong in a store.
fn is_sound(folder: &Folder, store: &str) {
    let found = lines(folder, &["check", store]);
    assert!(found.iter().any(|line| line.ends_with(": 0 errors, 0 warnings, 0 notes")), "{found:?}");
}

/// The findings of a check that fails, each from its level to its code.
fn findings(folder: &Folder, store: &str) -> Vec<String> {
    let ran = folder.run(&["check", store]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    split(&ran).into_iter().filter(|line| line.ends_with(']')).collect()
}

fn json(folder: &Folder, file: &str) -> Value {
    Value::from_json(&fs::read_to_string(folder.path(file)).unwrap()).unwrap()
}

/// A member of a document, as JSON.
fn member(folder: &Folder, file: &str, pointer: &str) -> String {
    let document = json(folder, file);
    document.pointer(pointer).map_or_else(|| unreachable!("{file} has no {pointer}: {document}"), Value::to_string)
}
