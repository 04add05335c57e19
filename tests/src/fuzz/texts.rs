//! Short strings: JSON, data types, fill values, selections, keys and paths.

mod geometry;

use super::files::line;
use super::laws;
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, mutate};
use std::collections::BTreeSet;
use zarr_dtype::{FillValue, Heap, Spelling, from_npy_descr, from_npy_value, npy_descr, npy_literal};
use zarr_json::{NamedConfig, ParseOptions, Value, parse};
use zarr_meta::NodePath;
use zarr_store::{Key, Prefix, StoreExt};

/// Target that takes a string.
pub(super) struct Text {
    pub(super) run: fn(&str) -> bool,
    pub(super) seeds: fn() -> Result<Vec<Vec<u8>>, Fault>,
    /// Whether the first line, or the whole string, is JSON.
    pub(super) is_json: bool,
}

pub(super) const JSON: Text = Text { run: json, seeds: all_documents, is_json: true };
pub(super) const DATA_TYPE: Text = Text { run: data_type, seeds: data_types, is_json: true };
pub(super) const FILL_VALUE: Text = Text { run: fill_value, seeds: fill_values, is_json: true };
pub(super) const SELECTION: Text = Text { run: geometry::selection, seeds: geometry::selections, is_json: true };
pub(super) const CHUNK_KEY: Text = Text { run: geometry::chunk_key, seeds: geometry::chunk_keys, is_json: true };
pub(super) const NAME: Text = Text { run: name, seeds: names, is_json: false };

/// Changes the JSON of the first line, or any bytes.
pub(super) fn mutate(random: &mut Random, input: &[u8], is_json: bool) -> Vec<u8> {
    if !is_json || random.below(4) == 0 {
        return mutate::bytes(random, input);
    }
    let whole = parse(input, ParseOptions::default());
    if let Ok(parsed) = whole {
        return mutate::document(random, input, &parsed.value);
    }
    let (first, rest) = line(input);
    let Ok(value) = Value::from_json(&first) else { return mutate::bytes(random, input) };
    let changed = match random.below(2) {
        0 => (mutate::document(random, first.as_bytes(), &value), rest.to_vec()),
        _ => (first.into_bytes(), mutate::bytes(random, rest)),
    };
    [changed.0, vec![b'\n'], changed.1].concat()
}

fn json(text: &str) -> bool {
    let mut taken = false;
    for free in [false, true] {
        let options = if free { ParseOptions::ALL } else { ParseOptions::default() };
        let Ok(parsed) = parse(text.as_bytes(), options) else { continue };
        taken = true;
        match free {
            false => laws::json::strict(text, &parsed.value),
            true => laws::json::lenient(&parsed.value),
        }
        for printed in [parsed.value.to_string(), format!("{:#}", parsed.value)] {
            let again = parse(printed.as_bytes(), options).map(|again| again.value);
            assert!(
                again.as_ref().is_ok_and(|again| again.semantically_eq(&parsed.value)),
                "{printed} is read as {again:?}"
            );
        }
        parsed.value.excerpt();
    }
    taken
}

fn all_documents() -> Result<Vec<Vec<u8>>, Fault> {
    let mut texts = BTreeSet::from([
        br#"["\ud83e\udd80\u0000\\\"\/\b\f\n\r\t",-0.0e-17,1E400,18446744073709551616,[[[{}]]],{"":{"a":null}}]"#
            .to_vec(),
    ]);
    for archive in ARCHIVES {
        for case in cases(archive)? {
            let Ok(store) = zarr::store::open(&case.url()) else { continue };
            for key in store.list().map_err(|error| error.to_string())? {
                if let Ok(Some(value)) = store.get_all(&key)
                    && value.len() < 16 << 10
                    && value.starts_with(b"{")
                {
                    texts.insert(value.to_vec());
                }
            }
        }
    }
    Ok(texts.into_iter().collect())
}

