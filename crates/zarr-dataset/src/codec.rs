//! CF decoding as a codec in front of the codecs of an array, so that every way to read an array decodes its chunks to
//! values.
//!
//! The codec exists in memory only. Instead of a configuration it has a [`Decoding`], which is in the table of codecs of its array.

use crate::decoder::Decoder;
use std::sync::Arc;
use zarr_array::Registry;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Codecs, ElementSpec, Error, View, ViewMut};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Shape;
use zarr_json::{NamedConfig, Value};

/// Entry of the codec that decodes by the CF conventions.
pub(crate) const CF: CodecEntry = CodecEntry::array_to_array(NAME, build);

const NAME: &str = "zarr-dataset.cf";

/// Whether the table `codecs` has the CF codec.
pub(crate) fn is_in(codecs: &Codecs) -> bool {
    codecs.get(NAME).is_some()
}

/// Data type and fill value of stored elements, and the decoder of elements to values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decoding {
    pub(crate) stored: DataType,
    pub(crate) fill: FillValue,
    pub(crate) decoder: Decoder,
}

impl Decoding {
    /// Returns a table of codecs in which the CF codec uses this decoding.
    pub(crate) fn in_table(self, registry: &Arc<Registry>) -> Arc<Registry> {
        registry.giving(NAME, self)
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let Some(Decoding { stored, fill, decoder }) = context.given() else {
        let what = format!("codec {NAME} exists in memory only, in front of the codecs of an array");
        return Err(Error::Metadata { pointer: String::new(), what });
    };
    let encoded = context.element.encoded(stored.clone(), fill.clone());
    Ok(Arc::new(Cf { encoded, decoder: decoder.clone() }))
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

/// Inserts the CF codec in front of `codecs`. If the codecs are a shard, possibly behind transposes, the codec is inserted in front of the
/// codecs of inner chunks, so that inner chunks are decoded one by one.
pub(crate) fn insert(codecs: &mut Vec<NamedConfig>) {
    let inner = codecs.iter_mut().find(|codec| codec.name != "transpose");
    let inner = inner.filter(|codec| codec.name == "sharding_indexed");
    let inner = inner.and_then(|shard| shard.configuration.get_mut("codecs"));
    if let Some(Value::Array(list)) = inner {
        let parsed: Option<Vec<NamedConfig>> = list.iter().map(NamedConfig::from_value).collect();
        if let Some(mut parsed) = parsed {
            insert(&mut parsed);
            *list = parsed.iter().map(NamedConfig::to_value).collect();
            return;
        }
    }
    codecs.insert(0, NamedConfig::new(NAME));
}
