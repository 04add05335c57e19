//! Small zip files for tests, valid or not.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::entry::{DEFLATED, STORED};

/// Entry to be written, whose fields may be false.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: Vec<u8>,
    pub(super) local_name: Vec<u8>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) size: u64,
    pub(super) compressed: u64,
    pub(super) data: Vec<u8>,
    pub(super) local_extra: Vec<u8>,
    /// Offset that is written instead of the true one.
    pub(super) offset: Option<u64>,
    /// Whether numbers are in the zip64 extra field.
    pub(super) wide: bool,
}

pub(super) fn member(name: &str, value: &[u8], method: u16) -> Member {
    let data = match method {
        DEFLATED => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(value).expect("memory");
            encoder.finish().expect("memory")
        }
        _ => value.to_vec(),
    };
    let mut crc = Crc::new();
    crc.update(value);
    Member {
        name: name.as_bytes().to_vec(),
        local_name: name.as_bytes().to_vec(),
        flags: 0,
        method,
        crc: crc.sum(),
        size: value.len() as u64,
        compressed: data.len() as u64,
        data,
        local_extra: Vec::new(),
        offset: None,
        wide: false,
    }
}

pub(super) fn stored(name: &str, value: &[u8]) -> Member {
    member(name, value, STORED)
}

/// Returns the bytes of a zip file; with `wide`, with zip64 end records.
pub(super) fn archive(members: &[Member], comment: &[u8], wide: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let offset = member.offset.unwrap_or(file.len() as u64);
        let narrow = |number: u64| if member.wide { u32::MAX } else { u32::try_from(number).expect("small") };
        let mut both = Vec::new();
        for number in [20, member.flags, member.method, 0, 0] {
            both.extend(number.to_le_bytes());
        }
        for number in [member.crc, narrow(member.compressed), narrow(member.size)] {
            both.extend(number.to_le_bytes());
        }
        let len = |bytes: &[u8]| u16::try_from(bytes.len()).expect("short").to_le_bytes();
        file.extend(0x0403_4b50_u32.to_le_bytes());
        file.extend(&both);
        file.extend(len(&member.local_name));
        file.extend(len(&member.local_extra));
        file.extend(&member.local_name);
        file.extend(&member.local_extra);
        file.extend(&member.data);

        let mut extra = Vec::new();
        if member.wide {
            // Another field first, which is skipped.
            extra.extend([0x55, 0x54, 1, 0, 9, 1, 0, 24, 0]);
            for number in [member.size, member.compressed, offset] {
                extra.extend(number.to_le_bytes());
            }
        }
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&both);
        directory.extend(len(&member.name));
        directory.extend(len(&extra));
        directory.extend([0; 10]);
        directory.extend(narrow(offset).to_le_bytes());
        directory.extend(&member.name);
        directory.extend(&extra);
    }
    let (offset, size, count) = (file.len() as u64, directory.len() as u64, members.len() as u64);
    file.extend(&directory);
    if wide {
        let at = file.len() as u64;
        file.extend(0x0606_4b50_u32.to_le_bytes());
        file.extend(44_u64.to_le_bytes());
        file.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [count, count, size, offset] {
            file.extend(number.to_le_bytes());
        }
        file.extend(0x0706_4b50_u32.to_le_bytes());
        file.extend(0_u32.to_le_bytes());
        file.extend(at.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
    }
    file.extend(0x0605_4b50_u32.to_le_bytes());
    file.extend([0; 4]);
    let narrow = |number: u64| if wide { u32::MAX } else { u32::try_from(number).expect("small") };
    let count = if wide { u16::MAX } else { u16::try_from(count).expect("few") };
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(narrow(size).to_le_bytes());
    file.extend(narrow(offset).to_le_bytes());
    file.extend(u16::try_from(comment.len()).expect("short").to_le_bytes());
    file.extend(comment);
    file
}
