use proptest::prelude::*;
use zarr_dtype::*;
use zarr_json::{NamedConfig, Value, json};

fn parse(config: &Value) -> Result<DataType, Error> {
    DataType::from_config(&NamedConfig::from_value(config).unwrap())
}

fn fields(list: Value) -> Value {
    json!({"name": "struct", "configuration": {"fields": list}})
}

#[test]
fn documents_come_back() {
    let check = |list: Value, size: usize| {
        let config = fields(list);
        let data_type = parse(&config).unwrap();
        assert_eq!(data_type.to_config().short_value(), config);
        assert_eq!(data_type.item_size(), size);
        assert_eq!(data_type.layout().item_size(), size);
    };
    check(json!([{"name": "a", "data_type": "int32"}, {"name": "b/c~", "data_type": "float64"}]), 12);
    let inner = fields(json!([{"name": "x", "data_type": "uint8"}, {"name": "y", "data_type": "r24"}]));
    let array = json!({"name": "subarray", "configuration": {"data_type": (inner.clone()), "shape": [2, 3]}});
    check(json!([{"name": "", "data_type": inner}, {"name": "z", "data_type": array}]), 28);
}

#[test]
fn the_older_name_is_read() {
    let text = json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}});
    let old =
        json!({"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "float64"], ["c", text]]}});
    let data_type = parse(&old).unwrap();
    assert_eq!(data_type.item_size(), 14);
    assert_eq!(data_type.to_config().name, "struct");
    let fill = FillValue::parse(&data_type, &json!("AQAAAAAAAAAAAPA/YWI=")).unwrap();
    let object = json!({"a": 1, "b": 1.0, "c": "YWI="});
    assert_eq!(fill.to_json(&data_type), object);
    assert_eq!(FillValue::parse(&data_type, &object), Ok(fill));
}

#[test]
fn wrong_types_are_refused() {
    let check = |list: Value, expected: &str| {
        assert_eq!(parse(&fields(list)).unwrap_err().to_string(), expected);
    };
    let one = |data_type: Value| json!([{"name": "a", "data_type": data_type}]);
    let array = |item: Value, shape: Value| {
        one(json!({"name": "subarray", "configuration": {"data_type": item, "shape": shape}}))
    };
    check(json!(7), "/configuration/fields: found 7, expected an array of fields");
    check(json!([]), "/configuration/fields: found no fields, expected at least one");
    check(
        json!([["a", "int8"]]),
        r#"/configuration/fields/0: found ["a","int8"], expected an object with `name` and `data_type`"#,
    );
    check(
        json!([{"name": "a", "data_type": "int8", "shape": [2]}]),
        r#"/configuration/fields/0: found {"name":"a","data_type":"int8","shape":[2]}, expected an object with `name` and `data_type`"#,
    );
    check(
        json!([{"name": "a", "data_type": "int8"}, {"name": "a", "data_type": "int8"}]),
        r#"/configuration/fields/1/name: found "a" again, expected names that differ"#,
    );
    check(one(json!("float128")), "unknown data type float128");
    check(one(json!(3)), "/configuration/fields/0/data_type: found 3, expected a name, or an object with a name");
    check(
        one(json!({"name": "raw_bytes", "configuration": {"length_bytes": 0}})),
        "/configuration/fields/0/data_type/configuration/length_bytes: found 0, expected a number of bytes from 1",
    );
    check(one(json!("string")), "/configuration/fields/0/data_type: found string, expected a data type of fixed size");
    check(
        array(json!("int8"), json!([2, 0])),
        "/configuration/fields/0/data_type: found an array of shape [2, 0], expected lengths above 0",
    );
    check(
        array(json!("int8"), json!([2, (-1)])),
        "/configuration/fields/0/data_type/configuration/shape: found [2,-1], expected an array of lengths",
    );
    check(
        array(json!("int8"), json!([8192, 8193])),
        "/configuration/fields/0: found 67117056 bytes for one element, expected at most 67108864",
    );
    check(
        array(json!("int64"), json!([4294967296_u64, 4294967296_u64])),
        "/configuration/fields/0: found 18446744073709551615 bytes for one element, expected at most 67108864",
    );
    assert_eq!(parse(&json!("subarray")), Err(Error::Unknown { name: "subarray".to_owned(), hint: None }));
}

#[test]
fn structs_are_only_so_deep() {
    let nested = |depth| (0..depth).fold(json!("int8"), |inner, _| fields(json!([{"name": "a", "data_type": inner}])));
    parse(&nested(32)).unwrap();
    assert!(parse(&nested(33)).unwrap_err().to_string().ends_with("expected structs that are at most 32 deep"));
    let DataType::Struct(deepest) = parse(&nested(32)).unwrap() else { panic!("a struct") };
    assert!(StructType::new(vec![Field::new("a", DataType::Struct(deepest))]).is_err());
}

/// A few bytes of a document must not become gigabytes of a plan.
#[test]
fn numbers_lie_in_so_many_places_only() {
    let small = StructType::new(vec![Field::new("a", DataType::UInt8), Field::new("b", DataType::UInt16)]).unwrap();
    let two = vec![Field::array("c", DataType::Struct(small), &[2]), Field::new("d", DataType::UInt8)];
    let two = DataType::Struct(StructType::new(two).unwrap());
    StructType::new(vec![Field::array("e", two.clone(), &[1000])]).unwrap();
    let error = StructType::new(vec![Field::array("e", two, &[9_000_000])]).unwrap_err();
    assert!(error.to_string().contains("in at most 262144 runs"), "{error}");
}

#[test]
fn fill_values_are_objects() {
    let inner = StructType::new(vec![Field::new("x", DataType::RawBits(1)), Field::new("y", DataType::Bool)]).unwrap();
    let outer = vec![Field::array("a", DataType::Int16, &[2, 1]), Field::new("b/", DataType::Struct(inner))];
    let data_type = DataType::Struct(StructType::new(outer).unwrap());
    let value = json!({"a": [[1], [(-2)]], "b/": {"x": [255], "y": true}});
    let fill = FillValue::parse(&data_type, &value).unwrap();
    assert_eq!(fill.bytes(), [&1_i16.to_ne_bytes()[..], &(-2_i16).to_ne_bytes(), &[255, 1]].concat());
    assert_eq!(fill.to_json(&data_type), value);
    assert_eq!(FillValue::parse(&data_type, &json!("AQD+//8B")), Ok(fill.clone()));
    let item = fill.item().unwrap();
    assert_eq!(print::to_json(&data_type, item, None), json!({"a": [[1], [(-2)]], "b/": {"x": "/w==", "y": true}}));
    assert_eq!(print::to_text(&data_type, item, None), "([[1], [-2]], (ff, true))");
    assert!(fill.is_all_of(&[item, item].concat(), None));
    assert_eq!(FillValue::parse_as(&data_type, &json!(0), Spelling::Lenient), Ok(FillValue::zero(&data_type)));
    assert!(FillValue::from_bytes(&data_type, &[0, 0, 0, 0, 0, 2]).is_err());

    let check = |value: Value, expected: &str| {
        assert_eq!(FillValue::parse(&data_type, &value).unwrap_err().to_string(), expected);
    };
    check(json!(0), "found 0, expected an object with a value for each field");
    check(json!("AQD+//8C"), "found \"AQD+//8C\", expected an object, or a base64 string of the 6 bytes of an element");
    check(json!({"a": 1}), "/a: found 1, expected an array of 2");
    check(json!({"a": [[1], [2, 3]]}), "/a/1: found [2,3], expected an array of 1");
    check(json!({"a": [[1], ["x"]]}), "/a/1/0: found \"x\", expected an integer from -32768 to 32767");
    check(json!({"a": [[1], [1]]}), "found {\"a\":[[1],[1]]}, expected a value for the field \"b/\"");
    check(json!({"a": [[1], [1]], "b/": {"x": [1], "y": 1}}), "/b~1/y: found 1, expected true or false");
    check(json!({"a": [[1], [1]], "b/": {"x": [1], "y": true, "z": 0}}), "/b~1/z: found 0, expected no such field");
}

#[test]
fn small_integers_in_fields_are_normalized() {
    let inner = StructType::new(vec![Field::new("x", DataType::Int4), Field::new("y", DataType::UInt16)]).unwrap();
    let outer = vec![Field::new("a", DataType::UInt8), Field::array("b", DataType::Struct(inner), &[2])];
    let layout = StructType::new(outer).unwrap().layout();
    let mut items = [0xff, 0x0f, 0xff, 0xff, 0xf7, 0xff, 0xff].repeat(2);
    assert_eq!(layout.check(&items).unwrap_err().to_string(), "element 0: found byte 0x0f, expected an int4: -8 to 7");
    layout.normalize(&mut items).unwrap();
    assert_eq!(items, [0xff, 0xff, 0xff, 0xff, 0x07, 0xff, 0xff].repeat(2));
    layout.check(&items).unwrap();
}

/// Any struct of few types, and byte orders for it.
fn cases() -> impl Strategy<Value = (DataType, ByteOrder)> {
    let order = prop::sample::select(vec![ByteOrder::Little, ByteOrder::Big]);
    let types = [
        DataType::UInt8,
        DataType::UInt16,
        DataType::Float32,
        DataType::Int64,
        DataType::Complex64,
        DataType::RawBytes { len: 3 },
        DataType::FixedUtf32 { len: 2 },
    ];
    let leaf = (prop::sample::select(types.to_vec()), order).prop_map(|(data_type, order)| {
        let order = if data_type.layout().has_byte_order() { order } else { ByteOrder::Irrelevant };
        (data_type, order)
    });
    let structure = |inner: BoxedStrategy<(DataType, ByteOrder)>| {
        let shape = prop::collection::vec(1_u64..4, 0..3);
        prop::collection::vec((inner, shape), 1..4).prop_map(|fields| {
            let (mut list, mut orders) = (Vec::new(), Vec::new());
            for (index, ((data_type, order), shape)) in fields.into_iter().enumerate() {
                list.push(Field { name: format!("f{index}"), data_type, shape });
                orders.push(order);
            }
            (DataType::Struct(StructType::new(list).unwrap()), ByteOrder::Fields(orders.into()))
        })
    };
    leaf.prop_recursive(3, 12, 3, move |inner| structure(inner).boxed())
}

/// One element stored in an order, number by number.
fn stored(data_type: &DataType, order: &ByteOrder, item: &[u8]) -> Vec<u8> {
    let DataType::Struct(fields) = data_type else {
        let width = data_type.layout().scalar().map_or(1, Scalar::size);
        let turns = *order != ByteOrder::Irrelevant && *order != ByteOrder::NATIVE;
        return item
            .chunks(width)
            .flat_map(|number| {
                let mut number = number.to_vec();
                if turns {
                    number.reverse();
                }
                number
            })
            .collect();
    };
    let mut bytes = Vec::new();
    for (index, (range, field)) in fields.placed().enumerate() {
        let order = match order {
            ByteOrder::Fields(orders) => &orders[index],
            order => order,
        };
        for part in item[range].chunks(field.data_type.item_size()) {
            bytes.extend(stored(&field.data_type, order, part));
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn swapping_equals_the_model((data_type, order) in cases(), seed in any::<u8>()) {
        let size = data_type.item_size();
        let items: Vec<u8> = (0..2 * size).map(|i| (i * 7) as u8 ^ seed).collect();
        let layout = data_type.layout();
        prop_assert!(order.fits(&layout));
        for order in [order, ByteOrder::Little, ByteOrder::Big] {
            let model: Vec<u8> = items.chunks(size).flat_map(|item| stored(&data_type, &order, item)).collect();
            let mut swapped = items.clone();
            layout.swap(&order, &mut swapped);
            prop_assert_eq!(&swapped, &model);
            for run in layout.swaps(&order) {
                prop_assert!(run.count > 0 && run.stride >= run.width);
                prop_assert!(run.offset + (run.count - 1) * run.stride + run.width <= size);
            }
        }
    }

    #[test]
    fn elements_come_back_from_json((data_type, _) in cases(), seed in any::<u64>()) {
        let mut seed = seed;
        let mut next = || { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1); (seed >> 56) as u8 };
        let mut item: Vec<u8> = (0..data_type.item_size()).map(|_| next()).collect();
        // Code points are not any bits.
        if data_type.to_string().contains("utf32") { item.fill(0) }
        let fill = FillValue::from_bytes(&data_type, &item).unwrap();
        let written = Value::from_json(&fill.to_json(&data_type).to_string()).unwrap();
        prop_assert_eq!(FillValue::parse(&data_type, &written), Ok(fill.clone()));
        let printed = print::to_json(&data_type, &item, Some(&Heap::new()));
        prop_assert_eq!(FillValue::parse(&data_type, &printed), Ok(fill));
        prop_assert_eq!(parse(&data_type.to_config().to_value()), Ok(data_type.clone()));
        if let (Some(literal), DataType::Struct(_)) = (npy_literal(&data_type), &data_type) {
            let list = literal.replace(",)", ")").replace('(', "[").replace(')', "]").replace('\'', "\"");
            let (again, order) = from_npy_value(&Value::from_json(&list).unwrap()).unwrap();
            prop_assert_eq!(&again, &data_type);
            prop_assert!(order.fits(&again.layout()));
        }
    }
}
