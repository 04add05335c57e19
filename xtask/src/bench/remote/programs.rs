//! Programs that are measured with a server, besides that of this library.

use super::measurements::Measurement;
use crate::bench::programs::{FLOOR, FORMER, OURS, Program};
use crate::interop::python;
use std::path::Path;

/// Peers with their defaults, in the order in which they take turns.
pub(super) const DEFAULTS: [&str; 3] = ["zarr-python", "tensorstore", "zarrista"];

/// Peer that may make more requests at the same time than by default.
const MORE_REQUESTS: &str = "tensorstore-512";

/// Cases that take a peer a long time at 50 ms, so that it runs them once, without a repetition to warm up.
const SLOW: [(&str, &[&str]); 2] = [("zarr-python", &["small", "arrays"]), ("zarrista", &["small", "arrays"])];

/// Returns the requested peers: none for `None`, all for an empty list.
pub(super) fn chosen(names: Option<&[String]>) -> Result<Vec<&'static str>, String> {
    let all: Vec<&str> = DEFAULTS.into_iter().chain([MORE_REQUESTS]).collect();
    let Some(names) = names else { return Ok(Vec::new()) };
    if let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("no peer {unknown:?} with --remote, expected some of {}", all.join(", ")));
    }
    Ok(all.into_iter().filter(|peer| names.is_empty() || names.iter().any(|name| name == peer)).collect())
}

/// Returns whether a program is other software.
pub(super) fn is_peer(program: &str) -> bool {
    DEFAULTS.contains(&program) || program == MORE_REQUESTS
}

/// Installs a peer below `folder`.
pub(super) fn peer(root: &Path, folder: &Path, name: &'static str) -> Result<Program, String> {
    let scripts = root.join("benches").join("peers").join("python");
    let python = python::environment_with(folder, &scripts.join("requirements.txt"))?;
    Ok(Program { name, command: vec![python, scripts.join("remote.py"), name.into()] })
}

/// Returns whether a program supports a measurement.
pub(super) fn has(program: &str, measurement: &Measurement) -> bool {
    match program {
        // One connection, which has nothing to divide a single value for.
        FLOOR => measurement.case == "one",
        MORE_REQUESTS => measurement.case == "small",
        OURS | FORMER => true,
        _ => !measurement.is_of_ours(),
    }
}

pub(super) fn is_slow(program: &str, measurement: &Measurement) -> bool {
    measurement.latency > 0 && SLOW.iter().any(|(name, cases)| *name == program && cases.contains(&measurement.case))
}
