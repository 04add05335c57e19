//! Output of verbs with `--json`, against docs/json.schema.json.

#![expect(clippy::panic, reason = "a test that cannot go on fails")]

use crate::folder::{Folder, int16};
use std::collections::BTreeSet;
use zarr::meta::json::Value;

const SCHEMA: &str = include_str!("../../../../docs/json.schema.json");
const PAGE: &str = include_str!("../../../../docs/json.md");
const PLATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/plate.zarr");
const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../zarr-icechunk/tests/v2.zip");

/// The definitions, and those that outputs were checked against.
struct Schema {
    definitions: Value,
    checked: BTreeSet<String>,
}

impl Schema {
    fn new() -> Self {
        Self { definitions: Value::from_json(SCHEMA).unwrap(), checked: BTreeSet::new() }
    }

    /// Checks output against a definition.
    fn check(&mut self, name: &str, text: &str) {
        let value = Value::from_json(text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
        let faults = self.strictly(self.definition(name), &value, "");
        assert!(faults.is_empty(), "{name}: {faults:?}\n{value}");
        self.checked.insert(name.to_owned());
    }

    fn definition(&self, name: &str) -> &Value {
        let definitions = self.definitions.get("$defs").unwrap();
        definitions.get(name).unwrap_or_else(|| panic!("no definition of {name}"))
    }

    /// How `value` differs from a schema, and its members that no part of the schema describes: readers skip such, but the command prints
    /// none.
    fn strictly(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let mut faults = self.faults(schema, value, at);
        let mut names = BTreeSet::new();
        if self.names(schema, value, &mut names) {
            let members = value.as_object().into_iter().flat_map(|members| members.iter());
            let strange = members.filter(|(name, _)| !names.contains(*name));
            faults.extend(strange.map(|(name, _)| format!("{at}/{name}: a member that is not described")));
        }
        faults
    }

    /// The members that a schema describes, as far as it is for `value`. Whether it describes any: else all are fine.
    fn names(&self, schema: &Value, value: &Value, names: &mut BTreeSet<String>) -> bool {
        let mut describes = false;
        for (keyword, part) in schema.as_object().unwrap().iter() {
            describes |= match keyword {
                "$ref" => {
                    self.names(self.definition(part.as_str().unwrap().strip_prefix("#/$defs/").unwrap()), value, names)
                }
                "properties" => {
                    names.extend(part.as_object().unwrap().iter().map(|(name, _)| name.to_owned()));
                    true
                }
                // Their values have a schema, and are checked.
                "additionalProperties" if part.as_object().is_some() => {
                    names.extend(
                        value
                            .as_object()
                            .into_iter()
                            .flat_map(|members| members.iter())
                            .map(|(name, _)| name.to_owned()),
                    );
                    true
                }
                "anyOf" | "allOf" => {
                    let parts = part.as_array().unwrap().iter();
                    let fitting = parts.filter(|part| keyword == "allOf" || self.faults(part, value, "").is_empty());
                    fitting.fold(false, |describes, part| self.names(part, value, names) | describes)
                }
                _ => false,
            };
        }
        describes
    }

    /// How `value` differs from a schema, of which it knows the parts that are in the file.
    fn faults(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for (keyword, wanted) in schema.as_object().unwrap().iter() {
            let is_fine = match keyword {
                "description" | "pattern" | "properties" | "items" | "additionalProperties" => true,
                "$ref" => {
                    let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    faults.extend(self.faults(self.definition(name), value, at));
                    true
                }
                "type" => match wanted.as_array() {
                    Some(types) => types.iter().any(|wanted| is_of_type(wanted, value)),
                    None => is_of_type(wanted, value),
                },
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "required" => {
                    let names = wanted.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    value.as_object().is_none() || names.into_iter().all(|name| value.get(name).is_some())
                }
                "anyOf" => wanted.as_array().unwrap().iter().any(|one| self.faults(one, value, at).is_empty()),
                "allOf" => {
                    for part in wanted.as_array().unwrap() {
                        faults.extend(self.faults(part, value, at));
                    }
                    true
                }
                other => panic!("{other} is not known"),
            };
            if !is_fine {
                faults.push(format!("{at}: {keyword}: expected {wanted}"));
            }
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            let begin = pattern.strip_prefix('^').unwrap();
            if !value.as_str().is_some_and(|text| text.starts_with(begin)) {
                faults.push(format!("{at}: expected {pattern}"));
            }
        }
        let members = value.as_object().into_iter().flat_map(|members| members.iter());
        for (name, member) in members {
            let at = format!("{at}/{name}");
            let own = schema.get("properties").and_then(|properties| properties.get(name));
            match (own, schema.get("additionalProperties")) {
                (Some(own), _) => faults.extend(self.strictly(own, member, &at)),
                (None, Some(Value::Bool(false))) => faults.push(format!("{at}: a member that is not described")),
                (None, Some(others)) => faults.extend(self.strictly(others, member, &at)),
                (None, None) => {}
            }
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for (index, item) in values.iter().enumerate() {
                faults.extend(self.strictly(items, item, &format!("{at}/{index}")));
            }
        }
        faults
    }

    /// The members that a definition describes.
    fn described(&self, schema: &Value, names: &mut BTreeSet<String>) {
        for (keyword, part) in schema.as_object().unwrap().iter() {
            match keyword {
                "$ref" => {
                    let name = part.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.described(self.definition(name), names);
                }
                "properties" => names.extend(part.as_object().unwrap().iter().map(|(name, _)| name.to_owned())),
                "anyOf" | "allOf" => part.as_array().unwrap().iter().for_each(|part| self.described(part, names)),
                _ => {}
            }
        }
    }
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    match wanted.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => matches!(value, Value::Bool(_)),
        "string" => value.as_str().is_some(),
        "array" => value.as_array().is_some(),
        "object" => value.as_object().is_some(),
        "number" => matches!(value, Value::Number(_)),
        "integer" => matches!(value, Value::Number(number) if number.is_integer()),
        other => panic!("{other} is not known"),
    }
}

