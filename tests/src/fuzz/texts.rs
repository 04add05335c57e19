//! Short texts: JSON, data types, fill values, selections, keys and paths.

use super::files::line;
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, mutate};
use std::collections::BTreeSet;
use zarr_dtype::{FillValue, Spelling, from_npy_descr, from_npy_value, npy_descr, npy_literal};
use zarr_grid::{AxisSelection, ChunkGrid, ChunkKeyEncoding, Resolved, Selection};
use zarr_meta::json::{Leniency, Value, parse};
use zarr_meta::{NamedConfig, NodePath};
use zarr_store::{Key, Prefix, StoreExt};

/// A target that takes text.
pub(super) struct Text {
    pub(super) run: fn(&str) -> bool,
    pub(super) seeds: fn() -> Result<Vec<Vec<u8>>, Fault>,
    /// Whether the first line, or all of the text, is JSON.
    pub(super) is_json: bool,
}

pub(super) const JSON: Text = Text { run: json, seeds: all_documents, is_json: true };
pub(super) const DATA_TYPE: Text = Text { run: data_type, seeds: data_types, is_json: true };
pub(super) const FILL_VALUE: Text = Text { run: fill_value, seeds: fill_values, is_json: true };
pub(super) const SELECTION: Text = Text { run: selection, seeds: selections, is_json: true };
pub(super) const CHUNK_KEY: Text = Text { run: chunk_key, seeds: chunk_keys, is_json: true };
pub(super) const NAME: Text = Text { run: name, seeds: names, is_json: false };

/// The parts of a selection that are looked at, and the positions of lists: more is for the tests of scale.
const PARTS: u64 = 1000;

/// Changes the JSON of the first line, or anything.
pub(super) fn mutate(random: &mut Random, input: &[u8], is_json: bool) -> Vec<u8> {
    if !is_json || random.below(4) == 0 {
        return mutate::bytes(random, input);
    }
    let whole = parse(input, Leniency::default());
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
        let leniency = Leniency { bare_nan: free, trailing_comma: free, duplicate_names: free };
        let Ok(parsed) = parse(text.as_bytes(), leniency) else { continue };
        taken = true;
        for printed in [parsed.value.to_string(), format!("{:#}", parsed.value)] {
            let again = Value::from_json(&printed);
            assert!(again.as_ref().is_ok_and(|again| again.same(&parsed.value)), "{printed} is read as {again:?}");
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
            let Ok(store) = zarr::open_store(&case.url()) else { continue };
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
        npy_literal(data_type);
        // One element may be as large as its type says, which no limit is known to here.
        if data_type.item_size() < 1 << 20 {
            FillValue::zero(data_type).to_json(data_type);
        }
    }
    !types.is_empty()
}

