//! Conversions in parts.

use super::failing::Failing;
use super::*;
use zarr::convert::Part;

fn part(number: u64, of: u64) -> Part {
    Part::new(number, of).unwrap()
}

/// Nodes that a reader sees.
fn visible(target: &Arc<dyn Store>) -> usize {
    match zarr::hierarchy::walk(&**target, "/", None) {
        Ok(walk) => walk.nodes.len() + walk.broken.len(),
        Err(error) => {
            assert!(error.is_not_found(), "{error}");
            0
        }
    }
}

#[test]
fn parts_that_were_stopped_and_run_again_make_the_whole() {
    let mut random = zarr_tests::Random::new(7);
    for (name, dialect, options) in cases() {
        let source = source(dialect);
        let expected = converted(&source, &options);
        for round in 0..6 {
            let target = memory();
            let of = [1, 2, 4, 4, 7, 30][round];
            let mut numbers: Vec<u64> = (1..=of).collect();
            numbers.sort_by_cached_key(|_| random.below(1000));
            for (done, &number) in numbers.iter().enumerate() {
                let options = options.clone().part(part(number, of));
                // Killed twice, and run again.
                for _ in 0..2 {
                    let stopping = Failing::after(&target, random.below(150) as u64);
                    drop(plan(&source, options.clone()).run(&stopping.store(), |_| {}));
                }
                if done > 0 && done + 1 < numbers.len() && number % 3 == 0 {
                    let error = plan(&source, options.clone().part(None)).finish(&target, |_| {}).unwrap_err();
                    assert!(error.to_string().contains("these are not done:"), "{error}");
                }
                plan(&source, options.clone()).run(&target, |_| {}).unwrap();
                assert_eq!(visible(&target), 0, "{name}: nodes show before the end");
                // A part that is done has nothing to do.
                let watched = Failing::never(&target);
                plan(&source, options).run(&watched.store(), |_| {}).unwrap();
                assert_eq!(watched.sets(), Vec::<String>::new());
            }
            for left in (0..).step_by(if round == 2 { 1 } else { 9 }) {
                let stopping = Failing::after(&target, left);
                let finished = plan(&source, options.clone()).finish(&stopping.store(), |_| {});
                if finished.is_ok() {
                    break;
                }
                if contents(&target) == expected {
                    // All was done but the answer.
                    break;
                }
            }
            assert!(contents(&target) == expected, "{name}: {of} parts");
            let error = plan(&source, options.clone()).finish(&target, |_| {}).unwrap_err();
            assert!(error.is_not_found(), "{error}");
        }
    }
}

#[test]
fn parts_write_different_chunks_and_as_many() {
    let (source, target) = (source(Dialect::V3), memory());
    let options = options().chunks(vec![1, 1]);
    let mut all = std::collections::BTreeSet::new();
    let mut counts = Vec::new();
    for number in 1..=4 {
        let watched = Failing::never(&target);
        plan(&source, options.clone().part(part(number, 4))).run(&watched.store(), |_| {}).unwrap();
        let chunks: Vec<String> = watched.sets().into_iter().filter(|key| is_chunk(key)).collect();
        counts.push(chunks.len());
        for key in chunks {
            assert!(all.insert(key.clone()), "{key} is of two parts");
        }
    }
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*most <= least * 2, "{counts:?}");
}

#[test]
fn parts_that_do_not_fit_each_other_are_refused() {
    let (source, target) = (source(Dialect::V3), memory());
    let begun = options().chunks(vec![1, 1]);
    let run = |options: ConvertOptions| plan(&source, options).run(&target, |_| {});
    run(begun.clone().part(part(1, 4))).unwrap();
    for (options, said) in [
        (begun.clone().part(part(2, 5)), "parts: 4 there, 5 now"),
        (begun.clone().part(part(2, 4)).memory(400), "memory: 200 there, 400 now"),
        (begun.clone().part(part(2, 4)).chunks(vec![2, 2]), "chunks: [1,1] there, [2,2] now"),
        (begun.clone().resume(true), "parts: 4 there, none now"),
    ] {
        let error = run(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains(said), "{error}, expected {said}");
    }
    let error = run(begun.clone()).unwrap_err();
    assert!(error.to_string().contains("is done in 4 parts"), "{error}");
    assert!(error.hint().unwrap().contains("--finish"), "{error}");
    assert_eq!(run(begun.clone().part(part(2, 4)).overwrite(true)).unwrap_err().kind(), ErrorKind::Argument);
    let finish = |options: ConvertOptions| plan(&source, options).finish(&target, |_| {});
    let error = finish(begun.clone()).unwrap_err();
    assert!(error.to_string().contains("of 4 parts these are not done: 2, 3, 4"), "{error}");
    assert!(finish(begun.clone().memory(300)).unwrap_err().to_string().contains("memory"));
    // A whole conversion replaces parts, with their journals.
    run(begun.clone().overwrite(true)).unwrap();
    assert_eq!(contents(&target), converted(&source, &begun));
    // A conversion that is no part is in the way of parts.
    let target = memory();
    assert!(plan(&source, begun.clone()).run(&Failing::after(&target, 60).store(), |_| {}).is_err());
    let error = plan(&source, begun.clone().part(part(1, 2))).run(&target, |_| {}).unwrap_err();
    assert!(error.hint().unwrap().contains("--resume"), "{error}");
    assert!(plan(&source, begun).finish(&target, |_| {}).unwrap_err().hint().unwrap().contains("--resume"));
}

#[test]
fn parts_at_the_same_time_make_the_whole() {
    let source = source(Dialect::V3);
    let begun = options().chunks(vec![1, 1]);
    for _ in 0..5 {
        let target = memory();
        std::thread::scope(|scope| {
            for number in 1..=4 {
                let (source, target, begun) = (&source, &target, &begun);
                scope.spawn(move || {
                    plan(source, begun.clone().part(part(number, 4))).run(target, |_| {}).unwrap();
                });
            }
        });
        plan(&source, begun.clone()).finish(&target, |_| {}).unwrap();
        assert_eq!(contents(&target), converted(&source, &begun));
    }
}
