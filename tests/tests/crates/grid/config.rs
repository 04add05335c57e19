use proptest::prelude::*;
use zarr_grid::{ChunkGrid, ChunkKeyEncoding, Error};
use zarr_json::{NamedConfig, Value};

use super::model::case;

fn config(name: &str, configuration: &str) -> NamedConfig {
    let value = Value::from_json(configuration).unwrap();
    NamedConfig::with(name, value.as_object().unwrap().clone())
}

proptest! {
    #[test]
    fn grids_are_read_as_written(case in case()) {
        prop_assert_eq!(ChunkGrid::from_config(&case.grid.to_config(), case.shape()).unwrap(), case.grid);
    }
}

#[test]
fn a_run_of_many_chunks_stays_a_run() {
    let runs = config("rectilinear", r#"{"kind": "inline", "chunk_shapes": [[7, [1, 1000000000000], 3]]}"#);
    let grid = ChunkGrid::from_config(&runs, &[1_000_000_000_009]).unwrap();
    assert_eq!(grid.grid_shape().as_slice(), [1_000_000_000_002]);
    assert_eq!(grid.chunk_at(&[500_000_000_006]).unwrap().as_slice(), [500_000_000_000]);
    assert_eq!(grid.chunk_region(&[1_000_000_000_001]).shape().as_slice(), [2]);
    assert_eq!(grid.to_config(), runs);
}

#[test]
fn errors_say_where() {
    let check = |name: &str, configuration: &str, shape: &[u64], pointer: &str| {
        let error = ChunkGrid::from_config(&config(name, configuration), shape).unwrap_err();
        assert_eq!(error.pointer(), Some(pointer), "{error}");
    };
    check("regular", "{}", &[4], "/chunk_shape");
    check("regular", r#"{"chunk_shape": 4}"#, &[4], "/chunk_shape");
    check("regular", r#"{"chunk_shape": [4, 4]}"#, &[4], "/chunk_shape");
    check("regular", r#"{"chunk_shape": [0]}"#, &[4], "/chunk_shape/0");
    check("regular", r#"{"chunk_shape": [4, -1]}"#, &[4, 4], "/chunk_shape/1");
    check("regular", r#"{"chunk_shape": [4.0]}"#, &[4], "/chunk_shape/0");
    check("regular", r#"{"chunk_shape": [true]}"#, &[4], "/chunk_shape/0");
    check("regular", r#"{"chunk_shape": [9223372036854775808]}"#, &[4], "/chunk_shape/0");
    check("regular", r#"{"chunk_shape": [4], "a/b": 1}"#, &[4], "/a~1b");
    let rectilinear = |entries: &str, shape: &[u64], pointer: &str| {
        check("rectilinear", &format!(r#"{{"kind": "inline", "chunk_shapes": {entries}}}"#), shape, pointer);
    };
    check("rectilinear", r#"{"chunk_shapes": [[4]]}"#, &[4], "/kind");
    rectilinear("[[2, 1]]", &[4], "/chunk_shapes/0");
    rectilinear("[[[1, 1000000000000], [1, 1000000000000]]]", &[4], "/chunk_shapes/0");
    rectilinear("[4, [2, 0, 2]]", &[4, 4], "/chunk_shapes/1/1");
    rectilinear("[[[4, 0]]]", &[4], "/chunk_shapes/0/0");
    rectilinear("[[[4, 1, 1]]]", &[4], "/chunk_shapes/0/0");
    rectilinear("[0]", &[4], "/chunk_shapes/0");
    rectilinear("[4]", &[4, 4], "/chunk_shapes");
    rectilinear("[[[4611686018427387904, 4]]]", &[4], "/chunk_shapes/0");
    rectilinear("[[[4611686018427387904, 3], [4611686018427387904, 1]]]", &[4], "/chunk_shapes/0");
    let check = |name: &str, configuration: &str, pointer: &str| {
        let error = ChunkKeyEncoding::from_config(&config(name, configuration)).unwrap_err();
        assert_eq!(error.pointer(), Some(pointer), "{error}");
    };
    check("default", r#"{"separator": "-"}"#, "/separator");
    check("v2", r#"{"separator": null}"#, "/separator");
    check("v2", r#"{"seperator": "."}"#, "/seperator");
    check("suffix", r#"{"suffix": ".tiff"}"#, "/base_encoding");
    check(
        "suffix",
        r#"{"suffix": ".tiff", "base_encoding": {"name": "v2", "configuration": {"separator": 1}}}"#,
        "/base_encoding/configuration/separator",
    );
    check("suffix", r#"{"suffix": ".tiff", "base_encoding": "v9"}"#, "/base_encoding");
    check("fanout", r#"{"max_children": 3}"#, "/max_children");
}

#[test]
fn unknown_names_are_named() {
    let grid = ChunkGrid::from_config(&NamedConfig::new("hexagonal"), &[4]).unwrap_err();
    assert_eq!(grid, Error::UnknownName { what: "chunk grid", name: "hexagonal".to_owned() });
    let key = ChunkKeyEncoding::from_config(&NamedConfig::new("hilbert")).unwrap_err();
    assert_eq!(key.to_string(), "unknown chunk key encoding \"hilbert\"");
}

#[test]
fn an_empty_axis_may_have_empty_chunks() {
    let grid = ChunkGrid::regular(&[0, 3], &[0, 2]).unwrap();
    assert_eq!(grid.grid_shape().as_slice(), [0, 2]);
    assert_eq!(grid.resized(&[1, 3]).unwrap_err(), Error::ZeroChunk { axis: 0, len: 1 });
}
