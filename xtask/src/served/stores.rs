//! Stores that are served.

use std::sync::Arc;
use zarr::Result;
use zarr::convert::{Pyramid, PyramidOptions};
use zarr::meta::Dialect;
use zarr::ome::document::Window;
use zarr::ome::{NewImage, Version};
use zarr::prelude::*;
use zarr::store::{Prefix, Prefixed};
use zarr_json::{Value, json};

/// Lengths of `/cube/t` along time, y and x.
const CUBE: [u64; 3] = [6, 40, 60];

/// Returns the store for `xtask/page/drive.mjs`: `/cube`, a data set; `/many`, 2,000 arrays; `/huge`, an array of 2^40 elements; `/image`,
/// an image in three resolutions with labels; `/plate`, a plate with two wells; `/odd`, strings that look like markup.
pub(super) fn of_page() -> Result<Arc<dyn Store>> {
    let store = zarr::store::create("memory:")?;
    let create = |path: &str, new: NewArray| zarr::create((&store, path)).array(new);
    zarr::create((&store, "/cube")).group(NewGroup::new())?;
    let along = |name: &str, len: u64, data_type: &str| NewArray::new(&[len], data_type).dimension_names(&[name]);
    let time = along("time", CUBE[0], "int32").attribute("units", "days since 2020-01-01");
    create("/cube/time", time)?.write(.., &(0..6).collect::<Vec<i32>>())?;
    // From top to bottom.
    let y: Vec<f64> = (0..40).map(|row| 45.0 - f64::from(row)).collect();
    create("/cube/y", along("y", CUBE[1], "float64"))?.write(.., &y)?;
    create("/cube/x", along("x", CUBE[2], "float64"))?.write(.., &(0..60).map(f64::from).collect::<Vec<_>>())?;
    let new = NewArray::new(&CUBE, "int32")
        .chunks(&[1, 20, 30])
        .dimension_names(&["time", "y", "x"])
        .attribute("units", "K")
        .attribute("scale_factor", 0.05)
        .attribute("_FillValue", -1);
    let value = |index: u64| {
        let (time, element) = (index / 2400, index % 2400);
        if element == 5 * 60 + 7 { -1 } else { i32::try_from(time * 2000 + element).unwrap_or(i32::MAX) }
    };
    create("/cube/t", new)?.write(.., &(0..14_400).map(value).collect::<Vec<i32>>())?;
    zarr::create((&store, "/many")).group(NewGroup::new())?;
    for number in 0..2000 {
        let new = NewArray::new(&[30, 40], "uint8").chunks(&[30, 40]).dimension_names(&["y", "x"]);
        create(&format!("/many/a{number:04}"), new)?;
    }
    let huge = create("/huge", NewArray::new(&[1 << 20, 1 << 20], "float32").chunks(&[256, 256]))?;
    // Of sixteen million chunks a few are stored.
    for row in 0..16_u64 {
        let start = row * 65_536;
        huge.fill((start..start + 256, start..start + 256), row as f32 + 1.0)?;
    }
    image(&store)?;
    let odd = NewGroup::new().attribute("markup", "<img src=x onerror=alert(1)><b>bold</b>");
    zarr::create((&store, "/odd")).group(odd)?;
    Ok(store)
}

/// Creates an image of two channels in three resolutions, the coarsest of which has 300 x 400 elements. The value of an element is its
/// column in the finest resolution.
fn image(store: &Arc<dyn Store>) -> Result<()> {
    let level = |number: u32| {
        let scale = 0.25 * f64::from(1 << number);
        let transformations = json!([{"type": "scale", "scale": [1.0, scale, scale]}]);
        json!({"path": (number.to_string()), "coordinateTransformations": transformations})
    };
    let space = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let axes = json!([{"name": "c", "type": "channel"}, (space("y")), (space("x"))]);
    let multiscale = json!({"axes": axes, "datasets": [(level(0)), (level(1)), (level(2))]});
    let window = json!({"start": 0, "end": 1600, "min": 0, "max": 65535});
    let channel = |name: &str, color: &str| json!({"label": name, "color": color, "window": (window.clone())});
    let omero = json!({"channels": [(channel("DAPI", "0000FF")), (channel("GFP", "00FF00"))]});
    let ome = json!({"version": "0.5", "multiscales": [multiscale], "omero": omero});
    zarr::create((store, "/image")).group(NewGroup::new().attribute("ome", ome))?;
    for number in 0..3_u64 {
        let (height, width) = (1200 >> number, 1600 >> number);
        let new = NewArray::new(&[2, height, width], "uint16").chunks(&[1, 300, 400]);
        let columns = (0..2 * height * width).map(|at| ((at % width) << number) as u16);
        zarr::create((store, format!("/image/{number}").as_str()))
            .array(new)?
            .write(.., &columns.collect::<Vec<_>>())?;
    }
    labels(store)?;
    plate(store)
}

