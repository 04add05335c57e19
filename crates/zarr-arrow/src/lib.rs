//! Data sets as tables: Arrow record batches of Zarr arrays, and the C data and stream interfaces for programs that take them.
//!
//! A table has a row for each combination of indices of the dimensions, in C order. The outer dimensions are those of the variable with the
//! most dimensions, in its order: [`Batches::dimensions`]. `xarray.Dataset.to_dataframe` has the same rows if these are its `dim_order`;
//! its default is the order in which dimensions first appear. Columns are the labels of the dimensions, the other coordinates, and the
//! variables. [`Batches`] reads a table block by block in bounded memory, and decodes chunks straight into the buffers of the batches.
//! [`export_stream`] passes batches to DuckDB, Polars, pyarrow and all others that know the [Arrow C stream
//! interface](https://arrow.apache.org/docs/format/CStreamInterface.html); no Arrow library is needed for it, nor for [`IpcWriter`], which
//! writes files and streams of Arrow. Feature `arrow` converts batches to the types of the crates of arrow-rs, and feature `parquet` writes
//! files of Parquet.
//!
//! | values | Arrow type |
//! |---|---|
//! | bools, integers, floats | the same; integers of 2 and 4 bits as 8 bits, floats below 16 bits and `bfloat16` as `float32` |
//! | times, time spans | timestamps and durations in their own unit from seconds to nanoseconds; weeks to minutes as seconds |
//! | dates of calendars that numpy lacks | `large_utf8`, in ISO 8601 |
//! | strings of any length, JSON objects; byte strings of any length | `string_view`; `binary_view`; in columns that repeat values `large_utf8`; `large_binary` |
//! | strings and byte strings of a fixed length | `large_utf8`, `large_binary`, without the NULs at their end |
//! | raw bytes | `fixed_size_binary` |
//! | complex numbers; structs | structs with `real` and `imag`; structs with the same fields, arrays in fields as `fixed_size_list` |
//! | elements of `optional` | the type of the value |
//! | elements of data types that a program defines | the type of their storage, whose numbers may mean something else |
//!
//! Missing values are nulls: NaN, NaT, missing elements of `optional`, and the strings, bools and raw bytes that a variable marks as
//! missing. Lists of any length, and times in months, years or below nanoseconds are errors that name the variable.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
//! use zarr_arrow::{Batches, Coordinates, TableOptions};
//! use zarr_dataset::Dataset;
//!
//! let mut registry = Registry::default();
//! zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
//! let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
//! let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
//! let lat = group.create_array("lat", NewArray::new(&[2], "float64").dimension_names(&["lat"]).codecs("bytes")?)?;
//! lat.write(.., &[50.0, 60.0])?;
//! let height = NewArray::new(&[2, 3], "int16").dimension_names(&["lat", "lon"]).codecs("bytes")?;
//! group.create_array("height", height)?.write(.., &[1_i16, 2, 3, 4, 5, 6])?;
//!
//! let options = TableOptions::default().coordinates(Coordinates::Plain);
//! let mut batches = Batches::new(&Dataset::open(&group)?, &options)?;
//! let names: Vec<&str> = batches.schema().fields().iter().map(|field| field.name()).collect();
//! assert_eq!(names, ["lat", "lon", "height"]);
//! let batch = batches.next().expect("one batch")?;
//! assert_eq!(batch.rows(), 6);
//! assert_eq!(batch.column(1).values::<i64>(), Some(&[0, 1, 2, 0, 1, 2][..]));
//! assert_eq!(batch.column(2).values::<i16>(), Some(&[1, 2, 3, 4, 5, 6][..]));
//! # Ok::<(), zarr_array::Error>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow_rs;
mod batch;
mod batches;
mod boxes;
mod build;
mod column;
mod data;
mod export;
mod fault;
mod ipc;
mod kind;
mod options;
#[cfg(feature = "parquet")]
mod parquet_file;
mod plan;
mod runs;
mod schema;
mod sizes;
mod texts;
mod words;

#[cfg(feature = "arrow")]
pub use arrow_rs::BatchReader;
pub use batch::Batch;
pub use batches::Batches;
pub use data::{Buffer, Data};
pub use export::{ArrowArray, ArrowArrayStream, ArrowSchema, export_array, export_batch, export_schema, export_stream};
pub use ipc::{IpcForm, IpcWriter};
pub use options::{Coordinates, TableOptions};
#[cfg(feature = "parquet")]
pub use parquet_file::ParquetWriter;
pub use schema::{Field, Schema};
pub use zarr_array::{Error, ErrorKind, Result};
