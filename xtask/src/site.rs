//! `cargo xtask site`: builds the documentation as web pages, in `target/site`.

use crate::interop::fresh;
use crate::interop::python::environment_with;
use crate::python::succeed;
use crate::{cargo, python, tidy};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "\
usage: cargo xtask site

Builds the documentation site into target/site: the pages of docs, a page for each verb of the command, the Python interface by its docstrings,
and what `cargo doc` made. Sphinx, which is installed in target, makes pages of them, and all links are checked. The Python package and the
documentation of the crates are built if they are not there; `cargo xtask python` and `cargo doc --workspace --no-deps` make them anew.";

/// Builds the site; every warning is an error.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err(USAGE.to_owned());
    }
    let (root, scripts) = (tidy::root(), tidy::root().join("xtask").join("site"));
    let target = cargo::target();
    let (work, site) = (target.join("site-sources"), target.join("site"));
    let sphinx = environment_with(&work, &scripts.join("requirements.txt"))?;
    let packages = python::packages(&target)?;
    let command = cargo::build_command()?;
    let rust = rustdoc(&root, &target)?;

    let sources = fresh(&work.join("pages"))?;
    let script = |name: &str| {
        let mut command = Command::new(&sphinx);
        command.arg(scripts.join(name)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    succeed(script("pages.py").arg(&root).arg(&sources).arg(command).arg(&packages))?;
    fresh(&site)?;
    // Sphinx reads only pages that changed, and so would not repeat the warnings of a build that failed.
    let doctrees = fresh(&work.join("doctrees"))?;
    let mut build = Command::new(&sphinx);
    build.args([
        "-m",
        "sphinx",
        "--builder",
        "html",
        "--nitpicky",
        "--fail-on-warning",
        "--quiet",
        "--jobs",
        "auto",
        "--conf-dir",
    ]);
    build.arg(&scripts).arg("--doctree-dir").arg(doctrees).arg(&sources).arg(&site);
    build.env("SITE_ROOT", &root).env("SITE_PACKAGES", &packages).env("PYTHONDONTWRITEBYTECODE", "1");
    succeed(&mut build)?;
    copy(&rust, &site.join("rust"))?;
    succeed(script("check.py").arg(&site).arg(&root))?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// Returns the folder with the documentation of all crates. Builds it if that of one crate is missing.
fn rustdoc(root: &Path, target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("doc");
    if libraries(root)?.iter().any(|library| !folder.join(library).join("index.html").exists()) {
        println!("building the documentation of the crates");
        let mut doc = cargo::command();
        doc.args(["doc", "--quiet", "--workspace", "--no-deps"]).current_dir(root).env("RUSTDOCFLAGS", "-D warnings");
        succeed(&mut doc)?;
    }
    Ok(folder)
}

/// Returns the names of the libraries of published crates.
fn libraries(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("crates");
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let mut libraries = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| at(&folder, error))? {
        let entry = entry.map_err(|error| at(&folder, error))?;
        let path = entry.path().join("Cargo.toml");
        let manifest = fs::read_to_string(&path).map_err(|error| at(&path, error))?;
        if !manifest.lines().any(|line| line == "publish = false") {
            libraries.push(library(&manifest, &entry.file_name().to_string_lossy()));
        }
    }
    Ok(libraries)
}

/// Returns the name of the library in a manifest; by default the name of the package, which is that of its folder.
fn library(manifest: &str, folder: &str) -> String {
    let mut lines =
        manifest.lines().skip_while(|line| *line != "[lib]").skip(1).take_while(|line| !line.starts_with('['));
    let name = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    name.map_or_else(|| folder.replace('-', "_"), str::to_owned)
}

/// Copies a folder with its contents.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let at = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        // Cargo keeps a lock there, and `cargo xtask api` its lists.
        let is_page = path.extension().is_none_or(|extension| extension != "json") && entry.file_name() != ".lock";
        if path.is_dir() {
            copy(&path, &copied)?;
        } else if is_page {
            fs::copy(&path, &copied).map_err(at(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_of_published_crates() {
        let libraries = libraries(&tidy::root()).expect("manifests");
        assert!(["zarr", "zarr_array", "zarr_cli"].iter().all(|name| libraries.iter().any(|library| library == name)));
        assert!(!libraries.iter().any(|name| name == "zarr_testserver"), "{libraries:?}");
        assert_eq!(library("[package]\nname = \"a-b\"\n\n[lib]\nname = \"a\"\n\n[[test]]\nname = \"c\"\n", "a-b"), "a");
        assert_eq!(
            library("[package]\nname = \"a-b\"\n\n[lib]\nproc-macro = true\n\n[[test]]\nname = \"c\"\n", "a-b"),
            "a_b"
        );
    }
}
