//! Codec `zarrs.vlen`: the contents of all elements, one after another, and a separate index of their offsets.

use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, CodecValue, ElementOffsets, ElementSpec, Error, InnerCodecs,
    IntoTypedCodecs, Limits, Pipeline, Protection, Scratch, Size, View, ViewMut, chunk_view, read_variable,
    write_variable,
};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::{Region, element_count};
use zarr_json::Map;

const NAME: &str = "zarrs.vlen";

/// Number of bytes of the length of the index.
const LENGTH: usize = 8;

/// Entry of the codec `zarrs.vlen`, an experiment of the crate zarrs, for the table of codecs.
pub const ZARRS_VLEN: CodecEntry =
    CodecEntry::array_to_bytes("zarrs.vlen", |context| Ok(Arc::new(ZarrsVlen::from_config(context)?.bind(context)?)))
        .aliases(&["https://codec.zarrs.dev/array_to_bytes/vlen"])
        .example(
            r#"{"index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "data_codecs": [{"name": "bytes"}], "index_data_type": "uint32", "index_location": "end"}"#,
        );

/// Codec `zarrs.vlen`: the contents of all elements, one after another, and a separate index of their offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct ZarrsVlen {
    index: InnerCodecs,
    data: InnerCodecs,
    /// Whether offsets have 64 bits, else 32.
    wide: bool,
    /// Whether the index is after the elements.
    at_end: bool,
}

impl ZarrsVlen {
    /// Creates the codec: `index` encodes the offsets of elements, numbers of 32 bits, and `data` the contents of elements as bytes. The
    /// index is in front.
    pub fn of(index: impl IntoTypedCodecs, data: impl IntoTypedCodecs) -> Self {
        Self { index: InnerCodecs::new(index), data: InnerCodecs::new(data), wide: false, at_end: false }
    }

    /// Sets numbers of 64 bits for the index.
    #[must_use]
    pub fn index_of_64_bits(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Places the index after the elements.
    #[must_use]
    pub fn index_at_end(self) -> Self {
        Self { at_end: true, ..self }
    }

    /// Returns the codec for the data type of an array.
    fn bind(&self, context: &BuildContext<'_>) -> Result<Offsets, Error> {
        let data_type = &context.element.data_type;
        if !matches!(data_type, DataType::String | DataType::Bytes { .. }) {
            let what = format!("elements of data type {data_type}, expected string or bytes");
            return Err(Error::Unsupported { codec: NAME, what });
        }
        let zero = |data_type: DataType| {
            let zero = FillValue::zero(&data_type);
            ElementSpec::new(data_type, zero)
        };
        let offset = if self.wide { DataType::UInt64 } else { DataType::UInt32 };
        Ok(Offsets {
            is_text: *data_type == DataType::String,
            index: context.chain("index_codecs", &zero(offset))?,
            data: context.chain("data_codecs", &zero(DataType::UInt8))?,
            wide: self.wide,
            at_end: self.at_end,
            limits: context.limits.clone(),
        })
    }
}

impl CodecValue for ZarrsVlen {
    const ENTRY: CodecEntry = ZARRS_VLEN;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        config.required("index_data_type")?;
        let wide = config.one_of("index_data_type", &[("uint32", false), ("uint64", true)])?.unwrap_or(false);
        let at_end = config.one_of("index_location", &[("start", false), ("end", true)])?.unwrap_or(false);
        let index = InnerCodecs::from_config(context, "index_codecs")?;
        Ok(Self { index, data: InnerCodecs::from_config(context, "data_codecs")?, wide, at_end })
    }

    fn to_config(&self) -> Map {
        let mut members = Map::from([
            ("index_codecs", self.index.to_value()),
            ("data_codecs", self.data.to_value()),
            ("index_data_type", if self.wide { "uint64" } else { "uint32" }.into()),
        ]);
        if self.at_end {
            members.insert("index_location", "end");
        }
        members
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        [self.index.entries(), self.data.entries()].concat()
    }
}

#[derive(Debug)]
struct Offsets {
    is_text: bool,
    index: Pipeline,
    data: Pipeline,
    /// Whether offsets have 64 bits, else 32.
    wide: bool,
    /// Whether the index is after the elements.
    at_end: bool,
    limits: Limits,
}

