//! Tests of manifests over stores that tell little, fail or change.

mod other;

use super::*;
use crate::Progress;
use other::{Broken, Other};
use std::ops::ControlFlow;
use zarr_store::{AccessProfile, ByteRange, ErrorKind as StoreErrorKind};

const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group"}"#;

fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    crate::hash::Hexadecimal(&Sha256::digest(bytes)).to_string()
}

/// Returns `len` bytes that do not repeat.
fn bytes(len: usize) -> Vec<u8> {
    (0_u32..).flat_map(u32::to_le_bytes).take(len).collect()
}

fn made(store: &Arc<Other>, options: &ManifestOptions) -> Result<Manifest> {
    let store: Arc<dyn Store> = Arc::<Other>::clone(store);
    Manifest::of(&store, "/", options, |_| {})
}

fn checked(store: &Arc<Other>, manifest: &Manifest, path: &str) -> Result<Vec<String>> {
    let store: Arc<dyn Store> = Arc::<Other>::clone(store);
    let check = manifest.check(&store, path, &ManifestOptions::default(), |_| {})?;
    Ok(check.differences.iter().map(ToString::to_string).collect())
}

#[test]
fn large_values_are_hashed_as_a_whole_in_stores_of_all_kinds() {
    let large = bytes(200_001);
    let exact = bytes(2 * least());
    for profile in [AccessProfile::MEMORY, AccessProfile::LOCAL, AccessProfile::REMOTE] {
        for (tells_sizes, memory) in [(true, 0), (true, 150_000), (false, 0), (false, 1 << 30)] {
            let values = [("zarr.json", GROUP), ("a", &large[..]), ("b", &exact), ("c", b"")];
            let store = Arc::new(Other { tells_sizes, profile, ..Other::new(&values) });
            let options = ManifestOptions::default().memory(memory);
            let manifest = made(&store, &options).unwrap();
            for (name, value) in values {
                let entry = &manifest.entries[name];
                let expected = (hash(value), Some(value.len() as u64));
                assert_eq!((entry.checksum.clone(), entry.size), expected, "{name} {profile:?} {tells_sizes} {memory}");
            }
            let store: Arc<dyn Store> = store;
            assert_eq!(manifest.check(&store, "/", &options, |_| {}).unwrap().differences, []);
        }
    }
}

/// Number of bytes that are read at once with the least memory.
fn least() -> usize {
    usize::try_from(hashing::LEAST).unwrap()
}

#[test]
fn values_are_got_once_where_parts_cost_as_much() {
    let (large, small) = (bytes((8 << 20) + 1), bytes(10));
    let values = [("zarr.json", GROUP), ("a", &large[..]), ("b", &small)];
    for profile in [AccessProfile::MEMORY, AccessProfile::LOCAL, AccessProfile::REMOTE] {
        let store = Arc::new(Other { profile: profile.cheap_parts(false), ..Other::new(&values) });
        made(&store, &ManifestOptions::default()).unwrap();
        // To name a state, some stores hash the whole value.
        assert_eq!(store.gets_of("a"), (vec![vec![ByteRange::Full]], false));
        assert_eq!(store.gets_of("b"), (vec![vec![ByteRange::First(8 << 20)]], false));
        // Drivers decide by the size how they get the value.
        let gets = lock(&store.gets);
        assert_eq!(gets.iter().find(|get| get.key == "a").unwrap().expected_size, Some(large.len() as u64));
    }
    let expected = |end: u64| vec![vec![ByteRange::First(8 << 20)], vec![ByteRange::Range(8 << 20..end)]];
    for profile in [AccessProfile::MEMORY, AccessProfile::LOCAL] {
        let store = Arc::new(Other { profile, ..Other::new(&values) });
        made(&store, &ManifestOptions::default()).unwrap();
        assert_eq!(store.gets_of("a"), (expected(large.len() as u64), true));
    }
    // Pieces could be of different states.
    let store = Arc::new(Other { has_states: false, ..Other::new(&values) });
    made(&store, &ManifestOptions::default()).unwrap();
    assert_eq!(store.gets_of("a").0, [[ByteRange::First(8 << 20)], [ByteRange::Full]]);
}

#[test]
fn the_beginning_of_a_value_of_unknown_size_is_read_once() {
    let large = bytes((8 << 20) + 1);
    let values = [("zarr.json", GROUP), ("a", &large[..])];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let store = Arc::new(Other { lists: false, profile: AccessProfile::REMOTE, ..Other::new(&values) });
    assert_eq!(checked(&store, &manifest, "/").unwrap(), [""; 0]);
    let (ranges, is_of_state) = store.gets_of("a");
    assert_eq!(ranges, [[ByteRange::First(8 << 20)], [ByteRange::Range(8 << 20..large.len() as u64)]]);
    assert!(is_of_state, "the rest is of the same state");
}

