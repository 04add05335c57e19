//! Manifests: checksums of stored values.

use crate::convert::Source;
use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::{Access, Located};
use crate::runtime;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zarr::compare::{Manifest, ManifestForm, ManifestOptions, Progress};
use zarr::{Result, Store};

/// Calls `work` with the store and the path of a source, and a function for its progress. Meanwhile `progress` is called with the number of
/// bytes that were read, and of all, which is 0 if it is not known.
fn watched<T: Send>(
    py: Python<'_>,
    source: Source<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Store>, &str, &(dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync)) -> Result<T> + Send,
) -> PyResult<T> {
    let interrupt = Interrupt::default();
    let (done, total, has_begun) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let mut told = None;
    let mut tell = |py: Python<'_>, is_end: bool| {
        let has_begun = has_begun.load(Ordering::Acquire);
        let (done, total) = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
        if let (Some(progress), true) = (&progress, (is_end || has_begun) && told != Some(done)) {
            told = Some(done);
            progress.call1(py, (done, total))?;
        }
        Ok(())
    };
    let Located { store, path, .. } = source.open(py, Access::Read)?;
    let report = |event: Progress<'_>| {
        let count = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        match event {
            Progress::Total(bytes) => {
                total.store(count(bytes), Ordering::Relaxed);
                has_begun.store(true, Ordering::Release);
            }
            Progress::Done(bytes) => _ = done.fetch_add(count(bytes), Ordering::Relaxed),
            _ => {}
        }
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut meanwhile = |py: Python<'_>| tell(py, false);
    let found = runtime::run_watched(py, &interrupt, &mut meanwhile, || work(&interrupt.over(&store), &path, &report))?;
    tell(py, true)?;
    Ok(found)
}

/// Text of a manifest, its number of values and of bytes, and its checksum in the form of DANDI.
type Made = (String, usize, u64, Option<String>);

fn options(memory: u64, threads: Option<NonZeroUsize>) -> ManifestOptions {
    ManifestOptions::default().memory(memory).threads(threads)
}

/// Computes the checksums of the values of a node.
///
/// # Errors
/// The exceptions of the source, of the form and of the store, and of `progress`.
#[pyfunction]
pub(crate) fn manifest(
    py: Python<'_>,
    source: Source<'_>,
    form: &str,
    memory: u64,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Made> {
    let form: ManifestForm = form.parse().or_exception(py)?;
    let options = options(memory, threads).form(form);
    watched(py, source, progress, |store, path, report| {
        let made = Manifest::of(store, path, &options, report)?;
        let checksum = made.dandi_checksum().map(str::to_owned);
        Ok((made.to_string(), made.entries().len(), made.size().unwrap_or_default(), checksum))
    })
}

/// Differences of a check, each with its name, its kind and its cause, and why other keys could not be listed.
type Checked = (Vec<(String, &'static str, Option<String>)>, Option<String>);

/// Compares the values of a node with the text of a manifest.
///
/// # Errors
/// The exceptions of the source, of the text and of the store, and of `progress`.
#[pyfunction]
pub(crate) fn check_manifest(
    py: Python<'_>,
    source: Source<'_>,
    text: &str,
    memory: u64,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Checked> {
    let manifest: Manifest = text.parse().or_exception(py)?;
    let options = options(memory, threads);
    watched(py, source, progress, |store, path, report| {
        let found = manifest.check(store, path, &options, report)?;
        let differences = found
            .differences
            .iter()
            .map(|difference| (difference.name().to_owned(), difference.kind(), difference.cause().map(str::to_owned)));
        // A store that never lists keys is no surprise.
        let unlisted = found.unlisted.as_ref().filter(|error| error.store_error().is_some());
        Ok((differences.collect(), unlisted.map(zarr::Error::with_causes)))
    })
}
