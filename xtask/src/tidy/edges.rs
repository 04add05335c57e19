//! Dependencies between the crates of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use zarr_json::Value;

/// Returns the faults in the dependencies between the crates of the workspace. Dependencies for development only are not checked.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let table = table(root)?;
    let mut faults = Vec::new();
    for (name, found) in edges(root)? {
        let row =
            table.iter().find(|(row, _)| *row == name).or_else(|| table.iter().find(|(row, _)| matches(row, &name)));
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

/// Returns whether `name` matches `pattern`, in which one `*` stands for any string.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => pattern == name,
    }
}

/// Returns the rows of the table in `docs/architecture.md` with the headings `crate` and `depends on`: a crate, and its dependencies.
///
/// Names are in backquotes. A `*` stands for any string: a crate whose name has a `*` may have the dependencies of its row, any other crate
/// must have all of them, except those with a `*`. `all of the above` and `any` have their literal meaning.
fn table(root: &Path) -> Result<Vec<(String, Vec<String>)>, String> {
    let path = root.join("docs/architecture.md");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = parse_table(&text);
    if rows.is_empty() { Err(format!("{}: no table of crate edges", path.display())) } else { Ok(rows) }
}

fn parse_table(text: &str) -> Vec<(String, Vec<String>)> {
    // Between backquotes are the second piece, the fourth..
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    // The column of the edges while inside the table.
    let mut column = None;
    for line in text.lines() {
        let Some(cells) = line.trim().strip_prefix('|') else {
            column = None;
            continue;
        };
        let cells: Vec<_> = cells.trim_end().trim_end_matches('|').split('|').map(str::trim).collect();
        let Some(column) = column else {
            if cells.first() == Some(&"crate") {
                column = cells.iter().position(|cell| *cell == "depends on");
            }
            continue;
        };
        let cell = cells.get(column).copied().unwrap_or_default();
        let edges = match cell {
            "any" => vec!["*".to_owned()],
            "all of the above" => rows.iter().map(|(name, _)| name.clone()).collect(),
            cell => names(cell),
        };
        rows.extend(names(cells.first().unwrap_or(&"")).into_iter().map(|name| (name, edges.clone())));
    }
    rows
}

/// Returns the crates of the workspace, each with the other crates on which it depends.
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
    let metadata = Value::from_json(&String::from_utf8_lossy(&output.stdout))
        .map_err(|error| format!("cargo metadata: {error}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables() {
        let text = "| a | b |\n|---|---|\n| `x` | `y` |\n\n| crate | never | depends on |\n|---|---|---|\n\
                    | `a` | | |\n| `b-*` | | `a` |\n| `c` | | all of the above |\n| `d` | | any |\n";
        let found = parse_table(text);
        let found: Vec<_> = found.iter().map(|(name, edges)| format!("{name}: {}", edges.join(" "))).collect();
        assert_eq!(found, ["a: ", "b-*: a", "c: a b-*", "d: *"]);
    }

    #[test]
    fn patterns() {
        assert!(matches("zarr-codec-*", "zarr-codec-gzip"));
        assert!(!matches("zarr-codec-*", "zarr-codec"));
        assert!(matches("*", "zarr"));
    }
}
