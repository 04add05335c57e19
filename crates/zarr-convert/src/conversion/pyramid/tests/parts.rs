//! Pyramids in parts: their chunks are those of one run, whatever is interrupted.

use super::*;

fn part(number: u64, of: u64) -> Part {
    Part::new(number, of).unwrap()
}

/// Progress that cancels after a number of calls.
fn stopping(stop: u64) -> impl Fn(u128) -> ControlFlow<()> + Sync {
    let left = AtomicU64::new(stop);
    move |_| match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
        Ok(_) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Returns whether a key is a journal or a mark.
fn is_of_work(key: &str) -> bool {
    key.contains(".zconversion")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_write_what_one_run_does(
        case in case(),
        of in 1_u64..6,
        order in any::<u64>(),
        stops in proptest::collection::vec(0_u64..12, 6),
    ) {
        prop_assume!(case.most_levels() > 0);
        let make = |store: &Arc<dyn Store>| {
            let new = NewArray::new(&case.shape, "uint16").chunks(&case.chunks).codecs("bytes").unwrap();
            let source = Array::create(store, "/g/0", new.dialect(Dialect::V3), &registry()).unwrap();
            let numbers: Vec<u16> = case.numbers(0, 5).iter().map(|&number| number as u16).collect();
            source.write(.., &numbers).unwrap();
            source
        };
        let (whole, parts) = (memory(), memory());
        let (array, again) = (make(&whole), make(&parts));
        let options = || case.options(Method::Mean);
        // Machines have other numbers of processors.
        let on = |threads: u64| {
            let threads = std::num::NonZeroUsize::new(threads as usize + 1);
            options().options(zarr_array::Options::default().threads(threads))
        };
        let first = Pyramid::plan(&again, None, options().part(part(1, of)));
        let Ok(first) = first else { return Ok(()) };
        Pyramid::plan(&array, None, options()).unwrap().run(|_| {}).unwrap();
        let total = AtomicU64::new(0);
        for place in 0..of {
            let number = (place + order % of) % of + 1;
            let pyramid = plan(&again, on(place % 3).part(part(number, of)));
            if let Err(error) = pyramid.run(stopping(stops[place as usize])) {
                prop_assert_eq!(error.kind(), ErrorKind::Cancelled);
                let unfinished = first.finish(|_| {}).unwrap_err();
                prop_assert!(unfinished.message().contains("not done"), "{}", unfinished);
            }
            let done = AtomicU64::new(0);
            pyramid.run(|bytes| _ = done.fetch_add(bytes as u64, Ordering::Relaxed)).unwrap();
            prop_assert_eq!(u128::from(done.load(Ordering::Relaxed)), pyramid.size());
            total.fetch_add(done.into_inner(), Ordering::Relaxed);
            for level in pyramid.levels() {
                prop_assert!(Array::open(&parts, &level.path.to_string(), &registry()).is_err());
            }
        }
        let end = plan(&again, on(order % 4));
        prop_assert_eq!(u128::from(total.into_inner()), end.size());
        let _ = end.finish(stopping(stops[5]));
        if let Err(error) = end.finish(|_| {}) {
            // The first call was not interrupted.
            prop_assert_eq!(error.kind(), ErrorKind::NotFound, "{}", error);
            prop_assert!(!contents(&parts).keys().any(|key| is_of_work(key)));
        }
        prop_assert_eq!(contents(&parts), contents(&whole));
    }
}

#[test]
fn parts_read_each_chunk_once_and_the_end_reads_none() {
    let plain = memory();
    source(&plain, "/0", &[100, 90, 70], &[10, 8, 16]);
    let gets = Arc::new(Mutex::new(BTreeMap::new()));
    let noted = Arc::clone(&gets);
    let store: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(&plain), move |_, call| {
        if let Call::Get { key, .. } = &call
            && key.as_str().contains("/c/")
        {
            *noted.lock().unwrap().entry(key.to_string()).or_insert(0) += 1;
        }
        Ok(ControlFlow::Continue(call))
    }));
    let array = Array::open(&store, "/0", &registry()).unwrap();
    for of in [1, 3, 7] {
        let target = memory();
        let options = || PyramidOptions::default().factor("1", 2).factor("2", 3).levels(3).memory(1 << 20);
        let plan = |options: PyramidOptions| Pyramid::plan(&array, Some((&target, NodePath::root())), options).unwrap();
        assert!(plan(options().part(part(1, of))).work.tree.leaves() > 7);
        (1..=of).for_each(|number| plan(options().part(part(number, of))).run(|_| {}).unwrap());
        let read: BTreeMap<String, u64> = std::mem::take(&mut gets.lock().unwrap());
        assert_eq!(read.len(), 10 * 12 * 5);
        assert!(read.values().all(|&count| count == 1), "{read:?}");
        plan(options()).finish(|_| {}).unwrap();
        assert!(gets.lock().unwrap().is_empty());
    }
}

