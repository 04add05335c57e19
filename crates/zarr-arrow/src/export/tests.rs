//! A consumer in Rust that does with the structs what the specification lets consumers in C do.

use super::*;
use crate::data::{Buffer, Data, Validity};
use crate::words::Words;
use crate::{Error, ErrorKind};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Iterator that counts how often it was dropped.
struct Counted<I> {
    inner: I,
    drops: Arc<AtomicUsize>,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.inner.next()
    }
}

impl<I> Drop for Counted<I> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
    }
}

fn numbers(numbers: &[i32]) -> Buffer {
    Buffer::of_words(Words::copy(bytemuck::cast_slice(numbers)).unwrap())
}

/// Two columns: integers with nulls, and a dictionary of structs.
fn batch(start: i32) -> Batch {
    let validity = Validity::new([false, true, false].into_iter()).unwrap();
    let plain = Data::new(3, validity, [numbers(&[start, 0, start + 2])]);
    let inner = Data::new(2, None, [numbers(&[10, 20])]);
    let mut indices = Data::new(3, None, [numbers(&[1, 0, 1])]);
    indices.dictionary = Some(Arc::new(Data::new(2, None, []).children(vec![inner], 1)));
    Batch { schema: schema(), rows: 3, columns: vec![plain, indices] }
}

fn schema() -> Arc<Schema> {
    let mut values = Field::new("", "+s", true);
    values.children = vec![Field::new("inner", "i", false)];
    let mut indices = Field::new("indices", "i", false);
    indices.dictionary = Some(Box::new(values));
    Arc::new(Schema { fields: vec![Field::new("plain", "i", true), indices] })
}

fn stream(batches: Vec<Result<Batch>>) -> (ArrowArrayStream, Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    let batches = Counted { inner: batches.into_iter(), drops: Arc::clone(&drops) };
    (export_stream(schema(), batches), drops)
}

/// Gets the next array into memory that was never initialized.
fn next(stream: &mut ArrowArrayStream) -> std::result::Result<ArrowArray, (c_int, String)> {
    let mut out = MaybeUninit::<ArrowArray>::uninit();
    // SAFETY: the stream is not released, and `out` is written if the number is 0.
    unsafe {
        match stream.get_next.unwrap()(stream, out.as_mut_ptr()) {
            0 => Ok(out.assume_init()),
            number => {
                let text = stream.get_last_error.unwrap()(stream);
                Err((number, CStr::from_ptr(text).to_str().unwrap().to_owned()))
            }
        }
    }
}

fn schema_of(stream: &mut ArrowArrayStream) -> ArrowSchema {
    let mut out = MaybeUninit::<ArrowSchema>::uninit();
    // SAFETY: the stream is not released, and `out` is written if the number is 0.
    unsafe {
        assert_eq!(stream.get_schema.unwrap()(stream, out.as_mut_ptr()), 0);
        out.assume_init()
    }
}

fn child(array: &ArrowArray, number: usize) -> *mut ArrowArray {
    assert!((number as i64) < array.n_children);
    // SAFETY: there are `n_children` pointers.
    unsafe { *array.children.add(number) }
}

/// Reads the integers of an array.
fn integers(array: *const ArrowArray) -> Vec<i32> {
    // SAFETY: the array is not released, and its second buffer has `offset + length` integers.
    unsafe {
        let values = (*(*array).buffers.add(1)).cast::<i32>().add((*array).offset as usize);
        std::slice::from_raw_parts(values, (*array).length as usize).to_vec()
    }
}

/// Moves a struct out, as consumers do: bytes are copied, and the source is marked as released.
fn moved(array: *mut ArrowArray) -> ArrowArray {
    // SAFETY: the source is not used or released after this.
    unsafe {
        let moved = array.read();
        (*array).release = None;
        moved
    }
}

