//! Archives of the command for one system, and of the source.

use crate::command::{VERSION, cargo, host, output, root, succeed, time, without_paths};
use crate::graph::{self, Product};
use crate::pack::{Entry, Files, add, add_folder, gzip, tar_gz, write};
use crate::{deb, sbom, third_party};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shells, and the file names under which their completions are installed.
const SHELLS: [(&str, &str); 3] = [("bash", "zarr"), ("zsh", "_zarr"), ("fish", "zarr.fish")];

/// Files of this repository in an archive: the path in the archive, and the path in the repository.
const TEXTS: [(&str, &str); 5] = [
    ("README.md", "crates/zarr-cli/README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-OFL", "crates/zarr-view/LICENSE-OFL"),
];

/// Builds the command for a system whose programs run here, and creates its archive; on Debian, also its package.
pub(crate) fn make(target: Option<&str>, folder: &Path) -> Result<(), String> {
    let (triple, time) = (target.map_or_else(host, |target| Ok(target.to_owned()))?, time()?);
    let program = build(target, &triple)?;
    let files = files(&program, &triple)?;
    let name = format!("zarr-{VERSION}-{triple}");
    let below = files.iter().map(|(path, Entry { content, is_program })| {
        (format!("{name}/{path}"), Entry { content: content.clone(), is_program: *is_program })
    });
    write(folder, &format!("{name}.tar.gz"), &tar_gz(&below.collect(), time)?)?;
    if triple.contains("linux") { deb::make(&files, &triple, folder, time) } else { Ok(()) }
}

/// Builds the command with the profile and features of a release. Returns its path.
fn build(target: Option<&str>, triple: &str) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.args(["build", "--locked", "--package", "zarr-cli", "--profile", "dist", "--features", "full"]);
    let mut built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    if let Some(target) = target {
        command.args(["--target", target]);
        built.push(target);
    }
    without_paths(&mut command, triple)?;
    succeed(&mut command)?;
    Ok(built.join("dist").join(if triple.contains("windows") { "zarr.exe" } else { "zarr" }))
}

fn files(program: &Path, triple: &str) -> Result<Files, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut files = Files::new();
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.insert(name, Entry { content: read(program)?, is_program: true });
    for (name, path) in TEXTS {
        add(&mut files, name, read(&root().join(path))?);
    }
    let pages = program.with_file_name("man");
    if pages.exists() {
        fs::remove_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
    }
    output(Command::new(program).args(["man", "--all"]).arg(&pages))?;
    add_folder(&mut files, "man", &pages)?;
    for (shell, name) in SHELLS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        add(&mut files, format!("completions/{shell}/{name}"), script);
    }
    let targets = [triple.to_owned()];
    let crates = graph::crates(Product::Command, &targets)?;
    add(&mut files, "THIRD-PARTY.txt", third_party::list(&crates, &targets)?);
    add(&mut files, "zarr.cdx.json", sbom::document(Product::Command, &crates)?);
    Ok(files)
}

/// Creates an archive of the last commit.
pub(crate) fn source(folder: &Path) -> Result<(), String> {
    let name = format!("zarr-{VERSION}-source");
    let mut command = Command::new("git");
    let bytes =
        output(command.args(["archive", "--format=tar", &format!("--prefix={name}/"), "HEAD"]).current_dir(root()))?;
    write(folder, &format!("{name}.tar.gz"), &gzip(&bytes)?)
}
