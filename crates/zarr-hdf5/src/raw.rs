//! Undecoded messages of object headers, which contain details that `hdf5_reader` drops.

use std::collections::HashSet;

use crate::fault::Refusal;
use crate::file::File;
use crate::raw_numbers::{u16_at, u32_at};

/// Type number of the data type message of an object header.
const DATATYPE: u16 = 0x03;
const LAYOUT: u16 = 0x08;
pub(crate) const ATTRIBUTE: u16 = 0x0c;
const CONTINUATION: u16 = 0x10;

/// Maximum number of bytes of an object header.
const MAX_BYTES: usize = 64 << 20;

/// Message of an object header, with undecoded contents.
pub(crate) struct Message {
    /// Whether `bytes` is not the message itself but the location of a shared message.
    pub(crate) is_shared: bool,
    pub(crate) bytes: Vec<u8>,
}

/// Returns the encoded data type of the data set at `address`.
pub(crate) fn datatype(file: &File, address: u64) -> Result<Vec<u8>, Refusal> {
    let one = |address: u64| {
        let found = messages(file, address, DATATYPE)?;
        found.into_iter().next().ok_or_else(|| Refusal::new("found no data type in the header"))
    };
    let message = one(address)?;
    if !message.is_shared {
        return Ok(message.bytes);
    }
    // A type that has a name lies in a header of its own.
    let of_name = one(elsewhere(file, &message.bytes)?)?;
    if of_name.is_shared {
        return Err(Refusal::new("the type that its header names lies elsewhere again"));
    }
    Ok(of_name.bytes)
}

/// Returns the address of the object header that contains a shared message, whose location is `bytes`.
fn elsewhere(file: &File, bytes: &[u8]) -> Result<u64, Refusal> {
    let at = match bytes {
        [1, ..] => 8,
        [2, 0 | 2, ..] | [3, 2, ..] => 2,
        _ => {
            return Err(Refusal::new("its data type lies in the table of shared messages, where it cannot be checked"));
        }
    };
    let address = bytes.get(at..at + usize::from(file.offset_size()));
    address.map(number).ok_or_else(|| Refusal::new("its header is cut off"))
}

/// Returns the encoded attribute `bytes` with its data type in place: if the data type is a named type in another object header, its
/// encoding replaces the reference.
pub(crate) fn with_own_type(file: &File, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let begin = match bytes {
        [2, flags, ..] if flags & 3 != 0 => 8,
        [3, flags, ..] if flags & 3 != 0 => 9,
        _ => return Ok(bytes.to_vec()),
    };
    if bytes[1] & 2 != 0 {
        return Err(Refusal::new("its shape lies elsewhere"));
    }
    let [name, len] = [2, 4].map(|at| u16_at(bytes, at).map_or(usize::MAX, usize::from));
    let datatype = name.saturating_add(begin);
    let end = datatype.saturating_add(len);
    let (Some(head), Some(named), Some(rest)) = (bytes.get(..datatype), bytes.get(datatype..end), bytes.get(end..))
    else {
        return Err(Refusal::new("it is cut off"));
    };
    let types = messages(file, elsewhere(file, named)?, DATATYPE)?;
    let found = types.into_iter().next().filter(|found| !found.is_shared);
    let found = found.ok_or_else(|| Refusal::new("its data type is not where the attribute says"))?;
    let len =
        u16::try_from(found.bytes.len()).map_err(|_| Refusal::new("the description of its data type is too large"))?;
    let mut own = [head, &found.bytes[..], rest].concat();
    own[1] &= !1;
    own[4..6].copy_from_slice(&len.to_le_bytes());
    Ok(own)
}

/// Returns whether the chunks of the data set at `address` that extend beyond its shape skip all filters.
pub(crate) fn leaves_edges(file: &File, address: u64) -> Result<bool, Refusal> {
    let found = messages(file, address, LAYOUT)?;
    Ok(found.iter().any(|message| matches!(message.bytes[..], [4 | 5, 2, flags, ..] if flags & 1 != 0)))
}

