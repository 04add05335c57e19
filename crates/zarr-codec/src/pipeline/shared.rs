//! Sharing of one pipeline among arrays with equal codecs, elements and chunks.

use super::Pipeline;
use crate::{Codecs, ElementSpec, Error, Limits, Warnings};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use zarr_grid::Shape;
use zarr_json::NamedConfig;

/// Pipeline that was built last. Most arrays of a hierarchy have equal codecs, and are opened one after another.
#[derive(Default)]
pub(crate) struct Last(Mutex<Option<Built>>);

struct Built {
    codecs: Vec<NamedConfig>,
    chunk: Shape,
    pipeline: Arc<Pipeline>,
}

impl Clone for Last {
    /// Returns an empty value: codecs may be added to the cloned table.
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
    /// Returns the pipeline that `codecs` describe for elements of type `element`, checked for chunks of shape `chunk`. The pipeline that
    /// was built last is shared if all arguments are equal.
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
