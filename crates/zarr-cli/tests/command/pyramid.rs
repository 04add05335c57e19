//! `zarr pyramid`: levels of arrays, interruptions of it, and runs that go on.

use crate::folder::{Folder, int16};
use crate::signalled::Remote;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zarr_testserver::Logged;

/// A store with the array `g/0` of 60 x 80 numbers.
fn source() -> Folder {
    let folder = Folder::new();
    let new = ["create", "s", "g/0", "--shape", "60,80", "--dtype", "int16", "--chunks", "4,4", "--dims", "y,x"];
    folder.ok(&[&new[..], &["--codecs", "zstd"]].concat());
    folder.fill("s", "/g/0", "<i2", "(60, 80)", &int16(0..4800));
    folder
}

fn files(folder: &Folder, store: &str) -> Vec<(String, Vec<u8>)> {
    let names = folder.files(store).into_iter();
    names.map(|name| (name.clone(), std::fs::read(folder.path(store).join(name)).unwrap())).collect()
}

#[test]
fn levels_lie_beside_the_array_or_elsewhere() {
    let folder = source();
    let planned = folder.ok(&["pyramid", "s", "g/0", "--dry-run"]);
    assert!(planned.contains("/g/1  (30, 40), chunks (4, 4)") && planned.contains("nothing was written"), "{planned}");
    let made = folder.ok(&["pyramid", "s", "g/0", "--levels", "2"]);
    assert!(made.contains("2 levels by mean, of 9.4 KiB"), "{made}");
    // The mean of 0, 1, 80 and 81 is 40.5, and the even neighbour 40; of 2, 3, 82 and 83 it is 42.5.
    assert_eq!(
        folder.ok(&["read", "s", "g/1", "--select", "0, :3"]).split_whitespace().collect::<Vec<_>>().join(" "),
        "40 42 44"
    );
    let there = folder.run(&["pyramid", "s", "g/0", "--levels", "2"]);
    assert!(there.code == Some(2) && there.err.contains("/g/1: there is an array already"), "{}", there.err);
    folder.ok(&["pyramid", "s", "g/0", "--levels", "2", "--overwrite", "--method", "max"]);
    let greatest = folder.ok(&["read", "s", "g/2", "--select", "14, 19"]);
    assert_eq!(greatest.trim(), "4799");
    // A part changes, and one level.
    folder.ok(&["write", "s", "g/0", "--select", "0, 0", "--value", "9000"]);
    folder.ok(&["pyramid", "s", "g/0", "--levels", "2", "--method", "max", "--region", "y=0:1, x=0:1"]);
    assert_eq!(folder.ok(&["read", "s", "g/2", "--select", "0, 0"]).trim(), "9000");
    folder.ok(&["pyramid", "s", "g/0", "--levels", "2", "--method", "min", "--level", "2"]);
    assert_eq!(folder.ok(&["read", "s", "g/2", "--select", "0, 0"]).trim(), "83");
    // In another store, with a copy of the array.
    for target in ["t", "zip:t.zip"] {
        folder.ok(&[
            "pyramid",
            "s::/g/0",
            "--to",
            &format!("{target}::/levels"),
            "--factor",
            "x=4",
            "--shards",
            "auto",
        ]);
        folder.ok(&["diff", "s::/g/0", &format!("{target}::/levels/0")]);
        let info = folder.ok(&["info", target, "/levels/1", "--json"]);
        assert!(info.replace([' ', '\n'], "").contains("[60,20]"), "{info}");
    }
    let refused = |args: &[&str], words: &str| {
        let ran = folder.run(&[&["pyramid", "s"], args].concat());
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    refused(&["g/0", "--factor", "z=2"], "found dimension z, expected y, x or an index less than 2");
    refused(&["g/0", "--method", "sum"], "expected one of mean, median, min, max, mode, nearest");
    refused(&["g/0", "--overwrite", "--memory", "100"], "more than the 100 bytes of memory allowed");
    folder.ok(&["create", "s", "named", "--shape", "9", "--dtype", "f4", "--chunks", "2"]);
    refused(&["named"], "levels beside an array need a number at the end of its name");
    refused(&["named", "--to", "t::/named", "--method", "mode"], "found data type float32");
    assert!(!folder.path("t/named").exists());
}

#[test]
fn levels_do_not_overwrite_the_array() {
    let folder = source();
    let before = files(&folder, "s");
    let refused = |args: &[&str], words: &str| {
        let ran = folder.run(&[&["pyramid"], args, &["--overwrite"]].concat());
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args:?}: {}", ran.err);
        assert_eq!(files(&folder, "s"), before, "{args:?}");
    };
    refused(&["s::/g/0", "--to", "s/g"], "overlap");
    refused(&["s::/g/0", "--to", "s/new::/g"], "overlap");
    refused(&["s::/g/0", "--to", ".::/s/g"], "overlap");
    refused(&["s::/g/0", "--to", "s::/g/0"], "lie in one another");
    folder.ok(&["create", "d", "a/0/x", "--shape", "9,9", "--dtype", "i2", "--chunks", "2,2"]);
    let ran = folder.run(&["pyramid", "d::/a/0/x", "--to", "d::/a", "--overwrite"]);
    assert!(ran.code == Some(2) && ran.err.contains("lie in one another"), "{}", ran.err);
    folder.ok(&["info", "d::/a/0/x"]);
    // Beside an array without a number lies a group of levels with a copy.
    folder.ok(&["create", "d", "named", "--shape", "9,9", "--dtype", "i2", "--chunks", "2,2"]);
    assert!(folder.ok(&["pyramid", "d::/named", "--to", "d", "--dry-run"]).starts_with("/0  (9, 9)"));
}