/// Returns the encoded data type in the encoded attribute `bytes`; `None` if `bytes` is cut off or its version is unknown.
pub(crate) fn datatype_of_attribute(bytes: &[u8]) -> Option<&[u8]> {
    let sizes = [2, 4].map(|at| u16_at(bytes, at).map(usize::from));
    let [Some(name), Some(datatype)] = sizes else { return None };
    let begin = match bytes.first()? {
        1 => 8 + name.next_multiple_of(8),
        2 => 8 + name,
        3 => 9 + name,
        _ => return None,
    };
    bytes.get(begin..begin + datatype)
}

/// Returns the messages of type `kind` in the object header at `address`.
pub(crate) fn messages(file: &File, address: u64, kind: u16) -> Result<Vec<Message>, Refusal> {
    let mut found = Vec::new();
    visit(file, address, &mut |place| {
        if place.kind == kind {
            found.push(Message { is_shared: place.is_shared, bytes: place.bytes.to_vec() });
        }
    })?;
    Ok(found)
}

/// Message of an object header, with its location in the file.
pub(crate) struct Place<'b> {
    pub(crate) kind: u16,
    pub(crate) is_shared: bool,
    pub(crate) bytes: &'b [u8],
    /// Offset in the file of the type number of the message, and number of bytes of the type number.
    pub(crate) at: (u64, usize),
    /// Begin and end of the range of the file that a checksum covers, which follows the range; `None` for headers of version 1, which have
    /// no checksums.
    pub(crate) checked: Option<(u64, u64)>,
}

/// Calls `show` for each message of the object header at `address`, including its continuations.
pub(crate) fn visit(file: &File, address: u64, show: &mut dyn FnMut(Place<'_>)) -> Result<(), Refusal> {
    let cut_off = || Refusal::new("its header is cut off");
    let read = |at: u64, len: usize| file.guard(|| file.storage().read_range(at, len));
    let is_new = read(address, 4)?.as_ref() == b"OHDR";
    let mut left = MAX_BYTES;
    let mut visited = HashSet::new();
    let (head, begin, len) = if is_new {
        let flags = read(address, 6)?.as_ref()[5];
        let times = if flags & 0x20 != 0 { 16 } else { 0 };
        let phases = if flags & 0x10 != 0 { 4 } else { 0 };
        let (width, before) = (1_usize << (flags & 3), 6 + times + phases);
        let prefix = read(address, before + width)?;
        let len = number(&prefix.as_ref()[before..]);
        (if flags & 4 != 0 { 6 } else { 4 }, (before + width) as u64, len)
    } else {
        (8, 16, u32_at(read(address, 16)?.as_ref(), 8).map_or(0, u64::from))
    };
    let mut todo = vec![(address.saturating_add(begin), len, 0_usize, 0_usize)];
    while let Some((at, len, front, back)) = todo.pop() {
        let len = usize::try_from(len).ok().filter(|len| *len <= left).ok_or_else(cut_off)?;
        if !visited.insert(at) {
            return Err(Refusal::new("parts of its header lead to each other"));
        }
        left -= len;
        let block = read(at, len)?;
        let end = len.checked_sub(back).filter(|end| front <= *end).ok_or_else(cut_off)?;
        let mut rest = &block.as_ref()[front..end];
        let last = at.saturating_add(end as u64);
        // The checksum of the first part covers the prefix of the header as well.
        let checked = is_new.then_some((if front > 0 { at } else { address }, last));
        while rest.len() >= head {
            let begin = last - rest.len() as u64;
            let (found_kind, size, flags) = if is_new {
                (u16::from(rest[0]), u16_at(rest, 1), rest[3])
            } else {
                (u16_at(rest, 0).unwrap_or_default(), u16_at(rest, 2), rest[4])
            };
            let size = usize::from(size.unwrap_or_default());
            let bytes = rest.get(head..head + size).ok_or_else(cut_off)?;
            rest = &rest[head + size..];
            let is_shared = flags & 2 != 0;
            if found_kind == CONTINUATION && !is_shared {
                let (at, len) = bytes.split_at_checked(usize::from(file.offset_size())).ok_or_else(cut_off)?;
                let len = len.get(..usize::from(file.length_size())).ok_or_else(cut_off)?;
                // New parts have a signature in front, and a checksum behind.
                let (front, back) = if is_new { (4, 4) } else { (0, 0) };
                todo.push((number(at), number(len), front, back));
            } else {
                let at = (begin, if is_new { 1 } else { 2 });
                show(Place { kind: found_kind, is_shared, bytes, at, checked });
            }
        }
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
