//! Concurrent runs of the cases of a test.

/// Runs a check for all cases concurrently, each in a thread: for tests whose cases wait for answers, pauses and time-outs.
///
/// # Panics
/// If a check panics.
pub fn beside_each_other<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}
