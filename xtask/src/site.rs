//! `cargo xtask site`: the documentation as pages of the web, in `target/site`.

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
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let (work, site) = (target.join("site-sources"), target.join("site"));
    let sphinx = environment_with(&work, &scripts.join("requirements.txt"))?;
    let packages = python::packages(&target)?;
    let command = cargo::build_command()?;
    let rust = rustdoc(&root, &target)?;

    let sources = work.join("pages");
    fs::create_dir_all(&sources).map_err(|error| format!("{}: {error}", sources.display()))?;
    let script = |name: &str| {
        let mut command = Command::new(&sphinx);
        command.arg(scripts.join(name)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    succeed(script("pages.py").arg(&root).arg(&sources).arg(command).arg(&packages))?;
    fresh(&site)?;
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
    build.arg(&scripts).arg("--doctree-dir").arg(work.join("doctrees")).arg(&sources).arg(&site);
    build.env("SITE_ROOT", &root).env("SITE_PACKAGES", &packages).env("PYTHONDONTWRITEBYTECODE", "1");
    succeed(&mut build)?;
    copy(&rust, &site.join("rust"))?;
    succeed(script("check.py").arg(&site).arg(&root))?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// The folder with the documentation of all crates, which is made if it is not there.
fn rustdoc(root: &Path, target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("doc");
    if !folder.join("zarr").join("index.html").exists() {
        println!("building the documentation of the crates");
        let mut doc = cargo::command();
        doc.args(["doc", "--quiet", "--workspace", "--no-deps"]).current_dir(root).env("RUSTDOCFLAGS", "-D warnings");
        succeed(&mut doc)?;
    }
    Ok(folder)
}

/// Copies a folder with all in it.
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
