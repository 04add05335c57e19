//! Layout of chunks in dialects up to the drafts of version 3: regular grids, and an order of elements given by a letter.

use crate::error::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value, json};

/// Maximum number of dimensions of an array. numpy has 64, HDF5 32. The limit prevents documents from causing long work, since some work is
/// quadratic in the number of dimensions.
const MAX_RANK: usize = 1000;

/// Returns the member `shape` of the document of an array.
///
/// # Errors
/// Fails with [`ErrorKind::InvalidMetadata`] if the member is missing or no list of sizes, and with [`ErrorKind::Limit`] if it has too many
/// sizes.
pub(crate) fn shape(document: &At<'_>) -> Result<Vec<u64>> {
    let at = document.member("shape")?;
    let shape = at.sizes()?;
    if shape.len() > MAX_RANK {
        let found = format!("{} dimensions", shape.len());
        return Err(Error::new(ErrorKind::Limit, at.pointer(), found, format!("at most {MAX_RANK}")));
    }
    Ok(shape)
}

/// Returns the codec `transpose` for the order letter at `at`; `None` for `C`, or if the order makes no difference.
pub(crate) fn to_model(at: &At<'_>, rank: usize) -> Result<Option<NamedConfig>> {
    match at.value().as_str() {
        Some("C") => Ok(None),
        Some("F") if rank < 2 => Ok(None),
        Some("F") => {
            let order: Vec<usize> = (0..rank).rev().collect();
            let order = [("order".to_owned(), Value::from(order))].into_iter().collect();
            Ok(Some(NamedConfig::with("transpose", order)))
        }
        _ => Err(at.invalid("\"C\" or \"F\"").into()),
    }
}

/// Returns the order letter for the `transpose` codecs at the beginning of a chain, and the number of these codecs.
pub(crate) fn from_model(codecs: &[NamedConfig], rank: usize) -> Result<(&'static str, usize)> {
    let transposes = codecs.iter().take_while(|codec| codec.name == "transpose").count();
    let mut order = "C";
    for (index, codec) in codecs.iter().take(transposes).enumerate() {
        if is_order(codec, 0..rank) {
            continue;
        }
        if index > 0 || !is_order(codec, (0..rank).rev()) {
            let found = codec.configuration.get("order").map_or_else(|| "no order".to_owned(), Value::excerpt);
            let pointer = format!("/codecs/{index}/configuration/order");
            return Err(Error::new(ErrorKind::NotExpressible, pointer, found, "the order of C or F"));
        }
        order = "F";
    }
    Ok((order, transposes))
}

fn is_order(codec: &NamedConfig, axes: impl Iterator<Item = usize>) -> bool {
    let order = codec.configuration.get("order").and_then(Value::as_array).unwrap_or_default();
    order.iter().map(Value::as_u64).eq(axes.map(|axis| u64::try_from(axis).ok()))
}

/// Returns the chunk shape of a regular grid.
pub(crate) fn chunk_shape(grid: &NamedConfig) -> Result<Value> {
    match grid.configuration.get("chunk_shape") {
        Some(shape) if grid.name == "regular" => Ok(shape.clone()),
        _ => {
            let found = grid.to_value().excerpt();
            Err(Error::new(ErrorKind::NotExpressible, "/chunk_grid", found, "a regular grid"))
        }
    }
}

/// Returns a regular grid with the chunk shape at `at`, which has one length above 0 for each dimension of `shape`. `size` is the size of
/// an element in bytes.
///
/// A chunk length 0 becomes 1 if the length of the dimension is 0 too: the drafts allow 0, and zarr-python 2 writes it for `chunks=False`.
pub(crate) fn regular(at: &At<'_>, shape: &[u64], size: u64) -> Result<NamedConfig> {
    let mut chunk_shape = at.sizes()?;
    if chunk_shape.len() == shape.len() {
        let empty = chunk_shape.iter_mut().zip(shape).filter(|(chunk, length)| **chunk == 0 && **length == 0);
        empty.for_each(|(chunk, _)| *chunk = 1);
    }
    if chunk_shape.len() != shape.len() || chunk_shape.contains(&0) {
        return Err(at.invalid(format!("{} lengths above 0, one for each dimension", shape.len())).into());
    }
    if chunk_shape.iter().try_fold(size, |size, &length| size.checked_mul(length)).is_none() {
        return Err(at.invalid("chunks of at most 2^64-1 bytes").into());
    }
    let configuration = [("chunk_shape".to_owned(), Value::from(chunk_shape))].into_iter().collect();
    Ok(NamedConfig::with("regular", configuration))
}

/// Returns the name and the separator of the encoding inside of an encoding that adds to it (such as a suffix); `None` for an encoding that
/// is an extension.
pub(crate) fn innermost(encoding: &NamedConfig) -> Option<(String, String)> {
    let base = encoding.configuration.get("base_encoding").and_then(NamedConfig::from_value);
    let encoding = base.as_ref().unwrap_or(encoding);
    let default = match encoding.name.as_str() {
        "default" | "joined" => "/",
        "v2" => ".",
        _ => return None,
    };
    let separator = encoding.configuration.get("separator").map_or(Some(default), Value::as_str)?;
    Some((encoding.name.clone(), separator.to_owned()))
}

/// Returns the chunk key encoding `name` with a separator.
pub(crate) fn keys(name: &str, separator: &str) -> NamedConfig {
    NamedConfig::with(name, [("separator".to_owned(), json!(separator))].into_iter().collect())
}

/// Returns the chunk key encoding that appends `suffix` to the keys of `encoding`.
#[cfg(feature = "drafts")]
pub(crate) fn with_suffix(encoding: &NamedConfig, suffix: &str) -> NamedConfig {
    let members = [("suffix".to_owned(), Value::from(suffix)), ("base_encoding".to_owned(), encoding.to_value())];
    NamedConfig::with("suffix", members.into_iter().collect())
}

/// Returns the separator of the encoding `name`. Fails if `encoding` has another name or an invalid separator.
#[cfg(feature = "drafts")]
pub(crate) fn separator<'e>(encoding: &'e NamedConfig, name: &str) -> Result<&'e str> {
    match encoding.configuration.get("separator").map(Value::as_str) {
        Some(Some(separator @ ("." | "/"))) if encoding.name == name => Ok(separator),
        None if encoding.name == name => Ok(if name == "v2" { "." } else { "/" }),
        _ => {
            let found = encoding.to_value().excerpt();
            let expected = format!("the encoding {name} with the separator . or /");
            Err(Error::new(ErrorKind::NotExpressible, "/chunk_key_encoding", found, expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_have_a_bound() {
        let read = |rank: usize| shape(&At::root(&json!({"shape": (vec![1_u64; rank])}))).map(|shape| shape.len());
        assert_eq!((read(0).unwrap(), read(MAX_RANK).unwrap()), (0, MAX_RANK));
        let error = read(MAX_RANK + 1).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Limit, "/shape: found 1001 dimensions, expected at most 1000")
        );
    }
}
