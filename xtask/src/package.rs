//! `cargo xtask package`: creates the package of each crate, and builds the packages and their documentation from the packages alone, like
//! users of a registry and docs.rs.

use crate::ci::timed;
use crate::tidy;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Published crate.
struct Package {
    name: String,
    /// Name of its folder in the workspace of packages, including its version.
    folder: String,
}

/// Packages all published crates below `crates`, and unpacks them. Checks each with its default features and with all features, then the
/// documentation of all.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask package".to_owned());
    }
    let root = tidy::root();
    let target = root.join("target/packages");
    let packages = unpack(&root, &target)?;
    let workspace = target.join("workspace");
    let manifest = manifest(&packages);
    let path = workspace.join("Cargo.toml");
    fs::write(&path, manifest).map_err(|error| format!("{}: {error}", path.display()))?;
    // The packages use the same versions of other crates as the workspace.
    let path = workspace.join("Cargo.lock");
    fs::copy(root.join("Cargo.lock"), &path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut failed = Vec::new();
    for Package { name, .. } in &packages {
        // The packages are built one by one, since together each would have the features that others request.
        for features in [&[][..], &["--all-features"]] {
            let mut command = cargo(&workspace, &target);
            failed.extend(timed(command.args(["check", "--quiet", "--package", name]).args(features)).err());
        }
    }
    let mut command = cargo(&workspace, &target);
    command.args(["doc", "--quiet", "--workspace", "--no-deps", "--all-features"]);
    // docs.rs has a nightly compiler and the same flags.
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
    failed.extend(timed(&mut command).err());
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Creates the packages, and unpacks them into the folder `workspace` of `target`.
fn unpack(root: &Path, target: &Path) -> Result<Vec<Package>, String> {
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    let (made, workspace) = (target.join("package"), target.join("workspace"));
    // Otherwise older packages would be among them.
    for folder in [&made, &workspace] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(at(folder))?;
        }
    }
    fs::create_dir_all(&workspace).map_err(at(&workspace))?;
    let mut names = Vec::new();
    let crates = root.join("crates");
    for entry in fs::read_dir(&crates).map_err(at(&crates))? {
        let folder = entry.map_err(at(&crates))?;
        let manifest = folder.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(at(&manifest))?;
        if !text.contains("\npublish = false\n") {
            names.push(name(&text).ok_or_else(|| format!("{}: no name of a package", manifest.display()))?);
        }
    }
    names.sort_unstable();
    let mut command = cargo(root, target);
    // The packages are built afterwards, from the unpacked ones.
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    timed(command.args(names.iter().flat_map(|name| ["--package", name])))?;
    let mut packages = Vec::new();
    for name in names {
        let archive = archive(&made, &name).ok_or_else(|| format!("{}: no package of {name}", made.display()))?;
        timed(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&workspace))?;
        let folder = archive.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        packages.push(Package { name, folder });
    }
    Ok(packages)
}

/// Returns the name of the package in a manifest.
fn name(manifest: &str) -> Option<String> {
    let line = manifest.strip_prefix("[package]\n")?.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(line.trim_matches('"').to_owned())
}

/// Returns the path of the archive of a crate: its name, a version and `.crate`.
fn archive(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_of = |path: &PathBuf| {
        let stem = path.file_name().and_then(|file| file.to_str()?.strip_suffix(".crate"));
        let version = stem.and_then(|stem| stem.strip_prefix(name)?.strip_prefix('-'));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(is_of)
}

/// Returns the manifest of a workspace of packages, each of which uses the others in the workspace.
fn manifest(packages: &[Package]) -> String {
    let members: Vec<String> = packages.iter().map(|package| format!("{:?}", package.folder)).collect();
    let mut text = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[patch.crates-io]\n", members.join(", "));
    for Package { name, folder } in packages {
        text += &format!("{name} = {{ path = {folder:?} }}\n");
    }
    text
}

/// Returns a command of cargo that runs in `folder` and builds into `target`.
fn cargo(folder: &Path, target: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_take_each_other_from_their_own_workspace() {
        let package = |name: &str| Package { name: name.to_owned(), folder: format!("{name}-0.1.0") };
        let manifest = manifest(&[package("zarr-rs"), package("zarr-array")]);
        assert!(manifest.contains("members = [\"zarr-rs-0.1.0\", \"zarr-array-0.1.0\"]"), "{manifest}");
        assert!(
            manifest
                .ends_with("zarr-rs = { path = \"zarr-rs-0.1.0\" }\nzarr-array = { path = \"zarr-array-0.1.0\" }\n")
        );
    }

    #[test]
    fn the_name_is_that_of_the_package() {
        let manifest = "[package]\nname = \"zarr-rs\"\nversion = \"1\"\n[lib]\nname = \"zarr\"\n";
        assert_eq!(name(manifest).as_deref(), Some("zarr-rs"));
        assert_eq!(name("[lib]\nname = \"zarr\"\n"), None);
    }

    #[test]
    fn the_archive_of_a_crate_is_none_of_a_longer_name() {
        let folder = std::env::temp_dir().join(format!("zarr-packages-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for file in ["zarr-store-zip-0.1.0.crate", "zarr-store-0.1.0.crate", "zarr-store-0.1.0"] {
            fs::write(folder.join(file), "").expect("a file");
        }
        let found = archive(&folder, "zarr-store");
        fs::remove_dir_all(&folder).expect("the folder");
        assert_eq!(found, Some(folder.join("zarr-store-0.1.0.crate")));
    }
}
