//! Entry point document: version of the hierarchy, and form of its document keys.

use super::{ENTRY, Kind};
use crate::dialect::{Dialect, detect};
use crate::drafts::v3::members;
use crate::error::{Error, ErrorKind, Result};
use crate::{Documents, NodePath, Warning};
use zarr_json::pointer::At;
use zarr_json::{Deviation, DeviationKind, Map, ParseOptions, json};

/// Content of the entry point document.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Suffix of the keys of documents, `.json` by default.
    suffix: String,
    /// Whether the version is 3.0, so that unknown members are errors. A later version may have more members.
    pub(super) is_first: bool,
    pub(super) warnings: Vec<Warning>,
}

/// Members of the entry point document.
const MEMBERS: [&str; 3] = ["zarr_format", "metadata_encoding", "extensions"];

impl Entry {
    /// Returns the entry point document among `documents`; `None` if there is none.
    pub(super) fn find(documents: &Documents) -> Result<Option<Self>> {
        // As an example of the text itself has one.
        let permitted = |deviation: &Deviation| deviation.kind == DeviationKind::TrailingComma;
        let Some((value, deviations)) = documents.json(ENTRY, ParseOptions::ALL, permitted)? else { return Ok(None) };
        let mut entry = Self::parse(&At::root(&value)).map_err(|error| error.in_document(ENTRY))?;
        entry.warnings = deviations.into_iter().map(|deviation| Warning::of(ENTRY, deviation)).collect();
        if value.get("extensions").is_none() {
            entry.warnings.push(Warning::new(ENTRY, "/extensions", "missing, though the specification requires it"));
        }
        Ok(Some(entry))
    }

    /// Returns the entry point document among `documents`, or a new one if there is none that can be read.
    pub(super) fn of(documents: &Documents) -> Self {
        let new = || Self { suffix: ".json".to_owned(), is_first: true, warnings: Vec::new() };
        Self::find(documents).ok().flatten().unwrap_or_else(new)
    }

    fn parse(at: &At<'_>) -> Result<Self> {
        let format = at.member("zarr_format")?;
        if detect::of_zarr_json(at.value()) != Some(Dialect::V3Draft2022) {
            let expected = "https://purl.org/zarr/spec/core/3.0";
            return Err(Error::about(&format, ErrorKind::UnsupportedVersion, expected));
        }
        let is_first = format.value().as_str().is_some_and(|uri| uri.ends_with("/3.0"));
        let encoding = at.member("metadata_encoding")?;
        encoding.object()?;
        let unknown = |at: &At<'_>| Error::about(at, ErrorKind::UnknownExtension, "the encoding {\"type\": \"json\"}");
        if let Some(uri) = encoding.get("extension") {
            return Err(unknown(&uri));
        }
        let kind = encoding.member("type")?;
        if kind.text()? != "json" {
            return Err(unknown(&kind));
        }
        let suffix = match encoding.get("metadata_key_suffix") {
            None => ".json",
            Some(suffix) => {
                let text = suffix.text()?;
                if text.contains('/') || text.contains('\0') {
                    return Err(suffix.invalid("the end of a key, without \"/\"").into());
                }
                text
            }
        };
        if let Some(list) = at.get("extensions") {
            members::check_extensions(&list)?;
            if is_first {
                no_others_in_extensions(&list)?;
            }
        }
        if is_first {
            no_others(at, &MEMBERS)?;
            no_others(&encoding, &["type", "metadata_key_suffix"])?;
        }
        Ok(Self { suffix: suffix.to_owned(), is_first, warnings: Vec::new() })
    }

    /// Returns the entry point document for a new hierarchy.
    pub(super) fn document() -> Map {
        let mut map = Map::new();
        map.insert("zarr_format", "https://purl.org/zarr/spec/core/3.0");
        map.insert("metadata_encoding", json!({"type": "json", "metadata_key_suffix": ".json"}));
        map.insert("extensions", json!([]));
        map
    }

    /// Returns the key of the document of a node.
    pub(super) fn key(&self, path: &NodePath, kind: Kind) -> String {
        let Self { suffix, .. } = self;
        let kind = kind.word();
        if path.is_root() {
            format!("meta/{kind}{suffix}")
        } else {
            format!("meta/{}.{kind}{suffix}", path.as_relative())
        }
    }

    /// Returns the name and kind of the node whose document key ends in `name`; `None` if `name` is not that of a document.
    pub(super) fn stem<'n>(&self, name: &'n str) -> Option<(&'n str, Kind)> {
        let name = name.strip_suffix(self.suffix.as_str())?;
        let of = |kind: Kind| Some((name.strip_suffix(kind.word())?.strip_suffix('.')?, kind));
        of(Kind::Array).or_else(|| of(Kind::Group)).filter(|(stem, _)| !stem.is_empty())
    }

    /// Returns an error for members of extensions that the draft does not define, unless the version is later than 3.0.
    pub(super) fn no_others_in_extensions(&self, list: &At<'_>) -> Result<()> {
        if self.is_first { no_others_in_extensions(list) } else { Ok(()) }
    }

    /// Returns an error for members that the draft does not define, unless the version is later than 3.0.
    pub(super) fn no_others(&self, at: &At<'_>, known: &[&str]) -> Result<()> {
        if self.is_first { no_others(at, known) } else { Ok(()) }
    }
}

