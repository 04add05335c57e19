//! Runs a target of the fuzz campaign with mutated inputs: the process that `cargo xtask fuzz` starts and watches.
//!
//! `zarr-fuzz TARGET FIRST LAST SECONDS MEMORY PROGRESS`: runs the inputs with the numbers from FIRST to before LAST, for at most SECONDS
//! seconds, with MEMORY MiB of address space (0: any). PROGRESS is a file with the number of the current input. The last line of the output
//! has the number of inputs, the number of accepted inputs, the greatest CPU time of an input in microseconds and its number, the greatest
//! CPU time for a byte of an input in nanoseconds and the number of that input, and the peak of memory of the process in KiB.

use std::fs::File;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zarr_tests::Fault;
use zarr_tests::fuzz::{Target, cost};

/// Greatest CPU time of an input, more than any input may take; the process ends then.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Number of times that an input that took too long is run again, since other processes may have cost it pages and caches.
const AGAIN: usize = 2;

/// CPU time of the process, in microseconds, at which the current input began; `u64::MAX` between inputs.
static BEGAN: AtomicU64 = AtomicU64::new(u64::MAX);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Fault> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, first, last, seconds, memory, progress] = &arguments[..] else {
        return Err("zarr-fuzz TARGET FIRST LAST SECONDS MEMORY PROGRESS".to_owned());
    };
    let number = |text: &String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let target = Target::named(target).ok_or_else(|| format!("no target {target}"))?;
    let (first, last, seconds, memory) = (number(first)?, number(last)?, number(seconds)?, number(memory)?);
    let progress = File::create(progress).map_err(|error| format!("{progress}: {error}"))?;
    let seeds = target.seeds()?;
    if seeds.inputs().is_empty() {
        return Err(format!("no input for {target:?}"));
    }
    bound_memory(memory)?;
    std::thread::spawn(watch);

    let start = Instant::now();
    let (mut done, mut taken) = (0, 0);
    // Each with the number of the input.
    let (mut slowest, mut dearest) = ((0, first), (0, first));
    for number in first..last {
        if done % 64 == 0 && start.elapsed().as_secs() >= seconds {
            break;
        }
        note(&progress, number)?;
        let input = seeds.mutated(number);
        let (is_taken, mut time) = timed(&target, &input);
        taken += u64::from(is_taken);
        for _ in 0..AGAIN {
            if memory == 0 || cost::is_allowed(time, input.len()) {
                break;
            }
            time = time.min(timed(&target, &input).1);
        }
        // With a sanitizer all takes longer.
        if memory > 0 {
            cost::check(time, input.len())?;
        }
        slowest = slowest.max((time.as_micros() as u64, number));
        dearest = dearest.max((cost::of_byte(time, input.len()), number));
        done += 1;
    }
    println!("{done} {taken} {} {} {} {} {}", slowest.0, slowest.1, dearest.0, dearest.1, peak_memory());
    Ok(())
}

/// Runs a target. Returns whether the target accepted the input, and its CPU time.
fn timed(target: &Target, input: &[u8]) -> (bool, Duration) {
    let began = cpu_time();
    BEGAN.store(began, Ordering::Relaxed);
    let is_taken = target.run(input);
    BEGAN.store(u64::MAX, Ordering::Relaxed);
    (is_taken, Duration::from_micros(cpu_time() - began))
}

/// Ends the process if an input takes too long.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let time = cpu_time().saturating_sub(BEGAN.load(Ordering::Relaxed));
        if time > MAX_TIME.as_micros() as u64 {
            eprintln!("took more than {} s", MAX_TIME.as_secs());
            std::process::exit(3);
        }
    }
}

#[cfg(target_os = "linux")]
fn bound_memory(mebibytes: u64) -> Result<(), Fault> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    if mebibytes == 0 {
        return Ok(());
    }
    let limit = Some(mebibytes << 20);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).map_err(|error| error.to_string())
}

#[cfg(target_os = "linux")]
fn note(progress: &File, number: u64) -> Result<(), Fault> {
    use std::os::unix::fs::FileExt;
    progress.write_all_at(&number.to_le_bytes(), 0).map_err(|error| error.to_string())
}

/// Returns the CPU time of this process, in microseconds.
#[cfg(target_os = "linux")]
fn cpu_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}

/// Returns the peak of memory of this process, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
fn bound_memory(_: u64) -> Result<(), Fault> {
    Err("the memory of a process can be bounded on Linux alone".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn note(_: &File, _: u64) -> Result<(), Fault> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn cpu_time() -> u64 {
    0
}
