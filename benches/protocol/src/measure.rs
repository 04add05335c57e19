//! Clocks, memory, and sums to compare results by.

use crate::Failure;
use memmap2::MmapMut;
use std::time::Instant;

/// Times of repetitions, in seconds.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) wall: Vec<f64>,
    /// Processor time of all threads, in user and system mode.
    pub(crate) cpu: Vec<f64>,
}

impl Times {
    /// Runs `body` some times unmeasured, then some times measured, each after `before`.
    pub(crate) fn of<S>(
        state: &mut S,
        mut before: impl FnMut(&mut S) -> Result<(), Failure>,
        mut body: impl FnMut(&mut S) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let (warm, repetitions) = (number("BENCH_WARM", 1), number("BENCH_REPS", 3));
        let mut times = Self::default();
        for repetition in 0..warm + repetitions {
            before(state)?;
            let (cpu, start) = (cpu_seconds(), Instant::now());
            body(state)?;
            let wall = start.elapsed().as_secs_f64();
            if repetition >= warm {
                times.wall.push(wall);
                times.cpu.push(cpu_seconds() - cpu);
            }
        }
        Ok(times)
    }
}

/// A number of the environment.
pub(crate) fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The processor time of this process so far, in seconds.
#[cfg(unix)]
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The processor time of this process: not known on this system.
#[cfg(not(unix))]
pub fn cpu_seconds() -> f64 {
    0.0
}

/// The most memory that the process held so far, in bytes.
pub(crate) fn peak_memory() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kibibytes: u64 = line.split_whitespace().next().ok_or("no VmHWM")?.parse()?;
    Ok(kibibytes * 1024)
}

/// Memory that was touched before it is measured, in large pages where the system has them.
pub(crate) fn touched(len: usize) -> Result<MmapMut, Failure> {
    let mut memory = MmapMut::map_anon(len.max(1))?;
    // Small pages do as well, if slower.
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    memory.fill(1);
    Ok(memory)
}

/// The wrapping sum of all little-endian words of 8 bytes.
pub(crate) fn check_sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}
