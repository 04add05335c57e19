//! The byte orders of the types that filters of numcodecs name in version 3.
//!
//! zarr-python 3 gives numcodecs elements as they lie in memory, and numcodecs takes their bytes for elements of the type that the
//! filter names in front (`dtype`, `decode_dtype`), so that elements of another order become other numbers. The output
//! is of the type that it names behind (`astype`, `encode_dtype`); the codec `bytes` puts these numbers into its own
//! order. So in the model the orders of these types mean nothing. [`normalize_filter_types`] writes the orders that all
//! versions of zarr-python read.

use crate::codec_facts::{TypeMembers, codec_named};
use crate::dialect::codecs;
use crate::dialect::typestr;
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

fn members_of(codec: &NamedConfig) -> Option<TypeMembers> {
    codec_named(&codec.name)?.type_members()
}

/// A type of numpy by its type string, or by the name that zarr-python fills in.
fn dtype(value: &Value) -> Option<NumpyType> {
    let named = value.as_str().and_then(NumpyType::named);
    named.or_else(|| typestr::parse(&At::root(value)).ok().map(|(dtype, _)| dtype))
}

/// Whether a type string says big-endian, of elements that have an order.
fn is_big(value: &Value) -> bool {
    matches!(typestr::parse(&At::root(value)), Ok((_, ByteOrder::Big)))
}

fn in_order(value: &Value, order: &str) -> Option<Value> {
    let dtype = dtype(value)?;
    Some(dtype.to_value(&dtype.all_in(&typestr::order(order))))
}

/// Gives the types that filters of numcodecs name in a chain of version 3 the orders by which zarr-python reads the
/// chunks that this library stores: little-endian ones, as it has elements in memory, and behind the last filter that
/// of the codec `bytes`.
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

/// The same for dialects that have filters of numcodecs, where the type behind the last filter says the order of the
/// stored elements.
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

/// A codec without the members that do not change the bytes that it stores: the orders of the types of filters of
/// numcodecs, and a type behind a filter that is the one in front. To compare chains by.
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

/// The types in front of filters that are big-endian, with pointers below `list`, and the possible consequence.
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
