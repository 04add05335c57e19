//! Runs that meet at one journal.

use super::failing::Failing;
use super::*;
use zarr::convert::Part;

fn journal(target: &Arc<dyn Store>) -> String {
    String::from_utf8(target.get_all(&Key::new(JOURNAL).unwrap()).unwrap().unwrap().to_vec()).unwrap()
}

/// The value of a member of a journal that is a text or a number.
fn member<'j>(journal: &'j str, name: &str) -> &'j str {
    let rest = &journal[journal.find(&format!("\"{name}\":")).unwrap() + name.len() + 3..];
    rest[..rest.find([',', '}']).unwrap()].trim_matches('"')
}

/// The journal as if another run, of a process that has ended, had written it.
fn of_another_run(journal: &str) -> String {
    let run = format!("\"run\":\"{}\"", member(journal, "run"));
    let host = format!("\"host\":\"{}\"", member(journal, "host"));
    assert!(journal.contains(&run) && journal.contains(&host), "{journal}");
    journal.replace(&run, "\"run\":\"77\"").replace(&host, "\"host\":\"elsewhere\"")
}

/// Runs a conversion, and does something once, when half of array b is done.
fn disturbed(
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    options: ConvertOptions,
    disturb: impl Fn() + Sync,
) -> zarr::Result<()> {
    let conversion = plan(source, options);
    let (done, disturbed) = (Mutex::new(0), Mutex::new(false));
    conversion.run(target, |event| {
        if let Progress::Done(bytes) = event {
            *done.lock().unwrap() += bytes;
            if *done.lock().unwrap() > conversion.size() * 2 / 3
                && !std::mem::replace(&mut *disturbed.lock().unwrap(), true)
            {
                disturb();
            }
        }
    })
}

#[test]
fn no_second_run_goes_on_or_overwrites_while_one_is_at_work() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    assert!(plan(&source, begun.clone()).run(&Failing::after(&target, 40).store(), |_| {}).is_err());
    let tried = Mutex::new(0);
    disturbed(&source, &target, begun.clone().resume(true), || {
        for other in [begun.clone().resume(true), begun.clone().overwrite(true)] {
            let before = contents(&target);
            let error = plan(&source, other).run(&target, |_| {}).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
            let this = format!("a run of a conversion to here is at work: process {} on ", std::process::id());
            assert!(error.to_string().contains(&this) && error.to_string().contains(" UTC"), "{error}");
            assert_eq!(error.location().key.as_deref(), Some(JOURNAL));
            assert!(contents(&target) == before, "nothing is changed");
            *tried.lock().unwrap() += 1;
        }
    })
    .unwrap();
    assert_eq!(tried.into_inner().unwrap(), 2);
    assert_eq!(contents(&target), converted(&source, &begun));
}

/// With conditions of the store, and without, as far as gets show it.
#[test]
fn a_run_that_another_one_took_over_from_writes_nothing_further() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    for is_conditional in [true, false] {
        let target = memory();
        let watched = Failing::never(&target);
        let limited = match is_conditional {
            true => watched.clone(),
            false => watched.clone().limited(|all| all.conditional(false)),
        };
        let before = Mutex::new(0);
        let error = disturbed(&source, &limited.store(), begun.clone(), || {
            target.set_all(&Key::new(JOURNAL).unwrap(), of_another_run(&journal(&target)).as_bytes()).unwrap();
            *before.lock().unwrap() = watched.sets().len();
        })
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
        let said =
            format!("another run goes on with this conversion: process {} on elsewhere, at 2", std::process::id());
        assert!(error.to_string().contains(&said), "{error}");
        let later = watched.sets().split_off(before.into_inner().unwrap());
        assert!(later.iter().all(|key| is_chunk(key)) && later.len() < 64 + 28, "{later:?}");
        assert_eq!(member(&journal(&target), "run"), "77", "the journal is that of the other");
        // Of which no process is there: another run goes on.
        plan(&source, begun.clone().resume(true)).run(&target, |_| {}).unwrap();
        assert_eq!(contents(&target), converted(&source, &begun));
    }
}

#[test]
fn a_run_whose_journal_is_gone_stops() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    let error = disturbed(&source, &target, begun, || target.erase(&Key::new(JOURNAL).unwrap()).unwrap()).unwrap_err();
    let said = "the target was erased, moved or replaced while the conversion ran: its journal is gone";
    assert!(error.to_string().contains(said), "{error}");
    assert!(!target.exists(&Key::new("g/b/zarr.json").unwrap()).unwrap());
}

