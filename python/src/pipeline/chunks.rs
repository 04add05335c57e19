//! Store of a batch: it has a document, and the chunks under the keys of the array of the batch.

use crate::pipeline::batch::number_of;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use zarr::store::{
    Answer, Below, ByteRange, Bytes, Call, Error, Fetched, GetInto, GetOptions, GotMany, Key, Operation, Result,
    SetOptions, Store, StoreBase, ValueGet, Wrapper, fallback,
};

/// Facts about a batch for its store.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) document_key: &'static str,
    pub(crate) document: Bytes,
    pub(crate) grid: Vec<u64>,
    /// Key of each chunk in the store below.
    pub(crate) keys: Vec<Key>,
    /// Whether, for each chunk, all elements within the array are written, so that its old elements are not read.
    pub(crate) complete: Vec<bool>,
    pub(crate) seen: Vec<Seen>,
    /// Whether each chunk was found and then set.
    pub(crate) patched: Vec<AtomicBool>,
}

/// Whether a chunk was found when it was requested.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicU8);

impl Seen {
    const FOUND: u8 = 1;
    const MISSING: u8 = 2;
    /// The chunk was reported as missing without a request, since all of its elements are written.
    const PASSED_OVER: u8 = 3;
    /// The chunk was set or erased.
    const CHANGED: u8 = 4;

    /// Sets the state of the chunk, and returns the state before.
    fn note(&self, seen: u8) -> u8 {
        self.0.swap(seen, Ordering::Relaxed)
    }

    /// Returns whether the chunk was reported as missing without a request, and not written since.
    pub(crate) fn is_passed_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::PASSED_OVER
    }

    /// Returns whether the chunk was missing.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::MISSING
    }
}

/// Store below, under the keys of a batch.
#[derive(Debug)]
pub(crate) struct Chunks<S> {
    store: S,
    known: Arc<Known>,
}

/// Value that a key of the batch names.
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

    /// Returns the key of a chunk in the store below; `None` if `key` is not that of a chunk.
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

    /// Returns whether some elements of chunk `number` were replaced, and others were unchanged.
    pub(crate) fn was_patched(&self, number: usize) -> bool {
        self.patched.get(number).is_some_and(|patched| patched.load(Ordering::Relaxed))
    }

    fn note_found(&self, number: usize, found: bool) {
        self.note(number, if found { Seen::FOUND } else { Seen::MISSING });
    }

    /// Returns the options of a set. A chunk that was not requested before is set without a condition.
    fn options<'o>(&self, number: usize, options: Cow<'o, SetOptions>) -> Cow<'o, SetOptions> {
        match self.is_complete(number) {
            true => Cow::Owned(SetOptions::default().durable(options.durability)),
            false => options,
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

    fn unsupported(&self, operation: Operation) -> Error {
        Error::Unsupported { store: self.to_string(), operation }
    }

    /// Returns the number and the key of the chunk that is written.
    fn chunk(&self, key: &Key) -> Result<(usize, &Key)> {
        match self.known.find(key) {
            Named::Chunk(number, key) => {
                self.known.note_set(number);
                Ok((number, key))
            }
            _ => Err(self.unsupported(Operation::Set)),
        }
    }
}

