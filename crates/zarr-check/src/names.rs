//! Names of keys that tell what the keys are.

pub(crate) use zarr_hierarchy::is_temporary;

/// Whether the end of a key looks like the key of a chunk in some dialect: numbers with separators, perhaps behind a `c`.
pub(crate) fn is_chunk_like(text: &str) -> bool {
    let text = text.strip_prefix("c/").or_else(|| text.strip_prefix("c.")).unwrap_or(text);
    let text = match text.strip_prefix('c') {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => rest,
        _ => text,
    };
    !text.is_empty()
        && text.split(['/', '.']).all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Description of a file that other software puts below groups by a convention, and which is neither a document nor a chunk; `None` for
/// other keys. Such files are tables of SpatialData (`points/NAME/points.parquet`, a file or a directory, and
/// `shapes/NAME/shapes.parquet`), the OME-XML of bioformats2raw (`OME/METADATA.ome.xml`), and text files about the data.
pub(crate) fn of_other_software(key: &str) -> Option<&'static str> {
    const TEXTS: [&str; 6] = ["README", "LICENSE", "LICENCE", "CHANGELOG", "CITATION", "ro-crate-metadata.json"];
    let mut names = key.rsplit('/');
    let name = names.next().unwrap_or_default();
    if name == "METADATA.ome.xml" && names.next() == Some("OME") {
        return Some("metadata in OME-XML, as bioformats2raw writes it");
    }
    let is_table = |pair: (&str, &str)| matches!(pair, ("points", "points.parquet") | ("shapes", "shapes.parquet"));
    let parts: Vec<&str> = key.split('/').collect();
    if parts.windows(3).any(|three| matches!(three, [element, _, table] if is_table((element, table)))) {
        return Some("a table in Parquet, as SpatialData keeps it");
    }
    TEXTS.iter().any(|text| name.starts_with(text)).then_some("a text about the data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_all_dialects_are_known() {
        for text in ["0", "0.0", "0/0", "c/0/1", "c.0.1", "c0/1", "12.3.4"] {
            assert!(is_chunk_like(text), "{text}");
        }
        for text in ["", "c", "x", "0.x", ".zarray", "0..1", "README.md", "c/", "-1"] {
            assert!(!is_chunk_like(text), "{text}");
        }
    }

    #[test]
    fn files_that_conventions_name_are_known() {
        for key in [
            "OME/METADATA.ome.xml",
            "a/OME/METADATA.ome.xml",
            "shapes/cells/shapes.parquet",
            "x/points/p/points.parquet/part.0.parquet",
            "README.md",
            "a/LICENSE",
        ] {
            assert!(of_other_software(key).is_some(), "{key}");
        }
        for key in ["METADATA.ome.xml", "shapes/shapes.parquet", "points/p/other.parquet", "notes.txt", "0.0"] {
            assert!(of_other_software(key).is_none(), "{key}");
        }
    }

    #[test]
    fn temporary_files_of_others_are_known() {
        for name in ["0.0.0123456789abcdef0123456789abcdef.partial", "0.0.__lock", ".nfs000000001", ".zarray.swp"] {
            assert!(is_temporary(name), "{name}");
        }
        assert!(!is_temporary("0.0") && !is_temporary("zarr.json"));
    }
}
