//! Gets of several chunks that lie near each other in one file, by one get of a range of the file.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{
    AccessProfile, ByteRange, Bytes, Error, Fetched, GetOptions, GotMany, Key, Location, Operation, Result, ValueGet,
};

use crate::contents::{Contents, Looked, Place};
use crate::get::{Asked, Begin, Get};
use crate::source::Source;
use crate::{Chunk, FoundChunk, SourceId};

/// Gets of several values, and the outcomes that are known so far.
pub(crate) struct Together<'a> {
    contents: &'a Contents,
    gets: &'a [ValueGet<'a>],
    got: Vec<Option<Result<Option<Fetched>>>>,
}

/// Range of a file that several gets need, all of one state of the file.
pub(crate) struct Part<'a> {
    /// Gets that need the range, each with its index in [`Together::gets`].
    members: Vec<(usize, Asked<'a>)>,
    /// Range of the file from the first byte that a get needs to the last.
    range: Range<u64>,
}

impl Contents {
    /// Returns the file and the range of the chunk at `key`; `None` if the chunk is not known to be a range of a file.
    pub(crate) fn location(&self, key: &Key) -> Option<Location> {
        match self.find(key)? {
            Looked::Place(Place::Chunk(Chunk::Range { source: SourceId(file), offset, length }, _)) => {
                Some(Location::new(file.into(), offset..offset + length))
            }
            Looked::Find(index, chunks) => match chunks.known(key, index)? {
                FoundChunk::File { store, file, range: Some(range) } if range.start <= range.end => {
                    // Gets of two files with one number would be told apart by `Part::takes`.
                    let mut hasher = DefaultHasher::new();
                    (Arc::as_ptr(&store).addr(), file).hash(&mut hasher);
                    Some(Location::new(hasher.finish(), range))
                }
                _ => None,
            },
            Looked::Place(_) => None,
        }
    }

    /// Begins a get, whose place is known unless that takes a request.
    fn begin_known<'a>(&'a self, get: &'a ValueGet<'a>) -> Result<Begin<'a>> {
        let ValueGet { key, ranges, options } = get;
        match self.begin(key, ranges, options)? {
            Begin::Find(index, chunks) => match chunks.known(key, index) {
                Some(found) => self.found(found, key, ranges, options).map(Begin::Get),
                None => Ok(Begin::Find(index, chunks)),
            },
            begun => Ok(begun),
        }
    }
}

impl<'a> Together<'a> {
    pub(crate) fn new(contents: &'a Contents, gets: &'a [ValueGet<'a>]) -> Self {
        Self { contents, gets, got: gets.iter().map(|_| None).collect() }
    }

    /// Returns the ranges of files that several gets need, so that one request serves them. Puts the outcomes of gets that need no request.
    pub(crate) fn parts(&mut self) -> Vec<Part<'a>> {
        let mut asked = Vec::new();
        for (number, get) in self.gets.iter().enumerate() {
            match self.contents.begin_known(get) {
                Ok(Begin::Get(Get::Ask(part))) => {
                    asked.extend(part.hull(&self.contents.profile).map(|range| (number, range, part)))
                }
                Ok(Begin::Get(Get::Done(reply))) => self.put(number, Ok(reply)),
                Ok(Begin::Get(Get::Make(_)) | Begin::Find(..)) => {}
                Err(error) => self.put(number, Err(error)),
            }
        }
        // Sorting by the files puts the gets of one file beside each other.
        asked.sort_by(|(_, range, part), (_, other, of_other)| {
            (part.file(), range.start, range.end).cmp(&(of_other.file(), other.start, other.end))
        });
        let mut parts: Vec<Part<'a>> = Vec::new();
        for (number, range, asked) in asked {
            match parts.last_mut() {
                Some(part) if part.takes(&asked) && self.contents.profile.joins(&part.range, &range) => {
                    part.range.end = part.range.end.max(range.end);
                    part.members.push((number, asked));
                }
                _ => parts.push(Part { members: vec![(number, asked)], range }),
            }
        }
        parts.retain(|part| part.members.len() > 1);
        parts
    }

    /// Returns the gets that have no outcome yet, each with its index.
    pub(crate) fn rest(&self) -> Vec<(usize, &'a ValueGet<'a>)> {
        self.gets.iter().enumerate().filter(|(number, _)| self.got.get(*number).is_some_and(Option::is_none)).collect()
    }

    pub(crate) fn put(&mut self, number: usize, outcome: Result<Option<Fetched>>) {
        if let Some(slot) = self.got.get_mut(number) {
            *slot = Some(outcome);
        }
    }

    /// Puts the outcomes of the gets of `part` by the answer `got` of the file. A get whose outcome does not follow from the answer has
    /// none, and is made alone.
    pub(crate) fn answered(&mut self, part: Part<'a>, got: Result<Option<Fetched>>) {
        let Part { members, range } = part;
        let source = members.first().map(|(_, asked)| Source::clone(&asked.source));
        match (got, source) {
            (_, None) => {}
            (Err(Error::Range { size, .. }), _) => self.cut_off(members, size),
            // The fault may be in the bytes of one chunk, or between the chunks: each get is made alone.
            (Err(error), _) if !error.is_retryable() && !matches!(error, Error::Precondition { .. }) => {}
            (Ok(None), _) => members.into_iter().for_each(|(number, asked)| self.put(number, asked.end(Ok(None)))),
            (Ok(Some(fetched)), Some(source)) => match whole(&source, &range, &fetched) {
                Ok(bytes) => {
                    for (number, asked) in members {
                        let cut = asked.cut(&range, bytes, &fetched);
                        self.put(number, cut.and_then(|cut| asked.end(Ok(Some(cut)))));
                    }
                }
                Err(error) => self.failed(members, error),
            },
            (Err(error), Some(_)) => self.failed(members, error),
        }
    }

