//! `zarr help TOPIC`.

use crate::cases::copy;
use crate::folder::{Folder, int16, npy};
use std::path::Path;

#[test]
fn pages_of_the_help_are_printed() {
    let folder = Folder::new();
    let page = |name: &str| folder.ok(&["help", name]);
    assert!(page("stores").contains("--store-option anonymous=true"));
    assert!(page("selection").contains("--sel DIM=LABELS"));
    assert!(page("codecs").contains("zstd(level"));
    assert!(page("formats").contains("d2022"));
    assert!(page("tree").contains("Usage: zarr tree"), "verbs have their own");
}

#[test]
fn a_page_that_is_misspelt_is_named() {
    let ran = Folder::new().run(&["help", "store"]);
    assert!(ran.code == Some(2) && ran.err.contains("is \"stores\" meant?"), "{ran:?}");
}

/// The words of a line, of which a part may stand in double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.trim().chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Runs the examples of a page, but for those with another address than that of the data here. Gives how many there were.
fn run_examples(folder: &Folder, page: &str) -> usize {
    let (_, examples) = page.split_once("Examples:\n").unwrap();
    let lines: Vec<&str> = examples.lines().take_while(|line| line.starts_with("  zarr ")).collect();
    for line in lines.iter().filter(|line| !line.contains("://")) {
        let words = words(line);
        folder.ok(&words.iter().skip(1).map(String::as_str).collect::<Vec<_>>());
    }
    lines.len()
}

/// A folder with the data that examples name.
fn with_data() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/climate.zarr").display().to_string();
    folder.ok(&["cp", &data, "climate.zarr"]);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../zarr-icechunk/tests/v2.zip");
    std::fs::copy(repository, folder.path("ice.zip")).unwrap();
    folder
}

#[test]
fn the_examples_of_pages_end_well() {
    for name in ["stores", "selection", "codecs", "formats", "options"] {
        let folder = with_data();
        folder.ok(&["create", "old.zarr", "/", "--group", "--dialect", "v2"]);
        folder.ok(&["create", "old.zarr", "a", "--shape", "1024,1024", "--chunks", "256,256", "--dtype", "f4"]);
        let page = folder.ok(&["help", name]);
        // Each makes a store of its own.
        for line in page.split_once("Examples:\n").unwrap().1.lines() {
            let _ = std::fs::remove_dir_all(folder.path("new.zarr"));
            run_examples(&folder, &format!("Examples:\n{line}"));
        }
    }
}

#[test]
fn the_examples_of_verbs_end_well() {
    let verbs = [
        "tree",
        "ls",
        "info",
        "ds",
        "read",
        "stats",
        "view",
        "du",
        "digest",
        "diff",
        "check",
        "log",
        "create",
        "write",
        "append",
        "resize",
        "attrs",
        "rename-dims",
        "convert",
        "migrate",
        "remove-metadata",
        "consolidate",
        "bench-codecs",
        "advise",
        "cp",
        "mv",
        "rm",
        "completions",
        "man",
    ];
    let folder = with_data();
    folder.ok(&["cp", "climate.zarr", "copy.zarr"]);
    let month = npy("<f4", false, "(18, 432)", &[0; 18 * 432 * 4]);
    std::fs::write(folder.path("month.npy"), month).unwrap();
    folder.ok(&["create", "table.zarr", "a", "--shape", "6,2", "--dtype", "int16", "--dims", "row,column"]);
    let rows = npy("<i2", false, "(2, 2)", &int16([1, 2, 3, 4]));
    std::fs::write(folder.path("rows.npy"), rows).unwrap();
    std::fs::write(folder.path("rows.json"), "[[5, 6], [7, 8]]").unwrap();
    folder.ok(&["cp", "climate.zarr", "both.zarr"]);
    folder.ok(&["migrate", "both.zarr"]);
    for verb in verbs {
        let own = Folder::new();
        copy(&folder.path("."), &own.path("."));
        let folder = own;
        let page = folder.ok(&[verb, "--help"]);
        assert_eq!(run_examples(&folder, &page), 3, "{verb}: {page}");
        assert!(page.ends_with(page.split_once("\nExamples:\n").unwrap().1), "{verb}");
    }
}
