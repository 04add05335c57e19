//! Bounds, parts and ends of operations on stores that do not block.

mod overlap;

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarr_drive::{AsyncAsSync, Job, Next, SyncAsAsync, block_on, run, run_async, unblock};
use zarr_store::{
    AccessProfile, Answer, AsyncStore, AsyncStoreExt, Asynchronous, BoxFuture, ByteRange, Bytes, Call, Capabilities,
    Error, ErrorKind, Fetched, GetOptions, Key, MemoryStore, Reply, Request, Result, SetOptions, Snapshot, Store,
    StoreExt, Version, fallback,
};

/// Values behind a network, in a way: each request takes a millisecond.
#[derive(Debug)]
struct Far {
    values: MemoryStore,
    profile: AccessProfile,
    requests: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
    bytes: AtomicU64,
    most_bytes: AtomicU64,
    idle: Mutex<Idle>,
    change: Mutex<Option<Change>>,
    has_versions: bool,
}

/// The time without any request under way.
#[derive(Debug, Default)]
struct Idle {
    since: Option<Instant>,
    longest: Duration,
}

/// A change after a number of requests: a value is set, or erased.
type Change = (usize, &'static str, Option<Vec<u8>>);

impl Far {
    fn new(profile: AccessProfile) -> Self {
        Self {
            values: MemoryStore::new(),
            profile,
            requests: 0.into(),
            under_way: 0.into(),
            most: 0.into(),
            bytes: 0.into(),
            most_bytes: 0.into(),
            idle: Mutex::default(),
            change: Mutex::default(),
            has_versions: true,
        }
    }
}

impl fmt::Display for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("far:")
    }
}

/// Counts what is under way, until it is dropped.
struct UnderWay<'f>(&'f Far);

impl<'f> UnderWay<'f> {
    fn new(far: &'f Far) -> Self {
        let under_way = far.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        far.most.fetch_max(under_way, Ordering::SeqCst);
        let mut idle = far.idle.lock().expect("a lock");
        idle.longest = idle.longest.max(idle.since.take().map_or(Duration::ZERO, |since| since.elapsed()));
        drop(idle);
        far.requests.fetch_add(1, Ordering::SeqCst);
        Self(far)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.0.under_way.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.lock().expect("a lock").since = Some(Instant::now());
        }
    }
}

impl Far {
    async fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let _under_way = UnderWay::new(self);
        self.pause(Duration::from_millis(1)).await;
        let mut change = self.change.lock().expect("a lock");
        if let Some((after, name, value)) = change.take_if(|(after, ..)| *after < self.requests.load(Ordering::SeqCst))
        {
            let _ = after;
            match value {
                Some(value) => drop(self.values.set_all(&Key::new(name)?, &value)?),
                None => self.values.erase(&Key::new(name)?)?,
            }
        }
        drop(change);
        let mut fetched = self.values.get(key, ranges, options)?;
        if let Some(fetched) = &mut fetched {
            fetched.version = fetched.version.take_if(|_| self.has_versions);
            // It holds no old states.
            fetched.snapshot = fetched.version.clone().map(Snapshot::of_version);
        }
        let came = fetched.iter().flat_map(Fetched::parts).map(|part| part.len() as u64).sum();
        let bytes = self.bytes.fetch_add(came, Ordering::SeqCst) + came;
        self.most_bytes.fetch_max(bytes, Ordering::SeqCst);
        Ok(fetched)
    }

    async fn set(&self, key: &Key, value: Bytes, options: &SetOptions) -> Result<Option<Version>> {
        let _under_way = UnderWay::new(self);
        let bytes = self.bytes.fetch_add(value.len() as u64, Ordering::SeqCst) + value.len() as u64;
        self.most_bytes.fetch_max(bytes, Ordering::SeqCst);
        self.pause(Duration::from_millis(1)).await;
        self.bytes.fetch_sub(value.len() as u64, Ordering::SeqCst);
        self.values.set(key, &value, options)
    }
}

