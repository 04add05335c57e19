use super::*;
use crate::{Cut, ErrorKind, ImageCut, Room, composite};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_array::{Group, NewArray, NewGroup, Registry, Selection, Store};
use zarr_json::{Value, json};
use zarr_store::MemoryStore;

/// Creates an image of one level with axes c, y and x, of which nothing is stored.
fn empty(shape: [u64; 3], data_type: &str, omero: Option<Value>) -> Image {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let space = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let scale = json!([{"type": "scale", "scale": [1.0, 0.5, 0.5]}]);
    let multiscale = json!({
        "axes": [{"name": "c", "type": "channel"}, (space("y")), (space("x"))],
        "datasets": [{"path": "0", "coordinateTransformations": scale}]
    });
    let mut ome = json!({"version": "0.5", "multiscales": [multiscale]});
    if let (Some(omero), Value::Object(members)) = (omero, &mut ome) {
        members.insert("omero", omero);
    }
    let group = Group::create(&store, "/", NewGroup::new().attribute("ome", ome), &Arc::new(registry)).unwrap();
    let new = NewArray::new(&shape, data_type).chunks(&[1, shape[1], shape[2]]).codecs("bytes").unwrap();
    group.create_array("0", new).unwrap();
    Image::open(&group).unwrap().unwrap()
}

/// Creates an image as [`empty`] does, whose elements are the given bytes.
pub(crate) fn image(shape: [u64; 3], data_type: &str, elements: &[u8], omero: Option<Value>) -> Image {
    let image = empty(shape, data_type, omero);
    let array = image.level(0).unwrap();
    match data_type {
        "uint8" => array.write(.., elements).unwrap(),
        _ => array.write(.., &elements.iter().map(|&element| u16::from(element)).collect::<Vec<_>>()).unwrap(),
    }
    image
}

/// Chooses channels of the part of an image, and composes them.
fn drawn(image: &Image, part: &str, picks: Option<&[&str]>) -> Result<Option<(Channels, Vec<Rgb>)>> {
    let selection: Selection = part.parse().unwrap();
    let ImageCut { array, cut, .. } =
        ImageCut::new(image, |shape| Cut::new(shape, &selection, Some(&[1, 2])), Room::pixels(64, 64), None)?;
    let picks: Option<Vec<String>> = picks.map(|picks| picks.iter().map(|pick| (*pick).to_owned()).collect());
    let Some(channels) = Channels::new(image, &array, &cut, picks.as_deref())? else { return Ok(None) };
    let layers = channels.read(&array, &cut, &[64, 64], &Budget::default())?;
    Ok(Some((channels, composite(&layers).0)))
}

fn omero(channels: &[Value]) -> Option<Value> {
    Some(json!({"channels": (Value::Array(channels.to_vec()))}))
}

fn channel(color: &str, start: f64, end: f64) -> Value {
    json!({"color": color, "window": {"start": start, "end": end, "min": 0, "max": 255}})
}

proptest! {
    /// Three channels of bytes come out as they are.
    #[test]
    fn red_green_and_blue_are_pixels(rows in 1_u64..7, columns in 2_u64..7, seed in any::<u8>()) {
        let plane = rows * columns;
        let elements: Vec<u8> = (0..3 * plane).map(|at| (at * 37 + u64::from(seed)) as u8).collect();
        let image = image([3, rows, columns], "uint8", &elements, None);
        let selection: Selection = "".parse().unwrap();
        let axes = [1, 2];
        let cut = Cut::new(&[3, rows, columns], &selection, Some(&axes)).unwrap();
        let array = image.level(0).unwrap();
        let channels = Channels::new(&image, &array, &cut, None).unwrap().unwrap();
        let layers = channels.read(&array, &cut, &[64, 64], &Budget::default()).unwrap();
        let at = |channel: u64, pixel: u64| elements[(channel * plane + pixel) as usize];
        let expected: Vec<Rgb> = (0..plane).map(|pixel| [0, 1, 2].map(|channel| at(channel, pixel))).collect();
        prop_assert_eq!(composite(&layers).0, expected);
    }

    /// A composite is the sum of its channels drawn alone, cut at 255.
    #[test]
    fn channels_are_added(colors in prop::collection::vec(any::<[u8; 3]>(), 2..5), inverted in any::<bool>(), seed in any::<u8>()) {
        let count = colors.len() as u64;
        let elements: Vec<u8> = (0..count * 4).map(|at| (at * 91 + u64::from(seed)) as u8).collect();
        let described: Vec<Value> = colors.iter().map(|[r, g, b]| {
            let mut described = channel(&format!("{r:02x}{g:02x}{b:02x}"), 0.0, 255.0);
            if let Value::Object(members) = &mut described {
                members.insert("inverted", inverted);
            }
            described
        }).collect();
        let image = image([count, 2, 2], "uint16", &elements, omero(&described));
        let (_, all) = drawn(&image, "", None).unwrap().unwrap();
        for pixel in 0..4 {
            for part in 0..3 {
                let sum: f64 = (0..colors.len()).map(|number| {
                    let value = f64::from(elements[number * 4 + pixel]) / 255.0;
                    f64::from(colors[number][part]) * if inverted { 1.0 - value } else { value }
                }).sum();
                prop_assert!((f64::from(all[pixel][part]) - sum.min(255.0)).abs() <= 0.501);
            }
        }
    }
}

