//! Copies or re-encodes the chunks of one node. The source is pinned to the node that is at its path at the beginning: if another writer
//! replaces, moves or erases it meanwhile, the written chunks get no document.

use super::run::in_store;
use super::work::Work;
use super::{Action, Conversion, PlannedNode, copy, reencode, unknown_grid};
use std::sync::Arc;
use zarr_drive::run;
use zarr_hierarchy::node::{StillThere, pin};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::StoredNode;
use zarr_store::{Store, StoreKind};

impl Conversion {
    /// Writes the chunks of the node `planned` to `target`.
    pub(super) fn write_chunks(
        &self,
        planned: &PlannedNode,
        written: &StoredNode,
        target: &Arc<dyn Store>,
        work: &Work<'_>,
    ) -> Result<()> {
        let in_source = |error: Error| in_store(&self.source, error);
        let pinned = pin(&*self.source, &planned.source).map_err(in_source)?;
        let source = pinned.as_ref().unwrap_or(&self.source);
        let done = match planned.how {
            Action::CopyChunks if unknown_grid::is_of(&planned.source) => {
                unknown_grid::copy(self, planned, &**source, written, &**target, work).map_err(|error| {
                    let (store, path) = (source.to_string(), planned.source.path.to_string());
                    error.at(|location| (location.store, location.path) = (Some(store), Some(path)))
                })
            }
            Action::CopyChunks => copy::copy(self, planned, source, written, target, work),
            Action::Reencode => reencode::reencode(self, planned, source, written, target, work),
            Action::Group | Action::Keep => return Ok(()),
        };
        // If a far store fails, another request only takes time.
        if done.is_err() && source.access_profile().kind == StoreKind::Remote {
            return done;
        }
        match check_source(&**source, planned).map_err(in_source) {
            Err(error) if done.is_ok() || error.kind() == ErrorKind::NotFound => Err(error),
            _ => done,
        }
    }

    /// Checks, before the document is written, that the source still holds the node from which the chunks were written.
    pub(super) fn check_source(&self, planned: &PlannedNode) -> Result<()> {
        check_source(&*self.source, planned).map_err(|error| in_store(&self.source, error))
    }
}

fn check_source(source: &dyn Store, planned: &PlannedNode) -> Result<()> {
    StillThere::new(&planned.source)?.map_or(Ok(()), |look| run(source, look))
}
