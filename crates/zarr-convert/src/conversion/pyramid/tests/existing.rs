//! Pyramids where something is there already: levels, journals, groups, images, and the source itself.

use super::{contents, error, memory, plan, ramp, registry, source};
use crate::{Conversion, Pyramid, PyramidOptions};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, Group, NewArray, NewGroup, Store};
use zarr_grid::{AxisRange, Region};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_meta::{Dialect, NodePath};
use zarr_store::testing::Intercepted;
use zarr_store::{Call, Key, Prefix, StoreExt};
use zarr_store_filesystem::FilesystemStore;

/// Store over another that erases no key below `erased`, and does not get `got` once there is a key `after`.
pub(super) fn failing(
    store: &Arc<dyn Store>,
    erased: &'static str,
    got: &'static str,
    after: &'static str,
) -> Arc<dyn Store> {
    Arc::new(Intercepted::new(Arc::clone(store), move |store, call| {
        let fails = match &call {
            Call::Get { key, .. } => key.as_str() == got && store.exists(&Key::new(after)?)?,
            Call::Erase { key } => key.as_str().starts_with(erased),
            _ => false,
        };
        let denied = std::io::ErrorKind::PermissionDenied;
        match fails {
            true => Err(zarr_store::Error::io(&store, call.operation(), call.name(), denied.into())),
            false => Ok(ControlFlow::Continue(call)),
        }
    }))
}

fn at(path: &str) -> NodePath {
    NodePath::parse(path).unwrap()
}

pub(super) fn default() -> PyramidOptions {
    PyramidOptions::default()
}

/// Plans levels in a group.
fn within(source: &Array, target: &Arc<dyn Store>, group: &str, options: PyramidOptions) -> Result<Pyramid> {
    Pyramid::plan(source, Some((target, at(group))), options)
}

fn refused(plan: Result<Pyramid>, words: &str) {
    let error = plan.unwrap_err();
    assert!(error.kind() == ErrorKind::Argument && error.message().contains(words), "{error}");
}

#[test]
fn levels_and_the_source_do_not_lie_in_one_another() {
    let store = memory();
    let array = source(&store, "/a/0/x", &[8, 8], &[4, 4]);
    let all = contents(&store);
    refused(within(&array, &store, "/a", default().overwrite(true)), "/a/0 for a level, but it and the array");
    refused(within(&array, &store, "/a/0/x", default()), "lie in one another");
    let own = source(&store, "/b/0", &[8, 8], &[4, 4]);
    // The levels beside the array, and a copy of it where it is no number.
    assert_eq!(within(&own, &store, "/b", default()).unwrap().levels()[0].path, at("/b/1"));
    let named = source(&store, "/b/named", &[8, 8], &[4, 4]);
    assert_eq!(within(&named, &store, "/b/c", default()).unwrap().levels()[0].path, at("/b/c/0"));
    assert_eq!(within(&named, &store, "/b", default()).unwrap().levels()[0].path, at("/b/0"));
    assert!(all.iter().all(|(key, value)| contents(&store).get(key) == Some(value)));
}

#[test]
fn stores_that_overlap_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &str| -> Arc<dyn Store> { Arc::new(FilesystemStore::create(folder.path().join(path)).unwrap()) };
    let store = open("d");
    let array = source(&store, "/g/0", &[8, 8], &[4, 4]);
    for (place, group) in [("d/g", "/"), ("d/new", "/g"), ("", "/d/g"), ("d/g/0", "/")] {
        refused(within(&array, &open(place), group, default().overwrite(true)), "overlaps the store");
    }
    // The same store, opened again.
    let again = open("d/../d");
    assert_eq!(within(&array, &again, "/g", default()).unwrap().levels()[0].path, at("/g/1"));
    refused(within(&array, &again, "/g/0", default()), "lie in one another");
    within(&array, &open("e"), "/g", default()).unwrap().run(|_| {}).unwrap();
    assert_eq!(array.read::<u16>(..).unwrap(), ramp(&[8, 8]));
}