#[test]
fn windows_and_colours_without_omero_are_defaults() {
    let elements: Vec<u8> = (0..200).map(|at| if at < 100 { at } else { 7 }).collect();
    let image = image([2, 10, 10], "uint16", &elements, None);
    let (channels, pixels) = drawn(&image, "", None).unwrap().unwrap();
    let names: Vec<(&str, Rgb)> = channels.drawn.iter().map(|channel| (channel.name.as_str(), channel.color)).collect();
    assert_eq!(names, [("0", [0, 0, 255]), ("1", [0, 255, 0])]);
    // The percentiles 2 and 98 are 1.98 and 97.02. The second channel has one value, and is black.
    assert_eq!((pixels[0], pixels[50], pixels[99]), ([0, 0, 0], [0, 0, 129], [0, 0, 255]));
    assert!(channels.warnings.is_empty());
}

#[test]
fn channels_are_chosen_by_name_or_number() {
    let described = [
        json!({"label": "DAPI", "color": "0000FF", "window": {"start": 0, "end": 1}}),
        json!({"label": "GFP", "color": "00FF00", "window": {"start": 0, "end": 1}, "active": false}),
        json!({"label": "0", "color": "FF0000", "window": {"start": 0, "end": 1}}),
    ];
    let image = image([3, 1, 2], "uint16", &[1, 1, 1, 1, 1, 1], omero(&described));
    let numbers = |part: &str, picks: Option<&[&str]>| -> Vec<u64> {
        let (channels, _) = drawn(&image, part, picks).unwrap().unwrap();
        channels.drawn.iter().map(|channel| channel.number).collect()
    };
    assert_eq!(numbers("", None), [0, 2]);
    assert_eq!(numbers("", Some(&["gfp", "1", "2"])), [1, 2]);
    // A name comes before a number.
    assert_eq!(numbers("", Some(&["0"])), [2]);
    assert_eq!(numbers("1:", Some(&["GFP"])), [1]);
    let error = drawn(&image, "", Some(&["RFP"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error.to_string().contains(r#"found no channel "RFP", expected one of 0 (DAPI), 1 (GFP), 2 (0)"#),
        "{error}"
    );
    let error = drawn(&image, "0", Some(&["GFP"])).unwrap_err().to_string();
    assert!(error.contains("an index of the axis of channels is selected"), "{error}");
    assert!(drawn(&image, "0", None).unwrap().is_none());
}

#[test]
fn faulty_metadata_of_channels_is_a_warning() {
    let warning = |described: &[Value]| {
        let image = image([2, 1, 2], "uint16", &[0, 4, 0, 4], omero(described));
        let (channels, pixels) = drawn(&image, "", None).unwrap().unwrap();
        (channels.warnings.join("; "), pixels)
    };
    let (text, pixels) = warning(&[channel("FF0000", 3.0, 3.0), channel("0000FF", 0.0, 4.0)]);
    assert_eq!(text, "channel 0: its window begins and ends at 3: the range of its values is shown");
    assert_eq!(pixels, [[0, 0, 0], [255, 0, 255]]);
    let (text, pixels) = warning(&[channel("orange", 0.0, 4.0)]);
    assert!(text.contains("/omero/channels/0/color: found \"orange\""), "{text}");
    assert_eq!(pixels[1], [0, 255, 255]);
    let (channels, _) = drawn(&image([2, 1, 2], "uint16", &[0, 4, 0, 4], Some(json!(7))), "", None).unwrap().unwrap();
    assert!(channels.warnings.join("; ").contains("/omero"), "{:?}", channels.warnings);
    let (text, pixels) = warning(&[channel("FF0000", 0.0, 4.0)]);
    assert_eq!(text, "omero describes 1 of 2 channels: the others are shown if chosen");
    assert_eq!(pixels, [[0, 0, 0], [255, 0, 0]]);
    let inactive = json!({"color": "FF0000", "window": {"start": 0, "end": 4}, "active": false});
    let (text, pixels) = warning(&[inactive.clone(), inactive]);
    assert_eq!((text.as_str(), pixels[1]), ("no channel is active: the first is shown", [255, 0, 0]));
}

#[test]
fn many_channels_are_not_drawn_at_once() {
    let image = image([9, 1, 2], "uint16", &[1; 18], None);
    let (channels, _) = drawn(&image, "", None).unwrap().unwrap();
    assert_eq!((channels.drawn.len(), channels.of), (6, 9));
    assert_eq!(channels.warnings, ["6 of 9 channels are shown"]);
    let all: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(drawn(&image, "", Some(&all)).unwrap().unwrap().0.drawn.len(), 9);
}

/// An axis of channels may have any length: its indices are not listed.
#[test]
fn an_axis_of_very_many_channels_is_not_listed() {
    let draw = |described: &[Value], part: &str, picks: Option<&[&str]>| {
        let omero = if described.is_empty() { None } else { omero(described) };
        drawn(&empty([1 << 50, 2, 2], "uint8", omero), part, picks)
    };
    let (channels, _) = draw(&[], "", None).unwrap().unwrap();
    assert_eq!((channels.drawn.len(), channels.of), (6, 1 << 50));
    assert_eq!(channels.warnings, ["6 of 1125899906842624 channels are shown"]);
    let (channels, _) = draw(&[channel("FF0000", 0.0, 4.0)], "", None).unwrap().unwrap();
    assert_eq!(channels.drawn.len(), 1);
    let (channels, _) = draw(&[], "1::2", Some(&["1001", "1"])).unwrap().unwrap();
    assert_eq!(channels.drawn.iter().map(|channel| channel.number).collect::<Vec<_>>(), [1001, 1]);
    let error = draw(&[], "1::2", Some(&["1000"])).unwrap_err().to_string();
    assert!(
        error.contains(r#"found no channel "1000", expected one of 1, 3, 5"#) && error.ends_with(", .."),
        "{error}"
    );
}

/// A single channel has its colour and is inverted as one of several.
#[test]
fn a_single_channel_that_is_described_has_its_colour() {
    let inverted = json!({"color": "FF0000", "inverted": true, "window": {"start": 0, "end": 4}});
    let shown = |described: Value| {
        drawn(&image([1, 1, 2], "uint16", &[0, 1], omero(&[described])), "", None).unwrap().map(|(_, pixels)| pixels)
    };
    assert_eq!(shown(inverted.clone()), Some(vec![[255, 0, 0], [191, 0, 0]]));
    // A range of values alone has no colour.
    assert_eq!(shown(json!({"window": {"start": 0, "end": 4}})), None);
    let flat = flat(&inverted);
    let cut = Cut::new(&[1, 2], &Selection::all(), Some(&[0, 1])).unwrap();
    let array = flat.level(0).unwrap();
    let channels = Channels::new(&flat, &array, &cut, None).unwrap().unwrap();
    assert_eq!((channels.axis, channels.of), (None, 1));
    let layers = channels.read(&array, &cut, &[64, 64], &Budget::default()).unwrap();
    assert_eq!(composite(&layers).0, [[255, 0, 0]; 2]);
}

/// Creates an image of one row and two columns, which are 0, without an axis of channels.
fn flat(described: &Value) -> Image {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let scale = json!([{"type": "scale", "scale": [1.0, 1.0]}]);
    let multiscale = json!({
        "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
        "datasets": [{"path": "0", "coordinateTransformations": scale}]
    });
    let ome = json!({"version": "0.5", "multiscales": [multiscale], "omero": {"channels": [(described.clone())]}});
    let group = Group::create(&store, "/", NewGroup::new().attribute("ome", ome), &Arc::new(registry)).unwrap();
    group.create_array("0", NewArray::new(&[1, 2], "uint8").codecs("bytes").unwrap()).unwrap();
    Image::open(&group).unwrap().unwrap()
}
