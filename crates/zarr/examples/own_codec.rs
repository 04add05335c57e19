//! Defines a codec, registers it under a name, and creates and opens an array with it.
//!
//! `cargo run -p zarr-rs --example own_codec`

use std::sync::Arc;
use zarr::codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Sink, Size, encode_slice};
use zarr::json::Map;
use zarr::prelude::*;

/// Codec that inverts the bits of every byte that are set in `mask`.
#[derive(Debug)]
struct Invert {
    mask: u8,
}

/// Entry for the table of codecs: the name of the codec, and the function that builds the codec from its configuration.
const INVERT: CodecEntry =
    CodecEntry::bytes_to_bytes("example.invert", |context| Ok(Arc::new(Invert::from_config(context)?)));

/// Conversion from and to the configuration in metadata documents, by which arrays are opened and created.
impl CodecValue for Invert {
    const ENTRY: CodecEntry = INVERT;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self { mask: context.config.integer("mask", 0..=255)?.unwrap_or(255) })
    }

    fn to_config(&self) -> Map {
        Map::from([("mask", self.mask.into())])
    }
}

impl BytesToBytes for Invert {
    fn name(&self) -> &'static str {
        "example.invert"
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(bytes.iter().map(|byte| byte ^ self.mask));
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let decoded: Vec<u8> = bytes.iter().map(|byte| byte ^ self.mask).collect();
        out.extend(&decoded)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The codecs of this build, and ours.
    let mut registry = zarr::registry::Registry::clone(&zarr::registry::default());
    registry.codecs.add(INVERT);
    let registry = Arc::new(registry);

    let store: Arc<dyn Store> = Arc::new(zarr::store::MemoryStore::new());
    let invert = Invert { mask: 15 };
    assert_eq!(encode_slice(&invert, &[1, 2])?, [14, 13]);
    let new = NewArray::new(&[4], "uint8").codecs(invert)?;
    Array::create(&store, "/a", new, &registry)?.write(.., &[1u8, 2, 3, 4])?;

    // Whoever opens the array needs the codec, and hears of it if it is not there.
    let error = zarr::open((&store, "/a")).array().map(drop).expect_err("the codec is not in the usual table");
    println!("{error}");
    let found = zarr::hierarchy::open_node(&*store, "/a", None)?;
    let array = Array::from_found(&store, found, &registry, Options::default())?;
    println!("{:?}", array.read::<u8>(..)?);
    assert_eq!(array.read::<u8>(..)?, [1, 2, 3, 4]);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
