//! Codecs that only move elements, checked by themselves: in a chain they are mostly replaced by views of the chunk.

use super::super::chunks::layers;
use zarr_array::{Array, ArrayData};
use zarr_codec::{Codec, View, ViewMut};
use zarr_json::{Map, NamedConfig, json};

/// Checks the first codec of an array with the elements of its chunk.
pub(in crate::fuzz) fn check(array: &Array, all: &ArrayData) {
    let Some(first) = array.metadata().codecs.first() else { return };
    match first.name.as_str() {
        "transpose" => {
            let orders = ["C", "F"].map(|order| NamedConfig::with("transpose", json_order(order)));
            for codec in [first].into_iter().chain(&orders) {
                moved(array, codec, all);
            }
        }
        "reshape" => moved(array, first, all),
        _ => {}
    }
}

fn json_order(order: &str) -> Map {
    json!({"order": order}).as_object().cloned().unwrap_or_default()
}

/// Checks that elements are unchanged after encoding and decoding.
fn moved(array: &Array, codec: &NamedConfig, all: &ArrayData) {
    let built = layers::build(codec, &layers::element(array));
    let Some(Codec::ArrayToArray(codec)) = built else { return };
    let shape = codec.encoded_shape(all.shape()).expect("a shape that was read");
    let size = all.data_type().item_size();
    let dims = |shape: &[u64]| shape.iter().map(|&len| len as usize).collect::<Vec<_>>();
    let (mut encoded, mut decoded) = (vec![0; all.items().len()], vec![0; all.items().len()]);
    let heap = || all.heap().cloned();
    let view = |items| View::new(items, size, &dims(all.shape())).map(|view| view.with_heap(heap()));
    {
        let out = ViewMut::new(&mut encoded, size, &dims(&shape)).map(|out| out.with_heap(heap()));
        let done = codec.encode(&view(all.items()).expect("the items of a chunk"), &mut out.expect("as many items"));
        assert!(done.is_ok(), "{done:?}");
    }
    let from = View::new(&encoded, size, &dims(&shape)).map(|view| view.with_heap(heap())).expect("as many items");
    let out = ViewMut::new(&mut decoded, size, &dims(all.shape())).map(|out| out.with_heap(heap()));
    let done = codec.decode(&from, &mut out.expect("as many items"));
    assert!(done.is_ok() && decoded == all.items(), "elements that come back as others: {done:?}");
}
