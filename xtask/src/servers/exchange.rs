//! Exchange of stores on a server with other software, in both directions.

use super::hierarchies;
use super::services::{Kind, MOST_CHUNKS, Service};
use crate::interop::manifest;
use crate::interop::ours;
use crate::interop::python::Python;
use crate::interop::random::Random;
use crate::interop::stores::Stores;
use crate::interop::{Peer, fresh, results, theirs};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Least number of arrays of a hierarchy.
const LEAST_ARRAYS: usize = 2;

/// Numbers of compared hierarchies and arrays, and the differences.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) hierarchies: usize,
    pub(super) arrays: usize,
    /// Messages about differences.
    pub(super) differences: Vec<String>,
}

impl Outcome {
    fn add(&mut self, what: &str, found: &[String]) {
        if !found.is_empty() {
            self.differences.push(format!("{what}\n    {}", found.join("\n    ")));
        }
    }

    /// Checks that `hierarchies` hierarchies were compared, with at least `arrays` arrays in them.
    fn expect(self, hierarchies: u64, arrays: usize) -> Result<Self, String> {
        if self.hierarchies as u64 == hierarchies && self.arrays >= arrays {
            return Ok(self);
        }
        let (found, of) = (self.hierarchies, self.arrays);
        Err(format!("{found} hierarchies and {of} arrays were compared, expected {hierarchies} and {arrays} or more"))
    }
}

/// Arguments of an exchange.
pub(super) struct Exchange<'a> {
    pub(super) python: &'a Python,
    pub(super) service: &'a Service,
    /// Library of the store of zarr-python, or `tensorstore`.
    pub(super) client: &'static str,
    /// Folder of values and lists.
    pub(super) folder: PathBuf,
    pub(super) count: u64,
    pub(super) seed: u64,
}

impl Exchange<'_> {
    fn is_tensorstore(&self) -> bool {
        self.client == "tensorstore"
    }

    /// Returns the number of arrays for tensorstore, which has no groups: about as many arrays as hierarchies have.
    fn arrays(&self) -> u64 {
        3 * self.count
    }

    fn variables(&self, name: &str) -> Vec<(&'static str, String)> {
        // tensorstore has clients of its own, and asks obstore whether a document is there.
        self.service.script_variables(if self.is_tensorstore() { "obstore" } else { self.client }, name)
    }

    /// Compares stores that the peer writes and this library reads.
    pub(super) fn ours_reads(&self) -> Result<Outcome, String> {
        let name = format!("theirs-{}", self.client);
        // Stores that HTTP serves are written as files.
        let (folder, variables) = match self.service.kind {
            Kind::Http => (fresh(&self.service.root.join(&name))?, Vec::new()),
            _ => (fresh(&self.folder.join(&name))?, self.variables(&name)),
        };
        let path = folder.display().to_string();
        let stores = self.service.stores(&name);
        let seed = self.seed.to_string();
        if self.is_tensorstore() {
            let arrays = self.arrays().to_string();
            self.python.script("peer.py", &["write", "tensorstore", &path, &arrays, &seed], &variables)?;
            let mut outcome = Outcome::default();
            compare_arrays(&folder, &stores, self.seed, &mut outcome)?;
            return outcome.expect(0, self.least_arrays());
        }
        let count = self.count.to_string();
        self.python.script("hierarchies.py", &["write", &path, &count, &seed], &variables)?;
        compare(&folder, &stores, self.count, self.seed)
    }

    fn least_arrays(&self) -> usize {
        usize::try_from(self.arrays()).unwrap_or(usize::MAX)
    }

    /// Compares stores that this library writes and the peer reads.
    pub(super) fn reads_ours(&self) -> Result<Outcome, String> {
        let name = format!("ours-{}", self.client);
        let (folder, stores) = match self.service.kind {
            Kind::Http => {
                let folder = fresh(&self.service.root.join(&name))?;
                let stores = Stores::directories(&folder).with_most_chunks(MOST_CHUNKS);
                (folder, stores)
            }
            _ => (fresh(&self.folder.join(&name))?, self.service.stores(&name)),
        };
        if self.is_tensorstore() {
            ours::write(&folder, &stores, Peer::Tensorstore, self.arrays(), self.seed)?;
        } else {
            hierarchies::write(&folder, &stores, self.count, self.seed, self.service.kind != Kind::Http)?;
        }
        self.read_by_peer(&folder, &name)
    }

    /// Reads the stores below a prefix that `folder` lists, with the peer.
    pub(super) fn read_by_peer(&self, folder: &Path, prefix: &str) -> Result<Outcome, String> {
        let (path, variables) = (folder.display().to_string(), self.variables(prefix));
        let mut outcome = Outcome::default();
        if self.is_tensorstore() {
            let output = self.python.script("peer.py", &["read", "tensorstore", &path], &variables)?;
            add_arrays(folder, &mut results(&output)?, &mut outcome)?;
            return outcome.expect(0, self.least_arrays());
        }
        let mut found = results(&self.python.script("hierarchies.py", &["read", &path], &variables)?)?;
        for hierarchy in hierarchies::read(folder)? {
            let differences = found.remove(&hierarchy.store).unwrap_or_else(|| vec!["was not read".to_owned()]);
            outcome.hierarchies += 1;
            outcome.add(&format!("{}: {}", hierarchy.store, hierarchy.about()), &differences);
        }
        add_arrays(folder, &mut found, &mut outcome)?;
        let arrays = LEAST_ARRAYS * outcome.hierarchies;
        outcome.expect(self.count, arrays)
    }
}

/// Adds the results of all arrays that `folder` lists.
fn add_arrays(folder: &Path, found: &mut HashMap<String, Vec<String>>, outcome: &mut Outcome) -> Result<(), String> {
    for line in manifest::read(folder)? {
        let differences = found.remove(&line.id).unwrap_or_else(|| vec!["was not read".to_owned()]);
        outcome.arrays += 1;
        outcome.add(&format!("{} {}: {}", line.store, line.path, line.about), &differences);
    }
    Ok(())
}

/// Reads the hierarchies in `stores` that `folder` lists, with this library, and compares them.
pub(super) fn compare(folder: &Path, stores: &Stores, count: u64, seed: u64) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for hierarchy in hierarchies::read(folder)? {
        outcome.hierarchies += 1;
        outcome.add(&format!("{}: {}", hierarchy.store, hierarchy.about()), &hierarchy.differences(stores));
    }
    compare_arrays(folder, stores, seed, &mut outcome)?;
    let arrays = LEAST_ARRAYS * outcome.hierarchies;
    outcome.expect(count, arrays)
}

fn compare_arrays(folder: &Path, stores: &Stores, seed: u64, outcome: &mut Outcome) -> Result<(), String> {
    let mut random = Random::new(seed);
    for line in manifest::read(folder)? {
        outcome.arrays += 1;
        let differences = theirs::differences(&line, folder, stores, &mut random);
        outcome.add(&format!("{} {}: {}", line.store, line.path, line.about), &differences);
    }
    Ok(())
}
