//! Reads of chunks of the source, counted by key.

use super::*;

/// Runs a pyramid, and returns how many times each chunk of the source was read.
fn reads(plain: &Arc<dyn Store>, options: PyramidOptions) -> Result<BTreeMap<String, u64>, Error> {
    reads_into(plain, &memory(), options)
}

/// The same for levels in a store.
fn reads_into(
    plain: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    options: PyramidOptions,
) -> Result<BTreeMap<String, u64>, Error> {
    let gets = Arc::new(Mutex::new(BTreeMap::new()));
    let noted = Arc::clone(&gets);
    let store: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(plain), move |_, call| {
        if let Call::Get { key, .. } = &call
            && key.as_str().contains("/c/")
        {
            *noted.lock().unwrap().entry(key.to_string()).or_insert(0) += 1;
        }
        Ok(ControlFlow::Continue(call))
    }));
    let array = Array::open(&store, "/0", &registry()).unwrap();
    let pyramid = Pyramid::plan(&array, Some((target, NodePath::root())), options)?;
    pyramid.run(|_| {}).unwrap();
    let found = gets.lock().unwrap().clone();
    Ok(found)
}

#[test]
fn chunks_of_the_source_are_read_once() {
    let plain = memory();
    source(&plain, "/0", &[100, 90, 70], &[10, 8, 16]);
    for chunks in [None, Some(vec![4, 30, 30]), Some(vec![64, 7, 5])] {
        let options = PyramidOptions::default().factor("1", 2).factor("2", 3).chunks(chunks).levels(3);
        let gets = reads(&plain, options).unwrap();
        assert_eq!(gets.len(), 10 * 12 * 5);
        assert!(gets.values().all(|&count| count == 1), "{gets:?}");
    }
}

/// Options of arrays with a number of threads.
fn with_threads(count: usize) -> zarr_array::Options {
    zarr_array::Options::default().threads(std::num::NonZeroUsize::new(count))
}

#[test]
fn memory_that_does_not_suffice_is_told_with_what_needs_it() {
    let plain = memory();
    for (shape, chunks, of_levels, owner, advice) in [
        ([960, 960], [480, 480], [32, 32], "the source has chunks of 460800 bytes", "; other chunks"),
        ([960, 960], [16, 16], [240, 240], "level 1 has chunks of 115200 bytes", ", or choose"),
    ] {
        let array = source(&plain, &format!("/{}/0", chunks[0]), &shape, &chunks);
        let plan = |memory: u64| {
            let options = PyramidOptions::default().chunks(of_levels.to_vec()).levels(2).memory(memory);
            Pyramid::plan(&array, None, options)
        };
        let error = plan(100_000).unwrap_err();
        assert!(error.message().starts_with(owner), "{error}");
        let (least, rest) =
            error.hint().unwrap().strip_prefix("give it at least ").unwrap().split_once(" bytes").unwrap();
        assert!(rest.starts_with(advice), "{rest}");
        let least: u64 = least.parse().unwrap();
        assert!(plan(least).is_ok() && plan(least * 4 / 5).is_err(), "{least}");
    }
}

#[test]
fn few_reads_do_not_cost_workers() {
    let plain = memory();
    // Chunks of levels meet those of the source at the end of the array alone.
    let array = source(&plain, "/0", &[800, 800], &[64, 64]);
    let workers = |threads: usize| {
        let options = PyramidOptions::default().chunks(vec![50, 50]).levels(2).memory(400_000);
        Pyramid::plan(&array, None, options.options(with_threads(threads))).unwrap().work.workers
    };
    assert!(workers(8) > 3, "{} workers of 8 threads", workers(8));
    assert_eq!(workers(1), 1);
}

#[test]
fn little_memory_costs_few_reads() {
    let plain = memory();
    source(&plain, "/0", &[960, 960], &[240, 240]);
    // Chunks of levels meet those of the source at multiples of 960 along the first axis, of 1680 along the second.
    let options = || PyramidOptions::default().chunks(vec![32, 56]).levels(2).options(with_threads(1));
    for (memory, expected) in
        [(400_000, 132), (500_000, 84), (600_000, 60), (700_000, 48), (1_000_000, 32), (1_400_000, 24), (2_500_000, 16)]
    {
        let gets = reads(&plain, options().memory(memory)).unwrap();
        let all: u64 = gets.values().sum();
        assert_eq!(gets.len(), 16);
        assert!(all <= expected, "{memory} bytes of memory: {all} reads of 16 chunks, expected at most {expected}");
    }
}

#[test]
fn regions_read_the_chunks_that_they_need() {
    let plain = memory();
    source(&plain, "/0", &[960, 960], &[240, 240]);
    let options = || PyramidOptions::default().chunks(vec![32, 56]).levels(2).options(with_threads(1));
    let array = Array::open(&plain, "/0", &registry()).unwrap();
    // With more memory units grow, where the whole is computed.
    for memory_size in [400_000, 500_000, 600_000, 700_000, 1_000_000] {
        let (target, options) = (memory(), || options().memory(memory_size));
        Pyramid::plan(&array, Some((&target, NodePath::root())), options()).unwrap().run(|_| {}).unwrap();
        let region = Region::from_ranges(&[100..101, 100..101]);
        let gets = reads_into(&plain, &target, options().chunks(None).region(region)).unwrap();
        // A chunk of level 2 is of 128 rows and 224 columns of the array.
        assert_eq!(gets.into_keys().collect::<Vec<_>>(), ["0/c/0/0"], "{memory_size}");
    }
}
