use zarr::prelude::*;

let sst = zarr::open("climate.zarr/sst").array()?;
let tenth: zarr::ndarray::Array3<f32> = sst.read_array("..., ::10")?;
let january = zarr::open("climate.zarr").dataset()?.sel("time", "2007-01")?;
let values = january.variable("sst")?.read()?;
