use super::*;
use crate::{ErrorKind, Ink};
use std::sync::Arc;
use zarr_array::{NewArray, NewGroup, Registry, Store};
use zarr_json::{Value, json};
use zarr_store::{Counted, MemoryStore};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

fn group(store: &Arc<dyn Store>, path: &str, ome: Value) -> Group {
    Group::create(store, path, NewGroup::new().attribute("ome", ome), &registry()).unwrap()
}

/// Creates an image of two levels, 16 x 16 and 4 x 4, whose elements have one value.
fn field(store: &Arc<dyn Store>, path: &str, value: u8, omero: Option<Value>) {
    let space = |name: &str| json!({"name": name, "type": "space"});
    let level =
        |path: &str| json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]});
    let multiscale = json!({"axes": [(space("y")), (space("x"))], "datasets": [(level("0")), (level("1"))]});
    let mut ome = json!({"version": "0.5", "multiscales": [multiscale]});
    if let (Some(omero), Value::Object(members)) = (omero, &mut ome) {
        members.insert("omero", omero);
    }
    let image = group(store, path, ome);
    for (name, len) in [("0", 16), ("1", 4)] {
        let new = NewArray::new(&[len, len], "uint8").chunks(&[4, 4]).codecs("bytes").unwrap();
        image.create_array(name, new).unwrap().write(.., &vec![value; (len * len) as usize]).unwrap();
    }
}

fn well(store: &Arc<dyn Store>, path: &str, values: &[u8], omero: Option<&Value>) {
    let images = (0..values.len()).map(|number| json!({"path": (number.to_string())}));
    group(store, path, json!({"version": "0.5", "well": {"images": (Value::Array(images.collect()))}}));
    for (number, &value) in values.iter().enumerate() {
        field(store, &format!("{path}/{number}"), value, omero.cloned());
    }
}

fn plate(store: &Arc<dyn Store>, wells: &[&str]) -> Group {
    let named = |names: &[&str]| Value::Array(names.iter().map(|name| json!({"name": (*name)})).collect());
    let wells = wells.iter().map(|path| json!({"path": (*path)}));
    let plate = json!({
        "rows": (named(&["A", "B"])), "columns": (named(&["1", "2", "3"])), "wells": (Value::Array(wells.collect()))
    });
    group(store, "/plate", json!({"version": "0.5", "plate": plate}))
}

fn window(end: u8) -> Value {
    json!({"channels": [{"color": "FFFFFF", "window": {"start": 0, "end": end, "min": 0, "max": 255}}]})
}

#[test]
fn wells_stand_in_their_rows_and_columns() {
    let counted = Arc::new(Counted::new(Arc::new(MemoryStore::new()) as Arc<dyn Store>));
    let store: Arc<dyn Store> = counted.clone();
    let omero = window(200);
    let group = plate(&store, &["A/1", "B/3", "A/2"]);
    well(&store, "/plate/A/1", &[200, 7], Some(&omero));
    well(&store, "/plate/B/3", &[100], Some(&omero));
    // The finest levels have other values.
    for well in ["A/1", "B/3"] {
        let finest = zarr_array::Array::open(&store, &format!("/plate/{well}/0/0"), &registry()).unwrap();
        finest.write(.., &[7_u8; 256]).unwrap();
    }
    let grid = ImageGrid::open(&group).unwrap().unwrap();
    let before = counted.counts().gets;
    let Thumbnails { figure, drawn, warnings } = grid.draw(Room::pixels(14, 9), &ThumbnailOptions::default()).unwrap();
    // The coarsest level alone is read: one chunk of each well.
    assert!(counted.counts().gets - before < 60, "{}", counted.counts().gets - before);
    assert_eq!(drawn, 2);
    assert!(warnings.len() == 1 && warnings[0].starts_with("A/2 is left out: "), "{warnings:?}");
    // Cells of 3 x 3 pixels, with a pixel between them.
    assert_eq!((figure.slice.columns(), figure.slice.rows()), (11, 7));
    let colors = figure.colors.as_ref().unwrap();
    let at = |row: usize, column: usize| colors[row * 11 + column];
    assert_eq!([at(0, 0), at(2, 2), at(4, 8), at(6, 10)], [[255; 3], [255; 3], [128; 3], [128; 3]]);
    assert_eq!([at(3, 0), at(0, 3), at(0, 4), at(4, 7)], [EMPTY; 4]);
    let ticks = figure.axes[1].ticks(&figure.slice.samples[1], 9);
    assert_eq!(
        ticks.iter().map(|tick| (tick.at, tick.text.as_str())).collect::<Vec<_>>(),
        [(1.0, "1"), (5.0, "2"), (9.0, "3")]
    );
    let text = figure.text(60, 20, Ink::Plain);
    assert!(text.starts_with("plate\n") && text.contains("A-") && text.contains("B-"), "{text}");
    assert!(figure.picture(Room::pixels(100, 100)).is_ok());
}

