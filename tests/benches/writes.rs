//! The cost of writes to one chunk in files: the time of partial writes, compared with reading, changing and replacing a file by hand,
//! and the system calls of a write, counted by `strace`.
//!
//! `cargo bench -p zarr-tests --bench writes [PART OF A NAME]`; `TMPDIR` sets the directory of the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use zarr::{Array, NewArray};

/// The environment variable with the task of this program under `strace`: a size, a kind and a number of writes.
const TASK: &str = "ZARR_BENCH_TASK";

/// How many writes `strace` observes.
const COUNTED: u64 = 500;

fn main() {
    if let Ok(task) = std::env::var(TASK) {
        let mut words = task.split(' ');
        let mut word = || words.next().expect("a size, a kind and a number");
        let (size, kind, count) = (word(), word(), word());
        let folder = tempfile::tempdir().expect("a directory");
        let array = one_chunk(folder.path(), size.parse().expect("a size"));
        return write(&array, kind, count.parse().expect("a number"));
    }
    for (name, size) in [("4 KiB", 4 << 10), ("1 MiB", 1 << 20)] {
        compare(name, size);
        for kind in ["partial", "full"] {
            let name = format!("system calls of a {kind} write, {name}");
            if zarr_bench_protocol::wanted(&name) {
                println!("{name:32} {}", calls(size, kind));
            }
        }
    }
}

/// An array of one uncompressed chunk of `size` bytes.
fn one_chunk(folder: &Path, size: u64) -> Array {
    let store = zarr::store::create(folder.to_str().expect("UTF-8")).expect("a store");
    let new = NewArray::new(&[size], "uint8").chunks(&[size]).codecs("bytes").expect("codecs");
    let array = zarr::create((&store, "/a")).array(new).expect("an array");
    array.write(.., &vec![1_u8; size as usize]).expect("writes");
    array
}

fn write(array: &Array, kind: &str, count: u64) {
    let size = array.shape()[0];
    let whole = if kind == "full" { vec![2_u8; size as usize] } else { Vec::new() };
    for number in 0..count {
        if kind == "full" {
            array.write(.., &whole).expect("writes");
        } else {
            array.write(number % size, &[number as u8 | 1]).expect("writes");
        }
    }
}

/// Microseconds of a partial write, and of the same by hand: of the clock, and of the processor, which other processes disturb less.
fn compare(name: &str, size: u64) {
    let name = format!("partial writes, {name}");
    if !zarr_bench_protocol::wanted(&name) {
        return;
    }
    let folder = tempfile::tempdir().expect("a directory");
    let array = one_chunk(folder.path(), size);
    let file = folder.path().join("by-hand");
    let other = folder.path().join("by-hand.new");
    fs::write(&file, vec![1; size as usize]).expect("writes");
    let times = if size > 100_000 { 200 } else { 2000 };
    let ours = || write(&array, "partial", times);
    let by_hand = || {
        for _ in 0..times {
            let mut bytes = fs::read(&file).expect("reads");
            bytes[0] = bytes[0].wrapping_add(1);
            fs::write(&other, &bytes).expect("writes");
            fs::rename(&other, &file).expect("renames");
        }
    };
    let mut best = [[f64::MAX; 2]; 2];
    for _ in 0..15 {
        for (best, way) in best.iter_mut().zip([&ours as &dyn Fn(), &by_hand]) {
            let (begun, cpu) = (Instant::now(), zarr_bench_protocol::cpu_seconds());
            way();
            let took = [begun.elapsed().as_secs_f64(), zarr_bench_protocol::cpu_seconds() - cpu];
            *best = [0, 1].map(|clock| best[clock].min(took[clock] * 1e6 / times as f64));
        }
    }
    for (clock, index) in [("clock", 0), ("processor", 1)] {
        let (ours, by_hand) = (best[0][index], best[1][index]);
        println!("{name:28} {clock:9} {ours:7.1} us, by hand {by_hand:7.1} us, {:5.2}x as long", ours / by_hand);
    }
}

/// The system calls of one write, by name.
fn calls(size: u64, kind: &str) -> String {
    let (Some(none), Some(many)) = (counted(size, kind, 0), counted(size, kind, COUNTED)) else {
        return "not counted: strace cannot run".to_owned();
    };
    let of_one = |name: &str| (many[name] - none.get(name).copied().unwrap_or(0.0)) / COUNTED as f64;
    let each: Vec<(f64, &String)> =
        many.keys().map(|name| (of_one(name), name)).filter(|(calls, _)| *calls > 0.05).collect();
    let all: f64 = each.iter().map(|(calls, _)| calls).sum();
    let each: Vec<String> = each.iter().map(|(calls, name)| format!("{name} {calls:.1}")).collect();
    format!("{all:.1}: {}", each.join(", "))
}

/// How often a process that makes `count` writes makes each system call.
fn counted(size: u64, kind: &str, count: u64) -> Option<BTreeMap<String, f64>> {
    let folder = tempfile::tempdir().expect("a directory");
    let table = folder.path().join("calls");
    let done = Command::new("strace")
        .args(["-f", "-c", "-U", "calls,name", "-o"])
        .arg(&table)
        .arg(std::env::current_exe().expect("this program"))
        .env(TASK, format!("{size} {kind} {count}"))
        .stdout(Stdio::null())
        .status();
    if !done.is_ok_and(|status| status.success()) {
        return None;
    }
    let table = fs::read_to_string(table).ok()?;
    let row = |line: &str| {
        let (calls, name) = line.trim().split_once(char::is_whitespace)?;
        Some((name.trim().to_owned(), calls.parse().ok()?))
    };
    Some(table.lines().filter_map(row).filter(|(name, _)| name != "total").collect())
}
