//! Chunks that a region of an array overlaps: the overlapping part of each, and its key in a store.
//!
//! `cargo run -p zarr-grid --example chunks_of_region`

use zarr_grid::{ChunkGrid, ChunkKeyEncoding, Region, Result, Separator};

fn main() -> Result<()> {
    let grid = ChunkGrid::regular(&[1000, 1000], &[100, 400])?;
    let region = Region::from_ranges(&[150..310, 390..410]);
    let overlaps = grid.intersect(&region);
    assert_eq!(overlaps.len(), 6);
    for overlap in overlaps.iter() {
        let mut key = String::new();
        ChunkKeyEncoding::Default { separator: Separator::Slash }.write_key(&overlap.index, &mut key);
        println!("{key}: elements {} of the chunk, all of it: {}", overlap.region, grid.covers_chunk(&overlap));
    }
    assert_eq!(overlaps.get(0).region, Region::from_ranges(&[50..100, 390..400]));
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
