//! The measurements of a benchmark process, whatever library does the work.
//!
//! A program hands an implementation of [`Library`] to [`run`]. Started as `PROGRAM CASE OP PATH`, it prints one line of JSON:
//! `{"seconds": [..], "cpu": [..], "bytes": N, "peak_rss": N, "check": "N"}`. `docs/performance.md` describes each
//! operation; the environment (`BENCH_REPS`, `BENCH_WARM`, `BENCH_RAW`, `BENCH_OUT`, `BENCH_SUBSETS`) has the other
//! parameters.

mod library;
mod measure;
mod operations;
mod turns;

pub use library::{Failure, Files, Library, Subset};
pub use measure::cpu_seconds;
pub use operations::{Outcome, measure, run};
pub use turns::{best, compare, wanted};
