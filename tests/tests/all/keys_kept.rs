//! Keys that an operation does not name stay as they are, in every dialect that has a hierarchy, on every kind of store.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;
use zarr::store::{Answer, Call, FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, Group, NewArray, NewGroup};
use zarr_meta::{Dialect, Documents, NodePath};
use zarr_store::testing::Intercepted;
use zarr_store::{Lock, Prefix};

const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];

/// A store that neither compares versions, nor locks, nor renames prefixes, as simple buckets are.
fn unlocked() -> Arc<dyn Store> {
    let store = Intercepted::new(MemoryStore::new(), |store, call| match call {
        Call::Lock { prefix } => Ok(Break(Answer::Locked(Lock::in_process(&store, &prefix)))),
        _ => Ok(Continue(call)),
    });
    Arc::new(store.with_capabilities(|below| below.conditional(false).exchanges(false).erases_at_once(false)))
}

#[derive(Clone, Debug)]
enum Step {
    Group(String),
    Array(String),
    Attribute(String, u8),
    Append(String),
    Resize(String),
    Erase(String),
    Copy {
        from: String,
        to: String,
        moves: bool,
    },
    /// A file of other software.
    File(String),
}

fn path() -> impl Strategy<Value = String> {
    let below = proptest::collection::vec(prop_oneof!["[a-c]", Just("data".to_owned())], 1..4);
    prop_oneof![1 => Just("/".to_owned()), 5 => below.prop_map(|names| format!("/{}", names.join("/")))]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => path().prop_map(Step::Group),
        5 => path().prop_map(Step::Array),
        2 => (path(), any::<u8>()).prop_map(|(path, value)| Step::Attribute(path, value)),
        1 => path().prop_map(Step::Append),
        1 => path().prop_map(Step::Resize),
        2 => path().prop_map(Step::Erase),
        2 => (path(), path(), any::<bool>()).prop_map(|(from, to, moves)| Step::Copy { from, to, moves }),
        2 => path().prop_map(Step::File),
    ]
}

type Keys = BTreeMap<String, Vec<u8>>;

fn keys(store: &dyn Store) -> Keys {
    let value = |key: &Key| store.get_all(key).unwrap().unwrap_or_default().to_vec();
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    keys.iter().map(|key| (key.as_str().to_owned(), value(key))).collect()
}

/// The paths of all nodes.
fn nodes(store: &dyn Store) -> Vec<String> {
    let walk = zarr::hierarchy::walk(store, "/", None);
    walk.map(|walk| walk.nodes.iter().map(|node| node.path.to_string()).collect()).unwrap_or_default()
}

/// The prefixes below which all keys are taken for those of an array.
fn array_prefixes(store: &dyn Store) -> Vec<String> {
    let nodes = zarr::hierarchy::walk(store, "/", None).map(|walk| walk.nodes).unwrap_or_default();
    let arrays = nodes.iter().filter(|node| node.node.as_array().is_some());
    arrays.map(zarr_meta::StoredNode::chunk_prefix).filter(|prefix| !prefix.is_empty()).collect()
}

/// Whether a key is among those that a node at `path`, and the nodes below it, may have.
fn is_of(dialect: Dialect, path: &NodePath, entry: &Documents, key: &str) -> bool {
    let owned = zarr_meta::owned(dialect, path, entry);
    owned.keys.iter().any(|own| own == key) || owned.prefixes.iter().any(|prefix| key.starts_with(prefix.as_str()))
}

/// Checks that all keys but those that `may_change` names are as they were.
fn check(
    before: &Keys,
    after: &Keys,
    may_change: &dyn Fn(&str) -> bool,
    what: &dyn fmt::Debug,
) -> Result<(), TestCaseError> {
    for (key, value) in before.iter().filter(|(key, _)| !may_change(key)) {
        prop_assert_eq!(after.get(key), Some(value), "{} by {:?}", key, what);
    }
    for key in after.keys().filter(|key| !may_change(key)) {
        prop_assert!(before.contains_key(key), "{} is new by {:?}", key, what);
    }
    Ok(())
}

