//! Check of a hierarchy.
//!
//! The nodes come from one walk, which also reports broken documents. Arrays are opened, and then all keys are listed, directory by
//! directory: each is a document of a node, a chunk of an array, part of something unfinished, or stray. Chunks are collected and checked
//! in batches by `Array::check_chunks`.
//!
//! All findings go through one sink that threads share. Each finding has a code. The table of codes equals the table in `docs/check.md`,
//! which a test checks. A repair collects from findings what it may repair, and asks the store for temporary files: files of a running
//! writer stay.

use crate::chunks::Chunks;
use crate::documents::{code_of, code_of_open};
use crate::hierarchy::Hierarchy;
use crate::keys::Keys;
use crate::sink::Sink;
use crate::{
    CheckOptions, Code, Convention, Event, Finding, Level, Report, conventions, documents, geo, layout, ome, unfinished,
};
use std::sync::Arc;
use zarr_array::{Registry, Store};
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, walk_stored};

/// Checks the node at `path` and all nodes below it, and calls `event` with each finding as soon as it is found.
///
/// Nothing is written. In memory are all nodes, the names in one directory, and the directories above it that are still to be listed; in a
/// remote store the keys of one array. [`CheckOptions`] say what is checked.
///
/// # Errors
/// [`ErrorKind::NotFound`] if there is no node at `path`, and no unfinished conversion to it; [`ErrorKind::Store`] if its documents cannot
/// be read; [`ErrorKind::Argument`] for an invalid share of a sample; [`ErrorKind::Cancelled`]. Faults of the data are findings, not
/// errors.
pub fn check<F: IntoFlow>(
    store: &Arc<dyn Store>,
    path: &str,
    registry: &Arc<Registry>,
    options: &CheckOptions,
    mut event: impl FnMut(Event) -> F + Send,
) -> Result<Report> {
    if !(options.sample > 0.0 && options.sample <= 1.0) {
        return Err(Error::argument(format!(
            "found a sample of {}, expected a share above 0, up to 1",
            options.sample
        )));
    }
    let mut event = |told| event(told).into_flow();
    let sink = Sink::new(&mut event);
    let mut walk = match walk_stored(&**store, path, options.dialect) {
        Ok(walk) => walk,
        Err(error) if is_finding(&error) => {
            sink.find(Finding::of(code_of(&error), &error));
            sink.go_on()?;
            return Ok(sink.into_report());
        }
        Err(error) => {
            let left = match error.kind() {
                ErrorKind::NotFound => unfinished::without_node(&**store, path),
                _ => Vec::new(),
            };
            if left.is_empty() {
                return Err(zarr_hierarchy::with_hierarchy_hint(error, &**store, path));
            }
            left.into_iter().for_each(|finding| sink.find(finding));
            sink.go_on()?;
            return Ok(sink.into_report());
        }
    };
    documents::of_walk(&walk, &sink);
    let fault = |error: Error| sink.find(Finding::of(code_of_open(&error), &error));
    let hierarchy = Hierarchy::new(store, registry, &options.arrays, &mut walk, fault);
    for (number, found) in hierarchy.nodes.iter().enumerate() {
        let warnings = hierarchy.array(number).map_or(found.warnings.as_slice(), |array| array.warnings());
        documents::of_node(found, warnings, &sink);
        sink.count(|checked| checked.nodes += 1);
    }
    sink.go_on()?;
    documents::lists(&hierarchy, &sink);
    let can_list = store.capabilities().list;
    beside(&walk, &hierarchy, can_list && options.level > Level::Documents, &sink);
    documents::copies_inside(&hierarchy, &sink);
    check_conventions(store, &hierarchy, options, &sink)?;
    if options.level == Level::Advice {
        layout::check(&hierarchy, walk.consolidated.is_some(), &sink)?;
    }
    sink.go_on()?;
    if options.level > Level::Documents {
        let mut chunks = Chunks::new(&hierarchy, options, &sink);
        if can_list {
            Keys::new(&**store, &hierarchy, &sink, chunks).check()?;
        } else {
            chunks.add_all()?;
            chunks.finish()?;
        }
    }
    sink.go_on()?;
    Ok(sink.into_report())
}

/// Checks the conventions that the options name, or else those of which the store has something.
fn check_conventions(
    store: &Arc<dyn Store>,
    hierarchy: &Hierarchy,
    options: &CheckOptions,
    sink: &Sink<'_>,
) -> Result<()> {
    for &convention in Convention::ALL.iter().filter(|convention| options.checks(**convention)) {
        let is_named = options.named.contains(&convention);
        let is_any = match convention {
            Convention::Ome => ome::check(hierarchy, is_named, sink)?,
            Convention::GeoZarr => geo::check(hierarchy, is_named, sink)?,
            Convention::Cf => conventions::check(&**store, hierarchy, sink)?,
        };
        if let Some(first) = hierarchy.nodes.first().filter(|_| is_named && !is_any) {
            let message = format!("found nothing of the convention {}", convention.name());
            sink.find(Finding::new(Code::NoConvention, message).at_path(&first.path));
        }
    }
    Ok(())
}

/// Whether an error for the first node is a finding: it says what is wrong with the node's documents.
fn is_finding(error: &Error) -> bool {
    error.is_corrupt()
        || matches!(
            error.kind(),
            ErrorKind::UnknownMember | ErrorKind::UnknownExtension | ErrorKind::UnsupportedVersion | ErrorKind::Limit
        )
}

/// Checks the consolidated metadata of the first group if it is in a separate document, unless the list of keys has that document
/// (`is_listed`).
fn beside(walk: &zarr_hierarchy::Walk, hierarchy: &Hierarchy, is_listed: bool, sink: &Sink<'_>) {
    let (Some(first), Some(copy)) = (hierarchy.nodes.first(), &walk.consolidated) else { return };
    if let Some(key) = zarr_meta::consolidated::document_key(first).filter(|_| !is_listed) {
        documents::copy(hierarchy, first, copy, &key, sink);
    }
}
