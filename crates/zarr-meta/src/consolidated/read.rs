//! Reading consolidated metadata.

use super::Consolidated;
use crate::documents::parse_document;
use crate::error::{Error, Result};
use crate::json::{Leniency, Map, Value};
use crate::pointer::At;
use crate::{NodePath, Warning};

impl Consolidated {
    /// The consolidated metadata in a `.zmetadata` of version 2 with this content; `key` is for error messages.
    ///
    /// `None` if its format is not 1, the only one that is defined.
    ///
    /// # Errors
    /// If it is not JSON, or has no object `metadata`.
    pub fn parse_v2(key: &str, bytes: &[u8]) -> Result<Option<Self>> {
        let leniency = Leniency { bare_nan: true, duplicate_names: true, ..Leniency::default() };
        // User attributes may be odd, documents may not.
        let permitted =
            |oddity: &crate::json::Oddity| oddity.what.contains("token") || oddity.pointer.contains(".zattrs/");
        let (value, _) = parse_document(key, bytes, leniency, permitted)?;
        let in_document = |error: Error| error.in_document(key);
        let document = At::root(&value);
        document.object().map_err(in_document)?;
        if value.get("zarr_consolidated_format").and_then(Value::as_u64) != Some(1) {
            return Ok(None);
        }
        let metadata = document.member("metadata").map_err(in_document)?;
        let mut documents = Vec::new();
        let mut refused = Vec::new();
        for (key, value) in metadata.object().map_err(in_document)?.iter() {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
            if !matches!(name, ".zarray" | ".zgroup" | ".zattrs") {
                continue;
            }
            match path.is_empty() && !key.starts_with('/') || NodePath::root().join(path).is_ok() {
                true => documents.push((key.to_owned(), value.clone())),
                false => refused.push(key.to_owned()),
            }
        }
        Ok(Some(Self { documents: documents.into_iter().collect(), refused }))
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
                let what = format!("{path:?} is no path below the group; the entry is left out");
                warnings.push(Warning::new(key, member.pointer(), what));
                refused.push(path.to_owned());
                continue;
            }
            documents.push((format!("{path}/zarr.json"), without_nested(document.value())));
        }
        Ok(Some(Self { documents: documents.into_iter().collect(), refused }))
    }
}

/// Groups inside of consolidated metadata may have some of their own that is empty though they have children
/// (zarr-python 3.1), so it says nothing.
pub(super) fn without_nested(document: &Value) -> Value {
    let members = document.as_object().into_iter().flat_map(Map::iter);
    let kept = members.filter(|(name, _)| *name != "consolidated_metadata");
    Value::Object(kept.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}
