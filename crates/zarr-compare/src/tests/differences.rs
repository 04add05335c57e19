//! What comparisons find.

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
        assert!(!comparison.is_equal());
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
}
