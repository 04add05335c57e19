//! Requests that are under way while other steps decode and encode.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use zarr_drive::{AsyncAsSync, Job, Next, Spawn, Workers, block_on, run, run_async, run_on};
use zarr_store::{AccessProfile, ByteRange, Error, GetOptions, Precondition, Reply, Request, Result, StoreExt};

use super::{Far, key};

/// Gets values of 1,000 bytes, each in a job of its own, and decodes each for so long.
struct Decoding(usize, Duration);

impl Job for Decoding {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match (std::mem::take(&mut self.0), &replies[..]) {
            (1, []) => {
                let options = GetOptions::default().expecting(1000);
                Ok(Next::Ask(vec![Request::Get { key: key("a"), ranges: vec![ByteRange::Full], options }]))
            }
            (0, [Reply::Got(Some(_))]) => {
                std::thread::sleep(self.1);
                Ok(Next::Done(()))
            }
            (0, _) => Ok(Next::Done(())),
            (count, _) => Ok(Next::Fork((0..count).map(|_| Self(1, self.1)).collect())),
        }
    }
}

#[test]
fn requests_begin_before_replies_are_decoded() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.bytes_in_flight(10_000)));
    far.values.set_all(&key("a"), &[1; 1000]).expect("set");
    let decoding = Duration::from_millis(10);
    let longest = || std::mem::take(&mut *far.idle.lock().expect("a lock")).longest;
    run(&AsyncAsSync::new(far.clone()), Decoding(40, decoding)).expect("done");
    // Ten values fit: without one more under way, they would all be decoded first.
    let on_threads = longest();
    block_on(run_async(&*far, Decoding(40, decoding))).expect("done");
    let in_place = longest();
    assert_eq!(far.requests.load(Ordering::SeqCst), 80);
    for longest in [on_threads, in_place] {
        assert!(longest < 6 * decoding, "no request was under way for {longest:?}");
    }
}

/// Gets small values, and for each a larger one that it names; counts those that are begun, and the most at the same time.
struct Indexed<'f>(usize, &'f AtomicUsize, &'f AtomicUsize);

impl Job for Indexed<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        let Self(left, begun, most) = self;
        let get = |len| Next::Ask(vec![Request::get_ranges(key("a"), vec![ByteRange::Range(0..len)])]);
        match (*left, &replies[..]) {
            (0, _) => Ok(Next::Done(())),
            (1, []) => {
                *left = 2;
                most.fetch_max(begun.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                Ok(get(1))
            }
            (2, [Reply::Got(Some(index))]) if index.part(0).len() == 1 => Ok(get(900)),
            (2, _) => {
                std::thread::sleep(Duration::from_millis(2));
                begun.fetch_sub(1, Ordering::SeqCst);
                *left = 0;
                Ok(Next::Done(()))
            }
            (count, _) => {
                *left = 0;
                Ok(Next::Fork((0..count).map(|_| Self(1, begun, most)).collect()))
            }
        }
    }
}

#[test]
fn indexes_are_not_gathered_before_what_they_name() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.concurrency(4)));
    far.values.set_all(&key("a"), &[1; 1000]).expect("set");
    let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    run(&AsyncAsSync::new(far.clone()), Indexed(200, &begun, &most)).expect("done");
    block_on(run_async(&*far, Indexed(200, &begun, &most))).expect("done");
    let most = most.load(Ordering::SeqCst);
    assert!(most <= 20, "{most} at the same time");
}

/// Threads that take steps.
struct Threads;

struct OnThreads<'s, 't>(&'s std::thread::Scope<'s, 't>);

impl<'t> Workers<'t> for OnThreads<'_, 't> {
    fn run(&self, task: Box<dyn FnOnce() + Send + 't>) {
        self.0.spawn(task);
    }

    fn count(&self) -> usize {
        8
    }

    fn includes_this_thread(&self) -> bool {
        false
    }
}

impl Spawn for Threads {
    fn with_workers<'t>(&self, body: &mut dyn FnMut(&dyn Workers<'t>)) {
        std::thread::scope(|scope: &std::thread::Scope<'_, 't>| body(&OnThreads(scope)));
    }
}

#[test]
fn values_that_are_encoded_count_before_they_are_set() {
    let far = Arc::new(Far::new(AccessProfile::REMOTE.bytes_in_flight(3500)));
    /// Encodes a value of 1,000 bytes, or a number of them.
    struct Encoding<'f>(usize, &'f Far);
    impl Job for Encoding<'_> {
        type Output = ();
        type Error = Error;

        fn weight(&self) -> u64 {
            if self.0 == 1 { 1000 } else { 0 }
        }

        fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
            match (self.0, &replies[..]) {
                (1, []) => {
                    let bytes = self.1.bytes.fetch_add(1000, Ordering::SeqCst) + 1000;
                    self.1.most_bytes.fetch_max(bytes, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    let value = vec![7; 1000];
                    self.1.bytes.fetch_sub(1000, Ordering::SeqCst);
                    Ok(Next::Ask(vec![Request::set(key("v"), value, Precondition::None)]))
                }
                (0 | 1, _) => Ok(Next::Done(())),
                (count, _) => {
                    self.0 = 0;
                    Ok(Next::Fork((0..count).map(|_| Self(1, self.1)).collect()))
                }
            }
        }
    }
    run_on(&Threads, &AsyncAsSync::new(far.clone()), Encoding(60, &far)).expect("done");
    let most = far.most_bytes.load(Ordering::SeqCst);
    assert!((1001..=3500).contains(&most), "{most} bytes");
    assert_eq!(far.requests.load(Ordering::SeqCst), 60);
}
