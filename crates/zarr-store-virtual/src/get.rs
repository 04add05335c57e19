//! Get of a value without I/O: the ranges of a file that the get needs, and the reply from the answer of the file.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{ByteRange, ByteRangeExt, Bytes, Error, Fetched, GetOptions, Key, Result, Version};

use crate::contents::{Contents, Looked, Place, version_of};
use crate::source::{Source, SourceRef, State};
use crate::{Chunk, FindChunks, FoundChunk, MakeChunk, VirtualFault};

/// First step of a get.
#[expect(clippy::large_enum_variant, reason = "one is on the stack for the time of a get")]
pub(crate) enum Begin<'a> {
    /// Get of a value whose place is known.
    Get(Get<'a>),
    /// Number of a chunk, and the table that has to look it up before [`Contents::found`] goes on with the get.
    Find(u64, &'a dyn FindChunks),
}

/// Outcome of a get, as far as it is known without I/O.
pub(crate) enum Get<'a> {
    /// Final reply; `None` if the key has no value.
    Done(Option<Fetched>),
    /// Get of a file that has to be made. [`Asked::end`] makes the reply from the answer.
    Ask(Asked<'a>),
    /// Chunk that has to be made. [`Contents::made`] makes the reply from its bytes.
    Make(ToMake),
}

/// Chunk that has to be made, and its maker.
pub(crate) struct ToMake {
    maker: Arc<dyn MakeChunk>,
    number: u32,
}

impl ToMake {
    /// Makes the bytes of the chunk, and waits for the files that the maker reads.
    pub(crate) fn make(&self) -> Result<Bytes> {
        self.maker.make(self.number)
    }
}

/// Get of a file, for a get of a chunk that lies in the file.
pub(crate) struct Asked<'a> {
    contents: &'a Contents,
    key: &'a Key,
    pub(crate) source: SourceRef<'a>,
    pub(crate) ranges: Cow<'a, [ByteRange]>,
    pub(crate) options: Cow<'a, GetOptions>,
    /// Options of the get of the chunk, as the caller gave them.
    given: &'a GetOptions,
    /// Range of the chunk in the file; `None` if the chunk is the whole file.
    at: Option<Range<u64>>,
    /// Error of a range that is not inside the chunk. It is returned unless the file has another state than the caller expects.
    outside: Option<Error>,
}

impl Contents {
    pub(crate) fn begin<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> Result<Begin<'a>> {
        match self.find(key) {
            None => Ok(Begin::Get(Get::Done(None))),
            Some(Looked::Find(index, chunks)) => Ok(Begin::Find(index, chunks)),
            Some(Looked::Place(place)) => self.get(place, key, ranges, options).map(Begin::Get),
        }
    }

    fn get<'a>(
        &'a self,
        place: Place<'a>,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> Result<Get<'a>> {
        let of_value = |bytes: Bytes, version| {
            Ok(Get::Done(Some(Fetched::of_value(self, key, bytes, Some(version), ranges, options)?)))
        };
        let (source, at) = match place {
            Place::Document(document) => return of_value(document.bytes.clone(), document.version.clone()),
            Place::Chunk(chunk, table) => match chunk {
                Chunk::Missing => return Ok(Get::Done(None)),
                Chunk::Inline(bytes) => {
                    let version = version_of(&bytes);
                    return of_value(bytes, version);
                }
                Chunk::Made(number) => {
                    let make = |maker: &Arc<dyn MakeChunk>| Get::Make(ToMake { maker: Arc::clone(maker), number });
                    return Ok(table.maker().map_or(Get::Done(None), make));
                }
                Chunk::Range { source, offset, length } => (source, Some(offset..offset + length)),
                Chunk::Whole { source } => (source, None),
            },
        };
        // The builder has checked that the store has this source.
        match self.sources.get(source.0 as usize) {
            Some(source) => self.get_file(SourceRef::Held(source), at, key, ranges, options),
            None => Ok(Get::Done(None)),
        }
    }

    /// Begins the get of a chunk whose place was looked up.
    pub(crate) fn found<'a>(
        &'a self,
        found: FoundChunk,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> Result<Get<'a>> {
        match found {
            FoundChunk::Missing => Ok(Get::Done(None)),
            FoundChunk::Inline(bytes) => {
                let version = version_of(&bytes);
                Ok(Get::Done(Some(Fetched::of_value(self, key, bytes, Some(version), ranges, options)?)))
            }
            FoundChunk::File { store, file, range: Some(Range { start, end }) } if start > end => {
                Err(Error::contract(&store, &file, format!("a chunk from {start} to {end}"), "a range of the file"))
            }
            FoundChunk::File { store, file, range } => {
                self.get_file(SourceRef::Found(Box::new(Source::new(store, file, None))), range, key, ranges, options)
            }
        }
    }

    /// Begins the get of a chunk that is the range `at` of a file, or the whole file if `at` is `None`.
    fn get_file<'a>(
        &'a self,
        source: SourceRef<'a>,
        at: Option<Range<u64>>,
        key: &'a Key,
        ranges: &'a [ByteRange],
        options: &'a GetOptions,
    ) -> Result<Get<'a>> {
        let of_state = source.state.as_ref().map(|state| state.options.clone());
        let mut asked = Asked {
            contents: self,
            key,
            source,
            ranges: Cow::Borrowed(ranges),
            options: of_state.map_or(Cow::Borrowed(options), Cow::Owned),
            given: options,
            at,
            outside: None,
        };
        let has_state = asked.source.state.is_some();
        if let Some(state) = &asked.source.state
            && let Some(reply) = asked.before(state)?
        {
            return Ok(Get::Done(Some(reply)));
        }
        if let Some(at) = asked.at.clone() {
            asked.translate(ranges, &at);
            if ranges.is_empty() && (options.is_default() || has_state) {
                return asked.reply(Fetched::new()).map(|reply| Get::Done(Some(reply)));
            }
        }
        match asked.outside.take() {
            Some(outside) if has_state || options.is_default() => Err(outside),
            outside => Ok(Get::Ask(Asked { outside, ..asked })),
        }
    }
}