impl<S: StoreBase> Chunks<S> {
    /// Gets several values: the store below is asked for the chunks among them together.
    async fn get_many<B: Below>(&self, below: B, gets: &[ValueGet<'_>]) -> Result<GotMany> {
        let (mut got, mut asked, mut places) = (GotMany::with_capacity(gets.len()), Vec::new(), Vec::new());
        for ValueGet { key, ranges, options } in gets {
            got.push(match self.known.find(key) {
                Named::Document => self.document(key, ranges, options),
                Named::Chunk(number, _) if self.known.is_complete(number) => {
                    self.known.note(number, Seen::PASSED_OVER);
                    Ok(None)
                }
                Named::Chunk(number, key) => {
                    places.push((got.len(), number));
                    asked.push(ValueGet::new(key, ranges, options));
                    Err(Error::OTHER_REPLY)
                }
                Named::Nothing => Ok(None),
            });
        }
        if asked.is_empty() {
            return Ok(got);
        }
        let answers = below.call(Call::get_many(asked)).await?.into_got_many()?;
        for ((place, number), answer) in places.into_iter().zip(answers) {
            if let Ok(found) = &answer {
                self.known.note_found(number, found.is_some());
            }
            if let Some(slot) = got.get_mut(place) {
                *slot = answer;
            }
        }
        Ok(got)
    }
}

impl<S: fmt::Display> fmt::Display for Chunks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: StoreBase> Wrapper for Chunks<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Chunks<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Chunks<T> {
        Chunks { store: below, known: Arc::clone(&self.known) }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        let call = match call {
            Call::Get { key, ranges, options } => match self.known.find(&key) {
                Named::Document => return self.document(&key, &ranges, &options).map(Answer::Got),
                Named::Chunk(number, _) if self.known.is_complete(number) => {
                    self.known.note(number, Seen::PASSED_OVER);
                    return Ok(Answer::Got(None));
                }
                Named::Chunk(number, key) => {
                    let found = below.call(Call::get(key, &ranges, &options)).await?.into_got()?;
                    self.known.note_found(number, found.is_some());
                    return Ok(Answer::Got(found));
                }
                Named::Nothing => return Ok(Answer::Got(None)),
            },
            Call::GetMany { gets } => return self.get_many(below, &gets).await.map(Answer::GotMany),
            Call::GetInto { key, into } => match self.known.find(&key) {
                Named::Chunk(number, key) if !self.known.is_complete(number) => {
                    let found = below.call(Call::get_into(key, into)).await?.into_got_into()?;
                    if found != GetInto::Declined {
                        self.known.note_found(number, found != GetInto::Missing);
                    }
                    return Ok(Answer::GotInto(found));
                }
                _ => return Ok(Answer::GotInto(GetInto::Declined)),
            },
            Call::Set { key, value, options } => {
                let (number, key) = self.chunk(&key)?;
                Call::Set { key: Cow::Borrowed(key), value, options: self.known.options(number, options) }
            }
            Call::SetPieces { key, pieces, options } => {
                let (number, key) = self.chunk(&key)?;
                Call::SetPieces { key: Cow::Borrowed(key), pieces, options: self.known.options(number, options) }
            }
            Call::BeginSet { key, head, options } => {
                let (number, key) = self.chunk(&key)?;
                Call::BeginSet { key: Cow::Borrowed(key), head, options: self.known.options(number, options) }
            }
            call @ (Call::AppendToSet { .. } | Call::FinishSet { .. } | Call::SetMany { .. } | Call::Erase { .. }) => {
                call.with_names(|key| Ok(self.chunk(key)?.1.clone()), |prefix| Ok(prefix.clone()))?
            }
            Call::Flush | Call::Barrier => call,
            // A batch only reads and writes its chunks.
            Call::CreateMany { .. } | Call::SetPartial { .. } => return Err(self.unsupported(Operation::Set)),
            Call::ErasePrefix { .. } | Call::ListDir { .. } | Call::ListPrefix { .. } | Call::ListSizes { .. } => {
                return Err(self.unsupported(Operation::List));
            }
            Call::Copy { .. }
            | Call::RenamePrefix { .. }
            | Call::ExchangePrefixes { .. }
            | Call::FindLink { .. }
            | Call::Leftovers { .. }
            | Call::Pin { .. }
            | Call::IsInPlace
            | Call::Lock { .. } => return fallback(below, call).await,
        };
        below.call(call).await
    }

    fn copied<'k>(&self, _key: &'k Key) -> Option<Cow<'k, Key>> {
        None
    }

    fn located<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        match self.known.find(key) {
            Named::Chunk(number, key) if !self.known.is_complete(number) => Some(Cow::Owned(key.clone())),
            _ => None,
        }
    }

    fn parent_over(&self, _parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }
}
