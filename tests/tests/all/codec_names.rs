//! The names of codecs: one table, with which the registry and the documentation agree.

use std::collections::BTreeSet;
use zarr_meta::codec_names::{CODEC_NAMES, CodecName};

/// The codecs of the table that this build has.
fn known() -> impl Iterator<Item = &'static CodecName> {
    let registry = zarr::registry();
    CODEC_NAMES.iter().filter(move |codec| registry.codecs.get(codec.v3).is_some())
}

/// The line of a codec in the documentation.
fn line(codec: &CodecName) -> String {
    let arguments: Vec<&str> = match codec.typed {
        "transpose" => vec!["axes"],
        _ => codec.arguments.iter().map(|(name, _)| *name).collect(),
    };
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(",")) };
    let id = codec.id.map_or_else(String::new, |id| format!(" `{id}`"));
    let also: Vec<String> = codec.kept.iter().chain(codec.read).map(|name| format!("`{name}`")).collect();
    let also = if also.is_empty() { String::new() } else { format!(" {}", also.join(", ")) };
    format!("| `{}{arguments}` |{id} | `{}` |{also} |\n", codec.typed, codec.v3)
}

#[test]
fn the_registry_has_the_names_of_the_table() {
    let names = |name: &str| -> BTreeSet<&str> {
        zarr::registry().codecs.get(name).map(|entry| entry.names.iter().copied().collect()).unwrap_or_default()
    };
    for codec in known() {
        let due: BTreeSet<&str> =
            [codec.v3].into_iter().chain(codec.kept.iter().copied()).chain(codec.read.iter().copied()).collect();
        assert_eq!(names(codec.v3), due, "{}", codec.typed);
    }
    let registry = zarr::registry();
    for entry in registry.codecs.iter() {
        let name = entry.names.first().copied().unwrap_or_default();
        // Which is in no document.
        assert!(name == "array_view" || known().any(|codec| codec.is_called(name)), "{name} is in no table");
    }
}

#[test]
fn the_documentation_has_the_table() {
    let dialects = include_str!("../../../docs/dialects.md");
    let lines: String = known().map(line).collect();
    assert!(dialects.contains(&lines), "docs/dialects.md: expected\n{lines}");
    let readme = include_str!("../../../README.md");
    let row = readme.lines().find(|line| line.starts_with("| codecs |")).unwrap_or_default();
    let words: BTreeSet<&str> = row
        .split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)))
        .map(|word| word.trim_end_matches('.'))
        .collect();
    for codec in known().filter(|codec| !codec.typed.starts_with("numcodecs.")) {
        let name = match codec.typed {
            "sharding_indexed" => "sharding",
            typed => typed,
        };
        assert!(words.contains(name), "README.md: no codec {name} among {words:?}");
    }
}
