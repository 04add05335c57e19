//! Translation of configurations of numcodecs codecs into the model, and the deviations in them.

use crate::codec_facts::{Form, NUMCODECS, codec_of_id};
use crate::dialect::codecs;
use crate::error::Result;
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Number, Value, json};

/// Name in the model's numcodecs object for a codec's parameter `id`, since `id` is the codec itself there. No document has this name.
pub(crate) const OWN_ID: &str = "\u{0}id";

/// Returns the parameters of a numcodecs object, without the `id` of the codec.
pub(crate) fn parameters(codec: &Map) -> Map {
    let own = codec.iter().filter(|(name, _)| *name != "id");
    own.map(|(name, value)| (if name == OWN_ID { "id" } else { name }.to_owned(), value.clone())).collect()
}

/// Returns a codec in the form of the model. `typesize` is the size in bytes of the elements directly before the codec, `item_size` that of
/// the elements of the array.
pub(super) fn of_model(at: &At<'_>, id: &str, typesize: u64, item_size: u64) -> Result<NamedConfig> {
    let mut configuration = parameters(at.object()?);
    let default = |configuration: &mut Map, name: &str, value: Value| {
        if configuration.get(name).is_none_or(Value::is_null) {
            configuration.insert(name, value);
        }
    };
    let known = codec_of_id(id);
    let mut name = known.map_or_else(|| format!("{NUMCODECS}{id}"), |known| known.v3.to_owned());
    match known.map_or(Form::Same, |known| known.form) {
        Form::Same => {}
        Form::Blosc => {
            default(&mut configuration, "cname", json!("lz4"));
            default(&mut configuration, "clevel", json!(5));
            default(&mut configuration, "shuffle", json!(1));
            default(&mut configuration, "blocksize", json!(0));
            default(&mut configuration, "typesize", json!(typesize));
            let shuffle = configuration.get("shuffle").map_or(BYTE_SHUFFLE, |shuffle| shuffle_number(shuffle).0);
            configuration.insert("shuffle", codecs::shuffle_word(shuffle, typesize).unwrap_or_default());
        }
        Form::Gzip => {
            default(&mut configuration, "level", json!(1));
            // zlib's name for its own default, which numcodecs takes; version 3 has no such level.
            if configuration.get("level").and_then(Value::as_i64) == Some(-1) {
                configuration.insert("level", 6);
            }
        }
        Form::Zstd => {
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
        }
        Form::Crc32c => match configuration.get("location").map(Value::as_str) {
            None | Some(Some("end")) => drop(configuration.remove("location")),
            Some(_) => name = format!("{NUMCODECS}{id}"),
        },
        Form::Shuffle => {
            // In version 2 the default is a number; in version 3 it is the size of the array's elements.
            default(&mut configuration, "elementsize", json!(4));
            // netCDF-C 4.10 writes 0 and shuffles the elements of the array, as HDF5 does. To numcodecs it is no shuffle at all,
            // which nobody asks for.
            if configuration.get("elementsize").and_then(Value::as_u64) == Some(0) {
                configuration.insert("elementsize", item_size);
            }
        }
    }
    Ok(NamedConfig::with(name, configuration))
}

/// Converts the configuration in `map` from version 3 to version 2; `None` if version 2 cannot express it. `typesize` is the size in bytes
/// of the elements directly before the codec.
pub(super) fn to_numcodecs(form: Form, map: &mut Map, typesize: u64) -> Option<()> {
    match form {
        Form::Blosc => {
            let word = map.get("shuffle").and_then(Value::as_str).unwrap_or("noshuffle");
            let number = codecs::SHUFFLES.iter().position(|known| *known == word)?;
            map.insert("shuffle", number);
            // numcodecs before 0.16 refuses the member; a reader finds its value by itself.
            if map.get("typesize").and_then(Value::as_u64) == Some(typesize) {
                map.remove("typesize");
            }
        }
        // numcodecs before 0.13 refuses the member.
        Form::Zstd if map.get("checksum") == Some(&Value::Bool(false)) => drop(map.remove("checksum")),
        Form::Same | Form::Gzip | Form::Zstd | Form::Crc32c | Form::Shuffle => {}
    }
    Some(())
}

/// Default shuffle of blosc in numcodecs: by bytes.
const BYTE_SHUFFLE: i64 = 1;

/// Returns the shuffle of blosc as a number, and a description if the value deviates. Decoders do not need the shuffle, so any value is
/// accepted. GDAL 3.12 wrote its option literally (`"BIT"`, `"2"`), and zarr-python wrote any argument, such as `true`.
fn shuffle_number(shuffle: &Value) -> (i64, Option<String>) {
    let number = shuffle.as_number().and_then(Number::to_i128).and_then(|number| i64::try_from(number).ok());
    let text = shuffle.as_str().and_then(|text| match text {
        "NONE" | "0" | "noshuffle" => Some(0),
        "BYTE" | "1" | "shuffle" => Some(1),
        "BIT" | "2" | "bitshuffle" => Some(2),
        _ => None,
    });
    let number = number.filter(|number| (-1..=2).contains(number));
    match (number, text, shuffle.as_bool().map(i64::from)) {
        (Some(number), ..) if shuffle.as_number().is_some_and(Number::is_integer) => (number, None),
        (None, Some(number), _) => (number, Some(format!("{}, read as GDAL means it", shuffle.excerpt()))),
        (Some(number), ..) | (_, _, Some(number)) => (number, Some(format!("{shuffle}, read as {number}"))),
        _ => {
            let taken = "no shuffle that blosc has; 1 is taken, which only encoding needs";
            (BYTE_SHUFFLE, Some(format!("{}, {taken}", shuffle.excerpt())))
        }
    }
}

/// Returns the value of a boolean option of GDAL; `None` for other strings.
fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_uppercase().as_str() {
        "YES" | "TRUE" | "ON" | "1" => Some(true),
        "NO" | "FALSE" | "OFF" | "0" => Some(false),
        _ => None,
    }
}

/// Valid compression levels of the codec `zstd`.
const ZSTD_LEVELS: std::ops::RangeInclusive<i128> = -131_072..=22;

/// Returns the nearest valid level of zstd if the configuration has an invalid one; else `None`.
fn level_beyond(configuration: &Map) -> Option<i64> {
    let level = configuration.get("level")?.as_number()?.to_i128().filter(|level| !ZSTD_LEVELS.contains(level))?;
    i64::try_from(level.clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end())).ok()
}

/// Returns the deviations in the configurations of codecs: JSON pointers and descriptions.
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
    let shuffle = |at: &At<'_>| {
        let at = at.get_non_null("shuffle")?;
        Some((at.pointer(), shuffle_number(at.value()).1?))
    };
    let size = |at: &At<'_>| {
        let at = at.get("elementsize").filter(|at| at.value().as_f64() == Some(0.0))?;
        Some((at.pointer(), "0, read as the size of the elements, as netCDF does; numcodecs shuffles nothing".into()))
    };
    let form = |at: &At<'_>| at.value().get("id").and_then(Value::as_str).and_then(codec_of_id).map(|codec| codec.form);
    let of_one = |at: &At<'_>| match form(at) {
        Some(Form::Zstd) => [level(at), text(at, "checksum")],
        Some(Form::Blosc) => [shuffle(at), None],
        Some(Form::Shuffle) => [size(at), None],
        None | Some(Form::Same | Form::Gzip | Form::Crc32c) => [None, None],
    };
    codecs.iter().flat_map(of_one).flatten().collect()
}
