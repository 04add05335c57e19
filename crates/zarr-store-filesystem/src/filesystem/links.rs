//! Tests of symbolic links: they are followed inside the store, and refused if they lead out.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::contract::{each, key};
use super::*;
use zarr_store::{ByteRange, Prefix, SizeVisitor, StoreExt, testing};

#[test]
fn links_do_not_lead_out() {
    each(|store| {
        let outside = store.path().with_extension("outside");
        // A neighbour whose path begins like the root's.
        fs::create_dir_all(&outside).expect("made");
        fs::write(outside.join("secret"), b"secret").expect("written");
        store.set_all(&key("a/inside"), b"1").expect("set");
        symlink(outside.join("secret"), store.path().join("a/file")).expect("linked");
        symlink(&outside, store.path().join("folder")).expect("linked");
        symlink("../../..", store.path().join("a/up")).expect("linked");
        let relative =
            Path::new("../..").join(outside.strip_prefix(store.path().parent().expect("one")).expect("beside"));
        symlink(relative.join("secret"), store.path().join("a/relative")).expect("linked");
        for name in ["a/file", "folder/secret", "a/relative"] {
            let error = store.get_all(&key(name)).expect_err("leads out");
            assert!(matches!(&error, Error::Escape { target, .. } if target.ends_with("secret")), "{error:?}");
            assert!(error.is_path());
            assert!(store.size(&key(name)).expect_err("leads out").is_path());
        }
        for name in ["folder/new", "folder/deeper/new", "a/up/new"] {
            assert!(store.set_all(&key(name), b"2").expect_err("leads out").is_path(), "{name}");
        }
        assert!(store.erase(&key("folder/secret")).expect_err("leads out").is_path());
        assert!(store.list_dir(&Prefix::new("folder/").expect("a prefix")).expect_err("leads out").is_path());
        // A copy of the listed keys meets the error; the keys below such a link are not known.
        assert!(store.list().expect_err("leads out").is_path());
        let a = Prefix::new("a/").expect("a prefix");
        assert!(store.list_sizes(&a, &(Arc::new(|_, _| ()) as SizeVisitor)).expect_err("leads out").is_path());
        let listing = store.list_dir(&a).expect("list");
        assert_eq!(listing.keys, [key("a/file"), key("a/inside"), key("a/relative")]);
        assert_eq!(listing.prefixes, [Prefix::new("a/up/").expect("a prefix")]);
        store.erase_prefix(&Prefix::new("folder/").expect("a prefix")).expect("erase");
        store.erase_prefix(&Prefix::new("a/up/").expect("a prefix")).expect("erase");
        assert_eq!(store.list().expect("list"), listing.keys);
        testing::check_sizes(store, &Prefix::root());
        // A set replaces the link, not its target; an erase removes it.
        store.set_all(&key("a/file"), b"3").expect("set");
        store.erase(&key("a/relative")).expect("erase");
        assert_eq!(fs::read(outside.join("secret")).expect("there"), b"secret");
        assert_eq!(fs::read_dir(&outside).expect("there").count(), 1);
    });
}

#[test]
fn links_inside_are_followed() {
    each(|store| {
        store.set_all(&key("data/x"), b"value").expect("set");
        symlink("data", store.path().join("relative")).expect("linked");
        symlink(store.path().join("data"), store.path().join("absolute")).expect("linked");
        symlink("../data/x", store.path().join("data/y")).expect("linked");
        for name in ["relative/x", "absolute/x", "data/y", "absolute/y"] {
            assert_eq!(store.get_all(&key(name)).expect("get").as_deref(), Some(&b"value"[..]), "{name}");
            assert_eq!(store.size(&key(name)).expect("size"), Some(5));
        }
        store.set_all(&key("absolute/z"), b"new").expect("set");
        assert_eq!(store.get_all(&key("data/z")).expect("get").as_deref(), Some(&b"new"[..]));
        assert_eq!(store.list().expect("list").len(), 9);
        testing::check_sizes(store, &Prefix::root());
    });
}

