//! Several processes that append to one array of a store that keeps preconditions but has no locks between processes. Their requests
//! come in any order, some of them die, and requests of the dead arrive late.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use zarr_array::{AsyncArray, Dialect, ErrorKind, NewArray, View, json};
use zarr_store::{
    AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, ByteRange, Bytes, Call, Capabilities, Error, Fetched,
    GetOptions, Key, Listing, Lock, MemoryStore, Operation, Precondition, Prefix, Result, SetOptions, Store, StoreExt,
    Version, fallback,
};
use zarr_tests::random::Random;

/// A store as one of several processes has it: its values are common, its locks are not. Each request waits for its
/// turn.
#[derive(Clone, Debug)]
struct Process {
    store: Arc<MemoryStore>,
    /// Whether a request of this process may be answered now.
    turn: Arc<AtomicBool>,
    random: Arc<Mutex<Random>>,
    late: Arc<Mutex<Vec<Set>>>,
    /// Whether chunks cannot be set.
    is_full: bool,
}

/// A set that a process has sent.
#[derive(Debug)]
struct Set {
    key: Key,
    value: Bytes,
    when: Precondition,
}

/// Sets that were sent and not answered when their process died or went on are late.
struct Sent<'p> {
    process: &'p Process,
    set: Option<Set>,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        self.process.late.lock().unwrap().extend(self.set.take());
    }
}

impl Process {
    /// A process beside which there is no other.
    fn alone(store: &Arc<MemoryStore>) -> Self {
        let (turn, random) = (Arc::default(), Arc::new(Mutex::new(Random::new(0))));
        Self { store: Arc::clone(store), turn, random, late: Arc::default(), is_full: false }
    }

    /// Appends two elements to an array. `each` is called before each request.
    fn append(self, mut each: impl FnMut()) -> std::result::Result<(), zarr_array::Error> {
        let turn = Arc::clone(&self.turn);
        let store: Arc<dyn AsyncStore> = Arc::new(self);
        let mut append = Box::pin(async {
            let mut array = AsyncArray::open(&store, "/a", &zarr::registry::default()).await?;
            array.append(0, View::new(&[1, 2], 1, &[2])?).await
        });
        loop {
            turn.store(true, SeqCst);
            if let Poll::Ready(done) = append.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return done;
            }
            each();
        }
    }

    /// Waits until it is the turn of a request: of requests that wait at the same time, any.
    fn turn(&self) -> impl Future<Output = ()> + Send {
        std::future::poll_fn(|context| {
            let is_next = self.random.lock().unwrap().below(2) == 0;
            if is_next && self.turn.swap(false, SeqCst) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Process {
    async fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.turn().await;
        self.store.get(key, ranges, options)
    }

    async fn set(&self, key: &Key, value: Bytes, options: &SetOptions) -> Result<Option<Version>> {
        let set = Set { key: key.clone(), value: value.clone(), when: options.when.clone() };
        let mut sent = Sent { process: self, set: Some(set) };
        self.turn().await;
        sent.set = None;
        if self.is_full && !key.as_str().ends_with("zarr.json") {
            return Err(Error::io(self, Operation::Set, key.as_str(), io::Error::other("full")));
        }
        self.store.set(key, &value, options)
    }

    async fn erase(&self, key: &Key) -> Result<()> {
        self.turn().await;
        self.store.erase(key)
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.turn().await;
        self.store.list_dir(prefix)
    }

    async fn try_lock(&self, _: &Prefix) -> Result<Option<Lock>> {
        Ok(Some(Lock::new(())))
    }
}

impl AsyncStore for Process {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            Ok(match call {
                Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options).await?),
                Call::Set { key, value, options } => Answer::Set(self.set(&key, value.into_bytes(), &options).await?),
                Call::Erase { key } => self.erase(&key).await?.into(),
                Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix).await?),
                Call::Lock { prefix } => Answer::Locked(self.try_lock(&prefix).await?),
                call => return fallback(Asynchronous(self), call).await,
            })
        })
    }

    fn pause(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.turn())
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

const COLUMNS: usize = 4;

/// The elements of a row: the elements in one of two columns of chunks may be the fill value.
fn row(id: i32) -> [i32; COLUMNS] {
    match id % 3 {
        0 => [id, id, 0, 0],
        1 => [0, 0, id, id],
        _ => [id; COLUMNS],
    }
}

/// The work of a process, with the numbers of the rows of each append that has succeeded.
type Work<'w> = Pin<Box<dyn Future<Output = std::result::Result<(), zarr_array::Error>> + 'w>>;
type Appended = Mutex<Vec<Vec<i32>>>;