fn data_type(text: &str) -> bool {
    let value = Value::from_json(text).unwrap_or_else(|_| Value::from(text));
    let mut types = Vec::new();
    if let Some(config) = NamedConfig::from_value(&value)
        && let Ok(data_type) = super::chunks::registry().data_types.from_config(&config)
    {
        laws::array::same_type(&config, &data_type);
        types.push(data_type);
    }
    if let Ok((data_type, _)) = from_npy_value(&value) {
        types.push(data_type);
    }
    if let Some(descr) = value.as_str()
        && let Ok((data_type, order)) = from_npy_descr(descr)
    {
        let again = npy_descr(&data_type).map(|descr| from_npy_descr(&descr));
        if let Some(Ok((again, _))) = again {
            assert_eq!(again, data_type, "{descr} in order {order:?}");
        }
        types.push(data_type);
    }
    for data_type in &types {
        let again = super::chunks::registry().data_types.from_config(&data_type.to_config());
        assert!(again.as_ref().is_ok_and(|again| again == data_type), "{data_type} is read as {again:?}");
        laws::array::data_type(data_type);
        npy_literal(data_type);
        // One element may be as large as its type says, which no limit is known to here.
        if data_type.item_size() < 1 << 20 {
            FillValue::zero(data_type).to_json(data_type);
        }
    }
    !types.is_empty()
}

/// Returns the data types and the fill values of all documents.
fn typed() -> Result<BTreeSet<(String, String)>, Fault> {
    let mut found = BTreeSet::new();
    for document in all_documents()? {
        let Ok(parsed) = parse(&document, ParseOptions::default().nan_literals(true)) else {
            continue;
        };
        let member = |name: &str| parsed.value.get(name);
        if let Some(data_type) = member("data_type").or_else(|| member("dtype")) {
            let fill = member("fill_value").cloned().unwrap_or_default();
            found.insert((data_type.to_string(), fill.to_string()));
        }
    }
    for (data_type, fill) in crate::matrix::fill_values() {
        found.insert((data_type.to_string(), fill.to_string()));
    }
    Ok(found)
}

fn data_types() -> Result<Vec<Vec<u8>>, Fault> {
    let types: BTreeSet<_> = typed()?.into_iter().map(|(data_type, _)| data_type.into_bytes()).collect();
    Ok(types.into_iter().collect())
}

fn fill_value(text: &str) -> bool {
    let Ok(Value::Array(both)) = Value::from_json(text) else { return false };
    let [data_type, fill] = &both[..] else { return false };
    let config = NamedConfig::from_value(data_type);
    let known = config.and_then(|config| super::chunks::registry().data_types.from_config(&config).ok());
    let Some(data_type) = known.or_else(|| Some(from_npy_value(data_type).ok()?.0)) else { return false };
    if data_type.item_size() > 1 << 20 {
        return false;
    }
    let mut taken = false;
    for spelling in [Spelling::Strict, Spelling::Lenient, Spelling::Readable] {
        let Ok(parsed) = FillValue::parse_as(&data_type, fill, spelling) else { continue };
        taken = true;
        let printed = parsed.to_json(&data_type);
        let again = FillValue::parse(&data_type, &printed);
        assert!(again.as_ref().is_ok_and(|again| *again == parsed), "{data_type}: {fill}, {printed}, {again:?}");
        laws::elements::fill(&data_type, fill, &parsed);
        assert_eq!(FillValue::from_bytes(&data_type, parsed.bytes()).as_ref(), Ok(&parsed), "{data_type}: {printed}");
        let heap = Heap::new();
        let item = parsed.item_in(&heap);
        assert!(parsed.is_all_of(&item.repeat(3), Some(&heap)), "{data_type}: {printed}");
        let zero = FillValue::zero(&data_type);
        assert_eq!(zero.is_all_of(&item, Some(&heap)), zero == parsed, "{data_type}: {printed}");
    }
    if let Some(text) = fill.as_str() {
        laws::elements::time(&data_type, text);
    }
    for bytes in [vec![0xA5; data_type.item_size()], vec![1; data_type.item_size() + 1], text.as_bytes().to_vec()] {
        if let Ok(of_bytes) = FillValue::from_bytes(&data_type, &bytes) {
            laws::elements::fill(&data_type, &Value::Null, &of_bytes);
            of_bytes.to_json(&data_type);
        }
    }
    taken
}

