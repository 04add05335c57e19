//! The dialects of Zarr. Each is a module that implements [`Rules`](rules::Rules), which map documents to the model and back; they
//! are listed in `table.rs`.

pub(crate) mod codecs;
mod d2022;
pub(crate) mod detect;
pub(crate) mod draft;
pub(crate) mod fill;
pub(crate) mod layout;
pub(crate) mod numcodecs;
pub(crate) mod p2019;
pub(crate) mod p2020;
pub(crate) mod packed;
pub(crate) mod provisional;
pub(crate) mod rules;
pub(crate) mod table;
pub(crate) mod typestr;
pub(crate) mod v0;
pub(crate) mod v1;
mod v2;
mod v3;

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// In which form a node is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What zarr-python 0.3 and 0.4 wrote (2016): one array, key `__zmeta__`.
    V0,
    /// Version 1 (zarr-python 1, 2016): one array, key `meta`.
    V1,
    /// Version 2: keys `.zarray`, `.zgroup`, `.zattrs`.
    V2,
    /// The first version 3 protocol draft (April 2019): keys `meta/**/array.json`.
    V3Protocol2019,
    /// The protocol drafts in use from 2020 to 2024: `zarr.json` with a URI `.../protocol/core/3.0`.
    V3Protocol2020,
    /// The version 3 core draft of 2022: `zarr.json` with a URI `.../spec/core/3.0`.
    V3Draft2022,
    /// Version 3 while it settled, February to December 2023. The same reader as for [`V3`](Self::V3).
    V3Provisional2023,
    /// Version 3.0 and 3.1: key `zarr.json`.
    V3,
}

impl Dialect {
    /// All of them, oldest first.
    pub const ALL: [Self; 8] = [
        Self::V0,
        Self::V1,
        Self::V2,
        Self::V3Protocol2019,
        Self::V3Protocol2020,
        Self::V3Draft2022,
        Self::V3Provisional2023,
        Self::V3,
    ];

    /// The newest.
    pub const NEWEST: Self = Self::V3;

    /// Those whose documents lie at the path of their node, by different names: newest first.
    pub const AT_PATHS: [Self; 2] = [Self::V3, Self::V2];

    /// The one of [`AT_PATHS`](Self::AT_PATHS) that may lie beside a hierarchy whose dialect the root's `zarr.json` names.
    pub const BESIDE_ZARR_JSON: Self = Self::V2;

    /// The short name: `v2`, `v3-2023`...
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0 => "v0",
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3Protocol2019 => "p2019",
            Self::V3Protocol2020 => "p2020",
            Self::V3Draft2022 => "d2022",
            Self::V3Provisional2023 => "v3-2023",
            Self::V3 => "v3",
        }
    }

    /// Whether documents are those of version 3, in its final form or that of 2023: `zarr.json` at the path of each node.
    pub const fn is_v3(self) -> bool {
        matches!(self, Self::V3 | Self::V3Provisional2023)
    }

    /// Whether it is version 2.
    pub const fn is_v2(self) -> bool {
        matches!(self, Self::V2)
    }

    /// Whether the documents of a node lie below its path, as they do in versions 2 and 3, so that both may be there for one node.
    pub const fn has_documents_at_paths(self) -> bool {
        self.is_v2() || self.is_v3()
    }

    /// Whether it is older than the drafts of version 3: chunks have the keys of version 2, and the fill value marks missing data to
    /// xarray.
    pub fn precedes_v3(self) -> bool {
        self <= Self::V2
    }

    /// The dialect in which data of this one is written today: version 2 for itself, version 3 for all others.
    pub const fn to_write(self) -> Self {
        if self.is_v2() { Self::V2 } else { Self::V3 }
    }

    /// Whether fill values are spelled as version 3 says, and not in the ways of older writers.
    pub const fn has_strict_fill_values(self) -> bool {
        matches!(self, Self::V3)
    }

    /// The dialects whose hierarchies may lie beside one that has an entry point document.
    pub fn beside_entry_point() -> impl Iterator<Item = Self> {
        [Self::V2, Self::V1, Self::V0, Self::V3Protocol2019].into_iter()
    }

    /// Whether attributes of new documents may hold numbers that JSON does not have, as Python writes them: `NaN`, `Infinity` and
    /// `-Infinity`. In the others they stay where they are.
    pub fn allows_nan_literals(self) -> bool {
        matches!(self, Self::V0 | Self::V1 | Self::V2 | Self::V3Protocol2020)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == text).ok_or_else(|| {
            let expected = format!("one of {}", Self::ALL.map(Self::name).join(", "));
            Error::new(ErrorKind::UnsupportedVersion, "", format!("dialect {text:?}"), expected)
        })
    }
}

/// The key of the document that says what dialect a whole hierarchy is of and how the keys in it are formed; `None` for dialects
/// whose nodes are detected by their own documents.
///
/// Before a node is created, the document there has to be read and given to [`documents`](crate::documents) as one of the
/// previous ones, so that the node fits in.
pub fn entry_point_key(dialect: Dialect) -> Option<&'static str> {
    matches!(dialect, Dialect::V3Protocol2020 | Dialect::V3Draft2022).then_some("zarr.json")
}
