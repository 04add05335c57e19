//! `cargo xtask api`: compares the public items of each crate with `docs/api`, so that no change of the surface goes
//! unnoticed.

use crate::cargo;
use crate::tidy;
use public_api::Builder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zarr_json::{ParseOptions, Value};

/// Compares the public items of all published crates with the lists in `docs/api`, or rewrites the lists with `--bless`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let bless = match arguments {
        [] => false,
        [bless] if bless == "--bless" => true,
        _ => return Err("usage: cargo xtask api [--bless]".to_owned()),
    };
    let root = tidy::root();
    let lists = root.join("docs/api");
    std::fs::create_dir_all(&lists).map_err(|error| format!("{}: {error}", lists.display()))?;
    let rustdoc = wrapper(&root)?;
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    let packages = libraries(&root)?;
    describe(&root, &rustdoc, &packages)?;
    for (package, library) in packages {
        let items = public_items(&root, &library)?;
        let path = lists.join(format!("{package}.txt"));
        names.insert(path.clone());
        if bless {
            std::fs::write(&path, items).map_err(|error| format!("{}: {error}", path.display()))?;
        } else {
            let listed = std::fs::read_to_string(&path).unwrap_or_default();
            faults.extend(differences(&package, &listed, &items));
        }
    }
    for entry in std::fs::read_dir(&lists).map_err(|error| error.to_string())?.flatten() {
        if !names.contains(&entry.path()) {
            faults.push(format!("{}: no crate has this name", entry.path().display()));
        }
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    match faults.len() {
        0 => Ok(()),
        count => Err(format!(
            "{count} differences of the public items from docs/api: cargo xtask api --bless lists them; an item that goes or \
             changes breaks programs, and CHANGELOG.md says so"
        )),
    }
}

/// Returns the lines that are in only one of the two lists.
fn differences(package: &str, listed: &str, found: &str) -> Vec<String> {
    let (listed, found): (BTreeSet<&str>, BTreeSet<&str>) = (listed.lines().collect(), found.lines().collect());
    let gone = listed.difference(&found).map(|line| format!("{package}: gone: {line}"));
    gone.chain(found.difference(&listed).map(|line| format!("{package}: new: {line}"))).collect()
}

/// Writes a script that runs rustdoc with the permission to write JSON, which is unstable. cargo does not get the permission: crates that
/// check for it would be built again.
fn wrapper(root: &Path) -> Result<PathBuf, String> {
    let path = root.join("target/rustdoc-json");
    let write = || {
        std::fs::create_dir_all(root.join("target"))?;
        std::fs::write(&path, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok::<(), std::io::Error>(())
    };
    write().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the names of the published packages that have a library, with the names of the libraries.
fn libraries(root: &Path) -> Result<Vec<(String, String)>, String> {
    let output = cargo::command().args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata = zarr_json::parse(&output.stdout, ParseOptions::default()).map_err(|error| error.to_string())?.value;
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap_or_default();
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    let is_library = |target: &&Value| {
        let kinds = target.get("kind").and_then(Value::as_array).unwrap_or_default();
        kinds.iter().any(|kind| kind.as_str() == Some("lib"))
    };
    let library = |package: &Value| name(package.get("targets")?.as_array()?.iter().find(is_library)?);
    let is_published = |package: &&Value| package.get("publish").is_none_or(Value::is_null);
    let published = packages.iter().filter(is_published);
    Ok(published.filter_map(|package| Some((name(package)?, library(package)?))).collect())
}

/// Writes the JSON descriptions of packages with all their features to `target/doc`, in one run of Cargo, so that their common dependencies
/// are checked once.
fn describe(root: &Path, rustdoc: &Path, packages: &[(String, String)]) -> Result<(), String> {
    let mut command = cargo::command();
    command.args(["doc", "--quiet", "--lib", "--no-deps", "--all-features"]).current_dir(root);
    command.args(packages.iter().flat_map(|(package, _)| ["--package", package]));
    // Without its features, much other software is built again, in C too.
    command.args(["--package", "zarr-features"]);
    command.env("RUSTDOC", rustdoc).env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow");
    let status = command.status().map_err(|error| format!("cargo doc: {error}"))?;
    if status.success() { Ok(()) } else { Err("cargo doc as JSON failed".to_owned()) }
}

/// Returns the public items of a library that has been described, one on each line.
fn public_items(root: &Path, library: &str) -> Result<String, String> {
    let path = root.join("target/doc").join(format!("{}.json", library.replace('-', "_")));
    let api = Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map_err(|error| format!("{library}: {error}"))?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        assert!(differences("a", "pub fn x()\n", "pub fn x()\n").is_empty());
        let found = differences("a", "pub fn x()\npub fn y()\n", "pub fn x(u8)\npub fn y()\n");
        assert_eq!(found, ["a: gone: pub fn x()", "a: new: pub fn x(u8)"]);
    }

    #[test]
    fn libraries_are_found() {
        let libraries = libraries(&tidy::root()).unwrap_or_default();
        let has = |package: &str, library: &str| libraries.contains(&(package.to_owned(), library.to_owned()));
        assert!(has("zarr-rs", "zarr") && has("zarr-codec-zstd", "zarr_codec_zstd"), "{libraries:?}");
        assert!(!libraries.iter().any(|(package, _)| package == "xtask" || package == "zarr-tests"));
    }

    /// Removes the generics from a name: `Open<S>::cache(self)` becomes `Open::cache(self)`.
    fn without_generics(name: &str) -> String {
        let mut depth = 0_usize;
        let outside = name.chars().filter(|character| {
            depth += usize::from(*character == '<');
            let is_outside = depth == 0;
            depth = depth.saturating_sub(usize::from(*character == '>'));
            is_outside
        });
        outside.collect()
    }

    #[test]
    fn the_root_of_the_facade_stays_small() {
        let list = std::fs::read_to_string(tidy::root().join("docs/api/zarr-rs.txt")).unwrap_or_default();
        let is_root = |line: &&str| {
            let name = line.split_once(" zarr::").map_or("", |(_, name)| name);
            let kind = ["pub use ", "pub mod ", "pub fn ", "pub struct ", "pub enum ", "pub macro "];
            kind.iter().any(|kind| line.starts_with(kind))
                && !without_generics(name).split('(').next().unwrap_or_default().contains("::")
        };
        // A module and a macro of one name are one.
        let root: BTreeSet<&str> = list.lines().filter(is_root).collect();
        assert!((20..=56).contains(&root.len()), "{} items: {root:#?}", root.len());
        let functions: Vec<_> = root.iter().filter(|line| line.starts_with("pub fn ")).collect();
        assert_eq!(functions.len(), 2, "{functions:?}");
    }
}
