//! Tests of writers against a model, with counted requests, and on stores that fail.

#![allow(clippy::unwrap_used, reason = "tests")]

mod model;
mod stores;

use crate::kept_chunk::tests::set_memory;
use crate::{Array, AsyncArray, Error, ErrorKind, NewArray, Options, Store, Writer};
use std::ops::Range;
use std::sync::Arc;
use stores::{Beginning, Faults, array, key, registry, shards, text_shards};
use zarr_drive::{SyncAsAsync, block_on};
use zarr_grid::Selection;
use zarr_store::{AsyncStore, StoreExt};

/// Elements of a box of an array with 100 columns: each is the position of the element, plus 1.
fn numbers(rows: Range<u64>, columns: Range<u64>) -> Vec<i32> {
    rows.flat_map(|row| columns.clone().map(move |column| (row * 100 + column) as i32 + 1)).collect()
}

/// Writes a box whose elements tell their positions.
fn put(writer: &Writer, rows: Range<u64>, columns: Range<u64>) -> Result<(), Error> {
    writer.write((rows.clone(), columns.clone()), &numbers(rows, columns))
}

#[test]
fn a_chunk_that_comes_in_pieces_is_one_set_and_no_get() {
    for codecs in ["bytes", &shards("[10, 5]")] {
        let (store, _, array) = array(codecs);
        // Rows of an array of 70 x 100 in chunks of 20 x 30, the last of which are cut.
        let writer = array.writer();
        (0..70).for_each(|row| put(&writer, row..row + 1, 0..100).unwrap());
        assert_eq!((store.counts().sets, store.counts().gets, writer.kept()), (4 * 4, 0, 0), "{codecs}");
        assert_eq!(array.read::<i32>(..).unwrap(), numbers(0..70, 0..100));
        // Boxes that do not follow each other, and single elements.
        store.take();
        for tile in [8, 3, 1, 7, 2, 0, 6, 5, 4_u64] {
            let (row, column) = (tile / 3 * 7, tile % 3 * 10);
            put(&writer, row..(row + 7).min(20), column..column + 10).unwrap();
        }
        for at in 0..600 {
            put(&writer, 20 + at / 30..21 + at / 30, at % 30..at % 30 + 1).unwrap();
        }
        assert_eq!((store.counts().sets, store.counts().gets, writer.kept()), (2, 0, 0), "{codecs}");
        writer.finish().unwrap();
        assert_eq!(store.take().sets, 2);
        assert_eq!(array.read::<i32>(..).unwrap(), numbers(0..70, 0..100));
    }
}

#[test]
fn rows_need_no_mask() {
    let (.., array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..3, 0..30).unwrap();
    put(&writer, 5..7, 0..30).unwrap();
    assert_eq!(writer.kept(), 20 * 30 * 5, "a byte for each element beside it");
    let writer = array.writer();
    (0..19).for_each(|row| put(&writer, row..row + 1, 0..30).unwrap());
    assert_eq!(writer.kept(), 20 * 30 * 4);
}

#[test]
fn chunks_that_a_write_covers_are_written_at_once() {
    let (store, _, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 25..30, 35..40).unwrap();
    store.take();
    // Four chunks are covered, and 12 around them in part.
    put(&writer, 10..65, 20..95).unwrap();
    assert_eq!((store.counts().sets, store.counts().gets), (4, 0));
    assert_eq!(writer.kept(), (70 * 100 - 4 * 600) * 4);
    writer.finish().unwrap();
    assert_eq!((store.counts().sets, store.counts().gets), (16, 12));
    assert_eq!(array.read::<i32>((10..65, 20..95)).unwrap(), numbers(10..65, 20..95));
}

#[test]
fn elements_of_the_same_writer_replace_each_other_in_their_order() {
    let (.., array) = array("bytes");
    let writer = array.writer();
    writer.fill((0..5, 0..5), 1).unwrap();
    // All of the chunk, past what is kept of it.
    writer.fill((0..20, 0..30), 2).unwrap();
    writer.fill((3..4, 3..4), 3).unwrap();
    writer.flush().unwrap();
    let mut expected = vec![2; 600];
    expected[3 * 30 + 3] = 3;
    assert_eq!(array.read::<i32>((0..20, 0..30)).unwrap(), expected);
}

