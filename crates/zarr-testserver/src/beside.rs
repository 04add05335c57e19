//! Cases of a test that wait.

/// Runs a check for each of the cases, all beside each other: for tests whose cases wait for answers, pauses and time-outs.
///
/// # Panics
/// If a check does.
pub fn beside_each_other<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}
