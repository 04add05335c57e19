//! Processes that read, write or copy an array while another one replaces, moves or erases it: each one that ends well did what it says.
//!
//! A few rounds for each pair; 100 rounds with `ZARR_ROUNDS=100`.

use crate::folder::{Folder, npy};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zarr::NewArray;

/// Chunks of an array, of an element each.
const CHUNKS: usize = 600;
/// The array that others replace.
const OLD: u8 = 5;
/// Elements that are written to it.
const WRITTEN: u8 = 6;

/// One for each kind of store: its name, and a file in it tells a directory.
const STORES: [&str; 2] = ["x.zarr", "sqlite:x.sqlite"];

/// Begins a command; its output goes to a file.
fn begin(folder: &Folder, args: &[&str], out: &str) -> Child {
    let create = |name: &str| std::fs::File::create(folder.path(name)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
    command.args(args).arg("-q").current_dir(folder.path("")).stdin(Stdio::null());
    command.stdout(create(out)).stderr(create(&format!("{out}.err"))).spawn().unwrap()
}

/// The array that is read and written, and the one that replaces it.
fn prepare(folder: &Folder, store: &str) {
    let store = match store.strip_prefix("sqlite:") {
        Some(name) => zarr::store::create(&format!("sqlite:{}", folder.path(name).display())).unwrap(),
        None => zarr::store::create(folder.path(store).to_str().unwrap()).unwrap(),
    };
    let new = |data_type| NewArray::new(&[CHUNKS as u64], data_type).chunks(&[1]).codecs("bytes").unwrap();
    zarr::create((&store, "/a")).array(new("int8")).unwrap().write(.., &[OLD as i8; CHUNKS]).unwrap();
    zarr::create((&store, "/new")).array(new("int16")).unwrap().write(.., &[7_i16; CHUNKS]).unwrap();
}

/// Copies files and directories.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir(to).unwrap();
    std::fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap())
        .for_each(|it| copy(&it.path(), &to.join(it.file_name())));
}

fn bytes(folder: &Folder, args: &[&str]) -> Option<Vec<u8>> {
    let ran = folder.run(args);
    (ran.code == Some(0)).then_some(ran.out)
}

/// Checks what a command that ended well has done, or what one that did not left. `other` ran beside it, in a directory or not.
fn check(folder: &Folder, store: &str, verb: &str, other: &str, is_done: bool, at: &str) {
    let is_directory = store == "x.zarr";
    let read_of = |store: &str, path: &str| bytes(folder, &["read", store, path, "--raw", "--as", "raw", "-q"]);
    let read = |path: &str| read_of(store, path);
    let out = std::fs::read(folder.path("out")).unwrap();
    match verb {
        "read" if is_done => {
            let (old, new) = (out == [OLD; CHUNKS], out == [7, 0].repeat(CHUNKS));
            assert!(old || new && other.contains("overwrite"), "{at}: {} bytes", out.len());
        }
        "stats" if is_done => {
            let text = String::from_utf8(out).unwrap();
            let sum = |each: usize| text.contains(&format!("\"sum\": {}", each * CHUNKS));
            assert!(sum(5) || sum(7) && other.contains("overwrite"), "{at}: {text}");
        }
        "cp" | "convert" => {
            let copy = if verb == "cp" { read("/copy") } else { read_of("y.zarr", "/a") };
            assert_eq!(copy.is_some(), is_done, "{at}");
            let is_new = || other.contains("overwrite") && copy.as_deref() == Some(&[7, 0].repeat(CHUNKS));
            assert!(!is_done || copy.as_deref() == Some(&[OLD; CHUNKS]) || is_new(), "{at}: {copy:?}");
        }
        "write" if is_done => {
            // It was done before the other one, or is in the array that the other one made.
            let now = match other {
                "rm" => return,
                "mv" => read("/moved"),
                _ if is_directory => read("/a"),
                _ => return,
            };
            let is_new = other.contains("overwrite") && now.as_deref() == Some(&[7, 0].repeat(CHUNKS));
            assert!(is_new || now.as_deref() == Some(&[WRITTEN; CHUNKS]), "{at}: {now:?}");
        }
        _ => {}
    }
    if !is_directory {
        return;
    }
    match other {
        "rm" | "mv" => assert!(!folder.path("x.zarr/a").exists(), "{at}: {:?}", folder.files("x.zarr/a")),
        _ => assert_eq!(read("/a"), Some([7, 0].repeat(CHUNKS)), "{at}"),
    }
}

/// How long a command takes.
fn time_of(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

#[test]
fn whatever_ends_well_beside_another_verb_did_what_it_says() {
    let rounds: u64 = std::env::var("ZARR_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    // Until then a process does nothing that the other could meet.
    let startup = (0..3).map(|_| time_of(|| drop(Folder::new().ok(&["--version"])))).min().unwrap_or_default();
    let (mut all, mut met) = (0, 0);
    let written = npy("|i1", false, &format!("({CHUNKS},)"), &[WRITTEN; CHUNKS]);
    for store in STORES {
        let prepared = Folder::new();
        prepare(&prepared, store);
        let make = || {
            let folder = Folder::new();
            std::fs::write(folder.path("written.npy"), &written).unwrap();
            let name = store.trim_start_matches("sqlite:");
            copy(&prepared.path(name), &folder.path(name));
            folder
        };
        for (verb, args) in [
            ("read", &["read", store, "/a", "--raw", "--as", "raw"][..]),
            ("stats", &["stats", store, "/a", "--json"]),
            ("write", &["write", store, "/a", "--from", "written.npy"]),
            ("cp", &["cp", &format!("{store}::/a"), &format!("{store}::/copy")]),
            ("convert", &["convert", store, "y.zarr", "--node", "/a", "--chunks", "7"]),
        ] {
            let folder = make();
            let alone = time_of(|| {
                assert!(begin(&folder, args, "out").wait().unwrap().success(), "{verb}");
            });
            for (other, beside) in [
                ("rm", &["rm", store, "/a"][..]),
                ("mv", &["mv", &format!("{store}::/a"), &format!("{store}::/moved")]),
                ("create --overwrite", &["cp", &format!("{store}::/new"), &format!("{store}::/a"), "--overwrite"]),
            ] {
                for round in 0..rounds {
                    let folder = make();
                    let mut first = begin(&folder, args, "out");
                    // At another moment of the verb each time.
                    let share = 0.1 + (all * 37 % 100) as f64 * 0.007;
                    std::thread::sleep(alone.saturating_sub(startup).mul_f64(share));
                    let begun = Instant::now();
                    let mut second = begin(&folder, beside, "other");
                    let done = first.wait().unwrap();
                    met += u64::from(begun.elapsed() > startup);
                    all += 1;
                    assert!(second.wait().unwrap().success(), "{other}");
                    let err = std::fs::read_to_string(folder.path("out.err")).unwrap();
                    let at = format!("{verb} beside {other} in {store}, round {round}, {done}: {err}");
                    assert!(done.code().is_some() && !err.contains("panicked"), "{at}");
                    check(&folder, store, verb, other, done.success(), &at);
                }
            }
        }
    }
    // Or nothing was tested.
    assert!(met * 3 >= all, "in {met} of {all} rounds the one was at work when the other began");
}
