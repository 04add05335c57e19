//! `zarr info --chunks`.

use crate::folder::{Folder, int16, npy};
use zarr::meta::json::Value;

#[test]
fn stored_chunks_are_drawn() {
    let folder = Folder::new();
    folder.ok(&[
        "create", "s", "a", "--shape", "2,6,80", "--dtype", "int16", "--chunks", "1,2,10", "--dims", "t,y,x",
        "--codecs", "none",
    ]);
    let data = npy("<i2", false, "(2, 2, 10)", &int16([1; 40]));
    assert_eq!(folder.run_with(&["write", "s", "a", "--from", "-", "--select", ":, 0:2, 0:10"], &data).code, Some(0));
    let data = npy("<i2", false, "(1, 2, 80)", &int16([1; 160]));
    assert_eq!(folder.run_with(&["write", "s", "a", "--from", "-", "--select", "0:1, 4:6, :"], &data).code, Some(0));
    let out = folder.ok(&["info", "s", "a", "--chunks"]);
    let expected = "\
Stored chunks: down y (1): 3 chunks, across x (2): 8 chunks, 2 deep along the other axes
  #.......
  ........
  ++++++++
  . none  : to a third  + to two thirds  * more  # all
";
    assert!(out.ends_with(expected), "{out}");
    assert!(out.contains("Chunks initialized : 10 of 48 (21 %)"), "{out}");
    let other = folder.ok(&["info", "s", "a", "--chunks", "--axes", "0,1"]);
    assert!(other.contains("down t (0): 2 chunks, across y (1): 3 chunks, 8 deep"), "{other}");
    assert!(other.contains("\n  :.#\n  :..\n"), "{other}");
    assert_eq!(folder.ok(&["info", "s", "a", "--chunks", "--axes", "t,y"]), other);
    let json = Value::from_json(&folder.ok(&["info", "s", "a", "--chunks", "--json"])).unwrap();
    let map = json.get("chunk_map").unwrap();
    assert_eq!(map.get("axes").unwrap().to_string(), "[1,2]");
    assert_eq!(map.get("stored").unwrap().to_string(), "[[2,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[1,1,1,1,1,1,1,1]]");
    assert_eq!(folder.run(&["info", "s", "a", "--chunks", "--axes", "0,3"]).code, Some(2));
    for axes in ["0,z", "1", "1,1", "-4,0"] {
        assert_eq!(folder.run(&["info", "s", "a", "--chunks", "--axes", axes]).code, Some(2), "{axes}");
    }
    assert_eq!(folder.run(&["info", "s", "/", "--chunks"]).code, Some(2));
}
