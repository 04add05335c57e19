//! References to the chunks of files.

use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::address_and_path;
use crate::runtime;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr::store::{StoreOptions, schemes};
use zarr::virtualize::{JoinOptions, SaveOptions, join_with, open_with, save_with};
use zarr::{Dialect, Error, ErrorKind};

/// How references are written, a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReferenceSettings {
    concat: Option<String>,
    variables: Vec<String>,
    inline: u64,
    grid: String,
    dialect: Option<String>,
    relative: bool,
    overwrite: bool,
}

/// References to files, chunks in the references and their bytes, bytes of the references, folders that lie elsewhere, the dialect of the
/// documents and why it is not v2, and warnings.
type Saved = (u64, u64, u64, u64, Vec<String>, (&'static str, Option<String>), Vec<String>);

/// An address, and options of its store.
type Address = (String, Vec<(String, String)>);

/// Writes references to the chunks of files. Calls `progress` with the number of steps that are done and of all: two for each file, which is
/// opened, and joined.
///
/// # Errors
/// The exceptions of the addresses, of the files and of the stores, and of `progress`.
#[pyfunction]
pub(crate) fn virtualize(
    py: Python<'_>,
    files: Vec<String>,
    file_options: Vec<(String, String)>,
    target: Address,
    settings: ReferenceSettings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Saved> {
    let place = |url: &str| Ok::<_, Error>(address_and_path(url, Some(String::new()))?.0);
    let files = files.iter().map(|url| place(url)).collect::<Result<Vec<_>, _>>().or_exception(py)?;
    let (to, to_options) = (place(&target.0).or_exception(py)?, target.1);
    let (interrupt, steps) = (Interrupt::default(), AtomicU64::new(0));
    let (count, mut told) = (files.len() as u64, None);
    let mut tell = |py: Python<'_>| {
        let done = steps.load(Ordering::Relaxed);
        let Some(progress) = progress.as_ref().filter(|_| told != Some(done)) else { return Ok(()) };
        told = Some(done);
        progress.call1(py, (done, 2 * count)).map(drop)
    };
    let ended = || match interrupt.is_set() {
        true => Err(Error::new(ErrorKind::Cancelled, "the references were not written to the end")),
        false => Ok(()),
    };
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
        let mut inputs = Vec::with_capacity(files.len());
        for file in &files {
            inputs.push(open_with(file, &options, &schemes)?);
            steps.fetch_add(1, Ordering::Relaxed);
            ended()?;
        }
        let join_options =
            JoinOptions::default().concat(settings.concat).variables(settings.variables).rectilinear(rectilinear);
        let joined = join_with(&inputs, &zarr::registry::default(), &join_options, &mut |done, total| {
            // Arrays of files are steps of the join, which is one for each file here.
            let done = u128::from(done) * u128::from(count) / u128::from(total.max(1));
            steps.store(count + u64::try_from(done).unwrap_or(count), Ordering::Relaxed);
            if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let mut warnings = joined.notes.clone();
        for input in &inputs {
            warnings.extend(zarr::Store::take_warnings(input.store()));
        }
        let save = SaveOptions::default()
            .inline(settings.inline)
            .dialect(settings.dialect.as_deref().map(str::parse::<Dialect>).transpose()?)
            .relative(settings.relative)
            .overwrite(settings.overwrite);
        ended()?;
        let saved = save_with(joined, &to, &save, &to_options.into_iter().collect(), &schemes)?;
        let written = saved.written;
        let dialect = (saved.dialect.name(), saved.not_in_v2);
        Ok((written.in_files, written.inline, written.inline_bytes, saved.bytes, saved.elsewhere, dialect, warnings))
    };
    let saved = runtime::run_watched(py, &interrupt, &mut tell, work)?;
    tell(py)?;
    Ok(saved)
}
