//! Output that does not arrive.

use crate::folder::Folder;
use std::fs::{self, File};
use zarr::meta::json::Value;

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "int8", "--codecs", "none"]);
    folder.fill("s", "g/a", "|i1", "(4,)", &[1, 2, 3, 4]);
    folder.ok(&["create", "s", "b", "--shape", "4", "--dtype", "int8", "--dims", "x"]);
    folder
}

/// One run of each verb that prints.
const PRINTS: &[&[&str]] = &[
    &["tree", "s"],
    &["ls", "s"],
    &["info", "s", "g/a"],
    &["info", "s", "g/a", "--chunks"],
    &["du", "s"],
    &["stats", "s", "g/a"],
    &["bench-codecs", "s", "g/a", "--codecs", "none", "--time", "0"],
    &["advise", "s", "g/a", "--reads", "all", "--codecs", "none", "--time", "0"],
    &["ds", "s", "g", "--number-dimensions"],
    &["attrs", "s"],
    &["read", "s", "g/a"],
    &["read", "s", "g/a", "--as", "json"],
    &["read", "s", "g/a", "--as", "csv"],
    &["read", "s", "g/a", "--as", "raw"],
    &["read", "s", "g/a", "--as", "npy"],
    &["read", "s", "b", "--as", "arrow"],
    &["view", "s", "g/a"],
    &["view", "s", "g/a", "--protocol", "kitty"],
    &["check", "s"],
    &["consolidate", "s", "--check"],
    &["convert", "s", "t", "--overwrite"],
    &["pyramid", "s", "g/a", "--to", "levels", "--overwrite"],
    &["virtualize", "s", "-o", "r.json", "--overwrite", "--dialect", "v3"],
    &["diff", "s", "s"],
    &["digest", "s"],
    &["convert", "s", "u", "--dry-run"],
    &["--help"],
    &["completions", "bash"],
    &["man"],
    &["resize", "s", "g/a", "--shape", "4"],
    &["rename-dims", "s", "b", "--dim", "x=x"],
    &["remove-metadata", "v3", "s", "--dry-run", "--force"],
];

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error() {
    let folder = store();
    for &args in PRINTS {
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
    for &args in PRINTS {
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

/// The file is a new one that takes the name of the old one, with the permissions that new files have.
#[test]
#[cfg(unix)]
fn an_output_file_replaces_the_one_of_its_name() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = store();
    fs::create_dir(folder.path("to")).unwrap();
    for name in ["to/old", "to/target"] {
        fs::write(folder.path(name), "old").unwrap();
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        fs::hard_link(folder.path(name), folder.path(&format!("{name}.kept"))).unwrap();
    }
    symlink("target", folder.path("to/link")).unwrap();
    for (name, file) in [("to/old", "to/old"), ("to/link", "to/target"), ("to/new", "to/new")] {
        let script = "umask 027 && exec \"$0\" \"$@\"";
        let args = ["-c", script, env!("CARGO_BIN_EXE_zarr"), "read", "s", "g/a", "--as", "raw", "-o", name];
        let ran = std::process::Command::new("sh").args(args).current_dir(folder.path(".")).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(fs::read(folder.path(file)).unwrap(), [1, 2, 3, 4], "{name}");
        assert_eq!(fs::metadata(folder.path(file)).unwrap().permissions().mode() & 0o777, 0o640, "{name}");
    }
    assert!(fs::symlink_metadata(folder.path("to/link")).unwrap().is_symlink());
    for kept in ["to/old.kept", "to/target.kept"] {
        assert_eq!(fs::read(folder.path(kept)).unwrap(), b"old");
    }
    assert_eq!(fs::read_dir(folder.path("to")).unwrap().count(), 6);
}

#[test]
fn an_output_file_that_cannot_be_made_is_named_once() {
    let folder = store();
    for (output, why) in
        [("no/file", "No such file or directory (os error 2)"), ("no/..", "expected the name of a file")]
    {
        let ran = folder.run(&["read", "s", "g/a", "-o", output]);
        assert_eq!(ran.err, format!("error: {output}: {why}\n"));
    }
}

/// `NO_COLOR` and terminals count where nothing was said.
#[test]
fn colours_are_printed_where_they_are_wanted() {
    let folder = store();
    let run = |args: &[&str], no_color: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zarr"));
        let ran = command.args(args).env("NO_COLOR", no_color).current_dir(folder.path(".")).output().unwrap();
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    for (no_color, color, is_coloured) in
        [("", "auto", false), ("1", "auto", false), ("", "always", true), ("1", "always", true), ("", "never", false)]
    {
        let (out, _) = run(&["tree", "s", "--color", color], no_color);
        let heading = if is_coloured { "\x1b[1ms\x1b[0m  v3 group" } else { "s  v3 group" };
        assert!(out.starts_with(heading), "{color} {no_color}: {out:?}");
        let (_, err) = run(&["tree", "none", "--color", color], no_color);
        let (begin, end) = if is_coloured { ("\x1b[1m\x1b[31m", "\x1b[0m") } else { ("", "") };
        assert_eq!(err, format!("{begin}error:{end} none: no such store\n"), "{color} {no_color}");
    }
    // A fault in the arguments comes before they are known.
    let (_, err) = run(&["tree", "--color", "always"], "");
    assert!(err.starts_with("error: "), "{err:?}");
}