#[test]
fn memory_is_bounded_by_writing_what_is_oldest() {
    let (store, _, array) = array("bytes");
    let chunk = 20 * 30 * 4;
    let writer = array.writer().buffer_size(3 * chunk);
    for column in [0, 30, 60] {
        put(&writer, 0..1, column..column + 1).unwrap();
    }
    // Newer than the others.
    put(&writer, 0..1, 1..2).unwrap();
    assert_eq!((writer.kept(), store.take().sets), (3 * chunk, 0));
    put(&writer, 20..21, 0..1).unwrap();
    assert!(writer.kept() <= 3 * chunk);
    assert_eq!(store.inner().get_all(&key("a/c/0/1")).unwrap().map(|value| value.len()), Some(chunk as usize));
    assert_eq!(store.inner().get_all(&key("a/c/0/0")).unwrap(), None, "written to later");
    // One chunk is kept in any case.
    let writer = array.writer().buffer_size(0);
    put(&writer, 0..19, 0..30).unwrap();
    assert_eq!(writer.kept(), chunk);
    put(&writer, 40..41, 0..1).unwrap();
    assert_eq!(writer.kept(), chunk);
}

#[test]
fn what_cannot_be_written_stays_until_it_can() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer();
    for row in [0, 20, 40] {
        put(&writer, row..row + 1, 0..100).unwrap();
    }
    faults.refuse(&["a/c/1/2", "a/c/2/0"]);
    let error = writer.flush().unwrap_err();
    assert_eq!((error.kind(), error.location().chunk.as_deref()), (ErrorKind::Store, Some(&[1, 2][..])), "{error}");
    assert_eq!(array.stored_chunks().unwrap().len(), 10, "all others");
    assert_eq!(writer.kept(), 2 * 2400);
    assert!(writer.flush().is_err());
    // Elements that come meanwhile are the newer ones.
    writer.fill((20, 60..62), 7).unwrap();
    put(&writer, 21..22, 60..61).unwrap();
    faults.refuse(&[]);
    writer.flush().unwrap();
    assert_eq!(writer.kept(), 0);
    let mut expected = numbers(20..21, 0..100);
    expected[60..62].fill(7);
    assert_eq!(array.read::<i32>((20, ..)).unwrap(), expected);
    assert_eq!(array.read::<i32>((21, 60)).unwrap(), numbers(21..22, 60..61));
    assert_eq!(array.read::<i32>((40, ..)).unwrap(), numbers(40..41, 0..100));
}

#[test]
fn a_write_of_whole_chunks_that_fails_loses_nothing_that_was_kept() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..1, 0..30).unwrap();
    faults.refuse(&["a/c/0/0"]);
    writer.fill((0..20, 0..30), 9).unwrap_err();
    // Nor one that fills a chunk.
    writer.fill((20..39, 0..30), 5).unwrap();
    faults.refuse(&["a/c/0/0", "a/c/1/0"]);
    let error = writer.fill((39..40, 0..30), 5).unwrap_err();
    assert_eq!(error.location().chunk.as_deref(), Some(&[1, 0][..]));
    faults.refuse(&[]);
    writer.flush().unwrap();
    assert_eq!(array.read::<i32>((0, 0..30)).unwrap(), numbers(0..1, 0..30));
    assert_eq!(array.read::<i32>((20..40, 0..30)).unwrap(), [5; 600]);
}

#[test]
fn memory_is_bounded_where_the_store_fails() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer().buffer_size(3 * 2400);
    faults.refuse(&[""]);
    let refused = (0..200).filter(|at| put(&writer, at % 70..at % 70 + 1, at % 100..at % 100 + 1).is_err()).count();
    assert!(refused > 100 && writer.kept() <= 3 * 2400 + 600, "{refused}, {}", writer.kept());
    // Those that were taken are there.
    let error = writer.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store);
    assert!(error.location().chunk.is_some(), "{error}");
}

#[test]
fn a_writer_that_is_dropped_writes_what_it_has() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..1, 0..1).unwrap();
    drop(writer);
    assert_eq!(array.read::<i32>((0, 0)).unwrap(), [1]);
    // After `finish` nothing is tried again.
    let writer = array.writer();
    put(&writer, 1..2, 0..1).unwrap();
    faults.refuse(&[""]);
    writer.finish().unwrap_err();
    let writer = array.writer();
    writer.finish().unwrap();
}

#[test]
fn elements_that_do_not_fit_are_refused() {
    let (.., array) = array("bytes");
    let writer = array.writer();
    for error in [
        writer.write((0..2, 0..2), &[1, 2, 3]).unwrap_err(),
        writer.write((0..1, 0..1), &[1.5_f64]).unwrap_err(),
        writer.write((0..1, 0..101), &[1; 101]).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    }
    assert_eq!(writer.kept(), 0);
}

#[test]
fn strict_writers_write_whole_chunks_where_the_store_has_no_conditions() {
    let (_, faults, array) = array("bytes");
    let array = array.with(Options::default().strict_writers(true)).unwrap();
    faults.without_conditions();
    let writer = array.writer();
    (0..20).for_each(|row| put(&writer, row..row + 1, 0..31).unwrap());
    let error = writer.flush().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert_eq!(array.stored_chunks().unwrap().len(), 1, "the one that is whole");
    (0..20).for_each(|row| put(&writer, row..row + 1, 31..60).unwrap());
    writer.finish().unwrap();
    assert_eq!(array.read::<i32>((0..20, 0..60)).unwrap(), numbers(0..20, 0..60));
}

