//! Writes and reads strings of any length, and strings of at most N code points as numpy has them.
//!
//! `cargo run -p zarr-rs --example strings`

use zarr::prelude::*;

fn main() -> zarr::Result<()> {
    let store = zarr::store::create("memory:")?;
    let names = zarr::create((&store, "/names")).array(NewArray::new(&[4], "string").fill("unknown"))?;
    names.write(0..3, &["Zürich", "", "São Paulo"])?;
    println!("{:?}", names.read::<String>(..)?);
    assert_eq!(names.read::<String>(2..4)?, ["São Paulo", "unknown"]);

    let codes = zarr::create((&store, "/codes")).array(NewArray::new(&[2], "<U3"))?;
    codes.write(.., &["ZRH", "GRU"])?;
    assert_eq!(codes.read::<String>(1)?, ["GRU"]);
    assert!(codes.write(0, &["ZRHX"]).is_err(), "four code points do not fit");
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
