//! Reads a region of a stored array into a part of a larger `ndarray` array, without a copy in between.
//!
//! `cargo run -p zarr-rs --example region_into_view`

use zarr::ndarray::{Array2, s};
use zarr::prelude::*;

fn main() -> zarr::Result<()> {
    let store = zarr::store::create("memory:")?;
    let array = zarr::create((&store, "/tile")).array(NewArray::new(&[4, 6], "int32").chunks(&[2, 2]))?;
    array.write(.., &Array2::from_shape_fn((4, 6), |(y, x)| 10 * y as i32 + x as i32))?;

    let mut mosaic = Array2::<i32>::zeros((8, 8));
    // Rows 1 to 3 of the tile, turned upside down, at row 5 and column 2 of the mosaic.
    array.read_into((1..4, ..), mosaic.slice_mut(s![5..8;-1, 2..8]))?;
    println!("{mosaic}");
    assert_eq!(mosaic.row(5).to_vec(), [0, 0, 30, 31, 32, 33, 34, 35]);
    assert_eq!(mosaic.sum(), (1..4).map(|y| 60 * y + 15).sum::<i32>());
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