    /// Puts the error of each get that needs bytes behind the end of the file, which has `size` bytes. The other gets are made alone.
    fn cut_off(&mut self, members: Vec<(usize, Asked<'a>)>, size: u64) {
        for (number, asked) in members {
            let behind =
                asked.ranges.iter().find(|range| range.bounded().is_some_and(|range| range.end > size)).cloned();
            if let Some(range) = behind {
                let (store, key) = (asked.source.store.to_string(), asked.source.key.clone());
                self.put(number, asked.end(Err(Error::Range { store, key, range, size })));
            }
        }
    }

    fn failed(&mut self, members: Vec<(usize, Asked<'a>)>, error: Error) {
        let error = Arc::new(error);
        for (number, asked) in members {
            let of_key = match &*error {
                Error::Precondition { store, key, expected, found } => {
                    let (store, key) = (store.clone(), key.clone());
                    Error::Precondition { store, key, expected: expected.clone(), found: found.clone() }
                }
                error_of_all => {
                    let (kind, shared) = (error_of_all.kind(), Shared(Arc::clone(&error)));
                    Error::failed(self.contents, Operation::Get, asked.key().as_str(), kind, shared)
                }
            };
            self.put(number, asked.end(Err(of_key)));
        }
    }

    /// Returns the outcomes, in the order of the gets.
    ///
    /// # Errors
    /// [`Error::Replies`] if a get has no outcome.
    pub(crate) fn end(self) -> Result<GotMany> {
        let expected = self.got.len();
        let got: GotMany = self.got.into_iter().flatten().collect();
        if got.len() == expected { Ok(got) } else { Err(Error::Replies { found: got.len(), expected }) }
    }
}

/// Returns the bytes that a file answered for one range, after a check of their number.
fn whole<'f>(source: &Source, range: &Range<u64>, fetched: &'f Fetched) -> Result<&'f [u8]> {
    if fetched.len() != 1 {
        return Err(Error::pieces(source, &source.key, fetched.len(), 1));
    }
    let bytes = fetched.part(0);
    if bytes.len() as u64 != range.end - range.start {
        let expected = format!("{} bytes", range.end - range.start);
        return Err(Error::contract(source, &source.key, format!("{} bytes", bytes.len()), expected));
    }
    Ok(bytes)
}

impl<'a> Part<'a> {
    /// Whether a get is of the same file as this part, and with the same options.
    fn takes(&self, asked: &Asked<'_>) -> bool {
        let Some((_, first)) = self.members.first() else { return false };
        first.file() == asked.file() && first.options == asked.options
    }

    pub(crate) fn source(&self) -> Option<&Source> {
        self.members.first().map(|(_, asked)| &*asked.source)
    }

    pub(crate) fn range(&self) -> ByteRange {
        ByteRange::Range(self.range.clone())
    }

    pub(crate) fn options(&self) -> GetOptions {
        self.members.first().map(|(_, asked)| GetOptions::clone(&asked.options)).unwrap_or_default()
    }
}

impl Asked<'_> {
    /// Returns the file: the address of its store, and its key in the store.
    fn file(&self) -> (usize, &Key) {
        (Arc::as_ptr(&self.source.store).addr(), &self.source.key)
    }

    /// Returns the range of the file from the first byte that the get needs to the last. `None` if the get has to be made alone: it is
    /// conditional, or its ranges lie farther apart than the profile reads at once.
    fn hull(&self, profile: &AccessProfile) -> Option<Range<u64>> {
        if !self.is_part() || self.options.if_none_match.is_some() {
            return None;
        }
        let mut ranges: Vec<Range<u64>> =
            self.ranges.iter().map(|range| range.bounded().cloned()).collect::<Option<_>>()?;
        // Nothing is read for an empty range.
        ranges.retain(|range| range.start < range.end);
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut hull = ranges.first()?.clone();
        for range in &ranges {
            if !profile.joins(&hull, range) {
                return None;
            }
            hull.end = hull.end.max(range.end);
        }
        Some(hull)
    }

    /// Returns the answer that the file would give to this get, cut out of `bytes`, the bytes of `range` of the file.
    fn cut(&self, range: &Range<u64>, bytes: &[u8], of_range: &Fetched) -> Result<Fetched> {
        let mut fetched = Fetched::new();
        for part in self.ranges.iter().filter_map(ByteRange::bounded) {
            if part.start >= part.end {
                fetched.push(Bytes::new());
                continue;
            }
            let at = part.start.checked_sub(range.start).zip(part.end.checked_sub(range.start));
            let at = at.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
            let outside = || Error::Job("a get is made together with others that it does not lie beside");
            // Each piece is copied, so that one chunk does not keep the memory of all chunks.
            fetched.push(Bytes::copy_from_slice(at.and_then(|at| bytes.get(at)).ok_or_else(outside)?));
        }
        fetched.size = of_range.size;
        fetched.version.clone_from(&of_range.version);
        fetched.snapshot.clone_from(&of_range.snapshot);
        Ok(fetched)
    }
}

/// Error of one request that several gets share.
#[derive(Debug)]
struct Shared(Arc<Error>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Shared {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
