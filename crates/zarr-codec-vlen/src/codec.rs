//! Codecs `vlen-utf8`, `vlen-bytes`, `vlen-array` and `zarrs.vlen_v2`.

use crate::elements::Elements;
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, CodecValue, ElementOffsets, Error, Protection, Size, View, ViewMut,
    place_variable, read_variable, write_variable,
};
use zarr_dtype::{ByteOrder, DataType, Layout, from_npy_value, npy_descr};
use zarr_grid::{Region, element_count};
use zarr_json::{Map, Value};

/// Entry of the codec `vlen-utf8` for the table of codecs.
pub const VLEN_UTF8: CodecEntry =
    CodecEntry::array_to_bytes("vlen-utf8", |context| build(context, "vlen-utf8", &DataType::String, Content::Text))
        .id("vlen-utf8")
        .aliases(&["numcodecs.vlen-utf8"]);

/// Entry of the codec `vlen-bytes` for the table of codecs.
pub const VLEN_BYTES: CodecEntry = CodecEntry::array_to_bytes("vlen-bytes", |context| {
    build(context, "vlen-bytes", &DataType::Bytes { name: Default::default() }, Content::Bytes)
})
.id("vlen-bytes")
.aliases(&["numcodecs.vlen-bytes"]);

/// Entry of the codec `zarrs.vlen_v2`, an experiment of the crate zarrs, for the table of codecs: the format of `vlen-utf8` or
/// `vlen-bytes`, depending on the data type.
pub const ZARRS_VLEN_V2: CodecEntry = CodecEntry::array_to_bytes("zarrs.vlen_v2", |context| {
    let name = "zarrs.vlen_v2";
    match &context.element.data_type {
        DataType::String => build(context, name, &DataType::String, Content::Text),
        _ => build(context, name, &DataType::Bytes { name: Default::default() }, Content::Bytes),
    }
})
.aliases(&["https://codec.zarrs.dev/array_to_bytes/vlen_v2"]);

/// Entry of the codec `vlen-array` for the table of codecs.
pub const VLEN_ARRAY: CodecEntry =
    CodecEntry::array_to_bytes("numcodecs.vlen-array", |context| VlenArray::from_config(context)?.bind(context))
        .id("vlen-array")
        .only_read(&["vlen-array"])
        .arguments(&[("dtype", None)])
        .example(r#"{"dtype": "<f8"}"#);

fn build(
    context: &BuildContext<'_>,
    name: &'static str,
    expected: &DataType,
    content: Content,
) -> Result<Arc<dyn ArrayToBytes>, Error> {
    let found = &context.element.data_type;
    // A type may go by several names.
    if std::mem::discriminant(found) != std::mem::discriminant(expected) {
        let what = format!("elements of data type {found}, expected {expected}");
        return Err(Error::Unsupported { codec: name, what });
    }
    Ok(Arc::new(Vlen { name, content }))
}

/// Defines a codec without a configuration.
macro_rules! plain {
    ($codec:ident, $entry:ident, $what:literal) => {
        #[doc = $what]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $codec;

        impl CodecValue for $codec {
            const ENTRY: CodecEntry = $entry;

            fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
                Ok(Self)
            }
        }
    };
}

plain!(VlenUtf8, VLEN_UTF8, "Codec `vlen-utf8`: texts, each behind its length.");
plain!(VlenBytes, VLEN_BYTES, "Codec `vlen-bytes`: byte strings, each behind its length.");
plain!(ZarrsVlenV2, ZARRS_VLEN_V2, "Codec `zarrs.vlen_v2`: texts or byte strings, each behind its length.");

/// Codec `vlen-array`: lists of numbers, each after its length in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct VlenArray {
    /// Type of inner elements, as numpy names it.
    dtype: Value,
    inner: DataType,
    order: ByteOrder,
}

impl VlenArray {
    /// Creates the codec for lists of inner elements of type `inner`, stored little-endian.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that numpy lacks.
    pub fn of(inner: &DataType) -> Result<Self, Error> {
        let dtype = Value::from(npy_descr(inner).unwrap_or_else(|| inner.to_string()));
        Self::parse(&dtype).map_err(|what| VLEN_ARRAY.argument("dtype", &what))
    }

