//! Writes a sharded array from eight threads: each thread writes its own shards, so that no thread waits for another.
//!
//! `cargo run -p zarr-rs --example parallel_shards`

use zarr::prelude::*;

fn main() -> zarr::Result<()> {
    let store = zarr::store::create("memory:")?;
    let new = NewArray::new(&[80, 100], "uint16").chunks(&[5, 10]).shards(&[10, 50]);
    zarr::create((&store, "/image")).array(new)?;
    let array = zarr::open((&store, "/image")).threads(8).array()?;
    array.for_each_chunk(.., |shard| {
        let (y, x) = (shard.axes()[0].start, shard.axes()[1].start);
        // A program would compute these here.
        let pixels = vec![(100 * y + x + 1) as u16; 10 * 50];
        array.write(shard, &pixels)
    })?;
    assert_eq!(array.stored_chunks()?.len(), 16);
    assert_eq!(array.read::<u16>((79, 49..51))?, [7001, 7051]);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
