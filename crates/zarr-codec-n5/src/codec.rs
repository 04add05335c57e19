//! Codec `n5_default`.

use crate::header::{self, NAME};
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, InnerCodecs, IntoTypedCodecs, Pipeline,
    Protection, Scratch, Size, View, ViewMut, chunk_view,
};
use zarr_dtype::DataType;
use zarr_grid::{AxisRange, Region, element_count};
use zarr_json::{Map, Value};

/// Maximum size of a block, in bytes, that is larger than its chunk. The last block of an array may be a full block although the chunk ends
/// with the array, in a rectilinear grid.
const LARGE: u64 = 16 << 20;

/// Entry of the codec `n5_default` for the table of codecs.
pub const N5_DEFAULT: CodecEntry = CodecEntry::array_to_bytes("n5_default", |context| Ok(Arc::new(N5::new(context)?)))
    .example(
        r#"{"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}}]}"#,
    );

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[N5_DEFAULT];

/// Codec `n5_default`: blocks of N5.
#[derive(Clone, Debug, PartialEq)]
pub struct N5Default {
    codecs: InnerCodecs,
}

impl N5Default {
    /// Creates the codec for blocks encoded by `codecs`: `transpose` with all axes reversed, `bytes` (big-endian), and at most one
    /// compressor.
    pub fn of(codecs: impl IntoTypedCodecs) -> Self {
        Self { codecs: InnerCodecs::new(codecs) }
    }
}

impl CodecValue for N5Default {
    const ENTRY: CodecEntry = N5_DEFAULT;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self { codecs: InnerCodecs::from_config(context, "codecs")? })
    }

    fn to_config(&self) -> Map {
        Map::from([("codecs", self.codecs.to_value())])
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        self.codecs.entries().to_vec()
    }
}

/// Codec `n5_default` for the data type of an array.
#[derive(Debug)]
struct N5 {
    element: ElementSpec,
    /// Order of the transpose, which must reverse all axes.
    order: Value,
    /// Codecs for the bytes after the header.
    inner: Pipeline,
}

impl N5 {
    fn new(context: &BuildContext<'_>) -> Result<Self, Error> {
        let (config, element) = (context.config, context.element);
        let data_type = &element.data_type;
        if !matches!(
            data_type,
            DataType::Int8
                | DataType::Int16
                | DataType::Int32
                | DataType::Int64
                | DataType::UInt8
                | DataType::UInt16
                | DataType::UInt32
                | DataType::UInt64
                | DataType::Float32
                | DataType::Float64
        ) {
            let what = format!("elements of data type {data_type}, which N5 does not have");
            return Err(Error::Unsupported { codec: NAME, what });
        }
        let list = config.required("codecs")?;
        let order = match context.list("codecs")?.as_slice() {
            [transpose, bytes] | [transpose, bytes, _] if transpose.name == "transpose" && bytes.name == "bytes" => {
                if data_type.layout().has_byte_order() && bytes.configuration.get("endian") != Some(&Value::from("big"))
                {
                    let found = bytes.configuration.get("endian").cloned().unwrap_or_default();
                    return Err(config.unexpected("codecs/1/configuration/endian", "\"big\"", &found));
                }
                transpose.configuration.get("order").cloned().unwrap_or_default()
            }
            _ => return Err(config.unexpected("codecs", "transpose, bytes and at most one compressor", list)),
        };
        let inner = context.chain("codecs", element)?;
        Ok(Self { element: element.clone(), order, inner })
    }
}

impl ArrayToBytes for N5 {
    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let reversed: Vec<usize> = (0..shape.len()).rev().collect();
        if self.order != Value::from(reversed.clone()) {
            let what = format!("expected {reversed:?}, found {}", self.order.excerpt());
            return Err(Error::Metadata { pointer: "/configuration/codecs/0/configuration/order".to_owned(), what });
        }
        self.inner.check(shape).map_err(|error| error.under("/configuration/codecs"))
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        // A changed header is mostly noticed. The elements are behind it.
        let rank = self.order.as_array().map_or(0, <[Value]>::len);
        let body = encoded.and_then(|bytes| header::read(bytes, rank).ok()).map(|(_, body)| body);
        self.inner.protection(body)
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        // A block may be of another shape than the chunk.
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        header::write(chunk.shape(), out)?;
        self.inner.encode(chunk, out)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let (block, body) = header::read(encoded, shape.len())?;
        if block.as_slice() == shape {
            return self.inner.decode(body, shape, region, out);
        }
        let size = |shape: &[u64]| element_count(shape)?.checked_mul(self.element.item_size() as u64);
        let (found, limit) = (size(&block).unwrap_or(u64::MAX), size(shape).unwrap_or(0).max(LARGE));
        if found > limit {
            return Err(Error::Limit { what: "block", found, limit });
        }
        let mut scratch = Scratch::take();
        let mut whole = chunk_view(&mut scratch, &self.element, &block, self.inner.limits())?;
        self.inner.decode(body, &block, &Region::whole(&block), &mut whole)?;
        self.element.fill(out)?;
        // The part of the region in the block: the first positions along each axis.
        let counts = region.axes().iter().zip(&block).map(|(axis, &len)| {
            let count = len.saturating_sub(axis.start).div_ceil(axis.step.max(1)).min(axis.len);
            (AxisRange { start: axis.start, len: count, step: axis.step }, AxisRange::new(0, count))
        });
        let (from, to): (Vec<_>, Vec<_>) = counts.unzip();
        if from.iter().any(|axis| axis.len == 0) {
            return Ok(());
        }
        let overflow = |error: zarr_grid::Error| Error::Corrupt { codec: NAME, what: error.to_string() };
        let (from, to) = (Region::new(from).map_err(overflow)?, Region::new(to).map_err(overflow)?);
        out.reborrow().window(&to).copy_from(&whole.as_view().window(&from));
        Ok(())
    }
}
