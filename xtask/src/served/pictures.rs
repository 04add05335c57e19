//! `cargo xtask pictures`: draws the pictures of the documentation, from the data in the repository.

use super::{PLAYWRIGHT, browser, folder, npm, script, serve};
use crate::interop::python::output;
use crate::{cargo, tidy};
use std::process::Command;
use zarr::serve::Token;

/// Pictures that `zarr view` draws of `examples/data`: the name of the file, the arguments.
const DRAWN: [(&str, &str); 4] = [
    ("composite.png", "tissue.zarr --width 480"),
    ("labels.png", "tissue.zarr --labels nuclei --width 480"),
    ("plate.png", "plate.zarr --width 480"),
    ("map.png", "MAP sst --sel time=2006-04 --width 640"),
];
/// Conversion that makes the map of which a picture is drawn; `MAP` is its target.
const MAP: &str = "convert netcdf/sst-2006-04.nc MAP --convention geozarr --crs EPSG:4326 --quiet";

/// Draws pictures by `zarr view`, the output of the command and the page of a server into `docs/pictures`. Without Chromium, Node.js or
/// `script`, prints a message and leaves all but the first unchanged.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask pictures".to_owned());
    }
    let root = tidy::root();
    // Addresses are shown as they are given, without folders of this machine.
    std::env::set_current_dir(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let program = cargo::build_command()?;
    let scratch = folder("pictures")?;
    let map = scratch.join("sst.zarr").display().to_string();
    let run = |line: &str| {
        let words = line.split(' ').map(|word| if word == "MAP" { map.as_str() } else { word });
        output(Command::new(&program).args(words).current_dir(root.join("examples/data")))
    };
    run(MAP)?;
    for (name, arguments) in DRAWN {
        run(&format!("view {arguments} -o ../../docs/pictures/{name}"))?;
        println!("{name}: zarr view {arguments}");
    }
    let terminal = output(Command::new("script").arg("--version")).map_err(|_| "there is no script".to_owned());
    let needed = terminal.and_then(|_| Ok((browser()?, npm(PLAYWRIGHT)?)));
    let (browser, packages) = match needed {
        Ok(found) => found,
        Err(reason) => {
            println!("left out: {reason}");
            return Ok(());
        }
    };
    let store = zarr::store::open("examples/data/climate.zarr").map_err(|error| error.to_string())?;
    let server = serve(store, Token::None)?;
    let mut node = Command::new("node");
    node.arg(script("pictures.mjs")).args([&packages, &browser, &program]).arg(server.page_url());
    let lines = output(node.arg(&scratch).arg(root.join("docs").join("pictures")));
    server.stop();
    print!("{}", lines?);
    Ok(())
}
