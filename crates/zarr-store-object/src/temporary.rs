//! Names of temporary keys, which are never listed.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::SystemTime;

use zarr_store::Key;

/// End of the names of temporary keys, the same as for temporary files.
const SUFFIX: &str = ".zarr-tmp";

/// Returns a unique name.
pub(crate) fn temporary_name() -> String {
    let now = SystemTime::now();
    format!(".{:016x}{:016x}{SUFFIX}", RandomState::new().hash_one(now), RandomState::new().hash_one(now))
}

/// Returns whether the last segment of a key is a temporary name.
pub(crate) fn is_temporary(key: &Key) -> bool {
    let random = key.name().strip_prefix('.').and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let is = |name: &str| is_temporary(&Key::new(name).expect("a key"));
        assert!(
            is(&temporary_name()) && is(&format!("a/{}", temporary_name())) && temporary_name() != temporary_name()
        );
        for name in ["a", ".zarr-tmp", "a/.0123.zarr-tmp", ".zattrs", &format!("{}/a", temporary_name())] {
            assert!(!is(name), "{name}");
        }
    }
}
