use std::ops::ControlFlow::Continue;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use proptest::prelude::*;

use zarr_drive::{
    AsyncAsSync, InFlightLimits, Job, Next, Sequential, Spawn, SyncAsAsync, Workers, answers, block_on, run, run_async,
    run_async_with, run_on,
};
use zarr_store::testing::{Altered, Delayed, Intercepted};
use zarr_store::{
    AccessProfile, ByteRange, Call, Counted, Error, Fetched, Key, MemoryStore, Precondition, Prefix, Reply, Request,
    Result, Store, StoreExt,
};

/// Asks once and returns the replies.
struct Once(Option<Vec<Request>>);

impl Job for Once {
    type Output = Vec<Option<Vec<Vec<u8>>>>;
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        if let Some(requests) = self.0.take() {
            return Ok(Next::Ask(requests));
        }
        let parts = |fetched: &Fetched| fetched.parts().map(<[u8]>::to_vec).collect();
        let got = replies.iter().filter_map(|reply| match reply {
            Reply::Got(got) => Some(got.as_ref().map(parts)),
            _ => None,
        });
        Ok(Next::Done(got.collect()))
    }
}

/// Requests values, with the destinations `.1`, and returns the sizes found and the bytes.
struct IntoDestinations(Option<Vec<Key>>, Vec<Vec<u8>>);

impl Job for IntoDestinations {
    type Output = Vec<(Option<u64>, Vec<u8>)>;
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        if let Some(keys) = self.0.take() {
            let get = |key| Request::get(key);
            return Ok(Next::FetchInto(keys.into_iter().map(get).collect()));
        }
        let found = replies.iter().zip(&self.1).map(|(reply, destination)| match reply {
            Reply::Received(size) => (Some(*size), destination.clone()),
            Reply::Got(Some(fetched)) => (Some(fetched.part(0).len() as u64), fetched.part(0).to_vec()),
            _ => (None, Vec::new()),
        });
        Ok(Next::Done(found.collect()))
    }

    fn destination(&mut self, request: usize) -> Option<&mut [u8]> {
        self.1.get_mut(request).filter(|destination| !destination.is_empty()).map(Vec::as_mut_slice)
    }
}

