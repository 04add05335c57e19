//! Passes over arrays in stores that answer late stay within their memory, values on their way included.

use super::{Server, taken, turn};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::stats::{Statistics, StatsOptions};
use zarr::store::AsyncAsSync;
use zarr::{NewArray, Options, Store};

/// Opens a folder of the bucket of a server.
fn bucket(server: &Server, folder: &str) -> Arc<dyn Store> {
    let options = [("endpoint", server.url.as_str()), ("anonymous", "true")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let store = zarr_store_object::BucketStore::open(&format!("s3://data/{folder}"), &options).unwrap();
    Arc::new(AsyncAsSync::new(Arc::new(store)))
}

#[test]
fn conversions_and_statistics_of_remote_stores_stay_within_their_memory() {
    let _turn = turn();
    let server = Server::start();
    let source = bucket(&server, "source");
    // 144 MiB in chunks of 256 KiB, stored as they are.
    let new = NewArray::new(&[72 << 20], "uint16").chunks(&[128 << 10]).codecs("bytes").unwrap();
    let array = zarr::create((&source, "/a")).array(new).unwrap();
    let elements: Vec<u16> = (0..128_u64 << 10).map(|at| (at * 40_503 % 65_521) as u16).collect();
    for chunk in 0..576u64 {
        let start = chunk * (128 << 10);
        array.write(start..start + (128 << 10), &elements).unwrap();
    }
    let threads = Options::default().threads(NonZeroUsize::new(2));
    let memory = 24 << 20;
    // Connections have buffers of their own, the more of them the busier the machine is.
    let most = (24 + 12) << 20;

    let target = bucket(&server, "target");
    let options = ConvertOptions::default().memory(memory).chunks(vec![96 << 10]).options(threads.clone());
    let conversion = Conversion::plan(&source, &zarr::registry::default(), options).unwrap();
    let (converted, taken_by) = taken(|| conversion.run(&target, |_| {}));
    converted.unwrap();
    assert!(taken_by.peak <= most, "{taken_by:?}");

    let array = zarr::open((&source, "/a")).array().unwrap().with(threads).unwrap();
    let options = StatsOptions::default().memory(memory);
    let (counted, taken_by) = taken(|| Statistics::of(&array, .., &options));
    assert!(taken_by.peak <= most, "{taken_by:?}");
    assert_eq!(counted.unwrap().numbers.count, 72 << 20);
}
