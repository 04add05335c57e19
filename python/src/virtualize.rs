//! References to the chunks of files.

use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::address_and_path;
use crate::runtime;
use pyo3::prelude::*;
use zarr::store::{StoreOptions, schemes};
use zarr::virtualize::{JoinOptions, SaveOptions, join, open_with, save_with};
use zarr::{Dialect, Error};

/// How references are written, a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReferenceSettings {
    concat: Option<String>,
    variables: Vec<String>,
    inline: u64,
    grid: String,
    dialect: String,
    relative: bool,
    overwrite: bool,
}

/// References to files, chunks in the references and their bytes, bytes of the references, folders that lie elsewhere, and warnings.
type Saved = (u64, u64, u64, u64, Vec<String>, Vec<String>);

/// An address, and options of its store.
type Address = (String, Vec<(String, String)>);

/// Writes references to the chunks of files.
///
/// # Errors
/// The exceptions of the addresses, of the files and of the stores.
#[pyfunction]
pub(crate) fn virtualize(
    py: Python<'_>,
    files: Vec<String>,
    file_options: Vec<(String, String)>,
    target: Address,
    settings: ReferenceSettings,
) -> PyResult<Saved> {
    let place = |url: &str| Ok::<_, Error>(address_and_path(url, Some(String::new()))?.0);
    let files = files.iter().map(|url| place(url)).collect::<Result<Vec<_>, _>>().or_exception(py)?;
    let (to, to_options) = (place(&target.0).or_exception(py)?, target.1);
    let interrupt = Interrupt::default();
    let work = || {
        let (schemes, options): (_, StoreOptions) = (schemes(), file_options.into_iter().collect());
        let rectilinear = match settings.grid.as_str() {
            "regular" => false,
            "rectilinear" => true,
            other => {
                let message = format!("grid {other:?}: expected \"regular\" or \"rectilinear\"");
                return Err(Error::argument(message));
            }
        };
        let inputs = files.iter().map(|file| open_with(file, &options, &schemes)).collect::<zarr::Result<Vec<_>>>()?;
        let join_options =
            JoinOptions::default().concat(settings.concat).variables(settings.variables).rectilinear(rectilinear);
        let joined = join(&inputs, &zarr::registry::default(), &join_options)?;
        let mut warnings = joined.notes.clone();
        for input in &inputs {
            warnings.extend(zarr::Store::take_warnings(input.store()));
        }
        let save = SaveOptions::default()
            .inline(settings.inline)
            .dialect(settings.dialect.parse::<Dialect>()?)
            .relative(settings.relative)
            .overwrite(settings.overwrite);
        let saved = save_with(joined, &to, &save, &to_options.into_iter().collect(), &schemes)?;
        let written = saved.written;
        Ok((written.in_files, written.inline, written.inline_bytes, saved.bytes, saved.elsewhere, warnings))
    };
    runtime::run_long(py, &interrupt, work)
}