async fn appends(
    process: &Process,
    number: i32,
    (seed, most): (u64, usize),
    done: &Appended,
) -> std::result::Result<(), zarr_array::Error> {
    let mut random = Random::new(seed);
    let store: Arc<dyn AsyncStore> = Arc::new(process.clone());
    let mut array = AsyncArray::open(&store, "/a", &zarr::registry::default()).await?;
    let mut next = number * 1_000_000 + 1;
    for _ in 0..1 + random.below(4) {
        if random.below(3) == 0 {
            array = AsyncArray::open(&store, "/a", &zarr::registry::default()).await?;
        }
        let count = 1 + random.below(most);
        let rows: Vec<i32> = (next..).take(count).collect();
        next += 10_000;
        let bytes: Vec<u8> = rows.iter().flat_map(|&id| row(id)).flat_map(i32::to_ne_bytes).collect();
        array.append(0, View::new(&bytes, 4, &[count, COLUMNS])?).await?;
        done.lock().unwrap().push(rows);
    }
    Ok(())
}

/// Changes the document that the shape is in, and elements in the chunks that rows are appended to.
async fn changes(process: &Process, seed: u64) -> std::result::Result<(), zarr_array::Error> {
    let mut random = Random::new(seed);
    let store: Arc<dyn AsyncStore> = Arc::new(process.clone());
    for turn in 0..random.below(4) {
        let mut array = AsyncArray::open(&store, "/a", &zarr::registry::default()).await?;
        let attributes = json!({"turn": turn}).as_object().cloned().unwrap();
        array.set_attributes(attributes).await?;
        if let Some(last) = array.shape()[0].checked_sub(1) {
            let element: Vec<i32> = array.read((last, 0)).await?;
            array.write((last, 0), &element).await?;
        }
    }
    Ok(())
}

/// Every row within the shape is complete and there once, and the rows of an append that succeeded are there together.
fn check(store: &Arc<dyn Store>, done: &Appended, case: &str) {
    let array = zarr::open((store, "/a")).array().unwrap();
    let elements = array.read::<i32>(..).unwrap();
    let ids: Vec<i32> = elements.chunks(COLUMNS).map(|row| *row.iter().max().unwrap()).collect();
    for (id, found) in ids.iter().zip(elements.chunks(COLUMNS)) {
        assert_eq!(found, row(*id), "{case}: {ids:?}");
    }
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{case}: {ids:?}");
    for rows in done.lock().unwrap().iter() {
        assert!(ids.windows(rows.len()).any(|found| found == rows), "{case}: {rows:?} in {ids:?}");
    }
}

/// Runs processes to their ends, or until they are killed, in an order that depends on `seed`. Each appends up to `most` rows at a
/// time.
fn run(seed: u64, dialect: Dialect, chunk: [u64; 2], most: usize) -> usize {
    let case = format!("{dialect}, seed {seed}");
    let mut random = Random::new(seed);
    let memory = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = Arc::clone(&memory) as Arc<dyn Store>;
    let new = NewArray::new(&[0, COLUMNS as u64], "int32").chunks(&chunk).dialect(dialect);
    zarr::create((&store, "/a")).array(new).unwrap();
    let late = Arc::default();
    let process = |seed| Process {
        random: Arc::new(Mutex::new(Random::new(seed))),
        late: Arc::clone(&late),
        ..Process::alone(&memory)
    };
    let processes: Vec<Process> = (0..4).map(|number| process(seed * 10 + number)).collect();
    let done = Appended::default();
    let mut works: Vec<(&Process, Work<'_>)> = Vec::new();
    for (number, process) in (1_i32..).zip(&processes[1..]) {
        works.push((process, Box::pin(appends(process, number, (random.number(), most), &done))));
    }
    works.push((&processes[0], Box::pin(changes(&processes[0], random.number()))));
    let mut steps = 0;
    while !works.is_empty() {
        let at = random.below(works.len());
        // As long as others are taken to be dead by, now and then.
        let longest = *random.pick(&[2, 30, 600]).unwrap();
        for _ in 0..1 + random.below(longest) {
            steps += 1;
            assert!(steps < 1_000_000, "{case}: no end");
            let (process, work) = &mut works[at];
            process.turn.store(true, SeqCst);
            match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                // It dies.
                Poll::Pending if random.below(50 * most) == 0 && works.len() > 2 => {}
                Poll::Pending => continue,
                Poll::Ready(ended) => assert!(ended.is_ok(), "{case}: {ended:?}"),
            }
            drop(works.swap_remove(at));
            break;
        }
        while random.below(3) == 0 && !late.lock().unwrap().is_empty() {
            let mut late = late.lock().unwrap();
            let at = random.below(late.len());
            let Set { key, value, when } = late.swap_remove(at);
            // Its sender does not hear of it.
            let _ = memory.set_bytes(&key, value, &when);
        }
        check(&store, &done, &case);
    }
    for Set { key, value, when } in late.lock().unwrap().drain(..) {
        let _ = memory.set_bytes(&key, value, &when);
    }
    check(&store, &done, &case);
    done.lock().unwrap().len()
}

