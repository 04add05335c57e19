//! Which crate depends on which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use zarr_meta::json::Value;

/// The edges where `docs/architecture.md` has no table of them. A `*` stands for any text: a crate named with one may have
/// the edges, any other must have them all, but for those named with one.
const EDGES: [(&str, &str); 10] = [
    ("zarr-store", ""),
    ("zarr-meta", ""),
    ("zarr-dtype", "zarr-meta"),
    ("zarr-grid", "zarr-meta"),
    ("zarr-codec", "zarr-store, zarr-meta, zarr-dtype, zarr-grid"),
    ("zarr-codec-*", "zarr-codec, zarr-store, zarr-meta, zarr-dtype, zarr-grid"),
    ("zarr-array", "zarr-codec, zarr-store, zarr-meta, zarr-dtype, zarr-grid"),
    ("zarr", "zarr-array, zarr-codec, zarr-codec-*, zarr-store, zarr-meta, zarr-dtype, zarr-grid"),
    ("zarr-cli", "zarr"),
    ("zarr-tests", "zarr*"),
];

/// The faults in the edges between the crates of the workspace. Edges of development only are free.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let table = table(root)?;
    let mut faults = Vec::new();
    for (name, found) in edges(root)? {
        if name == "xtask" {
            continue;
        }
        let row = table.iter().find(|(row, _)| *row == name).or_else(|| table.iter().find(|(row, _)| matches(row, &name)));
        let Some((row, allowed)) = row else {
            faults.push(format!("{name}: no row in the table of crate edges"));
            continue;
        };
        for edge in found.iter().filter(|edge| !allowed.iter().any(|allowed| matches(allowed, edge))) {
            faults.push(format!("{name}: depends on {edge}, which the table of crate edges does not have"));
        }
        let needed = allowed.iter().filter(|edge| !row.contains('*') && !edge.contains('*'));
        for edge in needed.filter(|edge| !found.contains(*edge)) {
            faults.push(format!("{name}: does not depend on {edge}, which the table of crate edges has"));
        }
    }
    Ok(faults)
}

/// Whether `name` fits `pattern`, in which `*` at the end or in front of more text stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end))
        }
        None => pattern == name,
    }
}

/// The rows of the table in `docs/architecture.md` whose heading is `crate` and `depends on`, else [`EDGES`].
fn table(root: &Path) -> Result<Vec<(String, Vec<String>)>, String> {
    let path = root.join("docs/architecture.md");
    let text = if path.exists() {
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?
    } else {
        String::new()
    };
    let names = |cell: &str| {
        let names = cell.split(',').map(|name| name.trim().trim_matches('`').to_owned());
        names.filter(|name| name.starts_with("zarr")).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    // The column of the edges while inside the table.
    let mut column = None;
    for line in text.lines() {
        let Some(cells) = line.trim().strip_prefix('|') else {
            column = None;
            continue;
        };
        let cells: Vec<_> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
        match column {
            None if cells.first() == Some(&"crate") => column = cells.iter().position(|cell| *cell == "depends on"),
            None => {}
            Some(column) => {
                for name in names(cells.first().unwrap_or(&"")) {
                    rows.push((name, names(cells.get(column).unwrap_or(&""))));
                }
            }
        }
    }
    if rows.is_empty() {
        rows = EDGES.iter().map(|(name, edges)| ((*name).to_owned(), names(edges))).collect();
    }
    Ok(rows)
}

/// The crates of the workspace, and which others of it each depends on.
fn edges(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata =
        Value::from_json(&String::from_utf8_lossy(&output.stdout)).map_err(|error| format!("cargo metadata: {error}"))?;
    let list = |value: &Value, name: &str| value.get(name).and_then(Value::as_array).unwrap_or_default().to_vec();
    let name = |value: &Value| value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let packages = list(&metadata, "packages");
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let edges = packages.iter().map(|package| {
        let dependencies = list(package, "dependencies");
        let normal = dependencies.iter().filter(|edge| edge.get("kind").is_none_or(Value::is_null));
        (name(package), normal.map(name).filter(|edge| members.contains(edge)).collect())
    });
    Ok(edges.collect())
}
