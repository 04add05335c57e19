//! `cargo xtask conformance --matrix`: which data types and codecs go together, as `docs/support.md` shows it.

use crate::interop::python;
use std::fs;
use std::path::Path;
use zarr_meta::json::Value;
use zarr_tests::matrix::{self, Cell};

/// Writes and reads an array for each pair, has zarr-python read and write them as well, reads what it wrote, and writes the table.
pub(crate) fn run() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let directory = root.join("target").join("interop");
    let folder = directory.join("matrix");
    let broken = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(broken)?;
    }
    fs::create_dir_all(&folder).map_err(broken)?;
    let python = python::environment(&directory)?;
    let mut cells = matrix::cells(Some(&folder))?;
    let lines = python.matrix(&folder)?;
    let (mut differing, mut unwritten) = (Vec::new(), 0);
    for line in lines.lines() {
        let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let names = (text("codec").unwrap_or_default(), text("data_type").unwrap_or_default());
        let by = match text("result") {
            Some("zarr") => Cell::Zarr,
            Some("numcodecs") => Cell::Numcodecs,
            Some("tensorstore") => Cell::TensorStore,
            Some("differs") => {
                differing.push(format!("{} of {} is read otherwise", names.0, names.1));
                continue;
            }
            _ => continue,
        };
        if let Some(why) = text("back") {
            println!("only read: {} of {}: {why}", names.0, names.1);
            unwritten += 1;
            matrix::mark(&mut cells, names, Cell::Read);
            continue;
        }
        match matrix::compare(names, &folder.join(text("folder").unwrap_or_default())) {
            Ok(()) => matrix::mark(&mut cells, names, by),
            Err(fault) => differing.push(format!("{} of {} is written otherwise: {fault}", names.0, names.1)),
        }
    }
    let count = |cell: Cell| cells.values().filter(|found| **found == cell).count();
    let (all, zarr, numcodecs) = (cells.len(), count(Cell::Zarr), count(Cell::Numcodecs));
    let tensorstore = count(Cell::TensorStore);
    println!(
        "{all} pairs; read and written by zarr-python {zarr}, else by numcodecs {numcodecs}, else by TensorStore {tensorstore}; \
         only read {unwritten}"
    );
    if !differing.is_empty() {
        return Err(format!("{}\nin {}", differing.join("\n"), folder.display()));
    }
    let document = root.join("docs").join("support.md");
    fs::write(&document, matrix::document(&cells)).map_err(|error| format!("{}: {error}", document.display()))?;
    fs::remove_dir_all(&folder).map_err(broken)
}
