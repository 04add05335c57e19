//! Tests of variables like existing variables: encoding, and copies of stored elements.

use crate::write::{START, created, store, times, variable};
use crate::{add, group_in, new};
use zarr_dataset::{Dataset, NewDataset, NewVariable, Variable};
use zarr_json::Value;
use zarr_meta::Dialect;

/// `encoding` has the mark of missing data in every dialect, so that a copy of stored elements has the same missing elements. A copy
/// without the mark had -32.768 K on land.
#[test]
fn the_encoding_has_the_mark_of_missing_data_in_every_dialect() {
    let variables = || {
        let packed = variable("packed", &["x"], [280.5, f64::NAN]).stored_as("int16").encoding("scale_factor", 0.5);
        let float = variable("float", &["x"], [1.0_f32, f32::NAN]);
        let marked = variable("marked", &["x"], [1.0_f32, -999.5]).encoding("_FillValue", -999.5);
        let flags = variable("flags", &["x"], [true, false]).encoding("_FillValue", false);
        let text = NewVariable::new("text", &["x"], ["a", ""]).unwrap().codecs("vlen-utf8").unwrap();
        let text = text.encoding("_FillValue", "");
        let plain = variable("plain", &["x"], [0, 1]);
        let bare = variable("bare", &["x"], [0.0, 1.0]).encoding("_FillValue", Value::Null);
        let all = [packed.encoding("_FillValue", -32768), float, marked, flags, text, plain, bare];
        all.into_iter().fold(NewDataset::new(), NewDataset::variable)
    };
    let expected = [
        ("bare", None),
        ("flags", Some(Value::from(false))),
        ("float", Some(Value::from("NaN"))),
        ("marked", Some(Value::from(-999.5))),
        ("packed", Some(Value::from(-32768))),
        ("plain", None),
        ("text", Some(Value::from(""))),
    ];
    for dialect in [Dialect::V2, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022, Dialect::V3] {
        let dataset = created(&store(), variables().dialect(dialect));
        let mark = |variable: &Variable| variable.encoding().get("_FillValue").cloned();
        let found: Vec<_> = dataset.variables().map(|variable| (variable.name(), mark(variable))).collect();
        assert_eq!(found, expected, "{dialect}");
        // Each variable is copied by its `encoding` instead of `NewVariable::like`.
        for variable in dataset.variables() {
            let new = NewVariable::empty("v", &["x"], &[2], variable.stored().data_type().to_string());
            let new = new.codecs(if variable.name() == "text" { "vlen-utf8" } else { "bytes" }).unwrap();
            let new = variable.encoding().iter().fold(new, |new, (name, value)| new.encoding(name, value.clone()));
            let copy = created(&store(), NewDataset::new().variable(new).dialect(dialect));
            let copy = copy.variable("v").unwrap();
            copy.stored().write(.., &variable.read_stored().unwrap()).unwrap();
            let missing = |variable: &Variable| variable.read().unwrap().is_missing(1);
            assert_eq!(missing(copy), missing(variable), "{dialect} {}", variable.name());
        }
    }
}

#[test]
fn a_variable_like_a_part_of_another_one_has_its_shape() {
    let t2m = variable("t2m", &["time", "x"], ([4, 2], [1.0_f32; 8])).chunks(&[3, 2]).attribute("units", "K");
    let time = variable("time", &["time"], times("<M8[D]", &[START, START + 1, START + 2, START + 3]));
    let dataset = created(&store(), NewDataset::new().variable(t2m).variable(time));
    let part = dataset.isel("time", 1..3).unwrap();
    let like = |variable| NewVariable::like(variable).unwrap().codecs("bytes").unwrap();
    let copy = created(&store(), part.variables().map(like).fold(NewDataset::new(), NewDataset::variable));
    for variable in part.variables() {
        let target = copy.variable(variable.name()).unwrap();
        assert_eq!(target.shape(), variable.shape());
        target.write(variable.read().unwrap()).unwrap();
        let encoding = |variable: &Variable| Value::from(variable.encoding());
        assert!(encoding(target).semantically_eq(&encoding(variable)), "{} {}", encoding(target), encoding(variable));
        assert_eq!(target.attributes(), variable.attributes());
    }
    assert_eq!(copy.variable("t2m").unwrap().stored().part_shape().as_slice(), [2, 2]);
    assert_eq!(
        copy.variable("time").unwrap().read().unwrap().text(0),
        part.variable("time").unwrap().read().unwrap().text(0)
    );
    // A dimension with one selected index is no dimension of the selection.
    let one = like(dataset.isel("time", 0).unwrap().variable("t2m").unwrap());
    assert_eq!(created(&store(), NewDataset::new().variable(one)).variable("t2m").unwrap().shape(), [2]);
}

/// A variable like a variable with several marks of missing data has all of the marks. Files of other software have several marks, and
/// `encoding` of a new variable cannot set them.
#[test]
fn a_variable_like_another_one_has_all_its_marks() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let group = group_in(store(), dialect);
        let new = new(&[4], "int8", &["x"]).attribute("missing_value", zarr_json::json!([3, 400]));
        let new = new.attribute("_Unsigned", "true").fill(0);
        let new = if dialect.fill_value_marks_missing() { new.fill(-1) } else { new.attribute("_FillValue", 255) };
        add(&group, "v", new, &[1_i8, 3, -1, 4]);
        let source = Dataset::open(&group).unwrap();
        let source = source.variable("v").unwrap();
        let missing = |variable: &Variable| {
            let values = variable.read().unwrap();
            [0, 1, 2, 3].map(|index| values.is_missing(index))
        };
        assert_eq!(missing(source), [false, true, true, false], "{dialect}");
        for target in [Dialect::V2, Dialect::V3] {
            let like = NewVariable::like(source).unwrap().codecs("bytes").unwrap();
            let new = NewDataset::new().variable(like).dialect(target);
            let copy = created(&store(), new);
            let copy = copy.variable("v").unwrap();
            copy.stored().write(.., &source.read_stored().unwrap()).unwrap();
            assert_eq!(missing(copy), missing(source), "{dialect} {target}");
            let encoding = |variable: &Variable| Value::from(variable.encoding());
            assert!(encoding(copy).semantically_eq(&encoding(source)), "{dialect} {target} {}", encoding(copy));
        }
    }
}
