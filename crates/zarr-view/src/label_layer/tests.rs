use super::*;
use crate::{ColorMap, Cut, ErrorKind, Room};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{NewArray, NewGroup, Registry, Store};
use zarr_json::{Map, Value, json};
use zarr_store::{Counted, Key, MemoryStore, SetOptions, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

/// Creates an image or labels whose levels have the given shapes; an element of level 0 has the value of its number, and an element of
/// another level 1000 times the level.
fn create(store: &Arc<dyn Store>, path: &str, axes: &str, levels: &[&[u64]], more: &[(&str, Value)]) -> Image {
    let axis = |name: char| match name {
        'c' => json!({"name": "c", "type": "channel"}),
        't' => json!({"name": "t", "type": "time"}),
        name => json!({"name": (name.to_string()), "type": "space"}),
    };
    let scale = json!([{"type": "scale", "scale": (Value::from(vec![1.0; axes.len()]))}]);
    let datasets = (0..levels.len())
        .map(|level| json!({"path": (level.to_string()), "coordinateTransformations": (scale.clone())}));
    let multiscale = json!({
        "axes": (Value::Array(axes.chars().map(axis).collect())), "datasets": (Value::Array(datasets.collect()))
    });
    let mut ome = Map::from([("version", json!("0.5")), ("multiscales", json!([multiscale]))]);
    more.iter().for_each(|(name, value)| {
        ome.insert(*name, value.clone());
    });
    let group = Group::create(store, path, NewGroup::new().attribute("ome", ome), &registry()).unwrap();
    for (level, shape) in levels.iter().enumerate() {
        let count: u64 = shape.iter().product();
        let array =
            group.create_array(&level.to_string(), NewArray::new(shape, "uint32").codecs("bytes").unwrap()).unwrap();
        let value = |number: u64| if level == 0 { number as u32 } else { 1000 * level as u32 };
        array.write(.., &(0..count).map(value).collect::<Vec<_>>()).unwrap();
    }
    Image::open(&group).unwrap().unwrap()
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Draws opaque labels over a black picture of the part of an image, of `most` rows and columns. Returns the level, the samples and the
/// colours.
fn drawn(image: &Image, name: &str, part: &str, most: [u64; 2]) -> Result<(usize, Vec<Samples>, Vec<Rgb>)> {
    let layer = LabelLayer { opacity: 1.0, ..LabelLayer::open(image, name)? };
    let selection: Selection = part.parse().unwrap();
    let room = Room::pixels(most[1] as usize, most[0] as usize);
    let cut = ImageCut::new(image, |shape| Cut::new(shape, &selection, None), room, None)?;
    let thinned = cut.cut.thinned(&cut.array, &most, &Budget::default())?;
    let count = thinned.samples.iter().map(|samples| samples.count as usize).product();
    let mut pixels = vec![[0; 3]; count];
    let drawn = layer.draw(&mut pixels, image, &cut, &thinned.samples, &Budget::default())?;
    Ok((drawn.level, thinned.samples, pixels))
}

/// The colour of a value in the picture.
fn color(layer: &LabelLayer, value: u64) -> Rgb {
    layer.color(value.into()).map_or([0; 3], |(color, _)| color)
}

proptest! {
    /// A pixel has the colour of the label of its own element where labels have the shape of the image.
    #[test]
    fn labels_lie_over_their_elements(
        rows in 5_u64..40, columns in 5_u64..40, most in 3_u64..40, start in 0_u64..4, is_flipped in any::<bool>()
    ) {
        let store = store();
        let image = create(&store, "/i", "yx", &[&[rows, columns]], &[]);
        create(&store, "/i/labels/l", "yx", &[&[rows, columns]], &[("image-label", json!({}))]);
        let layer = LabelLayer::open(&image, "l").unwrap();
        let part = if is_flipped { format!("::-1, {start}:") } else { format!("{start}:, :") };
        let most = [most.max(rows / 2 + 1), most.max(columns / 2 + 1)];
        let (_, samples, pixels) = drawn(&image, "l", &part, most).unwrap();
        let (down, across) = (samples[0], samples[1]);
        let elements = (0..down.count).flat_map(|row| (0..across.count).map(move |column| (row, column)));
        for ((row, column), pixel) in elements.zip(pixels) {
            let value = down.index(row) * columns + across.index(column);
            prop_assert_eq!(pixel, color(&layer, value), "{:?} of {:?}", (row, column), samples);
        }
    }

    /// Scaled labels have no other values than those of their elements.
    #[test]
    fn labels_are_never_averaged(rows in 2_u64..9, columns in 2_u64..9, factor in 2_u64..4) {
        let store = store();
        let image = create(&store, "/i", "yx", &[&[rows * factor, columns * factor], &[rows, columns]], &[]);
        create(&store, "/i/labels/l", "yx", &[&[rows, columns]], &[("image-label", json!({}))]);
        let layer = LabelLayer::open(&image, "l").unwrap();
        let (_, samples, pixels) = drawn(&image, "l", "", [rows * factor, columns * factor]).unwrap();
        let across = samples[1].count;
        for (at, pixel) in pixels.into_iter().enumerate() {
            let (row, column) = (at as u64 / across, at as u64 % across);
            prop_assert_eq!(pixel, color(&layer, row / factor * columns + column / factor));
        }
    }
}

#[test]
fn values_have_the_colours_of_the_metadata() {
    let store = store();
    let image = create(&store, "/i", "cyx", &[&[2, 1, 4]], &[]);
    let colors = json!({"colors": [
        {"label-value": 1, "rgba": [10, 20, 30, 255]}, {"label-value": 2, "rgba": [255, 0, 0, 0]},
        {"label-value": 3, "rgba": [1, 2]}, {"label-value": 0, "rgba": [9, 9, 9, 255]}
    ]});
    create(&store, "/i/labels/l", "yx", &[&[1, 4]], &[("image-label", colors)]);
    let layer = LabelLayer::open(&image, "labels/l").unwrap();
    assert_eq!(layer.name, "l");
    let [warning] = layer.warnings.as_slice() else { panic!("{:?}", layer.warnings) };
    assert!(warning.starts_with("colours of labels l are left out: "), "{warning}");
    // 0 and the transparent colour of 2 leave the picture as it is, and 3 has a colour by its number.
    let (level, _, pixels) = drawn(&image, "l", "0", [1, 4]).unwrap();
    let third = ColorMap::TAB20.category(4);
    assert_eq!((level, pixels), (0, vec![[0; 3], [10, 20, 30], [0; 3], third]));
    let half = LabelLayer { opacity: 0.5, ..layer };
    assert_eq!(half.color(1), Some(([10, 20, 30], 0.5)));
    assert_eq!(half.color(0), None);
    assert!(half.color(i128::MIN).is_some());
    assert_eq!(blended([100, 0, 255], [200, 100, 0], 0.5), [150, 50, 128]);
}

#[test]
fn the_level_that_fits_is_read() {
    let store = store();
    let levels: [&[u64]; 3] = [&[64, 64], &[32, 32], &[16, 16]];
    let image = create(&store, "/i", "yx", &levels, &[]);
    create(&store, "/i/labels/l", "yx", &levels, &[("image-label", json!({}))]);
    assert_eq!(drawn(&image, "l", "", [64, 64]).unwrap().0, 0);
    let (level, _, pixels) = drawn(&image, "l", "", [32, 32]).unwrap();
    let layer = LabelLayer::open(&image, "l").unwrap();
    assert_eq!((level, pixels[0]), (1, color(&layer, 1000)));
    assert_eq!(drawn(&image, "l", "", [16, 16]).unwrap().0, 2);
    // A part of the image needs a finer level.
    assert_eq!(drawn(&image, "l", "0:16, 0:16", [16, 16]).unwrap().0, 0);
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let store = store();
    let image = create(&store, "/i", "yx", &[&[8, 8], &[4, 4]], &[]);
    Group::create(&store, "/i/labels", NewGroup::new().attribute("ome", json!({"labels": ["l", "m"]})), &registry())
        .unwrap();
    create(&store, "/i/labels/l", "yx", &[&[8, 7]], &[("image-label", json!({}))]);
    create(&store, "/i/labels/coarse", "yx", &[&[4, 4]], &[("image-label", json!({}))]);
    create(&store, "/i/labels/deep", "zyx", &[&[3, 8, 8]], &[("image-label", json!({}))]);
    let refused = |name: &str| drawn(&image, name, "", [8, 8]).unwrap_err();
    assert_eq!(LabelLayer::names(&image).unwrap(), ["l", "m"]);
    let error = refused("l").to_string();
    assert!(error.contains("labels l: found shape [8, 7], expected that of a level of the image: [8, 8]"), "{error}");
    let error = refused("deep").to_string();
    assert!(error.contains("labels deep: found axis z of 3 elements, which the image has not"), "{error}");
    assert!(drawn(&image, "coarse", "", [8, 8]).is_ok());
    // Labels of other times are not those of the image.
    let film = create(&store, "/film", "tyx", &[&[10, 4, 4]], &[]);
    for (name, times, is_fitting) in [("all", 10, true), ("one", 1, true), ("few", 3, false)] {
        create(&store, &format!("/film/labels/{name}"), "tyx", &[&[times, 4, 4]], &[("image-label", json!({}))]);
        let found = drawn(&film, name, "5", [4, 4]);
        assert_eq!(found.is_ok(), is_fitting, "{name}");
        if let Err(error) = found {
            assert!(error.to_string().contains("found axis t of 3 elements, expected 10 or 1"), "{error}");
        }
    }
    let error = refused("nuclei");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = r#": /i/labels/nuclei: found no labels "nuclei", expected one of l, m"#;
    assert!(error.to_string().ends_with(text), "{error}");
    // A group that is no image, an image of floats, and a list that cannot be read have errors of their own.
    Group::create(&store, "/i/labels/m", NewGroup::new(), &registry()).unwrap();
    let error = refused("m");
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    assert!(
        error.to_string().ends_with(": /i/labels/m: labels m: found a group without an image of OME-Zarr"),
        "{error}"
    );
    let floats = create(&store, "/i/labels/floats", "yx", &[&[8, 8]], &[]);
    let new = NewArray::new(&[8, 8], "float32").codecs("bytes").unwrap().overwrite(true);
    floats.group().create_array("0", new).unwrap();
    let error = refused("floats").to_string();
    assert!(
        error.ends_with(": /i/labels/floats/0: labels floats: found elements of float32, expected integers"),
        "{error}"
    );
    store.set(&Key::new("i/labels/zarr.json").unwrap(), b"{", &SetOptions::default()).unwrap();
    assert!(!refused("nuclei").to_string().contains("has none"));
    assert!(LabelLayer::names(&image).is_err());
    let plain = create(&store, "/plain", "yx", &[&[8, 8]], &[]);
    assert!(LabelLayer::names(&plain).unwrap().is_empty());
    assert!(LabelLayer::open(&plain, "").unwrap_err().to_string().contains("the image has none"));
}

#[test]
fn warnings_of_many_colours_are_one() {
    let store = store();
    let image = create(&store, "/i", "yx", &[&[1, 4]], &[]);
    let color = |value: u64| json!({"label-value": value, "rgba": [0.5, 0.5, 0.5, 0.5]});
    let colors = json!({"colors": (Value::Array((1..1000).map(color).collect()))});
    create(&store, "/i/labels/l", "yx", &[&[1, 4]], &[("image-label", colors)]);
    let warnings = LabelLayer::open(&image, "l").unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].ends_with(", and 3995 more"), "{warnings:?}");
}