/// A data set with one array of each kind, sharded and not.
fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&[
        "create", "s", "a", "--shape", "4,6", "--dtype", "int16", "--chunks", "1,3", "--shards", "2,6", "--dims", "y,x",
    ]);
    folder.fill("s", "a", "<i2", "(4, 6)", &int16(0..24));
    folder.ok(&["create", "s", "old", "--shape", "3", "--dtype", "string"]);
    folder
}

#[test]
fn verbs_print_what_the_schema_says() {
    let folder = store();
    let mut schema = Schema::new();
    let mut check = |name: &str, args: &[&str]| schema.check(name, &folder.ok(&[args, &["--json"]].concat()));
    check("tree", &["tree", "s"]);
    check("tree", &["tree", CLIMATE]);
    check("ls", &["ls", "s"]);
    check("log", &["log", &format!("icechunk:zip:{REPOSITORY}")]);
    check("info", &["info", "s"]);
    check("info", &["info", "s", "a"]);
    check("info", &["info", CLIMATE, "sst"]);
    check("info", &["info", "s", "a", "--chunks"]);
    let place = ["--convention", "geozarr", "--crs", "EPSG:32633", "--transform", "10,0,0,0,-10,0"];
    folder.ok(&[&["convert", "s", "placed", "--node", "a"][..], &place].concat());
    check("info", &["info", "placed", "a"]);
    check("du", &["du", "s", "--inner"]);
    check("du", &["du", CLIMATE, "--by", "codec"]);
    check("du", &["du", CLIMATE, "--by", "dtype"]);
    check("stats", &["stats", "s", "a", "--along", "y"]);
    check("stats", &["stats", "s", "old"]);
    check("stats", &["stats", CLIMATE, "sst", "--decode"]);
    check("stats", &["stats", CLIMATE, "time", "--decode", "--along", "time"]);
    check("bench-codecs", &["bench-codecs", "s", "a", "--codecs", "none", "--codecs", "bitround(1)", "--time", "0"]);
    check("bench-codecs", &["bench-codecs", CLIMATE, "sst", "--codecs", "bitround(3),zstd", "--time", "0"]);
    check("advise", &["advise", CLIMATE, "sst", "--reads", "time=1", "--writes", "time=1", "--time", "0"]);
    check("advise of a group", &["advise", CLIMATE, "--reads", "time=1", "--time", "0"]);
    check("advise", &["advise", "--shape", "9,9", "--dtype", "f4", "--reads", "0=1"]);
    check("info", &["info", CLIMATE, "sst", "--explain"]);
    check("ds", &["ds", CLIMATE]);
    check("ds", &["ds", CLIMATE, "--header"]);
    check("read", &["read", "s", "a"]);
    check("read", &["read", "s", "a", "--select", "0, 0"]);
    check("read --decode", &["read", CLIMATE, "sst", "--isel", "time=0", "--isel", "lat=0:2", "--decode"]);
    check("read --output", &["read", "s", "a", "-o", "a.npy", "--as", "npy"]);
    check("read --explain", &["read", "s", "a", "--explain"]);
    check("view", &["view", "s", "a", "-o", "a.png", "--width", "60", "--height", "40"]);
    check("view", &["view", PLATE]);
    check("view --animate", &["view", CLIMATE, "sst", "--animate", "time", "-o", "sst.png", "--width", "40", "--bare"]);
    check("create", &["create", "s", "g", "--group"]);
    check("create", &["create", "s", "g/b", "--shape", "4,6", "--dtype", "i2", "--dims", "p,q"]);
    // All elements are the fill value, which is one category.
    check("view", &["view", "s", "g/b"]);
    check("write", &["write", "s", "g/b", "--from", "a.npy"]);
    check("append", &["append", "s", "g/b", "--from", "a.npy"]);
    check("resize", &["resize", "s", "g/b", "--shape", "4,6", "--shrink"]);
    check("rename-dims", &["rename-dims", "s", "g", "--dim", "p=r"]);
    check("attrs", &["attrs", "s", "a"]);
    check("attrs", &["attrs", "s", "a", "--set", "units=K"]);
    check("attrs --dims", &["attrs", "s", "g/b", "--dims", "p,q"]);
    check("convert --dry-run", &["convert", "s", "t", "--dialect", "v2", "--dry-run"]);
    check("convert", &["convert", "s", "t", "--dialect", "v2"]);
    check("pyramid", &["pyramid", "s", "a", "--to", "levels"]);
    check("pyramid", &["pyramid", "s", "a", "--to", "parts", "--part", "1/2"]);
    check("pyramid", &["pyramid", "s", "a", "--to", "parts", "--abandon"]);
    check("virtualize", &["virtualize", "s", "-o", "refs.json", "--dialect", "v3"]);
    check("diff", &["diff", "s", "s"]);
    check("diff", &["diff", "s", "t"]);
    check("digest", &["digest", "s"]);
    check("digest", &["digest", "s", "--parts", "parts.json", "--attributes"]);
    check("digest --compare", &["digest", "s", "--compare", "parts.json"]);
    check("digest --manifest", &["digest", "s", "--manifest", "--form", "dandi"]);
    check("digest --manifest", &["digest", "s", "--manifest", "-o", "manifest"]);
    check("digest --check", &["digest", "s", "--check", "manifest"]);
    check("check", &["check", "s"]);
    check("cp", &["cp", "s::/a", "s::/c"]);
    check("mv", &["mv", "s::/c", "s::/d"]);
    check("rm", &["rm", "s", "d"]);
    check("consolidate --check", &["consolidate", "s", "--check"]);
    check("consolidate", &["consolidate", "s"]);
    check("consolidate --check", &["consolidate", "s", "--check"]);
    check("consolidate --drop", &["consolidate", "s", "--drop"]);
    folder.ok(&["create", "u", "a", "--shape", "4", "--dtype", "i2", "--dialect", "v2"]);
    check("migrate --dry-run", &["migrate", "u", "--dry-run"]);
    check("migrate", &["migrate", "u"]);
    check("remove-metadata", &["remove-metadata", "v2", "u", "--dry-run"]);
    check("migrate --finish", &["migrate", "u", "--undo"]);
    check("completions", &["completions", "bash"]);
    check("man", &["man", "tree"]);
    check("man --all", &["man", "--all", "pages"]);
    check("--version", &["--version"]);
    // A chunk that is torn is erased, by which elements differ.
    std::fs::write(folder.path("s/g/b/c/0/0"), "torn").unwrap();
    check("check", &["check", "s", "--drop-torn"]);
    folder.ok(&["attrs", "s", "a", "--set", "units=m"]);
    schema.check("digest", &std::fs::read_to_string(folder.path("parts.json")).unwrap());
    let mut differs = |name: &str, args: &[&str]| {
        let ran = folder.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        schema.check(name, &String::from_utf8(ran.out).unwrap());
    };
    differs("diff", &["diff", "s", "t"]);
    differs("digest --compare", &["digest", "s", "--compare", "parts.json"]);
    let failed = folder.run(&["read", "s", "nothing", "--json"]);
    schema.check("error", failed.err.lines().last().unwrap());
    // Of each verb some output was checked.
    let help = folder.ok(&["--help"]);
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let verbs: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).chain(["completions", "man"]).collect();
    assert!(verbs.len() > 15, "{help}");
    // The verb `serve` does not end: its own test looks at what it prints.
    for verb in verbs.iter().filter(|verb| !["help", "serve"].contains(verb)) {
        assert!(schema.checked.contains(*verb), "no output of {verb} was checked: {help}");
    }
}

