//! Files that are held open while a value is read in parts.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::vfs::Stat;

/// Greatest number of files held open, if the limit of the process is unknown.
const MOST: usize = 64;

/// Number of files held open in this process.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// File that is held open: its bytes stay readable even if other processes replace or remove it.
#[derive(Debug)]
pub(super) struct OpenValue {
    file: File,
    stat: Stat,
}

impl OpenValue {
    /// Holds a file open that had the state `stat` when it was opened; `None` if the limit is reached.
    pub(super) fn keep(file: File, stat: Stat) -> Option<Self> {
        if OPEN.fetch_add(1, Ordering::Relaxed) >= most() {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self { file, stat })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn stat(&self) -> &Stat {
        &self.stat
    }
}

impl Drop for OpenValue {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the greatest number of files held open: a quarter of the limit of the process, since the program opens other files.
fn most() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        #[cfg(unix)]
        if let Ok((soft, _)) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE) {
            return usize::try_from(soft / 4).unwrap_or(usize::MAX).min(1024);
        }
        MOST
    })
}

/// Returns whether the process or the system has too many open files.
pub(super) fn is_out_of_files(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(
        error.raw_os_error().map(nix::errno::Errno::from_raw),
        Some(nix::errno::Errno::EMFILE | nix::errno::Errno::ENFILE)
    );
    #[cfg(not(unix))]
    false
}