impl Contents {
    /// Returns the reply to a get of a chunk whose bytes were made.
    pub(crate) fn made(
        &self,
        key: &Key,
        bytes: Bytes,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
        let version = version_of(&bytes);
        Fetched::of_value(self, key, bytes, Some(version), ranges, options).map(Some)
    }
}

impl Asked<'_> {
    pub(crate) fn key(&self) -> &Key {
        self.key
    }

    /// Whether the get needs only a part of the file: the chunk is a range of the file, and at least one range is asked for, all inside the
    /// chunk.
    pub(crate) fn is_part(&self) -> bool {
        self.at.is_some() && self.outside.is_none() && !self.ranges.is_empty()
    }

    /// Returns the reply that the pinned state of the file decides without a request; `None` if the file has to be read.
    fn before(&self, state: &State) -> Result<Option<Fetched>> {
        if let Some(version) = state.version() {
            if self.given.has(Some(version)) {
                return Ok(Some(Fetched::unchanged(version.clone())));
            }
            self.given.check_version(self.contents, self.key, Some(version))?;
        }
        Ok(None)
    }

    /// Replaces the ranges of the chunk by ranges of the file. `at` is the range of the chunk in the file.
    fn translate(&mut self, ranges: &[ByteRange], at: &Range<u64>) {
        let size = at.end - at.start;
        let mut of_file = Vec::with_capacity(ranges.len());
        for range in ranges {
            match range.resolve(size) {
                Some(part) => of_file.push(ByteRange::Range(at.start + part.start..at.start + part.end)),
                None => {
                    self.outside = range.check(self.contents, self.key, size).err();
                    of_file.clear();
                    break;
                }
            }
        }
        self.ranges = Cow::Owned(of_file);
        // The expected size is the size of the chunk. The file has another size.
        if self.options.expected_size.is_some() {
            self.options.to_mut().expected_size = None;
        }
    }

    /// Makes the reply to the caller from the answer of the file.
    pub(crate) fn end(mut self, got: Result<Option<Fetched>>) -> Result<Option<Fetched>> {
        let (store, key) = (self.contents, self.key);
        let fetched = match got {
            Ok(fetched) => {
                Fetched::checked(&*self.source, &self.source.key, fetched, self.ranges.len(), &self.options)?
            }
            Err(Error::Range { size, range, .. }) => {
                return Err(match &self.at {
                    None => Error::Range { store: store.name.clone(), key: key.clone(), range, size },
                    Some(_) => self.short(size),
                });
            }
            Err(Error::Precondition { found, expected, .. }) => {
                return Err(match &self.source.state {
                    Some(state) => self.replaced(state, found.as_ref()),
                    None => Error::Precondition { store: store.name.clone(), key: key.clone(), expected, found },
                });
            }
            Err(error) => return Err(error),
        };
        let Some(fetched) = fetched else {
            let fault = match &self.source.state {
                None => VirtualFault::NoFile { key: key.clone(), file: self.source.to_string() },
                Some(state) => return Err(self.replaced(state, None)),
            };
            return Err(fault.of(store.name.clone()));
        };
        if fetched.is_unchanged() {
            return Ok(Some(fetched));
        }
        if let Some(outside) = self.outside.take() {
            return Err(outside);
        }
        if let Some(at) = &self.at {
            if let Some(size) = fetched.size.filter(|size| *size < at.end) {
                return Err(self.short(size));
            }
            for (range, piece) in self.ranges.iter().zip(fetched.parts()) {
                let due = range.bounded().map_or(0, |range| range.end - range.start);
                if piece.len() as u64 != due {
                    let found = format!("{} bytes", piece.len());
                    return Err(Error::contract(&*self.source, &self.source.key, found, format!("{range}")));
                }
            }
        }
        self.reply(fetched).map(Some)
    }

    /// Adds the size and the version of the chunk to the pieces, and checks them against the options of the caller.
    fn reply(&self, mut fetched: Fetched) -> Result<Fetched> {
        if let Some(at) = &self.at {
            fetched.size = Some(at.end - at.start);
        }
        if let Some(state) = &self.source.state {
            fetched.version = state.version().cloned();
            fetched.snapshot = self.given.snapshot.then(|| state.snapshot.clone());
        }
        self.given.check(self.contents, self.key, &mut fetched)?;
        Ok(fetched)
    }

    fn short(&self, size: u64) -> Error {
        let Range { start, end } = self.at.clone().unwrap_or_default();
        let (key, file) = (self.key.clone(), self.source.to_string());
        VirtualFault::Short { key, file, start, end, size }.of(self.contents.name.clone())
    }

    fn replaced(&self, state: &State, found: Option<&Version>) -> Error {
        let name = |version: Option<&Version>| {
            version.map_or_else(|| "another state".to_owned(), |version| format!("version {version}"))
        };
        let (found, expected) = (name(found), name(state.version()));
        VirtualFault::Replaced { file: self.source.to_string(), found, expected }.of(self.contents.name.clone())
    }
}
