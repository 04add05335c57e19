//! Manifests: checksums of stored values.

use crate::convert::Source;
use crate::errors::OrException;
use crate::interrupt::Interrupt;
use crate::location::{Access, Located};
use crate::runtime;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr::compare::{Manifest, ManifestForm, ManifestOptions, Progress};
use zarr::{Result, Store};

/// Calls `work` with the store and the path of a source, and a function for its progress. Meanwhile `progress` is called with the number of
/// bytes that were read, and of all, if that is known, and at the end always.
fn watched<T: Send>(
    py: Python<'_>,
    source: Source<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Store>, &str, &(dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync)) -> Result<T> + Send,
) -> PyResult<T> {
    let interrupt = Interrupt::default();
    let (done, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut told = None;
    let mut tell = |py: Python<'_>, is_end: bool| {
        let (done, total) = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
        if let (Some(progress), true) = (&progress, (is_end || total > 0) && told != Some(done)) {
            told = Some(done);
            progress.call1(py, (done, total))?;
        }
        Ok(())
    };
    let Located { store, path, .. } = source.open(py, Access::Read)?;
    let report = |event: Progress<'_>| {
        let count = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        match event {
            Progress::Total(bytes) => total.store(count(bytes), Ordering::Relaxed),
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

/// Computes the checksums of the values of a node.
///
/// # Errors
/// The exceptions of the source, of the form and of the store, and of `progress`.
#[pyfunction]
pub(crate) fn manifest(py: Python<'_>, source: Source<'_>, form: &str, progress: Option<Py<PyAny>>) -> PyResult<Made> {
    let form: ManifestForm = form.parse().or_exception(py)?;
    let options = ManifestOptions::default().form(form);
    watched(py, source, progress, |store, path, report| {
        let made = Manifest::of(store, path, &options, report)?;
        Ok((made.to_string(), made.entries().len(), made.size().unwrap_or_default(), made.dandi_checksum()))
    })
}

/// Compares the values of a node with the text of a manifest. Returns the names that differ, and how.
///
/// # Errors
/// The exceptions of the source, of the text and of the store, and of `progress`.
#[pyfunction]
pub(crate) fn check_manifest(
    py: Python<'_>,
    source: Source<'_>,
    text: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, &'static str)>> {
    let manifest: Manifest = text.parse().or_exception(py)?;
    watched(py, source, progress, |store, path, report| {
        let found = manifest.check(store, path, &ManifestOptions::default(), report)?;
        Ok(found.iter().map(|difference| (difference.name().to_owned(), difference.kind())).collect())
    })
}
