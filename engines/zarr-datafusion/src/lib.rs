//! Zarr data sets as tables of [DataFusion](https://datafusion.apache.org): SQL and data frames in Rust, which read only the chunks and
//! the variables of a query, on all cores, in bounded memory.
//!
//! [`ZarrTable`] is the table, with what it tells DataFusion. With feature `proto`, `ZarrCodec` sends it to other processes; the crate
//! `zarr-ballista` beside this one does so. Both stand outside of the workspace of `zarr`, since DataFusion brings hundreds of crates.
//!
//! # Example
//! ```
//! use datafusion::prelude::SessionContext;
//! use zarr::arrow::TableOptions;
//! use zarr_datafusion::ZarrTable;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let session = SessionContext::new();
//! let options = TableOptions::default().variables(["sst"]);
//! ZarrTable::open("../../examples/data/climate.zarr", &options)?.register(&session, "sst")?;
//! let query = "SELECT date_part('month', time) AS month, avg(sst) FROM sst WHERE lat BETWEEN -2 AND 2 GROUP BY month";
//! let months = session.sql(query).await?.collect().await?;
//! assert_eq!(months.iter().map(|batch| batch.num_rows()).sum::<usize>(), 12);
//! # Ok(())
//! # }
//! ```

mod axis_indices;
#[cfg(feature = "proto")]
mod codec;
mod fault;
mod filters;
mod guide;
mod labels;
mod parts;
mod scan;
mod source;
mod table;

#[cfg(feature = "proto")]
pub use codec::ZarrCodec;
pub use scan::ZarrScan;
pub use table::ZarrTable;
