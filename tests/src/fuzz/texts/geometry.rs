//! Selections, chunk grids and chunk keys.

use super::super::laws;
use crate::Fault;
use zarr_grid::{AxisSelection, ChunkGrid, IntoSelection, Region, Selection};
use zarr_json::{NamedConfig, Value};

/// Checks a line of JSON with a shape, a chunk grid, and selections that have no text form (a mask, a region), followed by a selection.
/// Returns whether it was accepted.
pub(super) fn selection(text: &str) -> bool {
    let (head, text) = text.split_once('\n').unwrap_or(("", text));
    let head = Value::from_json(head).unwrap_or_default();
    let shape = numbers(head.get("shape"));
    let names: Vec<_> = (0..shape.len()).map(|axis| (axis % 2 == 0).then(|| format!("axis{axis}"))).collect();
    let config = head.get("chunk_grid").and_then(NamedConfig::from_value);
    let grid = config.as_ref().and_then(|config| ChunkGrid::from_config(config, &shape).ok());
    if let (Some(config), Some(grid)) = (&config, &grid) {
        laws::array::grid(config, grid);
        cells(grid, &shape);
    }
    let parsed = Selection::parse(text, &names);
    if !text.contains('=') {
        assert_eq!(parsed.as_ref().ok(), laws::selection::parsed(text).as_ref(), "{text:?}");
        assert_eq!(text.into_selection(), Selection::parse(text, &[]));
    }
    let mut taken = false;
    for selection in others(&head, &shape) {
        taken |= resolved(&selection, &shape, grid.as_ref());
    }
    let Ok(selection) = parsed else { return taken };
    for other in of_axes(&selection) {
        resolved(&other, &shape, grid.as_ref());
    }
    resolved(&selection, &shape, grid.as_ref())
}

/// Checks the chunks at both ends, and the same grid for an array of another shape.
fn cells(grid: &ChunkGrid, shape: &[u64]) {
    let (first, last): (Vec<u64>, Vec<u64>) = shape.iter().map(|len| (0, len.saturating_sub(1))).unzip();
    for position in [first, last] {
        let chunk = grid.chunk_at(&position);
        assert_eq!(chunk.is_ok(), !shape.contains(&0), "{chunk:?}");
        let Ok(chunk) = chunk else { continue };
        assert_eq!(grid.check_index(&chunk), Ok(()));
        let region = grid.chunk_region(&chunk);
        let holds =
            region.axes().iter().zip(&position).all(|(axis, at)| axis.start <= *at && at - axis.start < axis.len);
        assert!(holds, "{position:?} is not in chunk {chunk:?}, {region}");
        let overlaps = grid.intersect(&region);
        assert_eq!((overlaps.len(), overlaps.position(&chunk)), (1, Some(0)), "the overlaps of chunk {chunk:?}");
        let overlap = overlaps.get(0);
        assert!(overlap.index == chunk && grid.covers_chunk(&overlap), "{overlap:?} is not chunk {chunk:?}");
    }
    let outside: Vec<u64> = grid.grid_shape().to_vec();
    assert!(grid.check_index(&outside).is_err() || shape.is_empty(), "a chunk outside of the grid");
    assert!(grid.chunk_at(shape).is_err() || shape.is_empty(), "an element outside of the array");
    for change in
        [|len: u64| len / 2, |len: u64| len.saturating_add(len / 2 + 1) >> 1, |len: u64| len.saturating_mul(2)]
    {
        let other: Vec<u64> = shape.iter().map(|len| change(*len)).collect();
        if let Ok(resized) = grid.resized(&other) {
            assert_eq!(resized.shape(), other);
            if let Ok(config) = ChunkGrid::from_config(&resized.to_config(), &other) {
                assert_eq!(config, resized);
            }
        }
    }
}

