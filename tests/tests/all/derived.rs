//! Rust structs with `#[derive(zarr::Element)]` as elements of arrays.

use zarr::dtype::{DataType, from_npy_value};
use zarr::prelude::*;
use zarr::{Dialect, json};

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Station {
    valid: bool,
    id: u16,
    #[zarr(name = "type")]
    kind: [u8; 3],
    place: Place,
    height: f64,
}

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Place {
    country: u8,
    longitude: f32,
}

fn stations() -> Vec<Station> {
    let station = |number: u8| Station {
        valid: number.is_multiple_of(2),
        id: 256 + u16::from(number),
        kind: [number; 3],
        place: Place { country: number, longitude: f32::from(number) / 2.0 },
        height: f64::from(number) * 100.5,
    };
    (0..60).map(station).collect()
}

#[test]
fn arrays_of_structs_are_created_written_and_read() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = zarr::store::create("memory:").unwrap();
        let new = NewArray::of::<Station>(&[10, 6]).unwrap().chunks(&[4, 4]).dialect(dialect);
        zarr::create((&store, "/a")).array(new).unwrap();
        let array = zarr::open((&store, "/a")).array().unwrap();
        let stations = stations();
        array.write(.., &stations).unwrap();
        assert_eq!(array.read::<Station>(..).unwrap(), stations, "{dialect}");
        assert_eq!(array.read::<Station>((3, 1..3)).unwrap(), stations[19..21], "{dialect}");
        assert_eq!(array.read_data((0, 1)).unwrap().text(0), "(false, 257, 010101, (1, 0.5), 100.5)");
        let mut memory = vec![stations[0].clone(); 6];
        array.read_into((9, ..), &mut memory).unwrap();
        assert_eq!(memory, stations[54..], "{dialect}");
        array.fill((0, ..), stations[7].clone()).unwrap();
        assert_eq!(array.read::<Station>((0, 5)).unwrap(), [stations[7].clone()], "{dialect}");
        assert_eq!(array.read_field("height", (1, 0)).unwrap().to_vec::<f64>().unwrap(), [603.0], "{dialect}");
    }
}

/// As numpy writes them: in another order than in Rust, and big-endian, with arrays in fields.
#[test]
fn fields_go_by_name() {
    #[derive(Clone, Debug, PartialEq, zarr::Element)]
    struct Reading {
        values: [[i16; 2]; 2],
        time: i64,
        name: [u32; 2],
    }
    let descr = json!([["name", ">U2"], ["time", ">M8[s]"], ["values", ">i2", [2, 2]]]);
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::new(&[3], descr.to_string()).dialect(Dialect::V2);
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let reading = Reading { values: [[1, 2], [3, -4]], time: -1, name: [0x61, 0x62] };
    array.write(1, std::slice::from_ref(&reading)).unwrap();
    assert_eq!(array.read::<Reading>(1).unwrap(), [reading]);
    assert_eq!(array.read_data(1).unwrap().text(0), r#"("ab", 1969-12-31T23:59:59, [[1, 2], [3, -4]])"#);
    assert_eq!(array.read::<Reading>(0).unwrap()[0].values, [[0; 2]; 2]);

    let error = array.read::<Station>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let expected = "field name: found {\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":8}}, expected no such field";
    let missing = ", but valid, id, type, place, height";
    assert!(error.to_string().ends_with(&format!("{expected}{missing}")), "{error}");
}

#[test]
fn types_stand_for_data_types() {
    fn created<T: Element>() -> DataType {
        let store = zarr::store::create("memory:").unwrap();
        zarr::create((&store, "/a")).array(NewArray::of::<T>(&[2]).unwrap()).unwrap().data_type().clone()
    }
    assert_eq!(created::<f32>(), DataType::Float32);
    assert_eq!(created::<String>(), DataType::String);
    assert_eq!(created::<[u8; 5]>(), DataType::RawBytes { len: 5 });
    let (expected, _) = from_npy_value(&json!([["country", "u1"], ["longitude", "<f4"]])).unwrap();
    assert_eq!(created::<Place>(), expected);
}
