//! Translation between filters and compressors of version 2 (numcodecs) and codecs of the model.
//!
//! Codecs that version 3 has too have its names in the model: `blosc`, `gzip`, `zstd`, `crc32c`, `vlen-utf8`, `vlen-bytes`. All other
//! codecs are named `numcodecs.<id>`, with the configuration as stored.

mod chain;
mod form;
#[cfg(test)]
mod tests;

#[cfg(feature = "drafts")]
pub(crate) use form::parameters;
pub(crate) use form::{OWN_ID, deviations};

use self::chain::{Chain, Orders, encoded_type};
use super::codecs::{self, Kind};
use super::{typestr, uri};
use crate::codec_facts::{Form, NUMCODECS, codec_named, codec_of_id};
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

/// Returns the data type and the codecs of the model for elements of `dtype` that pass through `codecs` in order. As in numcodecs, each
/// codec takes the incoming bytes for elements of the type that it names.
pub(crate) fn to_model(
    codecs: &[At<'_>],
    dtype: &NumpyType,
    endian: &ByteOrder,
) -> Result<(NamedConfig, Vec<NamedConfig>)> {
    Chain::new(dtype, endian, Orders::OfTypes).through(codecs, 0)
}

/// Returns the data type and the codecs of the model, as [`to_model`] does, for dialects in which the byte order is not part of a type:
/// types in codecs have the byte order of the elements. The first `of_arrays` codecs are array codecs if they are unknown.
#[cfg(feature = "drafts")]
pub(crate) fn to_model_in_one_order(
    codecs: &[At<'_>],
    of_arrays: usize,
    dtype: &NumpyType,
    endian: &ByteOrder,
) -> Result<(NamedConfig, Vec<NamedConfig>)> {
    Chain::new(dtype, endian, Orders::One).through(codecs, of_arrays)
}

/// Returns the codec `id` in the form of the model if the elements are not known: without members that depend on the elements.
pub(crate) fn given(id: &str, parameters: &Map) -> Result<NamedConfig> {
    let mut map = parameters.clone();
    // The default of numcodecs depends on the elements.
    if id == "blosc" && map.get("shuffle").and_then(Value::as_i64) == Some(-1) {
        map.remove("shuffle");
    }
    let mut codec = form::of_model(&At::root(&Value::Object(map)), id, 1, 1)?;
    let is_known = codec_named(&codec.name).is_some();
    if !is_known && uri::is_uri(id) {
        codec.name = id.to_owned();
    }
    if id == "blosc" && !parameters.contains_key("typesize") {
        codec.configuration.remove("typesize");
    }
    Ok(codec)
}

/// Filters, compressor and byte order of a document, for codecs of the model without a leading `transpose`.
pub(crate) struct Stored {
    pub(crate) filters: Vec<Value>,
    pub(crate) compressor: Option<Value>,
    pub(crate) endian: ByteOrder,
}

impl Stored {
    /// Checks codecs for a document that stores each codec as an object of numcodecs, in which a parameter cannot be called `id`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NotExpressible`] for a codec with a parameter `id`.
    pub(crate) fn of_numcodecs(self) -> Result<Self> {
        match self.filters.iter().chain(&self.compressor).any(|codec| codec.get(OWN_ID).is_some()) {
            true => Err(Error::new(ErrorKind::NotExpressible, "", "a parameter named id", "parameters of other names")),
            false => Ok(self),
        }
    }
}

/// Returns filters, compressor and byte order for a chain of the model: the inverse of [`to_model`]. JSON pointers in errors begin at the
/// list of codecs, of which `offset` codecs precede `chain`.
pub(crate) fn from_model(chain: &[NamedConfig], offset: usize, dtype: &NumpyType) -> Result<Stored> {
    let mut stored: Vec<Map> = Vec::new();
    let mut array_endian = None;
    let mut elements = Some(dtype.clone());
    // The size of the elements that the bytes directly in front of a codec consist of.
    let mut typesize = 1;
    let mut item_size = 1;
    // The byte order that elements have where they become bytes.
    let order = chain.iter().find(|codec| codec.name == "bytes").and_then(|bytes| bytes.configuration.get("endian"));
    let order = order.and_then(Value::as_str).unwrap_or("little");
    for (index, codec) in chain.iter().enumerate() {
        let below = |error: Error| error.below(&format!("/{}", index + offset));
        let no = |expected: &str| {
            let found = format!("codec {:?}", codec.name);
            below(Error::new(ErrorKind::NotExpressible, "", found, expected))
        };
        if codec.name == "bytes" {
            let Some(current) = elements.take().filter(|dtype| *dtype != NumpyType::Object) else {
                return Err(no("a codec for data of variable length"));
            };
            typesize = current.size().unwrap_or(1);
            item_size = typesize;
            let found = typestr::endian(&current, &codec.configuration).map_err(below)?;
            // Behind a filter that changes the type, the byte order is that of the filter.
            array_endian.get_or_insert(if current == *dtype { found } else { dtype.all_in(&ByteOrder::Little) });
            continue;
        }
        if codec.name == codecs::VIEW {
            let viewed = elements.is_none().then(|| viewed(codec)).flatten();
            let (maps, size) = viewed.ok_or_else(|| no("codecs that version 2 has, behind one that gives bytes"))?;
            stored.extend(maps);
            typesize = size;
            continue;
        }
        // A codec that is not known is of arrays if the array becomes bytes behind it.
        let becomes_bytes = || chain.iter().skip(index).any(|codec| codec.name == "bytes");
        let kind = codecs::kind(&codec.name).or_else(|| becomes_bytes().then_some(Kind::ArrayToArray));
        let mut map = stored_form(codec, typesize).ok_or_else(|| no("a codec that version 2 has"))?;
        complete(&mut map, elements.as_ref(), order, item_size);
        if kind == Some(Kind::ArrayToArray) {
            let value = Value::Object(map.clone());
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
            if let Some(current) = &elements {
                // The byte order of a filtered array is that of the filter's type, where it names one.
                let own = At::root(&value).get("dtype").or_else(|| At::root(&value).get("decode_dtype"));
                if let (Some(own), None) = (own, &array_endian)
                    && let Ok((own, endian)) = typestr::parse(&own)
                    && own.size() == dtype.size()
                {
                    let same = || dtype.all_in(endian.uniform().unwrap_or(&ByteOrder::Little));
                    array_endian = Some(if own == *dtype { endian.clone() } else { same() });
                }
                let next = encoded_type(id, &At::root(&value), current, &ByteOrder::Irrelevant).map_err(below)?;
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
        codec_of_id(id).is_none_or(|codec| codec.compresses)
    };
    let compressor = if stored.last().is_some_and(is_compressor) { stored.pop() } else { None };
    Ok(Stored {
        filters: stored.into_iter().map(Value::Object).collect(),
        compressor: compressor.map(Value::Object),
        endian: array_endian.unwrap_or_else(|| dtype.all_in(&ByteOrder::Little)),
    })
}

/// Returns the numcodecs objects of the codecs inside of the view `view`, and the size of the elements after them.
fn viewed(view: &NamedConfig) -> Option<(Vec<Map>, u64)> {
    let named = NamedConfig::from_value(view.configuration.get("data_type")?)?;
    let mut dtype = typestr::from_model(&named).ok()?;
    let mut is_bytes = false;
    let mut maps = Vec::new();
    for codec in view.configuration.get("codecs")?.as_array()? {
        let codec = NamedConfig::from_value(codec)?;
        if codec.name == "bytes" {
            continue;
        }
        let map = stored_form(&codec, 1)?;
        match codecs::kind(&codec.name) {
            Some(Kind::ArrayToArray) => {
                let value = Value::Object(map.clone());
                let id = map.get("id").and_then(Value::as_str).unwrap_or_default();
                dtype = encoded_type(id, &At::root(&value), &dtype, &ByteOrder::Irrelevant).ok()?.0;
            }
            _ => is_bytes = true,
        }
        maps.push(map);
    }
    Some((maps, if is_bytes { 1 } else { dtype.size()? }))
}

/// Adds members that numcodecs requires but version 3 may omit, since they follow from the data type.
fn complete(map: &mut Map, elements: Option<&NumpyType>, order: &str, item_size: u64) {
    let lacks = |map: &Map, member: &str| map.get(member).is_none_or(Value::is_null);
    let Some(codec) = map.get("id").and_then(Value::as_str).and_then(codec_of_id) else { return };
    if codec.form == Form::Shuffle && lacks(map, "elementsize") {
        map.insert("elementsize", item_size);
    } else if let (Some(members), Some(dtype)) = (codec.type_members(), elements)
        && lacks(map, members.decoded)
    {
        map.insert(members.decoded, dtype.to_value(&dtype.all_in(&typestr::order(order))));
    }
}

/// Returns a codec in the form of version 2; `None` if version 2 has no such codec.
fn stored_form(codec: &NamedConfig, typesize: u64) -> Option<Map> {
    let known = codec_named(&codec.name);
    let id = match known {
        Some(known) => known.id?,
        None => codec.name.strip_prefix(NUMCODECS)?,
    };
    let mut map = Map::new();
    map.insert("id", id);
    for (name, value) in codec.configuration.iter() {
        map.insert(if name == "id" { OWN_ID } else { name }, value.clone());
    }
    // By another name it has the configuration of numcodecs already.
    if let Some(known) = known.filter(|known| known.v3 == codec.name) {
        form::to_numcodecs(known.form, &mut map, typesize)?;
    }
    Some(map)
}
