//! `/api/QUESTION`.

use crate::support::{ask, at, climate, get, serve};
use zarr_json::Value;
use zarr_serve::{ServeOptions, Server};

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
    assert_eq!((at(&page, "/total"), at(&page, "/offset")), ("4".to_owned(), "1".to_owned()));
    assert_eq!((at(&page, "/nodes/0/name"), at(&page, "/nodes/1/kind")), ("\"other\"".into(), "\"array\"".into()));
    let t2m = at(&page, "/nodes/1");
    assert!(
        t2m.contains(r#""shape":[3,4,6]"#) && t2m.contains(r#""units":"K""#) && !t2m.contains("scale_factor"),
        "{t2m}"
    );
    assert_eq!(at(&ask(&server, "children?path=/other"), "/nodes/0/path"), "\"/other/plain\"");
    assert_eq!(at(&ask(&server, "children?path=/&offset=99"), "/nodes"), "[]");
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
        ("path=/", 400),
        ("path=/nothing", 404),
    ] {
        assert_eq!(get(&server, &format!("/api/plane?{query}")).status, status, "{query}");
    }
}

#[test]
fn histograms_profiles_labels_and_tables() {
    let server = server();
    let counted = ask(&server, "histogram?path=/t2m&y=1&x=2&at=0,0,0&stored=1&range=0:64");
    assert_eq!(counted.pointer("/histogram/counts").and_then(Value::as_array).map(<[Value]>::len), Some(64));
    assert_eq!((at(&counted, "/histogram/counts/5"), at(&counted, "/histogram/counts/40")), ("1".into(), "0".into()));
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
