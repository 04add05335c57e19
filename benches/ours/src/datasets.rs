//! Data sets as xarray writes them.

use crate::noise::Noise;
use std::path::Path;
use zarr::dataset::{NewDataset, NewVariable};
use zarr_bench_protocol::Failure;

/// Many variables of two dimensions, with times and other coordinates.
pub(crate) fn wide(path: &Path) -> Result<(), Failure> {
    let (hours, latitudes) = (24_i64, 37);
    let time = NewVariable::new("time", &["time"], (0..hours).collect::<Vec<_>>())?;
    // Numbers with units are times where they are read.
    let time = time.attribute("standard_name", "time").encoding("units", "hours since 2020-01-01");
    let lat: Vec<f32> = (0..latitudes).map(|index| 90.0 - 5.0 * index as f32).collect();
    let mut new = NewDataset::new().variable(time).variable(NewVariable::new("lat", &["lat"], lat)?);
    for number in 0..198 {
        let shape = [hours as u64, latitudes as u64];
        let variable = NewVariable::empty(&format!("v{number:03}"), &["time", "lat"], &shape, "float32");
        new = new.variable(variable.attribute("units", "K").attribute("long_name", format!("variable {number}")));
    }
    Ok(zarr::create(path).dataset(new).map(drop)?)
}

/// Integers of 16 bits, of which one in twenty is missing.
pub(crate) fn masked(path: &Path, small: bool, codecs: &str) -> Result<(), Failure> {
    let shape = [if small { 32 } else { 256_u64 }, 512, 512];
    let mut noise = Noise::new(21);
    let count = shape.iter().product::<u64>();
    let values: Vec<i16> = (0..count)
        .map(|index| if noise.below(20) == 0 { -32768 } else { (index / 64 % 3000) as i16 + noise.below(16) as i16 })
        .collect();
    // As they are stored: what is missing is stored already.
    let dimensions = ["time", "y", "x"];
    let empty = NewVariable::empty("v", &dimensions, &shape, "int16").encoding("_FillValue", -32768);
    let empty = empty.chunks(&[1, 512, 512]).codecs(codecs)?;
    let dataset = zarr::create(path).dataset(NewDataset::new().variable(empty))?;
    Ok(dataset.variable("v")?.stored().write(.., &values)?)
}