#[test]
fn erasing_a_prefix_removes_links_and_not_their_targets() {
    each(|store| {
        for name in ["data/x", "data/y/z", "a/b/c", "a/d"] {
            store.set_all(&key(name), b"value").expect("set");
        }
        symlink("../data", store.path().join("a/link")).expect("linked");
        symlink("../data/x", store.path().join("a/x")).expect("linked");
        symlink("data", store.path().join("link")).expect("linked");
        for (prefix, left) in [("link/", 7), ("a/", 2), ("absent/", 2), ("data/x/", 2)] {
            store.erase_prefix(&Prefix::new(prefix).expect("a prefix")).expect("erase");
            let keys = store.list().expect("list");
            assert_eq!(keys.len(), left, "{prefix}: {keys:?}");
        }
        assert_eq!(store.list().expect("list"), [key("data/x"), key("data/y/z")]);
        assert!(!store.path().join("a").exists());
    });
}

#[test]
fn a_root_may_be_a_link() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::create_dir(folder.path().join("real")).expect("made");
    symlink("real", folder.path().join("link")).expect("linked");
    let store = FilesystemStore::open(folder.path().join("link")).expect("opened");
    testing::contract(&store);
}

#[test]
fn loops_end() {
    each(|store| {
        store.set_all(&key("a/b/value"), b"").expect("set");
        symlink("..", store.path().join("a/b/up")).expect("linked");
        symlink("self", store.path().join("self")).expect("linked");
        symlink("nowhere", store.path().join("dangling")).expect("linked");
        symlink("c", store.path().join("d")).expect("linked");
        fs::create_dir(store.path().join("c")).expect("made");
        symlink("../a", store.path().join("c/a")).expect("linked");
        symlink("../c", store.path().join("a/c")).expect("linked");
        let keys = store.list().expect("list");
        assert!(keys.contains(&key("a/b/value")) && keys.contains(&key("d/a/b/value")), "{keys:?}");
        testing::check_sizes(store, &Prefix::root());
        for name in ["self", "dangling"] {
            assert!(store.get_all(&key(name)).is_err() && keys.contains(&key(name)), "{name}");
        }
    });
}

#[test]
fn a_link_to_nothing_is_no_missing_value() {
    each(|store| {
        store.set_all(&key("a/0"), b"0").expect("set");
        symlink("../../.git/annex/objects/x", store.path().join("a/1")).expect("linked");
        symlink("nowhere", store.path().join("b")).expect("linked");
        symlink("../a", store.path().join("a/c")).expect("linked");
        for (name, link, target) in [("a/1", "a/1", "../../.git/annex/objects/x"), ("b/0/0", "b", "nowhere")] {
            let named = format!("{link} is a symbolic link to {target}");
            for error in [
                store.get_all(&key(name)).expect_err("a link to nothing"),
                store.size(&key(name)).expect_err("a link to nothing"),
                store.get_into(&key(name), &mut [0; 4]).expect_err("a link to nothing"),
            ] {
                let cause = std::error::Error::source(&error).expect("a cause").to_string();
                assert!(cause.contains(&named), "{cause}");
            }
        }
        // What is missing beside them, or behind a link to a directory that is there, is missing.
        for name in ["a/2", "a/c/2", "a/0/2", "d/e/f"] {
            assert_eq!(store.get_all(&key(name)).expect("get"), None, "{name}");
        }
        assert_eq!(store.list().expect("list"), ["a/0", "a/1", "b"].map(key));
        testing::check_sizes(store, &Prefix::root());
        // A set replaces the link, and an erase removes it.
        store.set_all(&key("a/1"), b"1").expect("set");
        store.erase(&key("b")).expect("erase");
        assert_eq!(store.list().expect("list"), ["a/0", "a/1"].map(key));
    });
}

#[test]
fn values_that_can_never_be_set_are_errors_at_once() {
    each(|store| {
        symlink("nowhere", store.path().join("dangling")).expect("linked");
        let begin = Instant::now();
        let error = store.set_all(&key("dangling/a/b"), b"").expect_err("nothing can be made there");
        let cause = std::error::Error::source(&error).expect("the error of the system").to_string();
        assert!(cause.contains("leads nowhere"), "{cause}");
        fs::remove_dir_all(store.path()).expect("removed");
        store.set_all(&key("a/b"), b"").expect_err("the root is gone");
        assert!(begin.elapsed() < Duration::from_secs(5), "tried again and again");
    });
}