#[test]
fn threads_hold_no_more_than_the_memory() {
    let (large, small) = (bytes(200_000), bytes(30_000));
    let names: Vec<String> = (0..40).map(|number| format!("c/{number}")).collect();
    let values = names.iter().map(|name| (name.as_str(), &small[..]));
    let values: Vec<_> = values.chain([("zarr.json", GROUP), ("d", &large), ("e", &large)]).collect();
    for profile in [AccessProfile::MEMORY, AccessProfile::REMOTE] {
        let store = Arc::new(Other { profile, ..Other::new(&values) });
        let options = ManifestOptions::default().memory(0).threads(NonZeroUsize::new(8));
        let manifest = made(&store, &options).unwrap();
        assert_eq!(manifest.size(), Some(40 * 30_000 + 400_000 + GROUP.len() as u64));
        let (now, most) = *lock(&store.held.0);
        assert!(now == 0 && most <= hashing::LEAST, "{most}");
    }
}

#[test]
fn sizes_that_cost_a_get_are_not_asked_for() {
    let store = Arc::new(Other { tells_sizes: false, ..Other::new(&[("zarr.json", GROUP), ("a", b"1"), ("b", b"2")]) });
    let (events, all): (_, Arc<dyn Store>) = (Mutex::new(Vec::new()), store.clone());
    let manifest = Manifest::of(&all, "/", &ManifestOptions::default(), |event| {
        if let Progress::Total(bytes) = event {
            lock(&events).push(bytes);
        }
    });
    assert_eq!((manifest.unwrap().size(), lock(&events).clone()), (Some(GROUP.len() as u64 + 2), vec![0]));
    for key in ["a", "b"] {
        assert_eq!(store.gets_of(key).0.len(), 1, "{key}");
    }
}

#[test]
fn a_value_that_is_erased_meanwhile_is_an_error_or_a_difference() {
    let store = || Other::new(&[("zarr.json", GROUP), ("a", b"1"), ("b", b"2")]);
    let manifest = made(&Arc::new(store()), &ManifestOptions::default()).unwrap();
    let erasing = || Arc::new(Other { erased: Some("b"), ..store() });
    let error = made(&erasing(), &ManifestOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, Some("b")), "{error}");
    assert_eq!(checked(&erasing(), &manifest, "/").unwrap(), ["b: is missing"]);
}

#[test]
fn values_that_change_meanwhile_are_an_error() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..])];
    for (written, erased, key, what) in [
        (Some(("b", &b"2"[..])), None, Some("b"), "found a new value at the end"),
        (Some(("a", b"22")), None, None, "found values of other sizes at the end"),
        (None, Some("a"), Some("a"), "found no value"),
    ] {
        let error = made(&Arc::new(Other { written, erased, ..Other::new(&values) }), &ManifestOptions::default());
        let error = error.unwrap_err();
        assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, key), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_value_that_cannot_be_read_does_not_end_a_check() {
    use StoreErrorKind::{Denied, Invalid, Io, Path, Throttled, TimedOut, Transient};
    let values = [("zarr.json", GROUP), ("a", &b"1"[..]), ("b", b"2"), ("c", b"3")];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let changed = [("zarr.json", GROUP), ("a", &b"0"[..]), ("b", b"2"), ("c", b"0")];
    let broken = |key: &str, broken| Arc::new(Other { broken: vec![(key.to_owned(), broken)], ..Other::new(&changed) });
    for kind in [Invalid, Denied, Path, Io, Transient, TimedOut, Throttled] {
        let of = |key| broken(key, Broken::Kind(kind));
        let found = checked(&of("b"), &manifest, "/").unwrap();
        assert_eq!(found, ["a: differs", "b: cannot be read: get b: torn", "c: differs"], "{kind:?}");
        let found = checked(&of("zarr.json"), &manifest, "/").unwrap();
        assert_eq!(found, ["a: differs", "c: differs", "zarr.json: cannot be read: get zarr.json: torn"], "{kind:?}");
        assert!(made(&of("b"), &ManifestOptions::default()).is_err());
        // A store that refuses all, or does not answer at all.
        for lists in [true, false] {
            let all = Other { broken: vec![("*".to_owned(), Broken::Kind(kind))], lists, ..Other::new(&changed) };
            let error = checked(&Arc::new(all), &manifest, "/").unwrap_err();
            assert_eq!(error.store_error().unwrap().kind(), kind, "{error}");
        }
    }
    for kind in [Broken::Memory, Broken::Kind(StoreErrorKind::NotFound)] {
        assert!(checked(&broken("b", kind), &manifest, "/").is_err(), "{kind:?}");
    }
    #[cfg(unix)]
    assert!(checked(&broken("b", Broken::Files), &manifest, "/").is_err());
}

