//! Zip files of OME-Zarr (`.ozx`): the order of the entries and the comment, which let readers find metadata fast.
//!
//! The format is described by RFC-9 of OME-NGFF, "Zipped OME-Zarr".

use std::path::Path;

use zarr_json::{Value, json};
use zarr_store_zip::ZipArrangement;

use super::grammar::{OZX, has_end};

/// Arrangement of a zip file: the documents of Zarr v3 first, beginning with the document of the root. The comment contains the version of
/// OME-Zarr, which the document of the root has in its attributes.
pub(super) const ARRANGEMENT: ZipArrangement = ZipArrangement { first: "zarr.json", comment };

/// Whether a path has the extension of a zip file of OME-Zarr.
pub(super) fn is_name(path: &Path) -> bool {
    has_end(path, &[OZX])
}

fn comment(root: &[u8]) -> Option<Vec<u8>> {
    let root = Value::from_json(std::str::from_utf8(root).ok()?).ok()?;
    let version = root.get("attributes")?.get("ome")?.get("version")?.as_str()?;
    let comment = json!({"ome": {"version": version, "zipFile": {"centralDirectory": {"jsonFirst": true}}}});
    Some(comment.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_tells_the_version() {
        let of = |root: &str| comment(root.as_bytes()).map(|comment| String::from_utf8(comment).unwrap());
        let expected = r#"{"ome":{"version":"0.5","zipFile":{"centralDirectory":{"jsonFirst":true}}}}"#;
        assert_eq!(of(r#"{"zarr_format": 3, "attributes": {"ome": {"version": "0.5"}}}"#).as_deref(), Some(expected));
        for other in ["", "{}", r#"{"attributes": {"ome": {"version": 5}}}"#, r#"{"attributes": []}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
