//! Conversions that are stopped at each call of the store and resumed, done in parts, or that leave out chunks that cannot be read.

pub(crate) mod failing;
mod fences;
mod gone;
mod left_out;
mod owners;
mod parts;
mod parts_anew;
mod scratch;
mod slabs;

use crate::interrupted::DIALECTS;
use failing::{Contents, Failing, contents};
use std::sync::Arc;
use std::sync::Mutex;
use zarr::convert::{Conversion, ConvertOptions, Progress, Shards, Transfer};
use zarr::prelude::*;
use zarr::store::{Key, MemoryStore, StoreExt};
use zarr::{Dialect, ErrorKind, Options};
use zarr_array::NewGroup;

const JOURNAL: &str = ".zconversion";

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Two arrays in a group that has consolidated metadata; some of the chunks of one are not stored.
fn source(dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    let root = zarr::create(&store).group(NewGroup::new().attribute("title", "two").dialect(dialect)).unwrap();
    for (name, len, chunk) in [("a", 37, 3_u64), ("b", 100, 1)] {
        let new = NewArray::new(&[len, 2], "int16").chunks(&[chunk, 2]).fill(-1).codecs("none").unwrap();
        root.create_array(&format!("g/{name}"), new).unwrap();
        let array = zarr::open((&store, &format!("/g/{name}"))).array().unwrap();
        let rows = if name == "a" { len } else { len - 12 };
        array.write((..rows, ..), &(0..rows as i16 * 2).collect::<Vec<_>>()).unwrap();
    }
    if dialect.may_consolidate(&zarr::meta::NodePath::root()) {
        zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    }
    store
}

/// Slabs of few chunks, one after another.
fn options() -> ConvertOptions {
    ConvertOptions::default().memory(200).options(Options::default().threads(std::num::NonZeroUsize::new(1)))
}

fn cases() -> Vec<(&'static str, Dialect, ConvertOptions)> {
    vec![
        ("other chunks", Dialect::V3, options().chunks(vec![1, 1])),
        ("chunks as they are", Dialect::V3, options()),
        ("missing chunks are written", Dialect::V2, options().dialect(Dialect::V3).literal(true)),
        ("shards", Dialect::V2, options().dialect(Dialect::V3).chunks(vec![1, 1]).shards(Shards::Of(vec![2, 2]))),
        ("another dialect of other keys", Dialect::V3, options().dialect(Dialect::V3Draft2022)),
    ]
}

fn plan(source: &Arc<dyn Store>, options: ConvertOptions) -> Conversion {
    Conversion::plan(source, &zarr::registry::default(), options).unwrap()
}

/// The result of a conversion that nothing stops.
fn converted(source: &Arc<dyn Store>, options: &ConvertOptions) -> Contents {
    let target = memory();
    plan(source, options.clone()).run(&target, |_| {}).unwrap();
    let contents = contents(&target);
    assert!(contents.iter().all(|(key, _)| !key.contains(JOURNAL)), "a journal is left");
    contents
}

fn is_chunk(key: &str) -> bool {
    !key.contains(JOURNAL) && !key.contains("zarr.json") && !key.contains(".z") && !key.ends_with(".json")
}

#[test]
fn a_conversion_that_was_stopped_at_any_call_is_resumed() {
    for (name, dialect, options) in cases() {
        let source = source(dialect);
        let expected = converted(&source, &options);
        let (mut stops, mut journals) = (0, 0);
        for left in 0.. {
            assert!(left < 5000, "{name}: the conversion does not end");
            let target = memory();
            let stopping = Failing::after(&target, left);
            let stopped = plan(&source, options.clone()).run(&stopping.store(), |_| {});
            if stopped.is_ok() {
                break;
            }
            stops += 1;
            let has_journal = target.exists(&Key::new(JOURNAL).unwrap()).unwrap();
            if has_journal {
                let error = plan(&source, options.clone()).run(&target, |_| {}).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Exists);
                assert!(error.hint().unwrap().contains("--resume"), "{error}");
                journals += 1;
            }
            let is_complete = contents(&target) == expected;
            let before_entry = stopping.sets_before_the_last(JOURNAL);
            let watched = Failing::never(&target);
            match plan(&source, options.clone().resume(true)).run(&watched.store(), |_| {}) {
                // All was done but the answer.
                Err(error) if is_complete => assert_eq!(error.kind(), ErrorKind::Exists),
                done => done.unwrap(),
            }
            assert!(contents(&target) == expected, "{name}: stopped after {left} calls");
            for key in watched.sets() {
                assert!(!is_chunk(&key) || !before_entry.contains(&key), "{name}, {left}: {key} was set twice");
            }
        }
        assert!(stops > 80 && journals > 60, "{name}: {stops} stops, {journals} with a journal");
    }
}

#[test]
fn entries_come_after_every_64_chunks() {
    let (source, target) = (source(Dialect::V3), memory());
    let watched = Failing::never(&target);
    plan(&source, options().chunks(vec![1, 1])).run(&watched.store(), |_| {}).unwrap();
    let mut chunks = 0;
    for key in watched.sets() {
        match key.contains(JOURNAL) {
            true => chunks = 0,
            false => chunks += u32::from(is_chunk(&key)),
        }
        // With them comes the rest of a slab.
        assert!(chunks < 64 + 28, "{chunks} chunks without an entry");
    }
    let entries = watched.sets().iter().filter(|key| key.contains(JOURNAL)).count();
    assert!((4..=7).contains(&entries), "{entries}");
}