#[test]
fn a_store_that_answers_no_more_ends_a_check_with_its_findings() {
    let names: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
    let values = names.iter().map(|name| (name.as_str(), &b"1"[..]));
    let values: Vec<_> = values.chain([("zarr.json", GROUP)]).collect();
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let check = |silent: &dyn Fn(usize) -> bool| {
        let broken = names.iter().enumerate().filter(|(number, _)| silent(*number));
        let broken = broken.map(|(_, name)| (name.clone(), Broken::Kind(StoreErrorKind::TimedOut))).collect();
        let store: Arc<dyn Store> = Arc::new(Other { broken, ..Other::new(&values) });
        let options = ManifestOptions::default().threads(NonZeroUsize::new(1));
        manifest.check(&store, "/", &options, |_| {}).map(|check| check.differences.len())
    };
    // Every second value, and 15 in a row.
    assert_eq!(check(&|number| number % 2 == 1).unwrap(), 20);
    assert_eq!(check(&|number| (1..16).contains(&number)).unwrap(), 15);
    let error = check(&|number| number >= 1).unwrap_err();
    assert!(error.store_error().unwrap().is_retryable(), "{error}");
    assert!(error.hint().unwrap().starts_with("until then the check found: 01: cannot be read: "), "{error}");
}

#[test]
fn keys_that_cannot_be_listed_do_not_end_a_check() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..]), ("b", b"2")];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let changed = [("zarr.json", GROUP), ("a", &b"0"[..]), ("c", b"3")];
    let check = |lists, unlisted: Option<StoreErrorKind>| {
        let unlisted = unlisted.map(Broken::Kind);
        let store: Arc<dyn Store> = Arc::new(Other { lists, unlisted, ..Other::new(&changed) });
        manifest.check(&store, "/", &ManifestOptions::default(), |_| {}).map(|check| {
            let found: Vec<String> = check.differences.iter().map(ToString::to_string).collect();
            (found, check.unlisted.map(|error| error.message_with_causes()))
        })
    };
    let unknown = vec!["a: differs".to_owned(), "b: is missing".to_owned()];
    let known = [&unknown[..], &["c: is not in the manifest".to_owned()]].concat();
    assert_eq!(check(true, None).unwrap(), (known, None));
    assert_eq!(check(false, None).unwrap(), (unknown.clone(), Some("the store does not list its keys".to_owned())));
    for kind in [StoreErrorKind::Denied, StoreErrorKind::Io, StoreErrorKind::Limit] {
        let (found, cause) = check(true, Some(kind)).unwrap();
        assert_eq!(found, unknown, "{kind:?}");
        assert!(cause.unwrap().contains("torn"));
    }
    assert!(check(true, Some(StoreErrorKind::TimedOut)).is_err());
}

#[test]
fn sizes_are_not_asked_for_where_documents_are_missing() {
    let values = [("a", &b""[..]), ("b", b"22"), ("c", b"33"), ("zarr.json", GROUP)];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    for documents in [&[][..], &[("zarr.json", &b""[..])]] {
        let store = Other { tells_sizes: false, ..Other::new(&[&values[..3], documents].concat()) };
        let store = Arc::new(store);
        let what = if documents.is_empty() { "is missing" } else { "differs" };
        assert_eq!(checked(&store, &manifest, "/").unwrap(), [format!("zarr.json: {what}")]);
        assert_eq!((store.gets_of("b").0.len(), store.gets_of("c").0.len()), (2, 1));
    }
}

#[test]
fn nodes_whose_documents_are_damaged_are_compared() {
    let values = [("g/zarr.json", GROUP), ("g/a", &b"1"[..]), ("zarr.json", GROUP)];
    let all = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let below: String =
        all.to_string().lines().take(2).map(|line| format!("{}\n", line.replace("  g/", "  "))).collect();
    let below: Manifest = below.parse().unwrap();
    for lists in [true, false] {
        for (document, what) in
            [(None, "is missing"), (Some("{"), "differs"), (Some("{\"zarr_format\": 9}"), "differs")]
        {
            let damaged = |gone: &str| {
                let kept = values.iter().filter(|(key, _)| *key != gone).copied();
                let more = document.map(|text| (gone.to_owned(), text.as_bytes()));
                let more = more.iter().map(|(key, text)| (key.as_str(), *text));
                Arc::new(Other { lists, ..Other::new(&kept.chain(more).collect::<Vec<_>>()) })
            };
            assert_eq!(
                checked(&damaged("zarr.json"), &all, "/").unwrap(),
                [format!("zarr.json: {what}")],
                "{document:?}"
            );
            assert_eq!(checked(&damaged("g/zarr.json"), &below, "/g").unwrap(), [format!("zarr.json: {what}")]);
        }
        // Nothing at all is there.
        let store = Arc::new(Other { lists, ..Other::new(&values) });
        assert!(checked(&store, &below, "/h").unwrap_err().is_not_found());
    }
}

