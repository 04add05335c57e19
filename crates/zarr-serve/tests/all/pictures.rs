//! `/api/picture` and `/api/thumbnail`: pixels of images, labels over them, plates.

use crate::support::{ask, at, get, registry, serve};
use std::sync::Arc;
use zarr_array::{Group, MissingChunks, NewArray, NewGroup, Options, Store};
use zarr_json::{Value, json};
use zarr_serve::{ServeLimits, ServeOptions, Server};
use zarr_store::{Key, MemoryStore, SetOptions, StoreExt};

fn group(store: &Arc<dyn Store>, path: &str, ome: Value) -> Group {
    Group::create(store, path, NewGroup::new().attribute("ome", ome), &registry()).unwrap()
}

fn multiscales(axes: &[&str]) -> Value {
    let axis = |name: &&str| match *name {
        "c" => json!({"name": "c", "type": "channel"}),
        name => json!({"name": name, "type": "space", "unit": "micrometer"}),
    };
    let scale = json!([{"type": "scale", "scale": (Value::from(vec![1.0; axes.len()]))}]);
    let datasets = json!([{"path": "0", "coordinateTransformations": scale}]);
    json!([{"axes": (Value::Array(axes.iter().map(axis).collect())), "datasets": datasets}])
}

/// An image of 2 channels of 4 x 8 elements, which are 100, with labels; and a plate whose well has this image.
fn pictures() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let window = json!({"start": 0, "end": 200, "min": 0, "max": 255});
    let channel = |name: &str, color: &str| json!({"label": name, "color": color, "window": (window.clone())});
    let omero = json!({"channels": [(channel("DAPI", "0000FF")), (channel("GFP", "00FF00"))]});
    let image = |path: &str| {
        let ome = json!({"version": "0.5", "multiscales": (multiscales(&["c", "y", "x"])), "omero": (omero.clone())});
        let new = NewArray::new(&[2, 4, 8], "uint8").chunks(&[1, 4, 4]).codecs("bytes").unwrap();
        group(&store, path, ome).create_array("0", new).unwrap().write(.., &[100_u8; 64]).unwrap();
    };
    image("/image");
    group(&store, "/image/labels", json!({"version": "0.5", "labels": ["cells"]}));
    let colors = json!({"colors": [{"label-value": 1, "rgba": [255, 0, 0, 255]}]});
    let ome = json!({"version": "0.5", "multiscales": (multiscales(&["y", "x"])), "image-label": colors});
    let new = NewArray::new(&[4, 8], "uint8").codecs("bytes").unwrap();
    let labels: Vec<u8> = (0..32).map(|at| u8::from(at == 1)).collect();
    group(&store, "/image/labels/cells", ome).create_array("0", new).unwrap().write(.., &labels).unwrap();
    // Labels whose chunk is large.
    let ome = json!({"version": "0.5", "multiscales": (multiscales(&["y", "x"])), "image-label": {}});
    let new = NewArray::new(&[4, 8], "uint64").codecs("bytes").unwrap();
    group(&store, "/image/labels/wide", ome).create_array("0", new).unwrap().write(.., &[1_u64; 32]).unwrap();
    let plate = json!({"rows": [{"name": "A"}], "columns": [{"name": "1"}, {"name": "2"}], "wells": [{"path": "A/2"}]});
    group(&store, "/plate", json!({"version": "0.5", "plate": plate}));
    group(&store, "/plate/A/2", json!({"version": "0.5", "well": {"images": [{"path": "0"}]}}));
    image("/plate/A/2/0");
    store
}

fn server(limits: ServeLimits) -> Server {
    serve(pictures(), &ServeOptions::default().limits(limits))
}

/// The head of an answer, and its pixels.
fn pixels(server: &Server, question: &str) -> (Value, Vec<[u8; 3]>) {
    let answer = get(server, &format!("/api/{question}"));
    assert_eq!(answer.status, 200, "{question}: {}", answer.text());
    let len = u32::from_le_bytes(*answer.body.first_chunk().unwrap()) as usize;
    let head = Value::from_json(std::str::from_utf8(&answer.body[4..4 + len]).unwrap()).unwrap();
    (head, answer.body[4 + len..].as_chunks::<3>().0.to_vec())
}

