//! `cargo xtask pictures`: draws the pictures of README.md, from the data in the repository.

use super::{PLAYWRIGHT, browser, folder, npm, script, serve};
use crate::interop::python::output;
use crate::{cargo, tidy};
use std::process::Command;
use zarr::serve::Token;

/// Draws the output of the command and the page of a server into `docs/pictures`. Without Chromium, Node.js or `script`, prints a message
/// and leaves the pictures unchanged.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask pictures".to_owned());
    }
    let root = tidy::root();
    // Addresses are shown as they are given, without folders of this machine.
    std::env::set_current_dir(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let scratch = folder("pictures")?;
    let terminal = output(Command::new("script").arg("--version")).map_err(|_| "there is no script".to_owned());
    let needed = terminal.and_then(|_| Ok((browser()?, npm(PLAYWRIGHT)?)));
    let (browser, packages) = match needed {
        Ok(found) => found,
        Err(reason) => {
            println!("left out: {reason}");
            return Ok(());
        }
    };
    let program = cargo::build_command()?;
    let store = zarr::store::open("examples/data/climate.zarr").map_err(|error| error.to_string())?;
    let server = serve(store, Token::None)?;
    let mut node = Command::new("node");
    node.arg(script("pictures.mjs")).args([&packages, &browser, &program]).arg(server.page_url());
    let lines = output(node.arg(&scratch).arg(root.join("docs").join("pictures")));
    server.stop();
    print!("{}", lines?);
    Ok(())
}
