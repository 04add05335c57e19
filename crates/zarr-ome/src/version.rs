//! Versions of OME-Zarr.

use crate::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;
use zarr_json::pointer::{At, ValueError};

/// Supported version of OME-Zarr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// 0.4, in attributes of Zarr v2.
    V04,
    /// 0.5, in the attribute `ome` of Zarr v3.
    V05,
    /// 0.6, with coordinate systems.
    V06,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V04 => "0.4",
            Self::V05 => "0.5",
            Self::V06 => "0.6",
        })
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = [Self::V04, Self::V05, Self::V06].into_iter().find(|version| version.to_string() == text);
        found.ok_or_else(|| Error::argument(format!("found the version {text:?}, expected 0.4, 0.5 or 0.6")))
    }
}

/// Parses the version that a member names: 0.5 and later in the attribute `ome`, 0.4 elsewhere.
pub(crate) fn parse(stated: &At<'_>, is_in_ome: bool) -> Result<Version> {
    let text = stated.text().map_err(|error| invalid("", &error))?;
    // Drafts of a version have its number in front: 0.6rc0, 0.6.dev4.
    let is = |number: &str| {
        let rest = text.strip_prefix(number);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match (is_in_ome, is("0.4"), is("0.5"), is("0.6")) {
        (false, true, ..) => Ok(Version::V04),
        (true, _, true, _) => Ok(Version::V05),
        (true, _, _, true) => Ok(Version::V06),
        _ if !text.starts_with(|c: char| c.is_ascii_digit()) => {
            Err(invalid("", &stated.invalid("a version such as 0.5")))
        }
        _ => {
            let found = stated.value().excerpt();
            let expected = match is_in_ome {
                // Nothing says how far elements of their levels are apart, nor that of a coarser level from those of a finer one.
                false if ["0.1", "0.2", "0.3"].into_iter().any(is) => {
                    "whose levels have no scales, expected 0.4 or later; the arrays of its levels can be read by their paths"
                }
                false => "expected 0.4 in the attribute multiscales, later ones in the attribute ome",
                true => "expected 0.5 or 0.6 in the attribute ome",
            };
            let message = format!("OME-Zarr: found version {found}, {expected}");
            let pointer = stated.pointer();
            Err(Error::new(ErrorKind::UnsupportedVersion, message).at(|location| location.pointer = Some(pointer)))
        }
    }
}

/// Returns the error about a value that is no valid metadata of OME-Zarr. `version` is appended to that name; it may be empty.
pub(crate) fn invalid(version: &str, error: &ValueError) -> Error {
    let message = format!("OME-Zarr{version}: found {}, expected {}", error.found(), error.expected());
    let pointer = error.pointer().to_owned();
    Error::new(ErrorKind::InvalidMetadata, message).at(|location| location.pointer = Some(pointer))
}