impl AsyncStore for Far {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::Set { key, value, options } => Answer::Set(self.set(&key, value.into_bytes(), &options).await?),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().write(true)
    }

    fn access_profile(&self) -> AccessProfile {
        self.profile
    }
}

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// Jobs that get a number of values of 1,000 bytes, or set them, each in a job of its own.
enum Each<'f> {
    All(&'f Far, usize, bool),
    Get(&'f Far, usize),
    Set(usize),
    Wait(Option<&'f Far>),
}

impl Job for Each<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match std::mem::replace(self, Self::Wait(None)) {
            Self::All(far, count, sets) => {
                let job = |number| if sets { Self::Set(number) } else { Self::Get(far, number) };
                Ok(Next::Fork((0..count).map(job).collect()))
            }
            Self::Get(far, number) => {
                *self = Self::Wait(Some(far));
                let options = GetOptions::default().expecting(1000);
                Ok(Next::Ask(vec![Request::Get {
                    key: key(&number.to_string()),
                    ranges: vec![ByteRange::Full],
                    options,
                }]))
            }
            Self::Set(number) => {
                let value = vec![7; 1000];
                Ok(Next::Ask(vec![Request::set(key(&number.to_string()), value, zarr_store::Precondition::None)]))
            }
            Self::Wait(far) => {
                if let ([Reply::Got(Some(fetched))], Some(far)) = (&replies[..], far) {
                    assert_eq!(fetched.part(0).len(), 1000);
                    far.bytes.fetch_sub(1000, Ordering::SeqCst);
                }
                Ok(Next::Done(()))
            }
        }
    }
}

#[test]
fn requests_and_bytes_stay_within_their_bounds() {
    for (requests, bytes) in [(300, 10_000), (5, 1 << 20), (1, 1)] {
        let far = Arc::new(Far::new(AccessProfile::REMOTE.concurrency(requests).bytes_in_flight(bytes)));
        let blocking = AsyncAsSync::new(far.clone());
        for sets in [true, false] {
            run(&blocking, Each::All(&far, 100, sets)).expect("done");
            block_on(run_async(&*far, Each::All(&far, 100, sets))).expect("done");
            let most = usize::try_from(bytes / 1000).expect("small").clamp(1, requests);
            assert_eq!(far.most.swap(0, Ordering::SeqCst), most, "requests");
            let most_bytes = far.most_bytes.swap(0, Ordering::SeqCst);
            assert!(most_bytes <= bytes.max(1000), "{most_bytes} bytes");
        }
    }
}

/// Gets one value.
struct Get(Option<Request>);

impl Job for Get {
    type Output = Option<Bytes>;
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        if let Some(request) = self.0.take() {
            return Ok(Next::Ask(vec![request]));
        }
        match &replies[..] {
            [Reply::Got(fetched)] => Ok(Next::Done(fetched.as_ref().map(|fetched| fetched.to_bytes(0)))),
            [Reply::Conflict] => Err(Error::Memory { size: 99 }),
            other => panic!("{other:?}"),
        }
    }
}

fn whole(name: &str, expected: u64) -> Get {
    let options = GetOptions::default().expecting(expected);
    Get(Some(Request::Get { key: key(name), ranges: vec![ByteRange::Full], options }))
}