#[test]
fn nobody_waits_for_a_chunk_that_another_writes() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..19, 0..30).unwrap();
    std::thread::scope(|scope| {
        let stopped = faults.stop_at("a/c/0/0");
        let last = scope.spawn(|| put(&writer, 19..20, 0..30));
        stopped.reached();
        // Elements of a chunk that is being written are kept, also if they are all of it.
        writer.fill((0..20, 0..30), 8).unwrap();
        writer.fill((5, 5), 9).unwrap();
        assert_eq!(writer.kept(), 2400 + 600, "with a mask, by which they would come over the others");
        let flush = scope.spawn(|| writer.flush());
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!flush.is_finished(), "it waits for the other thread");
        drop(stopped);
        last.join().unwrap().unwrap();
        flush.join().unwrap().unwrap();
    });
    let mut expected = vec![8; 600];
    expected[5 * 30 + 5] = 9;
    assert_eq!(array.read::<i32>((0..20, 0..30)).unwrap(), expected);
}

#[test]
fn a_chunk_that_fails_goes_back_under_later_elements() {
    let (store, faults, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..19, 0..30).unwrap();
    std::thread::scope(|scope| {
        let stopped = faults.stop_at("a/c/0/0");
        let last = scope.spawn(|| put(&writer, 19..20, 0..30));
        stopped.reached();
        // No box, so that a mask says which elements are later.
        writer.fill((1, 1..4), 7).unwrap();
        writer.fill((5..7, 20), 7).unwrap();
        faults.refuse(&["a/c/0/0"]);
        drop(stopped);
        assert!(last.join().unwrap().is_err());
    });
    faults.refuse(&[]);
    store.take();
    writer.flush().unwrap();
    assert_eq!((store.counts().sets, store.counts().gets, writer.kept()), (1, 0, 0));
    let mut expected = numbers(0..20, 0..30);
    for at in [31, 32, 33, 5 * 30 + 20, 6 * 30 + 20] {
        expected[at] = 7;
    }
    assert_eq!(array.read::<i32>((0..20, 0..30)).unwrap(), expected);
}

#[test]
fn a_chunk_that_goes_back_needs_no_memory_for_a_mask() {
    let (_, faults, array) = array("bytes");
    let writer = array.writer();
    put(&writer, 0..19, 0..30).unwrap();
    std::thread::scope(|scope| {
        let stopped = faults.stop_at("a/c/0/0");
        let last = scope.spawn(|| {
            set_memory(false);
            put(&writer, 19..20, 0..30)
        });
        stopped.reached();
        // Nothing is taken for which there would be none later.
        set_memory(false);
        let error = writer.fill((3, 3), 6).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        set_memory(true);
        writer.fill((1, 1..4), 7).unwrap();
        writer.fill((5..7, 20), 7).unwrap();
        faults.refuse(&["a/c/0/0"]);
        drop(stopped);
        assert!(last.join().unwrap().is_err());
    });
    faults.refuse(&[]);
    assert_eq!(writer.kept(), 2400 + 600);
    writer.flush().unwrap();
    let mut expected = numbers(0..20, 0..30);
    for at in [31, 32, 33, 5 * 30 + 20, 6 * 30 + 20] {
        expected[at] = 7;
    }
    assert_eq!(array.read::<i32>((0..20, 0..30)).unwrap(), expected);
}

/// Array of strings in chunks of 5 x 5, all stored, and the faults of its store.
fn stored_texts(codecs: &str) -> (Arc<Faults>, Array) {
    let faults = Arc::new(Faults::default());
    let store: Arc<dyn Store> = Arc::new(Arc::clone(&faults).store());
    let new = NewArray::new(&[10, 10], "string").chunks(&[5, 5]).codecs(codecs).unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write(.., &vec!["old".repeat(100); 100]).unwrap();
    (faults, array)
}

#[test]
fn texts_that_cannot_be_written_take_the_same_memory_each_time() {
    for codecs in [r#"["vlen-utf8"]"#, &text_shards("[5, 1]")] {
        let (faults, array) = stored_texts(codecs);
        let writer = array.writer();
        writer.write((0..4, 0..4), &vec!["new"; 16]).unwrap();
        // Elements of a mask.
        writer.write((6, 6), &["new"]).unwrap();
        writer.write((8, 8), &["new"]).unwrap();
        let kept = writer.kept();
        faults.refuse(&[""]);
        for _ in 0..10 {
            writer.flush().unwrap_err();
            assert_eq!(writer.kept(), kept, "{codecs}");
        }
        faults.refuse(&[]);
        writer.finish().unwrap();
        let texts = array.read::<String>(..).unwrap();
        assert_eq!(texts.iter().filter(|text| *text == "new").count(), 18);
        assert_eq!(texts.iter().filter(|text| text.len() == 300).count(), 82);
    }
}

