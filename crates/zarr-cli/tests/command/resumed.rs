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
    for args in [&["tree", "t"][..], &["info", "t"], &["ls", "t"], &["read", "t", "g/a"], &["du", "t"]] {
        let ran = folder.run(args);
        let told = "a conversion to here was interrupted, or is running: the same `zarr convert` or `zarr cp` with --resume goes on where it stopped";
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
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

/// How often kills are tried; more by the variable `ZARR_KILL_ROUNDS`.
fn rounds(few: u64) -> u64 {
    std::env::var("ZARR_KILL_ROUNDS").map_or(few, |rounds| rounds.parse().unwrap())
}

/// A share of a time, by chance, but the same in each run of the tests.
fn some_of(time: Duration, round: u64) -> Duration {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    time.mul_f64(((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24))
}

/// A bucket, and the options to write it.
fn bucket() -> (TestServer, Vec<String>) {
    let builder = TestServer::builder().bucket("data", Bucket::s3().public()).latency(Duration::from_millis(1));
    let server = builder.start().unwrap();
    let endpoint = format!("endpoint={}", server.url());
    let options = ["--store-option", "anonymous=true", "--store-option", &endpoint].map(str::to_owned).to_vec();
    (server, options)
}

/// The values of a bucket under a prefix.
fn objects(server: &TestServer, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let keys = server.keys("data").into_iter().filter(|key| key.starts_with(&format!("{prefix}/")));
    keys.map(|key| (key[prefix.len()..].to_owned(), server.get("data", &key).unwrap().to_vec())).collect()
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// Whether a journal says that the chunk at a key is stored, of the third node, the array a, or the fourth, the array b.
fn has(journal: &Value, key: &str) -> bool {
    let (node, (_, chunk)) = (if key.contains("/g/a/c/") { 2 } else { 3 }, key.rsplit_once('/').unwrap());
    let (done, chunk) = (journal.get("done").unwrap().as_u64().unwrap(), chunk.parse::<u64>().unwrap());
    let Some(array) = journal.get("array").filter(|array| node == done && array.as_object().is_some()) else {
        return node < done;
    };
    let first = |value: &Value| value.as_array().unwrap()[0].as_u64().unwrap();
    let unit = first(array.get("unit").unwrap());
    let holds = |run: &Value| {
        let ends = run.as_array().unwrap();
        (first(&ends[0]) * unit..first(&ends[1]) * unit).contains(&chunk)
    };
    array.get("runs").unwrap().as_array().unwrap().iter().any(holds)
}

#[test]
fn a_killed_conversion_is_resumed_in_a_bucket() {
    let ((server, options), folder) = (bucket(), source("20"));
    let to = |target: &str, more: &[&str]| -> Vec<String> {
        let args = ["convert", "s", target, "--chunks", "2", "--memory", "400"];
        [&args[..], more].concat().iter().map(|arg| (*arg).to_owned()).chain(options.iter().cloned()).collect()
    };
    let started = Instant::now();
    assert_eq!(folder.run(&strs(&to("s3://data/whole", &[]))).code, Some(0));
    let (time, whole) = (started.elapsed(), objects(&server, "whole"));
    let (mut rounds, mut kills, mut again, mut round) = (rounds(5), 0, 0, 0);
    while round < rounds {
        let name = format!("t{round}");
        let with = to(&format!("s3://data/{name}"), &["--resume"]);
        let puts = || -> Vec<String> {
            let is_put = |path: &str| path.starts_with(&format!("/data/{name}/")) && path.contains("/c/");
            server.log().into_iter().filter(|it| it.method == "PUT" && is_put(&it.path)).map(|it| it.path).collect()
        };
        kills += u64::from(killed(&folder, &strs(&with), some_of(time, round)));
        // A set that the killed process had sent may still arrive.
        std::thread::sleep(Duration::from_millis(50));
        let before = puts();
        let journal = server.get("data", &format!("{name}/.zconversion"));
        let journal = journal.map(|text| Value::from_json(&String::from_utf8_lossy(&text)).unwrap());
        let ran = folder.run(&strs(&with));
        assert!(ran.code == Some(0) || ran.err.contains("there is a group already"), "{}", ran.err);
        assert!(objects(&server, &name) == whole, "round {round}");
        let twice: Vec<String> =
            puts().split_off(before.len()).into_iter().filter(|key| before.contains(key)).collect();
        let in_journal = |key: &&String| journal.as_ref().is_some_and(|journal| has(journal, key));
        assert_eq!(twice.iter().find(in_journal), None, "round {round}: the journal has it: {journal:?}");
        again = again.max(twice.len());
        server
            .keys("data")
            .iter()
            .filter(|key| key.starts_with(&name))
            .for_each(|key| drop(server.remove("data", key)));
        server.reset_counts();
        round += 1;
        // More rounds where the machine is faster now than it was for the whole.
        rounds += u64::from(round == rounds && kills == 0 && round < 50);
    }
    assert!(kills > 0);
    println!("{kills} of {rounds} killed, {again} chunks at most set twice");
}

/// One of two processes that go on with a conversion at the same moment may do nothing, and says why.
#[test]
fn two_processes_that_resume_at_once_end_well() {
    let ((server, options), folder) = (bucket(), source("5"));
    let to = |target: &str, options: &[String]| -> Vec<String> {
        let args = ["convert", "s", target, "--chunks", "1", "--memory", "2000", "--resume"];
        args.iter().map(|arg| (*arg).to_owned()).chain(options.iter().cloned()).collect()
    };
    folder.ok(&strs(&to("whole", &[])));
    let started = Instant::now();
    folder.ok(&strs(&to("s3://data/whole", &options)));
    let (time, whole) = (started.elapsed(), objects(&server, "whole"));
    let mut refused = 0;
    for round in 0..rounds(3) {
        for (convert, in_bucket) in
            [(to(&format!("t{round}"), &[]), false), (to(&format!("s3://data/t{round}"), &options), true)]
        {
            killed(&folder, &strs(&convert), some_of(time, round));
            let spawn = || {
                let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
                command.args(&convert).current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::null());
                command.stderr(Stdio::piped()).spawn().unwrap()
            };
            let both = [spawn(), spawn()].map(|child| child.wait_with_output().unwrap());
            let mut well = 0;
            for ended in &both {
                let err = String::from_utf8_lossy(&ended.stderr);
                let says = [
                    "is at work: process ",
                    "another run goes on with this conversion: ",
                    "another conversion to here was begun: ",
                    "its journal is gone",
                ];
                // It is done when the second one begins, or looks again.
                let is_done = err.contains("there is a group already") || err.contains("created this node meanwhile");
                well += u64::from(ended.status.success() || is_done);
                refused += u64::from(!ended.status.success() && !is_done);
                assert!(ended.status.success() || is_done || says.iter().any(|said| err.contains(said)), "{err}");
            }
            assert!(well > 0, "round {round}: {both:?}");
            match in_bucket {
                true => assert!(objects(&server, &format!("t{round}")) == whole, "round {round}"),
                false => assert!(files(&folder, &format!("t{round}")) == files(&folder, "whole"), "round {round}"),
            }
        }
    }
    println!("{refused} refused");
}

/// Runs parts at the same time, kills some of them at some moments, and runs these again until all are done, and then the end.
fn parts_with_kills(folder: &Folder, convert: &[String], time: Duration, round: u64) -> u64 {
    let spawn = |part: u64| {
        let child = Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(convert)
            .args(["--part", &format!("{part}/4")])
            .current_dir(folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        child.unwrap()
    };
    let is_option = |arg: &&String| arg.contains("store-option") || arg.contains('=');
    let tree: Vec<&str> =
        ["tree", &convert[2]].into_iter().chain(convert.iter().filter(is_option).map(String::as_str)).collect();
    let finish = || folder.run(&[&strs(convert)[..], &["--finish"]].concat());
    let mut kills = 0;
    let mut left: Vec<u64> = vec![1, 2, 3, 4];
    for turn in 0.. {
        let mut children: Vec<_> = left.iter().map(|&part| (part, spawn(part))).collect();
        std::thread::sleep(some_of(time, round * 7 + turn));
        // Others of them in each turn, and none in the end.
        for (part, child) in &mut children {
            if turn < 3 && (round + turn + *part).is_multiple_of(2) {
                child.kill().unwrap();
            }
        }
        left.clear();
        for (part, child) in children {
            let ended = child.wait_with_output().unwrap();
            match ended.status.code() {
                Some(0) => {}
                None => {
                    kills += 1;
                    left.push(part);
                }
                Some(_) => {
                    let err = String::from_utf8_lossy(&ended.stderr);
                    // The last entry of one that was killed may arrive after this one has read the journal.
                    let is_late = kills > 0 && turn < 20 && err.contains("another run goes on with this conversion: ");
                    assert!(is_late, "round {round}: {err}");
                    left.push(part);
                }
            }
        }
        if left.is_empty() {
            assert_eq!(folder.run(&tree).code, Some(3), "nodes show before the end");
            let ran = finish();
            assert_eq!(ran.code, Some(0), "round {round}: {}", ran.err);
            return kills;
        }
        if turn == 0 {
            let ran = finish();
            // They may have been killed after their last entries, or all before they began the conversion.
            if ran.code == Some(0) {
                return kills;
            }
            let are_missing = ran.err.contains("of 4 parts these are not done: ");
            assert!(are_missing || ran.err.contains("no part of a conversion"), "{}", ran.err);
        }
    }
    unreachable!()
}

#[test]
fn parts_by_processes_some_of_them_killed_make_the_whole() {
    let ((server, options), folder) = (bucket(), source("5"));
    let to = |target: &str, options: &[String]| -> Vec<String> {
        let args = ["convert", "s", target, "--chunks", "1", "--memory", "2000", "--dialect", "v2"];
        args.iter().map(|arg| (*arg).to_owned()).chain(options.iter().cloned()).collect()
    };
    folder.ok(&strs(&to("whole", &[])));
    let started = Instant::now();
    folder.ok(&strs(&to("s3://data/whole", &options)));
    let (time, whole) = (started.elapsed(), objects(&server, "whole"));
    let (mut rounds, mut kills, mut round) = (rounds(2), 0, 0);
    while round < rounds {
        let convert = to(&format!("t{round}"), &[]);
        kills += parts_with_kills(&folder, &convert, time / 2, round);
        assert!(files(&folder, &format!("t{round}")) == files(&folder, "whole"), "round {round}");
        let convert = to(&format!("s3://data/t{round}"), &options);
        kills += parts_with_kills(&folder, &convert, time, round);
        assert!(objects(&server, &format!("t{round}")) == whole, "round {round}");
        round += 1;
        // More rounds where the machine is faster now than it was for the whole.
        rounds += u64::from(round == rounds && kills == 0 && round < 50);
    }
    assert!(kills > 0);
    println!("{kills} parts killed in {rounds} rounds");
    assert_eq!(folder.run(&[&strs(&to("t", &[]))[..], &["--part", "5/4"]].concat()).code, Some(2));
}

#[test]
fn parts_are_given_up() {
    let folder = source("5");
    let convert = ["convert", "s", "t", "--chunks", "1"];
    let part = |number: &'static str, more: &'static str| {
        let of = ["--part", number, "--chunks", more];
        folder.run(&[&convert[..3], &of[..]].concat())
    };
    assert_eq!(part("1/2", "1").code, Some(0));
    let ran = part("2/2", "2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("chunks: [1] there, [2] now") && ran.err.contains("--abandon"), "{}", ran.err);
    let given_up = folder.ok(&[&convert[..], &["--abandon", "--json"]].concat());
    assert_eq!(Value::from_json(&given_up).unwrap().to_string(), r#"{"source":"s","target":"t","abandoned":true}"#);
    assert_eq!(folder.files("t"), Vec::<String>::new());
    assert_eq!((part("2/2", "2").code, part("1/2", "2").code), (Some(0), Some(0)));
    folder.ok(&["convert", "s", "t", "--chunks", "2", "--finish"]);
    assert_eq!(folder.raw("t", "/g/a"), folder.raw("s", "/g/a"));
    assert_eq!(folder.run(&[&convert[..], &["--abandon"]].concat()).code, Some(3));
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
