//! Floats of 8 bits and less of microfloat as elements of arrays.

use zarr::dtype::microfloat::{f4e2m1fn, f8e4m3fn};
use zarr::prelude::*;

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Block {
    scale: f8e4m3fn,
    weight: f4e2m1fn,
}

#[test]
fn small_floats_are_written_and_read() {
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::of::<f8e4m3fn>(&[4]).unwrap().chunks(&[2]).fill("NaN");
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    assert_eq!(array.data_type().to_string(), "float8_e4m3fn");
    array.write(1..3, &[f8e4m3fn::from_f64(448.0), f8e4m3fn::from_f64(-0.5)]).unwrap();
    assert_eq!(array.read::<[u8; 1]>(..).unwrap(), [[0x7f], [0x7e], [0xb0], [0x7f]]);
    let read: Vec<f64> = array.read::<f8e4m3fn>(..).unwrap().into_iter().map(f8e4m3fn::to_f64).collect();
    assert!(read[0].is_nan() && read[3].is_nan());
    assert_eq!(read[1..3], [448.0, -0.5]);
    let error = array.read::<f4e2m1fn>(..).unwrap_err();
    assert!(error.to_string().contains("float8_e4m3fn do not fit the Rust type microfloat::f4e2m1fn"), "{error}");
}

#[test]
fn upper_bits_of_narrow_ones_are_nothing() {
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::of::<f4e2m1fn>(&[2]).unwrap().codecs("bytes").unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    array.write(.., &[[0x11_u8], [0xfa]]).unwrap();
    let read: Vec<f64> = array.read::<f4e2m1fn>(..).unwrap().into_iter().map(f4e2m1fn::to_f64).collect();
    assert_eq!(read, [0.5, -1.0]);
    assert_eq!([array.read_data(..).unwrap().text(0), array.read_data(..).unwrap().text(1)], ["0.5", "-1.0"]);
}

#[test]
fn structs_have_small_floats() {
    let store = zarr::store::create("memory:").unwrap();
    let array = zarr::create((&store, "/blocks")).array(NewArray::of::<Block>(&[2]).unwrap()).unwrap();
    let block = Block { scale: f8e4m3fn::from_f64(16.0), weight: f4e2m1fn::from_f64(6.0) };
    array.write(.., &[block.clone(), block.clone()]).unwrap();
    assert_eq!(array.read::<Block>(..).unwrap(), [block.clone(), block]);
    assert_eq!(array.read_field("weight", 1).unwrap().text(0), "6.0");
}
