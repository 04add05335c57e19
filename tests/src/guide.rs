//! Pages of `docs/guide` and of `zarr-derive`, whose programs are doc tests of this crate.
#![cfg(doctest)]

#[doc = include_str!("../../docs/guide/open-and-read.md")]
mod open_and_read {}

#[doc = include_str!("../../docs/guide/create.md")]
mod create {}

#[doc = include_str!("../../docs/guide/parallel.md")]
mod parallel {}

#[doc = include_str!("../../docs/guide/write.md")]
mod write {}

#[doc = include_str!("../../docs/guide/append.md")]
mod append {}

#[doc = include_str!("../../docs/guide/groups-and-attributes.md")]
mod groups_and_attributes {}

#[doc = include_str!("../../docs/guide/data-types.md")]
mod data_types {}

#[doc = include_str!("../../docs/guide/own-codec.md")]
mod own_codec {}

#[doc = include_str!("../../docs/guide/own-store.md")]
mod own_store {}

#[doc = include_str!("../../docs/guide/async.md")]
mod asynchronous {}

#[doc = include_str!("../../docs/guide/crates.md")]
mod crates {}

#[doc = include_str!("../../docs/guide/errors.md")]
mod errors {}

#[doc = include_str!("../../docs/guide/from-zarr-python.md")]
mod from_zarr_python {}

#[doc = include_str!("../../docs/guide/from-zarrs.md")]
mod from_zarrs {}

#[doc = include_str!("../../docs/guide/recipes.md")]
mod recipes {}

#[doc = include_str!("../../docs/guide/data-sets.md")]
mod data_sets {}

#[doc = include_str!("../../docs/guide/remote.md")]
mod remote {}

#[doc = include_str!("../../docs/guide/netcdf-and-hdf5.md")]
mod netcdf_and_hdf5 {}

#[doc = include_str!("../../docs/guide/tables.md")]
mod tables {}

#[doc = include_str!("../../docs/guide/tiff.md")]
mod tiff {}

#[doc = include_str!("../../docs/guide/maps.md")]
mod maps {}

#[doc = include_str!("../../docs/guide/files-as-one.md")]
mod files_as_one {}

#[doc = include_str!("../../docs/guide/training.md")]
mod training {}

#[doc = include_str!("../../docs/guide/images.md")]
mod images {}

#[doc = include_str!("../../crates/zarr-derive/src/lib.md")]
mod derive {}

#[doc = include_str!("../../crates/zarr-derive/src/element.md")]
mod derive_element {}

/// Program of README.md, run in a folder with its data.
#[doc = concat!(
    "```\n# fn main() -> Result<(), Box<dyn std::error::Error>> {\n# std::env::set_current_dir(\"../examples/data\")?;\n",
    include_str!("readme.txt"),
    "# assert_eq!((tenth.shape()[2], values.shape().len()), (44, 3));\n# Ok(())\n# }\n```",
)]
mod readme {}