#[test]
fn links_that_double_end() {
    each(|store| {
        for i in 0..30 {
            let level = store.path().join(format!("{i}"));
            fs::create_dir(&level).expect("made");
            for name in ["x", "y"] {
                symlink(format!("../{}", i + 1), level.join(name)).expect("linked");
            }
        }
        fs::create_dir(store.path().join("30")).expect("made");
        let error = store.list_prefix(&Prefix::new("0/").expect("a prefix")).expect_err("too many");
        assert!(
            std::error::Error::source(&error).is_some_and(|source| source.to_string().contains("too many linked")),
            "{error}"
        );
    });
}

#[cfg(target_os = "linux")]
#[test]
fn links_among_each_other_end() {
    each(|store| {
        let names: Vec<String> = (0..12).map(|number| format!("d{number}")).collect();
        for name in &names {
            store.set_all(&key(&format!("{name}/a")), b"value").expect("set");
            for other in names.iter().filter(|other| *other != name) {
                symlink(format!("../{other}"), store.path().join(name).join(other)).expect("linked");
            }
        }
        // Paths through all of them are 12! and more.
        let (mut todo, mut listed) = (vec![Prefix::root()], 0);
        let error = loop {
            match store.list_dir(&todo.pop().expect("paths of too many links come first")) {
                Ok(listing) => todo.extend(listing.prefixes),
                Err(error) => break error,
            }
            listed += 1;
            assert!(listed < 1000, "it does not end");
        };
        let reason = std::error::Error::source(&error).expect("a reason").to_string();
        assert!(reason.contains("linked directories"), "{reason}");
        assert!(store.list().is_err());
        store.erase_prefix(&Prefix::root()).expect("erase");
        assert_eq!(store.list().expect("list"), []);
    });
}

#[test]
fn pipes_do_not_hang() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = FilesystemStore::open(folder.path()).expect("opened");
    if !format!("{:?}", store.vfs).starts_with("OpenAt") {
        return;
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("made");
    assert!(store.get_ranges(&key("pipe"), &[ByteRange::Range(0..1)]).is_err());
    assert_eq!(store.list().expect("list"), [key("pipe")]);
    assert!(store.size(&key("pipe")).is_err());
}

#[test]
fn a_prefix_with_links_in_it_is_not_renamed() {
    each(|store| {
        store.set_all(&key("a/b/c"), b"value").expect("set");
        store.set_all(&key("data/x"), b"value").expect("set");
        symlink("../../data/x", store.path().join("a/b/link")).expect("linked");
        let prefix = |text: &str| Prefix::new(text).expect("a prefix");
        assert!(!store.rename_prefix(&prefix("a/"), &prefix("deep/er/a/")).expect("not renamed"));
        assert_eq!(store.list().expect("list"), [key("a/b/c"), key("a/b/link"), key("data/x")]);
        store.erase(&key("a/b/link")).expect("erase");
        assert!(store.rename_prefix(&prefix("a/"), &prefix("deep/er/a/")).expect("renamed"));
    });
}

/// Pipes and sockets are listed, and getting them is an error, so that they are not taken for missing values or left out of copies.
#[test]
fn what_is_neither_a_file_nor_a_directory_is_listed_and_is_an_error() {
    each(|store| {
        store.set_all(&key("a/file"), b"1").expect("set");
        let _socket = std::os::unix::net::UnixListener::bind(store.path().join("a/socket")).expect("bound");
        let made = std::process::Command::new("mkfifo").arg(store.path().join("a/pipe")).status();
        let mut names = vec!["a/link", "a/socket"];
        if made.is_ok_and(|status| status.success()) {
            names.push("a/pipe");
        }
        names.sort_unstable();
        symlink("socket", store.path().join("a/link")).expect("linked");
        let listed: Vec<String> = store.list().expect("list").iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = std::iter::once("a/file").chain(names.iter().copied()).collect();
        assert_eq!(listed, expected);
        testing::check_sizes(store, &Prefix::root());
        for name in names {
            for result in [
                store.get_all(&key(name)).map(drop),
                store.get_ranges(&key(name), &[ByteRange::Range(0..1)]).map(drop),
                store.size(&key(name)).map(drop),
            ] {
                assert!(result.is_err(), "{name}");
            }
            store.set_all(&key(name), b"2").expect("replaced");
            assert_eq!(store.get_all(&key(name)).expect("a file").as_deref(), Some(&b"2"[..]), "{name}");
        }
        store.erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erased");
        assert!(store.list().expect("list").is_empty());
    });
}
