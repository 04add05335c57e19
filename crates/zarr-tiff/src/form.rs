//! The form of a page: its shape, the type of its samples, and how chunks are stored.

use zarr_dtype::DataType;

use crate::fault::{Failure, Refusal};
use crate::ifd::{Ifd, Order, Reader};
use crate::{jpeg, tags};

/// Maximum number of bytes of a chunk that is decoded here.
pub(crate) const MAX_CHUNK: u64 = 256 << 20;
/// Maximum number of samples of a pixel.
const MAX_SAMPLES: u64 = 65_535;
/// Photometric interpretation of JPEG's colours.
const YCBCR: u64 = 6;
/// Photometric interpretation of red, green and blue.
const RGB: u64 = 2;
/// Number of bytes that a compressed chunk may have besides twice its elements: tables and profiles of JPEG are among them.
const STORED_MORE: u64 = 64 << 10;

/// How the bytes of chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compression {
    None,
    Lzw,
    Deflate,
    PackBits,
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "only the feature has the codec"))]
    Zstd,
    Jpeg,
}

/// How rows are changed before they are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Predictor {
    None,
    /// Differences of samples.
    Horizontal,
    /// Differences of the bytes of floats, first bytes first.
    Float,
}

/// The type of samples.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sample {
    pub(crate) data_type: DataType,
    /// Number of bits in the file.
    pub(crate) bits: u64,
}

impl Sample {
    /// Number of bytes of an element.
    pub(crate) fn size(&self) -> u64 {
        self.bits.div_ceil(8)
    }
}

/// The form of a page. Pages of one form are parts of one array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) samples: u64,
    pub(crate) sample: Sample,
    /// Each sample of a pixel is in a plane of its own.
    pub(crate) is_separate: bool,
    pub(crate) compression: Compression,
    pub(crate) predictor: Predictor,
    pub(crate) photometric: u64,
    pub(crate) is_tiled: bool,
    pub(crate) chunk_width: u64,
    pub(crate) chunk_height: u64,
    /// The first pixel of a byte is in its lowest bit.
    pub(crate) is_reversed: bool,
    pub(crate) order: Order,
}

