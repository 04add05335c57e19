//! Verbs that are interrupted say what is left, and how to go on.

use crate::folder::{Folder, int16};
use crate::signalled::Remote;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use zarr_testserver::Logged;

/// A bucket with a store of two arrays, of 60 and of 6 chunks, which are in the folder as well.
fn remote() -> Remote {
    let folder = Folder::new();
    for (path, len) in [("g/a", "60"), ("g/b", "6")] {
        let new = ["create", "s", path, "--shape", len, "--dtype", "int16", "--chunks", "1", "--dialect", "v2"];
        folder.ok(&new);
        folder.ok(&["write", "s", path, "--value", "7"]);
    }
    Remote::of(folder)
}

impl Remote {
    /// Sends the command a signal once it has made a request by this method, but for a document, or any.
    fn at_request(&self, args: &[&str], method: Option<&str>, signal: &str) -> (Option<i32>, String) {
        // A verb that makes few requests has to be at work yet when the signal comes, on a busy machine too.
        let latency = Duration::from_millis(if method.is_some() { 60 } else { 250 });
        let is_such = |it: &Logged| method.is_none_or(|method| it.method == method && !it.path.contains(".z"));
        self.signalled(args, latency, is_such, signal)
    }

    /// The same, which has to interrupt it: a line with these words.
    fn interrupted(&self, args: &[&str], method: Option<&str>, words: &[&str]) {
        let (code, err) = self.at_request(args, method, "-INT");
        let line = err.lines().last().unwrap_or_default();
        assert_eq!((code, line.starts_with("error: interrupted: ")), (Some(2), true), "{args:?}: {err}");
        assert_eq!(err.matches("interrupted").count(), 1, "{err}");
        for word in words {
            assert!(line.contains(word), "{args:?}: {word}: {err}");
        }
    }

    fn equal(&self, a: &str, b: &str) {
        self.ok(&["diff", a, b]);
    }
}

#[test]
fn conversions_and_copies_that_are_interrupted_go_on() {
    let remote = remote();
    let convert = ["convert", "s", "s3://data/t", "--chunks", "2", "--threads", "1"];
    let goes_on = "the same command with --resume goes on, with --overwrite it begins anew";
    remote.interrupted(&convert, Some("PUT"), &["s3://data/t is not complete", goes_on]);
    let missing = remote.folder.run(&remote.with(&["tree", "s3://data/t"]));
    let told = "the same `zarr convert` or `zarr cp` with --resume goes on where it stopped";
    assert!(missing.code == Some(3) && missing.err.contains(told), "{}", missing.err);
    remote.ok(&[&convert[..], &["--resume"]].concat());
    remote.equal("s", "s3://data/t");
    // Again, over what is there.
    let overwrite = [&convert[..], &["--overwrite"]].concat();
    let (code, err) = remote.at_request(&overwrite, Some("PUT"), "-TERM");
    assert!(code == Some(15) && err.contains(goes_on), "{code:?}: {err}");
    remote.ok(&[&overwrite[..], &["--resume"]].concat());
    remote.equal("s", "s3://data/t");
    let copy = ["cp", "s3://data/s", "s3://data/c"];
    remote.interrupted(&copy, Some("PUT"), &["s3://data/c is not complete", goes_on]);
    remote.ok(&[&copy[..], &["--resume"]].concat());
    remote.equal("s", "s3://data/c");
    let moved = ["mv", "s3://data/s::/g", "s3://data/m::/g"];
    remote.ok(&["create", "s3://data/m", "/", "--group", "--dialect", "v2"]);
    remote.interrupted(&moved, Some("PUT"), &["s3://data/s::/g is whole until all is copied", "--resume goes on"]);
    remote.ok(&[&moved[..], &["--resume"]].concat());
    remote.equal("s::/g", "s3://data/m::/g");
    // Before anything is written.
    remote.interrupted(&["convert", "s3://data/c", "new"], None, &["nothing is written"]);
    assert!(!remote.folder.path("new").exists());
}

