//! Groups of Zarr arrays as data sets: variables with named dimensions, coordinates and decoded values, as xarray reads them.
//!
//! A [`Dataset`] is a group whose arrays share dimensions by name. Names come from `dimension_names` (Zarr v3), `_ARRAY_DIMENSIONS`
//! (v2, [xarray's encoding](https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html)) or NCZarr. Values are decoded by the
//! [CF conventions](https://cfconventions.org) as `xarray.decode_cf` does, chunk by chunk when they are read: missing data, packed
//! numbers, times of all calendars, bools, characters, strings.
//!
//! [`Dataset::sel`] selects by labels, [`Dataset::sel_points`] several points at once; [`Variable::plan`] says what a read fetches. A
//! [`DataTree`] has the data sets of groups below each other.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
//! use zarr_dataset::Dataset;
//!
//! let mut registry = Registry::default();
//! zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
//! let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
//! let new = |data_type| NewArray::new(&[3], data_type).dimension_names(&["time"]).codecs("bytes");
//! let time = group.create_array("time", new("int32")?.attribute("units", "days since 2020-01-01"))?;
//! time.write(.., &[0, 1, 31])?;
//! let t2m = group.create_array("t2m", new("int16")?.attribute("scale_factor", 0.5).attribute("add_offset", 273.0))?;
//! t2m.write(.., &[0_i16, 3, 40])?;
//!
//! let january = Dataset::open(&group)?.sel("time", "2020-01")?;
//! assert_eq!(january.variable("t2m")?.read()?.to_vec::<f64>()?, [273.0, 274.5]);
//! # Ok::<(), zarr_array::Error>(())
//! ```

mod attribute;
mod calendar_time;
mod cdl;
mod codec;
mod dataset;
mod decoded;
mod decoder;
mod dimensions;
mod encoder;
mod fault;
mod gather;
mod georeference;
mod index;
mod indexer;
mod inherited;
mod into_values;
mod label;
mod new_dataset;
mod new_variable;
mod of_variable;
mod open;
mod options;
mod overview;
mod plan;
mod points;
mod regions;
mod related;
mod strings;
mod subset;
mod tree;
mod values;
mod variable;
mod write;

pub use calendar_time::calendar as calendar_of;
pub use cdl::Cdl;
pub use dataset::Dataset;
pub use decoded::registry;
pub use dimensions::Dimension;
pub use georeference::georeference_of;
pub use inherited::inherited_georeference;
pub use into_values::IntoValues;
pub use label::{Label, Labels};
pub use new_dataset::NewDataset;
pub use new_variable::NewVariable;
pub use options::{DatasetOptions, DecodeCoords};
pub use overview::{Overview, type_name};
pub use plan::Plan;
pub use regions::DimensionSelection;
pub use related::named_variables;
pub use tree::DataTree;
pub use values::Values;
pub use variable::Variable;
pub use zarr_array::{Error, ErrorKind, Result};
pub use zarr_cf as cf;
