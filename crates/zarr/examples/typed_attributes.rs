//! Writes and reads the attributes of an array as a Rust struct, and one attribute by its JSON pointer.
//!
//! `cargo run -p zarr-rs --example typed_attributes`

use serde::{Deserialize, Serialize};
use zarr::prelude::*;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Attributes {
    units: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    long_name: Option<String>,
    encoding: Encoding,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Encoding {
    scale: f64,
    offset: f64,
}

fn main() -> zarr::Result<()> {
    let store = zarr::store::create("memory:")?;
    let mut array = zarr::create((&store, "/t2m")).array(NewArray::new(&[4], "int16"))?;
    let encoding = Encoding { scale: 0.01, offset: 273.15 };
    let attributes = Attributes { units: "K".to_owned(), long_name: None, encoding };
    array.set_attributes_from(&attributes)?;
    array.set_attribute("/encoding/offset", &250.0)?;

    let array = zarr::open((&store, "/t2m")).array()?;
    let found: Attributes = array.attributes_as()?;
    println!("{found:?}");
    assert_eq!((found.units.as_str(), found.encoding.offset), ("K", 250.0));
    assert_eq!(array.attribute::<f64>("/encoding/scale")?, Some(0.01));
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
