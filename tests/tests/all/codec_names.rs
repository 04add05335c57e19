//! The names of codecs: the entries of the codecs, with which the translation of documents and the documentation agree.

use std::collections::BTreeSet;
use zarr_codec::{CodecEntry, Kind};
use zarr_meta::codec_facts::{CODECS, CodecFacts, NUMCODECS, codec_named};

/// Codecs that documents name and no build has.
const LACKING: [&str; 3] = ["numcodecs.aec", "numcodecs.bitshuffle", "numcodecs.szip"];

fn entries() -> Vec<CodecEntry> {
    let registry = zarr::registry::default();
    registry.codecs.iter().copied().chain([zarr::registry::PICKLE]).collect()
}

/// The row of a codec in `zarr_meta::codec_facts`, as far as its entry says it.
fn row(entry: &CodecEntry) -> String {
    let CodecEntry { id, name, aliases, only_read, .. } = entry;
    let kind = entry.kind();
    format!(
        "CodecFacts {{ id: {id:?}, v3: {name:?}, kept: &{aliases:?}, read: &{only_read:?}, kind: Kind::{kind:?}, .. }}"
    )
}

/// Whether documents can be translated without a row for the codec.
fn follows_the_rule(entry: &CodecEntry) -> bool {
    let has_rule = |id| entry.name == format!("{NUMCODECS}{id}") && entry.kind() == Kind::BytesToBytes;
    entry.aliases.is_empty() && entry.only_read.is_empty() && entry.id.is_none_or(has_rule)
}

#[test]
fn documents_are_translated_by_the_names_of_the_entries() {
    for entry in entries() {
        let found = codec_named(entry.name).map(|known| {
            let CodecFacts { id, v3, kept, read, kind, .. } = known;
            format!(
                "CodecFacts {{ id: {id:?}, v3: {v3:?}, kept: &{kept:?}, read: &{read:?}, kind: Kind::{kind:?}, .. }}"
            )
        });
        match found {
            Some(found) => assert_eq!(found, row(&entry), "crates/zarr-meta/src/codec_facts.rs"),
            None => assert!(follows_the_rule(&entry), "add to crates/zarr-meta/src/codec_facts.rs: {}", row(&entry)),
        }
    }
    let written: BTreeSet<_> = entries().iter().map(|entry| entry.name).chain(LACKING).collect();
    for known in CODECS {
        assert!(written.contains(known.v3), "crates/zarr-meta/src/codec_facts.rs: no codec is called {:?}", known.v3);
    }
}

#[test]
fn a_name_is_of_one_codec() {
    let mut short = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for entry in entries() {
        assert!(short.insert(entry.short_name()), "{}", entry.short_name());
        assert!(entry.names().all(|name| names.insert(name)), "{:?}", entry.names().collect::<Vec<_>>());
        assert!(entry.id.is_none_or(|id| ids.insert(id)), "{:?}", entry.id);
    }
}

/// The line of a codec in the documentation.
fn line(entry: &CodecEntry) -> String {
    let arguments: Vec<&str> = match entry.name {
        "transpose" => vec!["axes"],
        _ => entry.arguments.iter().map(|(name, _)| *name).collect(),
    };
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(",")) };
    let id = entry.id.map_or_else(String::new, |id| format!(" `{id}`"));
    let also: Vec<String> = entry.names().skip(1).map(|name| format!("`{name}`")).collect();
    let also = if also.is_empty() { String::new() } else { format!(" {}", also.join(", ")) };
    format!("| `{}{arguments}` |{id} | `{}` |{also} |\n", entry.short_name(), entry.name)
}

#[test]
fn the_documentation_has_the_codecs() {
    let dialects = include_str!("../../../docs/dialects.md");
    let formats = include_str!("../../../docs/formats.md");
    let codecs = formats.lines().find(|line| line.starts_with("| codecs |")).unwrap_or_default();
    let words: BTreeSet<&str> = codecs
        .split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)))
        .map(|word| word.trim_end_matches('.'))
        .collect();
    // The codec of views is in no document.
    for entry in zarr::registry::default().codecs.iter().filter(|entry| entry.name != "array_view") {
        assert!(dialects.contains(&line(entry)), "docs/dialects.md, Names of codecs: add\n{}", line(entry));
        let short = if entry.name == "sharding_indexed" { "sharding" } else { entry.short_name() };
        let is_there = short.starts_with("numcodecs.") || words.contains(short);
        assert!(is_there, "docs/formats.md: add {short} to the row of codecs");
    }
}