/// Applies a selection, and compares the positions with the expected ones. Returns whether it was accepted.
fn resolved(selection: &Selection, shape: &[u64], grid: Option<&ChunkGrid>) -> bool {
    let Some(grid) = grid else { return selection.resolve(shape).is_ok() };
    let resolved = selection.resolve_on(grid);
    let due = laws::selection::listed(selection, grid);
    assert_eq!(resolved.is_ok(), due.is_some(), "{selection:?} of {shape:?}: {resolved:?}");
    let Ok(resolved) = resolved else { return false };
    let result = resolved.result_shape();
    assert_eq!(zarr_grid::element_count(&result), resolved.len_checked());
    let found = laws::selection::moved(&resolved, grid);
    if let (Some(found), Some(due)) = (found, due.flatten()) {
        assert_eq!(found, due, "{selection:?} of {shape:?} in {grid:?}");
    }
    true
}

/// Returns the selections of points and of chunks that correspond to a selection along axes, and selections by Rust ranges.
fn of_axes(selection: &Selection) -> Vec<Selection> {
    let Selection::Axes(axes) = selection else { return Vec::new() };
    let list = |axis: &AxisSelection| if let AxisSelection::Indices(list) = axis { Some(list.clone()) } else { None };
    let points = axes.iter().map(list).collect::<Option<Vec<_>>>().map(Selection::coordinates);
    let blocks = Selection::blocks(selection).ok();
    points.into_iter().chain(blocks).chain(converted(axes)).collect()
}

/// Returns the same selections converted from Rust types, and checks that they mean the same as their text form.
fn converted(axes: &[AxisSelection]) -> Vec<Selection> {
    let same = |made: zarr_grid::Result<Selection>, axis: &AxisSelection| {
        assert_eq!(made, Ok(Selection::Axes(vec![axis.clone()])));
    };
    for axis in axes {
        same(axis.clone().into_selection(), axis);
        match *axis {
            AxisSelection::Index(at) => {
                same(at.into_selection(), axis);
                if let Ok(at) = u64::try_from(at) {
                    same(at.into_selection(), axis);
                }
            }
            AxisSelection::Range { start, stop, step: 1 } => match (start, stop) {
                (Some(start), Some(stop)) => {
                    same((start..stop).into_selection(), axis);
                    if let Some(last) = stop.checked_sub(1).filter(|last| *last != -1) {
                        same((start..=last).into_selection(), axis);
                    }
                }
                (Some(start), None) => same((start..).into_selection(), axis),
                (None, Some(stop)) => {
                    same((..stop).into_selection(), axis);
                    if let Some(last) = stop.checked_sub(1).filter(|last| *last != -1) {
                        same((..=last).into_selection(), axis);
                    }
                }
                (None, None) => {}
            },
            AxisSelection::Indices(ref list) => {
                same(AxisSelection::from(list.clone()).into_selection(), axis);
                same(AxisSelection::from(&list[..]).into_selection(), axis);
                if let Ok(list) = list.iter().map(|&at| u64::try_from(at)).collect::<Result<Vec<_>, _>>() {
                    same(AxisSelection::from(list.clone()).into_selection(), axis);
                    let list: Vec<_> = list.into_iter().map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
                    same(AxisSelection::from(list).into_selection(), axis);
                }
            }
            _ => {}
        }
    }
    let all = Ok(Selection::Axes(axes.to_vec()));
    assert_eq!(axes.into_selection(), all);
    assert_eq!(axes.to_vec().into_selection(), all);
    assert_eq!((&axes.to_vec()).into_selection(), all);
    match axes {
        [] => assert_eq!(().into_selection(), (..).into_selection()),
        [a] => {
            assert_eq!((a.clone(),).into_selection(), all);
            assert_eq!([a.clone()].into_selection(), all);
            assert_eq!(std::array::from_ref(a).into_selection(), all);
        }
        [a, b] => assert_eq!((a.clone(), b.clone()).into_selection(), all),
        [a, b, c] => assert_eq!((a.clone(), b.clone(), c.clone()).into_selection(), all),
        _ => {}
    }
    let selection = Selection::Axes(axes.to_vec());
    assert_eq!((&selection).into_selection().as_ref(), Ok(&selection));
    Vec::new()
}

