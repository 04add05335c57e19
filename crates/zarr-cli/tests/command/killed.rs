//! Verbs that are killed, and verbs that several processes run at once.

use crate::folder::Folder;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn spawn(folder: &Folder, args: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
    command.args(args).current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Files of a directory, and of those in it, values or not.
fn all_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(all_files(&entry.path())),
            false => files.push(entry.path().display().to_string()),
        }
    }
    files.sort_unstable();
    files
}

#[test]
fn an_overwrite_that_is_killed_leaves_nothing_that_the_next_does_not_remove() {
    let folder = Folder::new();
    let old = ["create", "base", "g/a", "--shape", "1500", "--dtype", "int8", "--chunks", "1", "--codecs", "none"];
    folder.ok(&old);
    folder.ok(&["create", "base", "other", "--shape", "1", "--dtype", "int8"]);
    for chunk in 0..1500 {
        fs::create_dir_all(folder.path("base/g/a/c")).unwrap();
        fs::write(folder.path(&format!("base/g/a/c/{chunk}")), [7]).unwrap();
    }
    let replace = ["create", "s", "g/a", "--shape", "10", "--dtype", "int8", "--overwrite"];
    let prepare = || {
        let _ = fs::remove_dir_all(folder.path("s"));
        let copied = Command::new("cp").args(["-r", "base", "s"]).current_dir(folder.path("")).status().unwrap();
        assert!(copied.success());
    };
    prepare();
    let begun = Instant::now();
    folder.ok(&replace);
    let (took, expected) = (begun.elapsed(), all_files(&folder.path("s")));
    assert!(expected.len() < 10, "{expected:?}");
    let mut left = 0;
    for part in 0..9 {
        prepare();
        let mut child = spawn(&folder, &replace);
        std::thread::sleep(took * part / 9 + Duration::from_millis(1));
        let _ = child.kill();
        child.wait().unwrap();
        let hidden = all_files(&folder.path("s/g/.zreplacement")).len();
        if hidden > 0 {
            left += 1;
            let checked = folder.run(&["check", "s", "--json"]);
            let found = String::from_utf8(checked.out).unwrap();
            assert!(found.contains("temporary-file") || found.contains("unfinished-replacement"), "{found}");
        }
        match part % 3 {
            0 => drop(folder.ok(&replace)),
            1 => {
                folder.ok(&["rm", "s", "g/a"]);
                assert!(!folder.path("s/g/.zreplacement").exists());
                continue;
            }
            _ => {
                folder.run(&["check", "s", "--repair"]);
                folder.ok(&replace);
            }
        }
        assert_eq!(all_files(&folder.path("s")), expected, "{part}");
    }
    println!("{left} of 9 killed runs have left files of the old node");
}

/// Leaves what a process leaves that is killed at the right moment, without one.
#[test]
fn files_of_an_old_node_are_found_counted_and_removed() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "3", "--dtype", "int8"]);
    let before = all_files(&folder.path("s"));
    let leave = || {
        for place in [
            "s/g/.zreplacement/a/.0123456789abcdef0123456789abcdef.zarr-tmp/c",
            "s/g/.zreplacement/.0123456789abcdef0123456789abcde0.zarr-tmp",
        ] {
            fs::create_dir_all(folder.path(place)).unwrap();
            fs::write(folder.path(place).join("0"), [7; 5000]).unwrap();
        }
    };
    let stored = || {
        let usage = folder.ok(&["du", "s", "--json"]);
        let all = usage.split("\"stored_bytes\":").nth(1).unwrap();
        all.trim_start().split([',', '\n']).next().unwrap().parse::<u64>().unwrap()
    };
    let own = stored();
    leave();
    assert_eq!(stored(), own + 10_000);
    let found = String::from_utf8(folder.run(&["check", "s"]).out).unwrap();
    assert_eq!(found.matches("temporary-file").count(), 2, "{found}");
    assert!(found.contains("5000 bytes"), "{found}");
    folder.ok(&["check", "s", "--repair"]);
    assert_eq!(all_files(&folder.path("s")), before);
    assert!(!folder.path("s/g/.zreplacement").exists());
    leave();
    folder.ok(&["create", "s", "g/a", "--shape", "3", "--dtype", "int8", "--overwrite"]);
    assert_eq!(all_files(&folder.path("s")), before);
    leave();
    folder.ok(&["rm", "s", "g/a"]);
    assert!(!folder.path("s/g/.zreplacement").exists());
}

#[test]
fn of_several_moves_of_one_node_by_processes_one_says_that_it_did_it() {
    for (store, round) in [("s", 0), ("s", 1), ("s", 2), ("s", 3), ("s.sqlite", 0), ("s.sqlite", 1)] {
        let folder = Folder::new();
        folder.ok(&["create", store, "a", "--shape", "200", "--dtype", "int8", "--chunks", "1", "--codecs", "none"]);
        folder.fill(store, "/a", "|i1", "(200,)", &[5; 200]);
        let places = ["b", "c", "d/e"];
        let targets = places.map(|place| format!("{store}::/{place}"));
        let source = format!("{store}::/a");
        let children = targets.each_ref().map(|target| spawn(&folder, &["mv", &source, target]));
        let done = children.map(|mut child| child.wait().unwrap().success());
        let there = places.map(|place| folder.run(&["read", store, place, "--raw", "--as", "raw"]));
        let there = there.map(|ran| ran.code == Some(0) && ran.out == [5; 200]);
        assert_eq!(done.iter().filter(|done| **done).count(), 1, "{store} {round}: {done:?} {there:?}");
        assert_eq!(done, there, "{store} {round}");
    }
}

/// Chunks that are a pipe, a socket, a loop of links or a link to nothing are errors, and no fill value.
#[cfg(unix)]
#[test]
fn chunks_that_are_no_files_are_errors_in_every_verb() {
    for kind in ["loop", "pipe", "socket", "nothing"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "a", "--shape", "9", "--dtype", "int8", "--chunks", "3", "--codecs", "none"]);
        folder.fill("s", "/a", "|i1", "(9,)", &[5; 9]);
        let chunk = folder.path("s/a/c/1");
        fs::remove_file(&chunk).unwrap();
        let mut socket = None;
        match kind {
            "loop" => std::os::unix::fs::symlink("1", &chunk).unwrap(),
            "nothing" => std::os::unix::fs::symlink("nowhere", &chunk).unwrap(),
            "socket" => socket = Some(std::os::unix::net::UnixListener::bind(&chunk).unwrap()),
            _ => assert!(Command::new("mkfifo").arg(&chunk).status().unwrap().success()),
        }
        for args in [
            &["read", "s", "a"][..],
            &["stats", "s", "a"],
            &["digest", "s"],
            &["cp", "s", "copied"],
            &["convert", "s", "converted", "--chunks", "2"],
            &["convert", "s", "chunks_kept"],
        ] {
            let ran = folder.run(args);
            assert!(ran.code.is_some_and(|code| code != 0), "{kind} {args:?}: {:?}", String::from_utf8(ran.out));
            assert!(ran.err.contains("c/1"), "{kind} {args:?}: {}", ran.err);
        }
        let checked = folder.run(&["check", "s"]);
        let found = String::from_utf8(checked.out).unwrap();
        assert!(checked.code != Some(0) && found.contains("unreadable"), "{kind}: {found}");
        // A move within a directory takes it along.
        let moved = folder.run(&["mv", "s::/a", "s::/b"]);
        let is_there = fs::symlink_metadata(folder.path("s/b/c/1")).is_ok();
        assert!(moved.code != Some(0) || is_there, "{kind}: {}", moved.err);
        drop(socket);
    }
}
