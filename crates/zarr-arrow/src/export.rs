//! The C data and stream interfaces: arrays, schemas and streams for consumers in this process, in any language.
//!
//! # Why this is sound
//!
//! The structs have the layout of the [specification](https://arrow.apache.org/docs/format/CDataInterface.html). Each invariant has a test
//! in
//! `export/tests.rs`, which runs in Miri.
//!
//! - **What pointers point to lives until `release`.** All of it is owned by one box, `private_data`: strings, lists of pointers, and
//!   clones of the [`Data`], whose buffers are shared and never change or move. Nothing in a box is changed after its pointers were taken.
//!   Moving a struct, as consumers do, moves no box.
//! - **`release` frees once.** It takes the box back, and sets `release` to `None` before it drops it; a struct without `release` is never
//!   freed. Dropping a struct calls `release` if it is there. A consumer that moves a struct out sets `release` of the source to `None`,
//!   as the specification says.
//! - **Children are released by their parent**, unless a consumer moved them out: they are structs with a `release` of their own, in a box
//!   that the parent owns. Children that were moved out keep what they point to, since they own clones.
//! - **Any thread** may use and release a struct: all owners are `Send` and `Sync`, batches of a stream `Send`. The specification forbids
//!   calls of one stream at the same time, so its state needs no lock.
//! - **No panic leaves a callback**: it becomes an error of the stream; a panic while something is dropped aborts.
#![expect(unsafe_code)]

use crate::batch::Batch;
use crate::data::Data;
use crate::schema::{Field, Schema};
use crate::{Error, Result};
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{fmt, ptr};

#[cfg(test)]
mod tests;

/// Flag of a field whose elements may be null.
const NULLABLE: i64 = 2;

/// Error number of an input or output error, `EIO`.
const INPUT_OUTPUT: c_int = 5;

/// Type of an array: `struct ArrowSchema` of the C data interface. Dropping it releases it.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// Array: `struct ArrowArray` of the C data interface. Dropping it releases it.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Batches of a table: `struct ArrowArrayStream` of the C stream interface. Dropping it releases it.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// Owner of what the pointers of a schema point to.
struct SchemaOwner {
    format: CString,
    name: CString,
    children: Pointers<ArrowSchema>,
    dictionary: Option<Pointers<ArrowSchema>>,
}

/// Owner of what the pointers of an array point to.
struct ArrayOwner {
    /// Keeps the memory that `buffers` points to.
    _data: Data,
    buffers: Vec<*const c_void>,
    children: Pointers<ArrowArray>,
    dictionary: Option<Pointers<ArrowArray>>,
}

/// State of a stream.
struct StreamOwner {
    schema: Arc<Schema>,
    /// `None` after the end and after an error.
    batches: Option<Box<dyn Iterator<Item = Result<Batch>> + Send>>,
    /// Text of the last error of any call.
    error: Option<CString>,
    /// Text of the error that ended the batches. All later calls for a batch fail with it, since a released array would say that the table
    /// is complete.
    failure: Option<CString>,
}

/// Boxes of structs, by pointers as C has them.
struct Pointers<T>(Vec<*mut T>);

impl<T> Pointers<T> {
    fn new(structs: impl Iterator<Item = T>) -> Self {
        Self(structs.map(|one| Box::into_raw(Box::new(one))).collect())
    }

    fn first(&self) -> *mut T {
        self.0.first().copied().unwrap_or(ptr::null_mut())
    }
}

impl<T> Drop for Pointers<T> {
    fn drop(&mut self) {
        for &one in &self.0 {
            // SAFETY: `new` made the pointer from a box, this is the only place that takes it back, and it is dropped once. The struct
            // is valid, though a consumer may have moved its content out, which leaves it without `release`.
            drop(unsafe { Box::from_raw(one) });
        }
    }
}

// SAFETY: the pointers are to boxes that the owner has alone, whose content is `Send` and is not changed by shared references.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above; buffers are shared with other clones of the data, and all of these are `Send` and `Sync` and never written.
unsafe impl Send for ArrowArray {}
// SAFETY: the state of a stream is `Send`, and only one thread at a time may have the stream, since it is no `Sync`.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a struct with `release` was not released, and the pointer to it is valid for the call.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a struct with `release` was not released, and the pointer to it is valid for the call.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a struct with `release` was not released, and the pointer to it is valid for the call.
            unsafe { release(self) };
        }
    }
}

impl fmt::Debug for ArrowSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowSchema").field("released", &self.release.is_none()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ArrowArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowArray").field("released", &self.release.is_none()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ArrowArrayStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowArrayStream").field("released", &self.release.is_none()).finish_non_exhaustive()
    }
}

/// Exports the schema of a table: a struct whose fields are the columns.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a name with a NUL, which C strings cannot have.
pub fn export_schema(schema: &Schema) -> Result<ArrowSchema> {
    let mut field = Field::new("", "+s", false);
    field.children.clone_from(&schema.fields);
    export_field(&field)
}

fn export_field(field: &Field) -> Result<ArrowSchema> {
    let text = |text: &str| {
        CString::new(text).map_err(|_| Error::argument(format!("found the name {text:?}, expected one without NULs")))
    };
    let children = field.children.iter().map(export_field).collect::<Result<Vec<_>>>()?;
    let dictionary = field.dictionary.as_deref().map(export_field).transpose()?;
    let mut owner = Box::new(SchemaOwner {
        format: text(&field.format)?,
        name: text(&field.name)?,
        children: Pointers::new(children.into_iter()),
        dictionary: dictionary.map(|dictionary| Pointers::new(std::iter::once(dictionary))),
    });
    Ok(ArrowSchema {
        format: owner.format.as_ptr(),
        name: owner.name.as_ptr(),
        metadata: ptr::null(),
        flags: if field.is_nullable { NULLABLE } else { 0 },
        n_children: count(owner.children.0.len()),
        children: owner.children.0.as_mut_ptr(),
        dictionary: owner.dictionary.as_ref().map_or(ptr::null_mut(), Pointers::first),
        release: Some(release_schema),
        private_data: Box::into_raw(owner).cast(),
    })
}

