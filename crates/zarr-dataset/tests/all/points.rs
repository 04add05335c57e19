//! Tests of selections of several points: values are compared with reads of one point after the other, dimensions and shapes with those of
//! xarray.

use crate::{add, counted_chunks, group, group_in, new};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{NewArray, Store};
use zarr_dataset::{Dataset, ErrorKind, Labels};
use zarr_meta::Dialect;
use zarr_store::{Counted, MemoryStore};

/// Creates a data set with variables with dimensions `y` and `x` in several orders, with one of both, and with neither.
fn dataset() -> Dataset {
    let group = group();
    let arrays: [(&str, &[&str], &[u64]); 5] = [
        ("v", &["t", "y", "x", "z"], &[2, 3, 4, 5]),
        ("w", &["y", "t"], &[3, 2]),
        ("u", &["t"], &[2]),
        ("a", &["x", "z", "y"], &[4, 5, 3]),
        ("aux", &["y", "x"], &[3, 4]),
    ];
    for (name, names, shape) in arrays {
        let values: Vec<i32> = (0..shape.iter().product::<u64>() as i32).collect();
        add(&group, name, new(shape, "int32", names).chunks(&vec![2; shape.len()]), &values);
    }
    add(&group, "y", new(&[3], "int32", &["y"]), &[10, 20, 30]);
    add(&group, "x", new(&[4], "float64", &["x"]), &[1.0, 2.0, 3.0, 4.0]);
    Dataset::open(&group).unwrap()
}

fn shapes(dataset: &Dataset) -> Vec<String> {
    let line = |variable: &zarr_dataset::Variable| {
        let values = variable.read().unwrap();
        assert_eq!((values.shape(), values.dimensions().len()), (&*variable.shape(), variable.shape().len()));
        let sizes = values.dimensions().iter().zip(values.shape()).map(|(name, len)| format!(" {name}:{len}"));
        format!("{}{}", variable.name(), sizes.collect::<String>())
    };
    dataset.variables().map(line).collect()
}

#[test]
fn points_are_where_the_first_dimension_was() {
    let dataset = dataset();
    let points = dataset.isel_points("points", [("y", [0, 2, 2]), ("x", [1, 0, 0])]).unwrap();
    assert_eq!(
        shapes(&points),
        ["a points:3 z:5", "aux points:3", "u t:2", "v t:2 points:3 z:5", "w points:3 t:2", "x points:3", "y points:3"]
    );
    let sizes: Vec<_> = points.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
    assert_eq!(sizes, [("points", 3), ("z", 5), ("t", 2)]);
    assert_eq!(points.coordinates().map(|it| it.name()).collect::<Vec<_>>(), ["x", "y"]);

    let points = dataset.isel_points("points", [("y", [0, 2, 2]), ("z", [1, 0, 0])]).unwrap();
    assert_eq!(
        shapes(&points),
        ["a x:4 points:3", "aux points:3 x:4", "u t:2", "v t:2 points:3 x:4", "w points:3 t:2", "x x:4", "y points:3"]
    );
    let points = dataset.isel_points("points", [("z", [1, 0]), ("t", [0, 1])]).unwrap();
    assert_eq!(
        shapes(&points),
        ["a x:4 points:2 y:3", "aux y:3 x:4", "u points:2", "v points:2 y:3 x:4", "w y:3 points:2", "x x:4", "y y:3"]
    );
    // A name of the dimensions themselves, and no points at all.
    let points = dataset.isel_points("y", [("y", [0, 1]), ("x", [0, 1])]).unwrap();
    assert_eq!(shapes(&points)[3..], ["v t:2 y:2 z:5", "w y:2 t:2", "x y:2", "y y:2"]);
    assert_eq!(points.sel("y", 20).unwrap().variable("x").unwrap().read().unwrap().to_vec::<f64>().unwrap(), [2.0]);
    let none = dataset.isel_points("points", [("y", []), ("x", [])]).unwrap();
    assert_eq!(shapes(&none)[..2], ["a points:0 z:5", "aux points:0"]);
}