#[test]
fn values_are_read_into_their_destinations() {
    let reading = Altered::new(MemoryStore::new()).getting(|store, key, ranges| store.get_ranges(key, ranges));
    let lending = MemoryStore::new();
    let job = || {
        IntoDestinations(Some(["a", "b", "c", "d"].map(key).into()), vec![vec![0; 4], vec![0; 3], vec![], vec![0; 9]])
    };
    for store in [&reading as &dyn Store, &lending] {
        for (name, value) in [("a", "1234"), ("b", "56789"), ("c", "0")] {
            store.set_all(&key(name), value.as_bytes()).expect("set");
        }
        let found = run(store, job()).expect("run");
        let sizes: Vec<_> = found.iter().map(|(size, _)| *size).collect();
        assert_eq!(sizes, [Some(4), Some(5), Some(1), None]);
        assert_eq!((&*found[0].1, &*found[2].1), (&b"1234"[..], &b"0"[..]));
    }
    let store = SyncAsAsync::new(Arc::new(reading));
    let found = block_on(run_async(&store, job())).expect("run");
    assert_eq!(found[0], (Some(4), b"1234".to_vec()));
}

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn arb_range() -> impl Strategy<Value = ByteRange> {
    prop_oneof![
        8 => (0_u64..90, 0_u64..20).prop_map(|(start, len)| ByteRange::Range(start..start + len)),
        1 => (0_u64..110).prop_map(ByteRange::From),
        1 => (0_u64..110).prop_map(ByteRange::Suffix),
        1 => Just(ByteRange::Full),
        1 => (0_u64..110, 0_u64..110).prop_map(|(a, b)| ByteRange::Range(Range { start: a, end: b })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn merging_changes_no_reply(
        ranges in proptest::collection::vec(arb_range(), 0..8),
        max_gap in 0_u64..30,
        max_size in 0_u64..120,
        part_size in 1_u64..60,
    ) {
        let store = MemoryStore::new();
        let value: Vec<u8> = (0..100).collect();
        store.set_all(&key("a"), &value).expect("set");
        let asks = || vec![
            Request::get_ranges(key("a"), ranges.clone()),
            Request::get_ranges(key("absent"), ranges.clone()),
        ];
        let model: Option<Vec<Vec<u8>>> = ranges.iter().map(|range| {
            let at = range.resolve(100)?;
            Some(value[at.start as usize..at.end as usize].to_vec())
        }).collect();
        let merging = Arc::new(Altered::new(store).with_profile(AccessProfile::LOCAL.merging(max_gap, max_size)));
        let blocking = run(&merging, Once(Some(asks())));
        let waiting = block_on(run_async(&SyncAsAsync::new(Arc::clone(&merging) as Arc<dyn Store>), Once(Some(asks()))));
        let profile = AccessProfile::REMOTE.merging(max_gap, max_size).part_size(Some(part_size));
        let remote: Arc<dyn Store> = Arc::new(Altered::new(merging).with_profile(profile));
        let in_parts = run(&AsyncAsSync::new(Arc::new(SyncAsAsync::new(remote))), Once(Some(asks())));
        match (&in_parts, &waiting) {
            (Ok(in_parts), Ok(waiting)) => prop_assert_eq!(in_parts, waiting),
            (Err(Error::Range { range, size: 100, .. }), Err(_)) => {
                prop_assert!(ranges.contains(range) && range.resolve(100).is_none(), "{}", range);
            }
            other => prop_assert!(false, "{:?}", other),
        }
        match (model, blocking, waiting) {
            (Some(model), Ok(blocking), Ok(waiting)) => {
                prop_assert_eq!(&blocking, &[Some(model), None]);
                prop_assert_eq!(waiting, blocking);
            }
            (None, Err(Error::Range { range: a, size: 100, .. }), Err(Error::Range { range: b, size: 100, .. })) => {
                prop_assert!(ranges.contains(&a) && a.resolve(100).is_none(), "{a}");
                prop_assert!(ranges.contains(&b) && b.resolve(100).is_none(), "{b}");
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

/// Adds up the numbers in a tree: each value has its own number and the names of the values below.
enum Sum {
    Start { key: Key, into: Key },
    Own { into: Key },
    Below { into: Key },
    Write,
    Done,
}

impl Job for Sum {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Done) {
            Self::Start { key, into } => {
                *self = Self::Own { into };
                Ok(Next::Ask(vec![Request::get(key.clone()), Request::Size { key }]))
            }
            Self::Own { into } => {
                let [Reply::Got(Some(fetched)), Reply::Size(Some(size))] = &replies[..] else {
                    return Ok(Next::Done(()));
                };
                assert_eq!(fetched.part(0).len() as u64, *size);
                let names = String::from_utf8(fetched.part(0).to_vec()).expect("text");
                let below = names
                    .split_whitespace()
                    .map(|name| Self::Start { key: key(name), into: key(&format!("{into}/{name}")) });
                let below = below.collect();
                *self = Self::Below { into };
                Ok(Next::Fork(below))
            }
            Self::Below { into } => {
                assert!(replies.is_empty());
                *self = Self::Write;
                let when = Precondition::NotExists;
                Ok(Next::Ask(vec![
                    Request::set(key(&format!("{into}/done")), vec![1], when),
                    Request::Erase { key: key("absent") },
                    Request::List { prefix: Prefix::root() },
                    Request::ListAll { prefix: Prefix::root() },
                ]))
            }
            Self::Write => {
                if let [Reply::Conflict, ..] = &replies[..] {
                    // Any error will do that nothing else here gives.
                    return Err(Error::Memory { size: 77 });
                }
                let [Reply::Set, Reply::Erased, Reply::Listing(listing), Reply::Keys(keys)] = &replies[..] else {
                    return Ok(Next::Ask(vec![Request::Erase { key: key("the replies are of other kinds") }]));
                };
                assert!(!listing.keys.is_empty() && keys.len() > listing.keys.len());
                Ok(Next::Done(()))
            }
            Self::Done => Ok(Next::Done(())),
        }
    }
}

fn tree() -> MemoryStore {
    let store = MemoryStore::new();
    for (name, below) in [("r", "a b c"), ("a", "d e"), ("b", ""), ("c", "d"), ("d", "e e1"), ("e", ""), ("e1", "")] {
        store.set_all(&key(name), below.as_bytes()).expect("set");
    }
    store
}

fn requests(count: usize) -> InFlightLimits {
    InFlightLimits::of(&AccessProfile::MEMORY).requests(count)
}

/// Takes steps on threads; on this one if there are none.
struct Overlapping {
    workers: usize,
    requests: usize,
    bytes: u64,
}

impl Spawn for Overlapping {
    fn limits(&self, profile: &AccessProfile) -> InFlightLimits {
        InFlightLimits::of(profile).requests(self.requests).bytes_in_flight(self.bytes)
    }

    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        if self.workers == 0 {
            return Sequential.with_workers(body);
        }
        let (sender, tasks) = std::sync::mpsc::channel();
        let tasks = std::sync::Mutex::new(tasks);
        std::thread::scope(|scope| {
            for _ in 0..self.workers {
                scope.spawn(|| {
                    loop {
                        let task = tasks.lock().expect("a lock").recv();
                        let Ok(task) = task else { return };
                        let task: Box<dyn FnOnce() + Send + 't> = task;
                        task();
                    }
                });
            }
            body(&Threads(sender, self.workers));
        });

        struct Threads<'t>(std::sync::mpsc::Sender<Box<dyn FnOnce() + Send + 't>>, usize);

        impl<'t> Workers<'t> for Threads<'t> {
            fn run(&self, task: Box<dyn FnOnce() + Send + 't>) {
                self.0.send(task).expect("threads run as long as there are tasks");
            }

            fn count(&self) -> usize {
                self.1
            }

            fn includes_this_thread(&self) -> bool {
                false
            }
        }
    }
}

#[test]
fn both_drivers_and_any_spawn_do_the_same() {
    /// Runs jobs on threads.
    struct Threads;

    impl Spawn for Threads {
        fn all(&self, count: usize, run: &(dyn Fn(usize) -> bool + Sync)) {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || run(number))).collect();
                threads.into_iter().for_each(|thread| assert!(thread.join().is_ok()));
            });
        }
    }

    let start = || Sum::Start { key: key("r"), into: key("out") };
    let [a, b] = [tree(), tree()];
    for requests in [1, 3, 100] {
        let c = Arc::new(tree());
        let blocking = AsyncAsSync::new(Arc::new(SyncAsAsync::new(c.clone())));
        for spawn in [Overlapping { workers: 0, requests, bytes: 1 }, Overlapping { workers: 3, requests, bytes: 99 }] {
            run_on(&spawn, &blocking, start()).expect("done");
            let error = run_on(&spawn, &blocking, start()).expect_err("there");
            assert!(matches!(error, Error::Memory { size: 77 }), "{error}");
            c.erase_prefix(&Prefix::new("out/").expect("a prefix")).expect("erased");
        }
    }
    run_on(&Sequential, &a, start()).expect("done");
    run_on(&Threads, &b, start()).expect("done");
    assert_eq!(a.list().expect("list"), b.list().expect("list"));
    for at_once in [0, 1, 2, 100] {
        let c = Arc::new(tree());
        block_on(run_async_with(&SyncAsAsync::new(c.clone()), start(), requests(at_once))).expect("done");
        assert_eq!(a.list().expect("list"), c.list().expect("list"));
    }
    // The second time the values exist: jobs get a conflict, and the failure of a fork is the failure of all.
    let c = SyncAsAsync::new(Arc::new(tree()));
    block_on(run_async(&c, start())).expect("done");
    for error in [run(&a, start()), run_on(&Threads, &a, start()), block_on(run_async(&c, start()))] {
        assert!(matches!(error.expect_err("there"), Error::Memory { size: 77 }));
    }
}

