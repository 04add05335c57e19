//! Pyramids in parts beside others who create, erase, give up and finish: nothing of theirs is changed, and each state has a way on.

use super::*;
use zarr_hierarchy::node::journal_key;
use zarr_json::Map;

/// Store with an array of 64 × 64 elements at `/0`, of which parts compute the levels `/1` to `/4`.
fn scene() -> (Arc<dyn Store>, Array) {
    scene_of(64)
}

fn scene_of(len: u64) -> (Arc<dyn Store>, Array) {
    let store = memory();
    let array = source(&store, "/0", &[len, len], &[4, 4]);
    (store, array)
}

fn options() -> PyramidOptions {
    PyramidOptions::default().memory(60_000)
}

fn run(array: &Array, number: u64, of: u64) -> zarr_hierarchy::Result<()> {
    plan(array, options().part(Part::new(number, of).unwrap())).run(|_| {})
}

fn finish(array: &Array) -> zarr_hierarchy::Result<()> {
    plan(array, options()).finish(|_| {})
}

fn abandon(array: &Array) -> zarr_hierarchy::Result<()> {
    plan(array, options()).abandon()
}

/// Key of the journal of a part, or of the shared one.
fn journal(part: Option<(u64, u64)>) -> Key {
    journal_key(&NodePath::parse("/1").unwrap(), part).unwrap()
}

/// Changes the text of the shared journal.
fn change(store: &Arc<dyn Store>, from: &str, to: &str) {
    let text = String::from_utf8(store.get_all(&journal(None)).unwrap().unwrap().to_vec()).unwrap();
    assert!(text.contains(from), "{text}");
    store.set_all(&journal(None), text.replace(from, to).as_bytes()).unwrap();
}

/// Creates an array of another writer, all of whose chunks hold values.
fn create(store: &Arc<dyn Store>, path: &str) {
    source(store, path, &[32, 32], &[4, 4]);
}

/// Contents below a prefix, without marks.
fn below(store: &Arc<dyn Store>, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let is_below = |key: &String| key.starts_with(prefix) && !key.contains(".zconversion");
    contents(store).into_iter().filter(|(key, _)| is_below(key)).collect()
}

/// Opens the source in a store that calls `meanwhile` once, with the store below, before the first call for which `is_at` returns true.
fn disturbed(
    store: &Arc<dyn Store>,
    is_at: impl for<'c> Fn(&Call<'c>) -> bool + Send + Sync + 'static,
    meanwhile: impl FnOnce(&Arc<dyn Store>) + Send + 'static,
) -> (Array, Arc<Mutex<bool>>) {
    let (below, was_disturbed) = (Arc::clone(store), Arc::new(Mutex::new(false)));
    let (meanwhile, noted) = (Mutex::new(Some(meanwhile)), Arc::clone(&was_disturbed));
    let store: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(store), move |_, call| {
        let first = if is_at(&call) { meanwhile.lock().unwrap().take() } else { None };
        if let Some(meanwhile) = first {
            meanwhile(&below);
            *noted.lock().unwrap() = true;
        }
        Ok(ControlFlow::Continue(call))
    }));
    (Array::open(&store, "/0", &registry()).unwrap(), was_disturbed)
}

/// Opens the source in a store in which the document of a level cannot be set.
fn failing(store: &Arc<dyn Store>, document: &'static str) -> Array {
    let store: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(store), move |store, call| match &call {
        Call::Set { key, .. } if key.as_str() == document => {
            Err(zarr_store::Error::ReadOnly { store: store.to_string(), operation: zarr_store::Operation::Set })
        }
        _ => Ok(ControlFlow::Continue(call)),
    }));
    Array::open(&store, "/0", &registry()).unwrap()
}

fn is_chunk(key: &Key) -> bool {
    key.as_str().contains("/c/")
}

