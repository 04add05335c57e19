//! Joined stores contain the elements of all files.

use super::*;
use std::ops::ControlFlow;
use zarr_array::NewArray;
use zarr_hierarchy::ErrorKind;
use zarr_virtualize::{join, join_with};

fn open(store: &Arc<dyn Store>, path: &str) -> Array {
    Array::open(store, path, &registry()).expect("an array")
}

fn joined(set: &str, options: &JoinOptions) -> Arc<dyn Store> {
    let (files, expected) = (files(), expected(set));
    let names = names(&expected);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joined = join(&inputs(&files, &names), &registry(), options).expect("joined");
    Arc::new(joined.store)
}

#[test]
fn chunks_stay_in_the_files() {
    let store = joined("alike", &along_time().values(0));
    check(&store, &expected("alike"), &[]);
    let t = open(&store, "/t");
    assert_eq!((&t.chunk_shape()[..], t.stored_chunks().expect("chunks").len()), (&[2, 3, 4][..], 6));
    assert_eq!(t.metadata().codecs.len(), 3);
    // The coordinate is one chunk, and so are bounds in other units.
    for name in ["/time", "/time_bnds"] {
        assert_eq!(open(&store, name).stored_chunks().expect("chunks").len(), 1, "{name}");
    }
    let units = open(&store, "/time").attributes().expect("attributes").get("units").cloned();
    assert_eq!(units, Some(Value::from("days since 2000-01-01")));
    // Small variables too, whose chunks would fit.
    let small = joined("alike", &along_time());
    check(&small, &expected("alike"), &[]);
    assert_eq!(open(&small, "/t").stored_chunks().expect("chunks").len(), 6);
}

#[test]
fn lengths_of_several_chunks() {
    let (files, registry) = (files(), registry());
    let uneven = expected("uneven");
    let all = inputs(&files, &["a.nc", "odd.nc", "after.nc"]);
    let error = join(&all, &registry, &along_time().values(0)).expect_err("refused").to_string();
    assert!(error.starts_with("odd.nc: "), "{error}");
    // Of small variables the elements are joined, and of all where that is asked for: in chunks of the first file.
    let small: Arc<dyn Store> = Arc::new(join(&all, &registry, &along_time()).expect("joined").store);
    check(&small, &uneven, &[]);
    assert_eq!(&open(&small, "/t").chunk_shape()[..], [11, 3, 4]);
    let whole = join(&all, &registry, &along_time().values(u64::MAX)).expect("joined").store;
    let whole: Arc<dyn Store> = Arc::new(whole);
    check(&whole, &uneven, &[]);
    let t = open(&whole, "/t");
    assert_eq!((&t.chunk_shape()[..], t.metadata().codecs.len()), (&[2, 3, 4][..], 3));
}

#[test]
fn chunks_of_several_lengths_are_a_rectilinear_grid() {
    let (files, registry) = (files(), registry());
    let two = inputs(&files, &["a.nc", "bad_chunk.nc"]);
    let options = along_time().values(0).variables(vec!["t".to_owned()]);
    let error = join(&two, &registry, &options).expect_err("refused");
    let text = error.to_string();
    assert!(text.contains("bad_chunk.nc: /t: found chunks of 4 along the axis, expected 2 as in the first"), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.starts_with("--grid rectilinear")));
    let store: Arc<dyn Store> = Arc::new(join(&two, &registry, &options.rectilinear(true)).expect("joined").store);
    let t = open(&store, "/t");
    assert_eq!(
        t.metadata().chunk_grid.to_value().to_string(),
        r#"{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[2,2],4],3,4]}}"#
    );
    let expected: Vec<f32> = (0..96_u8).map(|number| f32::from(number) / 7.0).collect();
    assert_eq!(t.read::<f32>(..).expect("elements"), expected);
}

#[test]
fn contiguous_elements_are_divided() {
    let options = along_time().values(0).variables(vec!["t".to_owned()]);
    let store = joined("classic", &options);
    check(&store, &expected("classic"), &["t", "time", "time_bnds", "lat", "area"]);
    let t = open(&store, "/t");
    assert_eq!((&t.chunk_shape()[..], t.stored_chunks().expect("chunks").len()), (&[1, 3, 4][..], 8));
    // Behind another axis elements do not lie so.
    let (files, registry) = (files(), registry());
    let all = inputs(&files, &["old0.nc", "old1.nc", "old2.nc"]);
    let error = join(&all, &registry, &along_time().values(0)).expect_err("refused").to_string();
    assert!(error.starts_with("old1.nc: /packed: found chunks of 2 along the axis"), "{error}");
    check(&joined("classic", &along_time()), &expected("classic"), &[]);
}

#[test]
fn one_file_is_as_it_was() {
    let files = files();
    for name in ["a.nc", "old0.nc"] {
        let input = input(&files, name);
        let store: Arc<dyn Store> = Arc::new(input.store().clone());
        let joined = join(&[input], &registry(), &JoinOptions::default()).expect("joined");
        let after: Arc<dyn Store> = Arc::new(joined.store);
        for key in store.list().expect("a list") {
            if !key.as_str().ends_with("zarr.json") {
                assert_eq!(after.get_all(&key).expect("get"), store.get_all(&key).expect("get"), "{key}");
            }
        }
        assert_eq!(after.list().expect("a list"), store.list().expect("a list"));
        for path in ["/t", "/lat", "/packed"] {
            assert_eq!(open(&after, path).metadata(), open(&store, path).metadata(), "{path}");
        }
    }
}

