//! Filters and compressors of version 2 (numcodecs), and the codecs of the model.
//!
//! Codecs that version 3 has too go by its names there: `blosc`, `gzip`, `zstd`, `crc32c`, `vlen-utf8`, `vlen-bytes`.
//! All others are `numcodecs.<id>`, with the configuration as it is stored.

use super::codecs::{self, Kind};
use super::typestr::{Dtype, Endian};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Map, Value};
use crate::pointer::At;
use crate::{NamedConfig, json};

/// The codecs that give bytes, and by what they are the codec of a data type of variable length.
const OBJECT_CODECS: [(&str, &str); 9] = [
    ("vlen-utf8", "string"),
    ("vlen-bytes", "bytes"),
    ("categorize", "string"),
    ("vlen-array", "vlen-array"),
    ("json2", "v2_object"),
    ("json", "v2_object"),
    ("msgpack2", "v2_object"),
    ("msgpack", "v2_object"),
    ("pickle", "v2_object"),
];

/// Codecs that do not compress, so that their place is among the filters.
const NO_COMPRESSORS: [&str; 9] =
    ["shuffle", "bitshuffle", "base64", "crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3", "categorize"];

/// The data type and the codecs of the model for elements of `dtype` that go through `codecs` one after the other.
pub(crate) fn to_model(codecs: &[At<'_>], dtype: &Dtype, endian: &Endian) -> Result<(NamedConfig, Vec<NamedConfig>)> {
    let mut data_type = dtype.data_type();
    let mut chain = Vec::new();
    let item_size = dtype.size().unwrap_or(1);
    // The type of the elements as long as there are elements, and not bytes.
    let mut elements = Some((dtype.clone(), endian.clone()));
    for at in codecs {
        let id = at.member("id")?.text()?;
        let kind = codecs::numcodecs_kind(id);
        let is_object = matches!(elements, Some((Dtype::Object, _)));
        let object_type = OBJECT_CODECS.iter().find(|(known, _)| *known == id).map(|(_, data_type)| *data_type);
        match (kind, &elements) {
            (_, Some(_)) if is_object => {
                data_type = match (object_type, kind) {
                    (Some("vlen-array"), _) => ragged(at)?,
                    (Some(name), _) => NamedConfig::new(name),
                    // It may well be an object codec, of somebody else.
                    (None, None) => data_type,
                    (None, Some(_)) => return Err(no_object_codec(&at.pointer())),
                };
                chain.push(model_form(at, id, 1, item_size)?);
                elements = None;
            }
            (Some(Kind::ArrayToArray), Some((dtype, endian))) => {
                let after = after(id, at, dtype, endian)?;
                chain.push(model_form(at, id, 1, item_size)?);
                elements = Some(after);
            }
            (Some(Kind::ArrayToBytes), Some(_)) => {
                chain.push(model_form(at, id, 1, item_size)?);
                elements = None;
            }
            (Some(Kind::ArrayToArray | Kind::ArrayToBytes), None) => {
                let expected = "codecs of arrays in front of codecs of bytes";
                return Err(at.error(ErrorKind::UnknownExtension, expected));
            }
            (Some(Kind::BytesToBytes) | None, current) => {
                let mut typesize = 1;
                if let Some((dtype, endian)) = current {
                    typesize = dtype.size().unwrap_or(1);
                    chain.push(dtype.bytes_codec(endian));
                }
                chain.push(model_form(at, id, typesize, item_size)?);
                elements = None;
            }
        }
    }
    match &elements {
        Some((Dtype::Object, _)) => return Err(no_object_codec("/filters")),
        Some((dtype, endian)) => chain.push(dtype.bytes_codec(endian)),
        None => {}
    }
    Ok((data_type, chain))
}

fn no_object_codec(pointer: &str) -> Error {
    let expected = "a codec of objects as the first filter, such as vlen-utf8";
    Error::new(ErrorKind::InvalidMetadata, pointer, "none, for dtype \"|O\"", expected)
}

fn ragged(at: &At<'_>) -> Result<NamedConfig> {
    let (item, _) = Dtype::parse(&at.member("dtype")?)?;
    let data_type = item.data_type().short_value();
    Ok(NamedConfig::with("vlen-array", [("data_type".to_owned(), data_type)].into_iter().collect()))
}

/// The member that names the type of the elements in front of an array-to-array codec.
fn own_type(id: &str) -> Option<&'static str> {
    match id {
        "delta" | "fixedscaleoffset" | "quantize" => Some("dtype"),
        "astype" => Some("decode_dtype"),
        _ => None,
    }
}

