//! `cargo xtask conformance --matrix`: finds the pairs of data types and codecs that work, for `docs/support.md` and `zarr_meta::readers`.

use crate::cargo;
use crate::interop::python;
use std::fs;
use std::path::Path;
use std::process::Command;
use zarr_json::Value;
use zarr_tests::matrix::{self, Cell, Cells};

/// Known difference of zarrs: a codec, and the data types of which it writes other elements below zero. `docs/support.md` says why this
/// library differs.
const OTHERWISE: (&str, [&str; 5]) = ("bitround", ["int8", "int16", "int32", "int64", "timedelta64"]);

/// Writes and reads an array for each pair, lets other software read and write them too, reads what that software wrote, and writes the
/// table. The crate zarrs is used for arrays that no Python library reads.
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
    let zarrs = directory.join("zarrs");
    let manifest = Path::new(python::SCRIPTS).join("zarrs").join("Cargo.toml");
    cargo::build(&manifest, &zarrs, &["--locked"])?;
    let mut table = Table { cells: matrix::cells(Some(&folder))?, folder: &folder, differing: Vec::new() };
    let left = table.ask_python(&python.matrix(&folder)?)?;
    let mut command = Command::new(zarrs.join("debug").join("zarr-interop-zarrs"));
    command.arg(&folder).args(left.iter().map(|pair| &pair.folder));
    table.ask_zarrs(&python::output(&mut command)?, &left)?;
    table.summary();
    if !table.differing.is_empty() {
        return Err(format!("{}\nin {}", table.differing.join("\n"), folder.display()));
    }
    let marks = root.join("crates").join("zarr-meta").join("src").join("readers").join("marks.txt");
    let document = root.join("docs").join("support.md");
    for (path, text) in [(marks, matrix::marks(&table.cells)), (document, matrix::document(&table.cells))] {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    fs::remove_dir_all(&folder).map_err(broken)
}

/// Codec and data type, and the name of the folder with their array.
struct Pair {
    codec: String,
    data_type: String,
    folder: String,
}

/// Table while the results of other software are added.
struct Table<'a> {
    cells: Cells,
    folder: &'a Path,
    /// Pairs that other software reads or writes differently.
    differing: Vec<String>,
}

impl Table<'_> {
    /// Adds the results in the lines that `matrix.py` printed. Returns the pairs that no Python library reads.
    fn ask_python(&mut self, lines: &str) -> Result<Vec<Pair>, String> {
        let mut left = Vec::new();
        for line in lines.lines() {
            let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
            let text = |name: &str| answer.get(name).and_then(Value::as_str);
            let owned = |name: &str| text(name).unwrap_or_default().to_owned();
            let pair = Pair { codec: owned("codec"), data_type: owned("data_type"), folder: owned("folder") };
            let by = match text("result") {
                Some("zarr") => Cell::Zarr,
                Some("numcodecs") => Cell::Numcodecs,
                Some("tensorstore") => Cell::TensorStore,
                Some("differs") => {
                    self.differing.push(format!("{} of {} is read otherwise", pair.codec, pair.data_type));
                    continue;
                }
                _ => {
                    left.push(pair);
                    continue;
                }
            };
            self.was_read(&pair, by, text("back"));
        }
        Ok(left)
    }

    /// Adds the results of the pairs in the lines that zarrs printed.
    fn ask_zarrs(&mut self, lines: &str, pairs: &[Pair]) -> Result<(), String> {
        for line in lines.lines() {
            let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
            let folder = answer.get("folder").and_then(Value::as_str).unwrap_or_default();
            let Some(pair) = pairs.iter().find(|pair| pair.folder == folder) else { continue };
            let Some(elements) = answer.get("elements").and_then(Value::as_array) else { continue };
            match matrix::compare_bytes(&pair.data_type, elements) {
                Ok(()) => self.was_read(pair, Cell::Zarrs, answer.get("back").and_then(Value::as_str)),
                Err(fault) => {
                    let Pair { codec, data_type, .. } = pair;
                    self.differing.push(format!("{codec} of {data_type} is read otherwise by zarrs: {fault}"));
                }
            }
        }
        Ok(())
    }

    /// Marks a pair as read by other software, and compares the array that it wrote. If it did not write one, `unwritten` says why.
    fn was_read(&mut self, pair: &Pair, by: Cell, unwritten: Option<&str>) {
        let names = (pair.codec.as_str(), pair.data_type.as_str());
        if let Some(why) = unwritten {
            println!("only read: {} of {}: {why}", names.0, names.1);
            return matrix::mark(&mut self.cells, names, Cell::Read);
        }
        match matrix::compare(names, &self.folder.join(&pair.folder)) {
            Ok(()) => matrix::mark(&mut self.cells, names, by),
            Err(fault) if by == Cell::Zarrs && names.0 == OTHERWISE.0 && OTHERWISE.1.contains(&names.1) => {
                println!("written otherwise: {} of {}: {fault}", names.0, names.1);
                matrix::mark(&mut self.cells, names, Cell::Read);
            }
            Err(fault) => self.differing.push(format!("{} of {} is written otherwise: {fault}", names.0, names.1)),
        }
    }

    /// Prints the number of pairs of each kind.
    fn summary(&self) {
        let count = |cell: Cell| self.cells.values().filter(|found| **found == cell).count();
        println!(
            "{} pairs; read and written by zarr-python {}, else by numcodecs {}, else by TensorStore {}, else by zarrs {}; only read {}; \
             ours alone {}",
            self.cells.len(),
            count(Cell::Zarr),
            count(Cell::Numcodecs),
            count(Cell::TensorStore),
            count(Cell::Zarrs),
            count(Cell::Read),
            count(Cell::Ours)
        );
    }
}