/// Exports an array, which keeps the buffers of `data` until it is released.
pub fn export_array(data: Data) -> ArrowArray {
    let children = Pointers::new(data.children.iter().cloned().map(export_array));
    let dictionary = data.dictionary.as_deref().cloned().map(export_array);
    let pointer = |buffer: &Option<crate::Buffer>| {
        buffer.as_ref().map_or(ptr::null(), |buffer| buffer.bytes().as_ptr().cast::<c_void>())
    };
    let (length, null_count, offset) = (count(data.len), count(data.nulls), count(data.offset));
    let mut owner = Box::new(ArrayOwner {
        buffers: data.buffers.iter().map(pointer).collect(),
        children,
        dictionary: dictionary.map(|dictionary| Pointers::new(std::iter::once(dictionary))),
        _data: data,
    });
    ArrowArray {
        length,
        null_count,
        offset,
        n_buffers: count(owner.buffers.len()),
        n_children: count(owner.children.0.len()),
        buffers: owner.buffers.as_mut_ptr(),
        children: owner.children.0.as_mut_ptr(),
        dictionary: owner.dictionary.as_ref().map_or(ptr::null_mut(), Pointers::first),
        release: Some(release_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

/// Exports a batch: an array of structs, whose type is the schema of the table.
pub fn export_batch(batch: Batch) -> ArrowArray {
    export_array(batch.into_data())
}

/// Exports batches as a stream. They are read when the consumer asks for them, by the thread that asks.
///
/// An error ends the stream; the consumer gets its text, again for each batch that it asks for afterwards.
pub fn export_stream(
    schema: Arc<Schema>,
    batches: impl Iterator<Item = Result<Batch>> + Send + 'static,
) -> ArrowArrayStream {
    let owner = StreamOwner { schema, batches: Some(Box::new(batches)), error: None, failure: None };
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(owner)).cast(),
    }
}

fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

impl StreamOwner {
    /// Returns what `work` does; an error and a panic are kept as the last error.
    fn try_to<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> std::result::Result<T, c_int> {
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        let error = match done {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error.with_causes(),
            Err(_) => "a panic while a batch was read".to_owned(),
        };
        self.error = Some(CString::new(error.replace('\0', " ")).unwrap_or_default());
        Err(INPUT_OUTPUT)
    }

    /// Returns the next batch; after an error always the same error.
    fn next(&mut self) -> std::result::Result<ArrowArray, c_int> {
        if self.failure.is_some() {
            self.error.clone_from(&self.failure);
            return Err(INPUT_OUTPUT);
        }
        let next = self.try_to(Self::read);
        if next.is_err() {
            self.failure.clone_from(&self.error);
            self.batches = None;
        }
        next
    }

    fn read(&mut self) -> Result<ArrowArray> {
        let next = self.batches.as_mut().and_then(Iterator::next).transpose()?;
        Ok(match next {
            Some(batch) => export_batch(batch),
            None => {
                self.batches = None;
                end()
            }
        })
    }
}

/// Makes the array that ends a stream: one that is released.
fn end() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: consumers call this with a stream that is not released, whose box `export_stream` made, and at one time only.
    let owner = unsafe { &mut *(*stream).private_data.cast::<StreamOwner>() };
    match owner.try_to(|owner| export_schema(&owner.schema)) {
        Ok(schema) => {
            // SAFETY: `out` is memory for a schema, which need not be initialized: nothing there is dropped.
            unsafe { out.write(schema) };
            0
        }
        Err(number) => number,
    }
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: consumers call this with a stream that is not released, whose box `export_stream` made, and at one time only.
    let owner = unsafe { &mut *(*stream).private_data.cast::<StreamOwner>() };
    match owner.next() {
        Ok(array) => {
            // SAFETY: `out` is memory for an array, which need not be initialized: nothing there is dropped.
            unsafe { out.write(array) };
            0
        }
        Err(number) => number,
    }
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: consumers call this with a stream that is not released, whose box `export_stream` made, and at one time only. The text
    // stays until the next call, as the specification says.
    let owner = unsafe { &*(*stream).private_data.cast::<StreamOwner>() };
    owner.error.as_ref().map_or(ptr::null(), |error| error.as_ptr())
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: consumers call this once, with a schema that is not released: its box is that of `export_field`. `release` is gone before
    // the box is, so that it is taken back once.
    unsafe {
        (*schema).release = None;
        drop(Box::from_raw((*schema).private_data.cast::<SchemaOwner>()));
        (*schema).private_data = ptr::null_mut();
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: consumers call this once, with an array that is not released: its box is that of `export_array`. `release` is gone before
    // the box is, so that it is taken back once.
    unsafe {
        (*array).release = None;
        drop(Box::from_raw((*array).private_data.cast::<ArrayOwner>()));
        (*array).private_data = ptr::null_mut();
    }
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: consumers call this once, with a stream that is not released: its box is that of `export_stream`. `release` is gone before
    // the box is, so that it is taken back once.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private_data.cast::<StreamOwner>()));
        (*stream).private_data = ptr::null_mut();
    }
}
