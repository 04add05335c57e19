//! Runs queries over the data set at an address, which they call `t`: `cargo run --release --example sql -- climate.zarr sst "SELECT .."`.
//! The variables are joined by commas.

#![allow(missing_docs, reason = "a program")]

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use zarr::arrow::TableOptions;
use zarr_datafusion::ZarrTable;

#[tokio::main]
async fn main() -> datafusion::error::Result<()> {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (address, variables) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let session = SessionContext::new();
    let options = TableOptions::default().variables(variables.split(','));
    ZarrTable::open(address, &options)?.register(&session, "t")?;
    for query in words {
        println!("{}", pretty_format_batches(&session.sql(&query).await?.collect().await?)?);
    }
    Ok(())
}