#[test]
fn one_level_elsewhere_is_written_again() {
    let folder = source();
    folder.ok(&["pyramid", "s::/g/0", "--to", "t::/levels", "--levels", "2"]);
    let before = files(&folder, "t");
    folder.ok(&["write", "t", "levels/2", "--select", ":", "--value", "7"]);
    let level = ["pyramid", "s::/g/0", "--to", "t::/levels", "--levels", "2", "--level", "2"];
    folder.ok(&[&level[..], &["--dry-run"]].concat());
    assert_ne!(files(&folder, "t"), before);
    folder.ok(&level);
    assert_eq!(files(&folder, "t"), before);
    let missing = folder.run(&["pyramid", "s::/g/0", "--to", "u::/levels", "--level", "2"]);
    assert!(missing.code == Some(3) && !folder.path("u").exists(), "{}", missing.err);
}

#[test]
fn one_level_that_was_interrupted_is_resumed() {
    let remote = Remote::of(source());
    let whole = ["pyramid", "s", "g/0", "--to", "s3://data/t::/levels", "--levels", "2"];
    remote.ok(&whole);
    let level = [&whole[..], &["--level", "1", "--memory", "16000", "--threads", "1"]].concat();
    let args = [&level[..], &["--overwrite"]].concat();
    let is_put = |it: &Logged| it.method == "PUT" && !it.path.contains(".z");
    let (code, err) = remote.signalled(&args, Duration::from_millis(60), is_put, "-INT");
    assert!(code == Some(2) && err.contains("--resume goes on"), "{err}");
    remote.ok(&[&level[..], &["--resume"]].concat());
    remote.ok(&["info", "s3://data/t::/levels/1"]);
}

#[test]
fn a_killed_run_is_resumed() {
    let folder = source();
    std::fs::rename(folder.path("s"), folder.path("plain")).unwrap();
    let copied = |name: &str| {
        let ran = Command::new("cp").args(["-r", "plain", name]).current_dir(folder.path("")).status().unwrap();
        assert!(ran.success());
    };
    let args = |name: &str| {
        ["pyramid", name, "g/0", "--memory", "16000", "--threads", "2", "--resume"].map(str::to_owned).to_vec()
    };
    let strs = |args: &[String]| args.iter().map(String::as_str).map(str::to_owned).collect::<Vec<String>>();
    let run = |name: &str| folder.run(&strs(&args(name)).iter().map(String::as_str).collect::<Vec<_>>());
    copied("whole");
    let started = Instant::now();
    assert_eq!(run("whole").code, Some(0));
    let (time, whole) = (started.elapsed(), files(&folder, "whole"));
    let rounds = std::env::var("ZARR_KILL_ROUNDS").map_or(6, |rounds| rounds.parse().unwrap());
    let mut kills = 0;
    for round in 0..rounds {
        let name = format!("t{round}");
        copied(&name);
        let share = f64::from(round * 7 % rounds) / f64::from(rounds);
        for part in 1..=2 {
            let mut child = Command::new(env!("CARGO_BIN_EXE_zarr"))
                .args(args(&name))
                .current_dir(folder.path(""))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(time.mul_f64(share / f64::from(part)));
            child.kill().unwrap();
            kills += u32::from(child.wait().unwrap().code().is_none());
        }
        let ran = run(&name);
        assert!(ran.code == Some(0) || ran.err.contains("there is an array already"), "{}", ran.err);
        assert_eq!(files(&folder, &name), whole, "round {round}");
        std::fs::remove_dir_all(folder.path(&name)).unwrap();
    }
    println!("{kills} kills in {rounds} rounds");
}

#[test]
fn a_run_that_is_interrupted_says_how_to_go_on() {
    let remote = Remote::of(source());
    let args = ["pyramid", "s", "g/0", "--to", "s3://data/t::/levels", "--memory", "16000", "--threads", "1"];
    let is_put = |it: &Logged| it.method == "PUT" && !it.path.contains(".z");
    let (code, err) = remote.signalled(&args, Duration::from_millis(60), is_put, "-INT");
    assert_eq!(code, Some(2), "{err}");
    let told = "the levels are not complete; the same command with --resume goes on, with --overwrite it begins anew";
    assert!(err.contains(told), "{err}");
    remote.ok(&[&args[..], &["--resume"]].concat());
    remote.ok(&["diff", "s::/g/0", "s3://data/t::/levels/0"]);
    remote.ok(&["info", "s3://data/t::/levels/1"]);
}
