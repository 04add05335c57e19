//! The layout of chunks in dialects up to the drafts of version 3: regular grids, and elements in an order said by a letter.

use crate::error::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value, json};

/// Most dimensions of an array. numpy has 64, HDF5 32. A bound keeps documents from naming a number of dimensions with which work that goes
/// by pairs of dimensions takes long.
const MAX_RANK: usize = 1000;

/// The member `shape` of the document of an array.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] if it is missing or no list of sizes, [`ErrorKind::Limit`] if it has too many.
pub(crate) fn shape(document: &At<'_>) -> Result<Vec<u64>> {
    let at = document.member("shape")?;
    let shape = at.sizes()?;
    if shape.len() > MAX_RANK {
        let found = format!("{} dimensions", shape.len());
        return Err(Error::new(ErrorKind::Limit, at.pointer(), found, format!("at most {MAX_RANK}")));
    }
    Ok(shape)
}

/// The letter at `at` as a codec: none for `C`, nor where the order makes no difference.
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

/// The letter for the transposes that a chain of codecs begins with, and how many these are.
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

/// The chunk shape of a regular grid.
pub(crate) fn chunk_shape(grid: &NamedConfig) -> Result<Value> {
    match grid.configuration.get("chunk_shape") {
        Some(shape) if grid.name == "regular" => Ok(shape.clone()),
        _ => {
            let found = grid.to_value().excerpt();
            Err(Error::new(ErrorKind::NotExpressible, "/chunk_grid", found, "a regular grid"))
        }
    }
}

/// A regular grid of chunks of the shape at `at`, one length above 0 for each dimension of `shape`; `size` is that of an
/// element in bytes.
///
/// The length is 1 where the dimension is 0 and so is the length in the document: the drafts allow that, and zarr-python 2
/// writes it for `chunks=False`.
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

/// The encoding that another may add to, and its separator; `None` if it is an extension.
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

/// The key encoding `name` with a separator.
pub(crate) fn keys(name: &str, separator: &str) -> NamedConfig {
    NamedConfig::with(name, [("separator".to_owned(), json!(separator))].into_iter().collect())
}

/// The key encoding that puts a suffix behind the keys of another.
#[cfg(feature = "drafts")]
pub(crate) fn with_suffix(encoding: &NamedConfig, suffix: &str) -> NamedConfig {
    let members = [("suffix".to_owned(), Value::from(suffix)), ("base_encoding".to_owned(), encoding.to_value())];
    NamedConfig::with("suffix", members.into_iter().collect())
}

/// The separator of keys of the encoding `name`.
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