#[test]
fn changes_that_are_interrupted_are_done_again() {
    let remote = remote();
    let (code, err) = remote.at_request(&["read", "s3://data/s", "g/a"], None, "-INT");
    assert_eq!((code, err.as_str()), (Some(2), ""), "a verb that reads");
    // A table, whose file is there only once it is whole.
    let dims = ["create", "s3://data/d", "v", "--shape", "60", "--dtype", "int16", "--chunks", "1", "--dims", "x"];
    remote.ok(&dims);
    remote.ok(&["write", "s3://data/d", "v", "--value", "7"]);
    let table = ["read", "s3://data/d", "v", "-o", "v.arrow", "--threads", "1"];
    remote.interrupted(&table, Some("GET"), &["v.arrow is not written"]);
    let left = std::fs::read_dir(remote.folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("v.arrow")));
    let migrate = ["migrate", "s3://data/s"];
    remote.interrupted(&migrate, Some("PUT"), &["the same command goes on", "`zarr migrate --undo`"]);
    remote.ok(&migrate);
    remote.interrupted(&["migrate", "s3://data/s", "--finish"], None, &["the same command drops the rest"]);
    remote.ok(&["migrate", "s3://data/s", "--finish"]);
    remote.equal("s", "s3://data/s");
    let write = ["write", "s3://data/s", "g/a", "--value", "9", "--threads", "1"];
    remote.interrupted(&write, Some("PUT"), &["old elements or its new ones", "the same command writes all"]);
    remote.ok(&write);
    assert_eq!(remote.ok(&["read", "s3://data/s", "g/a", "--as", "raw", "-o", "-"]).len(), 120);
    std::fs::write(remote.folder.path("b.npy"), crate::folder::npy("<i2", false, "(60,)", &int16(0..60))).unwrap();
    let append = ["append", "s3://data/s", "g/b", "--from", "b.npy", "--threads", "1"];
    remote.interrupted(&append, Some("PUT"), &["what is appended lies within the shape"]);
    let info = remote.ok(&["info", "s3://data/s", "g/b"]);
    assert!(info.lines().any(|line| line.starts_with("Shape") && line.ends_with("(6,)")), "{info}");
    remote.interrupted(&["consolidate", "s3://data/s"], None, &["the same command writes it"]);
    remote.ok(&["consolidate", "s3://data/s"]);
    remote.interrupted(&["resize", "s3://data/s", "g/a", "--shape", "70"], None, &["its old shape or its new one"]);
    remote.interrupted(&["attrs", "s3://data/s", "g/a", "--set", "a=1"], None, &["the same command changes it"]);
    remote.interrupted(&["check", "s3://data/s", "--repair"], None, &["nothing is repaired"]);
    remote.interrupted(
        &["rm", "s3://data/s", "g/a"],
        None,
        &["the node is there, or gone", "`zarr check` names keys that are left"],
    );
    let again = remote.folder.run(&remote.with(&["rm", "s3://data/s", "g/a"]));
    assert!(matches!(again.code, Some(0 | 3)), "{}", again.err);
    let left = remote.server.keys("data").into_iter().find(|key| key.starts_with("s/g/a/"));
    assert_eq!(left, None);
}

/// The error has a kind of its own as JSON; who ignores the signal goes on.
#[test]
fn interruptions_are_told_to_scripts_and_may_be_ignored() {
    let remote = remote();
    let (code, err) = remote.at_request(&["cp", "s", "s3://data/c", "--json"], Some("PUT"), "-INT");
    assert!(code == Some(2) && err.contains("\"kind\":\"interrupted\""), "{code:?}: {err}");
    let args = remote.with(&["cp", "s", "s3://data/d"]).join(" ");
    remote.server.reset_counts();
    remote.server.set_latency(Duration::from_millis(30));
    let script = format!("trap '' INT; exec {} {args}", env!("CARGO_BIN_EXE_zarr"));
    let mut command = Command::new("sh");
    let child =
        command.args(["-c", &script]).current_dir(remote.folder.path("")).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while remote.server.log().is_empty() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(child.wait_with_output().unwrap().status.success());
    remote.equal("s", "s3://data/d");
}
