use crate::{Array, ArrayData, Dialect, NewArray, Registry, Store};
use std::sync::Arc;
use zarr_grid::Selection;
use zarr_store::MemoryStore;

/// An array of structs of 13 bytes, `a`, `b` with `x` and `y`, and `c`, in chunks of 7 by 4.
fn array() -> Array {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::ENTRY);
    let registry = Arc::new(registry);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[20, 30], r#"[["a", "<u2"], ["b", [["x", "|u1"], ["y", "<i2"]], [1, 3]], ["c", "|V2"]]"#)
        .chunks(&[7, 4])
        .dialect(Dialect::V2)
        .codecs_text(r#"[{"name": "bytes", "configuration": {"field_endian": ["little", [null, "big"], null]}}]"#)
        .unwrap();
    let array = Array::create(&store, "/a", new, &registry).unwrap();
    let items: Vec<u8> = (0..20 * 30 * 13).map(|i| (i * 31 + i / 256) as u8).collect();
    let data = ArrayData::from_items(array.data_type(), &[20, 30], &items, None).unwrap();
    array.write_from(.., data.view()).unwrap();
    array
}

#[test]
fn pieces_are_the_field_of_the_whole() {
    let array = array();
    for selection in ["...", "1:15:3, ::-2", "3, :", "-1, 5", ":0", "7:14, 4:8", "::-1, 2:29:5"] {
        let selection: Selection = selection.parse().unwrap();
        let all = array.read_data(selection.clone()).unwrap();
        for name in ["a", "b", "c"] {
            let due = all.field(name).unwrap();
            for size in [1, 500, 1 << 20] {
                let found = array.read_field_in_pieces(name, selection.clone(), size).unwrap();
                assert_eq!((found.shape(), found.items()), (due.shape(), due.items()), "{name} {selection:?} {size}");
            }
        }
    }
    let picked = (vec![3_i64, 1, 3], vec![0_i64, 29]);
    let due = array.read_data(picked.clone()).unwrap().field("a").unwrap();
    assert_eq!(array.read_field("a", picked).unwrap().items(), due.items());
}

#[test]
fn fields_are_parts_of_structs() {
    let data = array().read_data("2:4, 5").unwrap();
    let item = |place: usize| &data.items()[13 * place..][..13];
    let a = data.field("a").unwrap();
    assert_eq!((a.shape(), a.items()), (&[2][..], [&item(0)[..2], &item(1)[..2]].concat().as_slice()));
    let b = data.field("b").unwrap();
    assert_eq!(b.shape(), [2, 1, 3]);
    assert_eq!(b.items(), [&item(0)[2..11], &item(1)[2..11]].concat());
    let y = b.field("y").unwrap();
    let due =
        |place: usize| i16::from_ne_bytes([item(place / 3)[3 + place % 3 * 3], item(place / 3)[4 + place % 3 * 3]]);
    assert_eq!(y.to_vec::<i16>().unwrap(), (0..6).map(due).collect::<Vec<_>>());
    assert_eq!(data.field("z").unwrap_err().to_string(), r#"no field "z", there are ["a", "b", "c"]"#);
    assert!(y.field("x").unwrap_err().to_string().contains("which have no fields"));
}
