use crate::{Array, ArrayData, AsyncArray, Dialect, NewArray, Options, Registry, Store};
use std::sync::Arc;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_grid::Selection;
use zarr_store::{AsyncStore, MemoryStore};

/// Array of structs of 13 bytes in chunks of 7 by 4, with the fields `a`, `b` (which has `x` and `y`) and `c`.
fn array() -> Array {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    let registry = Arc::new(registry);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[20, 30], r#"[["a", "<u2"], ["b", [["x", "|u1"], ["y", "<i2"]], [1, 3]], ["c", "|V2"]]"#)
        .chunks(&[7, 4])
        .dialect(Dialect::V2)
        .codecs(r#"[{"name": "bytes", "configuration": {"field_endian": ["little", [null, "big"], null]}}]"#)
        .unwrap();
    let array = Array::create(&store, "/a", new, &registry).unwrap();
    let items: Vec<u8> = (0..20 * 30 * 13).map(|i| (i * 31 + i / 256) as u8).collect();
    let data = ArrayData::from_items(array.data_type(), &[20, 30], &items, None).unwrap();
    array.write(.., data.view()).unwrap();
    array
}

#[test]
fn pieces_are_the_field_of_the_whole() {
    let array = array();
    let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(array.store())));
    let waiting = AsyncArray::from_found(&store, array.found().clone(), array.registry(), Options::default()).unwrap();
    for selection in ["...", "1:15:3, ::-2", "3, :", "-1, 5", ":0", "7:14, 4:8", "::-1, 2:29:5"] {
        let selection: Selection = selection.parse().unwrap();
        let all = array.read_data(selection.clone()).unwrap();
        for name in ["a", "b", "c", "b.x", "b.y"] {
            let due = all.field(name).unwrap();
            let found = block_on(waiting.read_field(name, selection.clone())).unwrap();
            assert_eq!((found.shape(), found.items()), (due.shape(), due.items()), "{name} {selection:?}");
            for size in [1, 500, 1 << 20] {
                let found = array.read_field_of(name, &array.resolve(selection.clone()).unwrap(), size).unwrap();
                assert_eq!((found.shape(), found.items()), (due.shape(), due.items()), "{name} {selection:?} {size}");
            }
        }
    }
    let picked = (vec![3_i64, 1, 3], vec![0_i64, 29]);
    let due = array.read_data(picked.clone()).unwrap().field("a").unwrap();
    assert_eq!(array.read_field("a", picked.clone()).unwrap().items(), due.items());
    assert_eq!(block_on(waiting.read_field("a", picked)).unwrap().items(), due.items());
}

#[test]
fn fields_are_parts_of_structs() {
    let data = array().read_data("2:4, 5").unwrap();
    let item = |index: usize| &data.items()[13 * index..][..13];
    let a = data.field("a").unwrap();
    assert_eq!((a.shape(), a.items()), (&[2][..], [&item(0)[..2], &item(1)[..2]].concat().as_slice()));
    let b = data.field("b").unwrap();
    assert_eq!(b.shape(), [2, 1, 3]);
    assert_eq!(b.items(), [&item(0)[2..11], &item(1)[2..11]].concat());
    let y = b.field("y").unwrap();
    let same = data.field("b.y").unwrap();
    assert_eq!((same.shape(), same.items(), same.data_type()), (y.shape(), y.items(), y.data_type()));
    let due =
        |index: usize| i16::from_ne_bytes([item(index / 3)[3 + index % 3 * 3], item(index / 3)[4 + index % 3 * 3]]);
    assert_eq!(y.to_vec::<i16>().unwrap(), (0..6).map(due).collect::<Vec<_>>());
    assert_eq!(data.field("z").unwrap_err().to_string(), r#"no field "z", there are ["a", "b", "c"]"#);
    assert!(y.field("x").unwrap_err().to_string().contains("which have no fields"));
    let no_field = |name: &str| data.field(name).unwrap_err().to_string();
    assert_eq!(no_field("b.z"), r#"no field "z", there are ["x", "y"]"#);
    assert!(no_field("a.x").contains(r#"field "x" of elements of type uint16, which have no fields"#));
    assert!(no_field("b.").contains(r#"no field """#));
}

#[test]
fn names_may_have_points() {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let fields = r#"[["a", [["b", "|u1"]], 2], ["a.b", "|u1"], ["a.c", [["d.e", "|u1"]]]]"#;
    let new = NewArray::new(&[2], fields).dialect(Dialect::V2).codecs("bytes").unwrap();
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    let data = ArrayData::from_items(array.data_type(), &[2], &[1, 2, 3, 4, 5, 6, 7, 8], None).unwrap();
    let items = |name: &str| data.field(name).unwrap().items().to_vec();
    // A field of the whole name comes before a path of its parts.
    assert_eq!(items("a.b"), [3, 7]);
    assert_eq!(items("a"), [1, 2, 5, 6]);
    assert_eq!(items("a.c.d.e"), [4, 8]);
    assert_eq!(data.field("a").unwrap().field("b").unwrap().shape(), [2, 2]);
}
