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

/// The name of the package of a folder.
fn name(package: &Path) -> String {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let line = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
    line.trim_matches('"').to_owned()
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
        let name = name(&package);
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

/// The licence of the font asks for it.
#[test]
fn what_has_the_font_has_its_licence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for package in ["zarr-view", "zarr-cli"] {
        let text = fs::read_to_string(root.join("crates").join(package).join("LICENSE-OFL")).unwrap();
        assert!(text.contains("The Noto Project Authors") && text.contains("PERMISSION & CONDITIONS"), "{package}");
    }
    for page in ["README.md", "docs/dependencies.md", "crates/zarr-view/README.md"] {
        assert!(fs::read_to_string(root.join(page)).unwrap().contains("OFL-1.1"), "{page}");
    }
}

#[test]
fn the_example_of_a_readme_is_that_of_the_crate() {
    for package in packages() {
        let name = name(&package);
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

/// The file is what a test of `tests/src/guide.rs` runs.
#[test]
fn the_program_of_the_first_page_is_run() {
    let readme = include_str!("../../../README.md");
    let program = include_str!("../../src/readme.txt");
    assert!(
        readme.contains(&format!("```rust\n{program}```\n")),
        "tests/src/readme.txt: has another program than README.md"
    );
}

/// The names in the lines of `text` that begin with a number, line by line.
fn order(text: &str) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut in_list = false;
    for line in text.lines() {
        let begins = line.split_once(". `").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        in_list = begins || (in_list && line.starts_with("   `"));
        if !in_list {
            continue;
        }
        if begins {
            let expected = format!("{}. ", lines.len() + 1);
            assert!(line.starts_with(&expected), "{line}: expected {expected}");
            lines.push(Vec::new());
        }
        lines.last_mut().unwrap().extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    lines
}

/// Crates ask for each other by version once they are published.
#[test]
fn crates_ask_for_each_other_in_one_version() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml")).unwrap();
    let asked = manifest.lines().filter(|line| line.starts_with("zarr") && line.contains("path = \"crates/"));
    let mut asked: Vec<&str> = asked.filter_map(|line| line.split("version = \"").nth(1)?.split('"').next()).collect();
    assert_eq!(asked.len(), packages().len() - 1, "all but zarr-cli");
    asked.dedup();
    assert_eq!(asked, [env!("CARGO_PKG_VERSION")]);
}

/// docs/publishing.md names each package once, behind all that it depends on.
#[test]
fn the_order_of_publishing_has_each_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/publishing.md")).unwrap();
    let lines = order(page.split("\n## ").find(|section| section.starts_with("Order")).unwrap());
    let found = packages();
    let mut names: Vec<String> = found.iter().map(|package| name(package)).collect();
    let mut listed = lines.concat();
    names.sort();
    listed.sort();
    assert_eq!(listed, names);
    assert!(page.contains(&format!("for {} crates, ask", names.len())), "{} crates", names.len());
    for package in &found {
        let at = |name: &str| lines.iter().position(|line| line.iter().any(|listed| listed == name));
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        let own = at(&name(package));
        // Lines such as `zarr-store.workspace = true`, those of tests included. The facade goes by the name of its library.
        for edge in manifest
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .map(|edge| if edge == "zarr" { "zarr-rs" } else { edge })
            .filter_map(|edge| Some((edge, at(edge)?)))
        {
            assert!(Some(edge.1) < own, "{} stands before {}", name(package), edge.0);
        }
    }
    // The others are left out by name.
    let left_out = page.lines().find_map(|line| line.strip_prefix("not_published=")).unwrap();
    let others: Vec<&str> = left_out.trim_matches('"').split(' ').collect();
    let folders = ["crates", "benches", "tests", "xtask", "python", "."];
    let manifests = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let manifests = manifests.map(|entry| entry.unwrap().path()).map(|path| match path.is_dir() {
        true => path.join("Cargo.toml"),
        false => path,
    });
    let mut unpublished = Vec::new();
    for manifest in manifests.filter(|path| path.ends_with("Cargo.toml") && path.is_file()) {
        let text = fs::read_to_string(&manifest).unwrap();
        // Other workspaces have a table of their own.
        if text.contains("\npublish = false\n") && !text.contains("[workspace]") {
            let name = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
            unpublished.push(name.trim_matches('"').to_owned());
        }
    }
    unpublished.sort();
    unpublished.dedup();
    assert_eq!(others, unpublished);
}
