//! Rules about the form of source files.

use super::english;
use super::named_files::NamedFiles;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that may contain `unsafe`, and folders of such files.
const UNSAFE: &[&str] = &[
    "benches/peers/",
    "crates/zarr-arrow/src/export.rs",
    "crates/zarr-arrow/src/export/",
    "crates/zarr-codec/src/view.rs",
    "crates/zarr-codec/src/view/",
    "crates/zarr-array/src/buffer.rs",
    "crates/zarr-array/src/nd.rs",
    "crates/zarr-codec-gzip/src/libdeflate.rs",
    "crates/zarr-kernels/src/matches.rs",
    "crates/zarr-kernels/src/output.rs",
    "crates/zarr-kernels/src/rows.rs",
    "crates/zarr-kernels/src/shuffle/vector.rs",
    "crates/zarr-kernels/src/shuffle/vector/",
    "python/src/memory.rs",
    "python/src/variable_memory.rs",
    "tests/",
];

/// Greatest number of lines of a file, so that a file holds one idea.
const MAX_LINES: usize = 500;

/// The keyword, without the text after it, so that this file does not contain the search text.
const KEYWORD: &str = "unsafe";

/// File names that do not describe the content.
const NAMELESS: [&str; 6] = ["mod.rs", "utils.rs", "util.rs", "common.rs", "types.rs", "helpers.rs"];

/// Former names of types and functions, each with its replacement, a term of the Zarr specification, numpy or Rust.
const GIVEN_UP: &[(&str, &str)] = &[
    ("AxisCuts", "AxisOverlaps"),
    ("AxisParts", "AxisByChunk"),
    ("Belongings", "OwnedKeys"),
    ("CodecName", "CodecFacts"),
    ("CodecNames", "CodecFacts"),
    ("ChunkSelections", "ElementsByChunk"),
    ("Cuts", "ChunkOverlaps"),
    ("D2022", "V3Draft2022"),
    ("ENTRY_KEYS", "DETECTION_KEYS"),
    ("Examined", "DryRun"),
    ("FancyPlan", "SelectedElements"),
    ("Leaf", "ChunkBatch"),
    ("Leniency", "ParseOptions"),
    ("Meaning", "DecodeIdentity"),
    ("Oddity", "Deviation"),
    ("P2019", "V3Protocol2019"),
    ("P2020", "V3Protocol2020"),
    ("PartWrite", "SelectedElements"),
    ("Picked", "ShardRegions"),
    ("Places", "ElementOffsets"),
    ("PointSelection", "CoordinateSelection"),
    ("ReadNd", "ReadInto"),
    ("ArrayNdExt", "ReadInto and WriteFrom"),
    ("Recode", "Reencode"),
    ("ShardPoints", "ShardRegions"),
    ("Spread", "ChunkSpan"),
    ("StagedBatch", "StagedBoxes"),
    ("Tiles", "Windows"),
    ("V3Of2023", "V3Provisional2023"),
    ("bare_nan", "nan_literals"),
    ("codecs_json", "codecs"),
    ("codecs_text", "codecs"),
    ("entry_key", "entry_point_key"),
    ("fill_value_agreed", "may_omit_empty_chunks"),
    ("may_be_missing", "may_omit"),
    ("settle_place", "find_chunk_location"),
    ("with_place", "with_hierarchy_hint"),
];

/// Returns the faults in the source files of the workspace.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for folder in ["benches", "crates", "engines", "python", "tests", "xtask"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let names: Vec<String> =
        files.iter().map(|file| file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/")).collect();
    let named_files = NamedFiles::new(names.iter().map(String::as_str));
    let mut faults = Vec::new();
    for (file, name) in files.iter().zip(&names) {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        check_file(name, &text, &mut faults);
        named_files.check(name, &text, &mut faults);
        if !name.starts_with("xtask/src/tidy/") {
            english::check(name, &text, &mut faults);
        }
    }
    Ok(faults)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    let in_folder = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, into)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

fn check_file(name: &str, text: &str, faults: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("{name}: {lines} lines, expected at most {MAX_LINES}"));
    }
    if !name.starts_with("xtask/src/tidy/") {
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in GIVEN_UP.iter().filter(|(word, _)| names(line, word)) {
                faults.push(format!("{name}:{}: {word} was given up for {instead}", number + 1));
            }
        }
    }
    let file = name.rsplit('/').next().unwrap_or(name);
    if NAMELESS.contains(&file) {
        faults.push(format!("{name}: the name does not say its content"));
    }
    // Tests and benches that hold the crate against C code, or watch its allocations, stand beside its sources.
    let in_tests = name.contains("/tests/") || name.contains("/benches/");
    if !in_tests && !UNSAFE.iter().any(|allowed| name.starts_with(allowed)) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_unsafe(line)) {
            faults.push(format!("{name}:{}: unsafe code: {}", number + 1, line.trim()));
        }
    }
    if name.ends_with("src/lib.rs") {
        if !text.starts_with("//!") {
            faults.push(format!("{name}: does not begin with a description of the crate"));
        }
        // A macro of its own kind can be nowhere else.
        if let Some(statement) = other_statements(text).first().filter(|_| !text.contains("\n#[proc_macro")) {
            faults.push(format!("{name}: more than docs, `mod` and `use`: {statement}"));
        }
    }
}

/// Returns whether a line has a name in its code, as a whole word and not in a comment.
fn names(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Returns whether the code of a line uses the keyword, outside comments and names of lints.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    ["{", "fn", "impl", "trait", "extern"].iter().any(|next| code.contains(&format!("{KEYWORD} {next}")))
}

/// Returns the statements of a `lib.rs` other than docs, attributes, `mod` and `use`.
fn other_statements(text: &str) -> Vec<String> {
    let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
    let code = code.collect::<Vec<_>>().join(" ");
    let statements = code.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    let other = statements.filter(|statement| {
        let rest = statement.strip_prefix("pub(crate) ").or(statement.strip_prefix("pub ")).unwrap_or(statement);
        !(rest.starts_with("use ") || rest.starts_with("mod ") && !rest.contains('{'))
    });
    other.map(|statement| statement.chars().take(80).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lib_files() {
        let good = "//! A crate.\n\n#![forbid(unsafe_code)]\n\nmod a;\n#[cfg(feature = \"b\")]\npub mod b;\npub use a::{\n    A,\n    B,\n};\n";
        assert_eq!(other_statements(good), [""; 0]);
        assert_eq!(other_statements("mod a { fn b() {} }"), ["mod a { fn b() {} }"]);
        assert_eq!(other_statements("pub fn a() {}\nmod b;"), ["pub fn a() {} mod b"]);
    }

    #[test]
    fn given_up_names() {
        assert!(names("let a = Oddity::new();", "Oddity"));
        assert!(!names("let a = OddityKind::new(); // Oddity", "Oddity"));
    }

    #[test]
    fn keywords() {
        assert!(is_unsafe(&format!("    {KEYWORD} {{ *p }}")));
        assert!(!is_unsafe("#![forbid(unsafe_code)]"));
        assert!(!is_unsafe(&format!("// {KEYWORD} {{ *p }}")));
    }
}
