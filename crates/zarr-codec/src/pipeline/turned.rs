//! Partial decoding of transposed chunks.

use crate::{Decode, Error, InnerChunkIndex, Split, Step, ViewMut};
use smallvec::SmallVec;
use std::sync::Arc;

/// Partial decode of a chunk behind transpose codecs: only the axes of the view are permuted, no byte is moved.
#[derive(Debug)]
pub(crate) struct Turned {
    order: SmallVec<[usize; 6]>,
    inner: Box<dyn Decode>,
}

impl Turned {
    /// Wraps `inner`. `order` is the combined permutation of all transpose codecs.
    pub(crate) fn new(order: SmallVec<[usize; 6]>, inner: Box<dyn Decode>) -> Self {
        Self { order, inner }
    }

    fn transpose(&self, split: Split) -> Split {
        let order = match &split.order {
            None => self.order.clone(),
            Some(inner) => inner.iter().map(|&axis| self.order.get(axis).copied().unwrap_or(axis)).collect(),
        };
        Split { order: Some(order), ..split }
    }
}

impl Decode for Turned {
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error> {
        let step = self.inner.step(got, &mut out.reborrow().permuted(&self.order))?;
        Ok(match step {
            Step::Split(split) => Step::Split(Box::new(self.transpose(*split))),
            step => step,
        })
    }

    fn skip(&mut self) -> Option<Step> {
        self.inner.skip()
    }

    fn split_by(&self, index: &Arc<InnerChunkIndex>) -> Option<Split> {
        Some(self.transpose(self.inner.split_by(index)?))
    }
}
