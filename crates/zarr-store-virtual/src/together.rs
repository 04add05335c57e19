//! Gets of chunks that lie beside each other in one file, by one range of the file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use zarr_store::{
    AccessProfile, ByteRange, Bytes, Error, Fetched, GetOptions, GotMany, Location, Operation, Result, ValueGet,
};

use crate::contents::{Contents, Looked, Place};
use crate::get::{Asked, Begin, Get};
use crate::source::Source;
use crate::{Chunk, SourceId};

/// Gets of several values, and the outcomes of those that are done.
pub(crate) struct Together<'a> {
    contents: &'a Contents,
    gets: &'a [ValueGet<'a>],
    got: Vec<Option<Result<Option<Fetched>>>>,
}

/// Gets of one file, in one state of it, of parts that lie near each other.
pub(crate) struct Part<'a> {
    /// Each with its number among all gets.
    members: Vec<(usize, Asked<'a>)>,
    /// Range from the first byte to the last.
    range: Range<u64>,
}

impl Contents {
    /// Where the chunk at a key lies in a file, if it is a part of one.
    pub(crate) fn location(&self, key: &zarr_store::Key) -> Option<Location> {
        match self.find(key)? {
            Looked::Place(Place::Chunk(Chunk::Range { source: SourceId(file), offset, length }, _)) => {
                Some(Location::new(file.into(), offset..offset + length))
            }
            _ => None,
        }
    }
}

impl<'a> Together<'a> {
    pub(crate) fn new(contents: &'a Contents, gets: &'a [ValueGet<'a>]) -> Self {
        Self { contents, gets, got: gets.iter().map(|_| None).collect() }
    }

    /// The parts of files that are asked for where that saves requests.
    pub(crate) fn parts(&mut self) -> Vec<Part<'a>> {
        let mut asked = Vec::new();
        for (number, ValueGet { key, ranges, options }) in self.gets.iter().enumerate() {
            match self.contents.begin(key, ranges, options) {
                Ok(Begin::Get(Get::Ask(part))) => {
                    asked.extend(part.hull(&self.contents.profile).map(|range| (number, range, part)))
                }
                Ok(Begin::Get(Get::Done(reply))) => self.put(number, Ok(reply)),
                Ok(Begin::Get(Get::Make(_)) | Begin::Find(..)) => {}
                Err(error) => self.put(number, Err(error)),
            }
        }
        // By the addresses of their sources.
        asked.sort_by_key(|(_, range, part)| (std::ptr::from_ref(&*part.source).addr(), range.start, range.end));
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

    /// The gets that are not done.
    pub(crate) fn rest(&self) -> Vec<(usize, &'a ValueGet<'a>)> {
        self.gets.iter().enumerate().filter(|(number, _)| self.got.get(*number).is_some_and(Option::is_none)).collect()
    }

    pub(crate) fn put(&mut self, number: usize, outcome: Result<Option<Fetched>>) {
        if let Some(slot) = self.got.get_mut(number) {
            *slot = Some(outcome);
        }
    }

    /// Takes what a file answered for a part. Where the range is not inside the file, each get is left to be made alone.
    pub(crate) fn answered(&mut self, part: Part<'a>, got: Result<Option<Fetched>>) {
        let Part { members, range } = part;
        let source = members.first().map(|(_, asked)| Source::clone(&asked.source));
        match (got, source) {
            (_, None) => {}
            (Err(Error::Range { size, .. }), _) => self.cut_off(members, size),
            // The fault may be of the bytes of one, or of those between: each is tried alone.
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

    /// Ends gets of what lies behind the end of the file; the others are left to be made alone.
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

    /// The outcomes.
    ///
    /// # Errors
    /// If one lacks.
    pub(crate) fn end(self) -> Result<GotMany> {
        let expected = self.got.len();
        let got: GotMany = self.got.into_iter().flatten().collect();
        if got.len() == expected { Ok(got) } else { Err(Error::Replies { found: got.len(), expected }) }
    }
}

/// The bytes of a range that a file was asked for.
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
    /// Whether a get is of the same file, and of the same state of it.
    fn takes(&self, asked: &Asked<'_>) -> bool {
        let Some((_, first)) = self.members.first() else { return false };
        std::ptr::eq(&*first.source, &*asked.source) && first.options == asked.options
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
    /// The range of the file from the first byte that is asked for to the last; `None` if the get is made alone, as one of parts that the
    /// profile does not read together.
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

    /// The answer that the file would have given to this get, out of the bytes of a larger range of it.
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
            // Memory of its own, so that one chunk does not hold that of all.
            fetched.push(Bytes::copy_from_slice(at.and_then(|at| bytes.get(at)).ok_or_else(outside)?));
        }
        fetched.size = of_range.size;
        fetched.version.clone_from(&of_range.version);
        fetched.snapshot.clone_from(&of_range.snapshot);
        Ok(fetched)
    }
}

/// An error that several gets have.
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
