//! Reading consolidated metadata.

use super::Consolidated;
use crate::dialect::p2020::{ENTRY, path_of};
use crate::dialect::table::rules;
use crate::documents::parse_document;
use crate::error::{Error, ErrorKind, Result};
use crate::{Dialect, NodePath, Warning};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Deviation, DeviationKind, Map, ParseOptions, Value};

impl Consolidated {
    /// The consolidated metadata in a `.zmetadata` of version 2 with this content; `key` is for error messages.
    ///
    /// `None` if its format is not 1, the only one that is defined.
    ///
    /// # Errors
    /// If it is not JSON, or has no object `metadata`.
    pub fn parse_v2(key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        let Some(metadata) = members(key, bytes)? else { return Ok(None) };
        let mut documents = Vec::new();
        let mut refused = Vec::new();
        for (key, value) in metadata.iter() {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
            if !matches!(name, ".zarray" | ".zgroup" | ".zattrs") {
                continue;
            }
            match path.is_empty() && !key.starts_with('/') || NodePath::root().join(path).is_ok() {
                true => documents.push((key.to_owned(), value.clone())),
                false => refused.push(key.to_owned()),
            }
        }
        Ok(Some(Self { documents: Map::from_unique(documents), refused }))
    }

    /// The consolidated metadata in a document of its own, at [`document_key`](super::document_key), with this content: as
    /// [`parse_v2`](Self::parse_v2), or as zarr-python 2 wrote it for the protocol drafts.
    ///
    /// `None` if its format is not 1, the only one that is defined, or if the dialect has no such document.
    ///
    /// # Errors
    /// If it is not JSON, or has no object `metadata`, or in it no entry point document where that is needed.
    pub fn parse_document(dialect: Dialect, key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        rules(dialect).parse_consolidated(key, bytes)
    }

    /// That of the protocol drafts, as zarr-python 2 wrote it.
    pub(crate) fn parse_p2020(key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        let Some(metadata) = members(key, bytes)? else { return Ok(None) };
        let Some(entry) = metadata.get(ENTRY) else {
            let pointer = format!("/metadata/{}", ENTRY);
            let error = Error::new(ErrorKind::InvalidMetadata, pointer, "nothing", "the entry point document");
            return Err(error.in_document(key));
        };
        let mut documents = vec![(ENTRY.to_owned(), entry.clone())];
        let mut refused = Vec::new();
        for (key, value) in metadata.iter() {
            match path_of(key, entry) {
                None => {}
                Some(Ok(_)) => documents.push((key.to_owned(), value.clone())),
                Some(Err(_)) => refused.push(key.to_owned()),
            }
        }
        Ok(Some(Self { documents: Map::from_unique(documents), refused }))
    }

    /// The consolidated metadata in the value of a member `consolidated_metadata` of version 3.
    ///
    /// `None` if it is of a kind other than inline, or null.
    pub(crate) fn parse_inline(key: &str, member: &At<'_>, warnings: &mut Vec<Warning>) -> Result<Option<Self>> {
        if member.value().is_null() {
            return Ok(None);
        }
        if member.member("kind")?.text()? != "inline" {
            return Ok(None);
        }
        let mut documents = Vec::new();
        let mut refused = Vec::new();
        for (path, document) in member.member("metadata")?.members()? {
            document.object()?;
            if NodePath::root().join(path).is_err() {
                let what = format!("{path:?} is not a path below the group; the entry is left out");
                warnings.push(Warning::new(key, member.pointer(), what));
                refused.push(path.to_owned());
                continue;
            }
            documents.push(([path, "/zarr.json"].concat(), without_nested(document.value())));
        }
        Ok(Some(Self { documents: Map::from_unique(documents), refused }))
    }
}

/// The documents in one of consolidated metadata, by key; `None` if its format is not 1.
fn members(key: &str, bytes: &[u8]) -> Result<Option<Map>> {
    let options = ParseOptions::ALL.trailing_comma(false);
    // User attributes may be odd, documents may not.
    let permitted = |deviation: &Deviation| {
        matches!(deviation.kind, DeviationKind::NanLiteral(_))
            || [".zattrs/", "/attributes/"].iter().any(|part| deviation.pointer.contains(part))
    };
    let (value, _) = parse_document(key, bytes, options, permitted)?;
    let in_document = |error: ValueError| Error::from(error).in_document(key);
    let document = At::root(&value);
    document.object().map_err(in_document)?;
    if value.get("zarr_consolidated_format").and_then(Value::as_u64) != Some(1) {
        return Ok(None);
    }
    let metadata = document.member("metadata").map_err(in_document)?;
    metadata.object().cloned().map_err(in_document).map(Some)
}

/// Groups inside of consolidated metadata may have some of their own that is empty though they have children
/// (zarr-python 3.1), so it says nothing.
pub(super) fn without_nested(document: &Value) -> Value {
    let mut members = document.as_object().cloned().unwrap_or_default();
    if members.contains_key("consolidated_metadata") {
        members.remove("consolidated_metadata");
    }
    Value::Object(members)
}
