//! Implementations of `Spawn` that lose forked jobs.

use super::*;

/// Leaves out the last of the forked jobs.
struct Forgetful;

impl Spawn for Forgetful {
    fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
        Sequential.all(count.saturating_sub(1), run);
    }
}

#[test]
fn a_forked_job_that_does_not_run_is_found_out() {
    let error =
        run_on(&Forgetful, &tree(), Sum::Start { key: key("r"), into: key("out") }).expect_err("one is left out");
    assert_eq!(error.kind(), zarr_store::ErrorKind::Internal);
}

/// Does not pass panics on.
struct Deaf;

impl Spawn for Deaf {
    fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
        for number in 0..count {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(number)));
        }
    }
}

/// Forks one job, which panics.
struct Breaks {
    is_forked: bool,
    has_forked: bool,
}

impl Job for Breaks {
    type Output = ();
    type Error = Error;

    fn step(&mut self, _: &mut Vec<Reply>) -> Result<Next<Self>> {
        assert!(!self.is_forked, "a step that panics");
        if std::mem::replace(&mut self.has_forked, true) {
            return Ok(Next::Done(()));
        }
        Ok(Next::Fork(vec![Self { is_forked: true, has_forked: false }]))
    }
}

#[test]
fn a_panic_that_is_not_passed_on_is_found_out() {
    let job = Breaks { is_forked: false, has_forked: false };
    let error = run_on(&Deaf, &MemoryStore::new(), job).expect_err("its forked job panicked");
    assert_eq!(error.kind(), zarr_store::ErrorKind::Internal);
}
