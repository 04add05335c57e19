//! Appenders, which keep pieces until they fill chunks, beside appends of the pieces themselves.

use proptest::prelude::*;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use zarr::store::{Call, Counted, Error, ErrorKind as Kind, MemoryStore, Operation, SyncAsAsync, block_on};
use zarr::{Array, AsyncStore, ErrorKind, NewArray, Store};
use zarr_array::View;
use zarr_store::testing::Intercepted;

/// An array, and pieces to be appended to it.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    shards: bool,
    axis: usize,
    buffer: u64,
    pieces: Vec<u64>,
}

impl Case {
    fn new_array(&self) -> NewArray {
        let new = NewArray::new(&self.shape, "int16").chunks(&self.chunks).fill(-1);
        match self.shards {
            true => new.shards(&self.chunks.iter().map(|len| len * 2).collect::<Vec<_>>()),
            false => new,
        }
    }

    /// The elements of a piece whose first index along the axis is `at`, in C order, and their shape.
    fn piece(&self, at: u64, len: u64) -> (Vec<i16>, Vec<usize>) {
        let mut shape = self.shape.clone();
        shape[self.axis] = len;
        let count: u64 = shape.iter().product();
        let inner: u64 = shape[self.axis + 1..].iter().product();
        let element = |number: u64| {
            let along = at + number / inner.max(1) % len.max(1);
            (along * 31 + number % inner.max(1) * 7 + number / (inner * len).max(1)) as i16
        };
        ((0..count).map(element).collect(), shape.iter().map(|&len| len as usize).collect())
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = prop::collection::vec((0..7_u64, 1..5_u64), 1..4);
    (sizes, any::<prop::sample::Index>(), any::<bool>(), 0..600_u64, prop::collection::vec(0..12_u64, 0..9)).prop_map(
        |(sizes, axis, shards, buffer, pieces)| {
            let (shape, chunks): (Vec<u64>, Vec<u64>) = sizes.into_iter().unzip();
            Case { axis: axis.index(shape.len()), shape, chunks, shards, buffer, pieces }
        },
    )
}

fn view<'a>(piece: &'a (Vec<i16>, Vec<usize>)) -> View<'a> {
    View::new(zarr::Element::as_bytes(&piece.0).unwrap(), 2, &piece.1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The array is the same as after appends of the pieces themselves; so is one over a store that does not block.
    #[test]
    fn pieces_are_appended_in_order(case in cases()) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
        let mut expected = zarr::create((&store, "/expected")).array(case.new_array()).unwrap();
        let mut array = zarr::create((&store, "/a")).array(case.new_array()).unwrap();
        let mut other = block_on(async { zarr::create((&waiting, "/a")).array(case.new_array()).await }).unwrap();
        for array in [&expected, &array] {
            array.write(.., view(&case.piece(1000, case.shape[case.axis]))).unwrap();
        }
        block_on(other.write(.., view(&case.piece(1000, case.shape[case.axis])))).unwrap();
        let mut appender = array.appender(case.axis).unwrap().buffer_size(case.buffer);
        let mut waiting = other.appender(case.axis).unwrap().buffer_size(case.buffer);
        let mut taken = 0;
        for (number, &len) in case.pieces.iter().enumerate() {
            let piece = case.piece(taken, len);
            expected.append(case.axis, view(&piece)).unwrap();
            appender.append(view(&piece)).unwrap();
            block_on(waiting.append(view(&piece))).unwrap();
            taken += len;
            prop_assert_eq!((appender.len(), waiting.len()), (taken, taken));
            if number == 4 {
                appender.flush().unwrap();
                prop_assert_eq!(appender.kept(), 0);
            }
        }
        if case.buffer % 2 == 0 {
            appender.finish().unwrap();
        } else {
            drop(appender);
        }
        block_on(waiting.finish()).unwrap();
        prop_assert_eq!(array.shape(), expected.shape());
        prop_assert_eq!(array.read::<i16>(..).unwrap(), expected.read::<i16>(..).unwrap());
        prop_assert_eq!(block_on(other.read::<i16>(..)).unwrap(), expected.read::<i16>(..).unwrap());
        let again = zarr::open((&store, "/a")).array().unwrap();
        prop_assert_eq!(again.read::<i16>(..).unwrap(), expected.read::<i16>(..).unwrap());
    }
}

/// 1000 rows in chunks of 64 rows: each of 2 chunks side by side is set once, and the document as often as the buffer was full.
#[test]
fn each_chunk_is_set_once() {
    for (buffer, documents) in [(64 << 20, 1), (0, 16), (2 * 64 * 20 * 4, 8)] {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let dynamic: Arc<dyn Store> = store.clone();
        let new = NewArray::new(&[0, 20], "int32").chunks(&[64, 10]);
        let mut array = zarr::create((&dynamic, "/a")).array(new).unwrap();
        store.take();
        let mut appender = array.appender(0).unwrap().buffer_size(buffer);
        for row in 0..1000 {
            appender.append(&[row; 20]).unwrap();
        }
        appender.finish().unwrap();
        assert_eq!(store.take().sets, 2 * 16 + documents, "with a buffer of {buffer} bytes");
        assert_eq!(array.read::<i32>((.., 3)).unwrap(), (0..1000).collect::<Vec<_>>());
    }
}

