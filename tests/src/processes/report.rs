//! Lines that a worker writes for the process that started it.

use super::Result;
use std::io::Write;

/// Environment variable that tells a process that it is a worker.
pub(super) const WORKER: &str = "ZARR_TEST_WORKER";

/// Writes a line at once. Ends the process if nobody reads the line, since the parent has ended.
pub(super) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(2);
    }
}

/// Reports the result of operation `number` to the parent.
pub(super) fn report(number: u64, done: Result<()>) {
    match done {
        Ok(()) => say(&format!("ok {number}")),
        Err(error) => say(&format!("refused {error}")),
    }
}
