use super::machine::Machine;
use super::*;
use std::sync::Arc;
use zarr_codec::testing::{array_to_bytes, element};
use zarr_dtype::{Element, Heap};
use zarr_grid::AxisRange;
use zarr_json::Value;

/// Returns the pickle that Python makes of `numpy.array([..], dtype=object)` by protocol 4, with the opcodes `items` for the elements.
fn pickled(items: &[u8], shape: &[u8], fortran: bool) -> Vec<u8> {
    let text = |text: &str| [&[0x8c, text.len() as u8], text.as_bytes()].concat();
    let dtype = [text("numpy"), text("dtype"), vec![0x93], text("O8"), b"\x89\x88\x87R".to_vec()].concat();
    [
        b"\x80\x04".to_vec(),
        text("numpy.core.multiarray"),
        text("_reconstruct"),
        b"\x93".to_vec(),
        text("numpy"),
        text("ndarray"),
        b"\x93K\0\x85C\x01b\x87R(K\x01(".to_vec(),
        shape.to_vec(),
        b"t".to_vec(),
        dtype,
        vec![if fortran { 0x88 } else { 0x89 }],
        b"](".to_vec(),
        items.to_vec(),
        b"etb.".to_vec(),
    ]
    .concat()
}

fn decode(encoded: &[u8], shape: &[u64]) -> Result<Vec<Value>, Error> {
    let codec = array_to_bytes(&PICKLE, r#"{"protocol": 5}"#, &element("v2_object"));
    let heap = Arc::new(Heap::new());
    let dims: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let mut items = vec![0xEE; dims.iter().product::<usize>() * 16];
    let view = ViewMut::new(&mut items, 16, &dims).unwrap();
    codec.decode(encoded, shape, &Region::whole(shape), &mut view.with_heap(Some(Arc::clone(&heap))))?;
    Ok(Value::from_items(&DataType::Object, &items, &heap).unwrap())
}

#[test]
fn arrays_keep_their_fortran_order_in_memory() {
    let numbers = [1, 2, 3, 4, 5, 6].map(Value::from);
    let items = b"K\x01K\x02K\x03K\x04K\x05K\x06";
    assert_eq!(decode(&pickled(items, b"K\x03K\x02", false), &[3, 2]).unwrap(), numbers);
    // The array [[1, 2], [3, 4], [5, 6]]: in memory 1, 3, 5, 2, 4, 6.
    let transposed = decode(&pickled(items, b"K\x03K\x02", true), &[2, 3]).unwrap();
    assert_eq!(transposed, [1, 3, 5, 2, 4, 6].map(Value::from));
}

/// The pickles contain references as hdmf-zarr pickled them, by protocols 2 and 5: `ZarrReference(source=".", path="/a")` and the same with
/// `/b`.
#[test]
fn classes_of_plain_dicts_are_dicts() {
    let by_2 = b"chdmf_zarr.utils\nZarrReference\nq\x12)\x81q\x13(X\x06\0\0\0sourceq\x14X\x01\0\0\0.q\x15X\x04\0\0\0pathq\x16X\x02\0\0\0/aq\x17u\
        h\x12)\x81q\x18(h\x14h\x15h\x16X\x02\0\0\0/bq\x19u";
    let by_5 = b"\x8c\x0fhdmf_zarr.utils\x8c\rZarrReference\x93q\x15)\x81(\x8c\x06sourceq\x17\x8c\x01.q\x18\x8c\x04pathq\x19\x8c\x02/au\
        h\x15)\x81(h\x17h\x18h\x19\x8c\x02/bu";
    let reference = |path: &str| zarr_json::json!({"source": ".", "path": path});
    for items in [&by_2[..], by_5] {
        assert_eq!(decode(&pickled(items, b"K\x02", false), &[2]).unwrap(), [reference("/a"), reference("/b")]);
    }
    let ordered = b"\x8c\x0bcollections\x8c\x0bOrderedDict\x93)R\x8c\x01aK\x01s";
    assert_eq!(decode(&pickled(ordered, b"K\x01", false), &[1]).unwrap(), [zarr_json::json!({"a": 1})]);
    // Nothing else is made of classes, and dicts are not called with anything.
    for (items, expected) in [
        (&b"\x8c\x0fhdmf_zarr.utils\x8c\rZarrReference\x93K\x01\x85\x81"[..], "an object of a class"),
        (b"\x8c\x0fhdmf_zarr.utils\x8c\rZarrReference\x93K\x01\x85R", "other arguments"),
        (b"\x8c\x0fhdmf_zarr.utils\x8c\x06system\x93", "the name hdmf_zarr.utils.system"),
        (b"cnumpy\ndtype\n\x8c\x02O8\x89\x88\x87\x81", "an object of a class"),
    ] {
        let error = decode(&pickled(items, b"K\x01", false), &[1]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn programs_are_not_run() {
    let check = |bytes: &[u8], expected: &str| {
        let error = Machine::run(bytes).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(b"cos\nsystem\n(S'echo'\ntR.", "the name os.system");
    check(b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "the name os.system");
    check(b"cbuiltins\neval\n.", "the name builtins.eval");
    check(b"i__main__\nx\n.", "opcode 0x69");
    check(b"\x82\x01.", "opcode 0x82");
    check(b"K\x01.", "an object that is not an array");
    check(b"", "the end");
    check(b"]K\x01", "the end");
    check(b"K\x01R.", "an empty stack");
    check(b"a.", "an empty stack");
    check(b"e.", "no mark");
    check(b"h\x05.", "memory 5, where nothing is");
    check(b"K\x01K\x02b.", "the state of an object that is not an array");
    check(b"c_codecs\nencode\n(K\x01K\x02tR.", "other arguments");
    check(b"cnumpy\ndtype\n(\x8c\x02f8tR.", "other than that of objects");
    check(b"K\x01K\x01a.", "nothing to add to");
    check(b"}K\x01s.", "nothing to add to");
    check(b"}K\x01K\x01s.", "keys that are not strings");
    check(b"}(K\x01u.", "a name without a value");
    check(&pickled(b"\x8a\x11xxxxxxxxxxxxxxxxx", b"K\x01", false), "beyond 128 bits");
    // Deep tuples would be dropped one inside of the other.
    check(&[&b")"[..], &[0x85; 100_000], b"."].concat(), "nest too deep");
    let good = pickled(b"K\x01", b"K\x01", false);
    for cut in 0..good.len() {
        assert!(Machine::run(&good[..cut]).is_err(), "{cut}");
    }
    check(&[&good[..], b"."].concat(), "bytes behind");
    assert!(decode(&good, &[2]).is_err(), "another number of elements");
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut changed = good.clone();
            changed[at] ^= 1 << bit;
            let _ = decode(&changed, &[1]);
        }
    }
}

#[test]
fn values_that_are_there_once_cannot_fill_memory() {
    // A text of 60 KiB, taken from memory 20,000 times.
    let text = [&b"X\x60\xea\0\0"[..], &[b'x'; 60_000], b"q\0"].concat();
    let items = [&text[..], &b"h\0".repeat(19_999)].concat();
    let bytes = pickled(&items, b"M\x20\x4e", false);
    let pickle = Pickle { data_type: DataType::Object, max_chunk: 64 << 20 };
    let mut items = vec![0; 20_000 * 16];
    let view = ViewMut::new(&mut items, 16, &[20_000]).unwrap().with_heap(Some(Arc::new(Heap::new())));
    let mut view = view;
    let error = pickle.decode(&bytes, &[20_000], &Region::whole(&[20_000]), &mut view).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    let error = pickle.encode(&view.as_view(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "codec pickle: pickles are read, not written");
}

/// A string that the pickle contains once, but converts to bytes a hundred times, is an error.
#[test]
fn bytes_are_made_of_texts_that_are_there() {
    let text = vec![b'x'; 1000];
    let mut items = b"c_codecs\nencode\nq\x50X\xe8\x03\0\0".to_vec();
    items.extend(&text);
    items.extend(b"q\x51X\x06\0\0\0latin1q\x52");
    items.extend(b"h\x50h\x51h\x52\x86R".repeat(100));
    let error = decode(&pickled(&items, b"K\x64\x85", false), &[100]).unwrap_err();
    assert!(error.to_string().contains("more bytes than there are strings"), "{error}");
}

#[test]
fn lists_tuples_and_dicts_are_values() {
    // ["a", [1, {"b": None}]] and (1, (), {}), by opcodes of several protocols.
    let items = b"](\x8c\x01a](K\x01}\x8c\x01bNsee(K\x01)}t(V\nK\x01d((K\x02lI3\nl";
    let values = decode(&pickled(items, b"K\x04", false), &[4]).unwrap();
    let expected = r#"[["a",[1,{"b":null}]],[1,[],{}],{"":1},[[2],3]]"#;
    assert_eq!(Value::Array(values), Value::from_json(expected).unwrap());
    // A list that is there twice, and filled afterwards.
    let items = b"]q\x50h\x50K\x07a";
    let values = decode(&pickled(items, b"K\x02", false), &[2]).unwrap();
    assert_eq!(Value::Array(values), Value::from_json("[[7],[7]]").unwrap());
}

#[test]
fn values_without_end_are_errors() {
    let message = |items: &[u8]| decode(&pickled(items, b"K\x01", false), &[1]).unwrap_err().to_string();
    assert!(message(b"]q\x50h\x50a").contains("deeper than 64"), "an array of itself");
    assert!(message(b"}q\x50\x8c\x01ah\x50s").contains("deeper than 64"), "a dict of itself");
    assert!(message(&[&b"]"[..], &b"]".repeat(99), &b"a".repeat(99)].concat()).contains("deeper than 64"));
    assert!(message(b"cnumpy\nndarray\n").contains("not a plain value"));
    assert!(message(b"]cnumpy\nndarray\na").contains("not a plain value"));
    let last = |items: &[u8], count: u8, max_chunk| {
        let codec = Pickle { data_type: DataType::Object, max_chunk };
        let mut out = vec![0; 16];
        let mut view = ViewMut::new(&mut out, 16, &[1]).unwrap().with_heap(Some(Arc::new(Heap::new())));
        let region = Region::new([AxisRange::new(u64::from(count) - 1, 1)]).unwrap();
        codec.decode(&pickled(items, &[b'K', count], false), &[u64::from(count)], &region, &mut view)
    };
    // Each list has the one before it ten times: 10^20 values.
    let mut items = b"]q\x50".to_vec();
    for level in 0x50..0x64_u8 {
        items.extend([b']', b'q', level + 1, b'(']);
        items.extend([b'h', level].repeat(10));
        items.push(b'e');
    }
    // Items below the last list go on the stack as elements as well.
    let error = last(&items, 21, 1 << 20).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    // A dict with a name of 10,000 letters, and a list that has it a thousand times.
    let mut items = b"}q\x50X\x10\x27\0\0".to_vec();
    items.extend([b'n'; 10_000]);
    items.extend(b"Ns](");
    items.extend(b"h\x50".repeat(1000));
    items.push(b'e');
    last(&items, 2, 64 << 20).unwrap();
    let error = last(&items, 2, 4 << 20).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}