#[test]
fn labels_are_drawn_once_and_are_few() {
    let store = store();
    let image = create(&store, "/i", "yx", &[&[1, 4]], &[]);
    for name in ["a", "b"] {
        create(&store, &format!("/i/labels/{name}"), "yx", &[&[1, 4]], &[("image-label", json!({}))]);
    }
    let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let opened = LabelLayer::open_all(&image, &names("b a labels/b /a/")).unwrap();
    assert_eq!(opened.iter().map(|layer| layer.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    let many: Vec<String> = (0..17).map(|number| number.to_string()).collect();
    let error = LabelLayer::open_all(&image, &many).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("found 17 names of labels, expected at most 16"), "{error}");
}

/// Labels beyond 2^53 keep their values.
#[test]
fn large_labels_have_their_own_colours() {
    let store = store();
    let image = create(&store, "/i", "yx", &[&[1, 3]], &[]);
    let first = (1_u64 << 60) + 1;
    let colors = json!({"colors": [{"label-value": first, "rgba": [1, 2, 3, 255]}]});
    let labels = create(&store, "/i/labels/l", "yx", &[&[1, 3]], &[("image-label", colors)]);
    let new = NewArray::new(&[1, 3], "uint64").codecs("bytes").unwrap().overwrite(true);
    labels.group().create_array("0", new).unwrap().write(.., &[first, first + 1, u64::MAX]).unwrap();
    let layer = LabelLayer::open(&image, "l").unwrap();
    let (_, _, pixels) = drawn(&image, "l", "", [1, 3]).unwrap();
    assert_eq!(pixels, [[1, 2, 3], color(&layer, first + 1), color(&layer, u64::MAX)]);
}

/// A budget that is too small for all labels is said.
#[test]
fn labels_that_are_left_out_are_said() {
    let store = store();
    let image = create(&store, "/i", "yx", &[&[4, 4]], &[]);
    let labels = create(&store, "/i/labels/l", "yx", &[&[4, 4]], &[("image-label", json!({}))]);
    let new = NewArray::new(&[4, 4], "uint8").chunks(&[1, 1]).codecs("bytes").unwrap().overwrite(true);
    labels.group().create_array("0", new).unwrap();
    let layer = LabelLayer::open(&image, "l").unwrap();
    let cut =
        ImageCut::new(&image, |shape| Cut::new(shape, &Selection::all(), None), Room::pixels(4, 4), None).unwrap();
    let draw = |parts| {
        let budget = Budget { parts, ..Budget::default() };
        layer.draw(&mut [[0; 3]; 16], &image, &cut, &[Samples::all(0, 1, 4); 2], &budget).unwrap()
    };
    assert_eq!((draw(16).is_cut, draw(4).is_cut), (false, true));
}

/// Frames of an animation do not open the levels again.
#[test]
fn levels_are_opened_once_for_many_frames() {
    let counted = Arc::new(Counted::new(store()));
    let store: Arc<dyn Store> = counted.clone();
    let levels: [&[u64]; 3] = [&[9, 8, 8], &[9, 4, 4], &[9, 2, 2]];
    let image = create(&store, "/i", "tyx", &levels, &[]);
    create(&store, "/i/labels/l", "tyx", &levels, &[("image-label", json!({}))]);
    let layer = LabelLayer::open(&image, "l").unwrap();
    let selection: Selection = "0".parse().unwrap();
    let cut = ImageCut::new(&image, |shape| Cut::new(shape, &selection, None), Room::pixels(8, 8), Some(0)).unwrap();
    let gets = || {
        let before = counted.counts().gets;
        layer.draw(&mut [[0; 3]; 64], &image, &cut, &[Samples::all(0, 1, 8); 2], &Budget::default()).unwrap();
        counted.counts().gets - before
    };
    let (first, second) = (gets(), gets());
    assert!(first >= 3 && second <= 2, "{first} gets, then {second}");
}
