//! Chain of codecs in the model for filters and a compressor of numcodecs.
//!
//! The type of an array of version 2 with dtype `|O` depends on its codecs: `string`, `bytes`, `vlen-array` of a fixed type (numpy's ragged
//! arrays), or `v2_object`, JSON values of any kind. In Rust these are `String`, `Vec<u8>`, `Vec<f64>` and so on, and JSON values.

use super::form;
use crate::codec_facts::{FilterTypes, codec_of_id};
use crate::dialect::codecs::{self, Kind};
use crate::dialect::typestr;
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, Class, DataType, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

/// Place where a dialect gives the byte order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Orders {
    /// Byte order in each type: a filter with another byte order than the elements takes their bytes for other numbers.
    OfTypes,
    /// One byte order for all elements of the array, given by a codec.
    One,
}

/// Input of the next codec.
enum Arriving {
    /// Array of elements with a type and a byte order.
    Elements(NumpyType, ByteOrder),
    Bytes,
}

/// Chain of codecs under construction.
pub(super) struct Chain {
    data_type: NamedConfig,
    codecs: Vec<NamedConfig>,
    arriving: Arriving,
    /// Whether a codec has turned the array into bytes; a later array codec then needs a view of the bytes.
    is_bytes: bool,
    /// Size of the elements of the array in bytes.
    item_size: u64,
    orders: Orders,
}

impl Chain {
    /// Creates an empty chain for elements of `dtype`.
    pub(super) fn new(dtype: &NumpyType, endian: &ByteOrder, orders: Orders) -> Self {
        Self {
            data_type: dtype.to_config(),
            codecs: Vec::new(),
            arriving: Arriving::Elements(dtype.clone(), endian.clone()),
            is_bytes: false,
            item_size: dtype.size().unwrap_or(1),
            orders,
        }
    }