#[test]
fn progress_begins_with_what_is_done() {
    let (source, target) = (source(Dialect::V3), memory());
    let options = options().chunks(vec![1, 1]);
    assert!(plan(&source, options.clone()).run(&Failing::after(&target, 200).store(), |_| {}).is_err());
    let reported = Mutex::new(Vec::new());
    let conversion = plan(&source, options.resume(true));
    let report = |event: Progress<'_>| {
        if let Progress::Done(bytes) = event {
            reported.lock().unwrap().push(bytes);
        }
    };
    conversion.run(&target, report).unwrap();
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported.iter().sum::<u128>(), conversion.size());
    // Array a, or all of what was done of one, in a report.
    assert!(*reported.iter().max().unwrap() >= 128, "{reported:?}");
}

#[test]
fn the_journal_of_another_conversion_is_refused() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    assert!(plan(&source, begun.clone()).run(&Failing::after(&target, 120).store(), |_| {}).is_err());
    let before = contents(&target);
    let refused = |source: &Arc<dyn Store>, options: ConvertOptions, said: &str| {
        let error = plan(source, options.resume(true)).run(&target, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains(said), "{error}, expected {said}");
        assert_eq!(error.location().key.as_deref(), Some(JOURNAL));
        assert_eq!(contents(&target), before, "nothing is changed");
    };
    refused(&source, begun.clone().chunks(vec![2, 1]), "chunks: [1,1] there, [2,1] now");
    refused(&source, begun.clone().dialect(Dialect::V2), "dialect: \"v3\" there, \"v2\" now");
    refused(&source, begun.clone().codecs(zarr::codec::CodecList::parse("gzip").unwrap()), "codecs");
    refused(&source, begun.clone().shards(Shards::Of(vec![2, 2])), "shards: none there, [2,2] now");
    refused(&source, begun.clone().keep_going(true), "keeps going");
    let mut array = zarr::open((&source, "/g/b")).array().unwrap();
    let mut attributes = array.attributes().unwrap().clone();
    attributes.insert("units", "K");
    array.set_attributes(attributes).unwrap();
    refused(&source, begun, "documents of the source have changed");
}

#[test]
fn a_conversion_is_resumed_with_other_memory() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    let expected = converted(&source, &begun);
    for left in (90..330).step_by(20) {
        for memory_then in [100, 2000, 1 << 30] {
            let target = memory();
            if plan(&source, begun.clone()).run(&Failing::after(&target, left).store(), |_| {}).is_ok() {
                continue;
            }
            plan(&source, begun.clone().memory(memory_then).resume(true)).run(&target, |_| {}).unwrap();
            assert_eq!(contents(&target), expected, "{left} {memory_then}");
        }
    }
}

#[test]
fn overwriting_begins_anew_after_any_stop() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]).overwrite(true);
    let expected = converted(&source, &begun);
    for left in 0.. {
        // Other arrays are in the way, of which nothing may stay.
        let target = memory();
        plan(&source, options()).run(&target, |_| {}).unwrap();
        if plan(&source, begun.clone()).run(&Failing::after(&target, left).store(), |_| {}).is_ok() {
            break;
        }
        let again = match left % 2 {
            0 => begun.clone(),
            _ => begun.clone().resume(true),
        };
        plan(&source, again).run(&target, |_| {}).unwrap();
        assert!(contents(&target) == expected, "stopped after {left} calls");
    }
}

#[test]
fn a_journal_that_is_broken_is_an_error_until_it_is_overwritten() {
    let (source, target) = (source(Dialect::V3), memory());
    for text in ["{", "{}", "{\"zarr_conversion\":7}"] {
        target.set_all(&Key::new(JOURNAL).unwrap(), text.as_bytes()).unwrap();
        for resume in [false, true] {
            let error = plan(&source, options().resume(resume)).run(&target, |_| {}).unwrap_err();
            assert!(error.to_string().contains("a broken journal of a conversion"), "{error}");
            assert_eq!(error.location().key.as_deref(), Some(JOURNAL));
        }
        plan(&source, options().overwrite(true)).run(&target, |_| {}).unwrap();
        assert_eq!(contents(&target), converted(&source, &options()));
        let target_keys = contents(&target);
        target_keys.iter().for_each(|(key, _)| target.erase(&Key::new(key).unwrap()).unwrap());
    }
}

#[test]
fn a_move_to_another_store_is_resumed_after_any_stop() {
    for dialect in DIALECTS {
        let expected = {
            let (source, target) = (source(dialect), memory());
            Transfer::of(&source, "/g").in_store(&target).to("/h/g").move_all(&zarr::registry::default()).unwrap();
            (contents(&source), contents(&target))
        };
        for left in 0.. {
            let (source, target) = (source(dialect), memory());
            let steps = Failing::steps(left);
            let (from, to) = (Failing::sharing(&source, &steps), Failing::sharing(&target, &steps));
            let registry = zarr::registry::default();
            let transfer = |from: &Arc<dyn Store>, to: &Arc<dyn Store>| {
                Transfer::of(from, "/g").in_store(to).to("/h/g").resume(true).move_all(&registry)
            };
            if transfer(&from.store(), &to.store()).is_ok() {
                break;
            }
            match transfer(&source, &target) {
                Ok(()) => {}
                // All was done but the answer.
                Err(error) => assert!(error.is_not_found(), "{dialect} {left}: {error}"),
            }
            assert_eq!((contents(&source), contents(&target)), expected, "{dialect}: stopped after {left} calls");
        }
    }
}
