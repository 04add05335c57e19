//! Runs the cases.

use crate::expected::{Contents, Outcome};
use crate::fixtures::{Case, cases};
use crate::left::{LEFT, lacks};
use crate::report::{ArrayResult, CaseResult, Report, Verdict};
use crate::{Fault, bad, check};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the cases of an archive.
///
/// # Errors
/// If the archive itself is broken. What the cases find is in the report.
pub fn check_archive(archive: &'static str) -> Result<Report, Fault> {
    let cases = cases(archive)?;
    Ok(Report { cases: cases.iter().map(check_case).collect() })
}

/// Entries of the table of what is left that name no case or array.
///
/// # Errors
/// If an archive is broken.
pub fn leftovers(archives: &[&'static str]) -> Result<Vec<String>, Fault> {
    let mut unknown = Vec::new();
    for archive in archives {
        let cases = cases(archive)?;
        for left in LEFT.iter().filter(|left| left.archive == *archive) {
            let case = cases.iter().find(|case| case.name == left.case);
            let known = case.is_some_and(|case| match &case.expected.outcome {
                Outcome::Good(contents) => contents.arrays.contains_key(left.path),
                Outcome::Refused(refusal) => refusal.path == left.path,
            });
            if !known {
                unknown.push(format!("{}/{}{}: no such array", left.archive, left.case, left.path));
            }
        }
    }
    Ok(unknown)
}

fn check_case(case: &Case) -> CaseResult {
    let mut result =
        CaseResult { archive: case.archive, name: case.name.clone(), verdict: Verdict::Passed, arrays: Vec::new() };
    result.verdict = match &case.expected.outcome {
        Outcome::Good(contents) => {
            result.arrays = contents.arrays.keys().map(|path| check_array(case, contents, path)).collect();
            verdict(None, || check::nodes(case, contents))
        }
        Outcome::Refused(refusal) => {
            let lacks = lacks(case.archive, &case.name, &refusal.path);
            verdict(lacks, || bad::check(case, refusal))
        }
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
    let lacks = lacks(case.archive, &case.name, path);
    result.verdict = verdict(lacks, || check::array(case, path, expected, &mut result));
    result
}

/// Runs a check. Where something is lacking, an error of kind "unknown extension" must say so.
fn verdict(lacks: Option<&'static str>, check: impl FnOnce() -> Result<(), Fault>) -> Verdict {
    let outcome = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| Err("panicked".to_owned()));
    match (lacks, outcome) {
        (None, Ok(())) => Verdict::Passed,
        (None, Err(fault)) => Verdict::Failed(fault),
        (Some(what), Ok(())) => Verdict::Failed(format!("passes, but is listed as left for want of {what}")),
        (Some(what), Err(fault)) if fault.starts_with("unknown-extension") => Verdict::Left(what),
        (Some(what), Err(fault)) => {
            Verdict::Failed(format!("is left for want of {what}, but fails otherwise: {fault}"))
        }
    }
}