/// No document is written of a node whose chunks were erased, moved away, or are of another node by now.
#[test]
fn a_conversion_whose_target_is_erased_ends() {
    use zarr::hierarchy::{erase_node, open_node};
    let (source, registry) = (source(Dialect::V3), zarr::registry::default());
    type Act = fn(&Arc<dyn Store>);
    let acts: [(&str, Act); 3] = [
        ("rm", |target| erase_node(&**target, &open_node(&**target, "/h", None).unwrap()).unwrap()),
        ("mv", |target| Transfer::of(target, "/h").to("/k").move_all(&zarr::registry::default()).unwrap()),
        ("create", |target| drop(zarr::create((target, "/h")).group(NewGroup::new().overwrite(true)).unwrap())),
    ];
    for (name, act) in acts {
        let (target, begun) = (memory(), options().chunks(vec![1, 1]));
        let conversion = Conversion::plan_copy(&source, "/g", &target, "/h", &registry, begun).unwrap();
        let (done, acted) = (Mutex::new(0), Mutex::new(false));
        let meanwhile = |event: Progress<'_>| {
            if let Progress::Done(bytes) = event {
                *done.lock().unwrap() += bytes;
                if *done.lock().unwrap() > conversion.size() * 2 / 3
                    && !std::mem::replace(&mut *acted.lock().unwrap(), true)
                {
                    act(&target);
                }
            }
        };
        let error = conversion.run(&target, meanwhile).unwrap_err();
        let said = "the target was erased, moved or replaced while the conversion ran";
        assert!(error.to_string().contains(said), "{name}: {error}");
        assert!(error.hint().unwrap().contains("--overwrite"), "{name}: {error:?}");
        assert_eq!(error.location().key.as_deref(), Some(".zconversion-h"), "{name}");
        let left = contents(&target);
        assert!(
            !left.contains_key(".zconversion-h") && !left.contains_key("h/b/zarr.json"),
            "{name}: {:?}",
            left.keys()
        );
        assert_eq!(left.contains_key("h/zarr.json"), name == "create");
    }
}

/// A move that renames erases the node in the way before: the journal of a conversion to it goes first.
#[test]
fn a_move_that_overwrites_erases_the_journal_before_the_node() {
    let mut stops = 0;
    for left in 0.. {
        let target = memory();
        for path in ["/g", "/h"] {
            let array = zarr::create((&target, path)).array(NewArray::new(&[4], "int16").chunks(&[2])).unwrap();
            array.write(.., &[1_i16, 2, 3, 4]).unwrap();
        }
        target.set_all(&Key::new(".zconversion-h").unwrap(), b"{}").unwrap();
        let before = contents(&target);
        let stopping = Failing::after(&target, left).store();
        let transfer = Transfer::of(&stopping, "/g").to("/h").overwrite(true);
        let is_done = transfer.move_all(&zarr::registry::default()).is_ok();
        let after = contents(&target);
        if after.get(".zconversion-h").is_some_and(|journal| journal == b"{}") {
            let is_there = |(key, value): (&String, &Vec<u8>)| !key.starts_with("h/") || after.get(key) == Some(value);
            assert!(before.iter().all(is_there), "{left}: {:?}", after.keys());
            stops += 1;
        }
        if is_done {
            break;
        }
    }
    assert!(stops > 3, "{stops}");
}

#[test]
fn nodes_of_long_names_have_journals() {
    let folder = tempfile::tempdir().unwrap();
    let target = zarr::store::create(folder.path().to_str().unwrap()).unwrap();
    let source = source(Dialect::V3);
    let path = format!("/{}", "n".repeat(250));
    let copy = |target: &Arc<dyn Store>, resume: bool| {
        Transfer::of(&source, "/g/b").in_store(target).to(&path).resume(resume).copy(&zarr::registry::default())
    };
    assert!(copy(&Failing::after(&target, 60).store(), false).is_err());
    let keys = contents(&target);
    let is_journal = |key: &String| key.starts_with(".zconversion-n") && key.len() < 200;
    assert!(keys.keys().any(is_journal), "{:?}", keys.keys());
    copy(&target, true).unwrap();
    assert_eq!(zarr::open((&target, &*path)).array().unwrap().stored_chunks().unwrap().len(), 88);
    assert!(contents(&target).keys().all(|key| !key.contains(JOURNAL)));
}

#[test]
fn strict_writers_convert_into_stores_with_conditions_alone() {
    let source = source(Dialect::V3);
    let options = options().options(Options::default().strict_writers(true));
    plan(&source, options.clone()).run(&memory(), |_| {}).unwrap();
    let target = memory();
    let limited = Failing::never(&target).limited(|all| all.conditional(false)).store();
    let registry = zarr::registry::default();
    let copy =
        |options: ConvertOptions| Conversion::plan_copy(&source, "/g", &limited, "/h", &registry, options).unwrap();
    for error in [
        plan(&source, options.clone()).run(&limited, |_| {}).unwrap_err(),
        plan(&source, options.clone().part(Part::new(1, 2).unwrap())).run(&limited, |_| {}).unwrap_err(),
        plan(&source, options.clone()).finish(&limited, |_| {}).unwrap_err(),
        copy(options.clone()).run(&limited, |_| {}).unwrap_err(),
        copy(options).run_move(&limited, |_| {}).unwrap_err(),
    ] {
        assert!(error.to_string().contains("a conversion is refused by strict writers"), "{error}");
        assert!(error.location().path.is_some(), "{error}");
    }
    assert!(contents(&target).is_empty());
}