    /// Adds the codecs `stored`, and returns the data type and the chain. The first `of_arrays` codecs are array codecs if they are
    /// unknown.
    pub(super) fn through(mut self, stored: &[At<'_>], of_arrays: usize) -> Result<(NamedConfig, Vec<NamedConfig>)> {
        for (index, at) in stored.iter().enumerate() {
            let id = at.member("id")?.text()?;
            match codecs::numcodecs_kind(id) {
                kind if self.is_object() => self.object(at, id, kind)?,
                None if index < of_arrays => self.array_to_array(at, id)?,
                Some(Kind::ArrayToArray) => self.array_to_array(at, id)?,
                Some(Kind::ArrayToBytes) => self.array_to_bytes(at, id)?,
                Some(Kind::BytesToBytes) | None => self.bytes_to_bytes(at, id)?,
            }
        }
        if self.is_object() {
            return Err(no_object_codec("/filters"));
        }
        self.turn_into_bytes();
        Ok((self.data_type, self.codecs))
    }

    fn is_object(&self) -> bool {
        matches!(self.arriving, Arriving::Elements(NumpyType::Object, _))
    }

    /// Adds the codec of objects, which determines the data type.
    fn object(&mut self, at: &At<'_>, id: &str, kind: Option<Kind>) -> Result<()> {
        let object_type = codec_of_id(id).and_then(|codec| codec.object_type);
        match (object_type, kind) {
            (Some("vlen-array"), _) => self.data_type = ragged(at)?,
            (Some(name), _) => self.data_type = NamedConfig::new(name),
            // It may well be an object codec, of somebody else.
            (None, None) => {}
            (None, Some(_)) => return Err(no_object_codec(&at.pointer())),
        }
        self.codecs.push(form::of_model(at, id, 1, self.item_size)?);
        self.is_bytes = true;
        self.arriving = match (id, at.get_non_null("astype")) {
            ("categorize", Some(astype)) => {
                let (dtype, endian) = typestr::parse(&astype)?;
                Arriving::Elements(dtype, endian)
            }
            _ => Arriving::Bytes,
        };
        Ok(())
    }

    fn array_to_array(&mut self, at: &At<'_>, id: &str) -> Result<()> {
        let (dtype, endian) = match (decoded_type(id, at)?, &self.arriving) {
            (Some((NumpyType::Object, _)), _) => return Err(at.invalid("a data type other than objects").into()),
            (Some(own), _) => own,
            (None, Arriving::Elements(dtype, endian)) => (dtype.clone(), endian.clone()),
            (None, Arriving::Bytes) => {
                return Err(Error::about(at, ErrorKind::UnknownExtension, "codecs of arrays before codecs of bytes"));
            }
        };
        let codec = form::of_model(at, id, 1, self.item_size)?;
        let after = encoded_type(id, at, &dtype, &endian)?;
        if !self.is_bytes && self.comes_as(&dtype, &endian) {
            self.codecs.push(codec);
        } else {
            self.turn_into_bytes();
            self.codecs.push(view(&dtype, &endian, vec![codec, typestr::bytes_codec(&after.0, &after.1)]));
        }
        self.arriving = Arriving::Elements(after.0, after.1);
        Ok(())
    }

    fn array_to_bytes(&mut self, at: &At<'_>, id: &str) -> Result<()> {
        let (dtype, endian) = match &self.arriving {
            // numcodecs takes times for integers of the machine's byte order there, whatever theirs is.
            Arriving::Elements(NumpyType::Time { .. }, ByteOrder::Big)
                if matches!(id, "pcodec" | "zfpy") && self.orders == Orders::OfTypes =>
            {
                self.turn_into_bytes();
                (NumpyType::Number(DataType::Int64), ByteOrder::Little)
            }
            Arriving::Elements(dtype, endian) => (dtype.clone(), endian.clone()),
            Arriving::Bytes => (NumpyType::Number(DataType::UInt8), ByteOrder::Irrelevant),
        };
        let codec = form::of_model(at, id, 1, self.item_size)?;
        self.codecs.push(if self.is_bytes { view(&dtype, &endian, vec![codec]) } else { codec });
        self.is_bytes = true;
        self.arriving = Arriving::Bytes;
        Ok(())
    }

    fn bytes_to_bytes(&mut self, at: &At<'_>, id: &str) -> Result<()> {
        let typesize = match &self.arriving {
            Arriving::Elements(dtype, _) => dtype.size().unwrap_or(1),
            Arriving::Bytes => 1,
        };
        self.turn_into_bytes();
        self.codecs.push(form::of_model(at, id, typesize, self.item_size)?);
        self.arriving = Arriving::Bytes;
        Ok(())
    }

    /// Adds the codec `bytes` if the array is not bytes yet.
    fn turn_into_bytes(&mut self) {
        if let (Arriving::Elements(dtype, endian), false) = (&self.arriving, self.is_bytes) {
            self.codecs.push(typestr::bytes_codec(dtype, endian));
        }
        self.is_bytes = true;
    }

    /// Returns whether the incoming elements have the memory layout of `dtype`, so that no view of bytes is needed.
    fn comes_as(&self, dtype: &NumpyType, endian: &ByteOrder) -> bool {
        let Arriving::Elements(coming, order) = &self.arriving else { return false };
        let is_same = match (coming, dtype) {
            (a, b) if a == b => true,
            // Whose bytes have to be looked at: there are others than 0 and 1.
            (_, NumpyType::Number(number)) if number.class() == Some(Class::Bool) => false,
            (a, b) if a.size() == Some(1) && b.size() == Some(1) => true,
            (a, b) => is_one_number(a) && is_one_number(b) && a.size() == b.size(),
        };
        is_same && (self.orders == Orders::One || endian.uniform() == order.uniform())
    }
}

/// Returns whether each element is a single number, so that a byte order only concerns the order of all bytes of the element.
fn is_one_number(dtype: &NumpyType) -> bool {
    match dtype {
        NumpyType::Number(number) => number.class() != Some(Class::Complex),
        NumpyType::Time { .. } => true,
        _ => false,
    }
}

/// Returns the codec that takes bytes for elements of a type, and encodes these elements by `codecs`.
fn view(dtype: &NumpyType, endian: &ByteOrder, codecs: Vec<NamedConfig>) -> NamedConfig {
    let list = |codecs: &[NamedConfig]| Value::Array(codecs.iter().map(NamedConfig::to_value).collect());
    let members = [
        ("data_type".to_owned(), dtype.to_config().short_value()),
        ("bytes_codecs".to_owned(), list(&[typestr::bytes_codec(dtype, endian)])),
        ("codecs".to_owned(), list(&codecs)),
    ];
    NamedConfig::with(codecs::VIEW, members.into_iter().collect())
}

fn no_object_codec(pointer: &str) -> Error {
    let expected = "a codec of objects as the first filter, such as vlen-utf8";
    Error::new(ErrorKind::InvalidMetadata, pointer, "none, for dtype \"|O\"", expected)
}

fn ragged(at: &At<'_>) -> Result<NamedConfig> {
    let (item, _) = typestr::parse(&at.member("dtype")?)?;
    let data_type = item.to_config().short_value();
    Ok(NamedConfig::with("vlen-array", [("data_type".to_owned(), data_type)].into_iter().collect()))
}

fn filter_types(id: &str) -> FilterTypes {
    codec_of_id(id).map_or(FilterTypes::Same, |codec| codec.types)
}

/// Returns the type that an array-to-array codec decodes to, if the codec names one; else the type of its input holds.
fn decoded_type(id: &str, at: &At<'_>) -> Result<Option<(NumpyType, ByteOrder)>> {
    match filter_types(id) {
        FilterTypes::Same => Ok(None),
        FilterTypes::Named(members) => at.get_non_null(members.decoded).map(|own| typestr::parse(&own)).transpose(),
        FilterTypes::Packed => Ok(Some((NumpyType::Number(DataType::Bool), ByteOrder::Irrelevant))),
    }
}

/// Returns the type and byte order of the elements that an array-to-array codec encodes to.
pub(super) fn encoded_type(
    id: &str,
    at: &At<'_>,
    dtype: &NumpyType,
    endian: &ByteOrder,
) -> Result<(NumpyType, ByteOrder)> {
    let member = match filter_types(id) {
        FilterTypes::Same => None,
        FilterTypes::Named(members) => at.get_non_null(members.encoded).or_else(|| at.get_non_null(members.decoded)),
        FilterTypes::Packed => return Ok((NumpyType::Number(DataType::UInt8), ByteOrder::Irrelevant)),
    };
    member.map_or_else(|| Ok((dtype.clone(), endian.clone())), |member| typestr::parse(&member))
}
