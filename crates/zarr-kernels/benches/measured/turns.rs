//! What the benchmarks share.

use std::time::Instant;

/// Whether the arguments of the program ask for this.
fn wanted(name: &str) -> bool {
    std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).all(|part| name.contains(&part))
}

/// Runs both in turn; prints the speed of each at `bytes` per run, and how many times faster the first is.
pub(crate) fn compare(name: &str, bytes: usize, mut ours: impl FnMut(), mut plain: impl FnMut()) {
    if !wanted(name) {
        return;
    }
    let turns = (4 << 20) / bytes + 1;
    let mut best = [f64::MAX; 2];
    for _ in 0..9 {
        let start = Instant::now();
        (0..turns).for_each(|_| ours());
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        (0..turns).for_each(|_| plain());
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    let [ours, plain] = best.map(|seconds| (turns * bytes) as f64 / seconds / 1e9);
    println!("{name:40} {ours:6.2} GB/s, plain loop {plain:6.2} GB/s, {:5.2}x", ours / plain);
}