/// Elements that fill chunks by themselves are written from where they are.
#[test]
fn whole_chunks_are_not_kept() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[0, 2], "uint8").chunks(&[10, 2]);
    let mut array = zarr::create((&store, "/a")).array(new).unwrap();
    let mut appender = array.appender(0).unwrap().buffer_size(20);
    appender.append(&[1_u8; 2 * 35]).unwrap();
    assert_eq!((appender.kept(), appender.len()), (5, 35));
    appender.append(&[2_u8; 2 * 5]).unwrap();
    assert_eq!((appender.kept(), appender.len()), (0, 40), "the chunk is full");
    drop(appender);
    assert_eq!(array.shape(), [40, 2]);
}

/// Strings go to the memory of the appender: pieces may be gone when they are written.
#[test]
fn texts_are_kept() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[0], "string").chunks(&[4])).unwrap();
    let mut appender = array.appender(0).unwrap();
    for number in 0..11 {
        appender.append(&[format!("text {number}").repeat(number)]).unwrap();
    }
    appender.finish().unwrap();
    let expected: Vec<String> = (0..11).map(|number| format!("text {number}").repeat(number)).collect();
    assert_eq!(array.read::<String>(..).unwrap(), expected);
}

/// Elements that do not fit are refused before anything is taken, and elements that cannot be written are kept.
#[test]
fn faults_take_nothing() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[0, 3], "int16").chunks(&[4, 3])).unwrap();
    assert_eq!(array.appender(2).unwrap_err().kind(), ErrorKind::Argument);
    let mut appender = array.appender(0).unwrap();
    appender.append(&[1_i16, 2, 3]).unwrap();
    assert_eq!(appender.append(&[1_i16, 2]).unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(appender.append(&[1_i64, 2, 3]).unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(appender.append(View::new(&[0; 9], 3, &[1, 3]).unwrap()).unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!((appender.len(), appender.kept()), (1, 1));
    zarr::open((&store, "/a")).array().unwrap().erase().unwrap();
    assert!(appender.flush().is_err(), "the array is gone");
    assert_eq!((appender.len(), appender.kept()), (1, 1));
    let error = appender.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

/// Others who append in between lose nothing, and are not lost.
#[test]
fn others_append_in_between() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[0], "int16").chunks(&[4]);
    let mut array = zarr::create((&store, "/a")).array(new).unwrap();
    let mut other: Array = zarr::open((&store, "/a")).array().unwrap();
    let mut appender = array.appender(0).unwrap().buffer_size(0);
    for number in 0..10 {
        appender.append(&[number as i16]).unwrap();
        if number % 3 == 0 {
            other.append(0, &[100 + number as i16]).unwrap();
        }
    }
    appender.finish().unwrap();
    let elements = zarr::open((&store, "/a")).array().unwrap().read::<i16>(..).unwrap();
    let (own, others): (Vec<i16>, Vec<i16>) = elements.into_iter().partition(|&element| element < 100);
    assert_eq!((own, others), ((0..10).collect(), vec![100, 103, 106, 109]));
}

/// A store whose sets of documents are done, and have no answer, while the flag is set.
fn silent() -> (Arc<AtomicBool>, Arc<dyn Store>) {
    let is_silent = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_silent);
    let store = Intercepted::new(MemoryStore::new(), move |store, call| match &call {
        Call::Set { key, .. } if key.name() == "zarr.json" && flag.load(Relaxed) => {
            let failure = Error::failed(&store, Operation::Set, key.as_str(), Kind::TimedOut, "no answer");
            store.call(call)?;
            Err(failure)
        }
        _ => Ok(Continue(call)),
    });
    (is_silent, Arc::new(store))
}

/// Elements that may be published are not appended once more, by nobody.
#[test]
fn nothing_is_appended_twice() {
    let (is_silent, store) = silent();
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[0], "int16").chunks(&[4])).unwrap();
    let mut appender = array.appender(0).unwrap();
    appender.append(&[1_i16, 2, 3]).unwrap();
    is_silent.store(true, Relaxed);
    assert_eq!(appender.flush().unwrap_err().kind(), ErrorKind::Store);
    is_silent.store(false, Relaxed);
    for result in [appender.flush(), appender.append(&[4_i16])] {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("may have published its elements"), "{text}");
    }
    drop(appender);
    assert_eq!(zarr::open((&store, "/a")).array().unwrap().read::<i16>(..).unwrap(), [1, 2, 3]);
}

/// Strings count with their bytes.
#[test]
fn texts_are_written_when_they_are_large() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[0], "string").chunks(&[1000])).unwrap();
    let mut appender = array.appender(0).unwrap().buffer_size(1 << 20);
    for _ in 0..300 {
        appender.append(&["x".repeat(10 << 10)]).unwrap();
        assert!(appender.kept() <= 103, "{} texts of 10 KiB are kept", appender.kept());
    }
    appender.finish().unwrap();
    assert_eq!(array.shape(), [300]);
}
