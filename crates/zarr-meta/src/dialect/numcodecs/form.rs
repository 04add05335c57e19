//! The configurations of codecs of numcodecs in the form of the model, and the deviations in them.

use crate::codec_names::NUMCODECS;
use crate::dialect::codecs;
use crate::error::Result;
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value, json};

/// A codec in the form of the model; `typesize` is the size of the elements directly in front of it, `item_size` that of the
/// elements of the array.
pub(super) fn of_model(at: &At<'_>, id: &str, typesize: u64, item_size: u64) -> Result<NamedConfig> {
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
        "crc32c" if configuration.get("location").is_none_or(|location| location.as_str() == Some("end")) => {
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
            format!("{NUMCODECS}{id}")
        }
        _ => format!("{NUMCODECS}{id}"),
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

/// The value of a switch of GDAL.
fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_uppercase().as_str() {
        "YES" | "TRUE" | "ON" | "1" => Some(true),
        "NO" | "FALSE" | "OFF" | "0" => Some(false),
        _ => None,
    }
}

/// The levels of zstd.
const ZSTD_LEVELS: std::ops::RangeInclusive<i128> = -131_072..=22;

/// The level of zstd that is taken for one that there is not.
fn level_beyond(configuration: &Map) -> Option<i64> {
    let level = configuration.get("level")?.as_number()?.to_i128().filter(|level| !ZSTD_LEVELS.contains(level))?;
    i64::try_from(level.clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end())).ok()
}

/// The deviations in the configurations of codecs, in words, each with a pointer.
pub(crate) fn deviations(codecs: &[At<'_>]) -> Vec<(String, String)> {
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
        Some((at.pointer(), "0, read as the size of the elements, as netCDF does; numcodecs shuffles nothing".into()))
    };
    let of_one = |at: &At<'_>| match at.value().get("id").and_then(Value::as_str) {
        Some("zstd") => [level(at), text(at, "checksum")],
        Some("blosc") => [text(at, "shuffle"), None],
        Some("shuffle") => [size(at), None],
        _ => [None, None],
    };
    codecs.iter().flat_map(of_one).flatten().collect()
}
