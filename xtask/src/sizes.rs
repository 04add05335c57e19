//! `cargo xtask sizes`: prints the size of the workspace: lines of code, types, methods and packages, as the aims in CONTRIBUTING.md count
//! them.

mod source;

use crate::cargo;
use crate::interop::python;
use crate::tidy;
use source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const USAGE: &str = "\
usage: cargo xtask sizes

Prints, of the code that is not a test: the lines of each crate and of the core, the files and types of the folders that reads
and writes pass, the methods of the traits of stores, the jobs, the lines of the wrappers of stores, the packages that each
crate needs alone, and the names that types have in more than four files.";

/// Crates that a program needs to read and write arrays on its disk, whichever codecs it uses.
const CORE: [&str; 12] = [
    "zarr",
    "zarr-array",
    "zarr-bytes",
    "zarr-codec",
    "zarr-drive",
    "zarr-dtype",
    "zarr-grid",
    "zarr-hierarchy",
    "zarr-json",
    "zarr-kernels",
    "zarr-meta",
    "zarr-store",
];

/// Crate beside the core that shares its work: passes over all elements.
const SHARED: &str = "zarr-scan";

/// Names of the types of stores that wrap another store.
const WRAPPERS: [&str; 8] =
    ["Prefixed", "Counted", "ReadOnly", "Cached", "SyncAsAsync", "AsyncAsSync", "Unblocker", "Interruptible"];

/// Greatest number of files in which the name of a type may occur.
const MAX_FILES: usize = 4;

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err(USAGE.to_owned());
    }
    let root = tidy::root();
    let mut crates = BTreeMap::new();
    let folder = root.join("crates");
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        crates.insert(name, source::collect(&path.join("src"))?);
    }
    crates.insert("python".to_owned(), source::collect(&root.join("python/src"))?);
    print_lines(&crates);
    print_folders(&crates);
    print_traits(&crates);
    print_names(&crates);
    print_packages(&root, &crates)
}

fn lines(sources: &[Source]) -> usize {
    sources.iter().map(|source| source.code.lines().count()).sum()
}

fn print_lines(crates: &BTreeMap<String, Vec<Source>>) {
    println!("lines of code without tests, comments and empty lines");
    for (name, sources) in crates {
        println!("  {name:<24} {:>6}  in {} files", lines(sources), sources.len());
    }
    let of = |name: &str| crates.get(name).map_or(0, |sources| lines(sources));
    let core: usize = CORE.iter().map(|name| of(name)).sum::<usize>() + of(SHARED);
    println!("  core ({}, {SHARED}): {core}", CORE.join(", "));
    println!("  all: {}", crates.values().map(|sources| lines(sources)).sum::<usize>());
}

/// Prints the numbers of files and types in the folders of `zarr-array` that a plain read and a plain write use.
fn print_folders(crates: &BTreeMap<String, Vec<Source>>) {
    println!("files and types of zarr-array");
    let Some(sources) = crates.get("zarr-array") else { return };
    let mut folders: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for source in sources {
        let folder = match source.path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => {
                let module = source.path.trim_end_matches(".rs");
                let has_folder = sources.iter().any(|other| other.path.starts_with(&format!("{module}/")));
                if has_folder { format!("{module}/") } else { "files beside".to_owned() }
            }
        };
        let row = folders.entry(folder).or_default();
        *row = (row.0 + 1, row.1 + source.types().len(), row.2 + source.code.lines().count());
    }
    for (folder, (files, types, lines)) in folders {
        println!("  {folder:<24} {files:>3} files {types:>4} types {lines:>6} lines");
    }
}

fn print_traits(crates: &BTreeMap<String, Vec<Source>>) {
    println!("traits and jobs");
    for source in crates.values().flatten() {
        for (name, methods) in source.traits() {
            if ["Store", "AsyncStore"].contains(&name) {
                println!("  trait {name}: {methods} methods");
            }
        }
    }
    let jobs: BTreeSet<String> = crates.values().flatten().flat_map(|source| source.implementations("Job")).collect();
    println!("  jobs: {} ({})", jobs.len(), jobs.into_iter().collect::<Vec<_>>().join(", "));
    for wrapper in WRAPPERS {
        let found: usize = crates
            .values()
            .flatten()
            .filter(|source| source.types().contains(&wrapper))
            .map(|source| source.code.lines().count())
            .sum();
        println!("  wrapper {wrapper}: {found} lines in the files that define it");
    }
}

fn print_names(crates: &BTreeMap<String, Vec<Source>>) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for source in crates.values().flatten() {
        for name in source.types().into_iter().collect::<BTreeSet<_>>() {
            *names.entry(name).or_default() += 1;
        }
    }
    let mut often: Vec<_> = names.into_iter().filter(|(_, files)| *files > MAX_FILES).collect();
    often.sort_by_key(|(name, files)| (std::cmp::Reverse(*files), *name));
    println!("names of types in more than {MAX_FILES} files: {}", often.len());
    for (name, files) in often {
        println!("  {name:<24} {files:>3}");
    }
}

fn print_packages(root: &Path, crates: &BTreeMap<String, Vec<Source>>) -> Result<(), String> {
    println!("packages that a crate needs alone, without those of the workspace (default features)");
    for name in crates.keys().filter(|name| *name != "python") {
        let package = if name == "zarr" { "zarr-rs" } else { name };
        let mut command = cargo::command();
        command.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--package", package]);
        let printed = python::output(command.current_dir(root))?;
        let packages: BTreeSet<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let (own, other): (Vec<&str>, Vec<&str>) = packages.iter().partition(|name| name.starts_with("zarr-"));
        println!("  {name:<24} {:>3} and {} of the workspace", other.len(), own.len() - 1);
    }
    Ok(())
}
