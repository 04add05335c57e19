//! Missing elements, by the attributes and fill values that mark them.

use super::{memory, plan, registry};
use crate::{Method, Pyramid, PyramidOptions};
use zarr_array::{Array, NewArray};
use zarr_dtype::{Element, WriteElement};
use zarr_hierarchy::Error;
use zarr_json::{Value, json};
use zarr_meta::Dialect;

/// Returns the elements of the first level of an array of one chunk, by blocks of `factor` elements.
fn level<T: Element + WriteElement + Copy>(
    new: NewArray,
    attributes: &Value,
    elements: &[T],
    method: Method,
) -> Result<Vec<T>, Error> {
    let store = memory();
    let new = new.attributes(attributes.as_object().unwrap().clone()).codecs("bytes").unwrap();
    let array = Array::create(&store, "/0", new, &registry()).unwrap();
    array.write(.., elements).unwrap();
    let options = PyramidOptions::default().levels(1).skip_missing(true).method(method);
    let planned: Pyramid = plan(&array, options);
    planned.run(|_| {})?;
    Array::open(&store, "/1", &registry())?.read::<T>(..)
}

const NAN: f32 = f32::NAN;

#[test]
fn attributes_mark_missing_elements() {
    let floats = |attributes: &Value, elements: &[f32]| {
        let new = NewArray::new(&[elements.len() as u64], "float32").dialect(Dialect::V3).fill(0.0);
        level(new, attributes, elements, Method::Mean)
    };
    // The base64 of a NaN, which marks nothing else: zeros count.
    let nan = json!({"_FillValue": "AAAAAAAA+H8="});
    let found = floats(&nan, &[0.0, 4.0, NAN, NAN, NAN, 3.0]).unwrap();
    assert!(found[0] == 2.0 && found[1].is_nan() && found[2] == 3.0, "{found:?}");
    // The base64 of -999, and a plain number.
    for mark in [json!("AAAAAAA4j8A="), json!(-999)] {
        let found = floats(&json!({ "_FillValue": mark }), &[0.0, 4.0, -999.0, 6.0, -999.0, NAN]).unwrap();
        assert_eq!(found, [2.0, 6.0, -999.0]);
    }
    // All values of a list, and of both attributes.
    let both = json!({"_FillValue": (-999), "missing_value": [(-1), (-2)]});
    assert_eq!(floats(&both, &[-1.0, 4.0, -2.0, 6.0, -999.0, 2.0, -2.0, -1.0]).unwrap(), [4.0, 6.0, 2.0, -999.0]);
    // The fill value of the array, unless an attribute names another.
    let found = floats(&json!({}), &[0.0, 4.0, NAN, NAN, 0.0, NAN]).unwrap();
    assert!(found[0] == 4.0 && found[1].is_nan() && found[2] == 0.0, "{found:?}");
    for wrong in [json!({"_FillValue": "none"}), json!({"missing_value": {"a": 1}})] {
        let error = floats(&wrong, &[0.0, 1.0, 2.0, 3.0]).unwrap_err();
        assert!(error.message().starts_with("skip_missing:"), "{error}");
    }
}

#[test]
fn an_array_without_a_fill_value_misses_nothing() {
    let store = memory();
    let document =
        br#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i2", "compressor": null, "fill_value": null,
        "order": "C", "filters": null}"#;
    zarr_store::StoreExt::set_all(&*store, &zarr_store::Key::new("0/.zarray").unwrap(), document).unwrap();
    let array = Array::open(&store, "/0", &registry()).unwrap();
    array.write(.., &[0_i16, 4, 0, 6]).unwrap();
    plan(&array, PyramidOptions::default().levels(1).skip_missing(true)).run(|_| {}).unwrap();
    assert_eq!(Array::open(&store, "/1", &registry()).unwrap().read::<i16>(..).unwrap(), [2, 3]);
}

#[test]
fn long_rows_are_reduced_in_tiles() {
    let len = 150_001_u64;
    let elements: Vec<i32> = (0..len).map(|number| (number * 7919 % 100_003) as i32).collect();
    for method in [Method::Mean, Method::Median, Method::Min, Method::Max] {
        let new = NewArray::new(&[1, len], "int32").fill(-1);
        let found = level(new, &json!({}), &elements, method).unwrap();
        let expected: Vec<i32> = elements
            .chunks(2)
            .map(|block| match (method, block) {
                (_, [one]) => *one,
                (Method::Min, block) => *block.iter().min().unwrap(),
                (Method::Max, block) => *block.iter().max().unwrap(),
                (_, block) => (f64::from(block.iter().sum::<i32>()) / 2.0).round_ties_even() as i32,
            })
            .collect();
        assert_eq!(found, expected, "{method}");
    }
}
