//! Decoding as a codec: it lies in front of the codecs of an array, so that chunks are decoded to values where they are read, and
//! every way to read an array reads values.
//!
//! The codec exists in memory only. Its configuration has the stored data type and fill value and the [`Encoding`].

use crate::decoder::Decoder;
use crate::encoding::Encoding;
use std::sync::Arc;
use zarr_cf::time::TimeKind;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Codecs, ElementSpec, Error, View, ViewMut};
use zarr_dtype::{DataType, FillValue, Spelling};
use zarr_grid::Shape;
use zarr_json::{Map, NamedConfig, Value};

/// The codec.
pub(crate) const CF: CodecEntry = CodecEntry::array_to_array(NAME, build);

const NAME: &str = "zarr-dataset.cf";

/// Whether a table has it.
pub(crate) fn is_in(codecs: &Codecs) -> bool {
    codecs.get(NAME).is_some()
}

/// The configuration for elements of `stored` with the fill value `fill`.
pub(crate) fn config(stored: &DataType, fill: &FillValue, encoding: &Encoding, kind: TimeKind) -> NamedConfig {
    let mut configuration = Map::new();
    configuration.insert("data_type", stored.to_config().to_value());
    configuration.insert("fill_value", fill.to_json(stored));
    configuration.insert("encoding", encoding.to_map());
    configuration.insert("times", kind_name(kind));
    NamedConfig { configuration, ..NamedConfig::new(NAME) }
}

const KINDS: [TimeKind; 3] = [TimeKind::Nanoseconds, TimeKind::NanosecondsOfDates, TimeKind::Calendar];

fn kind_name(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Calendar => "dates",
        TimeKind::NanosecondsOfDates => "nanoseconds of dates",
        _ => "nanoseconds",
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let config = context.config;
    let metadata = |what: String| Error::Metadata { pointer: String::new(), what };
    let stored = NamedConfig::from_value(config.required("data_type")?);
    let stored = stored.ok_or_else(|| metadata("data_type has no name".to_owned()))?;
    let stored = DataType::from_config(&stored).map_err(|error| metadata(error.to_string()))?;
    let fill = FillValue::parse_as(&stored, config.required("fill_value")?, Spelling::Lenient)
        .map_err(|error| metadata(error.to_string()))?;
    let encoding = config.required("encoding")?.as_object().and_then(Encoding::from_map);
    let encoding = encoding.ok_or_else(|| metadata("the encoding is incomplete".to_owned()))?;
    let kinds = KINDS.map(|kind| (kind_name(kind), kind));
    let kind = config.one_of("times", &kinds)?.unwrap_or(TimeKind::Nanoseconds);
    let decoder = Decoder::new(&stored, &encoding, kind).map_err(|error| metadata(error.to_string()))?;
    let encoded = context.element.encoded(stored, fill);
    Ok(Arc::new(Cf { encoded, decoder }))
}

#[derive(Debug)]
struct Cf {
    encoded: ElementSpec,
    decoder: Decoder,
}

impl ArrayToArray for Cf {
    fn encoded(&self) -> &ElementSpec {
        &self.encoded
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        Ok(Shape::from_slice(shape))
    }

    fn encode(&self, _: &View<'_>, _: &mut ViewMut<'_>) -> Result<(), Error> {
        Err(Error::Unsupported { codec: NAME, what: "encoding: decoded arrays are to be read".to_owned() })
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        chunk.transform_into(out, |stored, decoded| {
            self.decoder.decode(stored, decoded).map_err(|what| Error::Corrupt { codec: NAME, what })
        })
    }
}

/// Inserts the codec in front of `codecs`: within shards, so that inner chunks are decoded one by one, unless another codec than a
/// transposition lies in front of them.
pub(crate) fn insert(codecs: &mut Vec<NamedConfig>, cf: NamedConfig) {
    let inner = codecs.iter_mut().find(|codec| codec.name != "transpose");
    let inner = inner.filter(|codec| codec.name == "sharding_indexed");
    let inner = inner.and_then(|shard| shard.configuration.get_mut("codecs"));
    if let Some(Value::Array(list)) = inner {
        let parsed: Option<Vec<NamedConfig>> = list.iter().map(NamedConfig::from_value).collect();
        if let Some(mut parsed) = parsed {
            insert(&mut parsed, cf);
            *list = parsed.iter().map(NamedConfig::to_value).collect();
            return;
        }
    }
    codecs.insert(0, cf);
}
