//! Conversions by processes that are killed and run again, in directories and in a bucket, and in parts.

use crate::folder::{Folder, int16};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zarr::meta::json::Value;
use zarr_testserver::{Bucket, TestServer};

/// A store of two arrays of 400 numbers.
fn source(chunks: &str) -> Folder {
    let folder = Folder::new();
    for (path, from) in [("g/a", 0), ("g/b", 1000)] {
        let new = ["create", "s", path, "--shape", "400", "--dtype", "int16", "--chunks", chunks, "--codecs", "zstd"];
        folder.ok(&new);
        folder.fill("s", &format!("/{path}"), "<i2", "(400,)", &int16(from..from + 400));
    }
    folder
}

fn files(folder: &Folder, store: &str) -> Vec<(String, Vec<u8>)> {
    let names = folder.files(store).into_iter();
    names.map(|name| (name.clone(), std::fs::read(folder.path(store).join(name)).unwrap())).collect()
}

/// Runs the command and kills it after a time; true if it was killed.
fn killed(folder: &Folder, args: &[&str], after: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zarr"))
        .args(args)
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[test]
fn a_killed_conversion_is_resumed_in_a_directory() {
    let folder = source("5");
    let to = |target: &str| -> Vec<String> {
        let args = ["convert", "s", target, "--chunks", "1", "--memory", "2000", "--threads", "2", "--resume"];
        args.map(str::to_owned).to_vec()
    };
    let started = Instant::now();
    folder.ok(&to("whole").iter().map(String::as_str).collect::<Vec<_>>());
    let time = started.elapsed();
    let (mut kills, mut round) = (0, 0);
    // More rounds where the machine is faster now than it was for the whole.
    while round < 5 || kills <= 2 {
        round += 1;
        assert!(round < 50, "{kills} kills");
        let target = format!("t{round}");
        let with = to(&target);
        let with: Vec<&str> = with.iter().map(String::as_str).collect();
        for part in 1..=2 {
            kills += u32::from(killed(&folder, &with, time * ((round - 1) % 5 + 1) / 8 / part));
        }
        let ran = folder.run(&with);
        assert!(ran.code == Some(0) || ran.err.contains("there is a group already"), "{}", ran.err);
        assert_eq!(files(&folder, &target), files(&folder, "whole"), "round {round}");
    }
}

#[test]
fn an_interrupted_conversion_says_how_to_go_on() {
    let folder = source("5");
    let convert = ["convert", "s", "t", "--chunks", "1", "--memory", "2000"];
    folder.ok(&convert);
    let whole = files(&folder, "t");
    std::fs::remove_dir_all(folder.path("t")).unwrap();
    let mut after = Duration::from_millis(4);
    while !folder.path("t/.zconversion").exists() {
        let _ = std::fs::remove_dir_all(folder.path("t"));
        killed(&folder, &convert, after);
        after = after * 5 / 4;
        assert!(after < Duration::from_secs(60));
        if folder.path("t/zarr.json").exists() && !folder.path("t/.zconversion").exists() {
            after = Duration::from_millis(4);
        }
    }
    let ran = folder.run(&convert);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("a conversion to here was interrupted, or is running"), "{}", ran.err);
    assert!(ran.err.contains("hint: --resume goes on where it stopped, --overwrite begins anew"), "{}", ran.err);
    let ran = folder.run(&["convert", "s", "t", "--chunks", "2", "--memory", "2000", "--resume"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("chunks: [1] there, [2] now"), "{}", ran.err);
    folder.ok(&[&convert[..], &["--resume"][..]].concat());
    assert_eq!(files(&folder, "t"), whole);
}

#[test]
fn a_killed_conversion_is_resumed_in_a_bucket() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let folder = source("20");
    let endpoint = format!("endpoint={}", server.url());
    let store = ["--store-option", "anonymous=true", "--store-option", &endpoint];
    let to = |target: &str, more: &[&str]| -> Vec<String> {
        let args = ["convert", "s", target, "--chunks", "4", "--memory", "4000"];
        [&args[..], more, &store[..]].concat().iter().map(|arg| (*arg).to_owned()).collect()
    };
    let run = |args: &[String]| folder.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let started = Instant::now();
    assert_eq!(run(&to("s3://data/whole", &[])).code, Some(0));
    let time = started.elapsed();
    let stored = |prefix: &str| -> Vec<(String, Vec<u8>)> {
        let keys = server.keys("data").into_iter().filter(|key| key.starts_with(&format!("{prefix}/")));
        keys.map(|key| (key[prefix.len()..].to_owned(), server.get("data", &key).unwrap().to_vec())).collect()
    };
    let mut kills = 0;
    for round in 1..4_u32 {
        let name = format!("t{round}");
        let with = to(&format!("s3://data/{name}"), &["--resume"]);
        let args: Vec<&str> = with.iter().map(String::as_str).collect();
        kills += u32::from(killed(&folder, &args, time * round / 5));
        // A set that the killed process had sent may still arrive.
        std::thread::sleep(Duration::from_millis(50));
        let ran = run(&with);
        assert!(ran.code == Some(0) || ran.err.contains("there is a group already"), "{}", ran.err);
        assert_eq!(stored(&name), stored("whole"), "round {round}");
    }
    assert!(kills > 0, "{kills}");
}