#[test]
fn one_level_is_written_into_a_level_alone() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[8, 8]);
    plan(&array, default()).run(|_| {}).unwrap();
    let expected = Array::open(&store, "/2", &registry()).unwrap().read::<u16>(..).unwrap();
    let other = |new: NewArray| {
        store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
        Array::create(&store, "/2", new.codecs("bytes").unwrap(), &registry()).unwrap()
    };
    // It keeps its chunks and its attributes.
    let own = other(NewArray::new(&[16, 16], "uint16").chunks(&[5, 16]));
    let run = plan(&array, default().level(2));
    assert!(run.is_update() && run.levels()[0].chunks == [5, 16]);
    run.run(|_| {}).unwrap();
    assert_eq!(own.read::<u16>(..).unwrap(), expected);
    assert_eq!(error(&array, default().level(2).chunks(vec![4, 4])).kind(), ErrorKind::Exists);
    plan(&array, default().level(2).chunks(vec![4, 4]).overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(Array::open(&store, "/2", &registry()).unwrap().read::<u16>(..).unwrap(), expected);
    // Another array and a group stay.
    let tried = |options| Pyramid::plan(&array, None, options)?.run(|_| {});
    other(NewArray::new(&[16, 16], "uint8").chunks(&[5, 16]));
    let before = contents(&store);
    assert_eq!(tried(default().level(2)).unwrap_err().kind(), ErrorKind::Exists);
    assert!(contents(&store) == before);
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    Group::create(&store, "/2", NewGroup::new(), &registry()).unwrap();
    source(&store, "/2/inner", &[4], &[4]);
    let before = contents(&store);
    assert_eq!(tried(default().level(2)).unwrap_err().kind(), ErrorKind::Exists);
    assert!(contents(&store) == before);
    // One that is not there is created, and such a run goes on.
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    let stop = |_| ControlFlow::Break(());
    plan(&array, default().level(2)).run(stop).unwrap_err();
    plan(&array, default().level(2).resume(true)).run(|_| {}).unwrap();
    assert_eq!(Array::open(&store, "/2", &registry()).unwrap().read::<u16>(..).unwrap(), expected);
}

#[test]
fn one_level_elsewhere_is_computed() {
    let (store, target) = (memory(), memory());
    let array = source(&store, "/named", &[64, 64], &[8, 8]);
    within(&array, &target, "/", default()).unwrap().run(|_| {}).unwrap();
    let expected = contents(&target);
    let level = Array::open(&target, "/2", &registry()).unwrap();
    level.write(.., &vec![0_u16; 16 * 16]).unwrap();
    within(&array, &target, "/", default().level(2)).unwrap().run(|_| {}).unwrap();
    assert!(contents(&target) == expected);
}

#[test]
fn levels_of_other_chunks_are_changed_in_place() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[8, 8]);
    plan(&array, default().chunks(vec![7, 11]).levels(3)).run(|_| {}).unwrap();
    array.write((0..50, 3..60), &vec![12_345_u16; 50 * 57]).unwrap();
    let region = Region::from_ranges(&[0..50, 3..60]);
    plan(&array, default().region(region).levels(3)).run(|_| {}).unwrap();
    let changed = contents(&store);
    plan(&array, default().chunks(vec![7, 11]).levels(3).overwrite(true)).run(|_| {}).unwrap();
    assert!(contents(&store) == changed);
}

#[test]
fn levels_are_erased_once_the_journal_says_so() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    plan(&array, default()).run(|_| {}).unwrap();
    let expected = contents(&store);
    // The second level cannot be erased, after the first one was.
    let failing = failing(&store, "2/", "none", "none");
    let stuck = Array::open(&failing, "/0", &registry()).unwrap();
    plan(&stuck, default().overwrite(true)).run(|_| {}).unwrap_err();
    assert!(Array::open(&store, "/1", &registry()).is_err());
    let left = store.get_all(&super::super::super::journal::key(&at("/1"), None).unwrap()).unwrap().expect("a journal");
    assert!(String::from_utf8_lossy(&left).contains("clearing"), "{}", String::from_utf8_lossy(&left));
    plan(&array, default().resume(true)).run(|_| {}).unwrap();
    assert!(contents(&store) == expected);
}

#[test]
fn runs_of_other_levels_are_respected() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    plan(&array, default()).run(|_| {}).unwrap();
    let others = Mutex::new(Vec::new());
    let whole = |_| {
        for options in [default().overwrite(true), default().level(1)] {
            others.lock().unwrap().push(plan(&array, options).run(|_| {}).unwrap_err());
        }
    };
    plan(&array, default().level(2).overwrite(true)).run(whole).unwrap();
    let one = |_| {
        let run = plan(&array, default().level(1).overwrite(true)).run(|_| {});
        others.lock().unwrap().push(run.unwrap_err());
    };
    let region = Region::from_ranges(&[0..1, 0..1]);
    plan(&array, default().overwrite(true)).run(one).unwrap();
    let others = others.into_inner().unwrap();
    assert!(others.len() >= 3 && others.iter().all(|error| error.kind() == ErrorKind::Exists), "{others:?}");
    assert!(others[0].message().contains("at work"), "{}", others[0]);
    // An interrupted one is not changed in place.
    plan(&array, default().level(3).overwrite(true)).run(|_| ControlFlow::Break(())).unwrap_err();
    let left = plan(&array, default().overwrite(true)).run(|_| {});
    assert!(left.is_ok(), "{left:?}");
    plan(&array, default().region(region)).run(|_| {}).unwrap();
    Conversion::check_settled(&*store, &at("/3")).unwrap();
}

#[test]
fn regions_stand_alone() {
    let store = memory();
    let array = source(&store, "/0", &[64, 60], &[8, 8]);
    plan(&array, default()).run(|_| {}).unwrap();
    let region = || default().region(Region::from_ranges(&[0..4, 0..4]));
    for options in [region().level(2), region().resume(true), region().overwrite(true)] {
        let error = error(&array, options);
        assert!(error.kind() == ErrorKind::Argument && error.message().starts_with("region:"), "{error}");
    }
    let steps =
        Region::new([AxisRange { start: 0, len: 2, step: 3 }, AxisRange { start: 0, len: 1, step: 1 }]).unwrap();
    assert!(error(&array, default().region(steps)).message().contains("without steps"));
}

