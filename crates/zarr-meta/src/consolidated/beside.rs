//! Separate document with the consolidated metadata of a group.

use super::Consolidated;
use crate::Dialect;
use crate::dialect::table::rules;
use crate::error::Result;
use std::sync::{Arc, OnceLock};

/// Separate document with the consolidated metadata of a group, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) enum Beside {
    #[default]
    Unknown,
    Missing,
    Text(Arc<CopyText>),
}

/// Bytes of the document, and the consolidated metadata in it after the first request to parse it.
#[derive(Debug)]
pub(crate) struct CopyText {
    bytes: Arc<Vec<u8>>,
    read: OnceLock<Result<Option<Consolidated>>>,
}

impl Beside {
    pub(crate) fn of(text: Option<Vec<u8>>) -> Self {
        let unread = |text| CopyText { bytes: Arc::new(text), read: OnceLock::new() };
        text.map_or(Self::Missing, |text| Self::Text(Arc::new(unread(text))))
    }

    /// Returns the consolidated metadata in the document; `None` if the document was not read, `Some(Ok(None))` if it does not exist.
    pub(crate) fn parse(&self, dialect: Dialect, key: &str) -> Option<Result<Option<Consolidated>>> {
        match self {
            Self::Unknown => None,
            Self::Missing => Some(Ok(None)),
            Self::Text(text) => {
                let read = || rules(dialect).parse_consolidated(key, &text.bytes);
                Some(text.read.get_or_init(read).clone())
            }
        }
    }
}
