//! `zarr check`: every kind of damage is found at its place, good stores have no errors, and a repair changes no value.

mod codes;
mod conventions;
mod damage;
mod repairs;
mod samples;
mod stores;

use crate::folder::{Folder, int16};
use damage::Damage;
use samples::{Sample, checked, fixtures, made};
use std::collections::BTreeSet;
use std::fs;
use zarr::check::{Code, Finding, Severity};
use zarr::meta::json::Value;

/// All fixtures are damaged if this is set; else a few of each dialect.
const LONG: &str = "ZARR_CHECK_ALL_FIXTURES";

fn documentation() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.md")).unwrap()
}

/// Whether a finding is the one that is due.
fn is_due(finding: &Finding, due: &damage::Expected) -> bool {
    let place = finding.place();
    let places = [finding.key.as_deref(), finding.path.as_deref(), Some(place.as_str())];
    due.codes.contains(&finding.code) && places.contains(&Some(due.place.as_str()))
}

/// All kinds of damage.
fn kinds() -> impl Iterator<Item = &'static Damage> {
    damage::ALL.iter().chain(conventions::ALL)
}

/// Damages a copy of a store: whether that is possible, and what is wrong with the result of the check. The codes of findings are added
/// to `codes`.
fn try_one(sample: &Sample, kind: &Damage, codes: &mut BTreeSet<Code>) -> Option<Result<(), String>> {
    let store = sample.copy();
    let due = (kind.inject)(sample, &*store)?;
    let (findings, report) = match checked(&store) {
        Ok(found) => found,
        Err(error) => return Some(Err(format!("{}: {}: {error}", sample.name, kind.name))),
    };
    codes.extend(findings.iter().map(|finding| finding.code));
    let new: Vec<&Finding> = findings.iter().filter(|finding| !sample.findings.contains(finding)).collect();
    Some(match kind.is_detectable {
        true if new.iter().any(|finding| is_due(finding, &due)) => Ok(()),
        true => Err(format!("{}: {}: not at {}: {new:?}", sample.name, kind.name, due.place)),
        false if new.is_empty() && report.checked.unprotected > 0 => Ok(()),
        false => Err(format!("{}: {}: {new:?}", sample.name, kind.name)),
    })
}

#[test]
fn every_kind_of_damage_is_found_at_its_place() {
    let few = if std::env::var_os(LONG).is_some() { None } else { Some(2) };
    let samples: Vec<Sample> = made().into_iter().chain(fixtures(few)).collect();
    let mut faults = Vec::new();
    let (mut done, mut found) = (0, BTreeSet::new());
    let mut codes = codes::of_odd_stores();
    for sample in &samples {
        for kind in kinds() {
            let Some(result) = try_one(sample, kind, &mut codes) else { continue };
            found.insert(kind.name);
            done += 1;
            faults.extend(result.err());
        }
    }
    println!("{} kinds, {} stores, {done} pairs, {} not as expected", found.len(), samples.len(), faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let never: Vec<&str> = kinds().map(|kind| kind.name).filter(|name| !found.contains(name)).collect();
    assert!(never.is_empty(), "no store for {never:?}");
    // Nothing is documented that is never found.
    let never: Vec<&Code> = Code::ALL.iter().filter(|code| !codes.contains(code)).collect();
    assert!(never.is_empty(), "no damage for {never:?}");
}

#[test]
fn good_stores_have_no_errors() {
    let samples: Vec<Sample> = made().into_iter().chain(fixtures(None)).collect();
    let errors: Vec<String> = samples
        .iter()
        .flat_map(|sample| sample.findings.iter().map(move |finding| (&sample.name, finding)))
        .filter(|(_, finding)| finding.severity() == Severity::Error)
        .map(|(name, finding)| format!("{name}: {finding}"))
        .collect();
    println!("{} stores, {} errors", samples.len(), errors.len());
    assert!(errors.is_empty() && samples.len() > 100, "{}", errors.join("\n"));
    for sample in samples.iter().filter(|sample| sample.name.starts_with("made")) {
        assert!(sample.findings.is_empty(), "{}: {:?}", sample.name, sample.findings);
        let checked = &sample.report.checked;
        assert!(checked.unprotected > 0 && checked.by_form > 0 && checked.by_checksum > 0, "{checked:?}");
    }
}

#[test]
fn the_documentation_has_all_codes_and_kinds_of_damage() {
    let text = documentation();
    for code in Code::ALL {
        let row = format!("| `{code}` | {} | {} | {} |", code.severity(), code.meaning(), code.remedy());
        assert!(text.contains(&row), "docs/check.md lacks\n{row}");
    }
    for kind in kinds() {
        let row = format!("| {} | {} |", kind.name, if kind.is_detectable { "yes" } else { "no" });
        assert!(text.contains(&row), "docs/check.md lacks\n{row}");
    }
    // And those of the levels.
    let rows = text.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, Code::ALL.len() + 5);
}