#[test]
fn values_of_unfinished_changes_are_left_out() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..]), (".zconversion-old/x", b"2"), ("g/.zmigration", b"3")];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    assert_eq!(manifest.entries().len(), 4);
    let unfinished = [
        ("g/.zconversion.1-of-3-x", &b"1"[..]),
        (".zconversion.scratch.1", b"2"),
        (".zreplacement/x/zarr.json", GROUP),
        (".zmigration", b"{}"),
    ];
    let store = Arc::new(Other::new(&[&values[..], &unfinished].concat()));
    assert_eq!(made(&store, &ManifestOptions::default()).unwrap(), manifest);
    assert_eq!(checked(&store, &manifest, "/").unwrap(), [""; 0]);
    // A manifest of other software may have them.
    let more: Manifest = format!("{manifest}{}  .zconversion.scratch.1\n", hash(b"0")).parse().unwrap();
    assert_eq!(checked(&store, &more, "/").unwrap(), [".zconversion.scratch.1: differs"]);
}

#[test]
fn dandi_has_no_files_of_git_and_its_client() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..])];
    let of_client = [
        (".git/HEAD", &b"1"[..]),
        ("a.git", b"2"),
        ("g/.gitattributes", b"3"),
        (".datalad/config", b"4"),
        (".dandi/x", b"5"),
        (".gitmodules", b"6"),
    ];
    let store = Arc::new(Other::new(&[&values[..], &of_client].concat()));
    let options = ManifestOptions::default().form(ManifestForm::Dandi);
    let manifest = made(&store, &options).unwrap();
    assert_eq!(manifest.entries().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "a.git", "zarr.json"]);
    assert!(manifest.dandi_checksum().unwrap().contains("-3--"));
    assert_eq!(checked(&store, &manifest, "/").unwrap(), [""; 0]);
    assert_eq!(made(&store, &ManifestOptions::default()).unwrap().entries().len(), 8);
}

#[test]
fn names_that_a_manifest_cannot_have_are_refused() {
    let (deep, long) = ("a/".repeat(1000) + "a", "\\".repeat(66_000));
    let of = |name: &str, form| {
        let store = Arc::new(Other::new(&[("zarr.json", GROUP), (name, b"1")]));
        made(&store, &ManifestOptions::default().form(form))
    };
    let limit = |made: Result<Manifest>| {
        let error = made.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        error.to_string()
    };
    assert!(limit(of(&deep, ManifestForm::Dandi)).contains("found 1001 segments of the name \"a/a/"));
    let made = of(&deep[2..], ManifestForm::Dandi).unwrap();
    assert_eq!(made.to_string().parse::<Manifest>().unwrap().entries().len(), 2);
    assert_eq!(of(&deep, ManifestForm::Sha256sum).unwrap().entries().len(), 2);
    let long = "a".to_owned() + &long;
    assert!(limit(of(&long, ManifestForm::Sha256sum)).contains("expected at most 131072"));
    let made = of(&long[..65_000], ManifestForm::Sha256sum).unwrap();
    assert_eq!(Manifest::read(made.to_string().as_bytes()).unwrap().entries().len(), 2);
}

#[test]
fn a_node_without_values_has_no_manifest() {
    let store = Arc::new(Other { lists_nothing: true, ..Other::new(&[("zarr.json", GROUP)]) });
    let error = made(&store, &ManifestOptions::default()).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("/: found no values"), "{error}");
}

#[test]
fn the_first_event_is_the_total_and_events_cancel() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..])];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    for (lists, expected) in [(true, GROUP.len() as u128 + 1), (false, 0)] {
        let store: Arc<dyn Store> = Arc::new(Other { lists, ..Other::new(&values) });
        let (events, options) = (Mutex::new(Vec::new()), ManifestOptions::default());
        let event = |event: Progress<'_>| lock(&events).push(format!("{event:?}"));
        manifest.check(&store, "/", &options, event).unwrap();
        assert_eq!(lock(&events)[0], format!("Total({expected})"));
        assert_eq!(lock(&events).len(), 3);
        let end = |event: Progress<'_>| match event {
            Progress::Done(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        assert_eq!(manifest.check(&store, "/", &options, end).unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
