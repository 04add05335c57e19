//! `cargo xtask roundtrip`: converts arrays that other software wrote into every dialect and back.

use zarr_tests::{ARCHIVES, Roundtrips, roundtrip_archive};

/// Converts all arrays of all archives, and once more with inexpressible members in an attribute, and prints the results.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(other) = arguments.first() {
        return Err(format!("roundtrip takes no {other}"));
    }
    let mut faults = 0;
    for carry in [false, true] {
        let mut roundtrips = Roundtrips { carry, ..Roundtrips::default() };
        for archive in ARCHIVES {
            roundtrip_archive(archive, &mut roundtrips)?;
        }
        println!("{roundtrips}");
        for fault in &roundtrips.faults {
            println!("FAILED {fault}");
        }
        faults += roundtrips.faults.len();
    }
    if faults == 0 { Ok(()) } else { Err(format!("{faults} failed")) }
}
