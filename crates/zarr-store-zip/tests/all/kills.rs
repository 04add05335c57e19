//! Processes that are killed while they write.
//!
//! The worker is this test program again. It reports each state that it has flushed; after a kill the file must be of that
//! state or of one that followed, whole, for this library and others.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zarr_store::StoreExt;
use zarr_store_zip::{ZipFault, ZipOptions, ZipStore};

use crate::other_software::is_sound;
use crate::{files, folder, key};

/// The environment variable with the path of the zip file, by which a worker knows that it is one.
const WORKER: &str = "ZARR_STORE_ZIP_WORKER";
/// Number of values that a round sets; it replaces one besides.
const VALUES: u64 = 10;
/// Every round whose number is a multiple of this is flushed.
const FLUSHED: u64 = 3;

/// The value number `i` of a round: of lengths up to 20 kB, and some up to 200 kB.
fn value(round: u64, i: u64) -> Vec<u8> {
    let len = (round * 7919 + i * 104_729) % if i == 0 { 200_000 } else { 20_000 };
    (0..len).map(|at| (at ^ round ^ i) as u8).collect()
}

/// Not a test, but what the other process does.
#[test]
fn worker() {
    let Ok(path) = env::var(WORKER) else { return };
    let path = Path::new(&path);
    // The name of this test is in the first line.
    println!();
    let store = if path.exists() { ZipStore::append(path) } else { ZipStore::create(path) };
    let store = store.expect("opened").with(ZipOptions::default().replace(true));
    let done = store.get_all(&key("rounds")).expect("get");
    let done = done.map_or(0, |done| u64::from_le_bytes((*done).try_into().expect("8 bytes")));
    for round in done + 1.. {
        for i in 0..VALUES {
            store.set_all(&key(&format!("c/{round}/{i}")), &value(round, i)).expect("set");
        }
        store.set_all(&key("rounds"), &round.to_le_bytes()).expect("set");
        if round % FLUSHED == 0 {
            store.flush().expect("flushed");
            println!("flushed {round}");
        } else if round % 5 == 0 {
            store.repack().expect("repacked");
            println!("flushed {round}");
        } else {
            println!("set {round}");
        }
    }
}

fn spawn(path: &Path) -> Child {
    let program = env::current_exe().expect("this program");
    let arguments = ["--exact", "kills::worker", "--nocapture", "--test-threads=1"];
    let mut command = Command::new(program);
    command.args(arguments).env(WORKER, path).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a process")
}

/// Waits for `reports` reports, kills the process a little later, and returns the last round that it has flushed.
fn kill_after(mut child: Child, reports: usize, pause: Duration) -> u64 {
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    let mut flushed = 0;
    let mut seen = 0;
    let mut note = |line: String| {
        if let Some((what @ ("set" | "flushed"), round)) = line.split_once(' ')
            && let Ok(round) = round.parse::<u64>()
        {
            seen += 1;
            if what == "flushed" {
                flushed = round;
            }
        }
        seen
    };
    while note(lines.next().unwrap_or_else(|| {
        let mut text = String::new();
        let _ = child.stderr.take().expect("piped").read_to_string(&mut text);
        panic!("the worker ended: {text}")
    })) < reports
    {}
    std::thread::sleep(pause);
    child.kill().expect("killed");
    for line in lines {
        note(line);
    }
    child.wait().expect("ended");
    flushed
}

#[test]
fn a_killed_process_leaves_a_flushed_state() {
    let (_folder, path) = folder();
    let mut last = 0;
    for attempt in 0..16_u64 {
        // Many times while the new file is written, copied or given its name.
        let pause = Duration::from_micros(attempt * attempt * 977 % 40_000);
        let flushed = kill_after(spawn(&path), 1 + attempt as usize % 7, pause);
        let Ok(store) = ZipStore::open(&path) else {
            assert_eq!((flushed, last), (0, 0), "a file that was there");
            continue;
        };
        let rounds = store.get_all(&key("rounds")).expect("get").expect("there");
        let rounds = u64::from_le_bytes((*rounds).try_into().expect("8 bytes"));
        assert!(rounds >= flushed.max(last), "round {rounds}, but {flushed} and {last} were flushed");
        assert!(rounds % FLUSHED == 0 || rounds % 5 == 0, "round {rounds} was never flushed");
        assert_eq!(store.list().expect("listed").len() as u64, rounds * VALUES + 1);
        for round in 1..=rounds {
            for i in 0..VALUES {
                let got = store.get_all(&key(&format!("c/{round}/{i}"))).expect("get").expect("there");
                assert!(*got == value(round, i), "value {i} of round {round}");
            }
        }
        is_sound(&path);
        last = rounds;
    }
    assert!(last > 20, "{last} rounds are too few");
    // What was left beside it goes with the next writer.
    drop(ZipStore::append(&path).expect("opened"));
    assert_eq!(files(&path), ["x.zip"]);
}

#[test]
fn a_lock_ends_with_its_process() {
    let (_folder, path) = folder();
    ZipStore::create(&path).expect("created").close().expect("closed");
    let mut child = spawn(&path);
    // It has the lock once it reports.
    let mut lines = BufReader::new(child.stdout.as_mut().expect("piped")).lines();
    lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("set "))).expect("a report").expect("UTF-8");
    let error = ZipStore::append(&path).expect_err("another process writes");
    assert!(
        matches!(&error, zarr_store::Error::Format { fault, .. } if matches!(fault.downcast_ref(), Some(ZipFault::Locked))),
        "{error}"
    );
    // Readers are not kept out.
    ZipStore::open(&path).expect("opened");
    child.kill().expect("killed");
    child.wait().expect("ended");
    ZipStore::append(&path).expect("free");
}
