//! Appends rows to an array from several threads at the same time: each append writes its rows after the last row.
//!
//! `cargo run -p zarr-rs --example append`

use zarr::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.zarr/measured");
    zarr::create(&path).array(NewArray::new(&[0, 2], "float64").chunks(&[100, 2]))?;
    std::thread::scope(|scope| {
        let append = |sensor: f64| zarr::open(&path).array()?.append(0, &[sensor, 1.0, sensor, 2.0]);
        let threads: Vec<_> = (0..4).map(|sensor| scope.spawn(move || append(f64::from(sensor)))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| zarr::Error::internal("a panic"))?)
    })?;
    let array = zarr::open(&path).array()?;
    assert_eq!(array.shape(), [8, 2]);
    assert_eq!(array.read::<f64>((.., 0))?.iter().sum::<f64>(), 12.0);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
