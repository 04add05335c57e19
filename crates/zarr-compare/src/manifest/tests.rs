//! Tests of manifests over stores that tell little, fail or change.

use super::*;
use crate::Progress;
use std::ops::ControlFlow;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, ErrorKind as StoreErrorKind, Key, MemoryStore, Operation,
    StoreExt, fallback_blocking,
};

const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group"}"#;

/// Store over values in memory, with the properties of other stores.
#[derive(Debug)]
struct Other {
    memory: MemoryStore,
    /// Whether the store tells the sizes of values of which it reads a part.
    tells_sizes: bool,
    lists: bool,
    /// Whether lists have no keys, as those of nodes that have no documents of their own.
    lists_nothing: bool,
    profile: AccessProfile,
    /// Key whose value cannot be read, and the kind of the error.
    broken: Option<(&'static str, StoreErrorKind)>,
    /// Key that is erased after a listing.
    erased: Option<&'static str>,
    /// Gets: the key, the ranges, and whether a state was asked for or required.
    gets: Mutex<Vec<(String, Vec<ByteRange>, bool)>>,
}

impl Other {
    fn new(values: &[(&str, &[u8])]) -> Self {
        let memory = MemoryStore::new();
        for (key, value) in values {
            memory.set_all(&Key::new(key).unwrap(), value).unwrap();
        }
        Self {
            memory,
            tells_sizes: true,
            lists: true,
            lists_nothing: false,
            profile: AccessProfile::LOCAL,
            broken: None,
            erased: None,
            gets: Mutex::default(),
        }
    }

    /// Ranges of the gets of a value, and whether any asked for a state.
    fn gets_of(&self, key: &str) -> (Vec<Vec<ByteRange>>, bool) {
        let gets = lock(&self.gets);
        let of_key = gets.iter().filter(|(got, ..)| got == key);
        (of_key.clone().map(|(_, ranges, _)| ranges.clone()).collect(), of_key.clone().any(|(.., state)| *state))
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("other:")
    }
}

impl Store for Other {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        match call {
            Call::Get { key, ranges, options } => {
                lock(&self.gets).push((key.to_string(), ranges.to_vec(), !options.is_default()));
                if let Some((_, kind)) = self.broken.filter(|(broken, _)| key.as_str() == *broken) {
                    return Err(zarr_store::Error::failed(self, Operation::Get, key.as_str(), kind, "torn"));
                }
                let asked = ranges.to_vec();
                let mut got = self.memory.call(Call::Get { key, ranges, options })?.into_got()?;
                if let (Some(got), [range], false) = (&mut got, &asked[..], self.tells_sizes) {
                    got.size = range.whole_size(got.part(0));
                    (got.version, got.snapshot) = (None, None);
                }
                Ok(Answer::Got(got))
            }
            Call::ListSizes { .. } if self.lists_nothing => Ok(Answer::Done),
            call @ (Call::ListSizes { .. } | Call::ListPrefix { .. }) => {
                let listed = match self.tells_sizes || matches!(call, Call::ListPrefix { .. }) {
                    true => self.memory.call(call),
                    false => fallback_blocking(self, call),
                };
                if let Some(key) = self.erased {
                    self.memory.erase(&Key::new(key)?)?;
                }
                listed
            }
            call @ Call::ListDir { .. } => self.memory.call(call),
            call => fallback_blocking(self, call),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().list(self.lists).suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile
    }
}

fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
    let found = manifest.check(&store, path, &ManifestOptions::default(), |_| {})?;
    Ok(found.iter().map(ToString::to_string).collect())
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
            assert_eq!(manifest.check(&store, "/", &options, |_| {}).unwrap(), []);
        }
    }
}

/// Number of bytes that are read at once with the least memory.
fn least() -> usize {
    usize::try_from(hashing::LEAST).unwrap()
}

#[test]
fn values_of_archives_are_got_once() {
    let (large, small) = (bytes((8 << 20) + 1), bytes(10));
    let store = Arc::new(Other::new(&[("zarr.json", GROUP), ("a", &large), ("b", &small)]));
    made(&store, &ManifestOptions::default()).unwrap();
    // To name a state, some stores hash the whole value.
    assert_eq!(store.gets_of("a"), (vec![vec![ByteRange::Full]], false));
    assert_eq!(store.gets_of("b"), (vec![vec![ByteRange::First(8 << 20)]], false));
    // In memory the parts of a value are lent.
    let store =
        Arc::new(Other { profile: AccessProfile::MEMORY, ..Other::new(&[("zarr.json", GROUP), ("a", &large)]) });
    made(&store, &ManifestOptions::default()).unwrap();
    let all = 8 << 20..(8 << 20) + 1;
    assert_eq!(store.gets_of("a"), (vec![vec![ByteRange::First(8 << 20)], vec![ByteRange::Range(all)]], true));
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
fn a_value_that_cannot_be_read_does_not_end_a_check() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..]), ("b", b"2"), ("c", b"3")];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let changed = [("zarr.json", GROUP), ("a", &b"0"[..]), ("b", b"2"), ("c", b"0")];
    let broken = |key, kind| Arc::new(Other { broken: Some((key, kind)), ..Other::new(&changed) });
    for kind in [StoreErrorKind::Invalid, StoreErrorKind::Denied, StoreErrorKind::Path, StoreErrorKind::Io] {
        let found = checked(&broken("b", kind), &manifest, "/").unwrap();
        assert_eq!(found, ["a: differs", "b: cannot be read: get b: torn", "c: differs"], "{kind:?}");
        let found = checked(&broken("zarr.json", kind), &manifest, "/").unwrap();
        assert_eq!(found, ["a: differs", "c: differs", "zarr.json: cannot be read: get zarr.json: torn"], "{kind:?}");
        assert!(made(&broken("b", kind), &ManifestOptions::default()).is_err());
    }
    // A store that does not answer.
    for kind in [StoreErrorKind::Transient, StoreErrorKind::TimedOut, StoreErrorKind::NotFound] {
        for key in ["b", "zarr.json"] {
            assert!(checked(&broken(key, kind), &manifest, "/").is_err(), "{kind:?}");
        }
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
fn values_of_unfinished_conversions_are_left_out() {
    let values = [("zarr.json", GROUP), ("a", &b"1"[..])];
    let manifest = made(&Arc::new(Other::new(&values)), &ManifestOptions::default()).unwrap();
    let unfinished = [
        ("g/.zconversion.1-of-3-x", &b"1"[..]),
        (".zconversion.scratch.1", b"2"),
        (".zreplacement/x/zarr.json", GROUP),
    ];
    let store = Arc::new(Other::new(&[&values[..], &unfinished].concat()));
    assert_eq!(made(&store, &ManifestOptions::default()).unwrap(), manifest);
    assert_eq!(checked(&store, &manifest, "/").unwrap(), [""; 0]);
    // A manifest of other software may have them.
    let more: Manifest = format!("{manifest}{}  .zconversion.scratch.1\n", hash(b"0")).parse().unwrap();
    assert_eq!(checked(&store, &more, "/").unwrap(), [".zconversion.scratch.1: differs"]);
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
