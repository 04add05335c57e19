//! `cargo xtask tidy`: checks rules about the form of the workspace that the compiler does not check.

mod circles;
mod edges;
mod english;
mod features;
mod files;
mod named_files;
mod profiles;

use std::path::{Path, PathBuf};

/// Runs all checks, and prints the faults.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("tidy takes no {argument}"));
    }
    let root = root();
    let mut faults = edges::check(&root)?;
    faults.extend(features::check(&root)?);
    faults.extend(files::check(&root)?);
    faults.extend(profiles::check(&root)?);
    faults.extend(circles::check(&root)?);
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(format!("{count} faults")),
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
