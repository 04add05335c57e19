//! Rules for the dialects that need the feature `drafts`, in builds without it: reading and writing their documents is an error.

use super::Dialect;
use super::layout;
use super::rules::{Parsed, Rules};
use crate::{Children, Documents, Error, Node, NodePath, Result};
use zarr_json::{Map, NamedConfig};

macro_rules! absent {
    ($($dialect:ident)*) => {$(
        /// Rules of a dialect that this build lacks.
        pub(super) struct $dialect;

        impl Rules for $dialect {
            fn dialects(&self) -> &'static [Dialect] {
                &[Dialect::$dialect]
            }

            fn is_self_contained(&self) -> bool {
                false
            }

            fn document_keys(&self, _: &NodePath) -> Vec<String> {
                Vec::new()
            }

            fn parse(&self, _: &NodePath, _: &Documents) -> Result<Option<Parsed>> {
                Dialect::$dialect.check_supported().map(|()| None)
            }

            fn write(&self, _: Dialect, _: &NodePath, _: &Node, _: &Documents) -> Result<Vec<(String, Map)>> {
                Dialect::$dialect.check_supported().map(|()| Vec::new())
            }

            fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
                layout::keys("default", separator.unwrap_or("/"))
            }

            fn children(&self, _: &NodePath, _: &[&str], _: &[&str], _: &Documents) -> Children {
                Children::default()
            }

            fn is_node_document(&self, _: &str, _: &Documents) -> bool {
                false
            }

            fn check_name(&self, _: &str, _: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
                Dialect::$dialect.check_supported().map(|()| None)
            }
        }
    )*};
}
absent!(V0 V1 V3Protocol2019 V3Protocol2020 V3Draft2022);

#[cfg(test)]
mod tests {
    use crate::{Dialect, Documents, Error, ErrorKind, Node, NodePath, Probe, ProbeStep, StoredNode};
    use crate::{detected_dialects, documents, for_dialect};

    const ABSENT: [Dialect; 5] =
        [Dialect::V0, Dialect::V1, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];

    /// The node at a path of a store with these documents, which can be listed.
    fn probe(stored: &[(&str, &str)], path: &str, forced: Option<Dialect>) -> Result<Option<StoredNode>, Error> {
        let mut probe = Probe::new(NodePath::parse(path).unwrap(), forced).can_list(true);
        let mut got = Vec::new();
        loop {
            got = match probe.take(got)? {
                ProbeStep::Found(found) => return Ok(Some(*found)),
                ProbeStep::NotFound { .. } => return Ok(None),
                ProbeStep::Need(keys) => {
                    let value = |key: &str| {
                        stored.iter().find(|(known, _)| *known == key).map(|(_, text)| text.as_bytes().to_vec())
                    };
                    keys.into_iter().map(|key| (key.clone(), value(&key))).collect()
                }
                ProbeStep::List { prefix } => {
                    let below = stored.iter().filter_map(|(key, _)| key.strip_prefix(prefix.as_str()));
                    let mut keys: Vec<_> = below
                        .map(|rest| prefix.clone() + rest.split_inclusive('/').next().unwrap_or_default())
                        .collect();
                    keys.dedup();
                    keys.into_iter().map(|key| (key, None)).collect()
                }
            };
        }
    }

    fn assert_names_the_feature(error: &Error, dialect: Dialect) {
        assert!(error.kind() == ErrorKind::UnsupportedVersion && error.is_absent_dialect());
        let text = error.to_string();
        assert!(text.contains("enable feature `drafts`") && text.contains(dialect.name()), "{text}");
    }

    #[test]
    fn stores_are_recognised_and_refused() {
        for (key, text, dialect) in [
            ("__zmeta__", r#"{"shape": [2]}"#, Dialect::V0),
            ("meta", r#"{"zarr_format": 1}"#, Dialect::V1),
            ("meta/group.json", "{}", Dialect::V3Protocol2019),
            ("meta/a.g/b.a/array.json", "{}", Dialect::V3Protocol2019),
            (
                "zarr.json",
                r#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"}"#,
                Dialect::V3Protocol2020,
            ),
            ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0"}"#, Dialect::V3Draft2022),
        ] {
            let stored = [(key, text)];
            let error = probe(&stored, "/", None).unwrap_err();
            assert_names_the_feature(&error, dialect);
            assert_eq!(error.key(), Some(key));
            // Keys of the root alone say that a node below is of the dialect; one array has none below.
            if key != "__zmeta__" && key != "meta" && !key.ends_with("/array.json") {
                assert_names_the_feature(&probe(&stored, "/a", None).unwrap_err(), dialect);
            }
            let documents: Documents = [(key.to_owned(), text.as_bytes().to_vec())].into_iter().collect();
            for error in detected_dialects(&documents) {
                assert_names_the_feature(&error.unwrap_err(), dialect);
            }
        }
    }

    #[test]
    fn dialects_that_are_asked_for_are_refused() {
        let path = NodePath::root();
        let group = Node::Group(crate::GroupMetadata::default());
        for dialect in Dialect::ALL {
            assert_eq!(dialect.is_supported(), !ABSENT.contains(&dialect), "{dialect}");
        }
        for dialect in ABSENT {
            assert_names_the_feature(&probe(&[], "/", Some(dialect)).unwrap_err(), dialect);
            assert_names_the_feature(&documents(dialect, &path, &group, None).unwrap_err(), dialect);
            assert_names_the_feature(&for_dialect(&group, dialect).unwrap_err(), dialect);
            assert_names_the_feature(&dialect.check_path(&NodePath::parse("/a").unwrap()).unwrap_err(), dialect);
        }
    }

    #[test]
    fn the_others_are_read() {
        for (key, text, dialect) in [
            (".zgroup", r#"{"zarr_format": 2}"#, Dialect::V2),
            ("zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#, Dialect::V3),
            ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/v3#group"}"#, Dialect::V3Provisional2023),
        ] {
            assert_eq!(probe(&[(key, text)], "/", None).unwrap().map(|found| found.dialect), Some(dialect));
        }
        assert!(probe(&[("meta/data.txt", ""), ("a/b", "")], "/", None).unwrap().is_none());
    }
}
