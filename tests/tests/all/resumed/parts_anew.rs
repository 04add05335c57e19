//! Conversions in parts that are given up, and what is left of earlier ones.

use super::failing::Failing;
use super::*;
use zarr::convert::Part;

fn part(options: &ConvertOptions, number: u64, of: u64) -> ConvertOptions {
    options.clone().part(Part::new(number, of).unwrap())
}

fn run(source: &Arc<dyn Store>, target: &Arc<dyn Store>, options: ConvertOptions) -> zarr::Result<()> {
    plan(source, options).run(target, |_| {})
}

fn of_part(number: u64, of: u64) -> Key {
    Key::new(&format!("{JOURNAL}.{number}-of-{of}")).unwrap()
}

#[test]
fn a_journal_of_an_earlier_conversion_is_not_taken_for_done() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    run(&source, &target, part(&begun, 1, 2)).unwrap();
    let stale = target.get_all(&of_part(1, 2)).unwrap().unwrap();
    plan(&source, begun.clone()).abandon(&target).unwrap();
    run(&source, &target, part(&begun, 2, 2)).unwrap();
    target.set_all(&of_part(1, 2), &stale).unwrap();
    for error in [
        run(&source, &target, part(&begun, 1, 2)).unwrap_err(),
        plan(&source, begun.clone()).finish(&target, |_| {}).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Exists);
        assert!(error.to_string().contains("in an earlier conversion to here"), "{error}");
        assert!(error.hint().unwrap().contains("--abandon"), "{error}");
        assert_eq!(error.location().key.as_deref(), Some(of_part(1, 2).as_str()));
    }
    plan(&source, begun.clone()).abandon(&target).unwrap();
    for number in [2, 1] {
        run(&source, &target, part(&begun, number, 2)).unwrap();
    }
    plan(&source, begun.clone()).finish(&target, |_| {}).unwrap();
    assert_eq!(contents(&target), converted(&source, &begun));
}

/// On stores that list keys, and on those that do not, where chunks stay that the parts write again.
#[test]
fn parts_are_given_up_after_any_stop() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    let lists: [fn(zarr::store::Capabilities) -> zarr::store::Capabilities; 2] = [|all| all, |all| all.list(false)];
    for (limit, is_listed) in lists.into_iter().zip([true, false]) {
        let mut stops = 0;
        for left in (0..).step_by(if is_listed { 1 } else { 3 }) {
            let target = memory();
            run(&source, &target, part(&begun, 2, 3)).unwrap();
            assert!(run(&source, &Failing::after(&target, 60).store(), part(&begun, 3, 3)).is_err());
            let stopping = Failing::after(&target, left).limited(limit).store();
            let is_done = plan(&source, begun.clone()).abandon(&stopping).is_ok();
            let limited = Failing::never(&target).limited(limit).store();
            if !is_done {
                match plan(&source, begun.clone()).abandon(&limited) {
                    // All was done but the answer.
                    Err(error) => assert!(error.is_not_found(), "{error}"),
                    Ok(()) => stops += 1,
                }
            }
            let keys = contents(&target);
            assert!(keys.keys().all(|key| !key.contains(JOURNAL)), "{left}: {:?}", keys.keys());
            assert!(keys.is_empty() || !is_listed, "{left}: {:?}", keys.keys());
            if left % 10 == 0 || is_done {
                for number in 1..=3 {
                    run(&source, &limited, part(&begun, number, 3)).unwrap();
                }
                plan(&source, begun.clone()).finish(&limited, |_| {}).unwrap();
                let journals = contents(&target);
                assert!(journals.keys().all(|key| !key.contains(JOURNAL)), "{:?}", journals.keys());
                assert_eq!(journals, converted(&source, &begun), "{left}");
            }
            if is_done {
                break;
            }
        }
        assert!(stops > 3, "{stops}");
    }
}

