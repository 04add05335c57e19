//! The store of a batch: a document, and chunks by the keys that the array of the batch has for them.

use crate::pipeline::batch::number_of;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use zarr::store::{
    AsyncStore, BoxFuture, ByteRange, Bytes, Error, Fetched, GetInto, GetOptions, Key, Operation, Result, SetOptions,
    SetStream, Store, Version, delegate, delegate_async,
};

/// What the store of a batch knows about it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) document_key: &'static str,
    pub(crate) document: Bytes,
    pub(crate) grid: Vec<u64>,
    /// The key of each chunk in the store below.
    pub(crate) keys: Vec<Key>,
    /// Chunks whose old elements are not asked for: all that lie in the array are written.
    pub(crate) complete: Vec<bool>,
    pub(crate) seen: Vec<Seen>,
    /// Chunks that were found, and set anew.
    pub(crate) patched: Vec<AtomicBool>,
}

/// Whether a chunk was found, once it was asked for.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU8);

impl Seen {
    const FOUND: u8 = 1;
    const MISSING: u8 = 2;
    /// It was asked for, and said not to be there without a look, since all of it is written.
    const PASSED_OVER: u8 = 3;
    /// It was set or erased.
    const CHANGED: u8 = 4;

    /// Notes how it was seen, and returns how it was before.
    fn note(&self, seen: u8) -> u8 {
        self.0.swap(seen, Ordering::Relaxed)
    }

    /// Whether it was not looked for, and nothing was written to it since.
    pub(crate) fn is_passed_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::PASSED_OVER
    }

    /// Whether it was not there.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::MISSING
    }
}

/// Another store, by the keys of a batch.
#[derive(Debug)]
pub(crate) struct Chunks<S> {
    store: S,
    known: Arc<Known>,
}

/// A value of the batch.
enum Named<'k> {
    Document,
    Chunk(usize, &'k Key),
    Nothing,
}

impl Known {
    fn find(&self, key: &Key) -> Named<'_> {
        if key.as_str() == self.document_key {
            return Named::Document;
        }
        let text = key.as_str().strip_prefix('c').map_or(key.as_str(), |rest| rest.trim_start_matches('/'));
        let numbers: Option<Vec<u64>> = match text {
            "" => Some(Vec::new()),
            "0" if self.grid.is_empty() => Some(Vec::new()),
            _ => text.split(['/', '.']).map(|number| number.parse().ok()).collect(),
        };
        let number =
            numbers.filter(|index| index.len() == self.grid.len()).and_then(|index| number_of(&index, &self.grid));
        match number.and_then(|number| Some((number, self.keys.get(number)?))) {
            Some((number, key)) => Named::Chunk(number, key),
            None => Named::Nothing,
        }
    }

    /// The key in the store below of a chunk.
    pub(crate) fn key_of(&self, key: &Key) -> Option<&Key> {
        match self.find(key) {
            Named::Chunk(_, key) => Some(key),
            _ => None,
        }
    }

    fn is_complete(&self, number: usize) -> bool {
        self.complete.get(number).copied().unwrap_or(false)
    }

    fn note(&self, number: usize, seen: u8) {
        if let Some(known) = self.seen.get(number) {
            known.note(seen);
        }
    }

    fn note_set(&self, number: usize) {
        let before = self.seen.get(number).map(|seen| seen.note(Seen::CHANGED));
        if let (Some(Seen::FOUND), Some(patched)) = (before, self.patched.get(number)) {
            patched.store(true, Ordering::Relaxed);
        }
    }

    /// Whether elements of it were replaced, and others were kept.
    pub(crate) fn was_patched(&self, number: usize) -> bool {
        self.patched.get(number).is_some_and(|patched| patched.load(Ordering::Relaxed))
    }

    fn note_found(&self, number: usize, found: bool) {
        self.note(number, if found { Seen::FOUND } else { Seen::MISSING });
    }

    /// The options of a set: what was not asked for is no condition.
    fn options(&self, number: usize, options: &SetOptions) -> SetOptions {
        match self.is_complete(number) {
            true => SetOptions::default().durable(options.durability),
            false => options.clone(),
        }
    }
}

impl<S: fmt::Display> Chunks<S> {
    pub(crate) fn new(store: S, known: Arc<Known>) -> Self {
        Self { store, known }
    }

    fn document(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        Fetched::of_value(self, key, self.known.document.clone(), None, ranges, options).map(Some)
    }