/// Checks that filters name the byte order that elements have where they come. numcodecs looks at bytes through the type of the
/// filter: in another order these are other numbers, which nothing in the model says.
///
/// For dialects in which numcodecs itself was at work, and data types have a byte order.
pub(crate) fn check_byte_orders(codecs: &[At<'_>], dtype: &Dtype, endian: &Endian) -> Result<()> {
    let mut elements = (dtype.clone(), endian.clone());
    for at in codecs {
        let id = at.member("id")?.text()?;
        // numcodecs takes dates for integers of the machine's byte order, whatever theirs is.
        if matches!(id, "pcodec" | "zfpy") && matches!(elements, (Dtype::Time { .. }, Endian::Big)) {
            let expected = format!("dates and time spans in little-endian order in front of {id}");
            let found = elements.0.to_value(&elements.1).excerpt();
            return Err(Error::new(ErrorKind::UnknownExtension, at.pointer(), found, expected));
        }
        if codecs::numcodecs_kind(id) != Some(Kind::ArrayToArray) {
            break;
        }
        if let Some(own) = own_type(id).and_then(|member| at.get_non_null(member)) {
            let (_, own_endian) = Dtype::parse(&own)?;
            let is_single = [&own_endian, &elements.1].contains(&&Endian::None);
            if !is_single && own_endian.uniform() != elements.1.uniform() {
                let elements = elements.0.to_value(&elements.1);
                let expected = format!("the byte order of the elements that come here, {elements}");
                return Err(own.error(ErrorKind::UnknownExtension, expected));
            }
        }
        elements = after(id, at, &elements.0, &elements.1)?;
    }
    Ok(())
}

/// The levels of zstd.
const ZSTD_LEVELS: std::ops::RangeInclusive<i128> = -131_072..=22;

/// The level of zstd that is taken for one that there is not.
fn level_beyond(configuration: &Map) -> Option<i64> {
    let level = configuration.get("level")?.as_number()?.to_i128().filter(|level| !ZSTD_LEVELS.contains(level))?;
    i64::try_from(level.clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end())).ok()
}

/// What is odd in the configurations of codecs, in words, each with a pointer.
pub(crate) fn oddities(codecs: &[At<'_>]) -> Vec<(String, String)> {
    let level = |at: &At<'_>| {
        let taken = level_beyond(at.value().as_object()?)?;
        let at = at.get("level")?;
        Some((at.pointer(), format!("{}, a level that zstd does not have; {taken} is taken", at.value())))
    };
    let text = |at: &At<'_>, member: &str| {
        let at = at.get(member).filter(|at| at.value().as_str().is_some())?;
        Some((at.pointer(), format!("{}, read as GDAL means it", at.value().excerpt())))
    };
    let size = |at: &At<'_>| {
        let at = at.get("elementsize").filter(|at| at.value().as_f64() == Some(0.0))?;
        Some((
            at.pointer(),
            "0, read as the size of the elements, which netCDF means; to numcodecs nothing is shuffled".into(),
        ))
    };
    let of_one = |at: &At<'_>| match at.value().get("id").and_then(Value::as_str) {
        Some("zstd") => [level(at), text(at, "checksum")],
        Some("blosc") => [text(at, "shuffle"), None],
        Some("shuffle") => [size(at), None],
        _ => [None, None],
    };
    codecs.iter().flat_map(of_one).flatten().collect()
}

/// The type of the elements behind an array-to-array codec.
fn after(id: &str, at: &At<'_>, dtype: &Dtype, endian: &Endian) -> Result<(Dtype, Endian)> {
    let member = match id {
        "delta" | "fixedscaleoffset" | "quantize" => at.get_non_null("astype").or_else(|| at.get_non_null("dtype")),
        "astype" => at.get_non_null("encode_dtype"),
        "packbits" => return Ok((Dtype::Raw(1), Endian::None)),
        _ => None,
    };
    member.map_or_else(|| Ok((dtype.clone(), endian.clone())), |member| Dtype::parse(&member))
}

