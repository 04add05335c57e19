//! `cast_value`: conversion to another type of real numbers, checked.

mod cast;

use crate::config::refuse_unread;
use crate::filter::{self, Transform, unsupported};
use crate::real::Real;
use cast::{Cast, OutOfRangeMode, Replacement};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Config, Error};
use zarr_dtype::float::Rounding;
use zarr_dtype::{DataType, FillValue, Spelling};
use zarr_json::{Map, NamedConfig, Value as Json};

/// Codec `cast_value`: integers and floats are stored as numbers of another `data_type`.
///
/// A number becomes the number that `scalar_map` assigns to it, or itself, or it is rounded as `rounding` says. A number outside of the
/// range of the type is an error, unless `out_of_range` is `clamp` (to the last number, or infinity if the type has it) or `wrap` (for
/// integers). NaN and infinity stay NaN and infinity, or are an error. The fill value must be equal after encoding and decoding.
pub const CAST_VALUE: CodecEntry =
    CodecEntry::array_to_array("cast_value", |context| CastValue::from_config(context)?.bind(context))
        .arguments(&[("data_type", None)])
        .example(r#"{"data_type": "float64"}"#);

const NAME: &str = "cast_value";

/// Words for the roundings in metadata.
const ROUNDINGS: [(&str, Rounding); 5] = [
    ("nearest-even", Rounding::NearestEven),
    ("nearest-away", Rounding::NearestAway),
    ("towards-zero", Rounding::TowardsZero),
    ("towards-positive", Rounding::TowardsPositive),
    ("towards-negative", Rounding::TowardsNegative),
];

/// Codec `cast_value`: conversion to another type of real numbers, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CastValue {
    data_type: DataType,
    rounding: Option<Rounding>,
    out_of_range: Option<OutOfRangeMode>,
    scalar_map: Option<Json>,
}

impl CastValue {
    /// Creates the codec that stores numbers as `data_type`. Numbers outside of the range of the type are errors.
    pub fn to(data_type: &DataType) -> Self {
        Self { data_type: data_type.clone(), rounding: None, out_of_range: None, scalar_map: None }
    }

    /// Sets the rounding; the default is to the nearest number, ties to even.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding: Some(rounding), ..self }
    }

    /// Sets that numbers outside of the range of the type become its nearest number.
    #[must_use]
    pub fn clamp(self) -> Self {
        Self { out_of_range: Some(OutOfRangeMode::Clamp), ..self }
    }

    /// Sets that numbers outside of the range of an integer type wrap around.
    #[must_use]
    pub fn wrap(self) -> Self {
        Self { out_of_range: Some(OutOfRangeMode::Wrap), ..self }
    }

    /// Sets that `number` is encoded as `encoded`; both have the form of fill values, such as `"NaN"`.
    #[must_use]
    pub fn encode_as(self, number: impl Into<Json>, encoded: impl Into<Json>) -> Self {
        self.with_pair("encode", number.into(), encoded.into())
    }

    /// Sets that `encoded` is decoded as `number`; both have the form of fill values, such as `"NaN"`.
    #[must_use]
    pub fn decode_as(self, encoded: impl Into<Json>, number: impl Into<Json>) -> Self {
        self.with_pair("decode", encoded.into(), number.into())
    }

    fn with_pair(mut self, direction: &str, from: Json, to: Json) -> Self {
        let mut members = self.scalar_map.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
        let mut pairs = members.get(direction).and_then(Json::as_array).unwrap_or_default().to_vec();
        pairs.push(Json::Array(vec![from, to]));
        members.insert(direction, pairs);
        self.scalar_map = Some(members.into());
        self
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let (config, decoded) = (context.config, &context.element.data_type);
        let from = Real::of(decoded).ok_or_else(|| unsupported(NAME, decoded))?;
        let encoded = self.data_type;
        let to = Real::of(&encoded).ok_or_else(|| unsupported(NAME, &encoded))?;
        let (rounding, out_of_range) = (self.rounding.unwrap_or(Rounding::NearestEven), self.out_of_range);
        if out_of_range == Some(OutOfRangeMode::Wrap) && !matches!(to, Real::Integer(_)) {
            return Err(config.unexpected("out_of_range", OUT_OF_RANGE, &OutOfRangeMode::Wrap.word().into()));
        }
        refuse_unread(config)?;
        let map = self.scalar_map.as_ref();
        let replaced = replacements(config, map, "encode", (decoded, from), (&encoded, to))?;
        let encode = Cast { from, to, name: encoded.to_string(), rounding, out_of_range, replaced };
        let replaced = replacements(config, map, "decode", (&encoded, to), (decoded, from))?;
        let decode = Cast { from: to, to: from, name: decoded.to_string(), rounding, out_of_range, replaced };
        filter::build(NAME, context, encoded, Casts { encode, decode })
    }
}

const OUT_OF_RANGE: &str = "\"clamp\", or \"wrap\" for integers";

impl CodecValue for CastValue {
    const ENTRY: CodecEntry = CAST_VALUE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let value = config.required("data_type")?;
        let named = NamedConfig::from_value(value);
        let named = named.ok_or_else(|| config.unexpected("data_type", "a data type", value))?;
        let data_type = DataType::from_config(&named).map_err(|error| config.error("data_type", error.to_string()))?;
        let out_of_range = match config.value("out_of_range").map(|value| (value.as_str(), value)) {
            None => None,
            Some((Some("clamp"), _)) => Some(OutOfRangeMode::Clamp),
            Some((Some("wrap"), _)) => Some(OutOfRangeMode::Wrap),
            Some((_, value)) => return Err(config.unexpected("out_of_range", OUT_OF_RANGE, value)),
        };
        let rounding = config.one_of("rounding", &ROUNDINGS)?;
        Ok(Self { data_type, rounding, out_of_range, scalar_map: config.value("scalar_map").cloned() })
    }

    fn to_config(&self) -> Map {
        let rounding = ROUNDINGS.iter().find(|(_, rounding)| Some(*rounding) == self.rounding);
        Map::from_some([
            ("data_type", Some(self.data_type.to_config().short_value())),
            ("rounding", rounding.map(|(word, _)| (*word).into())),
            ("out_of_range", self.out_of_range.map(|mode| mode.word().into())),
            ("scalar_map", self.scalar_map.clone()),
        ])
    }
}

/// Parses one direction of `scalar_map`: a list of pairs.
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
struct Casts {
    encode: Cast,
    decode: Cast,
}

impl Transform for Casts {
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
