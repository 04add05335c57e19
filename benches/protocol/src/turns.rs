//! Two ways to do the same, in turn: for the benchmarks that crates have of their own.

use std::time::Instant;

/// Whether the arguments of the program, each a part of a name, ask for this.
pub fn wanted(name: &str) -> bool {
    std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).all(|part| name.contains(&part))
}

/// Seconds that each of two ways took at least, in several runs in turn of `times` each.
pub fn best(times: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [f64; 2] {
    let seconds = |way: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..times).for_each(|_| way());
        start.elapsed().as_secs_f64() / times as f64
    };
    let mut best = [f64::MAX; 2];
    for _ in 0..9 {
        best[0] = best[0].min(seconds(&mut ours));
        best[1] = best[1].min(seconds(&mut theirs));
    }
    best
}

/// Runs both in turn, if [`wanted`]; prints the speed of each at `bytes` per run, and how many times faster the first is.
pub fn compare(name: &str, bytes: usize, ours: impl FnMut(), theirs: impl FnMut()) {
    if wanted(name) {
        let [ours, theirs] = best((8 << 20) / bytes + 1, ours, theirs).map(|seconds| bytes as f64 / seconds / 1e9);
        println!("{name:44} {ours:6.2} GB/s, beside {theirs:6.2} GB/s, {:5.2}x", ours / theirs);
    }
}
