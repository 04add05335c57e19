//! The document of consolidated metadata beside that of a group.

use super::Consolidated;
use crate::Dialect;
use crate::dialect::table::rules;
use crate::error::Result;
use std::sync::{Arc, OnceLock};

/// The document of consolidated metadata beside that of a group, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) enum Beside {
    #[default]
    Unknown,
    Missing,
    Text(Arc<CopyText>),
}

/// Its text, and what it says once that was asked for.
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

    /// Its content; `None` if it was not read.
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
