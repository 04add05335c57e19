//! A get without I/O: what is asked of which file, and the reply from what it answers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{ByteRange, ByteRangeExt, Bytes, Error, Fetched, GetOptions, Key, Result, Version};

use crate::contents::{Contents, Looked, Place, version_of};
use crate::source::{Source, SourceRef, State};
use crate::{Chunk, FindChunks, FoundChunk, MakeChunk, VirtualFault};

/// Begin of a get.
#[expect(clippy::large_enum_variant, reason = "one is on the stack for the time of a get")]
pub(crate) enum Begin<'a> {
    /// The place of the value is known.
    Get(Get<'a>),
    /// The chunk of this number is looked up first: [`Contents::found`].
    Find(u64, &'a dyn FindChunks),
}

/// Outcome of a get.
pub(crate) enum Get<'a> {
    /// The reply.
    Done(Option<Fetched>),
    /// The reply that [`Asked::end`] makes of the answer of a file.
    Ask(Asked<'a>),
    /// The reply that [`Contents::made`] makes of the chunk with this number.
    Make(ToMake),
}

/// A chunk that is to be made.
pub(crate) struct ToMake {
    maker: Arc<dyn MakeChunk>,
    number: u32,
}

impl ToMake {
    /// Makes it: this waits for the file.
    pub(crate) fn make(&self) -> Result<Bytes> {
        self.maker.make(self.number)
    }
}

/// A get of a file.
pub(crate) struct Asked<'a> {
    contents: &'a Contents,
    key: &'a Key,
    pub(crate) source: SourceRef<'a>,
    pub(crate) ranges: Cow<'a, [ByteRange]>,
    pub(crate) options: Cow<'a, GetOptions>,
    /// The options of the caller.
    given: &'a GetOptions,
    /// Range of the value in the file; `None` for all of the file.
    at: Option<Range<u64>>,
    /// A range is not inside the value, which is an error unless the value has another state than is asked for.
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
        // The builder has checked that there is the source.
        match self.sources.get(source.0 as usize) {
            Some(source) => self.get_file(SourceRef::Held(source), at, key, ranges, options),
            None => Ok(Get::Done(None)),
        }
    }

    /// A get of a chunk that was looked up.
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

    /// A get of a range of a file.
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
    /// The reply to a get of a chunk that was made.
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

    /// Whether the answer is a part of the file, and the get one of parts that there are.
    pub(crate) fn is_part(&self) -> bool {
        self.at.is_some() && self.outside.is_none() && !self.ranges.is_empty()
    }

    /// Returns the reply that is known from one state of a file before it is read; `None` if there is none.
    fn before(&self, state: &State) -> Result<Option<Fetched>> {
        if let Some(version) = state.version() {
            if self.given.has(Some(version)) {
                return Ok(Some(Fetched::unchanged(version.clone())));
            }
            self.given.check_version(self.contents, self.key, Some(version))?;
        }
        Ok(None)
    }

    /// Makes ranges of the file of ranges of the value.
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
        // That is the size of the value, and the file has another.
        if self.options.expected_size.is_some() {
            self.options.to_mut().expected_size = None;
        }
    }

    /// The reply to the caller.
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

    /// The pieces as a reply: with the size of the value, and its version.
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
