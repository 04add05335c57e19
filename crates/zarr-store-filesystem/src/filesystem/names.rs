//! Unique names of temporary files, versions and times.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use smallvec::SmallVec;

use zarr_store::{Key, Version};

use super::vfs::Stat;

const SUFFIX: &str = ".zarr-tmp";

/// Returns a unique name for a temporary file: 128 bits hashed from random keys, a count and the time.
pub(super) fn temporary() -> String {
    static HASHERS: OnceLock<(RandomState, RandomState)> = OnceLock::new();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let (high, low) = HASHERS.get_or_init(|| (RandomState::new(), RandomState::new()));
    // A process that forked has its parent's hashers and count, but not its time; a name that is taken is not made again.
    let call = (CALLS.fetch_add(1, Ordering::Relaxed), SystemTime::now());
    format!(".{:016x}{:016x}{SUFFIX}", high.hash_one(call), low.hash_one(call))
}

/// Returns whether a name has the form of [`temporary`].
pub(super) fn is_temporary_name(name: &str) -> bool {
    let random = name.strip_prefix('.').and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether a key is reserved, since a segment has the form of a temporary name.
pub(super) fn is_temporary(key: &Key) -> bool {
    key.as_str().split('/').any(is_temporary_name)
}

/// Smallest time step of the file system in nanoseconds.
const STEP: u64 = if cfg!(windows) { 100 } else { 1 };

/// Returns the current time, but later than any time returned before.
pub(super) fn now() -> SystemTime {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Nanoseconds fit until the year 2554.
    let now = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX) / STEP * STEP;
    let last = LAST.fetch_max(now, Ordering::Relaxed);
    let time = if last < now { now } else { LAST.fetch_add(STEP, Ordering::Relaxed).saturating_add(STEP) };
    SystemTime::UNIX_EPOCH + Duration::from_nanos(time)
}

/// Returns the version of a file: inode, time and length in hexadecimal. Avoids `format`, since it is called for each value that is read.
pub(super) fn version(stat: &Stat) -> Version {
    let mut text = SmallVec::<[u8; 64]>::new();
    push_hexadecimal(stat.inode.1.into(), &mut text);
    text.push(b'-');
    push_hexadecimal(stat.modified.cast_unsigned(), &mut text);
    text.push(b'-');
    push_hexadecimal(stat.len.into(), &mut text);
    Version::new(std::str::from_utf8(&text).unwrap_or_default())
}

/// Returns the time of the last change of a file; `None` if it is out of range.
pub(super) fn modified(stat: &Stat) -> Option<SystemTime> {
    let nanoseconds = u64::try_from(stat.modified.unsigned_abs()).ok().map(Duration::from_nanos)?;
    match stat.modified < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(nanoseconds),
        false => SystemTime::UNIX_EPOCH.checked_add(nanoseconds),
    }
}

fn push_hexadecimal(number: u128, into: &mut SmallVec<[u8; 64]>) {
    let digits = (u128::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for position in (0..digits).rev() {
        let digit = (number >> (4 * position)) as u8 & 15;
        into.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn versions_are_hexadecimal() {
        for number in [0, 1, 9, 10, 15, 16, 0xfedc_ba98, u128::MAX, (-1_i128).cast_unsigned()] {
            let mut text = SmallVec::new();
            push_hexadecimal(number, &mut text);
            assert_eq!(std::str::from_utf8(&text), Ok(format!("{number:x}").as_str()));
        }
    }

    #[test]
    fn temporary_names_are_known_and_differ() {
        let names: HashSet<String> = (0..1000).map(|_| temporary()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| is_temporary_name(name)));
        for name in [".zarr-tmp", "..zarr-tmp", ".zarray", ".0123.zarr-tmp"] {
            assert!(!is_temporary_name(name), "{name}");
        }
    }

    #[test]
    fn times_differ() {
        let times: Vec<SystemTime> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..1000).map(|_| now()).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(times.iter().collect::<HashSet<_>>().len(), 4000);
    }
}