fn no_others_in_extensions(list: &At<'_>) -> Result<()> {
    list.items()?.iter().try_for_each(|item| no_others(item, &["extension", "must_understand", "configuration"]))
}

fn no_others(at: &At<'_>, known: &[&str]) -> Result<(), Error> {
    match members::others(at, known)?.first() {
        None => Ok(()),
        Some((name, member)) => {
            let found = format!("member {name:?}");
            let expected = format!("only {}", known.join(", "));
            Err(Error::new(ErrorKind::UnknownMember, member.pointer(), found, expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::Value;

    fn read(changes: &[(&str, Value)]) -> Result<Entry> {
        let mut map = Entry::document();
        changes.iter().for_each(|(name, value)| drop(map.insert(*name, value.clone())));
        let documents = [(ENTRY.to_owned(), map.to_string().into_bytes())].into_iter().collect();
        Entry::find(&documents).map(Option::unwrap)
    }

    // clause: d2022-175, d2022-176, d2022-178, d2022-179, d2022-180
    #[test]
    fn keys_of_the_text() {
        let entry = read(&[]).unwrap();
        let key = |path: &str, kind| entry.key(&NodePath::parse(path).unwrap(), kind);
        assert_eq!(key("/", Kind::Array), "meta/array.json");
        assert_eq!(key("/", Kind::Group), "meta/group.json");
        assert_eq!(key("/foo", Kind::Group), "meta/foo.group.json");
        assert_eq!(key("/foo", Kind::Array), "meta/foo.array.json");
        assert_eq!(key("/foo/bar", Kind::Group), "meta/foo/bar.group.json");
        assert_eq!(key("/foo/baz", Kind::Array), "meta/foo/baz.array.json");
        for (name, stem) in [
            ("foo.array.json", Some(("foo", Kind::Array))),
            ("a.array.array.json", Some(("a.array", Kind::Array))),
            ("a.array.group.json", Some(("a.array", Kind::Group))),
            ("array.json", None),
            (".array.json", None),
            ("foo.json", None),
            ("fooarray.json", None),
        ] {
            assert_eq!(entry.stem(name), stem, "{name}");
        }
    }

    // clause: d2022-99
    #[test]
    fn another_suffix_is_honoured() {
        for (suffix, key) in [(".v3", "meta/a.array.v3"), ("", "meta/a.array")] {
            let entry = read(&[("metadata_encoding", json!({"type": "json", "metadata_key_suffix": suffix}))]).unwrap();
            assert_eq!(entry.key(&NodePath::parse("a").unwrap(), Kind::Array), key);
            assert_eq!(entry.stem(key.strip_prefix("meta/").unwrap()), Some(("a", Kind::Array)));
        }
    }

    // clause: d2022-1, d2022-93, d2022-94, d2022-95
    #[test]
    fn versions() {
        let format = |minor: &str| json!(format!("https://purl.org/zarr/spec/core/3.{minor}"));
        assert!(read(&[("zarr_format", format("0"))]).unwrap().is_first);
        for minor in ["1", "10"] {
            // Of a later version there may be members that are not known.
            let read = read(&[("zarr_format", format(minor)), ("new", json!(1))]);
            assert!(!read.unwrap().is_first);
        }
        for format in [json!("https://purl.org/zarr/spec/core/4.0"), json!("https://example.org/core/3.0"), json!(3)] {
            assert_eq!(read(&[("zarr_format", format)]).unwrap_err().kind(), ErrorKind::UnsupportedVersion);
        }
    }

    // clause: d2022-96, d2022-98, d2022-102, d2022-104, d2022-105, d2022-143, d2022-152, d2022-208
    #[test]
    fn invalid_entry_point_documents_are_refused() {
        for (name, value, kind, pointer) in [
            ("new", json!(1), ErrorKind::UnknownMember, "/new"),
            ("metadata_encoding", json!({"type": "cbor"}), ErrorKind::UnknownExtension, "/metadata_encoding/type"),
            (
                "metadata_encoding",
                json!({"extension": "http://example.org/cbor", "type": "cbor", "metadata_key_suffix": ".cbor"}),
                ErrorKind::UnknownExtension,
                "/metadata_encoding/extension",
            ),
            ("metadata_encoding", json!("json"), ErrorKind::InvalidMetadata, "/metadata_encoding"),
            (
                "metadata_encoding",
                json!({"type": "json", "metadata_key_suffix": "/x"}),
                ErrorKind::InvalidMetadata,
                "/metadata_encoding/metadata_key_suffix",
            ),
            (
                "extensions",
                json!([{"extension": "http://x", "must_understand": true}]),
                ErrorKind::UnknownExtension,
                "/extensions/0/extension",
            ),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert_eq!((error.kind(), error.pointer(), error.key()), (kind, pointer, Some(ENTRY)));
        }
        let ignorable = json!([{"extension": "http://x", "must_understand": false, "configuration": {"foo": "bar"}}]);
        assert!(read(&[("extensions", ignorable)]).is_ok());
    }
}
