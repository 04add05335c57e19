//! Rust types to JSON values and back, beside `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use zarr_json::{Map, NamedConfig, Number, ParseOptions, Value, from_value, json, parse, to_value};

fn value(text: &str) -> Value {
    parse(text.as_bytes(), ParseOptions::ALL).expect("JSON").value
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Segment(i8, i8),
    Box { width: u64, deep: Option<i128> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Nested {
    name: String,
    single: f32,
    double: f64,
    counts: Vec<u64>,
    signed: Vec<i64>,
    wide: (u128, i128),
    shapes: Vec<Shape>,
    by_number: BTreeMap<i16, bool>,
    letter: char,
    nothing: (),
    maybe: Option<Box<Nested>>,
}

impl Nested {
    fn with_floats(self, float: f32) -> Self {
        let shapes = self.shapes.into_iter().map(|shape| match shape {
            Shape::Circle(_) => Shape::Circle(float.into()),
            other => other,
        });
        let maybe = self.maybe.map(|inner| Box::new(inner.with_floats(float)));
        Self { single: float, double: float.into(), shapes: shapes.collect(), maybe, ..self }
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Point),
        any::<f64>().prop_filter("JSON", |value| value.is_finite()).prop_map(Shape::Circle),
        any::<(i8, i8)>().prop_map(|(a, b)| Shape::Segment(a, b)),
        any::<(u64, Option<i128>)>().prop_map(|(width, deep)| Shape::Box { width, deep }),
    ]
}

fn leaf() -> impl Strategy<Value = Nested> {
    let finite = (any::<f32>(), any::<f64>()).prop_filter("JSON", |(a, b)| a.is_finite() && b.is_finite());
    let lists = (any::<Vec<u64>>(), any::<Vec<i64>>(), prop::collection::vec(shapes(), 0..4));
    let rest = (any::<(u128, i128)>(), any::<BTreeMap<i16, bool>>(), any::<char>(), any::<String>());
    (finite, lists, rest).prop_map(|((single, double), (counts, signed, shapes), (wide, by_number, letter, name))| {
        Nested { name, single, double, counts, signed, wide, shapes, by_number, letter, nothing: (), maybe: None }
    })
}

fn nested() -> impl Strategy<Value = Nested> {
    (leaf(), proptest::option::of(leaf())).prop_map(|(one, inner)| Nested { maybe: inner.map(Box::new), ..one })
}

proptest! {
    #[test]
    fn types_come_back_and_read_as_serde_json_reads_them(data in nested(), exact in any::<i16>()) {
        prop_assert_eq!(&from_value::<Nested>(&to_value(&data).unwrap()).unwrap(), &data);

        // The reader of serde_json rounds floats to a neighbour now and then.
        let data = data.with_floats(f32::from(exact) / 64.0);
        let ours = to_value(&data).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Nested>(&ours.to_string()).unwrap(), &data);
        prop_assert_eq!(&from_value::<Nested>(&value(&serde_json::to_string(&data).unwrap())).unwrap(), &data);

        // A value goes through serde_json and comes back with the same meaning, with integers of 64 bits.
        let data = Nested { wide: (7, -7), maybe: None, shapes: Vec::new(), ..data };
        let through = serde_json::to_string(&to_value(&data).unwrap()).unwrap();
        prop_assert_eq!(from_value::<Nested>(&serde_json::from_str(&through).unwrap()).unwrap(), data);
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Attributes {
    units: String,
    exact: Number,
    rest: Map,
    codec: NamedConfig,
}

#[test]
fn spellings_survive_in_both_directions() {
    let text = r#"{"units":"K","exact":1e400,"rest":{"a":[1.0,1e2,-0,NaN,123456789012345678901234567890123456789012345],"$zarr_json::Number":"x"},"codec":{"name":"zstd","configuration":{"level":1.0}}}"#;
    let attributes: Attributes = from_value(&value(text)).unwrap();
    assert_eq!(attributes.exact, Number::parse("1e400").unwrap());
    assert_eq!(to_value(&attributes).unwrap().to_string(), text);
    assert_eq!(to_value(&value(text)).unwrap(), value(text));
    assert_eq!(from_value::<Value>(&value(text)).unwrap(), value(text));
    // No object is taken for a number.
    let object = r#"{"$zarr_json::Number":"5"}"#;
    assert_eq!(from_value::<Value>(&value(object)).unwrap(), value(object));
    assert_eq!(serde_json::from_str::<Value>(object).unwrap(), value(object));
}

#[test]
fn numbers_keep_their_digits_or_are_refused() {
    let max = u64::MAX.to_string();
    assert_eq!(from_value::<u64>(&value(&max)).unwrap(), u64::MAX);
    assert_eq!(serde_json::to_string(&value("9007199254740993")).unwrap(), "9007199254740993");
    assert_eq!(
        serde_json::to_string(&value("-170141183460469231731687303715884105728")).unwrap(),
        i128::MIN.to_string()
    );
    for (text, message) in [
        ("1e400", "found 1e400, expected a number in the range of float64"),
        ("999999999999999999999999999999999999999999", "expected an integer of at most 128 bits"),
    ] {
        let error = serde_json::to_string(&value(text)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(from_value::<f32>(&value("0.1")).unwrap(), 0.1f32);
    // Rounded to f64 first, this would be 1.
    assert_eq!(from_value::<f32>(&value("1.000000059604644776")).unwrap(), 1.0 + f32::EPSILON);
    assert_eq!(from_value::<f64>(&value("18446744073709551616")).unwrap(), 18_446_744_073_709_551_616.0);
    assert!(from_value::<f64>(&value("NaN")).unwrap().is_nan());
    assert_eq!(to_value(&f32::NEG_INFINITY).unwrap().to_string(), "-Infinity");
    assert_eq!(to_value(&0.1f32).unwrap().to_string(), "0.1");
}

#[test]
fn errors_say_where() {
    for (text, expected) in [
        (r#"{"name":5}"#, "/name: found 5, expected a string"),
        (
            r#"{"name":"a","shapes":[{"Circle":1.5},{"Box":{"width":-1}}]}"#,
            "/shapes/1/Box/width: found -1, expected u64",
        ),
        (
            r#"{"name":"a","shapes":["Cube"]}"#,
            r#"/shapes/0: found "Cube", expected one of ["Point", "Circle", "Segment", "Box"]"#,
        ),
        (
            r#"{"name":"a","shapes":[{"Point":1,"Circle":2}]}"#,
            "/shapes/0: found 2 members, expected one: the name of a variant",
        ),
        (r#"{"name":"a","wide":[1]}"#, "/wide: found 1 elements, expected a tuple of size 2"),
        (r#"{"name":"a","wide":[1,2,3]}"#, "/wide: found 3 elements, expected 2"),
        (r#"{"name":"a","by_number":{"x/y":true}}"#, r#"/by_number/x~1y: found string "x/y", expected i16"#),
        (r#"{"name":"a","double":"NaN"}"#, r#"/double: found string "NaN", expected f64"#),
        (r#"{"name":"a"}"#, r#"member "single" is missing"#),
        (r#"[]"#, "found 0 elements, expected struct Nested with 11 elements"),
        ("null", "found null, expected struct Nested"),
    ] {
        let error = from_value::<Nested>(&value(text)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = from_value::<Vec<Nested>>(&json!([{ "name": null }])).unwrap_err();
    assert_eq!(error.pointer(), "/0/name");
    let error = to_value(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(error.to_string(), "found a tuple as the key of a map, expected a string, an integer or a bool");
    assert!(from_value::<Number>(&json!("5")).is_err());
    assert!(from_value::<NamedConfig>(&json!({ "name": 5 })).is_err());
    assert!(from_value::<Map>(&json!([1])).is_err());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flattened {
    units: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn members_that_a_struct_does_not_name_are_kept_by_flatten() {
    let document = value(r#"{"units":"m","big":18446744073709551615,"list":[1,null,"x",{"a":0.5}]}"#);
    let attributes: Flattened = from_value(&document).unwrap();
    assert_eq!(attributes.rest.len(), 2);
    let back = to_value(&attributes).unwrap();
    assert!(back.semantically_eq(&document), "{back}");
}

#[test]
fn a_named_config_is_a_name_or_an_object() {
    for text in
        [r#""gzip""#, r#"{"name":"gzip","configuration":{"level":5}}"#, r#"{"name":"x","must_understand":false}"#]
    {
        let config: NamedConfig = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&config).unwrap(), text);
    }
}