#[test]
fn any_store_is_an_input() {
    let files = files();
    let first: Arc<dyn Store> = Arc::new(input(&files, "a.nc").store().clone());
    let first = Input::of_store("first", &first, &|_| Ok(None)).expect("an input");
    let all = [first, input(&files, "b.nc"), input(&files, "c.nc")];
    let store = join(&all, &registry(), &along_time().values(0)).expect("joined").store;
    let store: Arc<dyn Store> = Arc::new(store);
    check(&store, &expected("alike"), &[]);
}

#[test]
fn attributes_that_differ_are_those_of_the_first_file() {
    let files = files();
    let all = inputs(&files, &["a.nc", "b.nc", "c.nc"]);
    let joined = join(&all, &registry(), &along_time()).expect("joined");
    assert_eq!(joined.notes, ["/: attributes that differ among the files are those of a.nc: history"]);
}

#[test]
fn steps_are_told_and_end_a_join() {
    let (files, registry) = (files(), registry());
    let all = inputs(&files, &["a.nc", "b.nc", "c.nc"]);
    let mut told = Vec::new();
    let mut report = |done, total| {
        told.push((done, total));
        ControlFlow::Continue(())
    };
    join_with(&all, &registry, &along_time(), &mut report).expect("joined");
    let total = told.last().expect("steps").1;
    assert_eq!(told, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
    let one = inputs(&files, &["a.nc"]);
    let mut last = (0, 1);
    let mut report = |done, total| {
        last = (done, total);
        ControlFlow::Continue(())
    };
    join_with(&one, &registry, &JoinOptions::default(), &mut report).expect("one file");
    assert_eq!(last.0, last.1);
    for end in 1..=total {
        let mut report = |done, _| if done == end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let error = join_with(&all, &registry, &along_time(), &mut report).expect_err("ended");
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    }
}

#[test]
fn a_new_dimension_comes_before_all_others() {
    let (files, registry) = (files(), registry());
    let options = JoinOptions::default().concat(Some("member".to_owned()));
    for names in [&["a.nc"][..], &["a.nc", "a.nc", "a.nc"]] {
        let joined = join(&inputs(&files, names), &registry, &options).expect("joined");
        assert_eq!(joined.notes, ["member is a new dimension: no variable of a.nc has it"]);
        let (store, one): (Arc<dyn Store>, Arc<dyn Store>) =
            (Arc::new(joined.store), Arc::new(input(&files, "a.nc").store().clone()));
        for name in ["/t", "/packed", "/more/count", "/texts"] {
            let (all, file) = (open(&store, name), open(&one, name));
            assert_eq!(all.shape(), [&[names.len() as u64], file.shape()].concat(), "{name}");
            let dimensions = all.metadata().dimension_names.clone().expect("names");
            assert_eq!(dimensions.first().cloned().flatten().as_deref(), Some("member"), "{name}");
            let (all, file) = (all.read_data(..).expect(name), file.read_data(..).expect(name));
            let values: Vec<Value> = (0..all.len()).map(|index| all.json(index)).collect();
            let of_file: Vec<Value> = (0..file.len()).map(|index| file.json(index)).collect();
            assert_eq!(values, vec![of_file; names.len()].concat(), "{name}");
        }
        // Coordinates and bounds that are equal are as they were.
        for name in ["/time", "/time_bnds", "/lat", "/area"] {
            assert_eq!(open(&store, name).shape(), open(&one, name).shape(), "{name}");
        }
    }
}

#[test]
fn numbers_and_unequal_coordinates_get_a_new_dimension() {
    let registry = registry();
    let file = |run: i32| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let x = NewArray::new(&[2], "int16").dimension_names(&["x"]).codecs("bytes").expect("codecs");
        let attributes: Value = Value::from_json(r#"{"coordinates": "run same"}"#).expect("JSON");
        let t = x.clone().attributes(attributes.as_object().cloned().expect("an object"));
        Array::create(&store, "/t", t, &registry).expect("t").write(.., &[run as i16, 2]).expect("written");
        Array::create(&store, "/x", x.clone(), &registry).expect("x").write(.., &[5_i16, 6]).expect("written");
        Array::create(&store, "/same", x, &registry).expect("same").write(.., &[7_i16, 8]).expect("written");
        let number = NewArray::new(&[], "int32").codecs("bytes").expect("codecs");
        Array::create(&store, "/run", number, &registry).expect("run").write(.., &[run]).expect("written");
        Input::of_store(format!("run {run}"), &store, &|_| Ok(None)).expect("an input")
    };
    let options = JoinOptions::default().concat(Some("run".to_owned()));
    let joined = join(&[file(30), file(10), file(20)], &registry, &options).expect("joined");
    assert!(joined.coordinates.contains(&"run/".to_owned()), "{:?}", joined.coordinates);
    let store: Arc<dyn Store> = Arc::new(joined.store);
    assert_eq!(open(&store, "/t").read::<i16>(..).expect("t"), [30, 2, 10, 2, 20, 2]);
    assert_eq!(open(&store, "/run").read::<i32>(..).expect("run"), [30, 10, 20]);
    assert_eq!((open(&store, "/x").shape(), open(&store, "/same").shape()), (&[2][..], &[2][..]));
}