#[test]
fn merging_saves_requests() {
    let store = Counted::new(MemoryStore::new());
    store.set_all(&key("a"), &[1; 1000]).expect("set");
    store.take();
    let merging = Altered::new(&store).with_profile(AccessProfile::LOCAL.merging(100, 1000));
    let ranges = (0..10_u64).map(|i| ByteRange::Range(i * 100..i * 100 + 10)).collect();
    run(&merging, Once(Some(vec![Request::get_ranges(key("a"), ranges)]))).expect("got");
    let counts = store.take();
    assert_eq!((counts.gets, counts.ranges, counts.bytes_read), (1, 1, 910));
}

/// Gets of a store that wait at the same time: now, and the most since the count was reset.
#[derive(Debug, Default)]
struct Waiting {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// An async store over another each of whose gets takes a millisecond, and the count of those that wait at the same time.
fn slow(store: Arc<dyn Store>) -> (Delayed, Arc<Waiting>) {
    let waiting = Arc::new(Waiting::default());
    let count = Arc::clone(&waiting);
    let store = Intercepted::new(store, |_, call| Ok(Continue(call)));
    let store = store.with_capabilities(|below| below.conditional(false));
    let slow = Delayed::new(Arc::new(store), move |call| {
        let count = matches!(call, Call::Get { .. }).then(|| Arc::clone(&count));
        Box::pin(async move {
            let Some(count) = count else { return };
            count.most.fetch_max(count.now.fetch_add(1, SeqCst) + 1, SeqCst);
            zarr_store::sleep(Duration::from_millis(1)).await;
            count.now.fetch_sub(1, SeqCst);
        })
    });
    (slow, waiting)
}

#[test]
fn requests_wait_together_but_not_too_many() {
    let memory = Arc::new(MemoryStore::new());
    for i in 0..50 {
        memory.set_all(&key(&i.to_string()), &[i]).expect("set");
    }
    let (slow, waiting) = slow(memory.clone());
    for (at_once, most) in [(1, 1), (7, 7), (100, 50)] {
        let get = |i: u8| Request::get(key(&i.to_string()));
        waiting.most.store(0, SeqCst);
        let got =
            block_on(run_async_with(&slow, Once(Some((0..50).map(get).collect())), requests(at_once))).expect("got");
        assert_eq!(got, (0..50).map(|i| Some(vec![vec![i]])).collect::<Vec<_>>());
        assert_eq!(waiting.most.load(SeqCst), most);
    }
    // By default as many as the profile of the store says.
    let profile = AccessProfile::REMOTE.concurrency(5);
    let few = Altered::new(memory.clone()).with_profile(profile);
    let (slow_few, waiting) = self::slow(Arc::new(few));
    let gets = (0..50).map(|i: u8| Request::get(key(&i.to_string())));
    block_on(run_async(&slow_few, Once(Some(gets.collect())))).expect("got");
    assert_eq!(waiting.most.load(SeqCst), 5);
    for i in 0..50 {
        memory.erase(&key(&i.to_string())).expect("erase");
    }
    block_on(zarr_store::testing::contract_async(&slow));
}

/// A job that forks this number of levels deep, into four jobs each, and gets a value at the end of each branch.
struct Branch(u32);

impl Job for Branch {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match (self.0, &replies[..]) {
            (0, []) => Ok(Next::Ask(vec![Request::get(key("a"))])),
            (0, _) | (u32::MAX, _) => Ok(Next::Done(())),
            (depth, _) => {
                self.0 = u32::MAX;
                Ok(Next::Fork((0..4).map(|_| Self(depth - 1)).collect()))
            }
        }
    }
}