#[test]
fn nodes_that_others_create_between_parts_stay() {
    let (store, array) = scene();
    let before = contents(&store);
    let created = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
        assert!(error.message().contains("another writer created this node"), "{error}");
        assert_eq!(error.location().path.as_deref(), Some("/2"));
        assert!(error.hint().unwrap().contains("move it away"), "{error}");
    };
    run(&array, 1, 3).unwrap();
    create(&store, "/2");
    let theirs = below(&store, "2/");
    created(run(&array, 2, 3).unwrap_err());
    created(abandon(&array).unwrap_err());
    assert_eq!(below(&store, "2/"), theirs);
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    abandon(&array).unwrap();
    assert_eq!(contents(&store), before);
    // While a part is at work, and before the end.
    let is_created = Mutex::new(false);
    let part = plan(&array, options().part(Part::new(1, 3).unwrap()));
    let ran = part.run(|_| {
        if !std::mem::replace(&mut *is_created.lock().unwrap(), true) {
            create(&store, "/2");
        }
    });
    created(ran.unwrap_err());
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    abandon(&array).unwrap();
    (1..=3).for_each(|number| run(&array, number, 3).unwrap());
    create(&store, "/2");
    let theirs = below(&store, "2/");
    created(finish(&array).unwrap_err());
    assert_eq!(below(&store, "2/"), theirs);
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    abandon(&array).unwrap();
    assert_eq!(contents(&store), before);
}

/// A conversion has no document until its end, so that its journal tells of it.
#[test]
fn conversions_to_a_level_are_not_erased_with_parts() {
    let (store, array) = scene();
    run(&array, 1, 2).unwrap();
    let begun = store.get_all(&journal(None)).unwrap().unwrap();
    let theirs = journal_key(&NodePath::parse("/2").unwrap(), None).unwrap();
    store.set_all(&theirs, &begun).unwrap();
    let before = contents(&store);
    let error = abandon(&array).unwrap_err();
    assert!(error.kind() == ErrorKind::Exists && error.to_string().contains(theirs.as_str()), "{error}");
    assert_eq!(contents(&store), before);
    assert!(run(&array, 2, 2).is_err());
    store.erase(&theirs).unwrap();
    run(&array, 2, 2).unwrap();
    finish(&array).unwrap();
}

#[test]
fn a_part_that_takes_over_erases_no_chunks_of_others() {
    let (store, array) = scene();
    run(&array, 1, 3).unwrap();
    change(&store, "\"writing\"", "\"clearing\"");
    create(&store, "/2");
    let theirs = below(&store, "2/");
    let error = run(&array, 2, 3).unwrap_err();
    assert!(error.message().contains("another writer created this node"), "{error}");
    assert_eq!(below(&store, "2/"), theirs);
}

#[test]
fn one_process_at_a_time_gives_parts_up() {
    let (store, array) = scene();
    let before = contents(&store);
    run(&array, 1, 2).unwrap();
    let erases_a_chunk = |call: &Call<'_>| matches!(call, Call::Erase { key, .. } if is_chunk(key));
    let (other, was_disturbed) = disturbed(&store, erases_a_chunk, |store| {
        let array = Array::open(store, "/0", &registry()).unwrap();
        let error = abandon(&array).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
        assert!(error.message().contains("a run of a pyramid to here is at work"), "{error}");
        // No part begins either.
        let error = run(&array, 1, 2).unwrap_err();
        assert!(error.message().contains("this pyramid in parts was given up"), "{error}");
    });
    abandon(&other).unwrap();
    assert!(*was_disturbed.lock().unwrap());
    assert_eq!(contents(&store), before);
}

#[test]
fn a_process_that_gave_parts_up_erases_nothing_of_new_ones() {
    let (store, array) = scene();
    run(&array, 1, 2).unwrap();
    // Another process takes the journal for that of a process that has ended, and ends the work; new parts begin.
    let erases_a_chunk = |call: &Call<'_>| matches!(call, Call::Erase { key, .. } if key.as_str().starts_with("2/c/"));
    let (other, was_disturbed) = disturbed(&store, erases_a_chunk, |store| {
        for key in store.list().unwrap().iter().filter(|key| !key.as_str().starts_with("0/")) {
            store.erase(key).unwrap();
        }
        let array = Array::open(store, "/0", &registry()).unwrap();
        (1..=2).for_each(|number| run(&array, number, 2).unwrap());
        // So long that the first process looks whether it still owns the journal, as after any stop that lets others take over.
        std::thread::sleep(std::time::Duration::from_millis(600));
    });
    let error = abandon(&other).unwrap_err();
    assert!(error.message().contains("another pyramid to here was begun"), "{error}");
    assert!(*was_disturbed.lock().unwrap());
    finish(&array).unwrap();
    let (whole, same) = scene();
    plan(&same, options()).run(|_| {}).unwrap();
    // One chunk was being erased when the other process went on.
    let (parts, whole) = (contents(&store), contents(&whole));
    let is_other = |key: &&String| parts.get(*key) != whole.get(*key);
    assert!(whole.keys().filter(is_other).count() <= 1, "{:?}", whole.keys().filter(is_other).collect::<Vec<_>>());
}

