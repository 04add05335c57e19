//! `cargo xtask conformance`: reads the stores of other software, and prints the results as tables.

use zarr_tests::{ARCHIVES, Report, check_archive};

/// Runs all cases. With `--matrix`, writes the table of supported pairs of codecs and data types instead.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        None => {}
        Some("--matrix") => return crate::matrix::run(),
        Some(other) => return Err(format!("conformance takes no {other}")),
    }
    let mut report = Report::default();
    for archive in ARCHIVES {
        report.cases.extend(check_archive(archive)?.cases);
    }
    println!("{report}");
    let faults = report.faults();
    for fault in &faults {
        println!("FAILED {fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(format!("{count} failed")),
    }
}