/// A store with a chunk that is cut off, a stray key and a temporary file of a writer that was killed.
fn broken() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    folder.ok(&["create", "s", "a", "--shape", "4,4", "--dtype", "int16", "--chunks", "2,2", "--codecs", "none"]);
    folder.fill("s", "a", "<i2", "(4, 4)", &int16(0..16));
    folder.ok(&["consolidate", "s"]);
    fs::write(folder.path("s/a/c/1/0"), [1, 2, 3]).unwrap();
    fs::write(folder.path("s/stray.txt"), "x").unwrap();
    fs::create_dir(folder.path("s/empty")).unwrap();
    fs::write(folder.path("s/a/.00112233445566778899aabbccddeeff.zarr-tmp"), "half").unwrap();
    folder
}

#[test]
fn findings_have_a_line_each() {
    let folder = broken();
    let ran = folder.run(&["check", "s"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), "error: s: /: 1 error and 2 warnings\n"), "{out}");
    for line in [
        "error    a/c/1/0  codec bytes: 3 bytes, expected 8 [broken-chunk]",
        "warning  stray.txt  belongs to no node [stray-key]",
        "note     empty/  an empty directory [empty-folder]",
        "2 nodes, 7 keys, 4 chunks (27 B) in ",
        "4 chunks with no checksum: nothing shows a changed byte",
    ] {
        assert!(out.lines().any(|found| found.starts_with(line)), "{line}\n{out}");
    }
    // Levels read less.
    for (level, codes) in [("documents", 0), ("keys", 2), ("indexes", 2), ("chunks", 3)] {
        let ran = folder.run(&["check", "s", "--level", level, "--json"]);
        let value = Value::from_json(std::str::from_utf8(&ran.out).unwrap()).unwrap();
        let serious = ["errors", "warnings"].map(|name| value.get(name).and_then(Value::as_u64).unwrap());
        assert_eq!((serious[0] + serious[1], ran.code), (codes, Some(i32::from(codes > 0))), "{level}: {value}");
    }
    let good = Folder::new();
    good.ok(&["create", "s", "/", "--shape", "4", "--dtype", "int8"]);
    assert!(good.ok(&["check", "s"]).starts_with("1 node, 1 key, 0 chunks (0 B) in "));
    assert_eq!(good.ok(&["check", "s", "--quiet"]), "");
    let json = good.ok(&["check", "s", "--json"]);
    assert_eq!(Value::from_json(&json).unwrap().get("findings").map(ToString::to_string).as_deref(), Some("[]"));
}

#[test]
fn json_has_all_findings_with_their_places() {
    let folder = broken();
    let ran = folder.run(&["check", "s", "--json", "--threads", "2"]);
    let value = Value::from_json(std::str::from_utf8(&ran.out).unwrap()).unwrap();
    let findings = value.get("findings").and_then(Value::as_array).unwrap();
    let torn = findings.iter().find(|it| it.get("code").and_then(Value::as_str) == Some("broken-chunk")).unwrap();
    assert_eq!(torn.get("chunk").unwrap().to_string(), "[1,0]");
    assert_eq!(torn.get("path").and_then(Value::as_str), Some("/a"));
    assert_eq!(torn.get("key").and_then(Value::as_str), Some("a/c/1/0"));
    assert!(torn.get("advice").and_then(Value::as_str).unwrap().contains("--drop-torn"), "{torn}");
    assert_eq!(value.get("unprotected").and_then(Value::as_u64), Some(4));
    let error = Value::from_json(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!(error.get("kind").and_then(Value::as_str), Some("findings"));
}

#[test]
fn findings_of_one_code_are_limited() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    for number in 0..5 {
        fs::write(folder.path(&format!("s/{number}.txt")), "x").unwrap();
    }
    let out = String::from_utf8(folder.run(&["check", "s", "--max-findings", "2"]).out).unwrap();
    assert_eq!(out.matches("[stray-key]").count(), 3);
    assert!(out.contains("warning  3 more [stray-key]\n"), "{out}");
    let out = String::from_utf8(folder.run(&["check", "s", "--max-findings", "0"]).out).unwrap();
    assert_eq!(out.matches("[stray-key]").count(), 5);
}

#[test]
fn a_sample_is_a_part_and_always_the_same() {
    let folder = Folder::new();
    let args = ["create", "s", "/", "--shape", "400", "--dtype", "int16", "--chunks", "1", "--codecs", "none"];
    folder.ok(&args);
    folder.fill("s", "/", "<i2", "(400,)", &int16(1..401));
    let chunks = |share: &str| {
        let value = Value::from_json(&folder.ok(&["check", "s", "--sample", share, "--json"])).unwrap();
        ["chunks", "left_out"].map(|name| value.get(name).and_then(Value::as_u64).unwrap())
    };
    let [some, others] = chunks("25%");
    assert!((60..140).contains(&some) && some + others == 400, "{some} {others}");
    assert_eq!(chunks("0.25"), [some, others]);
    assert_eq!(folder.run(&["check", "s", "--sample", "0"]).code, Some(2));
}

