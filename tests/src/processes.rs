//! Checks of what several processes do at once, of processes that are killed, and of what is interrupted at each step.
//!
//! Nothing that was acknowledged is lost, nothing is read that was never written, and whatever is interrupted leaves what was
//! before, what is to be after, or what every reader sees as unfinished. Each check has a short form, which tests run, and a long
//! one. A check counts its faults rather than stop at the first, so that versions of the library can be compared.

mod beside;
mod child;
mod kills;
mod moves;
mod rows;
mod seen;
mod soak;
mod steps;
mod tally;
mod updates;
mod verbs;
mod visible;
mod worker;

use beside::CASES;
use std::error::Error;
use std::fmt;
use std::path::Path;
use updates::Writers;
use verbs::VERBS;

pub use soak::soak;
pub use tally::Tally;
pub use worker::work_if_worker;

/// The result of a check that may not get to its end.
type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// Parts of the names of checks that find faults which are not mended yet. They run only if asked for.
const AWAITED: &[&str] = &[
    "reader_beside_writer_uncompressed",
    "_shards",
    "partial_writes",
    "attributes_by",
    "appends",
    "reader_beside_moves",
    "creates",
    "stopped_remove",
    "stopped_overwrite",
    "stopped_move",
    "stopped_append",
    "stopped_shrink",
    "stopped_grow",
    "stopped_convert",
    "stopped_migrate",
    "stopped_finish",
    "stopped_undo",
    "killed",
    "visible",
];

/// How much a check does.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// As much as convinces, rather than as much as fits into the tests.
    pub long: bool,
}

impl Scale {
    fn of(self, short: u64, long: u64) -> u64 {
        if self.long { long } else { short }
    }
}

/// A check by its name.
pub struct Check {
    name: String,
    run: Box<dyn Fn(Scale) -> Result<Tally>>,
}

impl Check {
    fn new(name: impl Into<String>, run: impl Fn(Scale) -> Result<Tally> + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// All checks.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for case in CASES {
            all.push(Self::new(format!("reader_beside_writer_{}", case.name), move |scale| beside::check(case, scale)));
        }
        all.push(Self::new("partial_writes_of_a_chunk", |scale| updates::parts(false, scale)));
        all.push(Self::new("partial_writes_of_a_shard", |scale| updates::parts(true, scale)));
        for (name, writers) in Writers::ALL {
            all.push(Self::new(format!("attributes_by_{name}"), move |scale| updates::attributes(writers, scale)));
            all.push(Self::new(format!("appends_by_{name}"), move |scale| rows::appends(writers, scale)));
        }
        all.push(Self::new("appends_beside_attributes", rows::appends_beside_attributes));
        all.push(Self::new("reader_beside_appends", rows::reader_beside_appends));
        all.push(Self::new("reader_beside_moves", moves::reader_beside_moves));
        all.push(Self::new("creates", updates::creates));
        for (name, verb) in VERBS {
            all.push(Self::new(format!("stopped_{name}"), move |scale| steps::check(verb, scale)));
        }
        for (name, verb) in VERBS {
            all.push(Self::new(format!("killed_{name}"), move |scale| kills::of_verb(verb, scale)));
        }
        all.push(Self::new("killed_while_writing_parts", kills::of_partial_writes));
        all.push(Self::new("killed_while_appending", kills::of_appends));
        all.push(Self::new("killed_while_changing_attributes", kills::of_attributes));
        all.push(Self::new("visible_after_resizing", |scale| visible::check(false, scale)));
        all.push(Self::new("visible_after_interrupted_resizing", |scale| visible::check(true, scale)));
        all
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it finds what is not mended yet.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        AWAITED.iter().any(|part| self.name.contains(part))
    }

    /// Runs it.
    ///
    /// # Errors
    /// If the check itself could not go on.
    pub fn run(&self, scale: Scale) -> Result<Tally> {
        (self.run)(scale)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A path as text, as addresses of stores are.
fn text(path: &Path) -> Result<&str> {
    Ok(path.to_str().ok_or("the temporary directory has a name that is no UTF-8")?)
}

/// A new directory for what does not depend on the disk, which is in memory where the system has such a one.
fn folder_in_memory() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    Ok(if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? })
}