#[test]
fn what_is_no_part_or_at_its_end_is_not_given_up() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    let abandon = || plan(&source, begun.clone()).abandon(&target);
    assert!(abandon().unwrap_err().is_not_found());
    assert!(run(&source, &Failing::after(&target, 60).store(), begun.clone()).is_err());
    let before = contents(&target);
    assert_eq!(abandon().unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(contents(&target), before);
    run(&source, &target, begun.clone().overwrite(true)).unwrap();
    let keys: Vec<Key> = target.list().unwrap();
    keys.iter().for_each(|key| target.erase(key).unwrap());
    run(&source, &target, part(&begun, 1, 1)).unwrap();
    let mut refused = 0;
    for left in 0.. {
        if plan(&source, begun.clone()).finish(&Failing::after(&target, left).store(), |_| {}).is_ok() {
            break;
        }
        let has_documents = target.exists(&Key::new("zarr.json").unwrap()).unwrap();
        if has_documents && target.exists(&Key::new(JOURNAL).unwrap()).unwrap() {
            let before = contents(&target);
            let error = abandon().unwrap_err();
            assert!(error.hint().unwrap().contains("--finish"), "{error}");
            assert_eq!(contents(&target), before, "{left}");
            let error = run(&source, &target, part(&begun, 1, 1)).unwrap_err();
            assert!(error.hint().unwrap().contains("--finish"), "{error}");
            refused += 1;
        }
        if contents(&target) == converted(&source, &begun) {
            break;
        }
    }
    assert!(refused > 3, "{refused}");
    assert_eq!(contents(&target), converted(&source, &begun));
}

/// With options by which chunks had other keys, the chunks would stay; what decides no keys may be another.
#[test]
fn parts_are_given_up_with_their_options_alone() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    run(&source, &target, part(&begun, 1, 2)).unwrap();
    let other: Arc<dyn Store> = memory();
    zarr::create((&other, "/g")).group(NewGroup::new()).unwrap();
    zarr::create((&other, "/g/c")).array(NewArray::new(&[4, 4], "int16").chunks(&[1, 1])).unwrap();
    let before = contents(&target);
    for (source, options, said) in [
        (&source, begun.clone().dialect(Dialect::V2), "dialect: \"v3\" there, \"v2\" now"),
        (&source, begun.clone().chunks(vec![2, 1]), "chunks: [1,1] there, [2,1] now"),
        (&other, begun.clone(), "nodes: 4 there, 3 now"),
    ] {
        let error = plan(source, options).abandon(&target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains(said), "{error}, expected {said}");
        assert_eq!(contents(&target), before, "nothing is erased");
    }
    let mut array = zarr::open((&source, "/g/b")).array().unwrap();
    let mut attributes = array.attributes().unwrap().clone();
    attributes.insert("units", "K");
    array.set_attributes(attributes).unwrap();
    plan(&source, begun.memory(400).keep_going(true)).abandon(&target).unwrap();
    assert!(contents(&target).is_empty());
}

#[test]
fn nothing_replaces_a_conversion_of_which_a_part_is_at_work() {
    let (source, registry) = (source(Dialect::V3), zarr::registry::default());
    let begun = options().chunks(vec![1, 1]);
    let target = memory();
    zarr::create((&target, "/other")).array(NewArray::new(&[4], "int16")).unwrap();
    let convert = |options| Conversion::plan_copy(&source, "/g", &target, "/h", &registry, options).unwrap();
    let tried = Mutex::new(0);
    let meanwhile = |event: Progress<'_>| {
        if !matches!(event, Progress::Done(_)) || std::mem::replace(&mut *tried.lock().unwrap(), 2) == 2 {
            return;
        }
        let before = contents(&target);
        for error in [
            convert(begun.clone().overwrite(true)).run(&target, |_| {}).unwrap_err(),
            Transfer::of(&target, "/other").to("/h").overwrite(true).move_all(&registry).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
            assert!(error.to_string().contains("is at work: process "), "{error}");
            assert_eq!(error.location().key.as_deref(), Some(".zconversion.1-of-2-h"));
        }
        // But for the entries of the part.
        let is_other = |key: &String| !key.contains(JOURNAL);
        let others = |contents: Contents| contents.into_iter().filter(|(key, _)| is_other(key)).collect::<Vec<_>>();
        assert!(others(contents(&target)) == others(before), "nothing is changed");
    };
    convert(part(&begun, 1, 2)).run(&target, meanwhile).unwrap();
    assert_eq!(tried.into_inner().unwrap(), 2);
    convert(begun.clone().overwrite(true)).run(&target, |_| {}).unwrap();
    let keys = contents(&target);
    assert!(keys.contains_key("h/zarr.json") && keys.keys().all(|key| !key.contains(JOURNAL)), "{:?}", keys.keys());
}

