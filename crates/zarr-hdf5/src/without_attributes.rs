//! Object headers without their attributes, for objects with attributes that `hdf5_reader` cannot parse.

use std::collections::BTreeMap;
use std::sync::Arc;

use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::error::Result as ReaderResult;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::shared::SharedMessage;
use hdf5_reader::object_header::ObjectHeader;
use hdf5_reader::{Storage, StorageBuffer};

use crate::fault::Refusal;
use crate::file::File;
use crate::raw;

/// Maximum number of bytes of an object header.
const MAX_BYTES: usize = 64 << 20;
/// Type number of the data type message of an object header.
const DATATYPE: u16 = 3;

/// File with some bytes replaced: `bytes` has the new bytes by offset.
struct Patched<'f> {
    file: &'f File,
    bytes: BTreeMap<u64, u8>,
}

impl Storage for Patched<'_> {
    fn len(&self) -> u64 {
        self.file.storage().len()
    }

    fn read_range(&self, offset: u64, len: usize) -> ReaderResult<StorageBuffer> {
        let mut read = self.file.storage().read_range(offset, len)?.as_ref().to_vec();
        for (at, byte) in self.bytes.range(offset..offset.saturating_add(len as u64)) {
            if let Some(place) = read.get_mut((at - offset) as usize) {
                *place = *byte;
            }
        }
        Ok(StorageBuffer::from_vec(read))
    }
}

/// Parses the object header at `address`. If `hdf5_reader` refuses it, for example for attributes of named data types, parses it without
/// attributes.
pub(crate) fn header(file: &File, address: u64) -> Result<Arc<ObjectHeader>, Refusal> {
    match file.header(address) {
        Err(refusal) if !file.source.has_failed() => {
            without_attributes(file, address).ok().flatten().map(Arc::new).ok_or(refusal)
        }
        parsed => parsed,
    }
}

/// Parses the object header at `address` with its attribute messages turned into null messages; `None` if it has no attributes.
fn without_attributes(file: &File, address: u64) -> Result<Option<ObjectHeader>, Refusal> {
    let (mut bytes, mut checked) = (BTreeMap::new(), Vec::new());
    raw::visit(file, address, &mut |place| {
        if place.kind == raw::ATTRIBUTE {
            let (at, len) = place.at;
            bytes.extend((at..at + len as u64).map(|at| (at, 0)));
            if let Some(range) = place.checked.filter(|range| checked.last() != Some(range)) {
                checked.push(range);
            }
        }
    })?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut patched = Patched { file, bytes };
    for (begin, end) in checked {
        let len = usize::try_from(end - begin).unwrap_or(usize::MAX);
        let before = file.guard(|| file.storage().read_range(begin, len.saturating_add(4)))?;
        let (before, checksum) = before.as_ref().split_at_checked(len).unwrap_or_default();
        // A wrong checksum stays wrong.
        if jenkins_lookup3(before).to_le_bytes() != checksum {
            return Err(Refusal::new("a checksum of its header differs"));
        }
        let after = file.guard(|| patched.read_range(begin, len))?;
        let checksum = jenkins_lookup3(after.as_ref()).to_le_bytes();
        patched.bytes.extend((end..).zip(checksum));
    }
    let (offsets, lengths) = (file.offset_size(), file.length_size());
    let parsed =
        file.guard(|| ObjectHeader::parse_at_storage_with_limit(&patched, address, offsets, lengths, MAX_BYTES));
    let mut header = parsed?;
    for message in &mut header.messages {
        if let HdfMessage::Shared(SharedMessage::SharedInOhdr { message_type: DATATYPE, address }) = message {
            let named = file.header(*address)?;
            let datatype = named.messages.iter().find(|message| matches!(message, HdfMessage::Datatype(_)));
            if let Some(datatype) = datatype {
                *message = datatype.clone();
            }
        }
    }
    Ok(Some(header))
}
