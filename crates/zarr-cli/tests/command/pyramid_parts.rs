//! `zarr pyramid --part`: processes that share the levels of an array, killed at any moment.

use crate::folder::{Folder, int16};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of parts.
const OF: u32 = 3;

/// Starts a part of the levels of `g/0` in the store `name`.
fn start(folder: &Folder, name: &str, part: u32) -> Child {
    Command::new(env!("CARGO_BIN_EXE_zarr"))
        .args(options(name))
        .args(["--part", &format!("{part}/{OF}")])
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn options(name: &str) -> [&str; 7] {
    ["pyramid", name, "g/0", "--memory", "16000", "--threads", "2"]
}

fn files(folder: &Folder, store: &str) -> Vec<(String, Vec<u8>)> {
    let names = folder.files(store).into_iter();
    names.map(|name| (name.clone(), std::fs::read(folder.path(store).join(name)).unwrap())).collect()
}

/// Numbers from a seed.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(next(&seed), next).map(|state| state >> 33)
}

/// Waits until the journal that parts share is there, or the process has ended: its start does not count.
fn wait_for_journal(folder: &Folder, name: &str, child: &mut Child) {
    let journal = folder.path(name).join("g/.zconversion-1");
    while !journal.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn killed_parts_of_a_pyramid_go_on() {
    let folder = Folder::new();
    let new = ["create", "plain", "g/0", "--shape", "60,80", "--dtype", "int16", "--chunks", "4,4", "--dims", "y,x"];
    folder.ok(&[&new[..], &["--codecs", "zstd"]].concat());
    folder.fill("plain", "/g/0", "<i2", "(60, 80)", &int16(0..4800));
    let copied = |name: &str| {
        let ran = Command::new("cp").args(["-r", "plain", name]).current_dir(folder.path("")).status().unwrap();
        assert!(ran.success());
    };
    copied("whole");
    folder.ok(&options("whole"));
    let whole = files(&folder, "whole");
    copied("timed");
    let mut timed = start(&folder, "timed", 1);
    wait_for_journal(&folder, "timed", &mut timed);
    let started = Instant::now();
    assert!(timed.wait().unwrap().success());
    let time = started.elapsed();
    let rounds = std::env::var("ZARR_KILL_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let mut kills = 0;
    for round in 0..rounds {
        let name = format!("t{round}");
        copied(&name);
        let mut numbers = numbers(round);
        // All parts at the same time, of which each is killed up to twice.
        let mut left: Vec<(u32, u32)> = (1..=OF).map(|part| (part, 0)).collect();
        while !left.is_empty() {
            let mut children: Vec<(u32, u32, Child)> =
                left.drain(..).map(|(part, kills)| (part, kills, start(&folder, &name, part))).collect();
            if let Some((.., first)) = children.first_mut() {
                wait_for_journal(&folder, &name, first);
            }
            let share = numbers.next().unwrap() % 1000;
            std::thread::sleep(time.mul_f64(share as f64 / 1000.0));
            for (part, killed, child) in &mut children {
                if *killed < 2 && !numbers.next().unwrap().is_multiple_of(3) {
                    child.kill().unwrap();
                }
                let status = child.wait().unwrap();
                match status.code() {
                    Some(0) => {}
                    None => {
                        kills += 1;
                        left.push((*part, *killed + 1));
                    }
                    Some(_) => {
                        let ran = folder.run(&[&options(&name)[..], &["--part", &format!("{part}/{OF}")]].concat());
                        assert!(ran.code == Some(0), "round {round}, part {part}: {}", ran.err);
                    }
                }
            }
        }
        let finish = [&options(&name)[..], &["--finish"]].concat();
        let mut child = Command::new(env!("CARGO_BIN_EXE_zarr"))
            .args(&finish)
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(numbers.next().unwrap() % 20_000));
        child.kill().unwrap();
        let is_killed = child.wait().unwrap().code().is_none();
        kills += u32::from(is_killed);
        let ran = folder.run(&finish);
        // The one that was killed may have erased the journal.
        assert!(ran.code == Some(0) || ran.err.contains("or it is finished"), "round {round}: {}", ran.err);
        assert_eq!(files(&folder, &name), whole, "round {round}");
        std::fs::remove_dir_all(folder.path(&name)).unwrap();
    }
    assert!(kills > 0, "nothing was killed in {rounds} rounds");
}

#[test]
fn parts_say_what_is_missing() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/0", "--shape", "60,80", "--dtype", "int16", "--chunks", "4,4"]);
    folder.ok(&["write", "s", "g/0", "--value", "5"]);
    let run = |more: &[&str]| folder.run(&[&options("s")[..], more].concat());
    let done = run(&["--part", "2/3"]);
    let out = String::from_utf8(done.out).unwrap();
    assert!(done.code == Some(0) && out.contains("part 2/3 of 5 levels by mean"), "{out}{}", done.err);
    let refused = |more: &[&str], words: &str| {
        let ran = run(more);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{more:?}: {}", ran.err);
    };
    refused(&["--finish"], "of 3 parts these are not done: 1, 3");
    refused(&[], "a pyramid to here is done in 3 parts");
    refused(&["--part", "1/3", "--method", "max"], "--abandon it to begin anew");
    refused(&["--part", "1/3", "--resume"], "cannot be used with");
    refused(&["--part", "4/3"], "found part 4 of 3");
    refused(&["--to", "zip:t.zip", "--part", "1/2"], "a zip file is not");
    let given_up = run(&["--abandon"]);
    let out = String::from_utf8(given_up.out).unwrap();
    assert!(out.contains("the parts are given up"), "{}", given_up.err);
    assert_eq!(folder.run(&["info", "s", "g/1"]).code, Some(3));
    refused(&["--part", "1/2", "--level", "1"], "cannot be used with");
    (1..=2).for_each(|part| assert_eq!(run(&["--part", &format!("{part}/2")]).code, Some(0)));
    let finished = run(&["--finish"]);
    let out = String::from_utf8(finished.out).unwrap();
    assert!(finished.code == Some(0) && out.contains("5 levels by mean ended in "), "{out}{}", finished.err);
    assert_eq!(folder.ok(&["read", "s", "g/1", "--select", "0,0"]).trim(), "5");
}

#[test]
fn parts_are_told_that_they_are_too_many() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/0", "--shape", "60,80", "--dtype", "int16", "--chunks", "4,4"]);
    let ran = folder.run(&[&options("s")[..], &["--part", "1/1000"]].concat());
    assert!(ran.code == Some(0) && ran.err.contains("are left to --finish"), "{}", ran.err);
}

#[test]
fn parts_in_a_store_with_a_migration_are_not_given_up() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/0", "--shape", "60,80", "--dtype", "int16", "--chunks", "4,4", "--dialect", "v2"]);
    folder.ok(&[&options("s")[..], &["--part", "1/3"]].concat());
    let before = files(&folder, "s");
    std::fs::write(folder.path("s").join(".zmigration"), "{").unwrap();
    let ran = folder.run(&[&options("s")[..], &["--abandon"]].concat());
    assert!(ran.code != Some(0) && ran.err.contains("migration"), "{}", ran.err);
    std::fs::remove_file(folder.path("s").join(".zmigration")).unwrap();
    assert_eq!(files(&folder, "s"), before);
}