#[test]
fn a_well_shows_its_fields() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    well(&store, "/w", &[0, 51, 102, 204, 255], None);
    let grid = ImageGrid::open(&Group::open(&store, "/w", &registry()).unwrap()).unwrap().unwrap();
    assert_eq!((grid.rows.len(), grid.columns.len(), grid.is_plate), (2, 3, false));
    let figure = grid.draw(Room::pixels(30, 20), &ThumbnailOptions::default()).unwrap().figure;
    // All fields have one range of values, that of the percentiles 2 and 98 of all.
    let colors = figure.colors.unwrap();
    let row = |row: usize| [0, 10, 20].map(|column| colors[row * 29 + column]);
    assert_eq!((row(0), row(10)), ([[0; 3], [51; 3], [102; 3]], [[204; 3], [255; 3], EMPTY]));
}

#[test]
fn many_wells_are_not_read_at_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = plate(&store, &["A/1", "A/2", "A/3"]);
    well(&store, "/plate/A/1", &[9], Some(&window(9)));
    well(&store, "/plate/A/2", &[9], Some(&window(9)));
    let grid = ImageGrid::open(&group).unwrap().unwrap();
    let options = ThumbnailOptions { most: 2, ..ThumbnailOptions::default() };
    let Thumbnails { figure, drawn, warnings } = grid.draw(Room::pixels(30, 20), &options).unwrap();
    assert_eq!((drawn, warnings.len(), figure.note.as_deref()), (2, 0, Some("2 of 3 wells")));
}

#[test]
fn what_is_no_grid_is_said() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let open = |path: &str, ome: Value| ImageGrid::open(&group(&store, path, ome));
    assert!(open("/a", json!({"version": "0.5"})).unwrap().is_none());
    let error = open("/b", json!({"version": "0.5", "well": {"images": []}})).unwrap_err();
    assert!(error.to_string().ends_with("/b: the well has no field"), "{error}");
    let error = open("/c", json!({"version": "0.5", "plate": {"rows": [], "columns": [], "wells": [{"path": "A/1"}]}}))
        .unwrap_err();
    assert!(error.to_string().contains("the plate has no well in its rows and columns"), "{error}");
    let names = || Value::Array((0..200).map(|number| json!({"name": (format!("n{number}"))})).collect());
    let huge =
        json!({"version": "0.5", "plate": {"rows": (names()), "columns": (names()), "wells": [{"path": "n0/n0"}]}});
    let error = open("/d", huge).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("found a plate of 200 x 200 wells, expected at most 16_384"), "{error}");
    let fields = Value::Array((0..20_000).map(|number| json!({"path": (number.to_string())})).collect());
    let error = open("/e", json!({"version": "0.5", "well": {"images": fields}})).unwrap_err();
    assert!(error.to_string().contains("found a well of 20_000 fields, expected at most 16_384"), "{error}");
    // A plate without a readable well is an error.
    let grid = ImageGrid::open(&plate(&store, &["A/1"])).unwrap().unwrap();
    assert!(grid.draw(Room::pixels(30, 20), &ThumbnailOptions::default()).unwrap_err().is_not_found());
    assert!(grid.first_image().unwrap_err().is_not_found());
}

/// Images of a plate of one row are as square as they are, and not stretched to fill the room.
#[test]
fn pictures_of_long_grids_are_not_stretched() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let columns = (0..12).map(|number| json!({"name": (number.to_string())}));
    let plate =
        json!({"rows": [{"name": "A"}], "columns": (Value::Array(columns.collect())), "wells": [{"path": "A/0"}]});
    let group = group(&store, "/plate", json!({"version": "0.5", "plate": plate}));
    well(&store, "/plate/A/0", &[9], Some(&window(9)));
    let grid = ImageGrid::open(&group).unwrap().unwrap();
    let room = Room::pixels(256, 192);
    let figure = grid.draw(room, &ThumbnailOptions::default()).unwrap().figure;
    assert_eq!(figure.plane_size(room), (251, 20));
    // Characters are twice as high as they are wide.
    let room = Room::text(130, 30, Ink::Plain);
    let figure = grid.draw(room, &ThumbnailOptions::default()).unwrap().figure;
    assert_eq!(figure.plane_size(room), (107, 4));
}

/// The legend has the channels of all wells, not those of the first alone.
#[test]
fn the_legend_is_that_of_the_image_with_most_channels() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = group(&store, "/w", json!({"version": "0.5", "well": {"images": [{"path": "a"}, {"path": "b"}]}}));
    field(&store, "/w/a", 9, None);
    let described = json!({"channels": [
        {"label": "DAPI", "window": {"start": 0, "end": 9}}, {"label": "GFP", "window": {"start": 0, "end": 9}}
    ]});
    let space = |name: &str| json!({"name": name, "type": "space"});
    let datasets = json!([{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0, 1.0]}]}]);
    let axes = json!([{"name": "c", "type": "channel"}, (space("y")), (space("x"))]);
    let ome = json!({"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}], "omero": described});
    let new = NewArray::new(&[2, 4, 4], "uint8").codecs("bytes").unwrap();
    self::group(&store, "/w/b", ome).create_array("0", new).unwrap();
    let grid = ImageGrid::open(&group).unwrap().unwrap();
    let figure = grid.draw(Room::pixels(30, 20), &ThumbnailOptions::default()).unwrap().figure;
    let Shading::Categories(categories) = figure.shading else { panic!("{:?}", figure.shading) };
    assert_eq!(categories.entries().iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["DAPI", "GFP"]);
}
