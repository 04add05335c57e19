//! Manual pages and completions of the `zarr` command, for packages of systems.

use crate::interop::python;
use crate::{cargo, tidy};
use std::fs;
use std::process::Command;

/// Shells, and the file names under which their completions are installed.
const SHELLS: [(&str, &str); 3] = [("bash", "zarr"), ("zsh", "_zarr"), ("fish", "zarr.fish")];

/// Writes manual pages into `target/man`, and completions into a folder for each shell in `target/completions`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("unknown argument {argument}"));
    }
    let (program, target) = (cargo::build_command()?, tidy::root().join("target"));
    let pages = target.join("man");
    python::output(Command::new(&program).args(["man", "--all"]).arg(&pages))?;
    for (shell, name) in SHELLS {
        let script = python::output(Command::new(&program).args(["completions", shell]))?;
        let folder = target.join("completions").join(shell);
        let file = folder.join(name);
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, script));
        written.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    println!("{}\n{}", pages.display(), target.join("completions").display());
    Ok(())
}