#[test]
fn an_end_that_cannot_go_on_is_given_up() {
    let (store, mut array) = scene();
    let before = contents(&store);
    let ended = |array: &Array| {
        (1..=2).for_each(|number| run(array, number, 2).unwrap());
        let stopped = plan(array, options()).finish(|_| ControlFlow::Break(())).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Cancelled);
        assert!(run(array, 1, 2).unwrap_err().message().contains("all parts of this pyramid are done"));
    };
    // A mark is gone.
    ended(&array);
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    let error = finish(&array).unwrap_err();
    assert!(error.kind() == ErrorKind::Conflict && error.hint().unwrap().contains("--abandon"), "{error}");
    abandon(&array).unwrap();
    assert_eq!(contents(&store), before);
    // The source has changed.
    ended(&array);
    array.set_attributes(Map::from([("units", "K".into())])).unwrap();
    let error = finish(&array).unwrap_err();
    assert!(error.message().contains("documents of the source have changed since"), "{error}");
    abandon(&array).unwrap();
    assert_eq!(contents(&store).len(), before.len());
    // No document of a level is there yet.
    let before = contents(&store);
    (1..=2).for_each(|number| run(&array, number, 2).unwrap());
    finish(&failing(&store, "1/zarr.json")).unwrap_err();
    abandon(&array).unwrap();
    assert_eq!(contents(&store), before);
    // One is there.
    (1..=2).for_each(|number| run(&array, number, 2).unwrap());
    finish(&failing(&store, "2/zarr.json")).unwrap_err();
    let there = contents(&store);
    let error = abandon(&array).unwrap_err();
    assert!(error.kind() == ErrorKind::Exists && error.hint().unwrap().contains("--finish"), "{error}");
    assert_eq!(contents(&store), there);
    finish(&array).unwrap();
}

#[test]
fn a_part_that_begins_while_parts_are_given_up_leaves_no_journal() {
    let (store, array) = scene();
    let before = contents(&store);
    run(&array, 1, 3).unwrap();
    let sets_its_journal = |call: &Call<'_>| matches!(call, Call::Set { key, .. } if **key == journal(Some((3, 3))));
    let (late, was_disturbed) = disturbed(&store, sets_its_journal, |store| {
        abandon(&Array::open(store, "/0", &registry()).unwrap()).unwrap();
    });
    let error = run(&late, 3, 3).unwrap_err();
    assert!(error.message().contains("this pyramid in parts was given up"), "{error}");
    assert!(*was_disturbed.lock().unwrap());
    assert_eq!(contents(&store), before);
}

#[test]
fn journals_of_earlier_parts_are_erased_by_the_first_part() {
    let (store, array) = scene();
    run(&array, 1, 3).unwrap();
    let left = store.get_all(&journal(Some((1, 3)))).unwrap().unwrap();
    abandon(&array).unwrap();
    // Of the same number of parts, and of another one.
    for part in [(1, 3), (2, 5)] {
        store.set_all(&journal(Some(part)), &left).unwrap();
    }
    (1..=3).rev().for_each(|number| run(&array, number, 3).unwrap());
    finish(&array).unwrap();
    assert!(!contents(&store).keys().any(|key| key.contains(".zconversion")));
}

#[test]
fn chunks_of_nobody_are_refused() {
    let (store, array) = scene();
    store.set_all(&Key::new("2/c/0/0").unwrap(), b"stray").unwrap();
    let error = run(&array, 1, 2).unwrap_err();
    assert!(error.message().contains("there are other files already"), "{error}");
    assert!(error.hint().unwrap().contains("a part replaces nothing"), "{error}");
    assert!(abandon(&array).unwrap_err().is_not_found());
}