    fn parse(dtype: &Value) -> Result<Self, String> {
        let (inner, order) = from_npy_value(dtype).map_err(|error| error.to_string())?;
        Ok(Self { dtype: dtype.clone(), inner, order })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToBytes>, Error> {
        let name = "vlen-array";
        let (inner, order) = (self.inner, self.order);
        match &context.element.data_type {
            // The names that `V` goes by differ between the formats.
            DataType::VlenArray(found) if found.layout() == inner.layout() => {
                let content = Content::List { layout: inner.layout(), order };
                Ok(Arc::new(Vlen { name, content }))
            }
            DataType::VlenArray(found) => {
                let what = format!("inner elements of type {inner}, but the array has {found}");
                Err(context.config.error("dtype", what))
            }
            found => {
                let what = format!("elements of data type {found}, expected vlen-array");
                Err(Error::Unsupported { codec: name, what })
            }
        }
    }
}

impl CodecValue for VlenArray {
    const ENTRY: CodecEntry = VLEN_ARRAY;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Self::parse(context.config.required("dtype")?).map_err(|what| context.config.error("dtype", what))
    }

    fn to_config(&self) -> Map {
        Map::from([("dtype", self.dtype.clone())])
    }
}

/// Codec with elements of variable length, for the data type of an array.
#[derive(Debug)]
struct Vlen {
    name: &'static str,
    content: Content,
}

/// Content of elements.
#[derive(Debug)]
enum Content {
    Text,
    Bytes,
    /// Inner elements of fixed size, stored in a byte order.
    List {
        layout: Layout,
        order: ByteOrder,
    },
}

impl Content {
    /// Checks that `bytes` are the content of an element. An error says what is wrong with `bytes`.
    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Text => {
                std::str::from_utf8(bytes).map(drop).map_err(|error| format!("a string is not UTF-8: {error}"))
            }
            Self::Bytes => Ok(()),
            Self::List { layout, .. } if bytes.len().is_multiple_of(layout.item_size().max(1)) => Ok(()),
            Self::List { layout, .. } => {
                Err(format!("{} bytes, expected a multiple of {}", bytes.len(), layout.item_size()))
            }
        }
    }

    /// Converts a stored element to its form in memory.
    fn normalize(&self, element: &mut [u8]) -> Result<(), String> {
        let Self::List { layout, order } = self else { return Ok(()) };
        layout.swap(order, element);
        layout.normalize(element).map_err(|error| error.to_string())
    }

    /// Appends the stored form of an element in memory.
    fn store(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let start = out.len();
        out.extend_from_slice(element);
        let Self::List { layout, order } = self else { return Ok(()) };
        layout.check(element).map_err(|error| error.to_string())?;
        layout.swap(order, out.get_mut(start..).unwrap_or_default());
        Ok(())
    }
}

impl ArrayToBytes for Vlen {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: String| Error::Encode { codec: self.name, what };
        let count = u32::try_from(chunk.len());
        let count = count.map_err(|_| failed(format!("{} elements, the format takes {}", chunk.len(), u32::MAX)))?;
        let mut size = size_of::<u32>();
        read_variable(self.name, chunk, |bytes| {
            size = size.saturating_add(bytes.len()).saturating_add(size_of::<u32>());
            Ok(())
        })?;
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        out.extend_from_slice(&count.to_le_bytes());
        read_variable(self.name, chunk, |bytes| {
            // References have lengths of 32 bits.
            out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            self.content.check(bytes).and_then(|()| self.content.store(bytes, out)).map_err(failed)
        })
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: self.name, what };
        let mut elements = Elements::new(self.name, encoded, element_count(shape).unwrap_or(u64::MAX))?;
        let mut block = Vec::new();
        if region.is_whole(shape) {
            // Never more than is there to be copied.
            block.try_reserve_exact(encoded.len()).map_err(|_| Error::Allocation { size: encoded.len() as u64 })?;
            if !matches!(self.content, Content::List { .. }) {
                block.extend_from_slice(encoded);
                return self.decode_in_place(elements, block, out);
            }
        }
        let mut offsets = ElementOffsets::new(shape, region);
        write_variable(self.name, out, block, |block| {
            let Some(index) = offsets.next() else { return Ok(()) };
            let bytes = elements.at(index)?;
            self.content.check(bytes).map_err(corrupt)?;
            let start = block.len();
            block.extend_from_slice(bytes);
            self.content.normalize(block.get_mut(start..).unwrap_or_default()).map_err(corrupt)
        })?;
        elements.finish()
    }
}

impl Vlen {
    /// Decodes a whole chunk, whose bytes, including lengths, become a block of the heap as they are.
    fn decode_in_place(&self, mut elements: Elements<'_>, block: Vec<u8>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        // Texts that are ASCII as a whole need not be looked at one by one.
        let is_checked = matches!(self.content, Content::Text) && elements.rest().is_ascii();
        place_variable(self.name, out, block, || {
            let start = elements.read() + size_of::<u32>();
            let bytes = elements.element()?;
            if !is_checked {
                self.content.check(bytes).map_err(|what| Error::Corrupt { codec: self.name, what })?;
            }
            // As long as a number of 32 bits said.
            Ok((start, bytes.len() as u32))
        })?;
        elements.finish()
    }
}