#[test]
fn a_part_notices_that_its_conversion_was_replaced() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    type Disturb = fn(&Arc<dyn Store>, &Arc<dyn Store>);
    let cases: [(Disturb, &str); 3] = [
        // The part is at work, so that it is not given up.
        (
            |source, target| {
                let error = plan(source, options().chunks(vec![1, 1])).abandon(target).unwrap_err();
                assert!(error.to_string().contains("is at work"), "{error}");
                target.erase(&Key::new(JOURNAL).unwrap()).unwrap();
            },
            "given up or replaced",
        ),
        (|_, target| target.erase(&of_part(1, 2)).unwrap(), "or its parts were given up: its journal is gone"),
        (
            |source, target| {
                target.erase(&Key::new(JOURNAL).unwrap()).unwrap();
                run(source, target, part(&options().chunks(vec![1, 1]), 2, 2)).unwrap_err();
                let stray: Vec<Key> = target.list().unwrap().into_iter().filter(|key| is_chunk(key.as_str())).collect();
                stray.iter().for_each(|key| target.erase(key).unwrap());
                run(source, target, part(&options().chunks(vec![1, 1]), 2, 2)).unwrap();
            },
            "given up or replaced",
        ),
    ];
    for (disturb, said) in cases {
        let target = memory();
        let disturbed = Mutex::new(false);
        let conversion = plan(&source, part(&begun, 1, 2));
        let error = conversion
            .run(&target, |event| {
                if matches!(event, Progress::Done(_)) && !std::mem::replace(&mut *disturbed.lock().unwrap(), true) {
                    disturb(&source, &target);
                }
            })
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.kind(), ErrorKind::Exists);
        // It is not done, whatever it wrote.
        assert!(plan(&source, begun.clone()).finish(&target, |_| {}).is_err());
    }
}

/// Also where they are many, and keys cannot be listed.
#[test]
fn a_whole_conversion_replaces_parts_with_their_journals_after_any_stop() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    for left in (0..).step_by(2) {
        let target = memory();
        for number in [1, 30] {
            run(&source, &target, part(&begun, number, 30)).unwrap();
        }
        let stopping = Failing::after(&target, left).limited(|all| all.list(false));
        let is_done = run(&source, &stopping.store(), begun.clone().overwrite(true)).is_ok();
        if !is_done {
            run(
                &source,
                &Failing::never(&target).limited(|all| all.list(false)).store(),
                begun.clone().overwrite(true),
            )
            .unwrap();
        }
        assert!(contents(&target) == converted(&source, &begun), "{left}");
        if is_done || left > 200 {
            break;
        }
    }
}

/// How long elements of variable length are is looked at by the first part, for all of them: it decides how arrays are divided.
#[test]
fn parts_divide_arrays_of_variable_length_alike() {
    let source = memory();
    let new = NewArray::new(&[400], "string").chunks(&[10]);
    let array = zarr::create((&source, "/a")).array(new).unwrap();
    let write = |len: usize| {
        let texts: Vec<String> = (0..400).map(|index| format!("{index:0len$}")).collect();
        array.write(.., &texts).unwrap();
    };
    write(3);
    let options = ConvertOptions::default()
        .memory(20_000)
        .chunks(vec![5])
        .options(Options::default().threads(std::num::NonZeroUsize::new(1)));
    let target = memory();
    run(&source, &target, part(&options, 1, 3)).unwrap();
    // Chunks that are written over are not noticed: slabs of others would be smaller by now.
    write(60);
    for number in [3, 2] {
        run(&source, &target, part(&options, number, 3)).unwrap();
    }
    plan(&source, options.clone()).finish(&target, |_| {}).unwrap();
    let array = zarr::open((&target, "/a")).array().unwrap();
    assert_eq!(array.stored_chunks().unwrap().len(), 80, "chunks of no part are missing");
    let texts = array.read::<String>(..).unwrap();
    assert!(texts.iter().enumerate().all(|(index, text)| text.parse() == Ok(index)));
}
