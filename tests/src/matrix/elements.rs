//! Elements of every data type.

use super::SHAPE;
use std::sync::Arc;
use zarr_array::ArrayData;
use zarr_dtype::{DataType, Heap, HeapRef, print};
use zarr_json::{NamedConfig, Value, json};

/// Elements of a data type.
pub(super) struct Values {
    pub(super) data_type: DataType,
    pub(super) elements: ArrayData,
}

/// Function that returns the elements of a data type.
type Make = fn() -> Values;

/// All strings that occur, which are the labels of `categorize`.
pub(super) const WORDS: [&str; 4] = ["red", "grün", "a", "東"];

/// Every data type, with a short name and a function for its elements.
pub(super) const TYPES: &[(&str, Make)] = &[
    ("bool", || values(json!("bool"), |at| json!(at % 3 == 0))),
    ("int2", || values(json!("int2"), |at| json!(at % 4 - 2))),
    ("int4", || values(json!("int4"), |at| json!(at % 16 - 8))),
    ("int8", || values(json!("int8"), |at| json!(at - 15))),
    ("int16", || values(json!("int16"), |at| json!(256 * (at - 15)))),
    ("int32", || values(json!("int32"), |at| json!(256 * (at - 15)))),
    ("int64", || values(json!("int64"), |at| json!(256 * (at - 15)))),
    ("uint2", || values(json!("uint2"), |at| json!(at % 4))),
    ("uint4", || values(json!("uint4"), |at| json!(at % 16))),
    ("uint8", || values(json!("uint8"), |at| json!(at))),
    ("uint16", || values(json!("uint16"), |at| json!(256 * at))),
    ("uint32", || values(json!("uint32"), |at| json!(256 * at))),
    ("uint64", || values(json!("uint64"), |at| json!(256 * at))),
    ("float4_e2m1fn", || values(json!("float4_e2m1fn"), small)),
    ("float6_e2m3fn", || values(json!("float6_e2m3fn"), small)),
    ("float6_e3m2fn", || values(json!("float6_e3m2fn"), small)),
    ("float8_e3m4", || values(json!("float8_e3m4"), half)),
    ("float8_e4m3", || values(json!("float8_e4m3"), half)),
    ("float8_e4m3b11fnuz", || values(json!("float8_e4m3b11fnuz"), half)),
    ("float8_e4m3fn", || values(json!("float8_e4m3fn"), half)),
    ("float8_e4m3fnuz", || values(json!("float8_e4m3fnuz"), half)),
    ("float8_e5m2", || values(json!("float8_e5m2"), small)),
    ("float8_e5m2fnuz", || values(json!("float8_e5m2fnuz"), small)),
    ("float8_e8m0fnu", || values(json!("float8_e8m0fnu"), power)),
    ("float16", || values(json!("float16"), half)),
    ("bfloat16", || values(json!("bfloat16"), half)),
    ("float32", || values(json!("float32"), half)),
    ("float64", || values(json!("float64"), half)),
    ("complex_float4_e2m1fn", || complex("complex_float4_e2m1fn")),
    ("complex_float6_e2m3fn", || complex("complex_float6_e2m3fn")),
    ("complex_float6_e3m2fn", || complex("complex_float6_e3m2fn")),
    ("complex_float8_e3m4", || complex("complex_float8_e3m4")),
    ("complex_float8_e4m3", || complex("complex_float8_e4m3")),
    ("complex_float8_e4m3b11fnuz", || complex("complex_float8_e4m3b11fnuz")),
    ("complex_float8_e4m3fnuz", || complex("complex_float8_e4m3fnuz")),
    ("complex_float8_e5m2", || complex("complex_float8_e5m2")),
    ("complex_float8_e5m2fnuz", || complex("complex_float8_e5m2fnuz")),
    ("complex_float8_e8m0fnu", || values(json!("complex_float8_e8m0fnu"), |at| json!([(power(at)), (power(30 - at))]))),
    ("complex_float16", || values(json!("complex_float16"), |at| json!([(half(at)), (half(30 - at))]))),
    ("complex_bfloat16", || values(json!("complex_bfloat16"), |at| json!([(half(at)), (half(30 - at))]))),
    ("complex64", || values(json!("complex64"), |at| json!([(half(at)), (half(30 - at))]))),
    ("complex128", || values(json!("complex128"), |at| json!([(half(at)), (half(30 - at))]))),
    ("r24", || values(json!("r24"), |at| json!([at, 0, 255]))),
    ("raw_bytes", || values(sized("raw_bytes", 3), |at| json!(["AAEC", "/wAA"][usize::from(at % 2 == 0)]))),
    ("null_terminated_bytes", || {
        values(sized("null_terminated_bytes", 3), |at| json!(["YQ==", "YWJj"][usize::from(at % 2 == 0)]))
    }),
    ("fixed_length_utf32", || values(sized("fixed_length_utf32", 16), word)),
    ("datetime64", || values(time("numpy.datetime64"), |at| json!(1024 * at))),
    ("timedelta64", || values(time("numpy.timedelta64"), |at| json!(1024 * (at - 15)))),
    ("struct", || {
        let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float64"}]);
        values(json!({"name": "struct", "configuration": {"fields": fields}}), |at| json!({"a": at, "b": (half(at))}))
    }),
    ("optional", || {
        let data_type = json!({"name": "optional", "configuration": (time("numpy.datetime64"))});
        values(data_type, |at| if at % 3 == 0 { Value::Null } else { json!([at]) })
    }),
    ("string", || values(json!("string"), word)),
    ("variable_length_bytes", || {
        values(json!("variable_length_bytes"), |at| json!(["", "/wA="][usize::from(at % 2 == 0)]))
    }),
    ("vlen-array", || {
        let data_type = json!({"name": "vlen-array", "configuration": {"data_type": "float64"}});
        values(data_type, |at| Value::Array((0..at % 4).map(half).collect()))
    }),
    ("v2_object", || {
        values(json!("v2_object"), |at| match at % 4 {
            0 => word(at),
            1 => json!([at, {"k": 2.5}]),
            2 => json!(null),
            _ => json!(at),
        })
    }),
];

