//! Samples of the specification of OME-Zarr, judged as it says. They are in clones of `ome/ngff-spec`, whose paths `ZARR_NGFF_SPEC` has,
//! separated by colons.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarr_array::{Registry, Store};
use zarr_check::{CheckOptions, Code, Convention, Event, Level, Severity, check};
use zarr_json::{Value, json};
use zarr_store::{Key, MemoryStore, StoreExt};

/// Codes of findings about nodes that samples do not have.
const OF_NODES: [Code; 5] =
    [Code::MissingLevel, Code::MissingWell, Code::MissingImage, Code::OtherFile, Code::ImageVersion];

/// Samples, by their version and the end of their name, that the text of the specification and its schemas judge differently; `docs/check.md`
/// says why.
const DISPUTED: [(&str, &str); 13] = [
    ("0.4", "valid/mismatch_axes_units.json"),
    ("0.4", "plate/minimal_no_acquisitions"),
    ("0.4", "plate/minimal_acquisitions"),
    ("0.4", "plate/non_alphanumeric_row"),
    ("0.4", "plate/strict_no_acquisitions"),
    ("0.4", "plate/strict_acquisitions"),
    ("0.6", "valid/image/mismatch_axes_units.json"),
    ("0.6", "valid/plate/minimal_acquisitions.json"),
    ("0.6", "valid/plate/minimal_no_acquisitions.json"),
    ("0.6", "valid/plate/non_alphanumeric_row.json"),
    ("0.6", "valid/plate/strict_acquisitions.json"),
    ("0.6", "valid/plate/strict_no_acquisitions.json"),
    ("0.6", "valid/image/multiscales_example.json"),
];

/// Attributes of a group, and whether they are valid.
struct Sample {
    version: &'static str,
    name: String,
    attributes: Value,
    is_valid: bool,
    /// Whether what is only recommended counts.
    is_strict: bool,
}

impl Sample {
    /// Findings about the attributes, by the names of their codes.
    fn findings(&self) -> Vec<String> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let set =
            |key: &str, value: &Value| store.set_all(&Key::new(key).unwrap(), value.to_string().as_bytes()).unwrap();
        if self.version == "0.4" {
            set(".zgroup", &json!({"zarr_format": 2}));
            set(".zattrs", &self.attributes);
        } else {
            let attributes = self.attributes.clone();
            set("zarr.json", &json!({"zarr_format": 3, "node_type": "group", "attributes": (attributes)}));
        }
        let options = CheckOptions::default().level(Level::Documents).named(match self.is_strict {
            true => vec![Convention::Ome],
            false => Vec::new(),
        });
        let mut found = Vec::new();
        check(&store, "/", &Arc::new(Registry::default()), &options, |event| {
            if let Event::Finding(finding) = event
                && !OF_NODES.contains(&finding.code)
                && (self.is_strict || finding.severity() != Severity::Note)
            {
                found.push(finding.to_string());
            }
        })
        .unwrap();
        found
    }
}

/// Files below a folder whose names end in `.json`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.extend(path.extension().is_some_and(|end| end == "json").then_some(path)),
        }
    }
    found.sort();
    found
}

fn json_of(path: &Path) -> Value {
    Value::from_json(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Samples of 0.4 and 0.5: a file with a list for each kind of group.
fn suites(clone: &Path) -> Vec<Sample> {
    let mut samples = Vec::new();
    for path in files(&clone.join("tests")) {
        let Some(kind) = path.file_name().and_then(|name| name.to_str()?.strip_suffix("_suite.json")) else { continue };
        for (number, test) in json_of(&path).get("tests").and_then(Value::as_array).unwrap().iter().enumerate() {
            let attributes = test.get("data").unwrap().clone();
            let version = if clone.join("schemas/_version.schema").exists() { "0.5" } else { "0.4" };
            let name = test.get("formerly").and_then(Value::as_str).map_or(number.to_string(), str::to_owned);
            let is_valid = test.get("valid").and_then(Value::as_bool).unwrap();
            samples.push(Sample { version, name, attributes, is_valid, is_strict: kind.starts_with("strict") });
        }
    }
    samples
}

/// Samples of 0.6: a file each.
fn attributes(clone: &Path) -> Vec<Sample> {
    let sample = |path: PathBuf| {
        let Value::Object(mut attributes) = json_of(&path) else { panic!("{}: an object", path.display()) };
        let conformance = attributes.remove("_conformance").unwrap_or(Value::Null);
        let is = |name: &str, default| conformance.get(name).and_then(Value::as_bool).unwrap_or(default);
        let (is_valid, is_strict) = (is("valid", true), is("strict", false));
        let name = path.display().to_string();
        Sample { version: "0.6", name, attributes: Value::Object(attributes), is_valid, is_strict }
    };
    files(&clone.join("tests/attributes")).into_iter().map(sample).collect()
}

#[test]
#[ignore = "reads clones of ome/ngff-spec"]
fn samples_are_judged_as_the_specification_does() {
    let clones = std::env::var_os("ZARR_NGFF_SPEC").unwrap();
    let clones: Vec<PathBuf> = std::env::split_paths(&clones).collect();
    let samples: Vec<Sample> =
        clones.iter().flat_map(|clone| suites(clone).into_iter().chain(attributes(clone))).collect();
    assert!(!samples.is_empty(), "no samples in {clones:?}");
    let (mut wrong, mut disputed) = (Vec::new(), 0);
    for sample in &samples {
        let found = sample.findings();
        let is_disputed = |(version, end): &(&str, &str)| sample.version == *version && sample.name.ends_with(end);
        match found.is_empty() == sample.is_valid {
            true => {}
            false if DISPUTED.iter().any(is_disputed) => disputed += 1,
            false => wrong.push(format!("{} {}: {found:?}", sample.version, sample.name)),
        }
    }
    println!("{} samples, {} not as the specification says, and {disputed} disputed", samples.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
