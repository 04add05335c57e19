//! Lines about what an interruption leaves, where they depend on more than the verb.

use crate::folder::Folder;
use crate::signalled::Remote;
use std::time::Duration;

/// A data set of two variables in a bucket, and one to append in the folder.
fn remote() -> Remote {
    let folder = Folder::new();
    for name in ["x", "b"] {
        folder.ok(&["create", "s", name, "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dims", "x"]);
        folder.ok(&["write", "s", name, "--value", "7"]);
    }
    Remote::of(folder)
}

impl Remote {
    /// Interrupts the command at its first request of a method, for a path that has these letters.
    fn at_path(&self, args: &[&str], (method, path): (&str, &str)) -> (Option<i32>, String) {
        let latency = Duration::from_millis(200);
        self.signalled(args, latency, |it| it.method == method && it.path.contains(path), "-INT")
    }

    fn says(&self, args: &[&str], method: &str, words: &str) {
        let (code, err) = self.at_path(args, (method, ""));
        assert!(code == Some(2) && err.contains(words), "{args:?}: {code:?}: {err}");
    }
}

#[test]
fn what_is_left_depends_on_the_arguments() {
    let remote = remote();
    let append = ["append", "s3://data/s", "--from", "s"];
    remote.says(&append, "PUT", "variables may have different sizes along x, which `zarr check` names");
    let zip = ["mv", "s3://data/s", "x.zip"];
    let (code, err) = remote.at_path(&zip, ("GET", "/c/"));
    let is_told = err.contains("s3://data/s is whole until x.zip is written") && !err.contains("--resume");
    assert!(code == Some(2) && is_told, "{code:?}: {err}");
    let part = ["convert", "s", "s3://data/t", "--chunks", "1", "--part", "1/2"];
    remote.says(&part, "PUT", "part 1/2 is not done");
    let new = ["create", "s3://data/s", "b", "--shape", "4", "--dtype", "int8", "--overwrite"];
    remote.says(&new, "DELETE", "partly erased; the same command creates the new one");
    remote.ok(&new);
    remote.says(&["digest", "s3://data/s", "--parts", "p.json"], "GET", "p.json is not written");
    remote.says(&["view", "s3://data/s", "x", "-o", "p.png"], "GET", "p.png is not written");
    remote.says(&["consolidate", "s3://data/s", "--drop"], "GET", "as before, or dropped");
    // No file is left beside those that are not written.
    let names = std::fs::read_dir(remote.folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        names.filter(|name| name.to_string_lossy().contains("p.") && !name.to_string_lossy().contains("zip")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_writes_nothing_is_interrupted_without_a_line() {
    let remote = remote();
    for args in [
        ["consolidate", "s3://data/s", "--check"].as_slice(),
        &["remove-metadata", "v3", "s3://data/s", "--dry-run", "--force"],
        &["check", "s3://data/s", "--repair", "--dry-run"],
    ] {
        let (code, err) = remote.at_path(args, ("GET", ""));
        assert!(code == Some(2) && !err.contains("interrupted"), "{args:?}: {code:?}: {err}");
    }
}

/// Variables that have grown apart can be cut to one size by the commands that the line names.
#[test]
fn data_sets_that_grew_apart_are_repaired() {
    let folder = Folder::new();
    for (name, len) in [("x", "6"), ("b", "4")] {
        folder.ok(&["create", "s", name, "--shape", len, "--dtype", "int16", "--dims", "x"]);
    }
    let check = folder.run(&["check", "s"]);
    let found = String::from_utf8(check.out).unwrap();
    assert!(check.code == Some(1) && found.contains("dimension \"x\" has"), "{found}");
    folder.ok(&["resize", "s", "x", "--shrink", "--dim", "x=4"]);
    folder.ok(&["append", "s", "--from", "s"]);
    assert!(folder.ok(&["ds", "s"]).starts_with("Dimensions:  x 8"));
}
