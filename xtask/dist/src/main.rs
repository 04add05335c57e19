//! Releases for people without Rust: archives and packages of the command, recipes for package managers, and lists of the
//! software in them. `cargo xtask dist` runs it; it is a package of its own, since a release builds it on each system.

mod archive;
mod bundled;
mod command;
mod deb;
mod graph;
mod pack;
mod recipes;
mod sbom;
mod third_party;
mod wheel;

use command::{host, root, say};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask dist [TASK] [--target TRIPLE]

  (none)     all that can be made here but wheels: archive, source, and the recipes whose archives are there; that of conda needs
             the source, that of Homebrew the archives of four systems
  archive    the command with its manual pages, completions and licences, on Debian a package as well
  check      checks that the licence of everything in the command and the wheel is known, with its text
  licences   writes the licences and the list of the software in a wheel into `python`, where maturin takes them from
  help       prints this
  recipes    fills in the recipes of Homebrew and conda: version and checksums of the archives that are there
  source     the source as an archive
  wheel      a wheel of the Python package for this machine (needs maturin)

They are in target/dist-archives, with SHA256SUMS.";

/// Returns the folder of archives.
fn folder() -> PathBuf {
    root().join("target/dist-archives")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (task, target) = match words[..] {
        [] => ("", None),
        ["--target", target] => ("", Some(target)),
        [task] => (task, None),
        [task, "--target", target] => (task, Some(target)),
        _ => return Err(USAGE.to_owned()),
    };
    if matches!(task, "help" | "--help" | "-h") {
        return say(USAGE);
    }
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    match task {
        "" => {
            archive::make(target, &folder)?;
            archive::source(&folder)?;
            pack::write_sums(&folder)?;
            recipes::fill(&folder, recipes::Missing::LeftOut)?;
            pack::write_sums(&folder)
        }
        "archive" => archive::make(target, &folder).and_then(|()| pack::write_sums(&folder)),
        "check" => third_party::check(&targets(target)?),
        "licences" => wheel::write_licences(&targets(target)?),
        "recipes" => {
            pack::write_sums(&folder)?;
            recipes::fill(&folder, recipes::Missing::IsAFault)?;
            pack::write_sums(&folder)
        }
        "source" => archive::source(&folder).and_then(|()| pack::write_sums(&folder)),
        "wheel" if target.is_none() => wheel::build(&folder).and_then(|()| pack::write_sums(&folder)),
        _ => Err(USAGE.to_owned()),
    }
}

/// Returns the systems for which a name stands: both machines of macOS have one wheel. `None` stands for this machine.
fn targets(target: Option<&str>) -> Result<Vec<String>, String> {
    Ok(match target {
        Some("universal2-apple-darwin") => vec!["x86_64-apple-darwin".to_owned(), "aarch64-apple-darwin".to_owned()],
        Some(target) => vec![target.to_owned()],
        None => vec![host()?],
    })
}