#[test]
fn large_values_come_in_parts_of_one_state() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.part_size(Some(100))));
    let store = AsyncAsSync::new(far.clone());
    let value: Vec<u8> = (0..=255).cycle().take(1050).collect();
    far.values.set_all(&key("a"), &value).expect("set");
    let get = |expected| run(&store, whole("a", expected)).map(|bytes| bytes.map(|bytes| bytes.to_vec()));
    assert_eq!(get(2000).expect("got").as_deref(), Some(&value[..]));
    assert_eq!((far.requests.swap(0, Ordering::SeqCst), far.most.swap(0, Ordering::SeqCst)), (11, 10));
    // A value that is expected to be small is one request.
    assert_eq!(get(10).expect("got").as_deref(), Some(&value[..]));
    assert_eq!(far.requests.swap(0, Ordering::SeqCst), 1);

    // A value that changes after the first part is read again from the start.
    let other = vec![9; 777];
    *far.change.lock().expect("a lock") = Some((3, "a", Some(other.clone())));
    assert_eq!(get(2000).expect("got").as_deref(), Some(&other[..]));
    // One that is erased then is missing.
    far.requests.store(0, Ordering::SeqCst);
    *far.change.lock().expect("a lock") = Some((3, "a", None));
    assert_eq!(get(2000).expect("got"), None);

    let mut nameless = Far::new(AccessProfile::REMOTE.part_size(Some(100)).merging(0, 1));
    nameless.has_versions = false;
    nameless.values.set_all(&key("a"), &value).expect("set");
    let nameless = Arc::new(nameless);
    let store = AsyncAsSync::new(nameless.clone());
    // Without versions only a single request is of one state.
    assert_eq!(run(&store, whole("a", 2000)).expect("got").as_deref(), Some(&value[..]));
    assert_eq!(nameless.requests.swap(0, Ordering::SeqCst), 2);
    let ranges = vec![ByteRange::Range(0..5), ByteRange::Range(900..905)];
    let got = run(&store, Get(Some(Request::get_ranges(key("a"), ranges)))).expect("got");
    assert_eq!(got.as_deref(), Some(&value[..5]));
    assert_eq!(nameless.requests.swap(0, Ordering::SeqCst), 3);
}

#[test]
fn a_panic_in_a_step_is_passed_on() {
    struct Panics;

    impl Job for Panics {
        type Output = ();
        type Error = Error;

        fn step(&mut self, _: &mut Vec<Reply>) -> Result<Next<Self>> {
            panic!("a step")
        }
    }

    let store = AsyncAsSync::new(Arc::new(Far::new(AccessProfile::REMOTE)));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&store, Panics)));
    assert!(outcome.is_err());
}

#[test]
fn a_dropped_future_ends_requests_and_the_code_that_made_them() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.concurrency(10)));
    let store: Arc<dyn AsyncStore> = far.clone();
    let (sender, outcome) = std::sync::mpsc::channel();
    let mut future = Box::pin(unblock(move |unblocker| {
        let store = unblocker.store(&store);
        let outcome = loop {
            if let Err(error) = store.get_all(&key("a")) {
                break error;
            }
        };
        sender.send(outcome).expect("the test waits");
    }));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    while far.requests.load(Ordering::SeqCst) < 3 {
        assert!(future.as_mut().poll(&mut context).is_pending());
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(future);
    assert_eq!(far.under_way.load(Ordering::SeqCst), 0);
    let error = outcome.recv_timeout(Duration::from_secs(5)).expect("the code ends");
    assert_eq!((error.kind(), error.key()), (ErrorKind::Internal, Some("a")));
    let requests = far.requests.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(far.requests.load(Ordering::SeqCst), requests);
}

#[test]
fn unblocked_code_reads_and_its_panics_are_passed_on() {
    let memory: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
    let store = Arc::clone(&memory);
    let contract = unblock(move |unblocker| zarr_store::testing::contract(&unblocker.store(&store)));
    block_on(contract).expect("a thread");
    let panics = unblock(move |_| -> () { panic!("in the code") });
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(panics)));
    assert_eq!(outcome.expect_err("it panics").downcast_ref::<&str>(), Some(&"in the code"));
}

#[test]
fn a_request_that_nobody_waits_for_any_more_is_dropped() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE));
    let store: Arc<dyn AsyncStore> = far.clone();
    let counted = Arc::clone(&far);
    let outcome = block_on(unblock(move |unblocker| {
        let store = unblocker.store(&store);
        let store = store.as_async().expect("it does not block");
        // A driver that fails drops the requests of its other jobs.
        let (key, ranges, options) = (Key::new("a")?, [ByteRange::Full], GetOptions::default());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut get = store.get(&key, &ranges, &options);
        while counted.under_way.load(Ordering::SeqCst) == 0 {
            // Where this thread waits for long, the answer comes before the request is seen under way.
            if get.as_mut().poll(&mut context).is_ready() {
                get = store.get(&key, &ranges, &options);
            }
        }
        drop(get);
        let begun = Instant::now();
        while counted.under_way.load(Ordering::SeqCst) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(5));
        }
        Ok::<(), Error>(())
    }));
    outcome.expect("a thread").expect("no error");
}