#[test]
fn groups_above_are_checked_before_chunks_are_written() {
    let target = memory();
    let store = memory();
    let array = source(&store, "/0", &[8, 8], &[4, 4]);
    source(&target, "/x", &[4], &[4]);
    let before = contents(&target);
    for group in ["/x", "/x/y"] {
        let error = within(&array, &target, group, default()).unwrap().run(|_| {}).unwrap_err();
        assert!(error.message().contains("found an array, expected a group"), "{error}");
    }
    assert_eq!(contents(&target), before);
    let old = memory();
    Group::create(&old, "/", NewGroup::new().dialect(Dialect::V2), &registry()).unwrap();
    let before = contents(&old);
    let error = within(&array, &old, "/levels", default()).unwrap().run(|_| {}).unwrap_err();
    assert!(error.message().contains("dialect"), "{error}");
    assert_eq!(contents(&old), before);
}

#[test]
fn only_levels_are_replaced() {
    let store = memory();
    let array = source(&store, "/s/band1", &[64, 64], &[8, 8]);
    let refused = |words: &str, options: PyramidOptions| {
        let before = contents(&store);
        let error = plan(&array, options).run(|_| {}).unwrap_err();
        assert!(error.kind() == ErrorKind::Exists && error.message().contains(words), "{error}");
        assert_eq!(error.location().path.as_deref(), Some("/s/band2"));
        assert!(contents(&store) == before);
    };
    let band = |shape: &[u64], kind: &str| {
        store.erase_prefix(&Prefix::new("s/band2/").unwrap()).unwrap();
        let new = NewArray::new(shape, kind).codecs("bytes").unwrap();
        Array::create(&store, "/s/band2", new, &registry()).unwrap();
    };
    for (shape, kind) in
        [(&[64, 64][..], "uint16"), (&[32, 65], "uint16"), (&[32, 32, 1], "uint16"), (&[32, 32], "int16")]
    {
        band(shape, kind);
        refused(&format!("found an array of {kind} and shape {shape:?}"), default().overwrite(true));
        refused(&format!("found an array of {kind} and shape {shape:?}"), default().level(1).overwrite(true).levels(2));
    }
    store.erase_prefix(&Prefix::new("s/band2/").unwrap()).unwrap();
    Group::create(&store, "/s/band2", NewGroup::new(), &registry()).unwrap();
    source(&store, "/s/band2/inner", &[4], &[4]);
    refused("found a group", default().overwrite(true));
    let elsewhere = within(&array, &store, "/t", default().overwrite(true)).unwrap();
    Group::create(&store, "/t/0", NewGroup::new(), &registry()).unwrap();
    assert_eq!(elsewhere.run(|_| {}).unwrap_err().kind(), ErrorKind::Exists);
    // A level by other factors.
    band(&[16, 64], "uint16");
    plan(&array, default().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(Array::open(&store, "/s/band2", &registry()).unwrap().shape(), [32, 32]);
}

#[test]
fn a_run_that_has_begun_does_not_erase_arrays_of_others() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    plan(&array, default()).run(|_| {}).unwrap();
    let expected = contents(&store);
    ["1/", "2/", "3/", "4/"].iter().for_each(|level| store.erase_prefix(&Prefix::new(level).unwrap()).unwrap());
    // The mark of the second level cannot be set.
    let refusing: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(&store), |store, call| match &call {
        Call::Set { key, .. } if key.as_str().starts_with("2/") => {
            let denied = std::io::ErrorKind::PermissionDenied;
            Err(zarr_store::Error::io(&store, call.operation(), call.name(), denied.into()))
        }
        _ => Ok(ControlFlow::Continue(call)),
    }));
    let stuck = Array::open(&refusing, "/0", &registry()).unwrap();
    plan(&stuck, default()).run(|_| {}).unwrap_err();
    // Other software, which knows nothing of journals, creates a level: one that has a mark, or one that has none.
    for path in ["/1", "/2"] {
        let other = memory();
        source(&other, path, &[32, 32], &[4, 4]);
        let other = contents(&other);
        let keys = || other.keys().map(|key| Key::new(key.as_str()).unwrap());
        keys().zip(other.values()).for_each(|(key, value)| drop(store.set_all(&key, value).unwrap()));
        let before = contents(&store);
        let error = plan(&array, default().resume(true)).run(|_| {}).unwrap_err();
        assert!(error.kind() == ErrorKind::Exists && error.message().contains("there is an array"), "{error}");
        assert!(contents(&store) == before);
        keys().for_each(|key| store.erase(&key).unwrap());
    }
    plan(&array, default().resume(true)).run(|_| {}).unwrap();
    assert!(contents(&store) == expected);
}
