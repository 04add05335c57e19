//! Further attempts at a part of a read: without the cache, where outdated content may have made it fail; and chunks alone that others
//! replaced while they were read in parts.

use super::span::ReadContext;
use super::{ArrayRead, ReadPart};
use crate::drive::Drive;
use crate::{Error, ErrorKind, Result};
use std::slice;
use zarr_grid::ChunkIndex;

/// How often chunks are read again that others keep replacing while they are read.
const MAX_TRIES: u32 = 1000;

impl<D: Drive> ArrayRead<'_, D> {
    /// Whether an error may come from what was kept. A store that fails would fail again, after its deadline.
    pub(super) fn may_be_of_cache(&self, error: &Error) -> bool {
        self.context.is_doubtful() && !matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled)
    }

    /// Reads a part again after its first attempt: the chunks that were replaced meanwhile, or all of it if it failed.
    pub(super) async fn read_again(
        &self,
        part: &mut impl ReadPart,
        chunks: Option<&[ChunkIndex]>,
        replaced: Option<Vec<ChunkIndex>>,
    ) -> Result<()> {
        let context = self.context.again();
        let replaced = match replaced {
            Some(replaced) => replaced,
            None => {
                self.run(part.job(&context, chunks)?).await?;
                context.take_replaced()
            }
        };
        // One after the other: they have parts of the same output, and are few.
        for chunk in &replaced {
            self.read_replaced(part, &context, chunk).await?;
        }
        self.context.add(&context);
        Ok(())
    }

    /// Reads a chunk until it is of one state.
    async fn read_replaced(
        &self,
        part: &mut impl ReadPart,
        context: &ReadContext<'_>,
        chunk: &ChunkIndex,
    ) -> Result<()> {
        for _ in 0..MAX_TRIES {
            self.run(part.job(context, Some(slice::from_ref(chunk)))?).await?;
            if context.take_replaced().is_empty() {
                return Ok(());
            }
        }
        let message = format!("the chunk was replaced each of the {MAX_TRIES} times that it was read");
        Err(Error::new(ErrorKind::Conflict, message).at(|location| {
            location.chunk = Some(chunk.clone());
            location.key = context.core.key(chunk).ok().map(|key| key.to_string());
        }))
    }
}