/// A codec in the form of the model; `typesize` is the size of the elements directly in front of it, `item_size` that of the
/// elements of the array.
fn model_form(at: &At<'_>, id: &str, typesize: u64, item_size: u64) -> Result<NamedConfig> {
    let mut configuration: Map = at
        .object()?
        .iter()
        .filter(|(name, _)| *name != "id")
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let default = |configuration: &mut Map, name: &str, value: Value| {
        if configuration.get(name).is_none_or(Value::is_null) {
            configuration.insert(name, value);
        }
    };
    let name = match id {
        "blosc" => {
            default(&mut configuration, "cname", json!("lz4"));
            default(&mut configuration, "clevel", json!(5));
            default(&mut configuration, "shuffle", json!(1));
            default(&mut configuration, "blocksize", json!(0));
            default(&mut configuration, "typesize", json!(typesize));
            let shuffle = configuration.get("shuffle").map(shuffle_number).unwrap_or_default();
            let word = codecs::shuffle_word(&shuffle, typesize);
            // In version 2 there is no object `configuration` around it.
            configuration.insert("shuffle", word.map_err(|_| at.invalid("a shuffle from -1 to 2"))?);
            id.to_owned()
        }
        "gzip" => {
            default(&mut configuration, "level", json!(1));
            // zlib's name for its own default, which numcodecs takes; version 3 has no such level.
            if configuration.get("level").and_then(Value::as_i64) == Some(-1) {
                configuration.insert("level", 6);
            }
            id.to_owned()
        }
        "zstd" => {
            default(&mut configuration, "level", json!(0));
            default(&mut configuration, "checksum", json!(false));
            // zarr-python 2 wrote 100; numcodecs takes the nearest level that there is.
            if let Some(level) = level_beyond(&configuration) {
                configuration.insert("level", level);
            }
            // GDAL 3.12 writes its option as it is spelled, "NO" if it is not given.
            if let Some(answer) = configuration.get("checksum").and_then(Value::as_str).and_then(yes_or_no) {
                configuration.insert("checksum", answer);
            }
            id.to_owned()
        }
        "crc32c" if configuration.get("location").is_none_or(|place| place.as_str() == Some("end")) => {
            configuration.remove("location");
            id.to_owned()
        }
        "vlen-utf8" | "vlen-bytes" => id.to_owned(),
        "shuffle" => {
            // In version 2 the default is a number; in version 3 it is the size of the array's elements.
            default(&mut configuration, "elementsize", json!(4));
            // netCDF-C 4.10 writes 0 and shuffles the elements of the array, as HDF5 does. To numcodecs it is no shuffle at all,
            // which nobody asks for.
            if configuration.get("elementsize").and_then(Value::as_u64) == Some(0) {
                configuration.insert("elementsize", item_size);
            }
            format!("numcodecs.{id}")
        }
        _ => format!("numcodecs.{id}"),
    };
    Ok(NamedConfig::with(name, configuration))
}

/// The shuffle of blosc as a number, also where GDAL 3.12 wrote its option as it is spelled: `"BIT"`, `"2"`.
fn shuffle_number(shuffle: &Value) -> Value {
    match shuffle.as_str() {
        Some("NONE" | "0") => json!(0),
        Some("BYTE" | "1") => json!(1),
        Some("BIT" | "2") => json!(2),
        _ => shuffle.clone(),
    }
}

/// What a switch of GDAL means.
fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_uppercase().as_str() {
        "YES" | "TRUE" | "ON" | "1" => Some(true),
        "NO" | "FALSE" | "OFF" | "0" => Some(false),
        _ => None,
    }
}

/// The filters and the compressor for codecs of the model, which begin behind a transpose; and the byte order.
pub(crate) struct Stored {
    pub(crate) filters: Vec<Value>,
    pub(crate) compressor: Option<Value>,
    pub(crate) endian: Endian,
}

