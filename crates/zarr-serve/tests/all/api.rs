//! `/api/QUESTION`.

use crate::support::{ask, at, climate, get, registry, serve};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Store};
use zarr_geo::{Crs, Georeference, Transform};
use zarr_json::{Map, Value, json};
use zarr_meta::Dialect;
use zarr_serve::{ServeLimits, ServeOptions, Server};
use zarr_store::{Key, MemoryStore, SetOptions, StoreExt};

fn server() -> Server {
    serve(climate(), &ServeOptions::default())
}

/// The head of a plane, and its numbers.
fn plane(server: &Server, query: &str) -> (Value, Vec<f64>) {
    let answer = get(server, &format!("/api/plane?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let len = u32::from_le_bytes(*answer.body.first_chunk().unwrap()) as usize;
    let head = Value::from_json(std::str::from_utf8(&answer.body[4..4 + len]).unwrap()).unwrap();
    let items = &answer.body[4 + len..];
    assert_eq!((4 + len) % 8, 0);
    let numbers = match head.get("data_type").and_then(Value::as_str).unwrap() {
        "float32" => items.as_chunks::<4>().0.iter().map(|&item| f32::from_le_bytes(item).into()).collect(),
        _ => items.as_chunks::<8>().0.iter().map(|&item| f64::from_le_bytes(item)).collect(),
    };
    (head, numbers)
}

#[test]
fn the_tree_comes_in_pages() {
    let server = server();
    let page = ask(&server, "children?path=/&limit=2&offset=1");
    assert_eq!((at(&page, "/total"), at(&page, "/offset"), at(&page, "/next")), ("4".into(), "1".into(), "3".into()));
    assert_eq!((at(&page, "/nodes/0/name"), at(&page, "/nodes/1/kind")), ("\"other\"".into(), "\"array\"".into()));
    let t2m = at(&page, "/nodes/1");
    assert!(
        t2m.contains(r#""shape":[3,4,6]"#) && t2m.contains(r#""units":"K""#) && !t2m.contains("scale_factor"),
        "{t2m}"
    );
    assert_eq!(at(&ask(&server, "children?path=/other"), "/nodes/0/path"), "\"/other/plain\"");
    assert_eq!(at(&ask(&server, "children?path=/&offset=99"), "/nodes"), "[]");
    assert_eq!(at(&ask(&server, "children?path=/&offset=2"), "/next"), "null");
    assert_eq!(at(&ask(&server, "children?path=/t2m"), "/total"), "0", "an array has nothing below it");
    assert_eq!(get(&server, "/api/children?path=/nothing").status, 404);
    assert_eq!(get(&server, "/api/children?path=../x").status, 400);
}

#[test]
fn nodes_are_described() {
    let server = server();
    let info = ask(&server, "info?path=/t2m");
    for (pointer, text) in [
        ("/kind", "\"array\""),
        ("/shape", "[3,4,6]"),
        ("/chunk_shape", "[1,2,3]"),
        ("/dimension_names", r#"["time","lat","lon"]"#),
        ("/attributes/units", "\"K\""),
        ("/as_variable/is_decoded", "true"),
        ("/as_variable/coordinates", r#"["time","lat",null]"#),
        ("/is_numeric", "true"),
    ] {
        assert_eq!(at(&info, pointer), text, "{pointer}");
    }
    assert!(info.get("chunks_stored").is_none(), "nothing is listed unless asked for");
    let sizes = ask(&server, "info?path=/t2m&sizes=1");
    assert_eq!((at(&sizes, "/chunks_stored"), at(&sizes, "/stored_bytes")), ("12".to_owned(), "144".to_owned()));
    let group = ask(&server, "info?path=/&sizes=1");
    assert_eq!((at(&group, "/arrays"), at(&group, "/groups")), ("4".to_owned(), "1".to_owned()));
    assert_eq!(at(&group, "/children"), r#"["lat","other","t2m","time"]"#);
    assert_eq!(at(&ask(&server, "attributes?path=/"), "/title"), "\"test\"");
    let plain = ask(&server, "info?path=/other/plain");
    assert_eq!(at(&plain, "/as_variable/why"), "\"its dimensions have no names\"");
    let unknown = get(&server, "/api/nothing").json();
    assert!(at(&unknown, "/error/message").contains("expected one of store, children"), "{unknown}");
}

#[test]
fn planes_are_decoded_cut_and_thinned_out() {
    let server = server();
    let (head, numbers) = plane(&server, "path=/t2m&y=1&x=2&at=1,0,0");
    let expected: Vec<f64> =
        (24..48).map(|value| if value == 30 { f64::NAN } else { f64::from(value) * 0.5 + 273.0 }).collect();
    assert!(numbers.iter().zip(&expected).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{numbers:?}");
    assert_eq!(numbers.len(), 24);
    for (pointer, text) in [
        ("/y/name", "\"lat\""),
        ("/y/count", "4"),
        ("/x/size", "6"),
        ("/is_decoded", "true"),
        ("/is_reduced", "false"),
        ("/chunks", "4"),
        ("/units", "\"K\""),
        ("/statistics/missing", "1"),
        ("/statistics/min", "285.0"),
        ("/statistics/max", "296.5"),
        ("/histogram/low", "285.0"),
    ] {
        assert_eq!(at(&head, pointer), text, "{pointer}");
    }
    let (head, numbers) = plane(&server, "path=/t2m&y=1&x=2&at=1,0,0&stored=1&y0=1&y1=3&x0=2&width=2");
    assert_eq!(numbers, [32.0, 34.0, 38.0, 40.0]);
    let (_, middle) = plane(&server, "path=/t2m&y=1&x=2&at=1,0,0&stored=1&width=2&height=1");
    assert_eq!(middle, [31.0, 34.0], "the middle ones of runs of 4 x 3");
    assert_eq!(
        (at(&head, "/x/start"), at(&head, "/x/step"), at(&head, "/data_type")),
        ("2".into(), "2".into(), "\"float32\"".into())
    );
    // Rows are those of the first axis, whichever that is.
    let (_, turned) = plane(&server, "path=/t2m&y=2&x=0&at=0,1,0&stored=1");
    assert_eq!(turned[..6], [6.0, -1.0, 54.0, 7.0, 31.0, 55.0]);
    let (head, line) = plane(&server, "path=/lat&x=0");
    assert_eq!((line, at(&head, "/y")), (vec![60.0, 50.5, 40.0, 30.0], "null".to_owned()));
    let (head, _) = plane(&server, "path=/other/plain&y=0&x=1");
    assert_eq!((at(&head, "/statistics/infinite"), at(&head, "/statistics/p98")), ("1".into(), "1.5".into()));
    for (query, status) in [
        ("path=/t2m&y=1&x=1", 400),
        ("path=/t2m&y=1&x=9", 400),
        ("path=/t2m&y=1&x=2&at=9,0,0", 400),
        ("path=/t2m&y=1&x=2&at=0,0", 400),
        ("path=/t2m&y=1&x=2&y0=3&y1=2", 400),
        ("path=/t2m&y=1&x=2&y1=99999999999", 400),
        ("path=/t2m&y=-1", 400),
        ("path=/t2m&y=1&x=2&hight=5", 400),
        ("path=/", 400),
        ("path=/nothing", 404),
    ] {
        assert_eq!(get(&server, &format!("/api/plane?{query}")).status, status, "{query}");
    }
}

#[test]
fn histograms_profiles_labels_and_tables() {
    let server = server();
    let (counted, _) = plane(&server, "path=/t2m&y=1&x=2&at=0,0,0&stored=1");
    assert_eq!(counted.pointer("/histogram/counts").and_then(Value::as_array).map(<[Value]>::len), Some(64));
    assert_eq!((at(&counted, "/histogram/counts/0"), at(&counted, "/histogram/counts/1")), ("1".into(), "0".into()));
    let profile = ask(&server, "profile?path=/t2m&axis=0&at=0,1,0");
    assert_eq!(at(&profile, "/values"), r#"[276.0,"NaN",300.0]"#);
    assert_eq!((at(&profile, "/along/name"), at(&profile, "/along/count")), ("\"time\"".into(), "3".into()));
    assert_eq!(get(&server, "/api/profile?path=/t2m&axis=0&at=0").status, 400);
    let time = ask(&server, "coordinates?path=/t2m&axis=0&start=1&count=2");
    assert!(
        at(&time, "/labels").contains("2020-01-02T00:00:00") && at(&time, "/labels").contains("2020-02-01"),
        "{time}"
    );
    let lat = ask(&server, "coordinates?path=/t2m&axis=1&step=2");
    assert_eq!((at(&lat, "/labels"), at(&lat, "/units")), (r#"["60.0","40.0"]"#.into(), "\"degrees_north\"".into()));
    assert_eq!(at(&ask(&server, "coordinates?path=/t2m&axis=2"), "/labels"), "null");
    assert_eq!(at(&ask(&server, "coordinates?path=/t2m&axis=1&start=99"), "/labels"), "[]");
    assert_eq!(get(&server, "/api/coordinates?path=/t2m&axis=3").status, 400);
    let table = ask(&server, "table?path=/t2m&y=0&x=1&at=0,0,0");
    assert_eq!(at(&table, "/rows/1"), r#"["285.0","NaN","291.0","294.0"]"#);
    let turned = ask(&server, "table?path=/t2m&y=1&x=0&at=0,0,0&stored=1");
    assert_eq!(at(&turned, "/rows/1"), r#"["6","-1","54"]"#);
    let times = ask(&server, "table?path=/time&x=0");
    assert!(at(&times, "/rows/0/2").contains("2020-02-01"), "{times}");
    let maps = ask(&server, "colormaps");
    assert!(at(&maps, "/viridis/colors").starts_with("\"440154") && at(&maps, "/viridis/colors").len() == 2 + 6 * 256);
    assert_eq!(
        (at(&maps, "/tab20/is_categorical"), at(&maps, "/rdbu/is_categorical")),
        ("true".into(), "false".into())
    );
}

/// Arrays of two formats lie at the same paths; the decoded values, too, are those of the one that was asked for.
#[test]
fn decoded_values_are_those_of_the_dialect() {
    let merged = MemoryStore::new();
    for (dialect, offset) in [(Dialect::V3, 100.0), (Dialect::V2, 200.0)] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let group = Group::create(&store, "/", NewGroup::new().dialect(dialect), &registry()).unwrap();
        for (name, values) in [("a", [1.0, 2.0]), ("x", [0.0, 1.0])] {
            let new = NewArray::new(&[2], "float64").dimension_names(&["x"]).codecs("bytes").unwrap();
            group.create_array(name, new.attribute("add_offset", offset)).unwrap().write(.., &values).unwrap();
        }
        for key in store.list().unwrap() {
            merged.set_all(&key, &store.get_all(&key).unwrap().unwrap()).unwrap();
        }
    }
    let store: Arc<dyn Store> = Arc::new(merged);
    for (dialect, first) in [(Dialect::V2, 201.0), (Dialect::V3, 101.0)] {
        let server = serve(Arc::clone(&store), &ServeOptions::default().dialect(dialect));
        let (head, numbers) = plane(&server, "path=/a&x=0");
        assert_eq!((numbers, at(&head, "/is_decoded")), (vec![first, first + 1.0], "true".to_owned()), "{dialect}");
        let labels = ask(&server, "coordinates?path=/a&axis=0");
        assert!(at(&labels, "/labels").starts_with(&format!("[\"{}", first - 1.0)), "{labels}");
    }
}

#[test]
fn dates_of_other_calendars_are_dates_and_no_numbers() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    for (name, calendar) in [("short", "360_day"), ("noleap", "noleap")] {
        let new = NewArray::new(&[3], "int32").dimension_names(&[name]).codecs("bytes").unwrap();
        let new = new.attribute("units", "days since 2000-02-28").attribute("calendar", calendar);
        group.create_array(name, new).unwrap().write(.., &[0, 1, 2]).unwrap();
    }
    let server = serve(store, &ServeOptions::default());
    for (name, last) in [("short", "2000-02-30"), ("noleap", "2000-03-02")] {
        // Numbers are those that are stored, as of times that numpy has.
        let (head, numbers) = plane(&server, &format!("path=/{name}&x=0"));
        assert_eq!((numbers, at(&head, "/is_decoded")), (vec![0.0, 1.0, 2.0], "false".to_owned()));
        let profile = ask(&server, &format!("profile?path=/{name}&axis=0&at=0"));
        assert_eq!(at(&profile, "/values"), "[0.0,1.0,2.0]");
        let table = ask(&server, &format!("table?path=/{name}&x=0"));
        assert!(at(&table, "/rows/0/2").contains(last), "{table}");
        let labels = ask(&server, &format!("coordinates?path=/{name}&axis=0"));
        assert!(at(&labels, "/labels/2").contains(last), "{labels}");
        let info = ask(&server, &format!("info?path=/{name}"));
        assert!(at(&info, "/as_variable/data_type").starts_with("\"dates ("), "{info}");
    }
}

#[test]
fn images_show_their_levels_and_the_one_that_fits() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let level = |path: &str, scale: f64| {
        let scales = json!([1.0, scale, scale]);
        json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": scales}]})
    };
    let space = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let axes = json!([{"name": "c", "type": "channel"}, (space("y")), (space("x"))]);
    let levels = json!([(level("0", 0.5)), (level("1", 1.0)), (level("2", 2.0))]);
    let image = json!({"version": "0.5", "multiscales": [{"axes": axes, "datasets": levels}]});
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let group = group.create_group("image", NewGroup::new().attribute("ome", image)).unwrap();
    for (name, len) in [("0", 64), ("1", 32), ("2", 16)] {
        let new = NewArray::new(&[2, len, len], "uint16").codecs("bytes").unwrap();
        let array = group.create_array(name, new).unwrap();
        array.write(.., &(0..2 * len * len).map(|it| it as u16).collect::<Vec<_>>()).unwrap();
    }
    let server = serve(store, &ServeOptions::default());
    let info = ask(&server, "info?path=/image");
    for (pointer, text) in [
        ("/ome/version", "\"0.5\""),
        ("/ome/images/0/axes/0/type", "\"channel\""),
        ("/ome/images/0/levels/1/scale", "[1.0,1.0,1.0]"),
        ("/image/units", "[null,\"µm\",\"µm\"]"),
        ("/image/shapes", "[[2,64,64],[2,32,32],[2,16,16]]"),
        ("/image/data_type", "\"uint16\""),
    ] {
        assert_eq!(at(&info, pointer), text, "{pointer}");
    }
    let read = |query: &str| {
        let (head, numbers) = plane(&server, &format!("path=/image&y=1&x=2&{query}"));
        (at(&head, "/level"), at(&head, "/path"), at(&head, "/at"), numbers.len(), numbers[0])
    };
    // The coarsest one that fills the room; of a part of the image a finer one; the one that is named.
    assert_eq!(read("height=16&width=16&at=1,0,0"), ("2".into(), "\"/image/2\"".into(), "[1,0,0]".into(), 256, 256.0));
    assert_eq!(read("height=22&width=22").0, "1");
    assert_eq!(read("height=16&width=16&y0=32&y1=64&x0=32&x1=64").4, f64::from(16 * 32 + 16));
    assert_eq!(read("height=64&width=64&level=1").3, 1024);
    assert_eq!(get(&server, "/api/plane?path=/image&y=1&x=2&level=3").status, 400);
    assert_eq!(get(&server, "/api/plane?path=/image&y=1&x=3").status, 400);
}

#[test]
fn what_would_take_too_much_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new = NewArray::new(&[1 << 22], "uint8").chunks(&[1]).codecs("bytes").unwrap();
    group.create_array("fine", new).unwrap();
    let limits = ServeLimits::default().reads(64, 1 << 20);
    let server = serve(store, &ServeOptions::default().limits(limits));
    let refused = |question: &str| {
        let answer = get(&server, &format!("/api/{question}"));
        assert_eq!(answer.status, 422, "{question}: {}", answer.text());
        at(&answer.json(), "/error/message")
    };
    assert!(refused("info?path=/fine&sizes=1").contains("4194304 chunks"));
    let (head, numbers) = plane(&server, "path=/fine&x=0");
    assert!(numbers.len() <= 64 && at(&head, "/is_reduced") == "true", "{head}");
}

#[test]
fn one_question_at_a_time_is_worked_on_though_none_waits() {
    let limits = ServeLimits::default().computations(1, 0);
    let server = serve(climate(), &ServeOptions::default().limits(limits));
    assert_eq!(get(&server, "/api/store").status, 200);
}

/// An array can be looked at even if the place of its elements cannot be read.
#[test]
fn arrays_whose_place_cannot_be_read_are_described() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new =
        |shape: &[u64], dims: &[&str]| NewArray::new(shape, "float64").dimension_names(dims).codecs("bytes").unwrap();
    for name in ["y", "x"] {
        group.create_array(name, new(&[4], &[name])).unwrap().write(.., &[0.0, 1.0, 2.0, 3.0]).unwrap();
    }
    group.create_array("crs", new(&[], &[])).unwrap();
    group.create_array("t", new(&[4, 4], &["y", "x"]).attribute("grid_mapping", "crs")).unwrap();
    store.set(&Key::new("x/c/0").unwrap(), b"short", &SetOptions::default()).unwrap();
    let plain = NewArray::new(&[4, 4], "float64").dialect(Dialect::V2).codecs("none").unwrap();
    let old: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(&old, "/t", plain, &registry()).unwrap();
    old.set(&Key::new("t/.zattrs").unwrap(), b"{", &SetOptions::default()).unwrap();
    for (store, text) in [(store, "/x"), (old, ".zattrs")] {
        let info = ask(&serve(store, &ServeOptions::default()), "info?path=/t");
        assert_eq!(at(&info, "/is_numeric"), "true");
        let warnings = at(&info, "/warnings");
        assert!(warnings.contains("the place of the elements is not known: ") && warnings.contains(text), "{warnings}");
    }
}

/// A level of a pyramid has the reference system and the place that a group above says, as for the command.
#[test]
fn levels_of_pyramids_have_their_place() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let scene = Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").shape(8, 8);
    let scene = scene.transform(Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]));
    let scene = scene.pyramid(&[("0", [8, 8]), ("1/red", [4, 4])]);
    let mut attributes = Map::new();
    scene.write(&mut attributes).unwrap();
    Group::create(&store, "/", NewGroup::new().attributes(attributes), &registry()).unwrap();
    let new = NewArray::new(&[4, 4], "uint8").dimension_names(&["y", "x"]).codecs("bytes").unwrap();
    Array::create(&store, "/1/red", new, &registry()).unwrap();
    let info = ask(&serve(store, &ServeOptions::default()), "info?path=/1/red");
    assert!(at(&info, "/geo").contains("EPSG:32633"), "{info}");
}
