//! A series as an image of OME-Zarr 0.5.

use zarr_dtype::DataType;
use zarr_json::{Map, Value, json};

use crate::description::{Axis, Channel};
use crate::geo;
use crate::layout::Layout;
use crate::series::Series;

/// The attribute with the metadata of OME-Zarr.
pub(crate) const OME: &str = "ome";
/// The version of OME-Zarr.
const VERSION: &str = "0.5";

/// The attribute `ome` of a group of images.
pub(crate) fn attribute_of_all() -> Value {
    json!({"version": VERSION, "bioformats2raw.layout": 3})
}

/// The attribute `ome` of a series, which is a map or not; `None` if it has axes that OME-Zarr does not have.
pub(crate) fn attribute(series: &Series, layouts: &[Layout], is_map: bool) -> Option<Value> {
    let first = layouts.first()?;
    let names: Vec<&str> = first.axes.iter().map(|axis| &*axis.name).collect();
    let others = names.iter().filter(|name| !["t", "c", "z", "y", "x"].contains(name)).count();
    // Besides times and space there is one more axis at most.
    if names.len() > 5 || others + usize::from(names.contains(&"c")) > 1 {
        return None;
    }
    let spacing = |name: &str| series.about.spacings.iter().find(|spacing| name.chars().eq([spacing.axis]));
    let axes = names.iter().map(|name| {
        let mut axis = Map::from([("name", json!(*name))]);
        let kind = match *name {
            "t" => Some("time"),
            "c" => Some("channel"),
            "x" | "y" | "z" => Some("space"),
            _ => None,
        };
        if let Some(kind) = kind {
            axis.insert("type", kind);
        }
        if let Some(unit) = spacing(name).and_then(|spacing| spacing.unit) {
            axis.insert("unit", unit);
        }
        Value::from(axis)
    });
    let factors: Vec<Vec<f64>> = (0..first.axes.len()).map(|axis| factors(layouts, axis, is_map)).collect();
    let datasets = (0..layouts.len()).map(|number| {
        let scale = first.axes.iter().zip(&factors).map(|(axis, factors): (&Axis, &Vec<f64>)| {
            Value::from(spacing(&axis.name).map_or(1.0, |spacing| spacing.size) * factors[number])
        });
        let scale = Value::Array(scale.collect());
        json!({"path": (number.to_string()), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
    });
    let mut image = Map::from([("axes", Value::Array(axes.collect())), ("datasets", Value::Array(datasets.collect()))]);
    if let Some(name) = &series.about.name {
        image.insert("name", name.as_str());
    }
    let mut ome = Map::from([("version", json!(VERSION)), ("multiscales", Value::Array(vec![image.into()]))]);
    let channels = channels(series);
    if !channels.is_empty() {
        ome.insert("omero", json!({"channels": channels}));
    }
    Some(ome.into())
}

/// Returns for each level the number of elements of the first level that one element stands for along an axis: the ratio of the lengths
/// in maps, and where these do not become smaller.
fn factors(layouts: &[Layout], axis: usize, is_map: bool) -> Vec<f64> {
    let lengths: Vec<u64> = layouts.iter().map(|layout| layout.axes.get(axis).map_or(0, |axis| axis.len)).collect();
    let ratios = || lengths.iter().map(|len| geo::ratio(lengths.first().copied().unwrap_or(*len), *len)).collect();
    match is_map {
        // Overviews of GDAL.
        true => ratios(),
        false => zarr_grid::level_factors(&lengths).unwrap_or_else(ratios),
    }
}

/// The channels, if their names or colours are known.
fn channels(series: &Series) -> Vec<Value> {
    let form = &series.page.form;
    let whole = match form.sample.data_type {
        DataType::UInt8 => Some((0.0, 255.0)),
        DataType::UInt16 => Some((0.0, 65_535.0)),
        DataType::Int8 => Some((-128.0, 127.0)),
        DataType::Int16 => Some((-32_768.0, 32_767.0)),
        _ => None,
    };
    let colored = |label: &str, color| Channel { label: Some(label.to_owned()), color: Some(color), window: None };
    let is_rgb = form.is_rgb() && form.samples == 3 && form.sample.data_type == DataType::UInt8;
    let found = match series.about.channels.is_empty() {
        true if is_rgb && series.axes.iter().all(|axis| axis.name != "c") => {
            vec![colored("red", [255, 0, 0]), colored("green", [0, 255, 0]), colored("blue", [0, 0, 255])]
        }
        _ => series.about.channels.clone(),
    };
    let channel = |channel: &Channel| {
        let (start, end) = channel.window.or(whole)?;
        let (min, max) = whole.unwrap_or((start, end));
        let mut out = Map::from([
            ("active", json!(true)),
            ("window", json!({"min": min, "max": max, "start": start, "end": end})),
            ("color", json!(channel.color.unwrap_or([255; 3]).map(|part| format!("{part:02X}")).concat())),
        ]);
        if let Some(label) = &channel.label {
            out.insert("label", label.as_str());
        }
        Some(Value::from(out))
    };
    found.iter().map(channel).collect::<Option<_>>().unwrap_or_default()
}
