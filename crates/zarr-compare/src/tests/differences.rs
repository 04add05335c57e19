//! Tests of the differences that comparisons find.

use super::{array, memory, registry};
use crate::{CompareOptions, Comparison, NotCompared, Side, Values};
use zarr_array::{Array, ArrayData, Dialect, Group, NewArray, NewGroup, NodePath};
use zarr_dtype::DataType;

fn compare(a: &Array, b: &Array, options: &CompareOptions) -> Comparison {
    let side = |array: &Array| Side::new(array.store(), array.path().clone());
    Comparison::of(&side(a), &side(b), &registry(), options, |_| {}).unwrap()
}

fn floats(elements: &[f32]) -> Array {
    let new = NewArray::new(&[elements.len() as u64], "float32").chunks(&[2]).codecs("bytes").unwrap();
    array(new, &ArrayData::from_elements(&DataType::Float32, &[elements.len() as u64], elements).unwrap())
}

fn different(comparison: &Comparison) -> u128 {
    match &comparison.nodes[0].values {
        Values::Compared(values) => values.different,
        Values::NotCompared(why) => panic!("{why:?}"),
    }
}

#[test]
fn numbers_are_compared_as_asked() {
    let odd = f32::from_bits(0xffc0_0001);
    let a = floats(&[0.0, f32::NAN, 1.0, f32::INFINITY, 100.0]);
    let b = floats(&[-0.0, odd, 1.001, f32::INFINITY, f32::NAN]);
    let options = CompareOptions::default();
    assert_eq!(different(&compare(&a, &b, &options)), 4);
    assert_eq!(different(&compare(&a, &b, &options.clone().equal_nan(true))), 3);
    assert_eq!(different(&compare(&a, &b, &options.clone().tolerance(0.0, 0.0))), 3);
    assert_eq!(different(&compare(&a, &b, &options.clone().tolerance(0.01, 0.0))), 2);
    assert_eq!(different(&compare(&a, &b, &options.clone().tolerance(0.0, 0.0005))), 3);
    assert_eq!(different(&compare(&a, &b, &options.clone().tolerance(0.0, 0.0011).equal_nan(true))), 1);
    let found = compare(&a, &b, &options);
    let Values::Compared(values) = &found.nodes[0].values else { panic!("they are compared") };
    assert!(values.max_abs.is_some_and(|most| (most - 0.001).abs() < 1e-6), "a NaN is no distance");
    let text = found.to_json().to_string();
    assert!(text.contains(r#"{"index":[1],"first":"NaN","second":"0xffc00001"}"#), "{text}");
}

#[test]
fn integers_are_compared_exactly() {
    let of = |data_type: &str, write: &dyn Fn(&Array)| {
        let new = NewArray::new(&[2], data_type).codecs("bytes").unwrap();
        let array = Array::create(&memory(), "/", new, &registry()).unwrap();
        write(&array);
        array
    };
    let a = of("uint64", &|array| array.write(.., &[u64::MAX, 1 << 53]).unwrap());
    let b = of("uint64", &|array| array.write(.., &[u64::MAX - 1, 1 << 53]).unwrap());
    let c = of("float64", &|array| array.write(.., &[u64::MAX as f64, (1_u64 << 53) as f64]).unwrap());
    let d = of("int64", &|array| array.write(.., &[-1_i64, 1 << 53]).unwrap());
    let options = CompareOptions::default();
    let found = compare(&a, &b, &options);
    let Values::Compared(values) = &found.nodes[0].values else { panic!("they are compared") };
    assert_eq!((values.different, values.max_abs), (1, Some(1.0)));
    // 2^64 is the nearest float of 2^64 - 1, and not equal to it.
    assert_eq!(different(&compare(&a, &c, &options)), 1);
    assert_eq!(different(&compare(&a, &d, &options)), 1);
    assert!(
        compare(&a, &c, &options).nodes[0].facts.iter().any(|fact| fact.pointer == "/data_type" && !fact.is_layout)
    );
}

#[test]
fn layout_is_apart_from_data() {
    let data = ArrayData::from_elements(&DataType::Int16, &[6], &[1_i16, 2, 3, 4, 5, 6]).unwrap();
    let new = |codecs: &str| {
        let new = NewArray::new(&[6], "int16").codecs(codecs).unwrap().fill(3).dimension_names(&["x"]);
        new.attribute("units", "K")
    };
    let a = array(new("bytes"), &data);
    let big = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    let b = array(new(big).chunks(&[4]).dialect(Dialect::V2), &data);
    let comparison = compare(&a, &b, &CompareOptions::default());
    assert!(comparison.is_equal() && comparison.has_other_layout(), "{}", comparison.to_json());
    let pointers: Vec<&str> = comparison.nodes[0].facts.iter().map(|fact| fact.pointer.as_str()).collect();
    for expected in ["/dialect", "/chunk_grid/configuration/chunk_shape/0", "/codecs/0/configuration/endian"] {
        assert!(pointers.contains(&expected), "{pointers:?}");
    }

    let c = array(new("bytes").fill(4).attribute("units", "C").dimension_names(&["y"]), &data);
    let comparison = compare(&a, &c, &CompareOptions::default());
    let node = &comparison.nodes[0];
    assert!(!comparison.is_equal() && !comparison.has_other_layout());
    let pointers: Vec<&str> = node.facts.iter().chain(&node.attributes).map(|fact| fact.pointer.as_str()).collect();
    assert_eq!(pointers, ["/fill_value", "/dimension_names", "/units"]);
    assert_eq!(different(&comparison), 0);
    let none = CompareOptions::default().metadata(false).attributes(false);
    assert!(compare(&a, &c, &none).is_equal());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let of = |shape: &[u64], data_type: &str| {
        let codec = if data_type == "string" { "vlen-utf8" } else { "bytes" };
        let new = NewArray::new(shape, data_type).codecs(codec).unwrap();
        Array::create(&memory(), "/", new, &registry()).unwrap()
    };
    let check = |a: &Array, b: &Array, why: NotCompared| {
        let comparison = compare(a, b, &CompareOptions::default());
        assert_eq!(comparison.nodes[0].values, Values::NotCompared(why));
        assert!(!comparison.is_equal() && comparison.not_compared() == 1);
        // Without facts of documents that differ it is not known either.
        let elements = CompareOptions::default().metadata(false);
        assert!(!compare(a, b, &elements).is_equal());
        assert!(compare(a, b, &elements.values(false)).is_equal(), "nothing was asked");
    };
    check(&of(&[4], "int8"), &of(&[5], "int8"), NotCompared::Shapes);
    check(&of(&[4], "int8"), &of(&[2, 2], "int8"), NotCompared::Shapes);
    check(&of(&[4], "int8"), &of(&[4], "string"), NotCompared::DataTypes);
    check(&of(&[4], "float32"), &of(&[4], "complex64"), NotCompared::DataTypes);
}

#[test]
fn texts_are_compared_by_their_content() {
    let of = |chunk: u64, texts: [&str; 3]| {
        let new = NewArray::new(&[3], "string").chunks(&[chunk]).codecs("vlen-utf8").unwrap();
        let array = Array::create(&memory(), "/", new, &registry()).unwrap();
        array.write(.., &texts.map(str::to_owned)).unwrap();
        array
    };
    let comparison = compare(&of(1, ["a", "", "c"]), &of(2, ["a", "", "d"]), &CompareOptions::default());
    let Values::Compared(values) = &comparison.nodes[0].values else { panic!("they are compared") };
    assert_eq!((values.different, values.max_abs, values.first[0].index.as_slice()), (1, None, &[2][..]));
    assert_eq!(values.first[0].second.as_str(), Some("d"));
    assert!(compare(&of(1, ["a", "", "c"]), &of(3, ["a", "", "c"]), &CompareOptions::default()).is_equal());
}

#[test]
fn nodes_are_paired_by_their_paths() {
    let (first, second, registry) = (memory(), memory(), registry());
    let new = || NewArray::new(&[2], "int8").codecs("bytes").unwrap();
    for (store, at, names) in [(&first, "/x", ["a", "b", "g/c"]), (&second, "/", ["a", "g", "h/d"])] {
        Group::create(store, at, NewGroup::default(), &registry).unwrap();
        for name in names {
            Array::create(store, &format!("{}/{name}", at.trim_end_matches('/')), new(), &registry).unwrap();
        }
    }
    let a = Side::new(&first, NodePath::parse("/x").unwrap());
    let b = Side::new(&second, NodePath::root());
    let comparison = Comparison::of(&a, &b, &registry, &CompareOptions::default(), |_| {}).unwrap();
    assert_eq!(comparison.only_in_first, ["/b", "/g/c"]);
    assert_eq!(comparison.only_in_second, ["/h", "/h/d"]);
    let paths: Vec<(&str, bool)> = comparison.nodes.iter().map(|node| (node.path.as_str(), node.is_equal())).collect();
    assert_eq!(paths, [("/", true), ("/a", true), ("/g", false)]);
    assert_eq!(comparison.nodes[2].facts[0].pointer, "/node_type");
    assert_eq!(comparison.nodes[2].values, Values::NotCompared(NotCompared::Kinds));
    let elements = Comparison::of(&a, &b, &registry, &CompareOptions::default().metadata(false), |_| {}).unwrap();
    assert!(!elements.nodes[2].is_equal() && elements.nodes[0].is_equal());
}

/// Elements of raw bytes are compared by their bytes, whatever dialect and name the data type has.
#[test]
fn bytes_are_compared_whatever_they_are_called() {
    let raw = |data_type: &str, dialect: Dialect, items: [u8; 6]| {
        let new = NewArray::new(&[2], data_type).codecs("bytes").unwrap().dialect(dialect);
        let array = Array::create(&memory(), "/", new, &registry()).unwrap();
        array.write(.., &ArrayData::from_items(array.data_type(), &[2], &items, None).unwrap()).unwrap();
        array
    };
    let a = raw("r24", Dialect::V3, *b"abcdef");
    let b = raw("r24", Dialect::V2, *b"abcdef");
    let c = raw("r24", Dialect::V2, *b"abcxef");
    assert_ne!(a.data_type(), b.data_type(), "version 2 has a name of its own");
    let options = CompareOptions::default();
    assert_eq!(different(&compare(&a, &b, &options)), 0);
    assert_eq!(different(&compare(&a, &c, &options)), 1);
    assert!(compare(&a, &b, &options).is_equal() && !compare(&a, &c, &options).is_equal());

    let of = |name: &str, last: &[u8]| {
        let new = NewArray::new(&[2], name).codecs("vlen-bytes").unwrap();
        let array = Array::create(&memory(), "/", new, &registry()).unwrap();
        array.write(.., &[b"a".to_vec(), last.to_vec()]).unwrap();
        array
    };
    let (a, b) = (of("bytes", b"xy"), of("variable_length_bytes", b"xy"));
    assert_ne!(a.data_type(), b.data_type());
    assert_eq!(different(&compare(&a, &b, &options)), 0);
    assert_eq!(different(&compare(&a, &of("variable_length_bytes", b"xz"), &options)), 1);
}

#[test]
fn nothing_but_infinity_is_close_to_infinity() {
    let a = floats(&[f32::INFINITY, 1.0, f32::NEG_INFINITY, f32::INFINITY, f32::MAX]);
    let b = floats(&[1.0, f32::INFINITY, f32::INFINITY, f32::INFINITY, f32::MIN]);
    assert_eq!(different(&compare(&a, &b, &CompareOptions::default().tolerance(1.0, 1.0))), 4);
    assert_eq!(different(&compare(&a, &b, &CompareOptions::default().tolerance(0.0, f64::INFINITY))), 3);
}

/// The time for a comparison depends on the number of stored chunks, not on the shape.
#[test]
fn huge_arrays_of_few_chunks_are_compared() {
    let shape = [1 << 40, 1 << 20];
    let of = |fill: f64, chunk: u64, value: f32| {
        let new = NewArray::new(&shape, "float32").chunks(&[chunk, 64]).codecs("bytes").unwrap().fill(fill);
        let array = Array::create(&memory(), "/", new, &registry()).unwrap();
        array.write((1 << 30..(1 << 30) + 2, 70..72), &[1.0, 2.0, 3.0, value]).unwrap();
        array
    };
    let options = CompareOptions::default().first(3);
    let found = |a: &Array, b: &Array| {
        let Values::Compared(values) = compare(a, b, &options).nodes[0].values.clone() else { panic!("not compared") };
        values
    };
    let all = 1_u128 << 60;
    let values = found(&of(0.0, 16, 4.0), &of(0.0, 32, 4.0));
    assert_eq!((values.compared, values.different), (all, 0));
    let values = found(&of(0.0, 16, 4.0), &of(0.0, 32, 4.5));
    assert_eq!((values.different, values.max_abs, values.first.len()), (1, Some(0.5), 1));
    assert_eq!(values.first[0].index, [(1 << 30) + 1, 71]);
    // All but four elements, of which one differs by more.
    let values = found(&of(0.0, 16, 4.0), &of(0.25, 32, 4.5));
    assert_eq!((values.compared, values.different, values.max_abs), (all, all - 3, Some(0.5)));
    assert_eq!(values.bounds, Some(vec![0..shape[0], 0..shape[1]]));
    let first: Vec<&[u64]> = values.first.iter().map(|element| element.index.as_slice()).collect();
    assert_eq!(first, [[0, 0], [0, 1], [0, 2]]);
    assert_eq!(values.first[0].second.to_string(), "0.25");
    assert_eq!(found(&of(0.0, 16, 4.0), &of(f64::from_bits(1 << 63), 16, 4.0)).different, all - 4, "bits differ");
}

#[test]
fn codecs_matter_only_where_elements_are_read() {
    let of = |data_type: &str, dialect: Dialect, fill: i32| {
        let new = NewArray::new(&[2], data_type).codecs("zstd").unwrap().dialect(dialect).fill(fill);
        Array::create(&memory(), "/", new, &registry()).unwrap()
    };
    let (a, b, c) = (of("int16", Dialect::V3, 1), of("int16", Dialect::V2, 1), of("int16", Dialect::V3, 2));
    let side = |array: &Array| Side::new(array.store(), NodePath::root());
    let none = std::sync::Arc::new(zarr_array::Registry::default());
    let options = CompareOptions::default();
    let found = Comparison::of(&side(&a), &side(&b), &none, &options, |_| {}).unwrap();
    assert!(!found.is_equal() && found.nodes[0].values == Values::NotCompared(NotCompared::Unknown));
    let options = options.values(false);
    assert!(Comparison::of(&side(&a), &side(&b), &none, &options, |_| {}).unwrap().is_equal());
    let found = Comparison::of(&side(&a), &side(&c), &none, &options, |_| {}).unwrap();
    assert_eq!(found.nodes[0].facts.iter().map(|fact| fact.pointer.as_str()).collect::<Vec<_>>(), ["/fill_value"]);
}

#[test]
fn elements_that_differ_have_coordinates() {
    let (store, registry) = (memory(), registry());
    let create = |group: &str, changed: i16| {
        Group::create(&store, group, NewGroup::default(), &registry).unwrap();
        let new = |name: &str, shape: &[u64], data_type: &str, dims: &[&str]| {
            let new = NewArray::new(shape, data_type).codecs("bytes").unwrap().dimension_names(dims);
            let new = if name == "time" { new.attribute("units", "days since 2001-01-01") } else { new };
            Array::create(&store, &format!("{group}/{name}"), new, &registry).unwrap()
        };
        new("time", &[3], "int32", &["time"]).write(.., &[0, 90, 91]).unwrap();
        new("lat", &[2], "float64", &["lat"]).write(.., &[12.5, -7.0]).unwrap();
        let sst = new("sst", &[3, 2, 2], "int16", &["time", "lat", "cell"]);
        sst.write(.., &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, changed]).unwrap();
        sst.write((1..2, 0..1, 1..2), &[changed]).unwrap();
        Side::new(&store, NodePath::parse(group).unwrap())
    };
    let (a, b) = (create("/a", 5), create("/b", 6));
    let comparison = Comparison::of(&a, &b, &registry, &CompareOptions::default(), |_| {}).unwrap();
    let sst = comparison.nodes.iter().find(|node| node.path == "/sst").unwrap();
    let Values::Compared(values) = &sst.values else { panic!("they are compared") };
    let text = |label: &str, lat: &str| vec![("time".to_owned(), label.to_owned()), ("lat".to_owned(), lat.to_owned())];
    let found: Vec<_> =
        values.first.iter().map(|element| (element.index.clone(), element.coordinates.clone())).collect();
    let expected = [
        (vec![1, 0, 1], text("2001-04-01T00:00:00.000000000", "12.5")),
        (vec![2, 1, 1], text("2001-04-02T00:00:00.000000000", "-7.0")),
    ];
    assert_eq!(found, expected);
    let json = comparison.to_json().to_string();
    let member = r#""coordinates":{"time":"2001-04-01T00:00:00.000000000","lat":"12.5"}"#;
    assert!(json.contains(member), "{json}");
}

/// OME-Zarr metadata in the versions of different Zarr formats compares as equal, and images name the dimensions of levels.
#[test]
fn images_are_the_same_in_other_formats() {
    let side = |dialect: Dialect, version: &str, is_in_ome: bool, names: Option<[&str; 2]>| {
        let store = memory();
        let images = format!(
            r#"[{{"version":"{version}","axes":[{{"name":"y","type":"space"}},{{"name":"x","type":"space"}}],
                "datasets":[{{"path":"0","coordinateTransformations":[{{"type":"scale","scale":[1,1]}}]}}]}}]"#
        );
        let images = zarr_json::Value::from_json(&images).unwrap();
        let old = NewGroup::new().attribute("multiscales", images).dialect(dialect);
        let old = Group::create(&store, "/", old, &registry()).unwrap();
        if is_in_ome {
            let new = zarr_ome::to_v05(old.attributes().unwrap(), None).unwrap().unwrap();
            old.erase().unwrap();
            Group::create(&store, "/", NewGroup::new().attributes(new).dialect(dialect), &registry()).unwrap();
        }
        let new = NewArray::new(&[2, 2], "uint8").codecs("bytes").unwrap().dialect(dialect).fill(0);
        let new = names.map_or(new.clone(), |names| new.dimension_names(&names));
        Array::create(&store, "/0", new, &registry()).unwrap();
        Side::new(&store, NodePath::root())
    };
    let yx = Some(["y", "x"]);
    let old = side(Dialect::V2, "0.4", false, None);
    let (new, to_the_letter) = (side(Dialect::V3, "0.4", true, yx), side(Dialect::V3, "0.4", false, None));
    let is_equal =
        |a: &Side, b: &Side| Comparison::of(a, b, &registry(), &CompareOptions::default(), |_| {}).unwrap().is_equal();
    assert!(is_equal(&old, &new) && is_equal(&new, &old) && is_equal(&old, &to_the_letter));
    // In one format they are not.
    assert!(!is_equal(&new, &to_the_letter));
    assert!(!is_equal(&old, &side(Dialect::V3, "0.4", true, Some(["a", "x"]))));
}
