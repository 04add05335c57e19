//! Whether `cargo xtask` finds everything built after `cargo test --workspace`: packages are built again for each other set of features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Arguments of `cargo tree` for the packages that are built for the tests. A feature of the Python package enables the features of the
/// tests.
const TESTED: &[&str] = &["--workspace", "--features", "zarr-rust-python/tested", "--edges", "normal,build,dev"];

/// Arguments of `cargo tree` for the packages that tasks build after the tests.
const BUILT: [&[&str]; 3] = [
    &["--package", "xtask", "--edges", "normal,build"],
    &["--package", "xtask", "--package", "zarr-cli", "--edges", "normal,build"],
    &["--package", "zarr-rust-python", "--features", "tested", "--edges", "normal,build"],
];

/// Sets of features with which each package is built, by its name and version.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Returns the packages that tasks build with other features than the tests.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let tested = tree(root, TESTED)?;
    let mut faults = BTreeSet::new();
    for packages in BUILT {
        faults.extend(differences(&tree(root, packages)?, &tested));
    }
    Ok(faults.into_iter().collect())
}

/// Returns messages about the sets of features of built packages that the tests do not have.
fn differences(built: &Features, tested: &Features) -> Vec<String> {
    let mut found = Vec::new();
    for (package, sets) in built {
        let Some(tested) = tested.get(package) else { continue };
        for set in sets.difference(tested) {
            let tested: Vec<&str> = tested.iter().map(String::as_str).collect();
            let tested = tested.join("] or [");
            found.push(format!(
                "{package}: is built again after the tests, with the features [{set}] instead of [{tested}]: xtask/features has to ask for these"
            ));
        }
    }
    found
}

/// Returns the features of the packages that Cargo would build for this machine.
fn tree(root: &Path, arguments: &[&str]) -> Result<Features, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["tree", "--quiet", "--prefix", "none", "--format", "{p}|{f}"]).args(arguments).current_dir(root);
    let output = command.output().map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses the lines of a tree: a package, `|` and its features. A package whose dependencies were listed before has a mark at its end.
fn parse(text: &str) -> Features {
    let mut found = Features::new();
    for (package, features) in text.lines().filter_map(|line| line.trim_end_matches(" (*)").rsplit_once('|')) {
        found.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_with_other_features_are_named() {
        let tested = parse("zarr v0.1.0 (/zarr)|full\nlibc v0.2.1|std\nsyn v3.0.9|full\nsyn v3.0.9|parsing (*)\n\n");
        let built = parse("zarr v0.1.0 (/zarr)|full\nlibc v0.2.1|default,std\nsyn v3.0.9|parsing\n");
        let found = differences(&built, &tested);
        assert_eq!(found.len(), 1, "{found:?}");
        let fault = "libc v0.2.1: is built again after the tests, with the features [default,std] instead of [std]";
        assert!(found[0].starts_with(fault), "{found:?}");
        assert!(differences(&tested, &tested).is_empty());
    }
}
