//! One chain of codecs for arrays that have the same.

use super::Pipeline;
use crate::{Codecs, ElementSpec, Error, Limits, Warnings};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_grid::Shape;
use zarr_json::NamedConfig;

/// The chain that was built last: the arrays of a hierarchy are opened one after another, and most have the same.
#[derive(Default)]
pub(crate) struct Last(Mutex<Option<Built>>);

struct Built {
    codecs: Vec<NamedConfig>,
    chunk: Shape,
    pipeline: Arc<Pipeline>,
}

impl Clone for Last {
    /// Nothing yet: the clone may become another table.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Last")
    }
}

impl Codecs {
    /// The chain that `codecs` describe in front of elements of type `element`, checked for chunks of shape `chunk`:
    /// the last one built, if all of that is the same, or a new one.
    ///
    /// # Errors
    /// The errors of [`Pipeline::build`] and [`Pipeline::check`].
    pub fn pipeline(
        &self,
        codecs: &[NamedConfig],
        element: &ElementSpec,
        chunk: &[u64],
        limits: &Limits,
        warnings: &Warnings,
    ) -> Result<Arc<Pipeline>, Error> {
        let last = || self.last.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |built: &&Built| {
            built.codecs == codecs
                && *built.chunk == *chunk
                && built.pipeline.element == *element
                && built.pipeline.limits == *limits
        };
        if let Some(built) = last().as_ref().filter(is_same) {
            return Ok(Arc::clone(&built.pipeline));
        }
        let before = warnings.len();
        let pipeline = Arc::new(Pipeline::build(codecs, element, self, limits, 0, warnings)?);
        pipeline.check(chunk)?;
        // Each array gets the warnings of its chain.
        if warnings.len() == before {
            let (codecs, chunk) = (codecs.to_vec(), Shape::from_slice(chunk));
            *last() = Some(Built { codecs, chunk, pipeline: Arc::clone(&pipeline) });
        }
        Ok(pipeline)
    }
}
