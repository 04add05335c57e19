//! Reading of values.
//!
//! The bytes of a value follow a local header, whose extra field may be longer than that in the directory. The first get reads header
//! and bytes at once, with as many additional bytes as the header may be longer. Later gets know where the bytes begin.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};
use zarr_store::{ByteRange, Error, Fetched, GetOptions};

use crate::ZipFault;

use super::directory::{LOCAL_SIZE, u16_at, u32_at};
use super::entry::{DEFLATED, Entry, STORED};
use super::expand;
use super::opening::replaced;
use super::plan::{Fault, Plan, Ranges, Step};

pub(super) const LOCAL: u32 = 0x0403_4b50;
/// Greatest size of an extra field that is read at once with the value, in bytes; a longer one costs another request. Extra fields of
/// common software have at most 36 bytes.
const MARGIN: u64 = 1024;

/// Parameters of reads of the file.
pub(super) struct Access {
    /// Greatest number of bytes between the local header and the value for which both are read as one range; otherwise they are two ranges
    /// of one request. `None`: the header is read first, which is faster for local files.
    pub(super) max_gap: Option<u64>,
    /// Options that require the state of the file that was opened.
    pub(super) same_state: GetOptions,
    /// Size of the file in bytes, if it is known and must not change.
    pub(super) size: Option<u64>,
}

/// Read of ranges of a value, which are inside it.
pub(super) struct Getting<'a> {
    entry: &'a Entry,
    ranges: &'a [ByteRange],
    access: &'a Access,
    asked: Asked,
}

/// Part of the file that is being read.
enum Asked {
    Nothing,
    /// The local header alone.
    Header,
    /// One range from the local header to the end of the last range of the value.
    Together,
    /// The local header, and each range of the value with the margin.
    Apart,
    /// The ranges of the value alone.
    Value,
}

impl<'a> Getting<'a> {
    pub(super) fn new(entry: &'a Entry, ranges: &'a [ByteRange], access: &'a Access) -> Self {
        Self { entry, ranges, access, asked: Asked::Nothing }
    }

    /// Reads the ranges directly by `read`, which fills memory from an offset of the file; `None` if a plan is needed. Local files are read
    /// in this way, since a plan costs a tenth of a small read.
    pub(super) fn directly(
        &self,
        read: impl Fn(&mut [u8], u64) -> Result<(), Fault>,
    ) -> Option<Result<Fetched, Fault>> {
        let data = *self.entry.data.get().filter(|_| self.entry.method == STORED)?;
        Some(self.read_at(data, read))
    }

    fn read_at(&self, data: u64, read: impl Fn(&mut [u8], u64) -> Result<(), Fault>) -> Result<Fetched, Fault> {
        let mut total = 0_usize;
        for range in self.ranges {
            total = total.saturating_add(self.entry.resolve(range)?.len());
        }
        let mut fetched = Fetched::new();
        fetched.reserve(total)?;
        for range in self.ranges {
            let at = self.entry.resolve(range)?;
            let buffer = fetched.buffer(at.len())?;
            read(buffer, data + at.start as u64)?;
            self.check(range, buffer)?;
        }
        Ok(fetched)
    }

    /// Compares the checksum if the range is the whole value.
    fn check(&self, range: &ByteRange, value: &[u8]) -> Result<(), ZipFault> {
        let is_whole = matches!(range, ByteRange::Full | ByteRange::First(_)) && value.len() as u64 == self.entry.size;
        if is_whole { self.entry.check(value) } else { Ok(()) }
    }

    /// Returns the first request.
    fn begin(&mut self) -> Result<Step<Fetched>, Fault> {
        let entry = self.entry;
        if ![STORED, DEFLATED].contains(&entry.method) && !expand::is_read(entry.method) {
            return Err(ZipFault::Method { name: entry.name(), method: entry.method }.into());
        }
        if let Some(data) = entry.data.get() {
            return self.value(*data);
        }
        let (begin, least) = (entry.header, entry.least_data());
        let Some(max_gap) = self.access.max_gap else {
            self.asked = Asked::Header;
            return Ok(Step::Read(smallvec![ByteRange::Range(begin..least)]));
        };
        let margin = entry.slack().min(MARGIN);
        let mut asked: Ranges = smallvec![ByteRange::Range(begin..least)];
        let (mut end, mut needed) = (least, least - begin);
        for range in self.wanted()? {
            let range = least + range.start..least + range.end + margin;
            end = end.max(range.end);
            needed = needed.saturating_add(range.end - range.start);
            asked.push(ByteRange::Range(range));
        }
        if end - begin <= needed.saturating_add(max_gap) {
            self.asked = Asked::Together;
            return Ok(Step::Read(smallvec![ByteRange::Range(begin..end)]));
        }
        self.asked = Asked::Apart;
        Ok(Step::Read(asked))
    }

