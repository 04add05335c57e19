//! The metadata that the registry shows of each package, and the files that a package has to contain.

use std::fs;
use std::path::{Path, PathBuf};

fn packages() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found: Vec<PathBuf> = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|package| !fs::read_to_string(package.join("Cargo.toml")).unwrap().contains("\npublish = false\n"));
    assert!(found.len() > 30, "{found:?}");
    found
}

/// The strings of a list in a manifest.
fn list(manifest: &str, name: &str) -> Vec<String> {
    let start = format!("{name} = [");
    let line = manifest.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The code of the first example.
fn example<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let code = lines.skip_while(|line| !line.starts_with("```")).skip(1).take_while(|line| !line.starts_with("```"));
    code.filter(|line| !line.starts_with("# ") && *line != "#").map(str::to_owned).collect()
}

#[test]
fn manifests_have_the_metadata_that_the_registry_shows() {
    for package in packages() {
        let name = package.file_name().unwrap().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        for member in ["description = ", "readme = ", "license.workspace", "repository.workspace"] {
            assert!(manifest.contains(member), "{name}: {member}");
        }
        let (keywords, categories) = (list(&manifest, "keywords"), list(&manifest, "categories"));
        assert!((1..=5).contains(&keywords.len()) && (1..=5).contains(&categories.len()), "{name}");
        assert!(keywords.iter().all(|word| word.len() <= 20), "{name}: {keywords:?}");
        assert!(manifest.contains("all-features = true") || name == "zarr-cli", "{name}: docs.rs");
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let root = package.join("../..").join(license);
            assert_eq!(fs::read(package.join(license)).unwrap(), fs::read(root).unwrap(), "{name}: {license}");
        }
    }
}

#[test]
fn the_example_of_a_readme_is_that_of_the_crate() {
    for package in packages() {
        let name = package.file_name().unwrap().to_string_lossy().into_owned();
        let readme = fs::read_to_string(package.join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")) && readme.contains("\n## License\n"), "{name}");
        if name == "zarr-cli" {
            continue;
        }
        let source = fs::read_to_string(package.join("src/lib.rs")).unwrap();
        let docs = source
            .lines()
            .filter_map(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        // Of `zarr-derive`, a page of its own.
        let page = fs::read_to_string(package.join("src/lib.md")).unwrap_or_default();
        let documented = example(docs.chain(page.lines()));
        assert!(!documented.is_empty(), "{name}: src/lib.rs has no example");
        assert_eq!(example(readme.lines()), documented, "{name}: README.md");
    }
}
