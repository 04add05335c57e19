//! Arrays of very many chunks of which few are stored: the time of each operation depends on the stored chunks.

use std::sync::Arc;
use zarr_array::{Dialect, NewArray};
use zarr_convert::{Conversion, ConvertOptions, Shards};
use zarr_store::{Counted, MemoryStore, Store};

/// Two chunks of 16 elements in 2^26 take few requests, whatever the chunks and shards of the target are.
#[test]
fn conversions_ask_for_stored_chunks() {
    const LEN: u64 = 1 << 26;
    for (dialect, shards) in [(Dialect::V2, None), (Dialect::V3, None), (Dialect::V3, Some(1_000_000))] {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let source: Arc<dyn Store> = Arc::clone(&store) as _;
        let new = NewArray::new(&[LEN], "float64").chunks(&[16]).codecs(r#"["bytes"]"#).unwrap();
        let array = zarr::create((&source, "/a")).array(new.fill(-1)).unwrap();
        let parts = [160..176, LEN / 2 + 160..LEN / 2 + 176];
        for (number, part) in parts.iter().enumerate() {
            array.write(part.clone(), &[number as f64; 16]).unwrap();
        }
        store.take();
        let options = ConvertOptions::default()
            .dialect(dialect)
            .chunks(vec![1000])
            .shards(shards.map(|len| Shards::Of(vec![len])));
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Conversion::plan(&source, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
        let gets = store.take().gets;
        assert!(gets < 20, "{gets} gets from the source, for {dialect} in shards of {shards:?}");
        let converted = zarr::open((&target, "/a")).array().unwrap();
        assert_eq!(converted.stored_chunks().unwrap().len(), 2, "chunks that meet one of the source");
        for (number, part) in parts.into_iter().enumerate() {
            let around = converted.read::<f64>(part.start - 1..part.end + 1).unwrap();
            let expected: Vec<f64> = [-1.0].into_iter().chain([number as f64; 16]).chain([-1.0]).collect();
            assert_eq!(around, expected);
        }
    }
}