/// Returns selections without a text form: masks and regions, in the members `mask`, `masks` and `region` of `head`.
fn others(head: &Value, shape: &[u64]) -> Vec<Selection> {
    let bits =
        |value: &Value| value.as_array().unwrap_or_default().iter().map(|bit| bit.as_bool() == Some(true)).collect();
    let mut others = Vec::new();
    if let Some(mask) = head.get("mask").map(bits) {
        let of: Vec<bool> = mask;
        let mask_shape = head.get("mask_shape").map_or_else(|| shape.to_vec(), |shape| numbers(Some(shape)));
        let made = Selection::mask(&mask_shape, of.clone());
        let fits = zarr_grid::element_count(&mask_shape) == Some(of.len() as u64);
        assert_eq!(made.is_ok(), fits, "a mask of {} entries for {mask_shape:?}", of.len());
        others.extend(made);
        // As who makes one without the function that checks.
        others.push(Selection::Mask { shape: zarr_grid::Shape::from_slice(&mask_shape), mask: of });
    }
    if let Some(masks) = head.get("masks").and_then(Value::as_array) {
        others.push(Selection::Axes(masks.iter().map(bits).map(AxisSelection::from).collect()));
    }
    if let Some(axes) = head.get("region").and_then(Value::as_array) {
        let range = |axis: &Value| match numbers(Some(axis))[..] {
            [start, len, step] => zarr_grid::AxisRange { start, len, step },
            _ => zarr_grid::AxisRange::new(0, 0),
        };
        if let Ok(region) = Region::new(axes.iter().map(range)) {
            assert!(region.axes().iter().all(|axis| axis.step > 0), "a step of 0");
            assert_eq!((&region).into_selection(), region.clone().into_selection());
            others.push(Selection::Region(region));
        }
    }
    others
}

/// Returns the integers of a list that are not negative.
fn numbers(value: Option<&Value>) -> Vec<u64> {
    value.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_u64).collect()
}

pub(super) fn selections() -> Result<Vec<Vec<u8>>, Fault> {
    let regular = r#"{"shape":[10,20,30],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[3,7,30]}},"region":[[0,4,3],[5,1,1],[0,30,1]]}"#;
    let runs = r#"{"shape":[10,20],"chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[4,6],[[5,4]]]}},"region":[[1,5,2],[0,0,1]],"masks":[[false,true,true,false,false,false,true,false,false,true]]}"#;
    let huge =
        r#"{"shape":[4611686018427387904,3],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1000,1]}}}"#;
    let none = r#"{"shape":[],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[]}},"mask":[true]}"#;
    let empty = r#"{"shape":[0,5],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,5]}},"mask":[],"mask_shape":[0,5]}"#;
    let masked = r#"{"shape":[3,4],"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},"mask":[true,false,false,true,false,true,true,true,false,false,false,true],"mask_shape":[3,4],"masks":[[true,false,true],[false,true,true,false]],"region":[[0,2,2],[1,3,1]]}"#;
    let repeated = r#"{"shape":[7,9],"chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[1,[2,3],4],4]}}}"#;
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
        "axis0=1,axis0=2",
        "axis1=1",
        "[9,1],[2,2]",
        "[2,0],[1,-1]",
        "[9,-1,0,0],[2,2,1,1],[0,29,3,3]",
        ":,:,:",
        ":2,-3:",
        "5:5",
        "1,...",
        "...,...",
        "4611686018427387903",
        "-9223372036854775808:",
        "::9223372036854775807",
        "1:2:0",
        "1:2:3:4",
        "[1",
        "[]",
        "1e1",
        "99999999999999999999",
    ];
    let heads = [regular, runs, huge, none, empty, masked, repeated];
    let pairs = heads.iter().flat_map(|head| texts.iter().map(move |text| format!("{head}\n{text}").into_bytes()));
    Ok(pairs.collect())
}

