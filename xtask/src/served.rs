//! `cargo xtask page`, `cargo xtask clients` and `cargo xtask pictures`: use a served store in a browser, and with other software.

mod pictures;
mod stores;

use crate::cargo::target;
use crate::interop::fresh;
use crate::interop::python::{self, output};
pub(crate) use pictures::run as pictures;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use zarr::serve::{ServeOptions, Server, Token};

const USAGE_OF_CLIENTS: &str = "\
usage: cargo xtask clients [--python PROGRAM]

Serves arrays of both formats, and has zarr-python (fsspec and obstore), tensorstore and zarrita read them, and images of OME-Zarr, which
the loader of Viv reads, the part of Vizarr and Avivator that opens images. They are installed in target; zarrita and Viv are left out
where there is no node or npm.

  --python PROGRAM  a Python that has zarr, fsspec, aiohttp, obstore and tensorstore";

/// Package of npm that drives the browser, with its version.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
const ZARRITA: &str = "zarrita@0.7.5";
const VIV: &str = "@vivjs/loaders@0.21.0";
const AXE: &str = "axe-core@4.14.1";
/// Names of the program Chromium.
const BROWSERS: [&str; 4] = ["chromium", "/usr/bin/chromium", "chromium-browser", "google-chrome"];

/// Drives the page in Chromium, and checks pages of the documentation site if it is built. Without Chromium or node, prints a message and
/// succeeds.
pub(crate) fn page(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask page".to_owned());
    }
    let folder = folder("page")?;
    // Chromium is large: it is installed where it can be driven.
    let (browser, packages) = match npm(PLAYWRIGHT).and_then(|packages| Ok((browser()?, packages))) {
        Ok(found) => found,
        Err(reason) => {
            println!("left out: the page of zarr serve ({reason})");
            return Ok(());
        }
    };
    let server = serve(stores::of_page().map_err(|error| error.to_string())?, Token::None)?;
    let mut node = Command::new("node");
    node.arg(script("drive.mjs")).arg(&packages).arg(&browser).arg(server.page_url()).arg(&folder);
    let lines = output(&mut node);
    server.stop();
    print!("{}", lines?);
    let site = target().join("site");
    let axe = match site.join("index.html").exists() {
        true => npm(AXE),
        false => Err("cargo xtask site builds it".to_owned()),
    };
    match axe {
        Ok(axe) => {
            let shots = self::folder("site")?;
            let mut node = Command::new("node");
            node.arg(script("site.mjs")).arg(&packages).arg(axe).arg(&browser).arg(site).arg(&shots);
            print!("{}", output(&mut node)?);
        }
        Err(reason) => println!("left out: the documentation site ({reason})"),
    }
    println!("screenshots are in {}", folder.display());
    Ok(())
}

/// Reads a served store with other software.
pub(crate) fn clients(arguments: &[String]) -> Result<(), String> {
    let given = match arguments {
        [] => None,
        [option, program] if option == "--python" => Some(PathBuf::from(program)),
        _ => return Err(USAGE_OF_CLIENTS.to_owned()),
    };
    let folder = folder("clients")?;
    let (store, arrays) = stores::of_clients().map_err(|error| error.to_string())?;
    let file = folder.join("arrays.jsonl");
    fs::write(&file, arrays).map_err(|error| format!("{}: {error}", file.display()))?;
    // Clients are authorised by the token in the path, which all of them pass on.
    let server = serve(store, Token::Random)?;
    let (url, list) = (server.raw_url(), file.display().to_string());
    let mut lines = match given {
        Some(program) => {
            output(Command::new(program).arg(format!("{}/served.py", python::SCRIPTS)).args([&url, &list]))
        }
        None => python::environment(&target().join("interop"))?.script("served.py", &[&url, &list], &[]),
    }?;
    match npm(ZARRITA) {
        Ok(packages) => {
            let mut node = Command::new("node");
            lines.push_str(&output(node.arg(script("zarrita.mjs")).arg(packages).args([&url, &list]))?);
        }
        Err(reason) => lines.push_str(&format!("left out: zarrita ({reason})\n")),
    }
    server.stop();
    let (store, levels) = stores::of_viewers().map_err(|error| error.to_string())?;
    let file = folder.join("levels.jsonl");
    fs::write(&file, levels).map_err(|error| format!("{}: {error}", file.display()))?;
    match npm(VIV) {
        Ok(packages) => {
            let server = serve(store, Token::Random)?;
            let mut node = Command::new("node");
            node.arg(script("viv.mjs")).arg(packages).args([server.raw_url(), file.display().to_string()]);
            lines.push_str(&output(&mut node)?);
            server.stop();
        }
        Err(reason) => lines.push_str(&format!("left out: Viv ({reason})\n")),
    }
    print!("{lines}");
    match lines.lines().filter(|line| line.starts_with("differs")).count() {
        0 => Ok(()),
        count => Err(format!("{count} arrays or levels differ")),
    }
}

fn serve(store: Arc<dyn zarr::Store>, token: Token) -> Result<Server, String> {
    let options = ServeOptions::default().token(token);
    Server::start(store, zarr::registry::default(), &options).map_err(|error| format!("no server: {error}"))
}

fn script(name: &str) -> String {
    format!("{}/page/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Creates a new folder for the results.
fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = target().join("served").join(name);
    fresh(&folder)?;
    Ok(folder)
}

/// Returns the folder of a package of npm. Installs the package if it is missing.
fn npm(package: &str) -> Result<PathBuf, String> {
    for program in ["node", "npm"] {
        output(Command::new(program).arg("--version")).map_err(|_| format!("there is no {program}"))?;
    }
    let folder = target().join("served").join(package.replace(['@', '/'], "-"));
    // A scope begins with `@`, too.
    let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
    if !folder.join("node_modules").join(name).join("package.json").exists() {
        println!("installing {package}");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]);
        // Without a network the installation fails soon.
        install.args(["--fetch-retries=1", "--fetch-timeout=20000", "--prefix"]).arg(&folder);
        output(install.arg(package)).map_err(|error| format!("npm cannot install {package}: {error}"))?;
    }
    Ok(folder)
}

/// Returns the name of Chromium. Installs it with apt-get if it is missing and the user is root.
fn browser() -> Result<PathBuf, String> {
    let found = || {
        let mut names = BROWSERS.into_iter();
        names.find(|name| output(Command::new(name).arg("--version")).is_ok())
    };
    // The script needs a path.
    let path = |name: &str| match name.starts_with('/') {
        true => Ok(PathBuf::from(name)),
        false => {
            output(Command::new("sh").args(["-c", "command -v \"$0\"", name])).map(|path| PathBuf::from(path.trim()))
        }
    };
    if let Some(name) = found() {
        return path(name);
    }
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|text| text.trim() == "0");
    if !is_root || output(Command::new("apt-get").arg("--version")).is_err() {
        return Err("there is no Chromium, and only root can install it by apt-get".to_owned());
    }
    println!("installing chromium");
    let install = |arguments: &[&str]| {
        let quickly = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"];
        output(Command::new("apt-get").args(quickly).args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
            .map_err(|error| format!("there is no Chromium: {error}"))
    };
    install(&["update"])?;
    install(&["install", "--yes", "--no-install-recommends", "chromium"])?;
    found().map_or_else(|| Err("apt-get installed no Chromium".to_owned()), path)
}
