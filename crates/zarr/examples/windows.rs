//! Reads overlapping windows in one call: each chunk is decoded once, even if several windows intersect it.
//!
//! `cargo run -p zarr-rs --example windows`

use zarr::prelude::*;

const SIDE: usize = 32;

fn main() -> zarr::Result<()> {
    let store = zarr::store::create("memory:")?;
    let array = zarr::create((&store, "/image")).array(NewArray::new(&[256, 256], "uint8").chunks(&[64, 64]))?;
    array.fill((.., 128..), 1_u8)?;

    // A window every 16 pixels of the first 100 rows: one batch, one window after the other in memory.
    let corners = (0..100 - SIDE).step_by(16).flat_map(|y| (0..256 - SIDE).step_by(16).map(move |x| (y, x)));
    let corners: Vec<(usize, usize)> = corners.collect();
    let mut batch = vec![0_u8; corners.len() * SIDE * SIDE];
    let windows = corners.iter().map(|&(y, x)| (y..y + SIDE, x..x + SIDE));
    array.read_many(windows.zip(batch.chunks_exact_mut(SIDE * SIDE)))?;
    let right = corners.iter().position(|&corner| corner == (16, 112));
    assert_eq!(
        batch.chunks(SIDE * SIDE).nth(right.unwrap_or(0)).map(|window| window[15..17].to_vec()),
        Some(vec![0, 1])
    );
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