    /// Returns the ranges of the entry's data that the requested ranges of the value need.
    fn wanted(&self) -> Result<SmallVec<[Range<u64>; 2]>, Error> {
        if self.entry.method != STORED {
            return Ok(smallvec![0..self.entry.compressed]);
        }
        let resolve = |range: &ByteRange| range.resolve(self.entry.size).ok_or(Error::Memory { size: self.entry.size });
        self.ranges.iter().map(resolve).collect()
    }

    /// Requests the ranges of the data, which begins at the offset `data`.
    fn value(&mut self, data: u64) -> Result<Step<Fetched>, Fault> {
        self.asked = Asked::Value;
        let of_file = |range: Range<u64>| ByteRange::Range(data + range.start..data + range.end);
        Ok(Step::Read(self.wanted()?.into_iter().map(of_file).collect()))
    }

    /// Cuts the value out of pieces that begin with the local header.
    fn cut(&mut self, mut fetched: Fetched, together: bool) -> Result<Step<Fetched>, Fault> {
        let entry = self.entry;
        let data = entry.data_behind(fetched.part(0))?;
        let extra = data - entry.least_data();
        if extra > entry.slack().min(MARGIN) {
            return self.value(data);
        }
        let memory = |_| Error::Memory { size: entry.compressed };
        let mut parts: SmallVec<[_; 2]> = SmallVec::new();
        for (i, range) in self.wanted()?.into_iter().enumerate() {
            let (piece, start) = if together { (0, data - entry.header + range.start) } else { (i + 1, extra) };
            let end = start + (range.end - range.start);
            parts.push((piece, usize::try_from(start).map_err(memory)?..usize::try_from(end).map_err(memory)?));
        }
        let cut = fetched.recut(parts.into_iter());
        debug_assert!(cut, "the parts lie in the ranges that were read");
        self.end(fetched)
    }

    /// Returns the ranges of the value from the ranges of the data, decoded if necessary.
    fn end(&self, fetched: Fetched) -> Result<Step<Fetched>, Fault> {
        match self.entry.method {
            STORED => {}
            DEFLATED => return Ok(Step::Done(self.entry.inflate(fetched.part(0), self.ranges)?)),
            _ => return Ok(Step::Done(self.entry.expand(fetched.part(0), self.ranges)?)),
        }
        for (range, value) in self.ranges.iter().zip(fetched.parts()) {
            self.check(range, value)?;
        }
        Ok(Step::Done(fetched))
    }
}

impl Plan for Getting<'_> {
    type Output = Fetched;

    fn step(&mut self, reply: Option<Fetched>) -> Result<Step<Fetched>, Fault> {
        let Some(reply) = reply else { return self.begin() };
        if let (Some(found), Some(expected)) = (reply.size, self.access.size)
            && found != expected
        {
            return Err(replaced(found, expected).into());
        }
        match self.asked {
            Asked::Nothing => self.begin(),
            Asked::Header => {
                let data = self.entry.data_behind(reply.part(0))?;
                self.value(data)
            }
            Asked::Together => self.cut(reply, true),
            Asked::Apart => self.cut(reply, false),
            Asked::Value => self.end(reply),
        }
    }

    fn is_short(&mut self, size: u64) -> Result<Step<Fetched>, Fault> {
        Err(replaced(size, self.access.size.unwrap_or(self.entry.limit)).into())
    }

    fn options(&self) -> &GetOptions {
        &self.access.same_state
    }

    fn is_value(&self) -> bool {
        self.entry.method == STORED && matches!(self.asked, Asked::Value)
    }
}

impl Entry {
    /// Returns the offset of the data if the extra field of the local header is empty. The directory was checked, so that no sum up to the
    /// end of the data overflows.
    pub(super) fn least_data(&self) -> u64 {
        self.header + LOCAL_SIZE + self.key.as_str().len() as u64
    }

    /// Returns the greatest possible length of the extra field of the local header.
    fn slack(&self) -> u64 {
        (self.limit - self.compressed).saturating_sub(self.least_data())
    }

    /// Returns the offset of the data after a check of the local header, and caches it.
    pub(super) fn data_behind(&self, local: &[u8]) -> Result<u64, ZipFault> {
        let name = self.key.as_str().as_bytes();
        let parse = || {
            let is_ours = u32_at(local, 0)? == LOCAL && usize::from(u16_at(local, 26)?) == name.len();
            let has_name = local.get(30..)?.starts_with(name);
            (is_ours && has_name).then(|| u16_at(local, 28)).flatten()
        };
        let extra = parse().ok_or(ZipFault::Record { what: "local header", at: self.header })?;
        if u64::from(extra) > self.slack() {
            return Err(ZipFault::Overlap { name: self.name() });
        }
        Ok(*self.data.get_or_init(|| self.least_data() + u64::from(extra)))
    }

    pub(super) fn name(&self) -> String {
        self.key.to_string()
    }
}