#[test]
fn channels_and_labels_are_drawn_together() {
    let server = server(ServeLimits::default());
    let (head, all) = pixels(&server, "picture?path=/image&y=1&x=2");
    assert_eq!((at(&head, "/x/count"), at(&head, "/y/count"), all.len()), ("8".into(), "4".into(), 32));
    assert_eq!(all, [[0, 128, 128]; 32]);
    assert_eq!(
        (at(&head, "/channels/1/name"), at(&head, "/channels/1/color")),
        ("\"GFP\"".into(), "\"#00ff00\"".into())
    );
    assert_eq!(at(&head, "/scale_bar"), r#"{"text":"2 µm","fraction":0.25}"#);
    assert_eq!(pixels(&server, "picture?path=/image&y=1&x=2&channels=GFP").1[0], [0, 128, 0]);
    let (head, shown) = pixels(&server, "picture?path=/image&y=1&x=2&channels=0&labels=cells&opacity=1");
    assert_eq!((shown[0], shown[1], at(&head, "/labels")), ([0, 0, 128], [255, 0, 0], r#"["cells"]"#.into()));
    // A part, with rows and columns exchanged.
    let (_, part) = pixels(&server, "picture?path=/image&y=2&x=1&y0=0&y1=2&x0=0&x1=1&labels=cells&opacity=0.5");
    assert_eq!(part, [[0, 128, 128], [128, 64, 64]]);
    let info = ask(&server, "info?path=/image");
    assert_eq!(at(&info, "/image/labels"), r#"["cells"]"#);
    assert_eq!(at(&info, "/image/channels/0"), r##"{"name":"DAPI","color":"#0000ff","is_active":true}"##);
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let server = server(ServeLimits::default());
    for (question, status, message) in [
        ("picture?path=/plate&y=1&x=2", 400, "found no image"),
        ("picture?path=/image&x=2", 400, "found one axis"),
        ("picture?path=/image&y=1&x=2&channels=RFP", 400, "found no channel"),
        ("picture?path=/image&y=1&x=2&labels=nuclei", 404, "expected one of cells"),
        ("picture?path=/image&y=1&x=2&opacity=2", 400, "expected a number from 0 to 1"),
        ("picture?path=/image&y=1&x=2&y0=9", 400, "expected a range within"),
        ("thumbnail?path=/plate/A/2&windows=0:1", 400, "expected 0:10:250"),
        ("thumbnail?path=/image/0", 400, "found no image and no well"),
    ] {
        let answer = get(&server, &format!("/api/{question}"));
        assert_eq!(answer.status, status, "{question}: {}", answer.text());
        assert!(answer.text().contains(message), "{question}: {}", answer.text());
    }
    // The channels share the budget: a chunk each, of two.
    let server = self::server(ServeLimits::default().reads(2, 1 << 20));
    let (head, _) = pixels(&server, "picture?path=/image&y=1&x=2");
    assert_eq!((at(&head, "/is_reduced"), at(&head, "/chunks")), ("true".into(), "2".into()));
}

#[test]
fn plates_are_described_and_drawn_well_by_well() {
    let server = server(ServeLimits::default());
    let info = ask(&server, "info?path=/plate");
    assert_eq!(at(&info, "/grid/columns"), r#"["1","2"]"#);
    assert_eq!(at(&info, "/grid/images"), r#"[{"path":"A/2","row":0,"column":1}]"#);
    assert_eq!(at(&ask(&server, "info?path=/plate/A/2"), "/grid/is_plate"), "false");
    assert_eq!(at(&ask(&server, "info?path=/"), "/grid"), "null");
    let (head, shown) = pixels(&server, "thumbnail?path=/plate/A/2&width=4&height=4");
    assert_eq!((at(&head, "/rows"), at(&head, "/columns"), shown), ("2".into(), "4".into(), vec![[0, 128, 128]; 8]));
    assert_eq!(pixels(&server, "thumbnail?path=/plate/A/2/0&channels=1").1[0], [0, 128, 0]);
}

/// Limits are those of all reads: of labels and of thumbnails too.
#[test]
fn large_chunks_of_labels_and_thumbnails_are_refused() {
    let refused = |decoded_bytes: u64, question: &str| {
        let server = server(ServeLimits::default().reads(100, decoded_bytes));
        let answer = get(&server, &format!("/api/{question}"));
        assert_eq!(answer.status, 422, "{question}: {}", answer.text());
        assert!(answer.text().contains("found a read of 1 chunks of"), "{}", answer.text());
    };
    let part = "picture?path=/image&y=1&x=2&x0=0&x1=4&channels=0";
    assert_eq!(get(&server(ServeLimits::default().reads(100, 60)), &format!("/api/{part}&labels=cells")).status, 200);
    refused(60, &format!("{part}&labels=wide"));
    refused(1, "thumbnail?path=/plate/A/2&width=4&height=4");
    refused(1, "thumbnail?path=/image&width=4&height=4");
}

/// Arrays of labels and of wells are opened with the options of the server.
#[test]
fn arrays_of_labels_and_wells_have_the_options_of_the_server() {
    let store = pictures();
    group(&store, "/well", json!({"version": "0.5", "well": {"images": [{"path": "0"}]}}));
    for path in ["/image/labels/unwritten", "/well/0"] {
        let ome = json!({"version": "0.5", "multiscales": (multiscales(&["y", "x"]))});
        let new = NewArray::new(&[4, 8], "uint8").codecs("bytes").unwrap();
        group(&store, path, ome).create_array("0", new).unwrap();
    }
    for (missing_chunks, is_shown) in [(MissingChunks::Fill, true), (MissingChunks::Error, false)] {
        let arrays = Options::default().missing_chunks(missing_chunks);
        let server = serve(Arc::clone(&store), &ServeOptions::default().arrays(arrays));
        for question in ["picture?path=/image&y=1&x=2&labels=unwritten", "thumbnail?path=/well"] {
            let answer = get(&server, &format!("/api/{question}"));
            assert_eq!(answer.status == 200, is_shown, "{question}: {}", answer.text());
        }
    }
}

#[test]
fn labels_that_cannot_be_listed_are_said() {
    let store = pictures();
    store.set(&Key::new("image/labels/zarr.json").unwrap(), b"{", &SetOptions::default()).unwrap();
    let info = ask(&serve(store, &ServeOptions::default()), "info?path=/image");
    assert!(at(&info, "/image/labels_error").contains("/image/labels"), "{info}");
}

#[test]
fn the_number_of_labels_is_bounded() {
    let server = server(ServeLimits::default());
    let many: Vec<String> = (0..17).map(|number| format!("l{number}")).collect();
    let answer = get(&server, &format!("/api/picture?path=/image&y=1&x=2&labels={}", many.join("&labels=")));
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.text().contains("found 17 names of labels, expected at most 16"), "{}", answer.text());
    let (head, _) = pixels(&server, "picture?path=/image&y=1&x=2&labels=cells&labels=cells&labels=labels/cells");
    assert_eq!(at(&head, "/labels"), r#"["cells"]"#);
}
