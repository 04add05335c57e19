//! Checks of concurrent processes, of killed processes and of operations that are interrupted at each step.
//!
//! The checks verify three promises of the library: no acknowledged write is lost, no read returns elements that were never written, and an
//! interrupted operation leaves the state before it, the state after it, or one that every reader recognises as unfinished. Each check has
//! a short form, which the tests run, and a long one. A check counts its faults instead of stopping at the first, so that versions of the
//! library can be compared.
//!
//! `cargo test -p zarr-tests --test processes` runs the short forms; after `--`, names of checks and `--long` are accepted. Workers are
//! processes of the test program, which report each acknowledged operation. `power_lost_*` cut the power at each call, over a store that
//! loses changes that were not synced; the model of a disk below a directory is in `zarr-store-filesystem`. `cargo xtask soak` runs
//! processes of all kinds on one store, and kills some of them.

mod array_state;
mod child;
mod kills;
mod moves;
mod pairs;
mod power;
mod reads;
mod remote;
mod report;
mod rows;
mod soak;
mod steps;
mod tally;
mod updates;
mod verbs;
mod visible;
mod worker;

use pairs::Place;
use reads::CASES;
use std::error::Error;
use std::fmt;
use std::path::Path;
use updates::Writers;
use verbs::VERBS;

pub use pairs::verbs_beside_each_other;
pub use remote::partial_writes_in;
pub use soak::soak;
pub use tally::Tally;
pub use worker::work_if_worker;

/// Result of a check that may fail to complete.
type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// Extent of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scale {
    /// Whether to run the long form, which takes minutes.
    pub long: bool,
    /// Number of rounds of checks of pairs of verbs; `None` for few rounds, or many in the long form.
    pub rounds: Option<u64>,
    /// Seed by which these rounds are chosen; `None` for a seed that differs from run to run.
    pub seed: Option<u64>,
}

impl Scale {
    fn of(self, short: u64, long: u64) -> u64 {
        if self.long { long } else { short }
    }
}

/// Check with its name.
pub struct Check {
    name: String,
    run: Box<dyn Fn(Scale) -> Result<Tally> + Send + Sync>,
}

impl Check {
    fn new(name: impl Into<String>, run: impl Fn(Scale) -> Result<Tally> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// Returns all checks.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for case in CASES {
            all.push(Self::new(format!("reader_beside_writer_{}", case.name), move |scale| reads::check(case, scale)));
        }
        all.push(Self::new("partial_writes_of_a_chunk", |scale| updates::parts(false, scale)));
        all.push(Self::new("partial_writes_of_a_shard", |scale| updates::parts(true, scale)));
        all.push(Self::new("partial_writes_in_a_bucket", remote::in_a_bucket));
        all.push(Self::new("partial_writes_in_a_database", remote::in_a_database));
        all.push(Self::new("partial_writes_without_conditions_lose_some", remote::without_conditions));
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
        for (name, verb) in VERBS {
            all.push(Self::new(format!("power_lost_{name}"), move |scale| power::check(verb, scale)));
        }
        all.push(Self::new("killed_while_writing_parts", kills::of_partial_writes));
        all.push(Self::new("killed_while_appending", kills::of_appends));
        all.push(Self::new("killed_while_changing_attributes", kills::of_attributes));
        for (name, place) in Place::ALL {
            all.push(Self::new(format!("verbs_beside_each_other_in_a_{name}"), move |scale| {
                pairs::check(place, scale)
            }));
        }
        all.push(Self::new("visible_after_resizing", |scale| visible::check(false, scale)));
        all.push(Self::new("visible_after_interrupted_resizing", |scale| visible::check(true, scale)));
        all
    }

    /// Returns the name of the check.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the check.
    ///
    /// # Errors
    /// If the check itself cannot be completed.
    pub fn run(&self, scale: Scale) -> Result<Tally> {
        (self.run)(scale)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns a path as a string, as addresses of stores need it.
fn text(path: &Path) -> Result<&str> {
    Ok(path.to_str().ok_or("the temporary directory has a name that is no UTF-8")?)
}

/// Returns a new temporary directory, in memory if the system has such a file system, since writes to the disk take most of the time of
/// checks that do not depend on the disk.
fn folder_in_memory() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    Ok(if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? })
}