#[test]
fn parts_of_a_source_that_was_reshaped_are_given_up() {
    let (store, mut array) = scene_of(256);
    run(&array, 1, 3).unwrap();
    assert!(contents(&store).keys().any(|key| key.starts_with("3/c/")));
    plan(&array, options().memory(90_000)).abandon().unwrap();
    assert!(contents(&store).keys().all(|key| key.starts_with("0/") || key == "zarr.json"));
    run(&array, 1, 3).unwrap();
    array.resize(&[16, 16]).unwrap();
    assert_eq!(plan(&array, options()).levels().len(), 2);
    abandon(&array).unwrap();
    let left = contents(&store);
    assert!(left.keys().all(|key| key.starts_with("0/") || key == "zarr.json"), "{:?}", left.keys());
}

#[test]
fn a_level_that_is_erased_during_the_end_does_not_come_back() {
    let (store, array) = scene();
    (1..=3).for_each(|number| run(&array, number, 3).unwrap());
    let is_erased = Mutex::new(false);
    let ended = plan(&array, options()).finish(|_| {
        if !std::mem::replace(&mut *is_erased.lock().unwrap(), true) {
            store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
        }
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Conflict);
    assert!(!contents(&store).contains_key("1/zarr.json"));
    abandon(&array).unwrap();
}

#[test]
fn a_late_end_erases_no_journals_of_new_parts() {
    let (store, array) = scene();
    (1..=2).for_each(|number| run(&array, number, 2).unwrap());
    // Another process has ended the work, and new parts are begun.
    let ends = |call: &Call<'_>| matches!(call, Call::Erase { key, .. } if key.as_str().starts_with("4/.zconversion"));
    let (late, was_disturbed) = disturbed(&store, ends, |store| {
        store.erase(&journal(None)).unwrap();
        store.set_all(&journal(Some((1, 2))), b"new").unwrap();
    });
    let error = finish(&late).unwrap_err();
    assert!(error.message().contains("its journal is gone"), "{error}");
    assert!(*was_disturbed.lock().unwrap());
    assert!(store.exists(&journal(Some((1, 2)))).unwrap());
}

#[test]
fn strict_writers_refuse_each_step_on_stores_without_conditions() {
    let (store, array) = scene();
    (1..=2).for_each(|number| run(&array, number, 2).unwrap());
    let limited = Intercepted::new(Arc::clone(&store), |_, call| Ok(ControlFlow::Continue(call)));
    let limited: Arc<dyn Store> = Arc::new(limited.with_capabilities(|below| below.conditional(false)));
    let array = Array::open(&limited, "/0", &registry()).unwrap();
    let strict = || options().options(zarr_array::Options::default().strict_writers(true));
    let before = contents(&store);
    for error in [
        plan(&array, strict().part(Part::new(1, 2).unwrap())).run(|_| {}).unwrap_err(),
        plan(&array, strict()).finish(|_| {}).unwrap_err(),
        plan(&array, strict()).abandon().unwrap_err(),
    ] {
        assert!(error.to_string().contains("strict"), "{error}");
    }
    assert_eq!(contents(&store), before);
}

#[test]
fn marks_end_with_parts_whose_shared_journal_is_broken() {
    for text in [Some(b"{"), None] {
        let (store, array) = scene();
        let before = contents(&store);
        run(&array, 1, 2).unwrap();
        match text {
            Some(text) => drop(store.set_all(&journal(None), text).unwrap()),
            None => store.erase(&journal(None)).unwrap(),
        }
        abandon(&array).unwrap();
        assert_eq!(contents(&store), before);
    }
}

#[test]
fn a_part_that_waits_is_cancelled_and_one_that_runs_is_not_begun_again() {
    let (store, array) = scene();
    let shared = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&shared);
    let looks =
        move |call: &Call<'_>| matches!(call, Call::Set { key, .. } if key.as_str().starts_with("1/.zconversion"));
    let (first, _) = disturbed(&store, looks, move |store| {
        *noted.lock().unwrap() = store.get_all(&journal(None)).unwrap();
    });
    let is_tried = Mutex::new(false);
    let part = |array: &Array| plan(array, options().part(Part::new(1, 2).unwrap()));
    let ran = part(&first).run(|_| {
        if !std::mem::replace(&mut *is_tried.lock().unwrap(), true) {
            let error = part(&array).run(|_| {}).unwrap_err();
            assert!(error.message().contains("a run of a pyramid to here is at work"), "{error}");
        }
    });
    ran.unwrap();
    // The journal of a part that makes room elsewhere, of which nobody here knows whether it is at work.
    let text = String::from_utf8(shared.lock().unwrap().take().unwrap().to_vec()).unwrap();
    let (before, after) = text.split_once("\"machine\":").unwrap();
    let after = &after[after.find(',').unwrap()..];
    let elsewhere = format!("{before}\"machine\":\"elsewhere\"{after}");
    assert!(elsewhere.contains("clearing"), "{elsewhere}");
    store.set_all(&journal(None), elsewhere.as_bytes()).unwrap();
    let error = plan(&array, options().part(Part::new(2, 2).unwrap())).run(|_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert!(String::from_utf8(store.get_all(&journal(None)).unwrap().unwrap().to_vec()).unwrap().contains("clearing"));
}

#[test]
fn options_that_parts_do_not_take_are_refused_by_each_step() {
    let (_, array) = scene();
    for (with, name) in [(options().overwrite(true), "overwrite"), (options().resume(true), "resume")] {
        let pyramid = plan(&array, with);
        for (step, error) in
            [("finish", pyramid.finish(|_| {}).unwrap_err()), ("abandon", pyramid.abandon().unwrap_err())]
        {
            assert_eq!(error.message(), format!("{step}: found {name} beside it, expected none"));
        }
    }
    let (_, array) = scene_of(256);
    let warning = |of: u64| plan(&array, options().part(Part::new(1, of).unwrap())).warning().map(str::to_owned);
    assert!(warning(1_000).unwrap().starts_with("the 1000 parts have "));
    assert_eq!(warning(2), None);
}

#[test]
fn a_journal_of_a_part_that_outlived_the_end_is_erased() {
    let (store, array) = scene();
    (1..=2).for_each(|number| run(&array, number, 2).unwrap());
    let key = journal(Some((1, 2)));
    let left = store.get_all(&key).unwrap().unwrap();
    finish(&array).unwrap();
    let finished = contents(&store);
    store.set_all(&key, &left).unwrap();
    abandon(&array).unwrap();
    assert_eq!(contents(&store), finished);
    assert_eq!(abandon(&array).unwrap_err().kind(), ErrorKind::NotFound);
    // Nothing keeps others from the levels.
    plan(&array, options().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(contents(&store), finished);
}

#[test]
fn an_end_that_stopped_before_the_source_changed_is_replaced() {
    type Change = fn(&mut Array);
    let changes: [Change; 2] = [
        |array| array.set_attributes(Map::from([("units", "K".into())])).unwrap(),
        |array| array.resize(&[48, 64]).unwrap(),
    ];
    for change in changes {
        let (store, mut array) = scene();
        (1..=2).for_each(|number| run(&array, number, 2).unwrap());
        finish(&failing(&store, "2/zarr.json")).unwrap_err();
        change(&mut array);
        let there = contents(&store);
        let error = finish(&array).unwrap_err();
        assert!(error.hint().unwrap().contains("--overwrite begins anew"), "{error}");
        let error = abandon(&array).unwrap_err();
        assert!(error.kind() == ErrorKind::Exists && error.hint().unwrap().contains("--finish"), "{error}");
        assert_eq!(contents(&store), there);
        let pyramid = plan(&array, options().overwrite(true));
        pyramid.run(|_| {}).unwrap();
        for level in pyramid.levels() {
            let written = Array::open(&store, &level.path.to_string(), &registry()).unwrap();
            assert_eq!(written.shape(), level.shape);
        }
        let left = contents(&store);
        assert!(left.keys().all(|key| !key.contains(".zconversion")), "{:?}", left.keys());
    }
}

#[test]
fn parts_of_a_source_that_shrank_to_a_chunk_are_given_up() {
    let (store, mut array) = scene();
    run(&array, 1, 3).unwrap();
    array.resize(&[4, 4]).unwrap();
    let error = error(&array, options());
    assert!(error.hint().unwrap().contains("a number of levels"), "{error}");
    plan(&array, options().levels(1)).abandon().unwrap();
    let left = contents(&store);
    assert!(left.keys().all(|key| key.starts_with("0/") || key == "zarr.json"), "{:?}", left.keys());
}