impl Offsets {
    /// Returns the encoded index and the encoded elements.
    fn parts<'b>(&self, encoded: &'b [u8]) -> Result<(&'b [u8], &'b [u8]), Error> {
        let truncated = |expected: u64| Error::Truncated { codec: NAME, found: encoded.len() as u64, expected };
        let split = if self.at_end {
            encoded.split_last_chunk::<LENGTH>().map(|(rest, length)| (length, rest))
        } else {
            encoded.split_first_chunk::<LENGTH>()
        };
        let (length, rest) = split.ok_or_else(|| truncated(LENGTH as u64))?;
        let length = u64::from_le_bytes(*length);
        let len = usize::try_from(length).ok().filter(|&len| len <= rest.len());
        let len = len.ok_or_else(|| truncated(length.saturating_add(LENGTH as u64)))?;
        Ok(if self.at_end {
            let (data, index) = rest.split_at(rest.len() - len);
            (index, data)
        } else {
            rest.split_at(len)
        })
    }

    /// Returns the offset of each element and the end of the last one, and checks that the numbers never decrease.
    fn offsets(&self, encoded: &[u8], count: u64) -> Result<Vec<usize>, Error> {
        let shape = [count.saturating_add(1)];
        let mut scratch = Scratch::take();
        let mut index = chunk_view(&mut scratch, self.index.element(), &shape, &self.limits)?;
        self.index.decode(encoded, &shape, &Region::whole(&shape), &mut index)?;
        let bytes: &[u8] = index.as_contiguous().unwrap_or_default();
        let corrupt = |what: &str| Error::Corrupt { codec: NAME, what: what.to_owned() };
        let numbers: Option<Vec<usize>> = if self.wide {
            bytes.as_chunks().0.iter().map(|bytes| usize::try_from(u64::from_ne_bytes(*bytes)).ok()).collect()
        } else {
            bytes.as_chunks().0.iter().map(|bytes| usize::try_from(u32::from_ne_bytes(*bytes)).ok()).collect()
        };
        let numbers = numbers.ok_or_else(|| corrupt("an offset beyond the address space"))?;
        if numbers.is_sorted() { Ok(numbers) } else { Err(corrupt("offsets that fall")) }
    }
}

impl ArrayToBytes for Offsets {
    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let count = element_count(shape).unwrap_or(u64::MAX).saturating_add(1);
        self.index.check(&[count]).map_err(|error| error.under("/configuration/index_codecs"))?;
        self.data.check(&[1]).map_err(|error| error.under("/configuration/data_codecs"))
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let (index, data) = encoded.and_then(|bytes| self.parts(bytes).ok()).unzip();
        // Offsets that fall, or lead out of the elements, are noticed without a checksum too.
        self.index.protection(index).min(self.data.protection(data)).max(Protection::Form)
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let (mut offsets, mut elements) = (Scratch::empty(), Scratch::empty());
        let mut push = |end: usize| {
            if self.wide {
                offsets.extend_from_slice(&(end as u64).to_ne_bytes());
                return Ok(());
            }
            let what = || "elements of more than 4 GiB, beyond offsets of 32 bits".to_owned();
            let end = u32::try_from(end).map_err(|_| Error::Encode { codec: NAME, what: what() })?;
            offsets.extend_from_slice(&end.to_ne_bytes());
            Ok(())
        };
        push(0)?;
        read_variable(NAME, chunk, |bytes| {
            elements.extend_from_slice(bytes);
            push(elements.len())
        })?;
        let mut index = Scratch::empty();
        let item = self.index.element().item_size();
        self.index.encode(&View::new(&offsets, item, &[offsets.len() / item])?, &mut index)?;
        let length = (index.len() as u64).to_le_bytes();
        if !self.at_end {
            out.extend_from_slice(&length);
            out.extend_from_slice(&index);
        }
        if !elements.is_empty() {
            self.data.encode(&View::new(&elements, 1, &[elements.len()])?, out)?;
        }
        if self.at_end {
            out.extend_from_slice(&index);
            out.extend_from_slice(&length);
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: NAME, what };
        let (index, data) = self.parts(encoded)?;
        let offsets = self.offsets(index, element_count(shape).unwrap_or(u64::MAX))?;
        let size = offsets.last().map_or(0, |&end| end as u64);
        let mut scratch = Scratch::take();
        let mut elements = chunk_view(&mut scratch, self.data.element(), &[size], &self.limits)?;
        if size > 0 {
            self.data.decode(data, &[size], &Region::whole(&[size]), &mut elements)?;
        } else if !data.is_empty() {
            return Err(Error::TooLong { codec: NAME, found: data.len() as u64, expected: 0 });
        }
        let elements: &[u8] = elements.as_contiguous().unwrap_or_default();
        let mut positions = ElementOffsets::new(shape, region);
        write_variable(NAME, out, Vec::new(), |block| {
            let position = positions.next().and_then(|position| usize::try_from(position).ok());
            let range = position.and_then(|position| Some(*offsets.get(position)?..*offsets.get(position + 1)?));
            let element = range.and_then(|range| elements.get(range)).unwrap_or_default();
            if self.is_text {
                std::str::from_utf8(element).map_err(|error| corrupt(format!("a string is not UTF-8: {error}")))?;
            }
            block.extend_from_slice(element);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
