//! Programs of servers, which are searched for, and installed by their usual package managers if they are missing.

use crate::interop::python::output;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Version of azurite.
const AZURITE: &str = "3.35.0";

/// Path of a program, or the reason why there is none.
pub(super) enum Program {
    Found(PathBuf),
    LeftOut(String),
}

/// Returns the script of azurite for node, in a folder below `directory`. Installs it if it is missing.
pub(super) fn azurite(directory: &Path) -> Result<Program, String> {
    for program in ["node", "npm"] {
        if output(Command::new(program).arg("--version")).is_err() {
            return Ok(Program::LeftOut(format!("there is no {program}")));
        }
    }
    let folder = directory.join("azurite");
    let package = folder.join("node_modules").join("azurite");
    let is_there = || {
        let text = fs::read_to_string(package.join("package.json")).unwrap_or_default();
        let value = zarr_json::Value::from_json(&text).ok();
        value.is_some_and(|value| value.get("version").and_then(zarr_json::Value::as_str) == Some(AZURITE))
    };
    let script = package.join("dist").join("src").join("blob").join("main.js");
    if !is_there() {
        println!("installing azurite {AZURITE}");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut npm = Command::new("npm");
        // The C++ parts of azurite access keys of the system, and are not needed.
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"]).arg(&folder);
        output(npm.arg(format!("azurite@{AZURITE}")))?;
    }
    if !script.exists() {
        return Err(format!("{}: not in the package of azurite {AZURITE}", script.display()));
    }
    Ok(Program::Found(script))
}

/// Returns the program nginx. Installs it if it is missing.
pub(super) fn nginx() -> Result<Program, String> {
    let found = || {
        let mut programs = ["nginx", "/usr/sbin/nginx"].into_iter();
        let usable = programs.find(|program| output(Command::new(program).arg("-v")).is_ok());
        usable.map(|program| Program::Found(PathBuf::from(program)))
    };
    if let Some(program) = found() {
        return Ok(program);
    }
    if !is_root() || output(Command::new("apt-get").arg("--version")).is_err() {
        return Ok(Program::LeftOut("it is not installed, and only root can do that by apt-get".to_owned()));
    }
    println!("installing nginx");
    output(Command::new("apt-get").arg("update"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "nginx"]).env("DEBIAN_FRONTEND", "noninteractive");
    output(&mut install)?;
    Ok(found().unwrap_or_else(|| Program::LeftOut("apt-get installed no program of that name".to_owned())))
}

/// Returns whether the user is root.
pub(super) fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|text| text.trim() == "0")
}
