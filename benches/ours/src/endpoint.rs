//! The server that a benchmark reads from.

use zarr::store::StoreOptions;

/// The options of the store of a benchmark's server, if the environment names one.
pub(crate) fn options() -> Option<StoreOptions> {
    let endpoint = std::env::var("BENCH_ENDPOINT").ok()?;
    Some(StoreOptions::new().set("endpoint", endpoint).set("anonymous", "true").set("region", "us-east-1"))
}
