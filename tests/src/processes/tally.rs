//! Result of a check: counts of operations and of faults.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of operations and of faults, each by kind.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    done: BTreeMap<&'static str, u64>,
    faults: BTreeMap<String, (u64, String)>,
}

impl Tally {
    /// Adds `count` operations of a kind, such as reads or writes.
    pub(super) fn done(&mut self, what: &'static str, count: u64) {
        *self.done.entry(what).or_default() += count;
    }

    /// Adds a fault of a kind. The detail of the first fault of each kind is printed.
    pub(super) fn fault(&mut self, kind: impl Into<String>, detail: impl FnOnce() -> String) {
        self.faults.entry(kind.into()).or_insert_with(|| (0, detail())).0 += 1;
    }

    /// Returns the number of faults of a kind.
    pub(super) fn faults_of(&self, kind: &str) -> u64 {
        self.faults.get(kind).map_or(0, |(count, _)| *count)
    }

    /// Returns the number of faults of all kinds.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.faults.values().map(|(count, _)| count).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.done.iter().map(|(what, count)| format!("{count} {what}")).collect();
        f.write_str(&counts.join(", "))?;
        for (kind, (count, first)) in &self.faults {
            write!(f, "\n    {count} {kind}; the first: {first}")?;
        }
        Ok(())
    }
}
