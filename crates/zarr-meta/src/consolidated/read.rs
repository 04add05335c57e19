//! Reading consolidated metadata.

use super::{Consolidated, CopiedDocuments};
use crate::dialect::table::rules;
use crate::documents::parse_consolidated;
#[cfg(feature = "drafts")]
use crate::drafts::p2020::{ENTRY, path_of};
#[cfg(feature = "drafts")]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::{Dialect, NodePath, Warning};
use std::sync::Arc;
use zarr_json::pointer::{At, ValueError, escaped};
use zarr_json::{Deviation, DeviationKind, MemberText, ParseOptions, Value, parse};

impl Consolidated {
    /// Parses the consolidated metadata in `bytes`, the content of a `.zmetadata` of version 2; `key` is for error messages.
    ///
    /// Returns `None` if the format of the document is not 1, the only one that is defined.
    ///
    /// # Errors
    /// Fails if the document is not JSON, or has no object `metadata`.
    pub fn parse_v2(key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        Self::parse_v2_shared(key, &Arc::new(bytes.to_vec()))
    }

    /// Parses the consolidated metadata in a `.zmetadata`, as [`parse_v2`](Self::parse_v2) does, from shared bytes.
    pub(crate) fn parse_v2_shared(key: &str, bytes: &Arc<Vec<u8>>) -> Result<Option<Self>> {
        let Some(metadata) = members(key, bytes)? else { return Ok(None) };
        let mut refused = Vec::new();
        let documents = CopiedDocuments::of_text(bytes, false, metadata, |key| {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            if !matches!(name, ".zarray" | ".zgroup" | ".zattrs") {
                return None;
            }
            if path.is_empty() && !key.starts_with('/') || NodePath::root().join(path).is_ok() {
                return Some(key);
            }
            refused.push(key);
            None
        });
        Ok(Some(Self { documents, refused }))
    }

    /// Parses the consolidated metadata in `bytes`, the content of a separate document at [`document_key`](super::document_key): of version
    /// 2, see [`parse_v2`](Self::parse_v2), or as zarr-python 2 wrote it for the protocol drafts.
    ///
    /// Returns `None` if the format of the document is not 1, the only one that is defined, or if the dialect has no such document.
    ///
    /// # Errors
    /// Fails if the document is not JSON, has no object `metadata`, or lacks the entry point document that the dialect needs.
    pub fn parse_document(dialect: Dialect, key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        rules(dialect).parse_consolidated(key, &Arc::new(bytes.to_vec()))
    }

    /// Parses consolidated metadata of the protocol drafts, as zarr-python 2 wrote it.
    #[cfg(feature = "drafts")]
    pub(crate) fn parse_p2020(key: &str, bytes: &Arc<Vec<u8>>) -> Result<Option<Self>> {
        let Some(metadata) = members(key, bytes)? else { return Ok(None) };
        let Some(entry) = metadata.iter().find(|member| member.name == ENTRY) else {
            let pointer = format!("/metadata/{}", ENTRY);
            let error = Error::new(ErrorKind::InvalidMetadata, pointer, "nothing", "the entry point document");
            return Err(error.in_document(key));
        };
        let entry = value_of(bytes, entry);
        let mut refused = Vec::new();
        let documents = CopiedDocuments::of_text(bytes, false, metadata, |key| match path_of(&key, &entry) {
            _ if key == ENTRY => Some(key),
            None => None,
            Some(Ok(_)) => Some(key),
            Some(Err(_)) => {
                refused.push(key);
                None
            }
        });
        Ok(Some(Self { documents: documents.with_first(ENTRY), refused }))
    }

    /// Parses the value of a member `consolidated_metadata` of version 3. `copies` are the entries of its `metadata`, which were read as
    /// text.
    ///
    /// Returns `None` if the value is null or its kind is not `inline`.
    pub(crate) fn parse_inline(
        key: &str,
        member: &At<'_>,
        copies: Option<(Arc<Vec<u8>>, Vec<MemberText>)>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Self>> {
        if member.value().is_null() {
            return Ok(None);
        }
        if member.member("kind")?.text()? != "inline" {
            return Ok(None);
        }
        let metadata = member.member("metadata")?;
        metadata.object()?;
        let (bytes, members) = copies.unwrap_or_default();
        let is_object = |member: &MemberText| bytes.get(member.text.start) == Some(&b'{');
        if let Some(odd) = members.iter().find(|member| !is_object(member)) {
            let pointer = format!("{}/{}", metadata.pointer(), escaped(&odd.name));
            At::new(&value_of(&bytes, odd), &pointer).object()?;
        }
        let mut refused = Vec::new();
        let documents = CopiedDocuments::of_text(&bytes, true, members, |path| {
            if NodePath::root().join(&path).is_ok() {
                return Some(path + "/zarr.json");
            }
            let what = format!("{path:?} is not a path below the group; the entry is left out");
            warnings.push(Warning::new(key, member.pointer(), what));
            refused.push(path);
            None
        });
        Ok(Some(Self { documents, refused }))
    }
}

/// Returns the parsed value of a member that was stored as text.
fn value_of(bytes: &[u8], member: &MemberText) -> Value {
    let text = bytes.get(member.text.clone()).unwrap_or_default();
    parse(text, ParseOptions::ALL).map(|parsed| parsed.value).unwrap_or_default()
}

/// Returns the entries of a separate document of consolidated metadata; `None` if the format of the document is not 1.
fn members(key: &str, bytes: &[u8]) -> Result<Option<Vec<MemberText>>> {
    let options = ParseOptions::ALL.trailing_comma(false);
    // User attributes may be odd, documents may not.
    let permitted = |deviation: &Deviation| {
        matches!(deviation.kind, DeviationKind::NanLiteral(_))
            || [".zattrs/", "/attributes/"].iter().any(|part| deviation.pointer.contains(part))
    };
    let read = parse_consolidated(key, bytes, options, &["metadata"], permitted)?;
    let value = read.value;
    let in_document = |error: ValueError| Error::from(error).in_document(key);
    let document = At::root(&value);
    document.object().map_err(in_document)?;
    if value.get("zarr_consolidated_format").and_then(Value::as_u64) != Some(1) {
        return Ok(None);
    }
    document.member("metadata").and_then(|metadata| metadata.object().map(drop)).map_err(in_document)?;
    Ok(Some(read.entries.unwrap_or_default()))
}