    /// The chunk that is written.
    fn chunk(&self, key: &Key) -> Result<(usize, &Key)> {
        match self.known.find(key) {
            Named::Chunk(number, key) => {
                self.known.note_set(number);
                Ok((number, key))
            }
            _ => Err(Error::Unsupported { store: self.to_string(), operation: Operation::Set }),
        }
    }
}

impl<S: fmt::Display> fmt::Display for Chunks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Store for Chunks<Arc<dyn Store>> {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        match self.known.find(key) {
            Named::Document => self.document(key, ranges, options),
            Named::Chunk(number, _) if self.known.is_complete(number) => {
                self.known.note(number, Seen::PASSED_OVER);
                Ok(None)
            }
            Named::Chunk(number, key) => {
                let found = self.store.get(key, ranges, options)?;
                self.known.note_found(number, found.is_some());
                Ok(found)
            }
            Named::Nothing => Ok(None),
        }
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        match self.known.find(key) {
            Named::Chunk(number, key) if !self.known.is_complete(number) => {
                let found = self.store.get_into(key, into)?;
                if found != GetInto::Declined {
                    self.known.note_found(number, found != GetInto::Missing);
                }
                Ok(found)
            }
            _ => Ok(GetInto::Declined),
        }
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        let (number, key) = self.chunk(key)?;
        self.store.set(key, value, &self.known.options(number, options))
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        let (number, key) = self.chunk(key)?;
        self.store.set_pieces(key, pieces, &self.known.options(number, options))
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        let (number, key) = self.chunk(key)?;
        self.store.begin_set(key, head, &self.known.options(number, options))
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.store.append_to_set(self.chunk(key)?.1, stream, pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.store.finish_set(self.chunk(key)?.1, stream, head)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let keys = values.iter().map(|(key, _)| Ok(self.chunk(key)?.1)).collect::<Result<Vec<_>>>()?;
        let values: Vec<_> = keys.into_iter().zip(values).map(|(key, (_, value))| (key, *value)).collect();
        self.store.set_many(&values)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.store.erase(self.chunk(key)?.1)
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(Chunks { store: self.store.as_async()?, known: Arc::clone(&self.known) }))
    }

    delegate! { |this| this.store; take_warnings, flush, barrier, capabilities, access_profile }
}

impl AsyncStore for Chunks<Arc<dyn AsyncStore>> {
    fn get<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> BoxFuture<'a, Result<Option<Fetched>>> {
        Box::pin(async move {
            match self.known.find(key) {
                Named::Document => self.document(key, ranges, options),
                Named::Chunk(number, _) if self.known.is_complete(number) => {
                    self.known.note(number, Seen::PASSED_OVER);
                    Ok(None)
                }
                Named::Chunk(number, key) => {
                    let found = self.store.get(key, ranges, options).await?;
                    self.known.note_found(number, found.is_some());
                    Ok(found)
                }
                Named::Nothing => Ok(None),
            }
        })
    }

    fn set<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let (number, key) = self.chunk(key)?;
            self.store.set(key, value, &self.known.options(number, options)).await
        })
    }

    fn set_pieces<'a>(
        &'a self,
        key: &'a Key,
        pieces: Vec<Bytes>,
        options: &'a SetOptions,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move {
            let (number, key) = self.chunk(key)?;
            self.store.set_pieces(key, pieces, &self.known.options(number, options)).await
        })
    }

    fn begin_set<'a>(&'a self, key: &'a Key, head: u64, options: &'a SetOptions) -> BoxFuture<'a, Result<SetStream>> {
        Box::pin(async move {
            let (number, key) = self.chunk(key)?;
            self.store.begin_set(key, head, &self.known.options(number, options)).await
        })
    }

    fn append_to_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        pieces: Vec<Bytes>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.store.append_to_set(self.chunk(key)?.1, stream, pieces).await })
    }

    fn finish_set<'a>(
        &'a self,
        key: &'a Key,
        stream: &'a SetStream,
        head: Bytes,
    ) -> BoxFuture<'a, Result<Option<Version>>> {
        Box::pin(async move { self.store.finish_set(self.chunk(key)?.1, stream, head).await })
    }

    fn erase<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.store.erase(self.chunk(key)?.1).await })
    }

    delegate_async! { |this| this.store; take_warnings, flush, barrier, capabilities, access_profile }
}
