use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::IoRuntime;
use zarr_drive::block_on;

/// Server in memory.
#[derive(Default)]
struct Server {
    value: Mutex<Vec<u8>>,
    version: AtomicU64,
    requests: AtomicUsize,
    /// Number of responses without a required version before each of which the value is changed.
    replaced: AtomicUsize,
    /// Number of bodies that end early, since the value is replaced meanwhile.
    cut: AtomicUsize,
    /// Times of the last change that the next responses name, the last one first.
    modified: Mutex<Vec<SystemTime>>,
    named: bool,
    ranges: bool,
    says_size: bool,
    sizes: Option<Sizes>,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("server:")
    }
}

impl Server {
    fn of(value: &[u8]) -> Self {
        Self { value: Mutex::new(value.to_vec()), named: true, ranges: true, says_size: true, ..Self::default() }
    }

    fn version(&self) -> Option<Version> {
        self.named.then(|| Version::new(&self.version.load(Ordering::Relaxed).to_string()))
    }

    fn requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }
}

impl Source for Server {
    fn open(&self, key: &Key, range: RangeRequest, condition: Condition) -> BoxFuture<'static, Result<Answer>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        assert!(self.sizes.is_none() || !matches!(range, RangeRequest::Last(_)));
        if self.replaced.load(Ordering::Relaxed) > 0 {
            self.replaced.fetch_sub(1, Ordering::Relaxed);
            let next = self.version.fetch_add(1, Ordering::Relaxed) as u8 + 1;
            let mut value = self.value.lock().expect("no panic");
            let len = value.len() + 1;
            *value = vec![next; len];
        }
        let found = self.version();
        let value = self.value.lock().expect("no panic").clone();
        let answer = if key.as_str() == "absent" {
            Answer::Missing
        } else if condition.required().is_some_and(|required| Some(required) != found.as_ref()) {
            Answer::Changed(found)
        } else if found.clone().is_some_and(|found| condition == Condition::IsNot(found)) {
            Answer::Same
        } else {
            let size = value.len() as u64;
            let at = if self.ranges { range.resolve(size) } else { Some(0..size) };
            match at {
                None => Answer::Outside(self.says_size.then_some(size)),
                Some(at) => {
                    let bytes = Bytes::copy_from_slice(&value[at.start as usize..at.end as usize]);
                    let cut = self.cut.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                    let bytes = cut.is_err().then_some(bytes);
                    Answer::Opened(Opened {
                        at,
                        size,
                        version: found,
                        modified: self.modified.lock().expect("no panic").pop(),
                        etag: None,
                        body: Box::pin(async { Ok(bytes) }),
                    })
                }
            }
        };
        Box::pin(async { Ok(answer) })
    }

    fn sizes(&self) -> Option<&Sizes> {
        self.sizes.as_ref()
    }

    fn concurrency(&self) -> usize {
        3
    }
}

fn fetch(server: &Arc<Server>, ranges: &[ByteRange], options: GetOptions) -> Result<Option<Fetched>> {
    let (server, ranges) = (Arc::clone(server), ranges.to_vec());
    let key = Key::new("a/b").expect("a key");
    block_on(IoRuntime::new().spawn(async move { get(&*server, &key, &ranges, &options).await })).expect("a result")
}