/// Creates labels of the image: `left`, of which the left half is 1 and the rest 0, and `other`, whose shape is not that of the image.
fn labels(store: &Arc<dyn Store>) -> Result<()> {
    let listed = json!({"version": "0.5", "labels": ["left", "other"]});
    zarr::create((store, "/image/labels")).group(NewGroup::new().attribute("ome", listed))?;
    let datasets = json!([{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.25, 0.25]}]}]);
    let space = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let multiscale = json!({"axes": [(space("y")), (space("x"))], "datasets": datasets});
    let colors = json!({"colors": [{"label-value": 1, "rgba": [255, 0, 0, 255]}]});
    for (name, columns) in [("left", 1600), ("other", 1599)] {
        let path = format!("/image/labels/{name}");
        let ome = json!({"version": "0.5", "multiscales": [(multiscale.clone())], "image-label": (colors.clone())});
        zarr::create((store, path.as_str())).group(NewGroup::new().attribute("ome", ome))?;
        let new = NewArray::new(&[1200, columns], "uint8").chunks(&[300, 400]);
        zarr::create((store, format!("{path}/0").as_str())).array(new)?.fill((0..1200, 0..800), 1_u8)?;
    }
    Ok(())
}

/// Creates a plate of 2 x 3 places with two wells, of one image each.
fn plate(store: &Arc<dyn Store>) -> Result<()> {
    let named = |names: &[&str]| Value::Array(names.iter().map(|name| json!({"name": (*name)})).collect());
    let plate = json!({
        "rows": (named(&["A", "B"])), "columns": (named(&["1", "2", "3"])), "wells": [{"path": "A/1"}, {"path": "B/3"}]
    });
    let group = |path: &str, ome: Value| zarr::create((store, path)).group(NewGroup::new().attribute("ome", ome));
    group("/plate", json!({"version": "0.5", "plate": plate}))?;
    let datasets = json!([{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]}]);
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let multiscale = json!({"axes": axes, "datasets": datasets});
    for (path, value) in [("/plate/A/1", 200_u8), ("/plate/B/3", 100)] {
        group(path, json!({"version": "0.5", "well": {"images": [{"path": "0"}]}}))?;
        let window = json!({"start": 0, "end": 200, "min": 0, "max": 255});
        let omero = json!({"channels": [{"color": "FFFFFF", "window": window}]});
        group(&format!("{path}/0"), json!({"version": "0.5", "multiscales": [(multiscale.clone())], "omero": omero}))?;
        let array = zarr::create((store, format!("{path}/0/0").as_str())).array(NewArray::new(&[32, 32], "uint8"))?;
        array.fill(.., value)?;
    }
    Ok(())
}

/// Returns a store with arrays of both formats that all clients read, and a line for each comparison of `xtask/interop/served.py`.
pub(super) fn of_clients() -> Result<(Arc<dyn Store>, String)> {
    let (store, mut lines) = (zarr::store::create("memory:")?, String::new());
    for (format, dialect) in [(2, Dialect::V2), (3, Dialect::V3)] {
        let at = format!("v{format}");
        let hierarchy: Arc<dyn Store> = Arc::new(Prefixed::new(Arc::clone(&store), Prefix::new(&format!("{at}/"))?));
        zarr::create((&hierarchy, "/")).group(NewGroup::new().dialect(dialect))?;
        add_arrays(&hierarchy, format, |path, elements| {
            let hex: String = elements.iter().map(|byte| format!("{byte:02x}")).collect();
            let line: Value = json!({"path": (format!("/{at}{path}")), "format": format, "elements": hex});
            lines.push_str(&format!("{line}\n"));
        })?;
    }
    Ok((store, lines))
}

