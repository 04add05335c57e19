//! Arrays and groups as text.

use std::sync::Arc;
use zarr::hierarchy::Summary;
use zarr::prelude::*;
use zarr::{AsyncArray, AsyncStore, Dialect};
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::{MemoryStore, StoreExt};
use zarr_tests::{ARCHIVES, cases};

/// The lines of a text without one that is about chunks of which it is not known whether they are stored.
fn lines(text: &str) -> Vec<&str> {
    let is_count = |line: &&str| line.starts_with("Chunks             :") || line.starts_with("Shards             :");
    text.lines().filter(|line| !is_count(line)).collect()
}

#[test]
fn what_is_printed_without_the_store_is_in_the_summary_as_well() {
    let (mut arrays, mut groups) = (0, 0);
    for archive in ARCHIVES.into_iter().filter(|archive| !archive.starts_with("bad-")) {
        for case in cases(archive).unwrap() {
            let Ok(store) = zarr::store::open(&case.url()) else { continue };
            let Ok(walk) = zarr::hierarchy::walk(&*store, "/", None) else { continue };
            for found in walk.nodes {
                let opened = zarr::open((&store, found.path.to_string())).dialect(found.dialect);
                let (text, summary) = if found.node.as_array().is_some() {
                    let Ok(array) = opened.array() else { continue };
                    arrays += 1;
                    (array.to_string(), array.summary().sizes(&array.sizes().unwrap()).to_string())
                } else {
                    let Ok(group) = opened.group() else { continue };
                    groups += 1;
                    (group.to_string(), Summary::of(group.found()).to_string())
                };
                let mut all = summary.lines();
                for line in lines(&text) {
                    assert!(all.any(|found| found == line), "{}{}: {line}\n{summary}", case.url(), found.path);
                }
                assert!(!text.ends_with('\n') && !text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
            }
        }
    }
    assert!(arrays > 500 && groups > 50, "{arrays} arrays, {groups} groups");
}

#[test]
fn an_array_and_its_group_are_a_few_lines() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = zarr::create(&store).group(NewGroup::default().attribute("title", "sea\u{1b}[31m")).unwrap();
    assert_eq!(root.to_string().lines().last(), Some(r#"Attributes         : title = "sea\u001b[31m""#));
    let new = NewArray::new(&[10, 2000], "<f4").chunks(&[4, 1000]).fill("NaN").dimension_names(&["time", "x"]);
    let new = new.codecs("bytes,zstd(3)").unwrap().attribute("units", "K").attribute("odd", "\u{202e}");
    let array = zarr::create((&store, "/sst")).array(new).unwrap();
    let size = store.size(&"sst/zarr.json".parse().unwrap()).unwrap().unwrap();
    let expected = format!(
        "\
Type               : Array
Zarr format        : v3 (sst/zarr.json {size} B)
Data type          : float32
Fill value         : \"NaN\"
Shape              : (10, 2_000)  dims (time, x)
Chunk shape        : 4x1000
Chunk grid         : regular
Chunk keys         : default \"/\"
Codecs             : bytes(little) > zstd(3)
No. bytes          : 78.1 KiB (80_000)
Padded             : 93.8 KiB with the overhang of chunks at the edges
Chunks             : 6
Attributes         : units = \"K\"
                     odd = \"\\u{{202e}}\""
    );
    assert_eq!(array.to_string(), expected);
    assert_eq!(array.fill_value().display(array.data_type()).to_string(), "\"NaN\"");
    assert_eq!(zarr::open((&store, "/sst")).node().unwrap().to_string(), expected);
    assert_eq!(zarr::open(&store).node().unwrap().to_string(), root.to_string());
    let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(&store)));
    let opened = block_on(AsyncArray::open(&waiting, "/sst", &zarr::registry::default())).unwrap();
    assert_eq!(opened.to_string(), expected);

    array.write((0..4, 0..1000), &vec![1.5_f32; 4000]).unwrap();
    let sizes = array.sizes().unwrap();
    let stored = sizes.stored.as_ref().unwrap();
    assert_eq!((sizes.chunks, stored.chunks.len(), stored.elements), (6, 1, Some(16_000)));
    let text = array.summary().sizes(&sizes).to_string();
    assert!(text.contains("\nChunks initialized : 1 of 6 (17 %)\n"), "{text}");
    let below = zarr::hierarchy::walk(&*store, "/", None).unwrap();
    assert!(Summary::of(root.found()).below(&below).to_string().contains("\nArrays             : 1 here, 1 in all\n"));
}

#[test]
fn older_dialects_are_printed_in_the_same_words() {
    let store = zarr::store::create("memory:").unwrap();
    let new = NewArray::new(&[3], "uint8").dialect(Dialect::V2);
    let text = zarr::create((&store, "/a")).array(new).unwrap().to_string();
    assert!(
        text.contains("\nChunk keys         : v2 \".\"\n") && text.contains("Zarr format        : v2 (a/.zarray "),
        "{text}"
    );
}
