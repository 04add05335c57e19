//! Further attempts at a part of a read: without the cache if outdated content may have made it fail, and for single chunks that others
//! replaced while they were read in parts.

use super::{ArrayRead, MAX_INDIVIDUALLY, ReadPart};
use crate::drive::Drive;
use crate::{Error, ErrorKind, Result};
use zarr_grid::ChunkIndex;

/// Maximum number of times that chunks are read again which others keep replacing.
const MAX_TRIES: u32 = 1000;

impl<D: Drive> ArrayRead<'_, D> {
    /// Whether an error may come from cached or retained content. Not an error of the store, which would fail again after its deadline.
    pub(super) fn may_be_of_cache(&self, error: &Error) -> bool {
        self.context.is_doubtful() && !matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled)
    }

    /// Reads a part again after its first attempt: the chunks `replaced`, which others replaced meanwhile, or everything if `None`, after
    /// an error.
    pub(super) async fn read_again(
        &self,
        part: &mut impl ReadPart,
        chunks: Option<&[ChunkIndex]>,
        replaced: Option<Vec<ChunkIndex>>,
    ) -> Result<()> {
        let context = self.context.again();
        let mut replaced = match replaced {
            Some(replaced) => replaced,
            None => {
                self.run(part.job(&context, chunks)?).await?;
                context.take_replaced()
            }
        };
        for _ in 0..MAX_TRIES {
            if replaced.is_empty() {
                self.context.add(&context);
                return Ok(());
            }
            replaced.sort_unstable();
            replaced.dedup();
            for chunks in replaced.chunks(MAX_INDIVIDUALLY) {
                self.run(part.job(&context, Some(chunks))?).await?;
            }
            replaced = context.take_replaced();
        }
        let message = format!("the chunk was replaced each of the {MAX_TRIES} times that it was read");
        Err(Error::new(ErrorKind::Conflict, message).at(|location| {
            location.chunk = replaced.first().cloned();
            location.key = replaced.first().and_then(|chunk| context.core.key(chunk).ok()).map(|key| key.to_string());
        }))
    }
}
