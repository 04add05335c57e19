//! Compression of lzma data.

use crate::filter::{Branch, Dictionary, Filter, LzmaVersion};
use crate::format::{Check, Format};
use lzma_rust2::filter::bcj::BcjWriter;
use lzma_rust2::filter::delta::DeltaWriter;
use lzma_rust2::{
    CheckType, EncodeMode, FilterConfig, Lzma2Options, Lzma2Writer, LzmaOptions, LzmaWriter, MfType, XzOptions,
    XzWriter,
};
use std::borrow::Cow;
use std::io::{self, Write};

/// Minimum size of a dictionary in bytes (xz specification, 5.3.1).
const MIN_DICT_SIZE: usize = 4096;
/// Minimum of the option "nice length" in the library.
const MIN_NICE_LEN: u32 = 8;

/// Compresses `bytes`, and appends them in `format` to `out`.
///
/// # Errors
/// Fails with the message of the library.
pub(crate) fn encode(
    format: Format,
    check: Check,
    filters: &[Filter],
    dictionary: &Dictionary,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let options = options(dictionary, bytes.len());
    match format {
        Format::Xz => {
            let check_type = match check {
                Check::None => CheckType::None,
                Check::Crc32 => CheckType::Crc32,
                Check::Crc64 => CheckType::Crc64,
                Check::Sha256 => CheckType::Sha256,
            };
            let filters = filters.iter().map(in_xz).collect();
            let options = XzOptions { lzma_options: options, check_type, block_size: None, filters };
            let mut writer = XzWriter::new(out, options)?;
            writer.write_all(bytes)?;
            writer.finish()?;
        }
        Format::Alone => {
            // With an end marker instead of a size, as liblzma writes it.
            let mut writer = LzmaWriter::new_use_header(out, &options, None)?;
            writer.write_all(bytes)?;
            writer.finish()?;
        }
        Format::Raw => {
            let mut bytes = Cow::Borrowed(bytes);
            for filter in filters {
                bytes = Cow::Owned(apply(filter, &bytes)?);
            }
            raw(dictionary.lzma, options, &bytes, out)?;
        }
    }
    Ok(())
}

fn raw(lzma: LzmaVersion, options: LzmaOptions, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    match lzma {
        LzmaVersion::One => {
            let mut writer = LzmaWriter::new_no_header(out, &options, true)?;
            writer.write_all(bytes)?;
            writer.finish()?;
        }
        LzmaVersion::Two => {
            let mut writer = Lzma2Writer::new(out, Lzma2Options { lzma_options: options, chunk_size: None });
            writer.write_all(bytes)?;
            writer.finish()?;
        }
    }
    Ok(())
}

/// Returns the library's options for data of `size` bytes. The dictionary is limited to the size of the data, since a larger one only costs
/// memory.
fn options(by: &Dictionary, size: usize) -> LzmaOptions {
    let useful = size.max(MIN_DICT_SIZE).checked_next_power_of_two().unwrap_or(usize::MAX);
    let dict_size = by.dict_size.min(u32::try_from(useful).unwrap_or(u32::MAX));
    let mode = if by.fast { EncodeMode::Fast } else { EncodeMode::Normal };
    let finder = if by.trees { MfType::Bt4 } else { MfType::Hc4 };
    LzmaOptions::new(dict_size, by.lc, by.lp, by.pb, mode, by.nice_len.max(MIN_NICE_LEN), finder, by.depth)
}

fn in_xz(filter: &Filter) -> FilterConfig {
    match *filter {
        Filter::Delta { dist } => FilterConfig::new_delta(dist),
        Filter::Branch { branch, start } => match branch {
            Branch::X86 => FilterConfig::new_bcj_x86(start),
            Branch::PowerPc => FilterConfig::new_bcj_ppc(start),
            Branch::Ia64 => FilterConfig::new_bcj_ia64(start),
            Branch::Arm => FilterConfig::new_bcj_arm(start),
            Branch::ArmThumb => FilterConfig::new_bcj_arm_thumb(start),
            Branch::Sparc => FilterConfig::new_bcj_sparc(start),
        },
    }
}

fn apply(filter: &Filter, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let out = Vec::with_capacity(bytes.len());
    match *filter {
        Filter::Delta { dist } => {
            let mut writer = DeltaWriter::new(out, dist as usize);
            writer.write_all(bytes)?;
            Ok(writer.into_inner())
        }
        Filter::Branch { branch, start } => {
            let make = match branch {
                Branch::X86 => BcjWriter::new_x86,
                Branch::PowerPc => BcjWriter::new_ppc,
                Branch::Ia64 => BcjWriter::new_ia64,
                Branch::Arm => BcjWriter::new_arm,
                Branch::ArmThumb => BcjWriter::new_arm_thumb,
                Branch::Sparc => BcjWriter::new_sparc,
            };
            let mut writer = make(out, start as usize);
            writer.write_all(bytes)?;
            writer.finish()
        }
    }
}
