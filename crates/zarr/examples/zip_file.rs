//! Creates a zip file with a group and arrays, appends to the file, and reads ranges of the file through another store.
//!
//! `cargo run -p zarr-rs --example zip_file`

use std::sync::Arc;
use zarr::prelude::*;
use zarr::store::{Key, MemoryStore, StoreExt, ZipStore};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.zarr.zip");

    let zip = Arc::new(ZipStore::create(&path)?);
    let store: Arc<dyn Store> = zip.clone();
    zarr::create((&store, "/")).group(NewGroup::default())?;
    let new = || NewArray::new(&[1000], "int32").chunks(&[100]);
    zarr::create((&store, "/a")).array(new())?.write(.., &(0..1000).collect::<Vec<i32>>())?;
    // All of it becomes the file at once.
    zip.close()?;

    let zip = Arc::new(ZipStore::append(&path)?);
    let store: Arc<dyn Store> = zip.clone();
    zarr::create((&store, "/b")).array(new())?.write(.., &(1000..2000).collect::<Vec<i32>>())?;
    // Both arrays can be read, and a chunk that is there can't be replaced.
    assert_eq!(zarr::open((&store, "/a")).array()?.read::<i32>("5:7")?, [5, 6]);
    let error = zarr::open((&store, "/a")).array()?.write("5:7", &[0, 0]).expect_err("replaced");
    assert!(error.to_string().contains("ZipOptions::replace"), "{error}");
    zip.close()?;
    assert_eq!(zarr::open(path.join("b")).array()?.read::<i32>("::400")?, [1000, 1400, 1800]);

    // The file as a value of another store, such as one behind a network: ranges of it are read.
    let below = Arc::new(MemoryStore::new());
    let key = Key::new("data/x.zarr.zip")?;
    below.set_all(&key, &std::fs::read(&path)?)?;
    let store: Arc<dyn Store> = Arc::new(ZipStore::over(below, key)?);
    let elements = zarr::open((&store, "/a")).array()?.read::<i32>("::400")?;
    println!("{elements:?}");
    assert_eq!(elements, [0, 400, 800]);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
