//! Icechunk repositories by address: those of the tests of `zarr-icechunk`.

use std::path::{Path, PathBuf};

use zarr::store::StoreExt;

use crate::folder::Folder;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../zarr-icechunk/tests").join(name)
}

/// A folder with the repository `ice`, of version 2, and the file that chunks of it lie in.
fn repository() -> Folder {
    let folder = Folder::new();
    let archive = zarr::store::open(&format!("zip:{}", fixture("v2.zip").display())).unwrap();
    for key in archive.list().unwrap() {
        let path = folder.path("ice").join(key.as_str());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, archive.get_all(&key).unwrap().unwrap()).unwrap();
    }
    std::fs::copy(fixture("outside.bin"), folder.path("outside.bin")).unwrap();
    folder
}

#[test]
fn a_repository_is_read_by_its_address() {
    let folder = repository();
    let tree = folder.ok(&["tree", "icechunk:ice@tag.v1"]);
    assert!(tree.contains("many") && !tree.contains("outside"), "{tree}");
    let tree = folder.ok(&["tree", "icechunk:ice"]);
    assert!(tree.contains("outside") && !tree.contains("many"), "{tree}");
    let time = |address: &str| folder.ok(&["read", address, "--as", "json"]);
    assert_eq!(time("icechunk:ice::/time").trim(), "[0, 10, 20, 30, 40]");
    assert_eq!(time("icechunk:ice@main::/time"), time("icechunk:ice@tag.v1::/time"));
    assert_eq!(time("icechunk:ice@dev::/time").trim(), "[0, -1, -2, 30, 40]");
    // In a zip file, and of version 1 of the format.
    for name in ["v1.zip", "v2.zip"] {
        let address = format!("icechunk:zip:{}@branch.dev", fixture(name).display());
        assert_eq!(time(&format!("{address}::/time")).trim(), "[0, -1, -2, 30, 40]");
        folder.ok(&["check", &address]);
    }
    folder.ok(&["convert", "icechunk:ice@tag.v1", "copy.zarr"]);
    folder.ok(&["diff", "icechunk:ice@tag.v1", "copy.zarr"]);
}

#[test]
fn chunks_outside_of_a_repository_are_allowed_by_an_option() {
    let folder = repository();
    let read = ["read", "icechunk:ice::/named", "--as", "json"];
    let ran = folder.run(&read);
    assert!(
        ran.code != Some(0) && ran.err.contains("vcc://mine/outside.bin") && ran.err.contains("option allow=mine=URL"),
        "{}",
        ran.err
    );
    let allow = format!("allow=mine=file://{}", folder.path("").display());
    let values = folder.ok(&[&read[..], &["--store-option", &allow]].concat());
    let expected: Vec<String> = (1..21).map(|i: i32| i.to_string()).collect();
    assert_eq!(values.trim(), format!("[{}]", expected.join(", ")));
    let ran = folder.run(&["read", "icechunk:ice::/outside"]);
    assert!(ran.err.contains("option allow=file:///tmp/zarr-icechunk/ lets it be read"), "{}", ran.err);
    let ran = folder.run(&["ls", "icechunk:ice", "--store-option", "allow=data"]);
    assert!(ran.code == Some(2) && ran.err.contains("option allow: expected URLs"), "{}", ran.err);
}

#[test]
fn what_cannot_be_done_with_a_repository_is_told() {
    let folder = repository();
    let fails = |args: &[&str], words: &str| {
        let ran = folder.run(args);
        assert!(ran.code != Some(0) && ran.err.contains(words), "{args:?}: {:?} {}", ran.code, ran.err);
    };
    fails(&["tree", "ice"], "this is an Icechunk repository: icechunk:ADDRESS opens it");
    fails(&["tree", "icechunk:ice@mian"], "no branch or snapshot \"mian\"; branches: dev, main");
    fails(&["tree", "icechunk:ice@tag.gone"], "no tag \"gone\"; tags: v1");
    fails(&["tree", "icechunk:none"], "none");
    fails(&["create", "icechunk:ice", "a", "--shape", "4", "--dtype", "int8"], "`zarr convert` copies it");
    fails(&["rm", "icechunk:ice", "time"], "read");
}

/// The commits of a branch and a tag, of both versions of the format.
#[test]
fn commits_are_listed() {
    let folder = repository();
    let messages = |address: &str, more: &[&str]| {
        let text = folder.ok(&[&["log", address][..], more].concat());
        let message = |line: &str| line.split("  ").nth(2).unwrap().to_owned();
        text.lines().map(message).collect::<Vec<_>>()
    };
    for name in ["v1.zip", "v2.zip"] {
        let ice = format!("icechunk:zip:{}", fixture(name).display());
        assert_eq!(messages(&ice, &[]), ["second", "first", "Repository initialized"], "{name}");
        assert_eq!(messages(&format!("{ice}@dev"), &["-n", "2"]), ["of dev", "first"], "{name}");
        assert_eq!(messages(&format!("{ice}@tag.v1"), &[]), ["first", "Repository initialized"], "{name}");
        // The id of a commit opens its snapshot, whose history is that of the commit.
        let first = folder.ok(&["log", &format!("{ice}@tag.v1"), "-n", "1"]);
        let id = first.split(' ').next().unwrap();
        assert_eq!(messages(&format!("{ice}@{id}"), &["-n", "1"]), ["first"], "{name}");
        assert!(folder.ok(&["tree", &format!("{ice}@{id}")]).contains("many"));
    }
    assert_eq!(messages("icechunk:ice", &["-n", "0"]), [""; 0]);
    let fails = |args: &[&str], words: &str| {
        let ran = folder.run(args);
        assert!(ran.code != Some(0) && ran.err.contains(words), "{args:?}: {:?} {}", ran.code, ran.err);
    };
    fails(&["log", "ice"], "expected an Icechunk repository, icechunk:ADDRESS");
    fails(&["log", "icechunk:none"], "none");
    fails(&["log", "icechunk:ice@mian"], "branches: dev, main");
}