#[test]
fn points_are_selected_further() {
    let dataset = dataset();
    let points = dataset.isel_points("p", [("y", [0, 2, 2]), ("x", [1, 0, 3])]).unwrap();
    let read = |dataset: &Dataset, name: &str| {
        let values = dataset.variable(name).unwrap().read().unwrap();
        (values.dimensions().join(" "), values.to_vec::<i32>().unwrap())
    };
    assert_eq!(read(&points, "aux"), ("p".to_owned(), vec![1, 8, 11]));
    assert_eq!(read(&points.isel("p", 2).unwrap(), "aux"), (String::new(), vec![11]));
    assert_eq!(read(&points.isel("p", [2_i64, 0].as_slice()).unwrap(), "aux"), ("p".to_owned(), vec![11, 1]));
    let back = zarr_grid::AxisSelection::Range { start: None, stop: None, step: -1 };
    assert_eq!(read(&points.isel("p", back).unwrap(), "aux"), ("p".to_owned(), vec![11, 8, 1]));
    // Points of points, and two dimensions of points.
    let less = points.isel_points("q", [("p", [2, 1]), ("t", [1, 0])]).unwrap();
    assert_eq!(read(&less, "w"), ("q".to_owned(), vec![5, 4]));
    assert_eq!(read(&less, "v").0, "q z");
    let both = points.isel_points("q", [("t", [1, 1]), ("z", [4, 0])]).unwrap();
    assert_eq!(read(&both, "v"), ("q p".to_owned(), vec![69, 104, 119, 65, 100, 115]));
    // A dimension that is gone, with the name of points.
    let gone = dataset.isel("y", 0).unwrap().isel_points("y", [("x", [1, 2])]).unwrap();
    assert_eq!(read(&gone.isel("y", 1).unwrap(), "aux"), (String::new(), vec![2]));
}

#[test]
fn labels_select_points() {
    let dataset = dataset();
    let points = dataset.sel_points("points", [("y", vec![30, 10]), ("x", vec![1, 4])]).unwrap();
    let aux = points.variable("aux").unwrap().read().unwrap();
    assert_eq!((aux.dimensions(), aux.to_vec::<i32>().unwrap()), (&["points".to_owned()][..], vec![8, 3]));
    let near = [("y", Labels::nearest([28, 11, 11])), ("x", Labels::from([1.0, 4.0, 4.0]))];
    let points = dataset.sel_points("points", near).unwrap();
    assert_eq!(points.variable("aux").unwrap().read().unwrap().to_vec::<i32>().unwrap(), [8, 3, 3]);
    assert!(dataset.sel_points("points", [("y", [30, 11])]).unwrap_err().message().contains("no label 11"));
    assert!(dataset.sel_points("points", [("y", 30)]).unwrap_err().message().contains("a list of labels"));
    assert!(dataset.sel_points("points", [("z", [0])]).unwrap_err().message().contains("has no coordinate"));
}

