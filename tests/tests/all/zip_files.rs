//! Zip files that are written by their address: whole, or not at all.

use crate::other_files;
use crate::resumed::failing::{Contents, Failing, contents};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zarr::compare::{CompareOptions, Comparison, Side};
use zarr::convert::{Conversion, ConvertOptions, Part, Transfer};
use zarr::prelude::*;
use zarr::store::{Key, MemoryStore, Prefix, StoreExt, ZipStore};
use zarr::{Dialect, ErrorKind};
use zarr_meta::NodePath;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn created(path: &Path) -> Arc<dyn Store> {
    zarr::store::create(path.to_str().unwrap()).unwrap()
}

fn opened(path: &Path) -> Arc<dyn Store> {
    zarr::store::open(path.to_str().unwrap()).unwrap()
}

/// The names in a directory.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> zarr::Result<()> {
    Transfer::of(from, "/").in_store(to).to("/").copy(&zarr::registry::default())
}

#[test]
fn layouts_of_other_software_go_into_zip_files_and_back_byte_for_byte() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let folder = tempfile::tempdir().unwrap();
        let source = created(&folder.path().join("a.zarr"));
        other_files::write(&source, dialect, "/");
        let expected = contents(&source);
        assert!(expected.len() > 10);
        for name in ["a.zip", "a.ozx"] {
            let path = folder.path().join(name);
            copy(&source, &created(&path)).unwrap();
            assert!(path.is_file());
            assert_eq!(contents(&opened(&path)), expected, "{dialect}: {name}");
            let back = folder.path().join(format!("{name}.zarr"));
            copy(&opened(&path), &created(&back)).unwrap();
            assert_eq!(contents(&opened(&back)), expected, "{dialect}: {name} and back");
            // A conversion to the same form, by way of another zip file.
            let plan = |source: &Arc<dyn Store>, dialect| {
                let options = ConvertOptions::default().dialect(dialect);
                Conversion::plan(source, &zarr::registry::default(), options).unwrap()
            };
            let other = folder.path().join(format!("other-{name}"));
            let between = if dialect == Dialect::V2 { Dialect::V3 } else { Dialect::V2 };
            plan(&opened(&path), between).run(&created(&other), |_| {}).unwrap();
            let again = memory();
            plan(&opened(&other), dialect).run(&again, |_| {}).unwrap();
            let sides = [&source, &again].map(|store| Side::new(store, NodePath::root()));
            let registry = zarr::registry::default();
            let comparison =
                Comparison::of(&sides[0], &sides[1], &registry, &CompareOptions::default(), |_| {}).unwrap();
            assert!(comparison.is_equal(), "{dialect}: {name} by way of {between}: {comparison:?}");
            assert_eq!(contents(&again).keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        }
        let found = names(folder.path());
        assert!(!found.iter().any(|name| name.starts_with('.')), "{found:?}");
    }
}

/// A small hierarchy: a group or an array at each path, and a file of no node.
fn hierarchy(nodes: &[(Vec<u8>, bool, u64)], dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    zarr::create(&store).group(NewGroup::default().dialect(dialect)).unwrap();
    for (names, is_array, len) in nodes {
        let path: String = names.iter().map(|name| format!("/n{name}")).collect();
        // One that exists, or lies below an array, is left out.
        if *is_array {
            let new = NewArray::new(&[*len], "int16").chunks(&[3]).dialect(dialect);
            if let Ok(array) = zarr::create((&store, &path)).array(new) {
                array.write(.., &(0..*len as i16).collect::<Vec<_>>()).unwrap();
            }
        } else if zarr::create((&store, &path)).group(NewGroup::default().dialect(dialect)).is_ok() {
            let key = Key::new(&format!("{}/notes {len}.txt", path.trim_start_matches('/'))).unwrap();
            store.set_all(&key, &vec![7; *len as usize]).unwrap();
        }
    }
    store
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_hierarchy_is_the_same_in_a_zip_file_and_in_a_directory(
        nodes in prop::collection::vec((prop::collection::vec(0_u8..3, 1..4), any::<bool>(), 0_u64..10), 0..8),
        second in prop::collection::vec((prop::collection::vec(0_u8..3, 1..3), any::<bool>(), 0_u64..10), 0..4),
        is_v2: bool,
        is_ozx: bool,
    ) {
        let dialect = if is_v2 { Dialect::V2 } else { Dialect::V3 };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if is_ozx { "a.ozx" } else { "a.zip" });
        let (source, added) = (hierarchy(&nodes, dialect), hierarchy(&second, dialect));
        let directory = created(&folder.path().join("a.zarr"));
        let registry = zarr::registry::default();
        for target in [&created(&path), &directory] {
            copy(&source, target).unwrap();
            // Appended, and then erased.
            for at in ["/added", "/erased"] {
                Transfer::of(&added, "/").in_store(target).to(at).copy(&registry).unwrap();
            }
        }
        for target in [&opened(&path), &directory] {
            let erased = zarr::hierarchy::open_node(&**target, "/erased", None).unwrap();
            zarr::hierarchy::erase_node(&**target, &erased).unwrap();
            target.flush().unwrap();
        }
        let expected = contents(&directory);
        prop_assert_eq!(&contents(&opened(&path)), &expected);
        let back = memory();
        copy(&opened(&path), &back).unwrap();
        prop_assert_eq!(&contents(&back), &expected);
    }
}

