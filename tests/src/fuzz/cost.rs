//! Limit of the CPU time of an input: no input may cost a reader much more than its size does.

use crate::Fault;
use std::time::Duration;

/// CPU time that an input of any size may take: targets decode what a few bytes stand for, up to their limits of memory.
const ANY: Duration = Duration::from_millis(200);

/// Additional CPU time that an input may take for each of its bytes.
const EACH_BYTE: Duration = Duration::from_micros(10);

/// Least length in bytes that is used to compute the time for a byte; shorter inputs count as this long.
const SHORT: usize = 1024;

fn allowed(len: usize) -> Duration {
    ANY + EACH_BYTE * u32::try_from(len).unwrap_or(u32::MAX)
}

/// Returns whether an input of `len` bytes may take this CPU time.
#[must_use]
pub fn is_allowed(time: Duration, len: usize) -> bool {
    time <= allowed(len)
}

/// Checks that an input of `len` bytes may take this CPU time.
///
/// # Errors
/// If the input may not take this time, a message with both times.
pub fn check(time: Duration, len: usize) -> Result<(), Fault> {
    if is_allowed(time, len) {
        return Ok(());
    }
    Err(format!("took {time:?} of CPU time for {len} bytes, expected {:?} at most", allowed(len)))
}

/// Returns the CPU time for each byte of an input in nanoseconds; inputs of less than 1 KiB count as 1 KiB.
#[must_use]
pub fn of_byte(time: Duration, len: usize) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) / len.max(SHORT) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_bounded_by_the_size_of_an_input() {
        let of = Duration::from_millis;
        assert!(check(of(150), 0).is_ok() && check(of(1150), 100_000).is_ok());
        let fault = check(of(1250), 100_000).unwrap_err();
        assert_eq!(fault, "took 1.25s of CPU time for 100000 bytes, expected 1.2s at most");
        assert!(check(of(250), 100).is_err());
        assert_eq!((of_byte(of(1), 10), of_byte(of(1), 10_000)), (976, 100));
    }
}
