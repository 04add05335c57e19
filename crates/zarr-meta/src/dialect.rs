//! Dialects of Zarr. Each dialect is a module that implements [`Rules`](rules::Rules), which map documents to the model and back. Versions
//! 2 and 3 are in this folder, together with the code that all dialects share; the other dialects are in `drafts` and need the feature
//! `drafts`.
//!
//! # A new dialect
//! 1. A module in `drafts/`, or in `dialect/` if every build is to have it, that implements `Rules`. Eight methods have no default. The
//!    others state facts that code outside of the module asks for: whether the dialect precedes version 3, where consolidated metadata
//!    lies, which members have other names in its documents, which further members it may have, whether it has separators, shards,
//!    literals of NaN. `dialect/v2.rs` shows most of them.
//! 2. Its row in the table below, where its age belongs: documentation, variant, name and rules. After the table are the dialects of
//!    every build, the newest one, the one that may lie beside a `zarr.json`, and the two in which data is written today. `drafts.rs`
//!    exports the rules, `dialect/table.rs` imports them, and `dialect/absent.rs` has the name for builds without the feature.
//! 3. If its documents do not lie at the path of each node (`is_self_contained` is false): `dialect/detect.rs`, which knows it by a
//!    document at the root, also in builds that refuse it. The key belongs in `DETECTION_KEYS` and in `probed_keys` of `probe.rs`, the
//!    content in `shown`, or in `of_zarr_json` if the key is `zarr.json`. A dialect whose documents lie at the path is asked for at
//!    every path: `missing.rs` and `requests.rs` in `tests/tests/all` name the keys that were tried, and count requests.
//! 4. A fixture: an archive in `tests/fixtures`, its name in `tests/src/fixtures.rs` and, with the names of its documents, in
//!    `tests/src/fuzz/documents.rs`, and a test in `tests/tests/all/conformance.rs`. `docs/dialects.md` has a section for each dialect,
//!    and columns in its tables; the help of `create`, `convert` and `migrate` lists the names, and so does `docs/formats.md`.
//!
//! The drafts are a folder behind a feature instead of a crate: the facts of a dialect are methods of `Dialect`, which must be in the crate
//! that defines the type and the table of rules, and all dialects share the translation of codecs, data types and fill values.

#[cfg(not(feature = "drafts"))]
mod absent;
pub(crate) mod attributes;
pub(crate) mod codecs;
pub(crate) mod detect;
pub(crate) mod fill;
pub(crate) mod layout;
pub(crate) mod numcodecs;
pub(crate) mod packed;
pub(crate) mod rules;
pub(crate) mod stored_members;
pub(crate) mod table;
pub(crate) mod typestr;
pub(crate) mod uri;
mod v2;
mod v3;

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// Runs the macro `$with` on the table of dialects, oldest first: documentation, variant, name and rules of each. The module of the rules
/// is given in `table.rs`.
macro_rules! dialects {
    ($with:ident) => {
        $with! {
            /// The form that zarr-python 0.3 and 0.4 wrote (2016): one array, key `__zmeta__`.
            V0 "v0" V0,
            /// Version 1 (zarr-python 1, 2016): one array, key `meta`.
            V1 "v1" V1,
            /// Version 2: keys `.zarray`, `.zgroup`, `.zattrs`.
            V2 "v2" V2,
            /// The first version 3 protocol draft (April 2019): keys `meta/**/array.json`.
            V3Protocol2019 "p2019" V3Protocol2019,
            /// The protocol drafts in use from 2020 to 2024: `zarr.json` with a URI `.../protocol/core/3.0`.
            V3Protocol2020 "p2020" V3Protocol2020,
            /// The version 3 core draft of 2022: `zarr.json` with a URI `.../spec/core/3.0`.
            V3Draft2022 "d2022" V3Draft2022,
            /// Version 3 before it settled, February to December 2023. It has the same reader as [`V3`](Self::V3).
            V3Provisional2023 "v3-2023" V3,
            /// Version 3.0 and 3.1: key `zarr.json`.
            V3 "v3" V3,
        }
    };
}
pub(crate) use dialects;

macro_rules! enumeration {
    ($($(#[$doc:meta])* $variant:ident $name:literal $rules:ident,)*) => {
        /// Dialect of Zarr: the version or draft of the format in which a node is stored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Dialect {
            $($(#[$doc])* $variant,)*
        }

        impl Dialect {
            /// All dialects of this build, oldest first.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the short name of the dialect: `v2`, `v3-2023`..
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
dialects!(enumeration);

impl Dialect {
    /// The newest dialect: version 3.
    pub const NEWEST: Self = Self::V3;

    /// The dialect whose documents lie at the path of each node and whose hierarchy may share a store with a hierarchy that has an entry
    /// point document (`zarr.json`).
    pub const BESIDE_ZARR_JSON: Self = Self::V2;

    /// Returns whether this build reads and writes the dialect: with the feature `drafts` every dialect, else version 2, version 3 and its
    /// form of 2023.
    ///
    /// Stores of an unsupported dialect are refused if a document at the root shows the dialect. The other methods know nothing of
    /// unsupported dialects.
    pub const fn is_supported(self) -> bool {
        cfg!(feature = "drafts") || matches!(self, Self::V2 | Self::V3Provisional2023 | Self::V3)
    }

    /// Returns an error if this build does not support the dialect.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::UnsupportedVersion`] naming the feature to enable.
    pub(crate) fn check_supported(self) -> Result<()> {
        match self.is_supported() {
            true => Ok(()),
            false => {
                let found = format!("dialect {self}, which this build lacks: enable feature `drafts`");
                let expected = "dialect v2 or v3";
                Err(Error::new(ErrorKind::UnsupportedVersion, "", found, expected).of_absent_dialect())
            }
        }
    }

    /// Returns whether the dialect is version 2.
    pub const fn is_v2(self) -> bool {
        matches!(self, Self::V2)
    }

    /// Returns the dialect in which new data should be written in place of this dialect: version 2 for version 2, version 3 for all others.
    pub const fn to_write(self) -> Self {
        if self.is_v2() { Self::V2 } else { Self::V3 }
    }

    /// Returns whether fill values are spelled strictly as version 3 says, without the variants of older writers.
    pub const fn has_strict_fill_values(self) -> bool {
        matches!(self, Self::V3)
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