#[test]
fn impossible_points_are_errors() {
    let dataset = dataset();
    let message = |name: &str, indices: &[(&str, Vec<i64>)]| {
        let error = dataset.isel_points(name, indices.to_vec()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        error.message().to_owned()
    };
    let indices = [("y", vec![0, 1]), ("x", vec![0])];
    assert_eq!(message("p", &indices), "dimension x: found 1 indices of points, but 2 of y");
    assert_eq!(message("t", &[("y", vec![0])]), "there is a dimension t already");
    assert_eq!(message("p", &[("y", vec![3])]), "dimension y: index 3 is out of bounds for 3 elements");
    assert_eq!(message("p", &[("n", vec![3])]), "found no dimension n, expected one of x, z, y, t");
    assert_eq!(message("p", &[("y", vec![0]), ("y", vec![1])]), "dimension y: found twice among those of points");
    assert_eq!(message("p", &[]), "found no dimension of points, expected one at least");
}

#[test]
fn strings_and_characters_of_points() {
    let group = group();
    let strings = NewArray::new(&[2, 3], "string").dimension_names(&["y", "x"]).codecs("vlen-utf8").unwrap();
    add(&group, "s", strings.chunks(&[1, 2]), &["a", "b", "c", "d", "e", "f"]);
    let bytes = r#"{"name": "null_terminated_bytes", "configuration": {"length_bytes": 1}}"#;
    let characters = NewArray::new(&[2, 3, 2], bytes).dimension_names(&["y", "x", "n"]).codecs("bytes").unwrap();
    let array = group.create_array("c", characters.attribute("_Encoding", "utf-8")).unwrap();
    let data_type = array.data_type().clone();
    let items = zarr_array::ArrayData::from_items(&data_type, &[2, 3, 2], b"aabbccddeeff", None).unwrap();
    array.write(.., &items).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let read = |dataset: &Dataset, name: &str| {
        let values = dataset.variable(name).unwrap().read().unwrap();
        (values.shape().to_vec(), values.to_vec::<String>().unwrap().join(" "))
    };
    let points = dataset.isel_points("p", [("y", [1, 0, 1]), ("x", [2, 0, 2])]).unwrap();
    assert_eq!(read(&points, "s"), (vec![3], "f a f".to_owned()));
    assert_eq!(read(&points, "c"), (vec![3], "ff aa ff".to_owned()));
    let points = dataset.isel_points("p", [("x", [1, 0])]).unwrap();
    assert_eq!(read(&points, "s"), (vec![2, 2], "b a e d".to_owned()));
    assert_eq!(read(&points, "c"), (vec![2, 2], "bb aa ee dd".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// A selection of points has the values that reads of single points have, and the read fetches each chunk at most once.
    #[test]
    fn points_are_the_same_as_one_by_one(
        shape in prop::collection::vec(1_u64..7, 3),
        chunks in prop::collection::vec(1_u64..4, 3),
        is_sharded in any::<bool>(),
        chosen in prop::collection::vec(any::<bool>(), 3),
        points in prop::collection::vec(prop::collection::vec(0_u64..1000, 3), 0..9),
        // Selection of each other dimension: 0 is all indices, 1 all in reverse order, 2 a list, 3 an index.
        others in prop::collection::vec(0_u8..4, 3),
    ) {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
        let names = ["a", "b", "c"];
        // No fill values, so that all chunks are stored.
        let values: Vec<i16> = (1..=shape.iter().product::<u64>() as i16).collect();
        let mut array = NewArray::new(&shape, "int16").dimension_names(&names).codecs("bytes").unwrap();
        array = if is_sharded {
            let shards: Vec<u64> = chunks.iter().map(|len| 2 * len).collect();
            let codecs = format!(
                r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunks:?}, "codecs": ["bytes"],
                "index_codecs": ["bytes"]}}}}]"#
            );
            array.chunks(&shards).codecs(codecs.as_str()).unwrap()
        } else {
            array.chunks(&chunks)
        };
        let stored = add(&group, "v", array.attribute("scale_factor", 0.5), &values);
        let mut dataset = counted_chunks(&group);
        let mut indices = Vec::new();
        for (axis, name) in names.into_iter().enumerate() {
            let len = shape[axis];
            if chosen[axis] {
                let along: Vec<i64> = points.iter().map(|point| (point[axis] % len) as i64).collect();
                indices.push((name, along));
                continue;
            }
            let back = zarr_grid::AxisSelection::Range { start: None, stop: None, step: -1 };
            dataset = match others[axis] {
                0 => dataset,
                1 => dataset.isel(name, back).unwrap(),
                2 => dataset.isel(name, vec![len - 1, 0, len / 2]).unwrap(),
                _ => dataset.isel(name, -1).unwrap(),
            };
        }
        prop_assume!(!indices.is_empty());
        let selected = dataset.isel_points("p", indices.clone()).unwrap();
        let variable = selected.variable("v").unwrap();
        variable.data_type().unwrap();
        let before = store.counts();
        let all = variable.read().unwrap();
        let reads = store.counts();
        if !is_sharded {
            prop_assert!(reads.gets - before.gets <= stored.stored_chunks().unwrap().len() as u64);
        }
        prop_assert!(reads.bytes_read - before.bytes_read <= stored.stored_chunk_sizes().unwrap().iter().map(|(_, size)| size).sum());
        prop_assert_eq!(all.shape(), &*variable.shape());
        for number in 0..points.len() {
            let mut one = dataset.clone();
            for (name, along) in &indices {
                one = one.isel(name, along[number]).unwrap();
            }
            let expected = one.variable("v").unwrap().read().unwrap().to_vec::<f64>().unwrap();
            let found = selected.isel("p", number as u64).unwrap().variable("v").unwrap().read().unwrap();
            prop_assert_eq!(found.to_vec::<f64>().unwrap(), expected.clone());
            // The values of all points have equal elements at this point.
            let at = all.dimensions().iter().position(|name| name == "p").unwrap();
            let (count, inner) = (points.len(), all.shape()[at + 1..].iter().product::<u64>() as usize);
            let values = all.to_vec::<f64>().unwrap();
            let block = values.chunks(inner).enumerate().filter(|(block, _)| block % count == number);
            prop_assert_eq!(block.flat_map(|(_, values)| values.to_vec()).collect::<Vec<_>>(), expected);
        }
    }
}
