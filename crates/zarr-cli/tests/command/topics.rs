//! `zarr help TOPIC`.

use crate::folder::Folder;
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

/// The examples at the ends of the pages, but for those with another address than that of the data here.
#[test]
fn the_examples_of_pages_end_well() {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/climate.zarr").display().to_string();
    folder.ok(&["cp", &data, "climate.zarr"]);
    folder.ok(&["create", "old.zarr", "/", "--group", "--dialect", "v2"]);
    folder.ok(&["create", "old.zarr", "a", "--shape", "1024,1024", "--chunks", "256,256", "--dtype", "f4"]);
    let mut run = 0;
    for name in ["stores", "selection", "codecs", "formats"] {
        let page = folder.ok(&["help", name]);
        let (_, examples) = page.split_once("Examples:\n").unwrap();
        for line in examples.lines().filter(|line| !line.contains("://")) {
            let mut words: Vec<String> = line.split_whitespace().skip(1).map(|word| word.replace('"', "")).collect();
            // One argument in quotes.
            if let Some((before, rest)) = line.split_once('"') {
                words = before.split_whitespace().skip(1).map(str::to_owned).collect();
                let (quoted, after) = rest.split_once('"').unwrap();
                words.push(quoted.to_owned());
                words.extend(after.split_whitespace().map(str::to_owned));
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // Each verb that makes a store makes its own.
            let _ = std::fs::remove_dir_all(folder.path("new.zarr"));
            folder.ok(&words);
            run += 1;
        }
    }
    assert!(run >= 8, "{run}");
}