fn range() -> impl Strategy<Value = ByteRange> {
    let number = || prop_oneof![0_u64..14, Just(u64::MAX), Just(1 << 53), Just((1 << 53) + 1)];
    prop_oneof![
        1 => Just(ByteRange::Full),
        6 => (number(), number()).prop_map(|(start, end)| ByteRange::Range(start..end)),
        2 => number().prop_map(ByteRange::From),
        2 => number().prop_map(ByteRange::Suffix),
        2 => number().prop_map(ByteRange::First),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn equals_a_value_at_hand(
        size in 0_usize..12,
        ranges in proptest::collection::vec(range(), 0..7),
        named: bool,
        supported: bool,
        says_size: bool,
        suffixes: bool,
        remembered: bool,
    ) {
        let value: Vec<u8> = (0..size as u8).collect();
        let sizes = (!suffixes).then(Sizes::default);
        let server = Arc::new(Server { named, ranges: supported, says_size, sizes, ..Server::of(&value) });
        if remembered {
            // The size of another version is found out to be wrong.
            let key = Key::new("a/b").expect("a key");
            server.sizes.iter().for_each(|sizes| sizes.insert(&key, Version::new("old"), 5));
        }
        let key = Key::new("a/b").expect("a key");
        let due = Fetched::of_value(&server, &key, value, None, &ranges, &GetOptions::default());
        let found = fetch(&server, &ranges, GetOptions::default());
        match (due, found) {
            (Ok(due), Ok(Some(found))) => {
                prop_assert!(found.parts().eq(due.parts()));
                prop_assert_eq!(found.size, due.size);
            }
            (Err(due), Err(found)) => prop_assert_eq!(found.to_string(), due.to_string()),
            (due, found) => prop_assert!(false, "found {found:?}, expected {due:?}"),
        }
    }

    #[test]
    fn pieces_are_of_one_state(replaced in 0_usize..9, named: bool, sizes: bool) {
        let sizes = sizes.then(Sizes::default);
        let server = Arc::new(Server { replaced: AtomicUsize::new(replaced), named, sizes, ..Server::of(&[0; 40]) });
        let ranges = [ByteRange::Suffix(3), ByteRange::Range(0..2), ByteRange::Range(7..9), ByteRange::Range(12..40), ByteRange::From(9)];
        let found = fetch(&server, &ranges, GetOptions::default()).expect("a state").expect("there");
        let first = found.part(1)[0];
        prop_assert!(found.parts().flatten().all(|byte| *byte == first));
        prop_assert_eq!(found.size, Some(40 + u64::from(first)));
    }
}

/// An earlier time does not hide a later one, where responses name several.
#[test]
fn the_latest_time_is_kept() {
    let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let ranges = [ByteRange::Range(0..2), ByteRange::Range(900_000..900_002)];
    for (times, expected) in [(vec![3, 5], Some(5)), (vec![5, 3], Some(5)), (vec![4], None)] {
        let server =
            Server { modified: Mutex::new(times.into_iter().map(time).collect()), ..Server::of(&[0; 1 << 20]) };
        let server = Arc::new(server);
        let found = fetch(&server, &ranges, GetOptions::default()).expect("get").expect("there");
        assert_eq!((found.modified, server.requests()), (expected.map(time), 2));
    }
}

#[test]
fn few_requests() {
    let server = Arc::new(Server::of(b"0123456789"));
    let get = |ranges: &[ByteRange]| {
        let fetched = fetch(&server, ranges, GetOptions::default()).expect("get").expect("there");
        (fetched.parts().map(<[u8]>::to_vec).collect::<Vec<_>>(), server.requests())
    };
    assert_eq!(get(&[]), (vec![], 1));
    assert_eq!(get(&[ByteRange::Suffix(2), ByteRange::Range(10..10)]), (vec![b"89".to_vec(), vec![]], 1));
    assert_eq!(get(&[ByteRange::Full, ByteRange::Range(1..2)]), (vec![b"0123456789".to_vec(), b"1".to_vec()], 1));
    assert_eq!(get(&[ByteRange::Range(1..2), ByteRange::Range(1..2)]), (vec![b"1".to_vec(), b"1".to_vec()], 1));
    assert_eq!(get(&[ByteRange::From(10)]), (vec![vec![]], 1));
    assert_eq!(get(&[ByteRange::First(0)]), (vec![vec![]], 1));
    // Of many only the first window is sent to a server that answers with all.
    let whole = Arc::new(Server { ranges: false, ..Server::of(b"0123456789") });
    let ranges: Vec<ByteRange> = (0..9).map(|i| ByteRange::Range(i..i + 1)).collect();
    fetch(&whole, &ranges, GetOptions::default()).expect("get").expect("there");
    assert_eq!(whole.requests(), 3);
    // Ends by offsets: the size is asked for once.
    let server = Arc::new(Server { sizes: Some(Sizes::default()), ..Server::of(b"0123456789") });
    for requests in [2, 1, 1] {
        let fetched = fetch(&server, &[ByteRange::Suffix(2)], GetOptions::default()).expect("get").expect("there");
        assert_eq!((fetched.part(0), server.requests()), (&b"89"[..], requests));
    }
    // A required state that is remembered is not asked for again.
    server.version.fetch_add(1, Ordering::Relaxed);
    let fetched = fetch(&server, &[ByteRange::Suffix(2)], GetOptions::default()).expect("get").expect("there");
    assert_eq!((fetched.part(0), fetched.version.as_ref().map(Version::as_str)), (&b"89"[..], Some("1")));
}

#[test]
fn a_required_state() {
    let server = Arc::new(Server::of(b"0123456789"));
    let first = fetch(&server, &[ByteRange::Range(0..1)], GetOptions::snapshot()).expect("get").expect("there");
    let same = GetOptions::if_match(first.snapshot.clone());
    assert_eq!(fetch(&server, &[ByteRange::Suffix(1)], same.clone()).expect("get").expect("there").part(0), b"9");
    server.replaced.store(1, Ordering::Relaxed);
    let error = fetch(&server, &[ByteRange::Suffix(99), ByteRange::Range(0..1)], same).expect_err("another state");
    let Error::Precondition { found, .. } = &error else { panic!("{error}") };
    assert_eq!(found.as_ref().map(Version::as_str), Some("1"));
    server.replaced.store(usize::MAX, Ordering::Relaxed);
    let ranges = [ByteRange::Range(0..1), ByteRange::Range(5..6)];
    let found = fetch(&server, &ranges, GetOptions::default()).expect("at last as a whole").expect("there");
    assert_eq!(found.part(0), found.part(1));
}

#[test]
fn a_known_version() {
    let server = Arc::new(Server::of(b"0123456789"));
    let get = |ranges: &[ByteRange], options: &GetOptions| {
        let fetched = fetch(&server, ranges, options.clone()).expect("get").expect("there");
        (fetched.is_unchanged(), fetched.parts().map(<[u8]>::to_vec).collect::<Vec<_>>(), server.requests())
    };
    let known = GetOptions::if_none_match(server.version().expect("one"));
    assert_eq!(get(&[ByteRange::Range(0..1)], &known), (true, vec![], 1));
    assert_eq!(get(&[ByteRange::Suffix(2)], &known), (true, vec![], 1));
    assert_eq!(get(&[], &known), (true, vec![], 1));
    server.replaced.store(1, Ordering::Relaxed);
    assert_eq!(get(&[ByteRange::Range(0..1)], &known), (false, vec![vec![1]], 1));
    assert!(!get(&[ByteRange::Range(0..1)], &known).0);
}

#[test]
fn headers() {
    let text = |range: RangeRequest| range.header().unwrap_or_default();
    assert_eq!(text(RangeRequest::All), "");
    assert_eq!(text(RangeRequest::Bounds(2..5)), "bytes=2-4");
    assert_eq!(text(RangeRequest::From(2)), "bytes=2-");
    assert_eq!(text(RangeRequest::Last(2)), "bytes=-2");
}

#[test]
fn a_body_that_is_cut_by_a_replacement_is_read_again() {
    for cut in [1, 3] {
        let server = Arc::new(Server::of(b"0123456789"));
        server.cut.store(cut, Ordering::Relaxed);
        let ranges = [ByteRange::Range(0..1), ByteRange::Suffix(2)];
        let fetched = fetch(&server, &ranges, GetOptions::default()).expect("get").expect("there");
        assert_eq!((fetched.part(0), fetched.part(1)), (&b"0"[..], &b"89"[..]));
        assert_eq!(server.cut.load(Ordering::Relaxed), 0);
    }
    let server = Arc::new(Server::of(b"0123456789"));
    let first = fetch(&server, &[], GetOptions::snapshot()).expect("get").expect("there");
    server.cut.store(1, Ordering::Relaxed);
    let same = GetOptions::if_match(first.snapshot.clone());
    assert!(fetch(&server, &[ByteRange::Full], same).expect_err("another state").is_precondition());
    server.cut.store(usize::MAX, Ordering::Relaxed);
    assert!(fetch(&server, &[ByteRange::Full], GetOptions::default()).expect_err("for ever").is_retryable());
}
