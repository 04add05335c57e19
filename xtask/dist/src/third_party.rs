//! Licences of the software in published products, with their text.

use crate::bundled;
use crate::command::{VERSION, root, say};
use crate::graph::{self, Crate, Product};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// Prefixes of the names of files with licences.
const NAMES: [&str; 6] = ["license", "licence", "copying", "unlicense", "notice", "copyright"];

/// Text after that of Apache-2.0 in licences of LLVM.
const LLVM_EXCEPTION: &str = "
---- LLVM Exceptions to the Apache 2.0 License ----

As an exception, if, as a result of your compiling your source code, portions
of this Software are embedded into an Object form of such source code, you
may redistribute such embedded portions in such Object form without complying
with the conditions of Sections 4(a), 4(b) and 4(d) of the License.

In addition, if you combine or link compiled forms of this Software with
software that is licensed under the GPLv2 (\"Combined Software\") and if a
court of competent jurisdiction determines that the patent provision (Section
3), the indemnity provision (Section 9) or other Section of the License
conflicts with the conditions of the GPLv2, you may retroactively and
prospectively choose to deem waived or otherwise exclude such Section(s) of
the License, but only in their entirety and only with respect to the Combined
Software.";

/// Software with a licence.
struct Part {
    title: String,
    texts: Vec<String>,
}

/// Checks, for both products, that the licence of all software and its text are known.
pub(crate) fn check(targets: &[String]) -> Result<(), String> {
    for product in [Product::Command, Product::Wheel] {
        let crates = graph::crates(product, targets)?;
        let others = crates.iter().filter(|package| !package.is_ours).count();
        let text = list(&crates, targets)?;
        let (package, targets) = (product.package(), targets.join(" "));
        say(&format!("{package} for {targets}: {others} crates of others, {} bytes", text.len()))?;
    }
    Ok(())
}

/// Returns the page that lists the software in a product, with its licences.
pub(crate) fn list(crates: &[Crate], targets: &[String]) -> Result<String, String> {
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    for package in crates.iter().filter(|package| !package.is_ours) {
        match parts_of(package) {
            Ok(found) => parts.extend(found),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    parts.extend(runtime(targets)?);
    Ok(page(&parts, targets))
}

fn page(parts: &[Part], targets: &[String]) -> String {
    let mut page = format!("Software of others in zarr {VERSION} for {}, and its licences.\n\n", targets.join(" and "));
    // Texts that differ only in white space are listed once.
    let mut texts: BTreeMap<String, (&str, BTreeSet<&str>)> = BTreeMap::new();
    for part in parts {
        let _ = writeln!(page, "{}", part.title);
        for text in &part.texts {
            let words: Vec<&str> = text.split_whitespace().collect();
            texts.entry(words.join(" ")).or_insert((text, BTreeSet::new())).1.insert(&part.title);
        }
    }
    let mut texts: Vec<_> = texts.into_values().collect();
    texts.sort_by_key(|(_, of)| of.first().map(|title| title.to_lowercase()));
    for (text, of) in texts {
        let names: Vec<&str> = of.iter().map(|title| title.split(':').next().unwrap_or(title)).collect();
        let _ = write!(page, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end().replace('\r', ""));
    }
    page
}

/// Returns a crate, and the software of others inside it.
fn parts_of(package: &Crate) -> Result<Vec<Part>, String> {
    let Crate { name, version, licence, repository, .. } = package;
    if licence.is_empty() {
        return Err(format!("{name} {version}: its manifest has no licence"));
    }
    if bundled::is_unaccounted(package)? {
        return Err(format!("{name} {version}: has sources in C that xtask/dist/src/bundled.rs says nothing of"));
    }
    let link = if repository.is_empty() { String::new() } else { format!(", {repository}") };
    let mut parts = vec![Part { title: format!("{name} {version}: {licence}{link}"), texts: texts(package)? }];
    for other in bundled::within(package) {
        let version = other.version(package)?.map_or_else(String::new, |version| format!(" {version}"));
        let title = format!("{}{version} in {name}: {}", other.name, other.licence);
        parts.push(Part { title, texts: vec![other.text(package)?] });
    }
    Ok(parts)
}

/// Returns the software that is linked besides crates.
fn runtime(targets: &[String]) -> Result<Vec<Part>, String> {
    let mut parts = vec![Part {
        title: "Rust standard library: MIT OR Apache-2.0, https://github.com/rust-lang/rust".to_owned(),
        texts: vec![mit("The Rust Project Contributors")?],
    }];
    if targets.iter().any(|target| target.contains("musl")) {
        let title = "musl: MIT, https://musl.libc.org".to_owned();
        parts.push(Part { title, texts: vec![mit("2005-2025 Rich Felker, et al.")?] });
        // Rust's part for musl has it in place of that of GCC.
        let title =
            "libunwind of LLVM: Apache-2.0 WITH LLVM-exception, https://github.com/llvm/llvm-project".to_owned();
        parts.push(Part { title, texts: vec![format!("{}\n{LLVM_EXCEPTION}", ours("LICENSE-APACHE")?.trim_end())] });
    }
    Ok(parts)
}

/// Reads the licences of a crate as strings; only that of MIT if it may be chosen. If the package has no text, the licences MIT and
/// Apache-2.0 in this repository are used, with the authors in the manifest for MIT.
fn texts(package: &Crate) -> Result<Vec<String>, String> {
    let folder = &package.folder;
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            files.insert(name, String::from_utf8_lossy(&text).into_owned());
        }
    }
    let has_mit = files.keys().any(|name| name.contains("mit"));
    if may_be_mit(&package.licence) && has_mit {
        files.retain(|name, _| name.contains("mit") || name.starts_with("notice"));
    }
    if !files.is_empty() {
        return Ok(files.into_values().collect());
    }
    // The package has no text of its licence: use that of this repository.
    if may_be_mit(&package.licence) {
        let authors: Vec<&str> =
            package.authors.iter().map(|author| author.split(" <").next().unwrap_or(author)).collect();
        let authors = if authors.is_empty() { format!("The authors of {}", package.name) } else { authors.join(", ") };
        return Ok(vec![mit(&authors)?]);
    }
    if package.licence.split(" OR ").any(|licence| licence == "Apache-2.0") {
        return Ok(vec![ours("LICENSE-APACHE")?]);
    }
    Err(format!("{} {}: no text of its licence, {}", package.name, package.version, package.licence))
}

/// Returns whether MIT is a licence that may be chosen.
fn may_be_mit(licence: &str) -> bool {
    // A slash is an old spelling of OR.
    licence.replace('/', " OR ").split(" OR ").any(|licence| licence.trim() == "MIT")
}

/// Returns the text of the licence MIT for another owner.
fn mit(owner: &str) -> Result<String, String> {
    let text = ours("LICENSE-MIT")?;
    let terms = text.split_once('\n').map_or("", |(_, terms)| terms);
    Ok(format!("Copyright (c) {owner}\n{terms}"))
}

fn ours(name: &str) -> Result<String, String> {
    let path = root().join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::host;

    /// Checks that every dependency has the text of its licence (in its package, or here), and no unlisted C sources.
    #[test]
    fn the_licence_of_everything_that_is_published_is_known() {
        let targets = [host().expect("a host")];
        for product in [Product::Command, Product::Wheel] {
            let crates = graph::crates(product, &targets).expect("crates");
            let page = list(&crates, &targets).expect("all licences");
            for name in [
                "\nclap 4",
                "\nring 0.17",
                "\nSQLite 3.",
                "\nzstd 1.",
                "\nlibdeflate 1.",
                "\nNoto Sans Mono in",
                "Rust standard",
            ] {
                assert!(page.contains(name), "{product:?}: {name:?}");
            }
            assert!(page.contains("The Noto Project Authors") && page.contains("Meta Platforms"), "{product:?}");
            assert!(!page.contains("\nzarr-") && !page.contains("\nproptest "), "{product:?}");
            assert_eq!(page.contains("\npyo3 "), product == Product::Wheel);
        }
    }

    /// Checks that the list of the wheel has all software of the command, since the conda package of the command uses that list.
    #[test]
    fn the_wheel_has_all_that_the_command_has() {
        let targets = [host().expect("a host")];
        let names = |product: Product| -> BTreeSet<(String, String)> {
            let crates = graph::crates(product, &targets).expect("crates");
            crates
                .into_iter()
                .filter(|package| !package.is_ours)
                .map(|package| (package.name, package.version))
                .collect()
        };
        let (command, wheel) = (names(Product::Command), names(Product::Wheel));
        assert_eq!(command.difference(&wheel).collect::<Vec<_>>(), Vec::<&(String, String)>::new());
    }

    #[test]
    fn what_is_linked_for_musl_is_named() {
        let titles = |target: &str| -> Vec<String> {
            let parts = runtime(&[target.to_owned()]).expect("parts");
            parts.into_iter().map(|part| part.title.split(':').next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(titles("x86_64-unknown-linux-gnu"), ["Rust standard library"]);
        assert_eq!(titles("x86_64-unknown-linux-musl"), ["Rust standard library", "musl", "libunwind of LLVM"]);
    }

    #[test]
    fn one_text_stands_once() {
        let part = |title: &str, text: &str| Part { title: title.to_owned(), texts: vec![text.to_owned()] };
        let page = page(
            &[part("b 1: MIT", "a  text\r\nof two\n"), part("a 2: MIT", "a text of\ntwo"), part("c 1: ISC", "other")],
            &[],
        );
        assert_eq!(page.matches("of two\n").count(), 1, "{page}");
        assert!(page.contains("\na 2, b 1\n\na  text\nof two\n") && page.contains("\nc 1\n\nother\n"), "{page}");
    }

    #[test]
    fn mit_is_chosen_where_it_may_be() {
        for (licence, may) in [
            ("MIT", true),
            ("Apache-2.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("MIT AND ISC", false),
            ("ISC", false),
        ] {
            assert_eq!(may_be_mit(licence), may, "{licence}");
        }
    }
}
