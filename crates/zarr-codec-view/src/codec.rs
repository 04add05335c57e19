//! Codec `array_view`.

use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, ElementSpec, Error, InnerCodecs, IntoTypedCodecs, Pipeline,
    Scratch, Sink, Size, ViewMut, chunk_view, slice_methods,
};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Region;
use zarr_json::{Map, NamedConfig};

const NAME: &str = "array_view";

/// Entry of the codec `array_view` for the table of codecs.
pub const ARRAY_VIEW: CodecEntry =
    CodecEntry::bytes_to_bytes("array_view", |context| Ok(Arc::new(ArrayView::from_config(context)?)));

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[ARRAY_VIEW];

/// Codec `array_view`: bytes viewed as a one-dimensional array, which codecs of arrays encode.
#[derive(Clone, Debug)]
pub struct ArrayView {
    element: ElementSpec,
    /// Codecs that decode the unencoded bytes to elements.
    plain: Arc<Pipeline>,
    /// Codecs that encode the elements to the encoded bytes.
    encoded: Arc<Pipeline>,
    bytes_codecs: InnerCodecs,
    codecs: InnerCodecs,
}

impl PartialEq for ArrayView {
    fn eq(&self, other: &Self) -> bool {
        self.to_config() == other.to_config()
    }
}

impl ArrayView {
    /// Creates the codec: `bytes_codecs` decode the bytes to elements of `data_type`, and `codecs` encode the elements.
    ///
    /// # Errors
    /// [`Error::Argument`] if elements of `data_type` have no fixed size, or `bytes_codecs` do not store them in that size;
    /// [`Error::Unsupported`] for elements that a codec does not support.
    pub fn of(
        data_type: &DataType,
        bytes_codecs: impl IntoTypedCodecs,
        codecs: impl IntoTypedCodecs,
    ) -> Result<Self, Error> {
        let (bytes_codecs, codecs) = (InnerCodecs::new(bytes_codecs), InnerCodecs::new(codecs));
        let entries = [bytes_codecs.entries(), codecs.entries()].concat();
        let codec = Self::from_members(&members(data_type, &bytes_codecs, &codecs), &entries)?;
        Ok(Self { bytes_codecs, codecs, ..codec })
    }
}

fn members(data_type: &DataType, bytes_codecs: &InnerCodecs, codecs: &InnerCodecs) -> Map {
    let data_type = data_type.to_config().short_value();
    Map::from([("data_type", data_type), ("bytes_codecs", bytes_codecs.to_value()), ("codecs", codecs.to_value())])
}

impl CodecValue for ArrayView {
    const ENTRY: CodecEntry = ARRAY_VIEW;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let named = config.required("data_type")?;
        let data_type = NamedConfig::from_value(named).and_then(|named| DataType::from_config(&named).ok());
        let data_type = data_type.filter(|data_type| !data_type.is_variable() && data_type.item_size() > 0);
        let expected = "a data type whose elements have a size";
        let data_type = data_type.ok_or_else(|| config.unexpected("data_type", expected, named))?;
        let element = ElementSpec::new(data_type.clone(), FillValue::zero(&data_type));
        let view = Self {
            plain: Arc::new(context.chain("bytes_codecs", &element)?),
            encoded: Arc::new(context.chain("codecs", &element)?),
            element,
            bytes_codecs: InnerCodecs::from_config(context, "bytes_codecs")?,
            codecs: InnerCodecs::from_config(context, "codecs")?,
        };
        // Bytes are divided into elements before anything is decoded.
        if view.plain.encoded_size(&[1]) != Size::Exact(view.item()) {
            let what = format!("expected codecs that store each element of {data_type} in {} bytes", view.item());
            return Err(config.error("bytes_codecs", what));
        }
        Ok(view)
    }

    fn to_config(&self) -> Map {
        members(&self.element.data_type, &self.bytes_codecs, &self.codecs)
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        [self.bytes_codecs.entries(), self.codecs.entries()].concat()
    }
}

slice_methods!(ArrayView);

impl ArrayView {
    fn item(&self) -> u64 {
        self.element.item_size() as u64
    }

    /// Decodes `count` elements by the codecs `from`, and encodes them by the codecs `to`.
    fn recode(&self, count: u64, from: &Pipeline, bytes: &[u8], to: &Pipeline, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut scratch = Scratch::take();
        let mut elements: ViewMut<'_> = chunk_view(&mut scratch, &self.element, &[count], from.limits())?;
        from.decode(bytes, &[count], &Region::whole(&[count]), &mut elements)?;
        to.encode(&elements.as_view(), out)
    }

    /// Returns the number of elements in `bytes` bytes, or `None` if `bytes` is not a multiple of the size of an element.
    fn count(&self, bytes: u64) -> Option<u64> {
        bytes.is_multiple_of(self.item()).then(|| bytes / self.item())
    }
}

fn unknown_count() -> Error {
    let what = "after a codec whose output has no fixed size, its codecs must determine the number of elements";
    Error::Unsupported { codec: NAME, what: what.to_owned() }
}

impl BytesToBytes for ArrayView {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, decoded: Size) -> Result<(), Error> {
        let count = match decoded {
            Size::Exact(size) => self.count(size).ok_or_else(|| Error::Metadata {
                pointer: String::new(),
                what: format!("{size} bytes, expected an array of {}", self.element.data_type),
            })?,
            // Nothing else would tell when it is read.
            Size::AtMost(_) | Size::Unknown if !self.encoded.tells_count() => return Err(unknown_count()),
            Size::AtMost(_) | Size::Unknown => return Ok(()),
        };
        self.encoded.check(&[count]).map_err(|error| error.under("/configuration/codecs"))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        match decoded {
            Size::Exact(size) => self.count(size).map_or(Size::Unknown, |count| self.encoded.encoded_size(&[count])),
            Size::AtMost(_) | Size::Unknown => Size::Unknown,
        }
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let count = self.count(bytes.len() as u64).ok_or_else(|| Error::Encode {
            codec: NAME,
            what: format!("{} bytes, expected an array of {}", bytes.len(), self.element.data_type),
        })?;
        self.recode(count, &self.plain, bytes, &self.encoded, out)
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let count = match out.expected() {
            Some(size) => self.count(size as u64).ok_or_else(|| Error::Corrupt {
                codec: NAME,
                what: format!("decodes to {size} bytes, expected an array of {}", self.element.data_type),
            })?,
            None if !self.encoded.tells_count() => return Err(unknown_count()),
            None => self.encoded.decoded_count(bytes).ok_or_else(|| Error::Corrupt {
                codec: NAME,
                what: format!("{} bytes, expected an encoded array of {}", bytes.len(), self.element.data_type),
            })?,
        };
        let mut plain = Scratch::empty();
        self.recode(count, &self.encoded, bytes, &self.plain, &mut plain)?;
        out.extend(&plain)
    }
}
