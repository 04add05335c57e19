//! Results of the cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Description of a fault.
pub type Fault = String;

/// Verdict on an array, or on a case that must be refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The result is as expected.
    Passed,
    /// The result is not as expected.
    Failed(Fault),
}

/// Result of an array.
#[derive(Clone, Debug)]
pub struct ArrayResult {
    /// Path of the array.
    pub path: String,
    /// Data type of the array, as Zarr v3 names it.
    pub data_type: String,
    /// Names of the codecs of the array, including codecs inside of others.
    pub codecs: BTreeSet<String>,
    /// Whether the elements of the array were read; for some arrays only the metadata can be.
    pub read: bool,
    /// Verdict on the array.
    pub verdict: Verdict,
}

/// Result of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// Archive of the case.
    pub archive: &'static str,
    /// Name of the case.
    pub name: String,
    /// Verdict on the case as a whole: its nodes, or its error.
    pub verdict: Verdict,
    /// Result of each array of a valid case; empty for a case that must be refused.
    pub arrays: Vec<ArrayResult>,
}

impl CaseResult {
    /// Returns the faults of the case, one in each line.
    pub fn faults(&self) -> Vec<String> {
        let named = |path: &str, verdict: &Verdict| match verdict {
            Verdict::Failed(fault) => Some(format!("{}/{} {path}: {fault}", self.archive, self.name)),
            Verdict::Passed => None,
        };
        let arrays = self.arrays.iter().filter_map(|array| named(&array.path, &array.verdict));
        named("", &self.verdict).into_iter().chain(arrays).collect()
    }
}

/// Results of many cases, printed as tables.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Results of the cases.
    pub cases: Vec<CaseResult>,
}

impl Report {
    /// Returns the faults of all cases, one in each line.
    pub fn faults(&self) -> Vec<String> {
        self.cases.iter().flat_map(CaseResult::faults).collect()
    }

    fn arrays(&self) -> impl Iterator<Item = &ArrayResult> {
        self.cases.iter().flat_map(|case| &case.arrays)
    }

    fn archives(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<(&str, [usize; 4])> = Vec::new();
        for case in &self.cases {
            if rows.last().is_none_or(|(archive, _)| *archive != case.archive) {
                rows.push((case.archive, [0; 4]));
            }
            let Some((_, counts)) = rows.last_mut() else { continue };
            let mut verdicts = case.arrays.iter().map(|array| &array.verdict).chain([&case.verdict]);
            counts[0] += 1;
            counts[1] += usize::from(verdicts.all(|verdict| *verdict == Verdict::Passed));
            counts[2] += case.arrays.len();
            counts[3] += case.arrays.iter().filter(|array| array.verdict == Verdict::Passed).count();
        }
        let mut sums = [0; 4];
        for (_, counts) in &rows {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        rows.push(("all", sums));
        writeln!(f, "{:17} {:>7} {:>7} {:>7} {:>7}", "", "cases", "passed", "arrays", "passed")?;
        for (archive, [cases, good, arrays, passed]) in rows {
            writeln!(f, "{archive:17} {cases:>7} {good:>7} {arrays:>7} {passed:>7}")?;
        }
        Ok(())
    }

    /// Prints the number of arrays of each data type that passed with each codec.
    fn types_and_codecs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for array in self.arrays().filter(|array| array.verdict == Verdict::Passed && array.read) {
            let row = table.entry(&array.data_type).or_default();
            array.codecs.iter().for_each(|codec| *row.entry(codec).or_default() += 1);
        }
        let codecs: BTreeSet<&str> = table.values().flat_map(|row| row.keys().copied()).collect();
        let width = table.keys().map(|name| name.len()).max().unwrap_or(0).max(9);
        // Names of codecs are long: they stand aslant, one line each, over a column of their own.
        let bars = |count: usize| "   |".repeat(count);
        for (column, codec) in codecs.iter().enumerate() {
            writeln!(f, "{:width$}{}  {codec}", "", bars(column))?;
        }
        for (data_type, row) in &table {
            write!(f, "{data_type:width$}")?;
            for codec in &codecs {
                match row.get(codec) {
                    Some(count) => write!(f, "{count:>4}")?,
                    None => write!(f, "   .")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.archives(f)?;
        writeln!(f, "\narrays that passed, by data type and codec\n")?;
        self.types_and_codecs(f)
    }
}