#[test]
fn texts_that_replace_each_other_take_no_more_memory_than_the_last() {
    let (faults, array) = stored_texts(r#"["vlen-utf8"]"#);
    let writer = array.writer();
    writer.write((0..4, 0..5), &vec!["new"; 20]).unwrap();
    std::thread::scope(|scope| {
        let stopped = faults.stop_at("a/c/0/0");
        let last = scope.spawn(|| writer.write((4, 0..5), &vec!["new"; 5]));
        stopped.reached();
        // The chunk cannot be written meanwhile, however much is kept.
        for round in 0..1000 {
            let text = round.to_string().repeat(300);
            writer.write((round % 2, 0), &[text.as_str()]).unwrap();
            writer.write(Selection::coordinates(vec![vec![2], vec![3]]), &[text.as_str()]).unwrap();
        }
        assert!(writer.kept() < 256 << 10, "{}", writer.kept());
        drop(stopped);
        last.join().unwrap().unwrap();
    });
    writer.finish().unwrap();
    let expected = ["998", "new", "999", "new"].map(str::to_owned);
    let found = array.read::<String>((0..2, 0..2)).unwrap();
    assert_eq!(found.iter().map(|text| text.get(..3).unwrap().to_owned()).collect::<Vec<_>>(), expected);
    assert_eq!(array.read::<String>((2, 3)).unwrap(), ["999".repeat(300)]);
}

#[test]
fn threads_share_a_writer_and_lose_nothing() {
    for (codecs, limit) in [("bytes", 5000), (&*shards("[10, 5]"), 5000), ("bytes", 1 << 20)] {
        let (.., array) = array(codecs);
        let writer = array.writer().buffer_size(limit);
        let (elsewhere, writer) = (&array, &writer);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                // Each has every fourth row but those that others write past the writer.
                scope.spawn(move || {
                    for row in (0..70_u64).filter(|row| row % 4 == thread && row % 7 != 0) {
                        for column in (0..100).step_by(20) {
                            put(writer, row..row + 1, column..column + 20).unwrap();
                        }
                    }
                });
            }
            scope.spawn(move || {
                for row in (0..70).step_by(7) {
                    elsewhere.write((row, ..), &numbers(row..row + 1, 0..100)).unwrap();
                }
            });
        });
        writer.flush().unwrap();
        assert_eq!(array.read::<i32>(..).unwrap(), numbers(0..70, 0..100), "{codecs}, {limit}");
    }
}

#[test]
fn an_async_writer_does_the_same() {
    let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(zarr_store::MemoryStore::new())));
    block_on(async {
        let new = NewArray::new(&[70, 100], "int32").chunks(&[20, 30]).codecs("bytes").unwrap();
        let array = AsyncArray::create(&store, "/a", new, &registry()).await.unwrap();
        let writer = array.writer().buffer_size(5 * 2400);
        for row in 0..70 {
            writer.write((row, ..), &numbers(row..row + 1, 0..100)).await.unwrap();
        }
        writer.fill((5, 5), -1).await.unwrap();
        assert_eq!(writer.kept(), 2400);
        writer.flush().await.unwrap();
        let mut expected = numbers(0..70, 0..100);
        expected[505] = -1;
        assert_eq!(array.read::<i32>(..).await.unwrap(), expected);
        // What is kept when it is dropped is lost.
        writer.fill((0, 0), -2).await.unwrap();
        drop(writer);
        assert_eq!(array.read::<i32>((0, 0)).await.unwrap(), [1]);
        let writer = array.writer();
        writer.fill((0, 0), -2).await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(array.read::<i32>((0, 0)).await.unwrap(), [-2]);
    });
}

/// A flush whose future is dropped puts its chunks back into the buffer.
#[test]
fn a_flush_that_is_dropped_loses_nothing() {
    let beginning = Beginning::default();
    let store = beginning.store();
    let new = NewArray::new(&[70, 100], "int32").chunks(&[20, 30]).codecs("bytes").unwrap();
    let array = block_on(AsyncArray::create(&store, "/a", new, &registry())).unwrap();
    let writer = array.writer();
    block_on(writer.write((0..40, 0..40), &numbers(0..40, 0..40))).unwrap();
    let kept = writer.kept();
    beginning.stop();
    {
        let mut flush = std::pin::pin!(writer.flush());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        // It lets others have their turn.
        for _ in 0..100 {
            assert!(flush.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(writer.kept(), 0);
    }
    assert_eq!(writer.kept(), kept);
    beginning.go_on();
    block_on(writer.finish()).unwrap();
    assert_eq!(block_on(array.read::<i32>((0..40, 0..40))).unwrap(), numbers(0..40, 0..40));
}
