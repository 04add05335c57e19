//! Asks the linker for a smaller program: one function is made of functions with the same code, the tables of unwinding are left out, and
//! addresses that depend on where the program is loaded are listed in a bit each. Not all linkers and systems can, so a program is linked
//! with each option first, and run where this machine can.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::Command;

/// lld, gold and mold have it; GNU ld has not.
const FOLD: &str = "-Wl,--icf=all";

/// The list of addresses takes a twentieth of its size. The C library has to know it: glibc 2.36 and musl 1.2.4 do.
const PACK: &str = "-Wl,-z,pack-relative-relocs";

/// A panic ends the command by its hook, so that nothing unwinds; and without the names of functions, which are stripped, the tables
/// say nothing to a debugger. lld and GNU ld add these lines to their own script.
const DISCARD: &str =
    "SECTIONS { /DISCARD/ : { *(.eh_frame .eh_frame.* .gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Another compiler or other flags run this again in any case; a linker that a file names does not.
    let target = var("TARGET").unwrap_or_default().to_uppercase().replace(['-', '.'], "_");
    println!("cargo::rerun-if-env-changed=CARGO_TARGET_{target}_LINKER");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let Ok(folder) = var("OUT_DIR").map(PathBuf::from) else { return };
    // `dist` is for machines with older C libraries. Cargo tells its name by the folder alone, TARGET/PROFILE/build/PACKAGE/out.
    let is_for_here = folder.ancestors().nth(3).is_some_and(|profile| profile.ends_with("release"));
    let script = folder.join("discard.ld");
    let discard = || {
        std::fs::write(&script, DISCARD).ok()?;
        Some(vec![format!("-Wl,-T,{}", script.to_str()?), "-Wl,--no-eh-frame-hdr".to_owned()])
    };
    // Each with those before it, as they are used.
    let mut accepted = Vec::new();
    for options in
        [Some(vec![FOLD.to_owned()]), discard(), is_for_here.then(|| vec![PACK.to_owned()])].into_iter().flatten()
    {
        let together = [accepted.clone(), options].concat();
        if links_with(&folder, &together).unwrap_or(false) {
            accepted = together;
        }
    }
    accepted.iter().for_each(|option| println!("cargo::rustc-link-arg-bins={option}"));
}

/// Whether a program can be linked with options, as this package is, and runs if it is built for this machine.
fn links_with(folder: &Path, options: &[String]) -> Option<bool> {
    let source = folder.join("probe.rs");
    std::fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(var("RUSTC").ok()?);
    rustc.args(["--edition=2024", "--target", &var("TARGET").ok()?, "--out-dir"]).arg(folder).arg(&source);
    if let Ok(linker) = var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let output = rustc.args(options.iter().map(|option| format!("-Clink-arg={option}"))).output().ok()?;
    let is_native = var("HOST").ok()? == var("TARGET").ok()?;
    Some(output.status.success() && (!is_native || Command::new(folder.join("probe")).status().ok()?.success()))
}
