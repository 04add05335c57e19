//! Costs of questions: requests to the store, of many nodes and of large arrays.

use crate::support::{ask, at, get, registry, serve};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Store};
use zarr_meta::Dialect;
use zarr_serve::{ServeLimits, ServeOptions};
use zarr_store::{Counted, Key, MemoryStore, SetOptions, StoreExt};

fn counted() -> (Arc<Counted<MemoryStore>>, Arc<dyn Store>) {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    (counted, store)
}

#[test]
fn a_group_of_thousands_of_arrays() {
    let (counted, store) = counted();
    let group = Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let new = || NewArray::new(&[4, 5], "int16").dimension_names(&["y", "x"]).codecs("bytes").unwrap();
    for number in 0..2000 {
        group.create_array(&format!("a{number:04}"), new()).unwrap();
    }
    let server = serve(Arc::clone(&store), &ServeOptions::default());
    counted.take();
    let page = ask(&server, "children?path=/&limit=200");
    assert_eq!((at(&page, "/total"), at(&page, "/next")), ("2000".to_owned(), "200".to_owned()));
    // The documents of these nodes alone are read.
    let first = counted.take();
    assert!(first.gets < 200 * 6 + 20 && first.lists < 5, "{first:?}");
    assert_eq!(at(&ask(&server, "children?path=/&limit=200&offset=1800"), "/nodes/199/name"), "\"a1999\"");
    // Further pages are those of the same list.
    let last = counted.take();
    assert!(last.gets < 200 * 6 + 20 && last.lists < 5, "{last:?}");
    // An array is opened with its coordinates alone.
    for question in ["info?path=/a1000", "coordinates?path=/a1000&axis=0", "profile?path=/a1000&axis=0&at=0,0"] {
        ask(&server, question);
    }
    assert_eq!(get(&server, "/api/plane?path=/a1000&y=0&x=1").status, 200);
    let costs = counted.take();
    assert!(costs.gets < 60, "{costs:?}");
}

#[test]
fn an_array_of_a_trillion_elements() {
    let (counted, store) = counted();
    let new = NewArray::new(&[1 << 20, 1 << 20], "float32").chunks(&[256, 256]).codecs("bytes").unwrap().fill(0.5);
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write((0..256, 0..256), &vec![2.0_f32; 65_536]).unwrap();
    let server = serve(store, &ServeOptions::default());
    for (query, chunks) in [
        ("y=0&x=1", 1024),
        ("y=0&x=1&y0=0&y1=512&x0=0&x1=512", 4),
        ("y=1&x=0&y0=500000&y1=600000", 1024),
        ("x=1", 1024),
    ] {
        counted.take();
        let answer = get(&server, &format!("/api/plane?path=/a&{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let costs = counted.take();
        assert!(costs.gets <= chunks + 60, "{query}: {costs:?}");
    }
    counted.take();
    ask(&server, "profile?path=/a&axis=1&at=5,5");
    assert!(counted.take().gets <= 1100);
    // Nothing lists a million chunks unless asked for.
    ask(&server, "info?path=/a");
    assert_eq!(counted.take().lists, 0);
    let options = ServeOptions::default().limits(ServeLimits::default().reads(64, 1 << 20));
    let (_, store) = self::counted();
    let new = NewArray::new(&[4096, 4096], "float64").chunks(&[4096, 4096]).codecs("bytes").unwrap();
    Array::create(&store, "/huge", new, &registry()).unwrap();
    let server = serve(store, &options);
    // Chunks that can be read in part are, as far as that goes.
    assert_eq!(get(&server, "/api/plane?path=/huge&x=1").status, 200);
}

/// Some stores have to decompress a value as a whole for any part of it.
#[test]
fn values_are_read_by_few_gets() {
    let (counted, store) = counted();
    for (name, size) in [("small", 8 << 20), ("large", 64 << 20)] {
        store.set(&Key::new(name).unwrap(), &vec![7; size], &SetOptions::default()).unwrap();
    }
    let server = serve(store, &ServeOptions::default());
    let gets = |name: &str, size: usize| {
        counted.take();
        assert_eq!(get(&server, &format!("/raw/{name}")).body.len(), size);
        counted.take().gets
    };
    // One of them asks for the size and the version.
    assert_eq!(gets("small", 8 << 20), 2);
    // A client that takes its time would need 512 and more.
    let large = gets("large", 64 << 20);
    assert!(large < 256, "{large}");
}

/// Directories without a node cost as much as nodes do.
#[test]
fn counts_look_at_so_many_directories_of_all_groups_together() {
    let groups_with = |directories: usize| {
        let (counted, store) = counted();
        Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
        for group in 0..20 {
            Group::create(&store, &format!("/g{group}"), NewGroup::new(), &registry()).unwrap();
            for directory in 0..directories {
                let key = Key::new(&format!("g{group}/d{directory}/data")).unwrap();
                store.set(&key, b"1", &SetOptions::default()).unwrap();
            }
        }
        let server = serve(store, &ServeOptions::default());
        counted.take();
        let answer = get(&server, "/api/info?path=/&sizes=1");
        (answer, counted.take().gets)
    };
    let (answer, of_one) = groups_with(100);
    assert_eq!((answer.status, at(&answer.json(), "/groups")), (200, "20".to_owned()));
    // 20,000 directories, of which 10,000 may be looked at.
    let (answer, gets) = groups_with(1000);
    assert_eq!((answer.status, at(&answer.json(), "/error/kind")), (422, "\"limit\"".to_owned()), "{answer:?}");
    assert!(gets <= of_one * 5, "{gets} for 10,000 directories, {of_one} for 2000");
}

/// Where nodes are opened as they are found, it is known before how many may be.
#[test]
fn counts_look_at_so_many_directories_beside_those_of_a_draft() {
    let (counted, store) = counted();
    Group::create(&store, "/", NewGroup::new().dialect(Dialect::V3Draft2022), &registry()).unwrap();
    let fill = |directories: std::ops::Range<usize>| {
        for directory in directories {
            for key in [format!("meta/d{directory}/data"), format!("e{directory}/data")] {
                store.set(&Key::new(&key).unwrap(), b"1", &SetOptions::default()).unwrap();
            }
        }
    };
    fill(0..10);
    let server = serve(Arc::clone(&store), &ServeOptions::default());
    assert_eq!(get(&server, "/api/info?path=/&sizes=1").status, 200);
    fill(10..5500);
    counted.take();
    let answer = get(&server, "/api/info?path=/&sizes=1");
    assert_eq!((answer.status, at(&answer.json(), "/error/kind")), (422, "\"limit\"".to_owned()), "{answer:?}");
    let costs = counted.take();
    assert!(costs.gets < 100, "{costs:?}");
}