#[test]
fn parts_by_processes_some_of_them_killed_make_the_whole() {
    let folder = source("5");
    let convert = ["convert", "s", "t", "--chunks", "1", "--memory", "2000", "--dialect", "v2"];
    folder.ok(&[&["convert", "s", "whole"][..], &convert[3..]].concat());
    let parts: Vec<String> = (1..=4).map(|number| format!("{number}/4")).collect();
    let args = |part: &str| -> Vec<String> {
        [&convert[..], &["--part", part][..]].concat().iter().map(|arg| (*arg).to_owned()).collect()
    };
    let children = parts.iter().map(|part| {
        Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(args(part))
            .current_dir(folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    });
    let mut children: Vec<_> = children.collect();
    std::thread::sleep(Duration::from_millis(60));
    for child in &mut children[..2] {
        child.kill().unwrap();
    }
    let ended: Vec<bool> = children.iter_mut().map(|child| child.wait().unwrap().success()).collect();
    assert!(ended[2] && ended[3], "{ended:?}");
    for part in &parts[..2] {
        let ran = folder.run(&args(part).iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        // It may have been killed after its last entry.
        let entry = std::fs::read_to_string(folder.path("t/.zconversion.2-of-4")).unwrap_or_default();
        if part == "1/4" && !ended[1] && !entry.contains(r#""written""#) {
            let ran = folder.run(&[&convert[..], &["--finish"][..]].concat());
            assert_eq!(ran.code, Some(2));
            assert!(ran.err.contains("of 4 parts these are not done: 2"), "{}", ran.err);
        }
    }
    assert_eq!(folder.run(&["tree", "t"]).code, Some(3), "nodes show before the end");
    folder.ok(&[&convert[..], &["--finish"][..]].concat());
    assert_eq!(files(&folder, "t"), files(&folder, "whole"));
    assert_eq!(folder.run(&[&convert[..], &["--part", "5/4"][..]].concat()).code, Some(2));
}

#[test]
fn chunks_that_cannot_be_read_are_listed() {
    let folder = Folder::new();
    let new = ["--shape", "6", "--dtype", "int16", "--chunks", "2", "--fill", "-1", "--codecs", "bytes,crc32c"];
    folder.ok(&[&["create", "s", "a"], &new[..]].concat());
    folder.fill("s", "/a", "<i2", "(6,)", &int16(1..7));
    let chunk = folder.path("s/a/c/1");
    let mut bytes = std::fs::read(&chunk).unwrap();
    bytes[0] ^= 1;
    std::fs::write(chunk, bytes).unwrap();
    let convert = ["convert", "s", "t", "--chunks", "3"];
    assert_eq!(folder.run(&convert).code, Some(4));
    let ran = folder.run(&[&convert[..], &["--keep-going", "--overwrite", "--json"][..]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let result = Value::from_json(&String::from_utf8(ran.out).unwrap()).unwrap();
    let skipped = result.get("skipped").unwrap().to_string();
    assert!(skipped.starts_with(r#"[{"path":"/a","chunk":[1],"key":"a/c/1","cause":""#), "{skipped}");
    assert_eq!(folder.raw("t", "/a"), int16([1, 2, -1, -1, 5, 6]));
    let ran = folder.run(&[&convert[..], &["--keep-going", "--overwrite"][..]].concat());
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("left out: /a: chunk [1]: key a/c/1: "), "{}", ran.err);
    assert!(ran.err.contains("a chunk could not be read; its elements have the fill value"), "{}", ran.err);
}
