//! Runs the cases.

use crate::expected::{Contents, Outcome};
use crate::fixtures::{Case, cases};
use crate::report::{ArrayResult, CaseResult, Report, Verdict};
use crate::{Fault, bad, check};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the cases of an archive.
///
/// # Errors
/// If the archive itself is broken. The report has the results of the cases.
pub fn check_archive(archive: &'static str) -> Result<Report, Fault> {
    let cases = cases(archive)?;
    Ok(Report { cases: cases.iter().map(check_case).collect() })
}

fn check_case(case: &Case) -> CaseResult {
    let mut result =
        CaseResult { archive: case.archive, name: case.name.clone(), verdict: Verdict::Passed, arrays: Vec::new() };
    result.verdict = match &case.expected.outcome {
        Outcome::Good(contents) => {
            result.arrays = contents.arrays.keys().map(|path| check_array(case, contents, path)).collect();
            verdict(|| check::nodes(case, contents))
        }
        Outcome::Refused(refusal) => verdict(|| bad::check(case, refusal)),
    };
    result
}

fn check_array(case: &Case, contents: &Contents, path: &str) -> ArrayResult {
    let mut result = ArrayResult {
        path: path.to_owned(),
        data_type: String::new(),
        codecs: Default::default(),
        read: false,
        verdict: Verdict::Passed,
    };
    let Some(expected) = contents.arrays.get(path) else { return result };
    result.verdict = verdict(|| check::array(case, path, expected, &mut result));
    result
}

/// Runs a check. A panic is a failure.
fn verdict(check: impl FnOnce() -> Result<(), Fault>) -> Verdict {
    let outcome = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| Err("panicked".to_owned()));
    outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}