/// Values that can be read before a repair are the same after it.
#[test]
fn a_repair_changes_no_value() {
    let folder = broken();
    fs::write(folder.path("s/a/c/1/0"), "").unwrap();
    folder.ok(&["create", "s", "b", "--shape", "4", "--dtype", "int16", "--codecs", "none"]);
    folder.fill("s", "b", "<i2", "(4,)", &int16(0..4));
    let text = fs::read_to_string(folder.path("s/b/zarr.json")).unwrap();
    folder.ok(&["consolidate", "s"]);
    fs::write(folder.path("s/b/zarr.json"), text.replacen("\"shape\": [4]", "\"shape\": [3]", 1)).unwrap();
    let before = (folder.raw("s", "b"), folder.raw_region("s", "a", "0:2"));
    let files = folder.files("s");
    let plan = folder.run(&["check", "s", "--repair", "--drop-torn", "--dry-run"]);
    let plan = String::from_utf8(plan.out).unwrap();
    assert_eq!(folder.files("s"), files);
    assert!(folder.path("s/empty").exists());
    let ran = folder.run(&["check", "s", "--repair"]);
    let out = String::from_utf8(ran.out).unwrap();
    for (done, planned, place) in [
        ("removed", "would remove", "a/.00112233445566778899aabbccddeeff.zarr-tmp"),
        ("removed", "would remove", "empty/"),
        ("consolidated", "would consolidate", "/"),
    ] {
        let has = |text: &str, line: String| text.lines().any(|found| found == line);
        assert!(has(&out, format!("{done:<12}  {place}")), "{place}\n{out}");
        assert!(has(&plan, format!("{planned:<17}  {place}")), "{place}\n{plan}");
    }
    assert!(plan.contains("would erase        a/c/1/0\n") && !out.contains("erase"), "{plan}");
    assert!(ran.err.contains("hint: chunks that cannot be decoded stay; --drop-torn erases them"), "{}", ran.err);
    assert!(!folder.path("s/empty").exists() && folder.path("s/a/c/1/0").exists());
    assert_eq!((folder.raw("s", "b"), folder.raw_region("s", "a", "0:2")), before);
    let left = String::from_utf8(folder.run(&["check", "s"]).out).unwrap();
    assert!(left.contains("stray-key") && left.contains("broken-chunk"), "{left}");
    assert!(!["stale", "temporary", "empty-folder"].iter().any(|code| left.contains(code)), "{left}");
    // The chunk that cannot be decoded goes by name alone.
    fs::remove_file(folder.path("s/stray.txt")).unwrap();
    let out = folder.ok(&["check", "s", "--drop-torn"]);
    assert!(out.contains("erased        a/c/1/0\n"), "{out}");
    assert_eq!(folder.raw_region("s", "a", "0:2"), before.1);
    folder.ok(&["check", "s"]);
}

/// A shard of which a part can be read is not erased.
#[test]
fn shards_stay_while_a_part_of_them_can_be_read() {
    let folder = Folder::new();
    let args = ["create", "s", "/", "--shape", "4", "--dtype", "int16", "--chunks", "2", "--shards", "4"];
    folder.ok(&[&args[..], &["--codecs", "bytes,crc32c"]].concat());
    folder.fill("s", "/", "<i2", "(4,)", &int16(1..5));
    let path = folder.path("s/c/0");
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ran = folder.run(&["check", "s", "--drop-torn"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(out.contains("c/0 inner [0] bytes 0..8  codec crc32c: checksum"), "{out}");
    assert!(
        out.contains("kept          c/0: some of its inner chunks can be read\n")
            && ran.code == Some(1)
            && path.exists(),
        "{out}"
    );
    let len = bytes.len();
    bytes[len - 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(folder.ok(&["check", "s", "--drop-torn"]).contains("erased        c/0\n"));
    assert!(!path.exists());
}

#[test]
fn a_store_that_takes_no_writes_is_not_repaired() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "int8"]);
    let ran = folder.run(&["check", "s", "--dry-run"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(folder.run(&["check", "none"]).code, Some(3));
    assert_eq!(folder.run(&["check", "s", "nothing"]).code, Some(3));
}

/// The document of a whole hierarchy of the draft of 2022 is of all nodes, and its deviations are of one.
#[test]
fn a_deviation_of_the_entry_document_is_found_once() {
    let folder = Folder::new();
    for array in ["/a", "/g/b"] {
        folder.ok(&["create", "s", array, "--dialect", "d2022", "--shape", "2", "--dtype", "int8"]);
    }
    let entry = folder.path("s/zarr.json");
    let mut value = Value::from_json(&fs::read_to_string(&entry).unwrap()).unwrap();
    if let Value::Object(members) = &mut value {
        members.remove("extensions");
    }
    fs::write(&entry, value.to_string()).unwrap();
    let ran = folder.run(&["check", "s"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert_eq!(out.matches("zarr.json#/extensions").count(), 1, "{out}");
}