#[test]
fn a_conversion_that_fails_leaves_no_zip_file() {
    let source = memory();
    other_files::write_small(&source);
    let registry = zarr::registry::default();
    for by_source in [false, true] {
        let mut stops = 0;
        for left in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.zip");
            let target = created(&path);
            let (from, to) = match by_source {
                true => (Failing::after(&source, left).store(), Arc::clone(&target)),
                false => (Arc::clone(&source), Failing::after(&target, left).store()),
            };
            let options = ConvertOptions::default().dialect(Dialect::V3);
            let done = Conversion::plan(&from, &registry, options).and_then(|plan| plan.run(&to, |_| {}));
            drop((from, to, target));
            if done.is_ok() {
                assert_eq!(names(folder.path()), ["a.zip"]);
                break;
            }
            stops += 1;
            // After the flush that ends it, all of it is there.
            if path.exists() {
                assert_eq!(
                    zarr::open((&opened(&path), "/0/a")).array().unwrap().read::<i16>(..).unwrap(),
                    [1, 2, 3, 4]
                );
            }
            assert!(names(folder.path()).iter().all(|name| name == "a.zip"), "{left}: {:?}", names(folder.path()));
        }
        assert!(stops > 10, "{stops}");
    }
}

#[test]
fn a_copy_that_fails_leaves_the_zip_file_as_it_was() {
    let (source, registry) = (memory(), zarr::registry::default());
    other_files::write_small(&source);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    copy(&source, &created(&path)).unwrap();
    let (bytes, before) = (fs::read(&path).unwrap(), contents(&opened(&path)));
    for (to, overwrite) in [("/new", false), ("/0", true), ("/", true)] {
        let mut stops = 0;
        for left in 0.. {
            let target = opened(&path);
            let failing = Failing::after(&target, left).store();
            let transfer = Transfer::of(&source, "/").in_store(&failing).to(to).overwrite(overwrite);
            let done = transfer.copy(&registry);
            drop((transfer, failing, target));
            if done.is_ok() {
                break;
            }
            stops += 1;
            if fs::read(&path).unwrap() != bytes {
                // The flush that ends it was done.
                let array = format!("{}/0/a", to.trim_end_matches('/'));
                assert_eq!(zarr::open((&opened(&path), array)).array().unwrap().read::<i16>(..).unwrap(), [1, 2, 3, 4]);
                fs::write(&path, &bytes).unwrap();
            }
            assert_eq!(names(folder.path()), ["a.zip"]);
        }
        assert!(stops > 10, "{to}: {stops}");
        let after = contents(&opened(&path));
        assert!(after != before || to == "/", "{to}");
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn a_move_out_of_a_zip_file_and_into_one() {
    let registry = zarr::registry::default();
    let folder = tempfile::tempdir().unwrap();
    let (path, source) = (folder.path().join("a.zip"), memory());
    other_files::write_small(&source);
    let expected = contents(&source);
    Transfer::of(&source, "/").in_store(&created(&path)).to("/").move_all(&registry).unwrap();
    assert_eq!(contents(&source), Contents::new());
    assert_eq!(contents(&opened(&path)), expected);
    // Within it, and out of it.
    let zip = opened(&path);
    Transfer::of(&zip, "/0").to("/g/one").move_all(&registry).unwrap();
    let moved = contents(&opened(&path));
    assert!(moved.contains_key("g/one/a/zarr.json") && !moved.contains_key("0/a/zarr.json"), "{:?}", moved.keys());
    let back = memory();
    Transfer::of(&zip, "/").in_store(&back).to("/").move_all(&registry).unwrap();
    assert_eq!(contents(&back), moved);
    assert_eq!(contents(&opened(&path)), Contents::new());
}

#[test]
fn nothing_of_a_conversion_into_a_zip_file_is_resumed_or_in_parts() {
    let source = memory();
    other_files::write_small(&source);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let refused = |options: ConvertOptions, expected: &str| {
        let plan = Conversion::plan(&source, &zarr::registry::default(), options).unwrap();
        let error = plan.run(&created(&path), |_| {}).unwrap_err();
        assert!(error.kind() == ErrorKind::Argument && error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some() && names(folder.path()).is_empty());
    };
    refused(ConvertOptions::default().resume(true), "nothing of an interrupted conversion stays");
    refused(ConvertOptions::default().part(Some(Part::new(1, 2).unwrap())), "which a zip file is not");
}

#[test]
fn names_say_what_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let make = |address: &str| {
        let store = zarr::store::create(address).unwrap();
        zarr::create((&store, "/a")).array(NewArray::new(&[2], "int8")).unwrap().write(.., &[1_i8, 2]).unwrap();
        store.flush().unwrap();
    };
    for name in ["a.zip", "b.ZIP", "c.ozx"] {
        make(&at(name));
        assert!(Path::new(&at(name)).is_file(), "{name}");
    }
    make(&format!("zip:{}", at("d")));
    assert!(Path::new(&at("d")).is_file());
    for name in ["a.zip", "b.ZIP", "c.ozx"] {
        assert_eq!(zarr::open(format!("{}/a", at(name))).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
    }
    assert_eq!(zarr::open(format!("zip:{}::/a", at("d"))).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
    // A directory that is there is one, and a file of another kind is refused.
    fs::create_dir(at("e.zip")).unwrap();
    make(&at("e.zip"));
    assert!(Path::new(&at("e.zip/zarr.json")).is_file());
    fs::write(at("f.zip"), b"no zip file").unwrap();
    assert!(zarr::store::create(&at("f.zip")).unwrap_err().to_string().contains("not a zip file"));
    assert_eq!(fs::read(at("f.zip")).unwrap(), b"no zip file");
    let error = zarr::store::create("zip:s3://bucket/x.zip").unwrap_err();
    assert!(error.to_string().contains("on this machine alone"), "{error}");
}

#[test]
fn documents_come_first_in_one_file_of_ome_zarr() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image.ozx");
    let store = created(&path);
    let image = zarr::json!({"version": "0.5", "multiscales": []});
    let group = NewGroup::default().attribute("ome", image);
    zarr::create(&store).group(group).unwrap();
    let array = zarr::create((&store, "/0/deep/a")).array(NewArray::new(&[4], "int8").chunks(&[2])).unwrap();
    array.write(.., &[1_i8, 2, 3, 4]).unwrap();
    zarr::create((&store, "/z")).group(NewGroup::default()).unwrap();
    store.flush().unwrap();
    let bytes = fs::read(&path).unwrap();
    let comment = br#"{"ome":{"version":"0.5","zipFile":{"centralDirectory":{"jsonFirst":true}}}}"#;
    assert!(bytes.ends_with(comment));
    let keys = ZipStore::open(&path).unwrap().list_prefix(&Prefix::root()).unwrap();
    // By where they lie in the file: the end of the local header has the name.
    let place = |key: &Key| bytes.windows(key.as_str().len()).position(|window| window == key.as_str().as_bytes());
    let mut by_place: Vec<_> = keys.iter().map(|key| (place(key).unwrap(), key.as_str().to_owned())).collect();
    by_place.sort();
    let depths: Vec<usize> = by_place
        .iter()
        .map(|(_, key)| if key.ends_with("zarr.json") { key.matches('/').count() } else { usize::MAX })
        .collect();
    assert!(depths.is_sorted() && depths.first() == Some(&0) && depths.last() == Some(&usize::MAX), "{by_place:?}");
}
