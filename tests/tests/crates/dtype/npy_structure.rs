use zarr_dtype::*;
use zarr_json::Value;
use zarr_json::json;

#[test]
fn fields_are_read_as_numpy_writes_them() {
    let check = |descr: Value, literal: &str| {
        let (data_type, _) = from_npy_value(&descr).unwrap();
        assert_eq!(npy_literal(&data_type).as_deref(), Some(literal), "{descr}");
    };
    check(json!("<f4"), "'<f4'");
    check(json!([["a", ">i4"]]), "[('a', '<i4')]");
    check(
        json!([["a", "|u1"], ["", "|V3"], ["c", [["x", "<f4", 2], ["y", "<M8[s]", [1, 2]]]]]),
        "[('a', '|u1'), ('f1', '|V3'), ('c', [('x', '<f4', (2,)), ('y', '<M8[s]', (1, 2))])]",
    );
    check(json!([["f1", "|u1"], ["", "|V3"]]), "[('f1', '|u1'), ('f1_', '|V3')]");
    check(json!([[["A title", "a"], "|b1"]]), "[('a', '|b1')]");
    check(json!([["it's \\ \u{e9}\u{6771}\n", "|b1"]]), r"[('it\'s \\ \xe9\u6771\x0a', '|b1')]");
}

#[test]
fn other_values_than_fields_are_refused() {
    let check = |descr: Value, expected: &str| {
        assert_eq!(from_npy_value(&descr).unwrap_err().to_string(), expected, "{descr}");
    };
    check(json!(1), "found 1, expected a type string or an array of fields");
    check(json!([]), "found [], expected at least one field");
    check(json!([["a"]]), "/0: found [\"a\"], expected [name, type] or [name, type, shape]");
    check(json!([["a", "|u1"], ["b", 2]]), "/1/1: found 2, expected a type string or an array of fields");
    check(json!([["a", "|O"]]), "unknown data type |O");
    check(json!([["a", "|u1"], ["a", "|u1"]]), r#"/1: found ["a","|u1"], expected fields of different names"#);
    let deep = (0..40).fold(json!("|u1"), |inner, _| json!([["a", inner]]));
    assert!(from_npy_value(&deep).is_err());
}