fn run(store: &Arc<dyn Store>, dialect: Dialect, steps: &[Step]) -> Result<(), TestCaseError> {
    let registry = zarr::registry::default();
    let entry = |keys: &Keys| -> Documents {
        let key = zarr_meta::entry_point_key(dialect);
        key.and_then(|key| Some((key.to_owned(), keys.get(key)?.clone()))).into_iter().collect()
    };
    for step in steps {
        let before = keys(&**store);
        let parse = |text: &String| NodePath::parse(text).unwrap();
        let of = |path: &NodePath, key: &str| is_of(dialect, path, &entry(&before), key);
        let what = (dialect, step);
        match step {
            Step::Group(text) | Step::Array(text) => {
                let there = nodes(&**store);
                let created = match step {
                    Step::Array(_) => {
                        let new = NewArray::new(&[3], "int8").chunks(&[2]).dialect(dialect);
                        Array::create(store, text, new, &registry).and_then(|array| array.write(.., &[1_i8, 2, 3]))
                    }
                    _ => Group::create(store, text, NewGroup::default().dialect(dialect), &registry).map(drop),
                };
                let after = keys(&**store);
                // Nothing that was there is lost or changed, and nothing is there after an error.
                for (key, value) in &before {
                    prop_assert_eq!(after.get(key), Some(value), "{} by {:?}: {:?}", key, what, created);
                }
                if created.is_err() {
                    prop_assert_eq!(before, after, "{:?}", what);
                }
                // Nor is a node hidden: by an array above it, or by a document of another dialect.
                let now = nodes(&**store);
                for node in &there {
                    prop_assert!(now.contains(node), "{} by {:?}: {:?}", node, what, created);
                }
            }
            Step::Attribute(text, value) => {
                let Ok(found) = zarr::hierarchy::open_node(&**store, text, None) else { continue };
                let attributes = [("x".to_owned(), (*value).into())].into_iter().collect();
                let found = zarr::hierarchy::set_attributes(&**store, &found, attributes).unwrap();
                let own: Vec<&str> = found.own_documents().collect();
                check(&before, &keys(&**store), &|key| own.contains(&key), &what)?;
            }
            Step::Append(text) | Step::Resize(text) => {
                let Ok(mut array) = Array::open(store, text, &registry) else { continue };
                match step {
                    Step::Append(_) => array.append(0, &[4_i8, 5]).unwrap(),
                    _ => array.resize(&[2]).unwrap(),
                }
                let path = parse(text);
                check(&before, &keys(&**store), &|key| of(&path, key) && !key.ends_with(".txt"), &what)?;
            }
            Step::Erase(text) => {
                let Ok(found) = zarr::hierarchy::open_node(&**store, text, None) else { continue };
                let below_arrays = array_prefixes(&**store);
                zarr::hierarchy::erase_node(&**store, &found).unwrap();
                let path = parse(text);
                let after = keys(&**store);
                // At the root, keys of no node stay; what lies below an array goes with it.
                let is_file = |key: &str| {
                    key.ends_with(".txt") && !below_arrays.iter().any(|prefix| key.starts_with(prefix.as_str()))
                };
                let may_change = |key: &str| of(&path, key) && !(path.is_root() && is_file(key));
                check(&before, &after, &may_change, &what)?;
            }
            Step::Copy { from, to, moves } => {
                let transfer = zarr::convert::Transfer::of(store, from).to(to);
                let done = if *moves { transfer.move_all(&registry) } else { transfer.copy(&registry) };
                let (from, to) = (parse(from), parse(to));
                let after = keys(&**store);
                if done.is_err() {
                    prop_assert_eq!(before, after, "{:?}", what);
                    continue;
                }
                let is_above = |key: &str| {
                    let mut above = to.ancestors();
                    above.any(|path| {
                        zarr_meta::document_keys(dialect, &path, &Documents::new()).iter().any(|it| it == key)
                    })
                };
                let files_of = |path: &NodePath, key: &str| key.starts_with(&path.key_prefix());
                let may_change = |key: &str| {
                    let is_new = !before.contains_key(key);
                    (is_new && (of(&to, key) || files_of(&to, key) || is_above(key)))
                        || (*moves && (of(&from, key) || files_of(&from, key)))
                };
                check(&before, &after, &may_change, &what)?;
            }
            Step::File(text) => {
                let name = format!("{}notes.txt", parse(text).key_prefix());
                store.set_all(&Key::new(&name).unwrap(), b"mine").unwrap();
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    // clause: p2019-59, d2022-197
    #[test]
    fn keys_that_no_operation_names_stay(steps in proptest::collection::vec(step(), 1..12)) {
        for dialect in DIALECTS {
            run(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>), dialect, &steps)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn keys_that_no_operation_names_stay_in_other_stores(steps in proptest::collection::vec(step(), 1..12)) {
        for dialect in DIALECTS {
            let folder = tempfile::tempdir().unwrap();
            run(&(Arc::new(FilesystemStore::create(folder.path()).unwrap()) as Arc<dyn Store>), dialect, &steps)?;
            let sqlite = zarr::store::create(&format!("sqlite:{}", folder.path().join("x.sqlite").display())).unwrap();
            run(&sqlite, dialect, &steps)?;
            run(&unlocked(), dialect, &steps)?;
        }
    }
}
