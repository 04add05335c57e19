//! Long text on a terminal.

#![cfg(unix)]

use crate::folder::Folder;
use std::process::{Command, Stdio};

/// A run whose standard output is a terminal: its exit code and standard error, and the text that the pager got.
fn run(folder: &Folder, args: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, Option<String>) {
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
    command.args(args).current_dir(folder.path(".")).env_remove("PAGER").env("NO_COLOR", "1").envs(variables.to_vec());
    let ran = command.stdin(Stdio::null()).stdout(terminal.slave).stderr(Stdio::piped()).output().unwrap();
    drop(terminal.master);
    let got = std::fs::read_to_string(folder.path("got")).ok();
    let _ = std::fs::remove_file(folder.path("got"));
    (ran.status.code(), String::from_utf8(ran.stderr).unwrap(), got)
}

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "200000", "--dtype", "int32", "--dims", "x", "--fill", "12345"]);
    folder
}

#[test]
fn long_text_goes_through_the_pager() {
    let folder = store();
    let pager = [("ZARR_PAGER", "cat > got")];
    for args in [
        &["tree", "s"][..],
        &["ls", "s"],
        &["info", "s", "a"],
        &["ds", "s"],
        &["ds", "s", "--header"],
        &["man", "tree"],
    ] {
        let (code, err, got) = run(&folder, args, &pager);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}");
        assert_eq!(got, Some(folder.ok(args)), "{args:?}");
    }
    let (code, err, got) = run(&folder, &["read", "s", "a", "--all", "--raw"], &pager);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(got.unwrap().lines().filter(|line| line.contains("12345")).count(), 200_000);
    // PAGER counts where there is no ZARR_PAGER.
    assert!(run(&folder, &["tree", "s"], &[("PAGER", "cat > got")]).2.is_some());
    assert!(run(&folder, &["tree", "s"], &[("PAGER", "cat > got"), ("ZARR_PAGER", "")]).2.is_none());
}

#[test]
fn other_output_needs_no_pager() {
    let folder = store();
    let pager = [("ZARR_PAGER", "cat > got")];
    for args in [
        &["tree", "s", "--no-pager"][..],
        &["tree", "s", "--json"],
        &["read", "s", "a", "--select", ":3"],
        &["read", "s", "a", "--all", "--select", ":3", "--as", "csv"],
        &["read", "s", "a", "--all", "-o", "file"],
        &["attrs", "s"],
        &["--version"],
    ] {
        let (code, err, got) = run(&folder, args, &pager);
        assert_eq!((code, got), (Some(0), None), "{args:?}: {err}");
    }
    // Nor does a pipe.
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr"));
    let ran = command.args(["tree", "s"]).envs(pager).current_dir(folder.path(".")).output().unwrap();
    assert!(!ran.stdout.is_empty() && !folder.path("got").exists());
}

#[test]
fn a_pager_that_takes_no_more_ends_the_command_quietly() {
    let folder = store();
    let args = ["read", "s", "a", "--all", "--raw"];
    let (code, err, _) = run(&folder, &args, &[("ZARR_PAGER", "head -c 10 > got")]);
    assert_eq!((code, err.as_str()), (Some(141), ""));
    // An error comes after the pager, and has its exit code.
    std::fs::create_dir(folder.path("s/b")).unwrap();
    std::fs::write(folder.path("s/b/zarr.json"), "{").unwrap();
    let (code, err, got) = run(&folder, &["tree", "s"], &[("ZARR_PAGER", "sleep 0.2; cat > got; echo paged >&2")]);
    assert!(code == Some(4) && got.is_some_and(|got| got.contains("a  (x 200_000)")), "{err}");
    assert!(err.starts_with("paged\nerror: s: /b: "), "{err}");
}

#[test]
fn a_pager_that_cannot_be_run_is_an_error() {
    let folder = store();
    for args in [&["tree", "s"][..], &["read", "s", "a", "--all", "--raw"]] {
        let (code, err, _) = run(&folder, args, &[("ZARR_PAGER", "no-such-pager -x")]);
        assert_eq!(code, Some(5), "{err}");
        assert!(err.contains("error: standard output: the pager `no-such-pager -x` cannot be run"), "{err}");
        assert!(err.contains("--no-pager"), "{err}");
    }
}