/// Checks a line with a chunk key encoding, followed by a key. Returns whether the key was accepted.
pub(super) fn chunk_key(text: &str) -> bool {
    let (head, key) = text.split_once('\n').unwrap_or((text, ""));
    let config = Value::from_json(head).ok().and_then(|head| NamedConfig::from_value(&head));
    let Some(encoding) = config.and_then(|config| laws::array::chunk_keys(&config)) else { return false };
    let mut taken = false;
    for rank in 0..5 {
        // Any number is a part of an index.
        let sum =
            key.bytes().fold(7_u64, |sum, byte| sum.rotate_left(9) ^ sum.wrapping_mul(31).wrapping_add(byte.into()));
        let index: Vec<u64> = (0..rank).map(|axis| sum.rotate_left(17 * axis) >> (sum % 64)).collect();
        let mut written = String::new();
        encoding.write_key(&index, &mut written);
        let again = encoding.parse_key(&written, index.len());
        assert_eq!(again.as_deref(), Some(&index[..]), "{encoding:?}: {written}");
        let Some(index) = encoding.parse_key(key, index.len()) else { continue };
        taken = true;
        let mut written = String::new();
        encoding.write_key(&index, &mut written);
        assert_eq!(written, key, "{encoding:?}: {index:?}");
    }
    taken
}

pub(super) fn chunk_keys() -> Result<Vec<Vec<u8>>, Fault> {
    let mut seeds = Vec::new();
    for rank in 0..4 {
        for index in [[0, 0, 0, 0], [1, 23, 456, 7], [1000, 10, 0, 99], [u64::MAX, 1, u64::MAX, 0]] {
            for config in [
                r#"{"name":"default"}"#,
                r#"{"name":"default","configuration":{"separator":"/"}}"#,
                r#"{"name":"default","configuration":{"separator":"."}}"#,
                r#"{"name":"v2","configuration":{"separator":"."}}"#,
                r#"{"name":"v2","configuration":{"separator":"/"}}"#,
                r#"{"name":"v2"}"#,
                r#"{"name":"joined"}"#,
                r#"{"name":"joined","configuration":{"separator":"."}}"#,
                r#"{"name":"fanout"}"#,
                r#"{"name":"fanout","configuration":{"max_children":4}}"#,
                r#"{"name":"fanout","configuration":{"max_children":10}}"#,
                r#"{"name":"fanout","configuration":{"max_children":1001}}"#,
                r#"{"name":"suffix","configuration":{"suffix":".tiff","base_encoding":{"name":"default"}}}"#,
                r#"{"name":"suffix","configuration":{"suffix":"x","base-encoding":"v2"}}"#,
                r#"{"name":"suffix","configuration":{"suffix":".","base_encoding":{"name":"suffix","configuration":{"suffix":"","base_encoding":{"name":"fanout","configuration":{"max_children":5}}}}}}"#,
            ] {
                let named = Value::from_json(config).ok().and_then(|config| NamedConfig::from_value(&config));
                let Some(encoding) = named.and_then(|named| laws::array::chunk_keys(&named)) else { continue };
                let mut key = String::new();
                encoding.write_key(index.get(..rank).unwrap_or_default(), &mut key);
                seeds.push(format!("{config}\n{key}").into_bytes());
            }
        }
    }
    // Invalid configurations, as seeds for their neighbours.
    for config in [
        r#"{"name":"default","configuration":{"separator":"-"}}"#,
        r#"{"name":"default","configuration":{"separator":".","more":1}}"#,
        r#"{"name":"fanout","configuration":{"max_children":3}}"#,
        r#"{"name":"suffix","configuration":{"suffix":1,"base_encoding":{"name":"default"}}}"#,
        r#"{"name":"suffix","configuration":{"suffix":"a"}}"#,
        r#"{"name":"suffix","configuration":{"suffix":"a","base_encoding":{"name":"fanout","configuration":{"max_children":1}}}}"#,
        r#"{"name":"suffix","configuration":{"suffix":"a","base_encoding":{"name":"other"}}}"#,
    ] {
        seeds.push(format!("{config}\nc/0").into_bytes());
    }
    Ok(seeds)
}
