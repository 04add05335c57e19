//! Zarr data sets as tables of [Ballista](https://datafusion.apache.org/ballista): SQL over them by several processes or machines.
//!
//! A scheduler plans queries and gives tasks to executors, which read their parts of a data set from its store. All three have the codec by
//! which tables and reads of `zarr-datafusion` are sent: [`scheduler_config`], [`executor_config`] and [`connect`]. The program
//! `zarr-ballista` runs each of them. An executor that dies in mid-query is noticed after a timeout, and others do its tasks.
//!
//! # Example
//! ```no_run
//! use zarr::arrow::TableOptions;
//! use zarr_datafusion::ZarrTable;
//!
//! # #[tokio::main]
//! # async fn main() -> datafusion::error::Result<()> {
//! let session = zarr_ballista::connect("127.0.0.1:50050", 16).await?;
//! ZarrTable::open("/data/climate.zarr", &TableOptions::default().variables(["sst"]))?.register(&session, "sst")?;
//! let means = session.sql("SELECT lat, avg(sst) FROM sst GROUP BY lat ORDER BY lat").await?.collect().await?;
//! # Ok(())
//! # }
//! ```

mod cluster;

pub use cluster::{connect, executor_config, scheduler_config};
