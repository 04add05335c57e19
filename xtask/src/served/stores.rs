//! The stores that are served.

use std::sync::Arc;
use zarr::Result;
use zarr::prelude::*;
use zarr_json::{Value, json};

/// Elements along time, y and x of `/cube/t`.
const CUBE: [u64; 3] = [6, 40, 60];

/// What `xtask/page/drive.mjs` looks at: `/cube`, a data set; `/many`, 2,000 arrays; `/huge`, an array of 2^40 elements; `/odd`, texts that
/// look like markup.
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
    // Of four million chunks a few are stored, some of them where the picture of the whole plane has elements.
    for row in 0..16_u64 {
        let (y, x) = (row * 65_536, row * 43_691 / 256 * 256);
        huge.fill((y..y + 256, x..x + 256), row as f32 + 1.0)?;
    }
    let odd = NewGroup::new().attribute("markup", "<img src=x onerror=alert(1)><b>bold</b>");
    zarr::create((&store, "/odd")).group(odd)?;
    Ok(store)
}

/// Arrays of both formats that all clients read, and a line for each of what `xtask/interop/served.py` compares.
pub(super) fn of_clients() -> Result<(Arc<dyn Store>, String)> {
    let (store, mut lines) = (zarr::store::create("memory:")?, String::new());
    zarr::create((&store, "/")).group(NewGroup::new())?;
    let numbers: Vec<f64> = (0..6000).map(|it| f64::from(it * 7919 % 6007) / 8.0).collect();
    let new = |data_type: &str| NewArray::new(&[20, 300], data_type).chunks(&[7, 100]);
    let mut add = |path: &str, format: u64, elements: Vec<u8>| {
        let hex: String = elements.iter().map(|byte| format!("{byte:02x}")).collect();
        let line: Value = json!({"path": path, "format": format, "elements": hex});
        lines.push_str(&format!("{line}\n"));
    };
    macro_rules! array {
        ($path:expr, $format:expr, $new:expr, $type:ty, $of:expr) => {{
            let values: Vec<$type> = numbers.iter().copied().map($of).collect();
            zarr::create((&store, $path)).array($new)?.write(.., &values)?;
            add($path, $format, values.iter().flat_map(|value| value.to_le_bytes()).collect());
        }};
    }
    let zstd = r#"["bytes", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#;
    let gzip = r#"["bytes", {"name": "gzip", "configuration": {"level": 1}}]"#;
    array!("/float64", 3, new("float64").codecs(zstd)?, f64, |value| value);
    array!("/float32", 3, new("float32").codecs(gzip)?, f32, |value| value as f32);
    array!("/int16", 3, new("int16").codecs(zstd)?, i16, |value| value as i16);
    array!("/shards", 3, new("uint32").chunks(&[5, 50]).shards(&[10, 150]), u32, |value| value as u32);
    array!("/sparse", 3, new("uint8").codecs(zstd)?, u8, |value| if value > 740.0 { value as u8 } else { 0 });
    zarr::create((&store, "/deep/er")).group(NewGroup::new())?;
    array!("/deep/er/a b", 3, new("int32").codecs(gzip)?, i32, |value| -(value as i32));
    Ok((store, lines))
}
