//! Tests of loss of power: each level of durability keeps its promise, whatever else has reached the disk.

mod recorded;

use std::collections::{BTreeMap, BTreeSet};

use recorded::{Chance, Disk, Recorded};

use super::contract::{each, key};
use super::*;
use zarr_store::{Bytes, Key, Precondition, Prefix, SetOptions, StoreExt};

/// Change of a store.
#[derive(Clone, Debug)]
enum Step {
    Set(&'static str, Vec<u8>),
    /// Set with a condition that holds.
    Create(&'static str, Vec<u8>),
    /// Set piece by piece, with the first two bytes last.
    Stream(&'static str, Vec<u8>),
    SetMany(Vec<(&'static str, Vec<u8>)>),
    Erase(&'static str),
    Flush,
}

const KEYS: [&str; 5] = ["a", "d/x", "d/y", "d/e/z", "f/g/h"];

/// Generates steps. All values differ and have at least two bytes.
fn steps(chance: &mut Chance) -> Vec<Step> {
    let mut count = 0;
    let mut value = |chance: &mut Chance| {
        count += 1;
        vec![count; 2 + chance.below(6)]
    };
    let key = |chance: &mut Chance| KEYS[chance.below(KEYS.len())];
    let mut one = |chance: &mut Chance| match chance.below(8) {
        0 => Step::Set(key(chance), value(chance)),
        1 => Step::Stream(key(chance), value(chance)),
        2 => Step::Create(key(chance), value(chance)),
        3 => {
            let first = chance.below(KEYS.len());
            let names = [KEYS[first], KEYS[(first + 1) % KEYS.len()]];
            Step::SetMany(names.map(|name| (name, value(chance))).into())
        }
        4 | 5 => Step::Erase(key(chance)),
        6 => Step::Flush,
        _ => Step::Set("d/x", value(chance)),
    };
    (0..12).map(|_| one(chance)).collect()
}

/// Values by key.
type Values = BTreeMap<&'static str, Vec<u8>>;

impl Step {
    fn act(&self, store: &FilesystemStore, durability: Durability) {
        let set = |name: &str, value: &[u8], when| {
            store.set(&key(name), value, &SetOptions::when(when).durable(durability)).expect("set")
        };
        match self {
            Self::Set(name, value) => drop(set(name, value, Precondition::None)),
            Self::Create(name, value) => {
                let fetched = store.get_ranges(&key(name), &[]).expect("get");
                let version = fetched.and_then(|fetched| fetched.version);
                let when = version.map_or(Precondition::NotExists, Precondition::Version);
                set(name, value, when);
            }
            Self::Stream(name, value) => {
                let (key, (head, rest)) = (key(name), value.split_at(2));
                let options = SetOptions::default().durable(durability);
                let stream = store.begin_set(&key, 2, &options).expect("begun");
                let (a, b) = rest.split_at(rest.len() / 2);
                for piece in [a, b] {
                    store.append_to_set(&key, &stream, vec![Bytes::copy_from_slice(piece)]).expect("appended");
                }
                store.finish_set(&key, &stream, Bytes::copy_from_slice(head)).map(drop).expect("set");
            }
            Self::SetMany(values) => {
                let keys: Vec<Key> = values.iter().map(|(name, _)| key(name)).collect();
                let values: Vec<_> = keys.iter().zip(values).map(|(key, (_, value))| (key, value.as_slice())).collect();
                store.set_many(&values).expect("set");
            }
            Self::Erase(name) => store.erase(&key(name)).expect("erase"),
            Self::Flush => store.flush().expect("flush"),
        }
    }

    fn note(&self, values: &mut Values) {
        match self {
            Self::Set(name, value) | Self::Create(name, value) | Self::Stream(name, value) => {
                drop(values.insert(name, value.clone()))
            }
            Self::SetMany(many) => values.extend(many.iter().cloned()),
            Self::Erase(name) => drop(values.remove(name)),
            Self::Flush => {}
        }
    }

    fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::Set(name, _) | Self::Create(name, _) | Self::Stream(name, _) | Self::Erase(name) => vec![name],
            Self::SetMany(many) => many.iter().map(|(name, _)| *name).collect(),
            Self::Flush => Vec::new(),
        }
    }
}

/// Returns the values of a random state that a loss of power may leave.
fn after_a_loss(disk: &Disk, chance: &mut Chance) -> BTreeMap<String, Vec<u8>> {
    // In memory if the system has a file system there: these are many.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    disk.lose_power(chance, folder.path());
    let store = FilesystemStore::open(folder.path()).expect("opened");
    let value = |key: &Key| store.get_all(key).expect("get").expect("listed").to_vec();
    store.list().expect("list").iter().map(|key| (key.to_string(), value(key))).collect()
}

/// Possible values of each key after a loss of power: the last value that is surely on the disk, and all later ones.
type Allowed = BTreeMap<&'static str, BTreeSet<Option<Vec<u8>>>>;

/// Updates the possible values after a step.
fn note(allowed: &mut Allowed, step: &Step, values: &Values, level: Durability, asked: bool) {
    if matches!(step, Step::Flush) {
        for name in KEYS {
            allowed.insert(name, BTreeSet::from([values.get(name).cloned()]));
        }
    }
    // Of a single step only a set can ask for durability.
    let is_level = !asked || matches!(step, Step::Set(..) | Step::Create(..) | Step::Stream(..));
    let level = if is_level { level } else { Durability::None };
    for name in step.keys() {
        let known = allowed.entry(name).or_default();
        if level == Durability::Full {
            known.clear();
        }
        known.insert(values.get(name).cloned());
        if level == Durability::None
            && let Some(value) = values.get(name)
        {
            known.extend((0..value.len()).map(|len| Some(value[..len].to_vec())));
        }
    }
}

#[test]
fn a_loss_of_power_leaves_a_promised_state() {
    for round in 0..60 {
        let level = [Durability::None, Durability::File, Durability::Full][round % 3];
        // By each set, or for the whole store.
        let asked = round % 2 == 0;
        let steps = steps(&mut Chance(round as u64 * 1000));
        each(|store| {
            let mut chance = Chance(round as u64);
            let vfs = Recorded::over(store);
            let durability = if asked { Durability::None } else { level };
            let options = FilesystemOptions::default().durability(durability);
            let recorded = FilesystemStore { vfs: vfs.clone(), ..store.clone().with(options) };
            let mut values = Values::new();
            let mut allowed: Allowed = KEYS.map(|name| (name, BTreeSet::from([None]))).into();
            for step in &steps {
                step.act(&recorded, level);
                step.note(&mut values);
                let before = allowed.clone();
                note(&mut allowed, step, &values, level, asked);
                let mut states = std::mem::take(&mut vfs.disk().states);
                let done = states.pop();
                let during = states.iter().map(|state| (state, false));
                for (state, is_done) in during.chain(done.iter().map(|state| (state, true))) {
                    let found = after_a_loss(state, &mut chance);
                    for name in KEYS {
                        let found = found.get(name).cloned();
                        let is_allowed = allowed[name].contains(&found) || !is_done && before[name].contains(&found);
                        assert!(is_allowed, "{level:?}, {name} after {step:?}: {found:?}; {steps:?}");
                    }
                }
            }
        });
    }
}

#[test]
fn a_prefix_vanishes_as_a_whole() {
    each(|store| {
        let names = ["g/zarr.json", "g/c/0", "g/c/1", "g/c/2/3"];
        let vfs = Recorded::over(store);
        let recorded = FilesystemStore { vfs: vfs.clone(), ..store.clone() };
        for name in names {
            recorded.set_all(&key(name), b"value").expect("set");
        }
        recorded.flush().expect("flush");
        vfs.disk().states.clear();
        recorded.erase_prefix(&Prefix::new("g/").expect("a prefix")).expect("erase");
        let states = std::mem::take(&mut vfs.disk().states);
        let mut seen = BTreeSet::new();
        for (number, state) in states.iter().enumerate() {
            for round in 0..20 {
                let found = after_a_loss(state, &mut Chance(number as u64 * 100 + round));
                assert!(found.is_empty() || found.len() == names.len(), "{found:?}");
                seen.insert(found.len());
            }
        }
        assert_eq!(seen.len(), 2, "it was there, and it was gone");
    });
}

/// If only a barrier has put data on the disk, a loss of power during an exchange leaves the state before or after it, and after the
/// exchange only the latter.
#[test]
fn an_exchange_is_there_as_a_whole_and_stays() {
    each(|store| {
        let vfs = Recorded::over(store);
        let recorded = FilesystemStore { vfs: vfs.clone(), ..store.clone() };
        let names = ["g/a/zarr.json", "g/a/c/0", "g/new/a/1/zarr.json", "g/new/a/1/c/5"];
        for name in names {
            recorded.set_all(&key(name), name.as_bytes()).expect("set");
        }
        recorded.flush().expect("flush");
        vfs.disk().states.clear();
        let prefix = |text| Prefix::new(text).expect("a prefix");
        assert!(recorded.exchange_prefixes(&prefix("g/a/"), &prefix("g/new/a/1/")).expect("exchanged"));
        let mut states = std::mem::take(&mut vfs.disk().states);
        recorded.erase_prefix(&prefix("g/new/a/1/")).expect("erase");
        let after = std::mem::take(&mut vfs.disk().states);
        let exchanged_at = states.len() - 1;
        states.extend(after);
        let (mut old, mut new) = (0, 0);
        for (number, state) in states.iter().enumerate() {
            for round in 0..20 {
                let found = after_a_loss(state, &mut Chance(number as u64 * 100 + round));
                let at_path: Vec<&[u8]> = found
                    .iter()
                    .filter(|(key, _)| key.starts_with("g/a/"))
                    .map(|(_, value)| value.as_slice())
                    .collect();
                // In the order of their keys.
                let is_old = at_path == [names[1].as_bytes(), names[0].as_bytes()];
                let is_new = at_path == [names[3].as_bytes(), names[2].as_bytes()];
                let has_no_call = format!("{:?}", store.vfs).starts_with("Plain");
                assert!(is_old || is_new || has_no_call && number < exchanged_at, "{number}: {found:?}");
                assert!(is_new || number < exchanged_at, "{number}: {found:?}");
                (old, new) = (old + u32::from(is_old), new + u32::from(is_new));
            }
        }
        assert!(old > 0 && new > 0, "{old} {new}");
    });
}

/// Values that are created together are complete or missing, with one wait for all, or none at durability `None`.
#[test]
fn values_that_are_created_together_are_whole_or_not_there() {
    each(|store| {
        let has_unnamed =
            store.vfs.make_unnamed(&store.vfs.directory("").expect("the root")).is_ok_and(|it| it.is_some());
        let names: Vec<Key> = (0..20).map(|number| key(&format!("g/{}/{number}", number / 2))).collect();
        let values: Vec<(&Key, &[u8])> = names.iter().map(|name| (name, name.as_str().as_bytes())).collect();
        for level in [Durability::None, Durability::File, Durability::Full] {
            let vfs = Recorded::over(store);
            let recorded = FilesystemStore { vfs: vfs.clone(), ..store.clone() };
            recorded.create_many(&values, level).expect("created");
            let mut states = std::mem::take(&mut vfs.disk().states);
            let syncs = vfs.disk().syncs;
            match (level, has_unnamed) {
                (Durability::None, _) => assert_eq!(syncs, 0),
                (Durability::File, true) => assert_eq!(syncs, 1),
                (Durability::Full, true) => assert_eq!(syncs, 2),
                (_, false) => assert!(syncs >= names.len(), "each for itself: {syncs}"),
            }
            let done = states.pop().expect("changes");
            let mut chance = Chance(level as u64);
            for (state, is_done) in states.iter().map(|state| (state, false)).chain([(&done, true)]) {
                let found = after_a_loss(state, &mut chance);
                let is_whole = found.iter().all(|(name, value)| name.as_bytes() == value.as_slice());
                assert!(is_whole || level == Durability::None, "{level:?}: {found:?}");
                assert!(!is_done || level != Durability::Full || found.len() == names.len(), "{found:?}");
            }
            store.erase_prefix(&Prefix::new("g/").expect("a prefix")).expect("erased");
        }
        // Options that wait for nothing but a flush.
        let vfs = Recorded::over(store);
        let options = FilesystemOptions::default().sync_on_request(false);
        let recorded = FilesystemStore { vfs: vfs.clone(), ..store.clone().with(options) };
        recorded.create_many(&values, Durability::File).expect("created");
        assert_eq!(vfs.disk().syncs, 0);
    });
}
