//! Arrays of objects.

use crate::folder::Folder;
use std::fs;

/// An array of version 2 with one chunk, the bytes of which are `chunk`.
fn array(folder: &Folder, filter: &str, chunk: &[u8]) {
    fs::create_dir_all(folder.path("s")).unwrap();
    let zarray = format!(
        r#"{{"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "compressor": null, "fill_value": null,
            "order": "C", "filters": [{filter}]}}"#
    );
    fs::write(folder.path("s/.zarray"), zarray).unwrap();
    fs::write(folder.path("s/0.0"), chunk).unwrap();
}

#[test]
fn values_are_json() {
    let folder = Folder::new();
    array(&folder, r#"{"id": "json2"}"#, br#"[["a", [1, NaN]], [null, "b c"], "|O", [2, 2]]"#);
    let nan = r#"{"$float":"NaN"}"#;
    let text = folder.ok(&["read", "s"]);
    assert_eq!(text, format!("{:>20} [1,{nan}]\n{:>20} {:>20}\n", "\"a\"", "null", "\"b c\""));
    assert_eq!(folder.ok(&["read", "s", "--json"]), format!("[[\"a\", [1,{nan}]],\n[null, \"b c\"]]\n"));
    assert!(folder.ok(&["info", "s"]).contains("v2_object"));
    // Another format and other codecs: the same values.
    folder.ok(&["convert", "s", "t", "--dialect", "v3"]);
    assert_eq!(folder.ok(&["read", "t", "--json"]), folder.ok(&["read", "s", "--json"]));
    fs::remove_file(folder.path("s/0.0")).unwrap();
    assert_eq!(folder.ok(&["read", "s", "--json"]), "[[null, null],\n[null, null]]\n");
    fs::write(folder.path("s/0.0"), "[1, 2").unwrap();
    assert_eq!(folder.run(&["read", "s"]).code, Some(4));
}

#[test]
fn lists_are_lists() {
    let folder = Folder::new();
    let list = |items: &[i16]| {
        let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_be_bytes()).collect();
        [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
    };
    let chunk = [&4_u32.to_le_bytes()[..], &list(&[1, -2]), &list(&[]), &list(&[3]), &list(&[4, 5, 6])].concat();
    array(&folder, r#"{"id": "vlen-array", "dtype": ">i2"}"#, &chunk);
    assert_eq!(folder.ok(&["read", "s"]), "  [1, -2]        []\n      [3] [4, 5, 6]\n");
    assert_eq!(folder.ok(&["read", "s", "--json"]), "[[[1,-2], []],\n[[3], [4,5,6]]]\n");
    assert!(folder.ok(&["info", "s"]).contains("vlen-array[int16]"));
}

/// The pickle that Python makes of `[["a", {"b": [1, None]}], [b"\x01", (1.5,)]]` as an array of objects.
const PICKLED: &[u8] = b"\x80\x04\x95\xad\x00\x00\x00\x00\x00\x00\x00\x8c\x16numpy._core.multiarray\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c\x05numpy\x94\x8c\x07ndarray\x94\x93\x94K\x00\x85\x94C\x01b\x94\x87\x94R\x94(K\x01K\x02K\x02\x86\x94h\x03\x8c\x05dtype\x94\x93\x94\x8c\x02O8\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t\x94b\x89]\x94(\x8c\x01a\x94}\x94\x8c\x01b\x94]\x94(K\x01NesC\x01\x01\x94G?\xf8\x00\x00\x00\x00\x00\x00\x85\x94et\x94b.";

#[test]
fn pickles_are_read_when_asked_for() {
    let folder = Folder::new();
    array(&folder, r#"{"id": "pickle", "protocol": 5}"#, PICKLED);
    let ran = folder.run(&["read", "s"]);
    assert_eq!(ran.code, Some(4));
    assert!(ran.err.contains("--pickle-values"), "{}", ran.err);
    let values = "[[\"a\", {\"b\":[1,null]}],\n[{\"$bytes\":\"AQ==\"}, [1.5]]]\n";
    assert_eq!(folder.ok(&["read", "s", "--json", "--pickle-values"]), values);
    // Chunks that stay as they are need no flag; others do, and then nobody does.
    folder.ok(&["convert", "s", "copy", "--dialect", "v2"]);
    assert_eq!(fs::read(folder.path("copy/0.0")).unwrap(), PICKLED);
    let convert = ["convert", "s", "t", "--dialect", "v3", "--codecs", "numcodecs.msgpack2"];
    let ran = folder.run(&convert);
    assert_eq!(ran.code, Some(4));
    assert!(ran.err.contains("--pickle-values"), "{}", ran.err);
    folder.ok(&[&convert[..], &["--pickle-values"]].concat());
    assert_eq!(folder.ok(&["read", "t", "--json"]), values);
    // A pickle that is more than values stays unread.
    array(&folder, r#"{"id": "pickle"}"#, b"cos\nsystem\n(Vecho\ntR.");
    let ran = folder.run(&["read", "s", "--pickle-values"]);
    assert_eq!(ran.code, Some(4));
    assert!(ran.err.contains("the name os.system"), "{}", ran.err);
}