#[test]
fn merged_ranges_count_with_the_bytes_between_them() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.merging(1000, 100_000).bytes_in_flight(10_000)));
    far.values.set_all(&key("a"), &vec![1; 9000]).expect("set");
    struct Sparse(usize, bool);
    impl Job for Sparse {
        type Output = ();
        type Error = Error;

        fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
            match (self.0, self.1) {
                (0, _) => Ok(Next::Done(())),
                (count, true) => {
                    self.0 = 0;
                    Ok(Next::Fork((0..count).map(|_| Self(1, false)).collect()))
                }
                _ if replies.is_empty() => {
                    let ranges = (0..9).map(|at| ByteRange::Range(at * 900..at * 900 + 1)).collect();
                    Ok(Next::Ask(vec![Request::get_ranges(key("a"), ranges)]))
                }
                _ => Ok(Next::Done(())),
            }
        }
    }
    run(&AsyncAsSync::new(far.clone()), Sparse(20, true)).expect("done");
    // Each takes more than 7 KB of the 10 that there are.
    assert_eq!((far.most.load(Ordering::SeqCst), far.requests.load(Ordering::SeqCst)), (1, 20));
}

#[test]
fn values_count_by_the_size_of_those_before() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.bytes_in_flight(10_000)));
    far.values.set_all(&key("small"), &[1; 500]).expect("set");
    /// Gets of values that are expected to be ten times as large as they are.
    struct Compressed(usize, Option<u64>);
    impl Job for Compressed {
        type Output = ();
        type Error = Error;

        fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
            match (self.0, self.1) {
                (0, _) => Ok(Next::Done(())),
                (count, Some(expected)) if count > 1 => {
                    self.0 = 0;
                    Ok(Next::Fork((0..count).map(|_| Self(1, Some(expected))).collect()))
                }
                (_, Some(expected)) if replies.is_empty() => {
                    let options = GetOptions::default().expecting(expected);
                    Ok(Next::Ask(vec![Request::Get { key: key("small"), ranges: vec![ByteRange::Full], options }]))
                }
                _ => Ok(Next::Done(())),
            }
        }
    }
    run(&AsyncAsSync::new(far.clone()), Compressed(200, Some(5000))).expect("done");
    // Two at first, and then as many as have 10 KB with a quarter more.
    let most = far.most.swap(0, Ordering::SeqCst);
    assert!((10..=16).contains(&most), "{most} at the same time");
    // Where all have the size that is expected, the bound is as it was.
    run(&AsyncAsSync::new(far.clone()), Compressed(50, Some(500))).expect("done");
    let most = far.most.load(Ordering::SeqCst);
    assert!((17..=20).contains(&most), "{most} at the same time");
    // And where they have ten times as much.
    far.most_bytes.store(0, Ordering::SeqCst);
    far.most.store(0, Ordering::SeqCst);
    far.values.set_all(&key("small"), &[1; 5000]).expect("set");
    struct Long(usize);
    impl Job for Long {
        type Output = ();
        type Error = Error;

        fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
            match std::mem::take(&mut self.0) {
                0 => Ok(Next::Done(())),
                // One after the other at first.
                1 if replies.is_empty() => {
                    let options = GetOptions::default().expecting(500);
                    Ok(Next::Ask(vec![Request::Get { key: key("small"), ranges: vec![ByteRange::Full], options }]))
                }
                2 => {
                    self.0 = 50;
                    Ok(Next::Fork(vec![Self(1)]))
                }
                count => Ok(Next::Fork((0..count).map(|_| Self(1)).collect())),
            }
        }
    }
    run(&AsyncAsSync::new(far.clone()), Long(2)).expect("done");
    assert_eq!(far.most.load(Ordering::SeqCst), 1, "6,250 bytes each");
}
