//! Crates in published products, as Cargo reports them.

use crate::command::{cargo, root, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use zarr_json::Value;

/// Published product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Command,
    Wheel,
}

impl Product {
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Command => "zarr-cli",
            Self::Wheel => "zarr-rust-python",
        }
    }
}

/// Name and version of a crate.
pub(crate) type Id = (String, String);

/// Crate whose code is in a product.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    pub(crate) repository: String,
    pub(crate) authors: Vec<String>,
    /// Folder with its source.
    pub(crate) folder: PathBuf,
    /// Whether the crate is a part of this workspace.
    pub(crate) is_ours: bool,
    /// SHA-256 checksum of its package in the registry; `None` for crates of this workspace.
    pub(crate) checksum: Option<String>,
    /// Crates that it uses.
    pub(crate) uses: BTreeSet<Id>,
}

/// Returns the crates whose code is in a product for some systems, sorted by name and version: all used crates except macros, which are not
/// linked.
pub(crate) fn crates(product: Product, targets: &[String]) -> Result<Vec<Crate>, String> {
    let mut used: BTreeMap<Id, Line> = BTreeMap::new();
    let mut facts = BTreeMap::new();
    for target in targets {
        let mut command = cargo();
        command.args(["tree", "--quiet", "--locked", "--package", product.package(), "--features", "full"]);
        command.args(["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "{p}|{l}|{r}"]);
        read_tree(&text(command.args(["--target", target]))?, &mut used)?;
        let mut command = cargo();
        // With the crates of optional features, which a product may have.
        command.args(["metadata", "--quiet", "--locked", "--all-features", "--format-version", "1"]);
        command.args(["--filter-platform", target]);
        facts.extend(read_metadata(&text(&mut command)?)?);
    }
    let path = root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let checksums = checksums(&lock);
    let mut crates = Vec::new();
    for (id, line) in used {
        let Some(Facts { folder, authors, is_ours }) = facts.remove(&id) else {
            return Err(format!("cargo metadata: no package {} {}", id.0, id.1));
        };
        let checksum = checksums.get(&id).cloned();
        let Line { licence, repository, uses } = line;
        let (name, version) = id;
        crates.push(Crate { name, version, licence, repository, authors, folder, is_ours, checksum, uses });
    }
    Ok(crates)
}

/// Facts about a crate in the output of `cargo tree`.
#[derive(Debug, Default)]
struct Line {
    licence: String,
    repository: String,
    uses: BTreeSet<Id>,
}

/// Parses a tree with depths: `1name v1.0.0 (path)|licence|repository`. The crates that a crate uses follow its first occurrence.
fn read_tree(text: &str, used: &mut BTreeMap<Id, Line>) -> Result<(), String> {
    let mut above: Vec<Id> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let fault = || format!("cargo tree: {line}: expected a depth, a package, a licence and a repository");
        let end = line.find(|character: char| !character.is_ascii_digit()).ok_or_else(fault)?;
        let depth: usize = line[..end].parse().map_err(|_| fault())?;
        let mut parts = line[end..].trim_end_matches(" (*)").split('|');
        let (Some(package), Some(licence), Some(repository)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(fault());
        };
        let (name, rest) = package.split_once(" v").ok_or_else(fault)?;
        let id = (name.to_owned(), rest.split(' ').next().unwrap_or(rest).to_owned());
        above.truncate(depth);
        if let Some(user) = above.last().and_then(|user| used.get_mut(user)) {
            user.uses.insert(id.clone());
        }
        let found = used.entry(id.clone()).or_default();
        found.licence = licence.to_owned();
        found.repository = repository.to_owned();
        above.push(id);
    }
    Ok(())
}

/// Facts about a crate in the output of `cargo metadata`.
#[derive(Debug)]
struct Facts {
    folder: PathBuf,
    authors: Vec<String>,
    is_ours: bool,
}

fn read_metadata(text: &str) -> Result<BTreeMap<Id, Facts>, String> {
    let metadata = Value::from_json(text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap_or_default();
    let facts = |package: &Value| {
        let word = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        let authors = package.get("authors").and_then(Value::as_array).unwrap_or_default();
        let facts = Facts {
            folder: Path::new(&word("manifest_path")?).parent()?.to_owned(),
            authors: authors.iter().filter_map(|author| Some(author.as_str()?.to_owned())).collect(),
            is_ours: package.get("source").is_none_or(Value::is_null),
        };
        Some(((word("name")?, word("version")?), facts))
    };
    Ok(packages.iter().filter_map(facts).collect())
}

/// Returns the checksums in `Cargo.lock`.
fn checksums(lock: &str) -> BTreeMap<Id, String> {
    let package = |text: &str| {
        let member = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
            Some(line.trim_matches('"').to_owned())
        };
        Some(((member("name")?, member("version")?), member("checksum")?))
    };
    lock.split("[[package]]\n").filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> Id {
        (name.to_owned(), version.to_owned())
    }

    #[test]
    fn a_tree_tells_who_uses_what() {
        let text = "0a v0.1.0 (/x (y)/a)|MIT|https://a\n1b v1.2.3+c.4|Zlib|\n2c v1.0.0|ISC|\n1c v1.0.0|ISC|\n1b v1.2.3+c.4|Zlib| (*)\n";
        let mut used = BTreeMap::new();
        read_tree(text, &mut used).expect("a tree");
        assert_eq!(used.len(), 3);
        assert_eq!(used[&id("a", "0.1.0")].uses, BTreeSet::from([id("b", "1.2.3+c.4"), id("c", "1.0.0")]));
        assert_eq!(used[&id("b", "1.2.3+c.4")].uses, BTreeSet::from([id("c", "1.0.0")]));
        assert_eq!(used[&id("b", "1.2.3+c.4")].licence, "Zlib");
        let error = read_tree("a v1\n", &mut used).expect_err("no depth");
        assert!(error.starts_with("cargo tree: a v1: expected"), "{error}");
    }

    #[test]
    fn a_lock_has_checksums() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(checksums(lock), BTreeMap::from([(id("a", "1.0.0"), "00ff".to_owned())]));
    }
}