/// Creates arrays in the format of a hierarchy. Calls `add` with the path and the elements of each.
fn add_arrays(store: &Arc<dyn Store>, format: u64, mut add: impl FnMut(&str, Vec<u8>)) -> Result<()> {
    let numbers: Vec<f64> = (0..6000).map(|it| f64::from(it * 7919 % 6007) / 8.0).collect();
    let new = |data_type: &str| NewArray::new(&[20, 300], data_type).chunks(&[7, 100]);
    macro_rules! array {
        ($path:expr, $new:expr, $type:ty, $of:expr) => {{
            let values: Vec<$type> = numbers.iter().copied().map($of).collect();
            zarr::create((store, $path)).array($new)?.write(.., &values)?;
            add($path, values.iter().flat_map(|value| value.to_le_bytes()).collect());
        }};
    }
    let zstd = r#"["bytes", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#;
    let gzip = r#"["bytes", {"name": "gzip", "configuration": {"level": 1}}]"#;
    array!("/float64", new("float64").codecs(zstd)?, f64, |value| value);
    array!("/float32", new("float32").codecs(gzip)?, f32, |value| value as f32);
    array!("/int16", new("int16").codecs(zstd)?, i16, |value| value as i16);
    array!("/sparse", new("uint8").codecs(zstd)?, u8, |value| if value > 740.0 { value as u8 } else { 0 });
    zarr::create((store, "/deep/er")).group(NewGroup::new())?;
    array!("/deep/er/a b", new("int32").codecs(gzip)?, i32, |value| -(value as i32));
    if format == 3 {
        array!("/shards", new("uint32").chunks(&[5, 50]).shards(&[10, 150]), u32, |value| value as u32);
    }
    Ok(())
}

/// Returns a store with images of two versions of OME-Zarr, `/v0.4` and `/v0.5`, whose coarser levels were computed, and a line for each
/// level: its path and the elements of channel 1 at z = 2.
pub(super) fn of_viewers() -> Result<(Arc<dyn Store>, String)> {
    let (store, mut lines) = (zarr::store::create("memory:")?, String::new());
    let values: Vec<u16> = (0..2 * 3 * 130 * 110_u32).map(|at| (at * 7919 % 65_521) as u16).collect();
    for (version, dialect) in [(Version::V04, Dialect::V2), (Version::V05, Dialect::V3)] {
        let at = format!("v{version}");
        // A hierarchy has one dialect.
        let hierarchy: Arc<dyn Store> = Arc::new(Prefixed::new(Arc::clone(&store), Prefix::new(&format!("{at}/"))?));
        let image = NewImage::new("czyx")?.name("cells").scales("z=0.5um,y=0.1um,x=0.1um")?;
        let image = image.channel("DAPI", Window::new(0.0, 4095.0)).channel("GFP", Window::new(0.0, 4095.0));
        let image = image.level("0", &[1.0; 4])?;
        let group = NewGroup::new().dialect(dialect).attributes(image.attributes(version)?);
        zarr::create((&hierarchy, "/")).group(group)?;
        let new = NewArray::new(&[2, 3, 130, 110], "uint16").chunks(&[1, 1, 64, 64]).dialect(dialect);
        let new = new.dimension_names(&["c", "z", "y", "x"]);
        let array = zarr::create((&hierarchy, "/0")).array(new)?;
        array.write(.., &values)?;
        let pyramid = Pyramid::plan(&array, None, PyramidOptions::default())?;
        pyramid.run(|_| {})?;
        for path in std::iter::once("0".to_owned()).chain(pyramid.levels().iter().map(|level| level.number.to_string()))
        {
            let level = zarr::open((&hierarchy, format!("/{path}").as_str())).array()?;
            let plane = level.read::<u16>((1, 2))?;
            let hex: String =
                plane.iter().flat_map(|value| value.to_le_bytes()).map(|it| format!("{it:02x}")).collect();
            let line: Value = json!({"image": (at.clone()), "path": path, "elements": hex});
            lines.push_str(&format!("{line}\n"));
        }
    }
    Ok((store, lines))
}
