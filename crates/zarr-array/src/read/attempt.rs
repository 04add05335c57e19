//! How a part of a read is tried again: without the cache, where outdated content may have made it fail; and chunks alone that others
//! replaced while they were read in parts.

use super::context::ReadContext;
use crate::core::ArrayCore;
use crate::seen::Need;
use crate::{Error, ErrorKind, Result};
use zarr_grid::ChunkIndex;
use zarr_store::AccessProfile;

/// How often chunks are read again that others keep replacing while they are read.
const MAX_TRIES: u32 = 1000;

/// How a read is done at first, and how it is done again.
#[derive(Debug)]
pub(crate) struct RetryPolicy<'c> {
    first: ReadContext<'c>,
    again: ReadContext<'c>,
}

impl<'c> RetryPolicy<'c> {
    /// For `size` bytes that are read for the user, with the cache at first. Outputs that are `zeroed` are fresh memory then.
    pub(super) fn new(core: &'c ArrayCore, profile: &AccessProfile, zeroed: bool, size: usize) -> Self {
        let first = ReadContext::with_cache(core, profile, zeroed, size);
        Self { first, again: ReadContext::again(core, profile, false) }
    }

    /// For a plan of a read.
    pub(super) fn plan(core: &'c ArrayCore, profile: &AccessProfile) -> Self {
        Self { first: ReadContext::plan(core, profile), again: ReadContext::plan(core, profile) }
    }

    /// Whether only the requests are wanted.
    pub(super) fn is_plan(&self) -> bool {
        self.first.is_plan()
    }

    /// Whether a chunk was found not to be stored.
    fn found_missing(&self) -> bool {
        [&self.first, &self.again].into_iter().any(|context| context.missing() > 0)
    }

    /// The context of the first attempt.
    pub(super) fn first(&self) -> &ReadContext<'c> {
        &self.first
    }

    /// The need of a look at the document at the end.
    pub(super) fn need(&self) -> Need {
        match self {
            _ if self.found_missing() => Need::Missing,
            _ if self.first.has_asked() || self.again.has_asked() => Need::Usual,
            _ => Need::None,
        }
    }
}

/// The attempt that is next, or under way, at one part of a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Attempt {
    #[default]
    First,
    /// The first one failed, perhaps because of the cache.
    WithoutCache,
    /// All is read but these chunks, which others replaced meanwhile. They have been read again so many times.
    Replaced(Vec<ChunkIndex>, u32),
    Done,
}

impl Attempt {
    /// How to read next; `None` if all is read.
    pub(super) fn context<'p>(&self, policy: &'p RetryPolicy<'_>) -> Option<&'p ReadContext<'p>> {
        match self {
            Self::First => Some(&policy.first),
            Self::WithoutCache | Self::Replaced(..) => Some(&policy.again),
            Self::Done => None,
        }
    }

    /// The chunks that are to be read; `None` for all.
    pub(super) fn chunks(&self) -> Option<&[ChunkIndex]> {
        if let Self::Replaced(chunks, _) = self { Some(chunks) } else { None }
    }

    /// Goes on to the next attempt after the result of one.
    ///
    /// # Errors
    /// The error of the result, unless another attempt follows.
    pub(super) fn ended(&mut self, policy: &RetryPolicy<'_>, result: Result<()>) -> Result<()> {
        let tries = if let Self::Replaced(_, tries) = self { tries.saturating_add(1) } else { 0 };
        let replaced = self.context(policy).map(ReadContext::take_replaced).unwrap_or_default();
        *self = match result {
            Ok(()) if replaced.is_empty() => Self::Done,
            Ok(()) if tries >= MAX_TRIES => {
                let message = format!("the chunk was replaced each of the {MAX_TRIES} times that it was read");
                let error = Error::new(ErrorKind::Conflict, message);
                return Err(error.at(|location| {
                    location.chunk = replaced.into_iter().next();
                    let key = location.chunk.as_ref().and_then(|chunk| policy.again.core.key(chunk).ok());
                    location.key = key.map(|key| key.to_string());
                }));
            }
            Ok(()) => Self::Replaced(replaced, tries),
            Err(error) if *self == Self::First && policy.first.is_doubtful() && may_be_of_cache(&error) => {
                Self::WithoutCache
            }
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// As [`ended`](Self::ended), where only the first of several replaced chunks was read again.
    pub(super) fn ended_in_turn(&mut self, policy: &RetryPolicy<'_>, result: Result<()>) -> Result<()> {
        let others = self.chunks().and_then(|chunks| chunks.get(1..)).unwrap_or_default().to_vec();
        self.ended(policy, result)?;
        *self = match std::mem::take(self) {
            Self::Done if !others.is_empty() => Self::Replaced(others, 0),
            Self::Replaced(again, tries) if !others.is_empty() => Self::Replaced([again, others].concat(), tries),
            ended => ended,
        };
        Ok(())
    }
}

/// Whether an error may come from what was kept. A store that fails would fail again, after its deadline.
fn may_be_of_cache(error: &Error) -> bool {
    !matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled)
}
