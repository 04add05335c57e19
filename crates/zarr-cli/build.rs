//! Asks the linker to make one function of functions with the same code: the program is a tenth smaller. Not all linkers can, so a program is
//! linked with that option first.

use std::env::var;
use std::path::Path;
use std::process::Command;

/// lld, gold and mold have it; GNU ld has not.
const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Another compiler or other flags run this again in any case; a linker that a file names does not.
    let target = var("TARGET").unwrap_or_default().to_uppercase().replace(['-', '.'], "_");
    println!("cargo::rerun-if-env-changed=CARGO_TARGET_{target}_LINKER");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && links_with(FOLD).unwrap_or(false) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Whether a program can be linked with an option, as this package is.
fn links_with(option: &str) -> Option<bool> {
    let folder = var("OUT_DIR").ok()?;
    let source = Path::new(&folder).join("probe.rs");
    std::fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(var("RUSTC").ok()?);
    rustc.args(["--edition=2024", "--target", &var("TARGET").ok()?, "--out-dir", &folder]).arg(&source);
    if let Ok(linker) = var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let output = rustc.arg(format!("-Clink-arg={option}")).output().ok()?;
    Some(output.status.success())
}