#[test]
fn requests_of_jobs_that_fork_again_are_not_too_many_either() {
    let memory = Arc::new(MemoryStore::new());
    memory.set_all(&key("a"), b"value").expect("set");
    let (slow, waiting) = slow(memory);
    for at_once in [1, 10, 32] {
        waiting.most.store(0, SeqCst);
        block_on(run_async_with(&slow, Branch(5), requests(at_once))).expect("done");
        assert_eq!(waiting.most.load(SeqCst), at_once);
    }
}

#[test]
fn a_store_that_gives_too_few_pieces_is_found_out() {
    for (ranges, merged) in [(vec![0..1, 50..90], false), (vec![0..5, 5..9], true)] {
        let ranges: Vec<ByteRange> = ranges.into_iter().map(ByteRange::Range).collect();
        let lazy = Altered::new(MemoryStore::new()).with_profile(AccessProfile::LOCAL.merging(10, 1000));
        let lazy = lazy.getting(|_, _, _| {
            let mut fetched = Fetched::new();
            fetched.push(zarr_store::Bytes::from_static(b"x"));
            Ok(Some(fetched))
        });
        let error = run(&lazy, Once(Some(vec![Request::get_ranges(key("a"), ranges)]))).expect_err("too few");
        // Merged, there is one piece as there must be, but it is too short.
        assert!(matches!(error, Error::Contract { .. }), "{merged}: {error}");
    }
}

/// Loses the last reply.
struct Lossy;

impl Spawn for Lossy {
    fn answers(&self, store: &dyn Store, requests: Vec<Request>, replies: &mut Vec<Reply>) -> Result<()> {
        answers(store, requests, replies)?;
        replies.pop();
        Ok(())
    }
}

#[test]
fn a_reply_too_few_is_no_missing_value() {
    let get = |key| Request::get(Key::new(key).expect("a key"));
    let job = Once(Some(vec![get("a"), get("b")]));
    let error = run_on(&Lossy, &MemoryStore::new(), job).expect_err("one is lost");
    assert_eq!(error.kind(), zarr_store::ErrorKind::Internal);
    assert_eq!(error.to_string(), "1 replies to 2 requests");
}

#[test]
fn the_memory_of_replies_is_used_again() {
    use zarr_store::{BufferUse, take_buffer};
    let store = Altered::new(MemoryStore::new()).getting(|_, _, _| {
        let mut fetched = Fetched::new();
        fetched.buffer(100)?.fill(1);
        Ok(Some(fetched))
    });
    for _ in 0..3 {
        let gets = ["a", "b"].map(|name| Request::get(key(name)));
        run(&store, Once(Some(gets.into()))).expect("got");
    }
    let kept = [(); 3].map(|()| take_buffer(BufferUse::Overwrite).len());
    assert_eq!(kept, [100, 100, 0]);
}

mod lost;