/// The inverse of [`to_model`]. Pointers in errors begin at the list of codecs, of which `offset` have gone before.
pub(crate) fn from_model(chain: &[NamedConfig], offset: usize, dtype: &Dtype) -> Result<Stored> {
    let mut stored: Vec<Map> = Vec::new();
    let mut array_endian = None;
    let mut elements = Some(dtype.clone());
    // The size of the elements that the bytes directly in front of a codec consist of.
    let mut typesize = 1;
    let mut item_size = 1;
    // The byte order that elements have where they become bytes.
    let order = chain.iter().find(|codec| codec.name == "bytes").and_then(|bytes| bytes.configuration.get("endian"));
    let order = order.and_then(Value::as_str).unwrap_or("little");
    for (place, codec) in chain.iter().enumerate() {
        let below = |error: Error| error.below(&format!("/{}", place + offset));
        let no = |expected: &str| {
            let found = format!("codec {:?}", codec.name);
            below(Error::new(ErrorKind::NotExpressible, "", found, expected))
        };
        if codec.name == "bytes" {
            let Some(current) = elements.take().filter(|dtype| *dtype != Dtype::Object) else {
                return Err(no("a codec for data of variable length"));
            };
            typesize = current.size().unwrap_or(1);
            item_size = typesize;
            let found = current.endian(&codec.configuration).map_err(below)?;
            // Behind a filter that changes the type, the byte order is that of the filter.
            array_endian.get_or_insert(if current == *dtype { found } else { Endian::all_little(dtype) });
            continue;
        }
        let kind = codecs::kind(&codec.name);
        let mut map = stored_form(codec, typesize).ok_or_else(|| no("a codec that version 2 has"))?;
        complete(&mut map, elements.as_ref(), order, item_size);
        if kind == Some(Kind::ArrayToArray) {
            let value = Value::Object(map.clone());
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
            if let Some(current) = &elements {
                // The byte order of a filtered array is that of the filter's type, where it names one.
                let own = At::root(&value).get("dtype").or_else(|| At::root(&value).get("decode_dtype"));
                if let (Some(own), None) = (own, &array_endian)
                    && let Ok((own, endian)) = Dtype::parse(&own)
                    && own == *dtype
                {
                    array_endian = Some(endian);
                }
                let next = after(id, &At::root(&value), current, &Endian::None).map_err(below)?;
                elements = Some(next.0);
            }
        } else {
            elements = None;
            typesize = 1;
        }
        stored.push(map);
    }
    let is_compressor = |map: &Map| {
        let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
        let object = OBJECT_CODECS.iter().any(|(known, _)| *known == id);
        !object && !NO_COMPRESSORS.contains(&id) && codecs::numcodecs_kind(id) != Some(Kind::ArrayToArray)
    };
    let compressor = if stored.last().is_some_and(is_compressor) { stored.pop() } else { None };
    Ok(Stored {
        filters: stored.into_iter().map(Value::Object).collect(),
        compressor: compressor.map(Value::Object),
        endian: array_endian.unwrap_or_else(|| Endian::all_little(dtype)),
    })
}

/// Adds the members that numcodecs asks for and version 3 may leave out, since they follow from the data type.
fn complete(map: &mut Map, elements: Option<&Dtype>, order: &str, item_size: u64) {
    let lacks = |map: &Map, member: &str| map.get(member).is_none_or(Value::is_null);
    let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
    if id == "shuffle" && lacks(map, "elementsize") {
        map.insert("elementsize", item_size);
    } else if let (Some(member), Some(dtype)) = (own_type(id), elements)
        && lacks(map, member)
    {
        map.insert(member, dtype.to_value(&Endian::all(dtype, order)));
    }
}

/// A codec as version 2 has it; `None` if it has none such.
fn stored_form(codec: &NamedConfig, typesize: u64) -> Option<Map> {
    let id = match codec.name.as_str() {
        "blosc" | "zstd" | "gzip" | "crc32c" | "vlen-utf8" | "vlen-bytes" | "vlen-array" | "json2" | "bitround" => {
            codec.name.as_str()
        }
        name => name.strip_prefix("numcodecs.")?,
    };
    let mut map = Map::new();
    map.insert("id", id);
    for (name, value) in codec.configuration.iter() {
        map.insert(name, value.clone());
    }
    match codec.name.as_str() {
        "blosc" => {
            let word = codec.configuration.get("shuffle").and_then(Value::as_str).unwrap_or("noshuffle");
            map.insert("shuffle", codecs::SHUFFLES.iter().position(|known| *known == word)?);
            // numcodecs before 0.16 refuses the member; it is what a reader finds by itself.
            if map.get("typesize").and_then(Value::as_u64) == Some(typesize) {
                map.remove("typesize");
            }
        }
        // numcodecs before 0.13 refuses the member.
        "zstd" if map.get("checksum") == Some(&Value::Bool(false)) => {
            map.remove("checksum");
        }
        _ => {}
    }
    Some(map)
}
