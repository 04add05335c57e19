//! `cast_value`: another type of real numbers, checked.

mod cast;

use crate::config::refuse_unread;
use crate::filter::{self, Transform, unsupported};
use crate::real::Real;
use cast::{Cast, OutOfRangeMode, Replacement};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Config, Error};
use zarr_dtype::float::Rounding;
use zarr_dtype::{DataType, FillValue, Spelling};
use zarr_json::{NamedConfig, Value as Json};

/// Codec `cast_value`: integers and floats stored as numbers of another `data_type`.
///
/// A number becomes the number that `scalar_map` gives for it, else itself, else it is rounded as `rounding` says.
/// Beyond the range of the type it is an error, unless `out_of_range` is `clamp` (to the last number, or infinity if
/// the type has it) or `wrap` (for integers). NaN and infinity stay NaN and infinity, or are an error. The fill value
/// must come back.
pub const CAST_VALUE: CodecEntry = CodecEntry::array_to_array("cast_value", build)
    .arguments(&[("data_type", None)])
    .example(r#"{"data_type": "float64"}"#);

const NAME: &str = "cast_value";

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let config = context.config;
    let decoded = &context.element.data_type;
    let from = Real::of(decoded).ok_or_else(|| unsupported(NAME, decoded))?;
    let value = config.required("data_type")?;
    let named = NamedConfig::from_value(value);
    let named = named.ok_or_else(|| config.unexpected("data_type", "a data type", value))?;
    let encoded = DataType::from_config(&named).map_err(|error| config.error("data_type", error.to_string()))?;
    let to = Real::of(&encoded).ok_or_else(|| unsupported(NAME, &encoded))?;
    let rounding = rounding(config)?;
    let out_of_range = match config.value("out_of_range").map(|value| (value.as_str(), value)) {
        None => None,
        Some((Some("clamp"), _)) => Some(OutOfRangeMode::Clamp),
        Some((Some("wrap"), _)) if matches!(to, Real::Integer(_)) => Some(OutOfRangeMode::Wrap),
        Some((_, value)) => {
            return Err(config.unexpected("out_of_range", "\"clamp\", or \"wrap\" for integers", value));
        }
    };
    let map = config.value("scalar_map");
    refuse_unread(config)?;
    let replaced = replacements(config, map, "encode", (decoded, from), (&encoded, to))?;
    let encode = Cast { from, to, name: encoded.to_string(), rounding, out_of_range, replaced };
    let replaced = replacements(config, map, "decode", (&encoded, to), (decoded, from))?;
    let decode = Cast { from: to, to: from, name: decoded.to_string(), rounding, out_of_range, replaced };
    filter::build(NAME, context, encoded, CastValue { encode, decode })
}

fn rounding(config: &Config<'_>) -> Result<Rounding, Error> {
    let roundings = [
        ("nearest-even", Rounding::NearestEven),
        ("nearest-away", Rounding::NearestAway),
        ("towards-zero", Rounding::TowardsZero),
        ("towards-positive", Rounding::TowardsPositive),
        ("towards-negative", Rounding::TowardsNegative),
    ];
    Ok(config.one_of("rounding", &roundings)?.unwrap_or(Rounding::NearestEven))
}

/// One direction of `scalar_map`: a list of pairs.
fn replacements(
    config: &Config<'_>,
    map: Option<&Json>,
    direction: &'static str,
    from: (&DataType, Real),
    to: (&DataType, Real),
) -> Result<Vec<Replacement>, Error> {
    let Some(map) = map else { return Ok(Vec::new()) };
    let members = map.as_object().ok_or_else(|| config.unexpected("scalar_map", "an object", map))?;
    if let Some(unknown) = members.keys().find(|name| !matches!(*name, "encode" | "decode")) {
        return Err(config.error(&format!("scalar_map/{unknown}"), "expected encode and decode only".to_owned()));
    }
    let Some(list) = members.get(direction).filter(|list| !list.is_null()) else { return Ok(Vec::new()) };
    let pointer = format!("scalar_map/{direction}");
    let pairs = list.as_array().ok_or_else(|| config.unexpected(&pointer, "an array of pairs", list))?;
    let parse = |data_type: &DataType, value: &Json, pointer: &str| {
        FillValue::parse_as(data_type, value, Spelling::Lenient)
            .map_err(|error| config.error(pointer, error.to_string()))
    };
    let pair = |(index, pair): (usize, &Json)| {
        let pointer = format!("{pointer}/{index}");
        let Some([key, value]) = pair.as_array() else {
            return Err(config.unexpected(&pointer, "a pair of numbers", pair));
        };
        let key = from.1.load(parse(from.0, key, &format!("{pointer}/0"))?.bytes());
        let item = parse(to.0, value, &format!("{pointer}/1"))?;
        Ok(Replacement { key, item: item.bytes().into() })
    };
    pairs.iter().enumerate().map(pair).collect()
}

#[derive(Debug)]
struct CastValue {
    encode: Cast,
    decode: Cast,
}

impl Transform for CastValue {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        self.encode.run(decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        self.decode.run(encoded, decoded)
    }

    fn check_fill(&self, fill: &[u8], encoded: &[u8]) -> Result<(), String> {
        let mut back = fill.to_vec();
        self.decode.run(encoded, &mut back)?;
        let (before, after) = (self.encode.from.load(fill), self.encode.from.load(&back));
        if before.same(after) { Ok(()) } else { Err(format!("{before} comes back as {after}")) }
    }
}