fn half(at: i64) -> Value {
    Value::from((at as f64 - 15.0) * 0.5)
}

/// Returns one of the values that all signed floats have.
fn small(at: i64) -> Value {
    const SMALL: [f64; 11] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -0.5, -1.0, -1.5, -2.0, -3.0];
    Value::from(usize::try_from(at).ok().and_then(|at| SMALL.get(at % SMALL.len())).copied().unwrap_or_default())
}

/// Returns a power of two, beginning with 2⁻¹⁵.
fn power(at: i64) -> Value {
    Value::from(i32::try_from(at).map_or(1.0, |at| 2.0_f64.powi(at - 15)))
}

fn complex(name: &str) -> Values {
    values(json!(name), |at| json!([(small(at)), (small(30 - at))]))
}

fn word(at: i64) -> Value {
    Value::from(usize::try_from(at).ok().and_then(|at| WORDS.get(at % WORDS.len())).copied().unwrap_or_default())
}

fn sized(name: &str, size: u64) -> Value {
    json!({"name": name, "configuration": {"length_bytes": size}})
}

fn time(name: &str) -> Value {
    json!({"name": name, "configuration": {"unit": "s", "scale_factor": 1}})
}

/// Returns elements of a data type; `value` returns each by its index.
fn values(data_type: Value, value: impl Fn(i64) -> Value) -> Values {
    let config = NamedConfig::from_value(&data_type).expect("a data type has a name");
    let data_type =
        zarr::registry::default().data_types.from_config(&config).expect("the data types of the table are known");
    let heap = Arc::new(Heap::new());
    let mut items = Vec::new();
    for at in 0..i64::try_from(SHAPE.iter().product::<u64>()).unwrap_or(0) {
        let bytes = print::parse(&data_type, &value(at)).expect("the values of the table are of their type");
        if !data_type.is_variable() {
            items.extend(bytes);
            continue;
        }
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let block = heap.add(bytes);
        items.extend(if len == 0 { HeapRef::default() } else { HeapRef { block, len, offset: 0 } }.to_bytes());
    }
    let heap = data_type.is_variable().then_some(heap);
    let elements = ArrayData::from_items(&data_type, &SHAPE, &items, heap).expect("as many elements as the shape has");
    Values { data_type, elements }
}