impl Form {
    /// Reads the form of a page; a refusal for one that is not read here.
    pub(crate) fn read(reader: &Reader<'_>, ifd: &Ifd) -> Result<Result<Self, Refusal>, Failure> {
        let refused = |text: String| Ok(Err(Refusal::new(text)));
        let (width, height) = (reader.number(ifd, tags::IMAGE_WIDTH, 0)?, reader.number(ifd, tags::IMAGE_LENGTH, 0)?);
        for (tag, found) in [(tags::IMAGE_WIDTH, width), (tags::IMAGE_LENGTH, height)] {
            if !(1..=u64::from(u32::MAX)).contains(&found) {
                return Err(ifd.fault(tag, found, "a number of pixels from 1 on").into());
            }
        }
        let samples = reader.number(ifd, tags::SAMPLES_PER_PIXEL, 1)?;
        if !(1..=MAX_SAMPLES).contains(&samples) {
            return Err(ifd.fault(tags::SAMPLES_PER_PIXEL, samples, format!("1 to {MAX_SAMPLES}")).into());
        }
        if reader.number(ifd, tags::IMAGE_DEPTH, 1)? > 1 {
            return refused("volumes in one page (ImageDepth) are not read".to_owned());
        }
        let is_separate = match reader.number(ifd, tags::PLANAR_CONFIGURATION, 1)? {
            1 => false,
            2 => samples > 1,
            found => return Err(ifd.fault(tags::PLANAR_CONFIGURATION, found, "1 or 2").into()),
        };
        let sample = match sample(reader, ifd, samples)? {
            Ok(sample) => sample,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let compression = match reader.number(ifd, tags::COMPRESSION, 1)? {
            1 => Compression::None,
            5 => Compression::Lzw,
            7 => Compression::Jpeg,
            8 | 32946 => Compression::Deflate,
            32773 => Compression::PackBits,
            #[cfg(feature = "zstd")]
            34926 | 50000 => Compression::Zstd,
            found => return refused(format!("compression {} is not read", compression_name(found))),
        };
        let predictor = match reader.number(ifd, tags::PREDICTOR, 1)? {
            // Codecs of pixels have no predictor, whatever the tag says.
            _ if matches!(compression, Compression::None | Compression::Jpeg | Compression::PackBits) => {
                Predictor::None
            }
            1 => Predictor::None,
            2 if matches!(sample.bits, 8 | 16 | 32 | 64) && !is_complex(&sample.data_type) => Predictor::Horizontal,
            3 if matches!(sample.data_type, DataType::Float16 | DataType::Float32 | DataType::Float64) => {
                Predictor::Float
            }
            found => return refused(format!("predictor {found} of {} is not read", sample.data_type)),
        };
        let photometric = reader.number(ifd, tags::PHOTOMETRIC, 1)?;
        if photometric == YCBCR && samples > 1 && compression != Compression::Jpeg {
            let subsampling = reader.numbers(ifd, tags::YCBCR_SUBSAMPLING, 2)?.unwrap_or_else(|| vec![2, 2]);
            if subsampling.iter().any(|by| *by != 1) {
                return refused("colours with fewer samples (YCbCrSubSampling) are read from JPEG only".to_owned());
            }
        }
        if compression == Compression::Jpeg && sample.data_type != DataType::UInt8 {
            return refused(format!("JPEG of {} is not read", sample.data_type));
        }
        let is_reversed = reader.number(ifd, tags::FILL_ORDER, 1)? == 2;
        let is_tiled = ifd.get(tags::TILE_WIDTH).is_some() || ifd.get(tags::TILE_OFFSETS).is_some();
        let (chunk_width, chunk_height) = if is_tiled {
            (reader.number(ifd, tags::TILE_WIDTH, 0)?, reader.number(ifd, tags::TILE_LENGTH, 0)?)
        } else {
            let rows = reader.number(ifd, tags::ROWS_PER_STRIP, height)?;
            (width, rows.min(height))
        };
        let of_chunks = if is_tiled { [tags::TILE_WIDTH, tags::TILE_LENGTH] } else { [tags::ROWS_PER_STRIP; 2] };
        for (tag, found) in of_chunks.into_iter().zip([chunk_width, chunk_height]) {
            if !(1..=u64::from(u32::MAX)).contains(&found) {
                return Err(ifd.fault(tag, found, "a number of pixels from 1 on").into());
            }
        }
        let form = Self {
            width,
            height,
            samples,
            sample,
            is_separate,
            compression,
            predictor,
            photometric,
            is_tiled,
            chunk_width,
            chunk_height,
            is_reversed,
            order: reader.order,
        };
        if let Some(refusal) = (compression == Compression::Jpeg).then(|| jpeg::refusal(&form)).flatten() {
            return Ok(Err(refusal));
        }
        if form.chunk_bytes() > MAX_CHUNK && !form.is_plain() {
            return refused(format!(
                "chunks larger than {MAX_CHUNK} bytes, which is the limit, are read only if they lie as they are"
            ));
        }
        if form.plane_bytes().checked_mul(u128::from(samples)).is_none_or(|bytes| bytes > u128::from(u64::MAX / 4)) {
            return refused("the page has more bytes than there are numbers for".to_owned());
        }
        Ok(Ok(form))
    }

    /// Number of samples of a pixel in a chunk.
    pub(crate) fn chunk_samples(&self) -> u64 {
        if self.is_separate { 1 } else { self.samples }
    }

    /// Number of planes of a page.
    pub(crate) fn planes(&self) -> u64 {
        if self.is_separate { self.samples } else { 1 }
    }

    /// Bytes of a row of a chunk in the file, before compression.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.chunk_width.saturating_mul(self.chunk_samples()).saturating_mul(self.sample.bits).div_ceil(8)
    }

    /// Bytes of a chunk as an element of the array has them.
    pub(crate) fn chunk_bytes(&self) -> u64 {
        let row = self.chunk_width.saturating_mul(self.chunk_samples()).saturating_mul(self.sample.size());
        row.saturating_mul(self.chunk_height)
    }

    /// Rows of a chunk in the file: the last strip of a plane has fewer, if it is no whole one.
    pub(crate) fn rows(&self, is_whole: bool) -> u64 {
        match is_whole {
            true => self.chunk_height,
            false => self.height - (self.height - 1) / self.chunk_height * self.chunk_height,
        }
    }

    /// The most bytes that are read of a chunk in the file.
    pub(crate) fn most_bytes(&self, is_whole: bool) -> u64 {
        match self.compression {
            Compression::None => self.row_bytes().saturating_mul(self.rows(is_whole)),
            _ => self.most_stored(),
        }
    }

    /// Bytes of a plane in the file, if it is not compressed and has no tiles.
    pub(crate) fn plane_bytes(&self) -> u128 {
        let row = u128::from(self.width) * u128::from(self.chunk_samples()) * u128::from(self.sample.bits);
        row.div_ceil(8) * u128::from(self.height)
    }

    /// Chunks along the rows and along the columns of a plane.
    pub(crate) fn grid(&self) -> [u64; 2] {
        [self.height.div_ceil(self.chunk_height), self.width.div_ceil(self.chunk_width)]
    }

    /// Whether the bytes in the file are elements as they lie.
    pub(crate) fn is_plain(&self) -> bool {
        self.compression == Compression::None && self.sample.bits >= 8 && !self.is_reversed
    }

    /// Whether a codec of Zarr decodes the bytes as they lie.
    pub(crate) fn is_direct(&self) -> bool {
        let has_codec = matches!(self.compression, Compression::None | Compression::Deflate | Compression::Zstd);
        has_codec && self.predictor == Predictor::None && self.sample.bits >= 8 && !self.is_reversed
    }

