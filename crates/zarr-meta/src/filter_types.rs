//! Byte orders of the element types that filters of numcodecs name in version 3.
//!
//! zarr-python 3 gives numcodecs elements in memory order, and numcodecs takes their bytes for elements of the filter's decoded type
//! (`dtype`, `decode_dtype`), so elements of another byte order become other numbers. The output has the filter's encoded type (`astype`,
//! `encode_dtype`); the codec `bytes` converts the numbers to its own order. So in the model the byte orders of these types mean nothing.
//! [`normalize_filter_types`] writes the byte orders that all versions of zarr-python read.

use crate::codec_facts::{TypeMembers, codec_named};
use crate::dialect::codecs;
use crate::dialect::typestr;
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

fn members_of(codec: &NamedConfig) -> Option<TypeMembers> {
    codec_named(&codec.name)?.type_members()
}

/// Returns the numpy type for a type string, or for a type name that zarr-python fills in.
fn dtype(value: &Value) -> Option<NumpyType> {
    let named = value.as_str().and_then(NumpyType::named);
    named.or_else(|| typestr::parse(&At::root(value)).ok().map(|(dtype, _)| dtype))
}

/// Returns whether a type string says big-endian, for a type whose elements have a byte order.
fn is_big(value: &Value) -> bool {
    matches!(typestr::parse(&At::root(value)), Ok((_, ByteOrder::Big)))
}

fn in_order(value: &Value, order: &str) -> Option<Value> {
    let dtype = dtype(value)?;
    Some(dtype.to_value(&dtype.all_in(&typestr::order(order))))
}

/// Sets the byte orders of the element types in numcodecs filters of a version 3 chain so that zarr-python reads the chunks that this
/// library stores: little-endian, the order in memory, and for the encoded type of the last filter the order of the codec `bytes`.
///
/// # Example
/// ```
/// use zarr_json::{NamedConfig, json};
/// use zarr_meta::normalize_filter_types;
///
/// let codecs = [json!({"name": "numcodecs.delta", "configuration": {"dtype": ">i4"}}),
///               json!({"name": "bytes", "configuration": {"endian": "big"}})];
/// let mut codecs: Vec<_> = codecs.iter().filter_map(NamedConfig::from_value).collect();
/// normalize_filter_types(&mut codecs);
/// assert_eq!(codecs[0].configuration.to_string(), r#"{"dtype":"<i4","astype":">i4"}"#);
/// ```
pub fn normalize_filter_types(chain: &mut [NamedConfig]) {
    normalize(chain, |members| members.has_order);
}

/// Sets the byte orders of the element types in numcodecs filters, for dialects in which the encoded type of the last filter gives the byte
/// order of the stored elements.
pub(crate) fn normalize_filter_types_for_ids(chain: &mut [NamedConfig]) {
    normalize(chain, |_| true);
}

fn normalize(chain: &mut [NamedConfig], takes_order: fn(&TypeMembers) -> bool) {
    let order = chain.iter().find(|codec| codec.name == "bytes").and_then(|bytes| bytes.configuration.get("endian"));
    let is_big_in_store = order.and_then(Value::as_str) == Some("big");
    let last = chain.iter().rposition(|codec| members_of(codec).is_some());
    for (index, codec) in chain.iter_mut().enumerate() {
        codecs::change_chains(codec, &mut |chain| normalize(chain, takes_order));
        let Some(members) = members_of(codec) else { continue };
        let configuration = &mut codec.configuration;
        for member in [members.decoded, members.encoded] {
            if let Some(value) = configuration.get(member).filter(|value| is_big(value)) {
                let Some(value) = in_order(value, "little") else { continue };
                configuration.insert(member, value);
            }
        }
        let is_last = Some(index) == last && is_big_in_store && takes_order(&members);
        let encoded = [members.encoded, members.decoded]
            .into_iter()
            .find_map(|member| configuration.get(member).filter(|value| !value.is_null()));
        if let Some(value) = encoded.filter(|_| is_last).and_then(|value| in_order(value, "big")) {
            configuration.insert(members.encoded, value);
        }
    }
}

/// Returns the codec without members that do not change the stored bytes, for comparing chains: the byte orders of the types of numcodecs
/// filters are dropped, and so is an encoded type equal to the decoded type.
#[must_use]
pub fn without_filter_orders(codec: &NamedConfig) -> NamedConfig {
    let mut codec = codec.clone();
    codecs::change_chains(&mut codec, &mut |chain| {
        for codec in chain {
            *codec = without_filter_orders(codec);
        }
    });
    let Some(members) = members_of(&codec) else { return codec };
    let configuration = &mut codec.configuration;
    for member in [members.decoded, members.encoded] {
        if let Some(value) = configuration.get(member).and_then(|value| in_order(value, "little")) {
            configuration.insert(member, value);
        }
    }
    if configuration.get(members.encoded) == configuration.get(members.decoded) {
        configuration.remove(members.encoded);
    }
    codec
}

/// Returns warnings about filters whose decoded type is big-endian: a pointer below `list`, and the possible consequence.
pub(crate) fn of_other_order(chain: &[NamedConfig], list: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (index, codec) in chain.iter().enumerate() {
        let configuration = format!("{list}/{index}/configuration");
        for (member, chain) in codecs::chains(codec) {
            found.extend(of_other_order(&chain, &format!("{configuration}/{member}")));
        }
        let Some(member) = members_of(codec).map(|members| members.decoded) else { continue };
        if let Some(value) = codec.configuration.get(member).filter(|value| is_big(value)) {
            let what = format!(
                "{}: its byte order is ignored. zarr-python 3 stores wrong numbers there if it is given little-endian elements",
                value.excerpt()
            );
            found.push((format!("{configuration}/{member}"), what));
        }
    }
    found
}