#[test]
fn texts_and_children_of_a_schema() {
    let exported = export_schema(&schema()).unwrap();
    // SAFETY: the schema is not released; its pointers are those that the specification asks for.
    unsafe {
        assert_eq!(CStr::from_ptr(exported.format), c"+s");
        assert_eq!((exported.n_children, exported.flags), (2, 0));
        let (plain, indices) = (&**exported.children, &**exported.children.add(1));
        assert_eq!((CStr::from_ptr(plain.name), CStr::from_ptr(plain.format)), (c"plain", c"i"));
        assert_eq!((plain.flags, plain.dictionary.is_null()), (NULLABLE, true));
        let values = &*indices.dictionary;
        assert_eq!((CStr::from_ptr(values.format), values.n_children), (c"+s", 1));
        assert_eq!(CStr::from_ptr((**values.children).name), c"inner");
    }
    let bad = Schema { fields: vec![Field::new("a\0b", "i", false)] };
    assert_eq!(export_schema(&bad).unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn a_stream_to_its_end() {
    let (mut stream, drops) = stream(vec![Ok(batch(1)), Ok(batch(5))]);
    drop(schema_of(&mut stream));
    let first = next(&mut stream).unwrap();
    assert_eq!((first.length, first.null_count, first.n_buffers), (3, 0, 1));
    let plain = child(&first, 0);
    assert_eq!(integers(plain), [1, 0, 3]);
    // SAFETY: the array is not released.
    unsafe {
        assert_eq!(((*plain).null_count, (*plain).n_buffers), (1, 2));
        assert_eq!(*(*(*plain).buffers).cast::<u8>(), 0b101);
        let values = (*child(&first, 1)).dictionary;
        assert_eq!(integers(child(&*values, 0)), [10, 20]);
    }
    assert_eq!(integers(child(&next(&mut stream).unwrap(), 0)), [5, 0, 7]);
    for _ in 0..2 {
        assert!(next(&mut stream).unwrap().release.is_none());
    }
    // The stream lets go of the batches at their end.
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    drop(stream);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_stream_that_is_released_early_and_arrays_that_outlive_it() {
    let (mut stream, drops) = stream(vec![Ok(batch(1)), Ok(batch(5))]);
    let first = next(&mut stream).unwrap();
    // SAFETY: the stream is not released. Releasing sets `release` to `None`, so that dropping it does nothing.
    unsafe { stream.release.unwrap()(&mut stream) };
    assert!(stream.release.is_none());
    drop(stream);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    assert_eq!(integers(child(&first, 0)), [1, 0, 3]);
}

#[test]
fn a_stream_that_nobody_reads() {
    let (stream, drops) = stream(vec![Ok(batch(1))]);
    drop(stream);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn an_error_in_the_middle_ends_the_stream() {
    let error = Error::new(ErrorKind::CorruptChunk, "chunk c/1 is\0damaged");
    let (mut stream, drops) = stream(vec![Ok(batch(1)), Err(error), Ok(batch(9))]);
    let first = next(&mut stream).unwrap();
    let (number, text) = next(&mut stream).unwrap_err();
    assert_eq!((number, text.contains("chunk c/1 is damaged")), (INPUT_OUTPUT, true));
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    // The rest of the table is no end of it.
    for _ in 0..2 {
        drop(schema_of(&mut stream));
        assert_eq!(next(&mut stream).unwrap_err(), (INPUT_OUTPUT, text.clone()));
    }
    assert_eq!(integers(child(&first, 0)), [1, 0, 3]);
}

#[test]
fn a_panic_is_an_error() {
    let batches = std::iter::from_fn(|| -> Option<Result<Batch>> { std::panic::resume_unwind(Box::new("gone")) });
    let mut stream = export_stream(schema(), batches);
    for _ in 0..2 {
        assert_eq!(next(&mut stream).unwrap_err().0, INPUT_OUTPUT);
    }
}

#[test]
fn structs_are_moved_in_memory() {
    let (mut stream, drops) = stream(vec![Ok(batch(1))]);
    let mut moved_stream = Box::new(stream_moved(&mut stream));
    drop(stream);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    let mut array = next(&mut moved_stream).unwrap();
    let array = Box::new(moved(&mut array));
    assert_eq!(integers(child(&array, 0)), [1, 0, 3]);
}

fn stream_moved(stream: &mut ArrowArrayStream) -> ArrowArrayStream {
    // SAFETY: the source is not used or released after this.
    unsafe {
        let moved = ptr::from_mut(stream).read();
        stream.release = None;
        moved
    }
}

#[test]
fn children_that_are_moved_out_outlive_their_parent() {
    let (mut stream, _) = stream(vec![Ok(batch(1))]);
    let array = next(&mut stream).unwrap();
    let plain = moved(child(&array, 0));
    drop(array);
    drop(stream);
    assert_eq!(integers(&plain), [1, 0, 3]);
}

#[test]
fn other_threads_read_and_release() {
    let (stream, drops) = stream(vec![Ok(batch(1)), Ok(batch(5))]);
    let reader = std::thread::spawn(move || {
        let mut stream = stream;
        (next(&mut stream).unwrap(), stream)
    });
    let (first, mut stream) = reader.join().unwrap();
    let second = next(&mut stream).unwrap();
    let threads = [first, second].map(|array| std::thread::spawn(move || integers(child(&array, 0))));
    drop(stream);
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [[1, 0, 3], [5, 0, 7]]);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn buffers_are_those_of_the_data() {
    let data = Data::new(2, None, [numbers(&[1, 2])]);
    let address = data.buffers[1].as_ref().unwrap().bytes().as_ptr();
    let exported = export_array(data.clone());
    // SAFETY: there are two buffers.
    assert_eq!(unsafe { *exported.buffers.add(1) }.cast::<u8>(), address);
    drop(data);
    assert_eq!(integers(&exported), [1, 2]);
}