    /// Whether the rows of a plane without compression lie one behind the other if its chunks do.
    pub(crate) fn is_of_rows(&self) -> bool {
        let is_whole = self.chunk_width == self.width && self.height.is_multiple_of(self.chunk_height);
        self.is_plain() && (!self.is_tiled || is_whole)
    }

    /// The form of the array that pages of this form are parts of: strips without compression may be cut anywhere.
    pub(crate) fn of_array(&self) -> Self {
        let mut form = self.clone();
        if form.is_of_rows() {
            form.chunk_height = form.height;
        }
        form
    }

    /// Whether the samples are red, green and blue when they are read.
    pub(crate) fn is_rgb(&self) -> bool {
        self.photometric == RGB || (self.compression == Compression::Jpeg && self.has_ycbcr())
    }

    /// The most bytes that a chunk of the file can be expected to have.
    pub(crate) fn most_stored(&self) -> u64 {
        self.chunk_bytes().saturating_mul(2).saturating_add(STORED_MORE)
    }

    /// Whether JPEG has colours that are to be RGB.
    pub(crate) fn has_ycbcr(&self) -> bool {
        self.photometric == YCBCR && self.samples == 3 && !self.is_separate
    }

    /// Whether another page is a smaller picture of the same.
    pub(crate) fn is_reduced_from(&self, full: &Self) -> bool {
        let is_like = self.sample == full.sample && self.samples == full.samples;
        // A level has the same proportions, but for pixels that are cut off.
        let cross = |one: u64, other: u64| u128::from(one) * u128::from(other);
        let (one, other) = (cross(self.width, full.height), cross(self.height, full.width));
        let room = u128::from(full.width.max(full.height)) * 2 + one.max(other) / 10;
        let is_smaller = self.width <= full.width
            && self.height <= full.height
            && (self.width, self.height) != (full.width, full.height);
        is_like && is_smaller && one.abs_diff(other) <= room
    }
}

fn is_complex(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Complex64 | DataType::Complex128)
}

/// Reads the type of the samples of a page.
fn sample(reader: &Reader<'_>, ifd: &Ifd, samples: u64) -> Result<Result<Sample, Refusal>, Failure> {
    let bits = reader.numbers(ifd, tags::BITS_PER_SAMPLE, samples)?.unwrap_or_else(|| vec![1]);
    let formats = reader.numbers(ifd, tags::SAMPLE_FORMAT, samples)?.unwrap_or_else(|| vec![1]);
    let (Some(&first), Some(&format)) = (bits.first(), formats.first()) else {
        return Err(ifd.fault(tags::BITS_PER_SAMPLE, "no number", "one for each sample").into());
    };
    if bits.iter().any(|bits| *bits != first) || formats.iter().any(|found| *found != format) {
        return Ok(Err(Refusal::new(format!("samples of different types are not read: {bits:?} bits"))));
    }
    let data_type = match (format, first) {
        (1 | 4, 1) => DataType::Bool,
        (1 | 4, 8) => DataType::UInt8,
        (1 | 4, 16) => DataType::UInt16,
        (1 | 4, 32) => DataType::UInt32,
        (1 | 4, 64) => DataType::UInt64,
        (2, 8) => DataType::Int8,
        (2, 16) => DataType::Int16,
        (2, 32) => DataType::Int32,
        (2, 64) => DataType::Int64,
        (3, 16) => DataType::Float16,
        (3, 32) => DataType::Float32,
        (3, 64) => DataType::Float64,
        (6, 64) => DataType::Complex64,
        (6, 128) => DataType::Complex128,
        _ => {
            let kind = match format {
                1 | 4 => "unsigned integers".to_owned(),
                2 => "signed integers".to_owned(),
                3 => "floats".to_owned(),
                5 => "complex integers".to_owned(),
                6 => "complex numbers".to_owned(),
                other => format!("samples of format {other}"),
            };
            return Ok(Err(Refusal::new(format!("{kind} of {first} bits are not read"))));
        }
    };
    Ok(Ok(Sample { data_type, bits: first }))
}

fn compression_name(number: u64) -> String {
    let name = match number {
        2 => "CCITT RLE",
        3 => "CCITT group 3",
        4 => "CCITT group 4",
        6 => "old JPEG",
        32809 => "ThunderScan",
        33003 | 33004 | 33005 | 34712 => "JPEG 2000",
        34661 => "JBIG",
        34676 | 34677 => "SGI Log",
        34887 => "LERC",
        34892 => "DNG JPEG",
        34925 => "LZMA",
        34926 | 50000 => "Zstandard (feature `zstd`)",
        34927 | 50001 => "WebP",
        34933 => "PNG",
        34934 => "JPEG XR",
        50002 | 52546 => "JPEG XL",
        _ => return number.to_string(),
    };
    format!("{number} ({name})")
}