#[test]
fn each_append_that_a_process_without_locks_has_done_is_there_once() {
    let cases = std::env::var("ZARR_APPENDERS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400);
    for dialect in [Dialect::V3, Dialect::V2, Dialect::V3Protocol2019, Dialect::V3Draft2022] {
        let appends: usize = (0..cases).map(|seed| run(seed, dialect, [3, 2], 7)).sum();
        assert!(appends >= cases as usize, "{dialect}: {appends} appends in {cases} cases");
    }
}

#[test]
fn an_append_of_many_chunks_is_there_once_as_well() {
    let appends: usize = (0..6).map(|seed| run(seed, Dialect::V3, [1, 2], 1000)).sum();
    assert!(appends > 6, "{appends}");
}

#[test]
fn nothing_is_left_of_a_claim_when_an_append_is_done() {
    let document = |append: &dyn Fn(&Arc<MemoryStore>)| {
        let memory = Arc::new(MemoryStore::new());
        let store: Arc<dyn Store> = Arc::clone(&memory) as Arc<dyn Store>;
        zarr::create((&store, "/a")).array(NewArray::new(&[3], "int8").chunks(&[2])).unwrap();
        append(&memory);
        assert_eq!(zarr::open((&store, "/a")).array().unwrap().read::<i8>(..).unwrap(), [0, 0, 0, 1, 2]);
        store.get_all(&document_key()).unwrap()
    };
    let locked = document(&|memory| {
        let store: Arc<dyn Store> = Arc::clone(memory) as Arc<dyn Store>;
        zarr::open((&store, "/a")).array().unwrap().append(0, View::new(&[1, 2], 1, &[2]).unwrap()).unwrap();
    });
    let claimed = document(&|memory| {
        let mut claims = 0;
        let count = || claims += usize::from(is_claimed(&memory.get_all(&document_key()).unwrap().unwrap()));
        Process::alone(memory).append(count).unwrap();
        assert!(claims > 0);
    });
    assert_eq!(locked, claimed);
}

fn document_key() -> Key {
    Key::new("a/zarr.json").unwrap()
}

fn is_claimed(document: &[u8]) -> bool {
    document.ends_with(b" ") || document.ends_with(b"\t")
}

#[test]
fn an_append_that_fails_takes_its_claim_away() {
    let memory = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = Arc::clone(&memory) as Arc<dyn Store>;
    zarr::create((&store, "/a")).array(NewArray::new(&[3], "int8").chunks(&[2])).unwrap();
    let before = store.get_all(&document_key()).unwrap().unwrap();
    let mut claims = 0;
    let count = || claims += usize::from(is_claimed(&memory.get_all(&document_key()).unwrap().unwrap()));
    let error = Process { is_full: true, ..Process::alone(&memory) }.append(count).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store, "{error}");
    assert!(claims > 0);
    assert_eq!(store.get_all(&document_key()).unwrap().unwrap(), before);
    // Nobody has to wait for it.
    Process::alone(&memory).append(|| ()).unwrap();
}

#[test]
fn a_copy_is_not_claimed_by_who_appends_to_the_source() {
    let memory = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let (store, other, registry) = (memory(), memory(), zarr::registry::default());
    let array = zarr::create((&store, "/g/a")).array(NewArray::new(&[3], "int8").chunks(&[2])).unwrap();
    array.write(.., &[1_i8, 2, 3]).unwrap();
    let key = Key::new("g/a/zarr.json").unwrap();
    let bare = store.get_all(&key).unwrap().unwrap();
    store.set_all(&key, &[&bare[..], b"\n", &[b'\t'; 64]].concat()).unwrap();
    zarr::convert::Transfer::of(&store, "/g").in_store(&other).to("/g").copy(&registry).unwrap();
    assert!(!is_claimed(&other.get_all(&key).unwrap().unwrap()));
    // The rest of a move that was interrupted while it erased the source.
    store.erase(&Key::new("g/zarr.json").unwrap()).unwrap();
    assert!(zarr::convert::finish_move(&store, "/g", &other, "/g").unwrap());
    assert_eq!(store.list().unwrap(), [Key::new("zarr.json").unwrap()]);
    assert_eq!(zarr::open((&other, "/g/a")).array().unwrap().read::<i8>(..).unwrap(), [1, 2, 3]);
}