fn fill_values() -> Result<Vec<Vec<u8>>, Fault> {
    let written = typed()?.into_iter().map(|(data_type, fill)| format!("[{data_type},{fill}]").into_bytes());
    Ok(written.chain(times()).collect())
}

/// Returns points in time and durations as strings, in each unit.
fn times() -> impl Iterator<Item = Vec<u8>> {
    const DATES: [&str; 7] =
        ["-0012-02-29", "1969", "1969-12", "1970-01-08", "2024-02-29T23:59:59.125Z", "2024-02-29 23:59:60", "NaT"];
    const DURATIONS: [&str; 6] = ["-5 ms", "3 Y", "14 D", "7 generic", "7", "NaT"];
    const UNITS: [&str; 14] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];
    let of = |letter, texts: &'static [&'static str]| {
        let with_unit = move |(unit, text)| format!("[\"<{letter}8[{unit}]\",\"{text}\"]").into_bytes();
        UNITS.into_iter().flat_map(move |unit| texts.iter().map(move |text| (unit, text))).map(with_unit)
    };
    of('M', &DATES).chain(of('m', &DURATIONS))
}

/// Checks a string as a key, a prefix, and a path of a node. Returns whether any of them accepts it.
fn name(text: &str) -> bool {
    let safe = |text: &str| !text.split('/').any(|part| matches!(part, "." | "..")) && !text.starts_with('/');
    let mut taken = false;
    if let Ok(key) = Key::new(text) {
        assert!(safe(key.as_str()) && key.parent().contains(&key));
        taken = true;
    }
    if let Ok(prefix) = Prefix::new(text) {
        assert!(safe(prefix.as_str()) && (prefix.is_root() || prefix.as_str().ends_with('/')));
        assert!(prefix.as_str().parse::<Prefix>().is_ok_and(|again| again == prefix), "{prefix}");
        for rest in ["a", text, "../a", "a/b"] {
            if let Ok(key) = prefix.join(rest) {
                assert!(
                    safe(key.as_str()) && prefix.contains(&key) && prefix.strip(&key) == Some(rest),
                    "{prefix} {rest}"
                );
            }
        }
        let joined = prefix.join_prefix(&prefix);
        assert!(safe(joined.as_str()) && joined.as_str().len() == 2 * prefix.as_str().len());
        assert_eq!(prefix.name().is_none(), prefix.is_root());
        taken = true;
    }
    if let Ok(path) = NodePath::parse(text) {
        assert!(safe(&path.key_prefix()));
        assert_eq!(NodePath::parse(&path.to_string()).as_ref(), Ok(&path));
        assert!(path.ancestors().all(|above| path.is_within(&above)) && path.names().count() <= 128);
        taken = true;
    }
    taken
}

fn names() -> Result<Vec<Vec<u8>>, Fault> {
    let names = [
        "/",
        "",
        "a",
        "/a/b",
        "a/b/",
        "a//b",
        "../a",
        "/a/../b",
        "a/./b",
        "__a",
        "\u{6771}/c",
        "C:\\a",
        "a/zarr.json",
        "meta/root/a.array.json",
    ];
    Ok(names.iter().map(|name| name.as_bytes().to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_data_types() {
        assert!(data_type("<f8") && data_type("\"int8\"") && data_type("[[\"a\",\"<i2\"]]"));
        assert!(!data_type("nothing"));
    }
}