/// The data types and the fill values of documents.
fn typed() -> Result<BTreeSet<(String, String)>, Fault> {
    let mut found = BTreeSet::new();
    for document in all_documents()? {
        let Ok(parsed) = parse(&document, Leniency { bare_nan: true, ..Leniency::default() }) else { continue };
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
    for spelling in [Spelling::Strict, Spelling::Lenient] {
        let Ok(parsed) = FillValue::parse_as(&data_type, fill, spelling) else { continue };
        taken = true;
        let printed = parsed.to_json(&data_type);
        let again = FillValue::parse(&data_type, &printed);
        assert!(again.as_ref().is_ok_and(|again| *again == parsed), "{data_type}: {fill}, {printed}, {again:?}");
    }
    let bytes = vec![0xA5; data_type.item_size()];
    if let Ok(of_bytes) = FillValue::from_bytes(&data_type, &bytes) {
        of_bytes.to_json(&data_type);
    }
    taken
}

fn fill_values() -> Result<Vec<Vec<u8>>, Fault> {
    Ok(typed()?.into_iter().map(|(data_type, fill)| format!("[{data_type},{fill}]").into_bytes()).collect())
}

/// A line with a shape and a chunk grid, and a selection.
fn selection(text: &str) -> bool {
    let (head, text) = text.split_once('\n').unwrap_or(("", text));
    let head = Value::from_json(head).unwrap_or_default();
    let shape: Option<Vec<u64>> =
        head.get("shape").and_then(Value::as_array).map(|shape| shape.iter().filter_map(Value::as_u64).collect());
    let shape = shape.unwrap_or_default();
    let names: Vec<_> = (0..shape.len()).map(|axis| (axis % 2 == 0).then(|| format!("axis{axis}"))).collect();
    let Ok(selection) = Selection::parse(text, &names) else { return false };
    let grid = head.get("chunk_grid").and_then(NamedConfig::from_value);
    let grid = grid.and_then(|grid| ChunkGrid::from_config(&grid, &shape).ok());
    let Some(grid) = grid else { return selection.resolve(&shape).is_ok() };
    for other in others(&selection) {
        if let Ok(resolved) = other.resolve_on(&grid) {
            parts(&resolved, &grid);
        }
    }
    let Ok(resolved) = selection.resolve_on(&grid) else { return false };
    parts(&resolved, &grid);
    true
}

/// What no text selects: chunks, and points, whose coordinates the lists are.
fn others(selection: &Selection) -> Vec<Selection> {
    let Selection::Axes(axes) = selection else { return Vec::new() };
    let list = |axis: &AxisSelection| if let AxisSelection::Indices(list) = axis { Some(list.clone()) } else { None };
    let points = axes.iter().map(list).collect::<Option<Vec<_>>>().map(Selection::Points);
    points.into_iter().chain([Selection::Blocks(axes.clone())]).collect()
}

fn parts(resolved: &Resolved, grid: &ChunkGrid) {
    let shape = resolved.output_shape();
    if resolved.len_checked().is_none_or(|len| len > PARTS) {
        return;
    }
    let Ok(parts) = resolved.parts(grid) else { return };
    let mut moved = 0;
    for part in parts.iter() {
        part.moves(|run| moved += run.len);
    }
    assert_eq!(moved, shape.iter().product::<u64>(), "every element selected is moved once");
}

fn selections() -> Result<Vec<Vec<u8>>, Fault> {
    let regular = r#"{"shape":[10,20,30],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[3,7,30]}}}"#;
    let runs = r#"{"shape":[10,20],"chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[4,6],[[5,4]]]}}}"#;
    let huge =
        r#"{"shape":[4611686018427387904,3],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1000,1]}}}"#;
    let none = r#"{"shape":[],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[]}}}"#;
    let empty = r#"{"shape":[0,5],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,5]}}}"#;
    let texts = [
        "",
        "...",
        ":",
        "0",
        "-1",
        "1:5",
        "::2",
        "::-1",
        "-3:",
        "9:1:-2",
        "0,0,0",
        "1:3,...,5",
        "[1,2,5]",
        "[0,0,-1],:",
        "axis0=3",
        "axis0=1:5,axis2=[1,3]",
        "[9,1],[2,2]",
        "[9,-1,0,0],[2,2,1,1],[0,29,3,3]",
        ":,:,:",
        "5:5",
        "4611686018427387903",
        "-9223372036854775808:",
        "::9223372036854775807",
    ];
    let heads = [regular, runs, huge, none, empty];
    let pairs = heads.iter().flat_map(|head| texts.iter().map(move |text| format!("{head}\n{text}").into_bytes()));
    Ok(pairs.collect())
}

/// A line with a chunk key encoding, and a key.
fn chunk_key(text: &str) -> bool {
    let (head, key) = text.split_once('\n').unwrap_or((text, ""));
    let config = Value::from_json(head).ok().and_then(|head| NamedConfig::from_value(&head));
    let Some(Ok(encoding)) = config.map(|config| ChunkKeyEncoding::from_config(&config)) else { return false };
    let mut taken = false;
    for rank in 0..5 {
        let Some(index) = encoding.parse_key(key, rank) else { continue };
        taken = true;
        let mut written = String::new();
        encoding.write_key(&index, &mut written);
        assert_eq!(written, key, "{encoding:?}: {index:?}");
    }
    taken
}

fn chunk_keys() -> Result<Vec<Vec<u8>>, Fault> {
    let mut seeds = Vec::new();
    for rank in 0..4 {
        for index in [[0, 0, 0, 0], [1, 23, 456, 7], [1000, 10, 0, 99], [u64::MAX, 1, u64::MAX, 0]] {
            for config in [
                r#"{"name":"default","configuration":{"separator":"/"}}"#,
                r#"{"name":"default","configuration":{"separator":"."}}"#,
                r#"{"name":"v2","configuration":{"separator":"."}}"#,
                r#"{"name":"v2"}"#,
                r#"{"name":"fanout","configuration":{"max_children":10}}"#,
                r#"{"name":"fanout","configuration":{"max_children":1001}}"#,
                r#"{"name":"suffix","configuration":{"suffix":".tiff","base_encoding":{"name":"default"}}}"#,
            ] {
                let named = Value::from_json(config).ok().and_then(|config| NamedConfig::from_value(&config));
                let Some(Ok(encoding)) = named.map(|named| ChunkKeyEncoding::from_config(&named)) else { continue };
                let mut key = String::new();
                encoding.write_key(index.get(..rank).unwrap_or_default(), &mut key);
                seeds.push(format!("{config}\n{key}").into_bytes());
            }
        }
    }
    Ok(seeds)
}

/// Keys, prefixes, and paths of nodes.
fn name(text: &str) -> bool {
    let safe = |text: &str| !text.split('/').any(|part| matches!(part, "." | "..")) && !text.starts_with('/');
    let mut taken = false;
    if let Ok(key) = Key::new(text) {
        assert!(safe(key.as_str()) && key.parent().contains(&key));
        taken = true;
    }
    if let Ok(prefix) = Prefix::new(text) {
        assert!(safe(prefix.as_str()));
        taken = true;
    }
    if let Ok(path) = NodePath::parse(text) {
        assert!(safe(&path.key_prefix()));
        assert_eq!(NodePath::parse(&path.to_string()).as_ref(), Ok(&path));
        assert!(path.ancestors().all(|above| path.is_within(&above)));
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
