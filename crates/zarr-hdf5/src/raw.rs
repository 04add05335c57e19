//! Parts of object headers as they lie in the file, which say more than the parsed ones.

use std::collections::HashSet;

use crate::fault::Refusal;
use crate::file::File;
use crate::raw_numbers::{u16_at, u32_at};

/// Numbers of kinds of messages.
const DATATYPE: u16 = 0x03;
const LAYOUT: u16 = 0x08;
pub(crate) const ATTRIBUTE: u16 = 0x0c;
const CONTINUATION: u16 = 0x10;

/// Maximum number of bytes of a header.
const MAX_BYTES: usize = 64 << 20;

/// A message of an object header.
pub(crate) struct Message {
    /// Whether the bytes say where the message lies instead.
    pub(crate) is_shared: bool,
    pub(crate) bytes: Vec<u8>,
}

/// The description of the data type of the data set at an address.
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

/// The address of the header that has a shared message.
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

/// Whether the layout of a data set leaves chunks that are cut off at its end without filters.
pub(crate) fn leaves_edges(file: &File, address: u64) -> Result<bool, Refusal> {
    let found = messages(file, address, LAYOUT)?;
    Ok(found.iter().any(|message| matches!(message.bytes[..], [4 | 5, 2, flags, ..] if flags & 1 != 0)))
}

/// The description of the data type in an attribute; `None` if it is cut off.
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

/// The messages of a kind in the header at an address.
pub(crate) fn messages(file: &File, address: u64, kind: u16) -> Result<Vec<Message>, Refusal> {
    let cut_off = || Refusal::new("its header is cut off");
    let read = |at: u64, len: usize| file.guard(|| file.storage().read_range(at, len));
    let is_new = read(address, 4)?.as_ref() == b"OHDR";
    let mut left = MAX_BYTES;
    let mut found = Vec::new();
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
        while rest.len() >= head {
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
            } else if found_kind == kind {
                found.push(Message { is_shared, bytes: bytes.to_vec() });
            }
        }
    }
    Ok(found)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
