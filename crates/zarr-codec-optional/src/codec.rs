//! Codec `optional`.

use crate::data_type::value_type;
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, InnerCodecs, IntoTypedCodecs, Pipeline,
    Protection, Scratch, Size, View, ViewMut, chunk_view,
};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Region;
use zarr_json::Map;

const NAME: &str = "optional";

/// Number of bytes of the two lengths in front.
const HEADER: usize = 16;

/// Entry of the codec `optional` for the table of codecs.
pub const OPTIONAL: CodecEntry = CodecEntry::array_to_bytes("optional", |context| Ok(Arc::new(Bound::new(context)?))).aliases(&["zarrs.optional"]).example(r#"{"mask_codecs": [{"name": "packbits"}], "data_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[OPTIONAL];

/// Codec `optional`: a mask of the present elements, and their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Optional {
    mask: InnerCodecs,
    data: InnerCodecs,
}

impl Optional {
    /// Creates the codec. `mask` encodes bools in the shape of the chunk, `data` the present values as a list.
    pub fn of(mask: impl IntoTypedCodecs, data: impl IntoTypedCodecs) -> Self {
        Self { mask: InnerCodecs::new(mask), data: InnerCodecs::new(data) }
    }
}

impl CodecValue for Optional {
    const ENTRY: CodecEntry = OPTIONAL;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self {
            mask: InnerCodecs::from_config(context, "mask_codecs")?,
            data: InnerCodecs::from_config(context, "data_codecs")?,
        })
    }

    fn to_config(&self) -> Map {
        Map::from([("mask_codecs", self.mask.to_value()), ("data_codecs", self.data.to_value())])
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        [self.mask.entries(), self.data.entries()].concat()
    }
}

/// Codec for the data type of an array.
#[derive(Debug)]
struct Bound {
    element: ElementSpec,
    mask: Pipeline,
    data: Pipeline,
}

impl Bound {
    fn new(context: &BuildContext<'_>) -> Result<Self, Error> {
        let element = context.element;
        let Some(value) = value_type(&element.data_type) else {
            let what = format!("elements of data type {}, expected optional", element.data_type);
            return Err(Error::Unsupported { codec: NAME, what });
        };
        let zero = |data_type: &DataType| ElementSpec::new(data_type.clone(), FillValue::zero(data_type));
        Ok(Self {
            element: element.clone(),
            mask: context.chain("mask_codecs", &zero(&DataType::Bool))?,
            data: context.chain("data_codecs", &zero(value))?,
        })
    }
}

impl ArrayToBytes for Bound {
    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let (mask, data) = encoded.and_then(|bytes| parts(bytes).ok()).unzip();
        // Of other values than the mask counts, the number is noticed without a checksum too.
        self.mask.protection(mask).min(self.data.protection(data)).max(Protection::Form)
    }

    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        self.mask.check(shape).map_err(|error| error.under("/configuration/mask_codecs"))?;
        self.data.check(&[1]).map_err(|error| error.under("/configuration/data_codecs"))
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut items = Scratch::empty();
        chunk.append_to(&mut items)?;
        let (mut mask, mut data) = (Scratch::empty(), Scratch::empty());
        for item in items.chunks_exact(chunk.item_size()) {
            let (present, value) = item.split_first().unwrap_or((&0, &[]));
            mask.push(*present);
            if *present != 0 {
                data.extend_from_slice(value);
            }
        }
        let start = out.len();
        out.extend_from_slice(&[0; HEADER]);
        self.mask.encode(&View::new(&mask, 1, chunk.shape())?, out)?;
        let middle = out.len();
        if !data.is_empty() {
            let size = self.data.element().item_size();
            self.data.encode(&View::new(&data, size, &[data.len() / size])?, out)?;
        }
        let lengths = [middle - start - HEADER, out.len() - middle].map(|len| (len as u64).to_le_bytes());
        if let Some(header) = out.get_mut(start..start + HEADER) {
            header.copy_from_slice(&lengths.concat());
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let (mask_bytes, data_bytes) = parts(encoded)?;
        let mut scratch = Scratch::take();
        let mut mask = chunk_view(&mut scratch, self.mask.element(), shape, self.mask.limits())?;
        self.mask.decode(mask_bytes, shape, &Region::whole(shape), &mut mask)?;
        let mask = mask.as_contiguous().unwrap_or_default();
        let count = mask.iter().filter(|&&present| present != 0).count() as u64;
        let mut scratch = Scratch::take();
        let mut data = chunk_view(&mut scratch, self.data.element(), &[count], self.data.limits())?;
        if count > 0 {
            self.data.decode(data_bytes, &[count], &Region::whole(&[count]), &mut data)?;
        } else if !data_bytes.is_empty() {
            return Err(Error::TooLong { codec: NAME, found: data_bytes.len() as u64, expected: 0 });
        }
        let size = self.data.element().item_size();
        let mut values = data.as_contiguous().unwrap_or_default().chunks_exact(size);
        let mut scratch = Scratch::take();
        let mut chunk = chunk_view(&mut scratch, &self.element, shape, self.data.limits())?;
        let mut present = mask.iter();
        chunk.all_mut(|item| {
            item.fill(0);
            if present.next().is_some_and(|&present| present != 0)
                && let (Some((first, rest)), Some(value)) = (item.split_first_mut(), values.next())
            {
                *first = 1;
                rest.copy_from_slice(value);
            }
            true
        });
        out.copy_from(&chunk.as_view().window(region));
        Ok(())
    }
}

/// Returns the encoded mask and the encoded values.
fn parts(encoded: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let found = encoded.len() as u64;
    let truncated = |expected: u64| Error::Truncated { codec: NAME, found, expected };
    let (header, body) = encoded.split_at_checked(HEADER).ok_or_else(|| truncated(HEADER as u64))?;
    let lengths = header.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect::<Vec<_>>();
    let (mask, data) = (lengths.first().copied().unwrap_or_default(), lengths.get(1).copied().unwrap_or_default());
    let expected = mask.saturating_add(data).saturating_add(HEADER as u64);
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(truncated(expected)),
        std::cmp::Ordering::Greater => Err(Error::TooLong { codec: NAME, found, expected }),
        std::cmp::Ordering::Equal => Ok(body.split_at(usize::try_from(mask).unwrap_or(body.len()))),
    }
}