#[test]
fn units_of_parts_do_not_depend_on_threads() {
    let plain = memory();
    let array = source(&plain, "/0", &[960, 960], &[240, 240]);
    let units = |threads: usize, part: Option<Part>| {
        let threads = zarr_array::Options::default().threads(std::num::NonZeroUsize::new(threads));
        let options = PyramidOptions::default().chunks(vec![32, 56]).levels(2).memory(1_000_000).options(threads);
        let tree = plan(&array, options.part(part)).work.tree;
        tree.levels().iter().map(|units| units.unit.clone()).collect::<Vec<_>>()
    };
    assert_ne!(units(1, None), units(16, None));
    assert_eq!(units(1, Some(part(1, 2))), units(16, Some(part(2, 2))));
}

#[test]
fn parts_fit_one_another() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    let before = contents(&store);
    let options = || PyramidOptions::default().memory(60_000);
    let of = |number: u64| plan(&array, options().part(part(number, 3)));
    assert_eq!(plan(&array, options()).finish(|_| {}).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(plan(&array, options()).abandon().unwrap_err().kind(), ErrorKind::NotFound);
    of(2).run(|_| {}).unwrap();
    let refused = |pyramid: Pyramid, words: &str| {
        let error = pyramid.run(|_| {}).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(plan(&array, options().method(Method::Max).part(part(1, 3))), "pyramid: \"mean\" there, \"max\" now");
    refused(plan(&array, options().part(part(1, 2))), "parts: 3 there, 2 now");
    refused(plan(&array, options().memory(80_000).part(part(1, 3))), "memory: 60000 there, 80000 now");
    refused(plan(&array, options()), "a pyramid to here is done in 3 parts");
    refused(plan(&array, options().resume(true)), "parts: 3 there, none now");
    let missing = plan(&array, options()).finish(|_| {}).unwrap_err();
    assert!(missing.message().contains("these are not done: 1, 3"), "{missing}");
    // Given up, nothing is left.
    plan(&array, options()).abandon().unwrap();
    assert_eq!(contents(&store), before);
    // A level that is erased meanwhile is noticed, by a part and at the end.
    (1..=2).for_each(|number| of(number).run(|_| {}).unwrap());
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    let gone = of(3).run(|_| {}).unwrap_err();
    assert!(gone.kind() == ErrorKind::Conflict && gone.hint().unwrap().contains("--abandon"), "{gone}");
    plan(&array, options()).abandon().unwrap();
    (1..=3).for_each(|number| of(number).run(|_| {}).unwrap());
    store.erase_prefix(&Prefix::new("2/").unwrap()).unwrap();
    assert_eq!(plan(&array, options()).finish(|_| {}).unwrap_err().kind(), ErrorKind::Conflict);
    // A run that overwrites leaves no journals of parts.
    plan(&array, options().overwrite(true)).run(|_| {}).unwrap();
    assert!(!contents(&store).keys().any(|key| is_of_work(key)));
    let written = contents(&store);
    refused(of(1), "there is an array already");
    plan(&array, options()).finish(|_| {}).unwrap_err();
    assert_eq!(contents(&store), written);
    for both in [
        options().overwrite(true),
        options().resume(true),
        options().level(1),
        options().region(Region::from_ranges(&[0..1, 0..1])),
    ] {
        assert!(error(&array, both.part(part(1, 2))).message().starts_with("part: found"));
    }
}

#[test]
fn chunks_that_nobody_knows_are_erased_once() {
    let store = memory();
    let array = source(&store, "/0", &[64, 64], &[4, 4]);
    let options = || PyramidOptions::default().memory(60_000);
    // A first part that is interrupted while it makes room: another one makes it.
    let key = zarr_hierarchy::node::journal_key(&NodePath::parse("/1").unwrap(), None).unwrap();
    plan(&array, options().part(part(1, 2))).run(|_| {}).unwrap();
    let text = String::from_utf8(store.get_all(&key).unwrap().unwrap().to_vec()).unwrap();
    plan(&array, options()).abandon().unwrap();
    store.set_all(&key, text.replace("\"writing\"", "\"clearing\"").as_bytes()).unwrap();
    let stray = Key::new("1/c/1/2").unwrap();
    store.set_all(&stray, b"stray").unwrap();
    plan(&array, options().part(part(2, 2))).run(stopping(0)).unwrap_err();
    assert!(!store.exists(&stray).unwrap());
    (1..=2).for_each(|number| plan(&array, options().part(part(number, 2))).run(|_| {}).unwrap());
    plan(&array, options()).finish(|_| {}).unwrap();
    let parts = contents(&store);
    plan(&array, options().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(contents(&store), parts);
}