#[test]
fn images_are_what_the_schema_says() {
    let mut schema = Schema::new();
    for scale in ["0.65", "-1"] {
        let folder = crate::ome::image(scale);
        schema.check("tree", &folder.ok(&["tree", "i.zarr", "--json"]));
        schema.check("info", &folder.ok(&["info", "i.zarr", "img", "--json"]));
    }
    let of_another_type = Value::from_json(
        r#"{"path": "/", "kind": "group", "dialect": "v3", "implicit": false, "attributes": {}, "ome": 3}"#,
    );
    assert!(!schema.faults(schema.definition("group"), &of_another_type.unwrap(), "").is_empty());
}

#[test]
fn the_page_names_all_members() {
    let schema = Schema::new();
    for (name, definition) in schema.definitions.get("$defs").unwrap().as_object().unwrap().iter() {
        let mut names = BTreeSet::new();
        schema.described(definition, &mut names);
        assert!(PAGE.contains(&format!("`{name}`")) || names.is_empty(), "docs/json.md has no word of {name}");
        for member in names {
            let word = format!("`{member}`");
            assert!(PAGE.contains(&word), "docs/json.md has no word of {name}: {member}");
        }
    }
}

/// A fault in output is found.
#[test]
fn the_checker_finds_faults() {
    let schema = Schema::new();
    let faults =
        |name: &str, text: &str| schema.strictly(schema.definition(name), &Value::from_json(text).unwrap(), "").len();
    assert_eq!(faults("man", r#"{"page": "x"}"#), 0);
    assert_eq!(faults("man", r#"{"page": 1}"#), 1);
    assert_eq!(faults("man", "{}"), 1);
    assert_eq!(faults("tree", r#"[{"path": "/"}]"#), 1);
    assert_eq!(faults("resized_array", r#"{"path": "x"}"#), 3);
    assert_eq!(faults("ds", r#"{"cdl": "", "more": 1}"#), 1);
    // Readers skip members that are not described; the command has none.
    assert_eq!(faults("man", r#"{"page": "x", "more": 1}"#), 1);
    let group = r#"{"path": "/", "kind": "group", "dialect": "v3", "implicit": false, "attributes": {"any": 1}"#;
    assert_eq!(faults("create", &format!("{group}}}")), 0);
    assert_eq!(faults("create", &format!("{group}, \"more\": 1}}")), 1);
    assert_eq!(faults("ls", &format!("[{group}, \"shape\": []}}]")), 1);
}
