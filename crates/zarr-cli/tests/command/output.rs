//! Output that does not arrive.

use crate::folder::Folder;
use std::fs::{self, File};
use zarr::meta::json::Value;

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "int8", "--codecs", "none"]);
    folder.fill("s", "g/a", "|i1", "(4,)", &[1, 2, 3, 4]);
    folder
}

/// One run of each verb that prints.
const PRINTS: [&[&str]; 14] = [
    &["tree", "s"],
    &["ls", "s"],
    &["info", "s", "g/a"],
    &["attrs", "s"],
    &["read", "s", "g/a"],
    &["read", "s", "g/a", "--as", "json"],
    &["read", "s", "g/a", "--as", "csv"],
    &["read", "s", "g/a", "--as", "raw"],
    &["read", "s", "g/a", "--as", "npy"],
    &["consolidate", "s", "--check"],
    &["convert", "s", "t", "--overwrite"],
    &["convert", "s", "u", "--dry-run"],
    &["--help"],
    &["completions", "bash"],
];

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error() {
    let folder = store();
    for args in PRINTS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (code, err) = folder.run_to(&[args, &["--json"]].concat(), full);
        assert_eq!(code, Some(5), "{args:?}: {err}");
        assert!(err.starts_with("error: standard output: No space left on device"), "{args:?}: {err}");
        let object = Value::from_json(err.lines().last().unwrap()).unwrap();
        assert_eq!(object.get("kind").and_then(Value::as_str), Some("output"), "{args:?}: {err}");
        assert_eq!(object.get("causes").unwrap().to_string(), r#"["No space left on device (os error 28)"]"#);
    }
    let ran = folder.run(&["read", "s", "g/a", "-o", "/dev/full"]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("/dev/full: No space left"), "{}", ran.err);
}

/// As behind `| head`: 128 and the number of SIGPIPE, without a word.
#[test]
fn a_pipe_that_nobody_reads_ends_the_command_quietly() {
    let folder = store();
    for args in PRINTS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, err) = folder.run_to(args, writer);
        assert_eq!((code, err.as_str()), (Some(141), ""), "{args:?}");
    }
}

#[test]
fn an_output_that_cannot_be_made_is_no_missing_node() {
    let folder = store();
    for output in ["nothing/here", "s", ".."] {
        let ran = folder.run(&["read", "s", "g/a", "-o", output, "--json"]);
        assert_eq!(ran.code, Some(5), "{output}: {}", ran.err);
        let object = Value::from_json(ran.err.lines().last().unwrap()).unwrap();
        assert_eq!(object.get("kind").and_then(Value::as_str), Some("output"), "{}", ran.err);
    }
    assert_eq!(fs::read_dir(folder.path(".")).unwrap().count(), 1);
}
