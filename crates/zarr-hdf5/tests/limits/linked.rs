//! Files that external links name: which file a name means, and limits that leave out links but never the objects of the first file.

use zarr_hdf5::Hdf5Options;

use super::*;

type Links = Vec<(u16, Vec<u8>)>;

/// Link to the object at `path` of another file.
fn outward(name: &str, file: &str, path: &str) -> (u16, Vec<u8>) {
    let target = [&[0][..], file.as_bytes(), &[0], path.as_bytes(), &[0]].concat();
    let head = [1, 8, 64, u8::try_from(name.len()).unwrap()];
    let size = u16::try_from(target.len()).unwrap().to_le_bytes();
    (6, [&head[..], name.as_bytes(), &size, &target].concat())
}

/// File with the data set `x` of 5 bytes `value`, and with `links`.
fn file(value: u8, links: Links) -> Vec<u8> {
    let mut made = Made::new();
    let elements = [[3, 0, 5, 0].as_slice(), &[value; 5]].concat();
    let data = made.object(&[shape(5), (3, BYTES.to_vec()), (8, elements)]);
    let root = made.object(&[vec![link("x", data)], links].concat());
    made.head(root);
    made.0
}

fn memory(files: &[(&str, Vec<u8>)]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (name, bytes) in files {
        store.set_all(&Key::new(name).unwrap(), bytes).unwrap();
    }
    Arc::new(store)
}

fn opened(files: &[(&str, Vec<u8>)], options: &Hdf5Options) -> Arc<dyn Store> {
    Arc::new(zarr_hdf5::open_with(memory(files), Key::new(files[0].0).unwrap(), options).unwrap())
}

/// Returns the first element of the data set at `path`; `None` if it is left out.
fn element(store: &Arc<dyn Store>, path: &str) -> Option<u8> {
    store.get_all(&Key::new(&format!("{path}/c/0")).unwrap()).unwrap().map(|bytes| bytes[0])
}

fn named(name: &str) -> Hdf5Options {
    Hdf5Options::default().name(name)
}

/// The file beside has the place of an absolute path only where that is known to name no file.
#[test]
fn a_file_beside_is_taken_for_a_path_that_names_none_alone() {
    let links = |name: &str| vec![outward("far", name, "/x")];
    let archive = |bytes: Vec<u8>| {
        let archive = memory(&[("temps.h5", bytes)]);
        named("x.h5").directory("/data").allow("/archive").open_by(move |_| Ok(Arc::clone(&archive)))
    };
    let here = || named("x.h5").directory("/data");
    let is_not_read = "it may be there";
    for (name, options, expected) in [
        // Whether the path names a file is not known, or it does, or it does not.
        ("/archive/temps.h5", here(), Err(is_not_read)),
        ("/archive/temps.h5", here().real_path_by(|path| Some(path.to_owned())), Err(is_not_read)),
        ("/archive/temps.h5", here().real_path_by(|_| None), Ok(2)),
        ("C:\\archive\\temps.h5", here().real_path_by(|_| None), Ok(2)),
        // The path is allowed, and names a file, a broken one, or none.
        ("/archive/temps.h5", archive(file(3, vec![])), Ok(3)),
        ("/archive/temps.h5", archive(b"no HDF5".to_vec()), Err("found no signature of HDF5")),
        ("/archive/other/temps.h5", archive(file(3, vec![])), Ok(2)),
        // A URL is no path.
        ("s3://archive/temps.h5", here().real_path_by(|_| None), Err("which does not lie below /data")),
        ("https://archive/temps.h5", here(), Err("which does not lie below /data")),
    ] {
        let store = opened(&[("x.h5", file(1, links(name))), ("temps.h5", file(2, vec![]))], &options);
        let warnings = store.take_warnings().join("\n");
        assert_eq!(element(&store, "far"), expected.ok(), "{name} {options:?}: {warnings}");
        assert!(warnings.contains(expected.err().unwrap_or_default()), "{name} {options:?}: {warnings}");
        assert_eq!(element(&store, "x"), Some(1));
    }
}

/// A relative name may lead above the directory of the first file, where the caller allows it.
#[test]
fn names_above_the_first_file() {
    let raw = memory(&[("b.h5", file(3, vec![])), ("deep/c%20.h5", file(4, vec![]))]);
    for (directory, allowed) in
        [("/data/x", "/data/raw"), ("s3://data/x", "s3://data/raw"), ("https://h/x", "https://h/raw")]
    {
        let links = vec![
            outward("b", "../raw/b.h5", "/x"),
            outward("c", "../raw/deep/c%20.h5", "/x"),
            outward("other", "../others/b.h5", "/x"),
        ];
        let below = Arc::clone(&raw);
        let options = named("a.h5").directory(directory);
        let all = options.clone().allow(allowed).open_by(move |_| Ok(Arc::clone(&below)));
        let store = opened(&[("a.h5", file(1, links.clone()))], &all);
        assert_eq!((element(&store, "b"), element(&store, "c"), element(&store, "other")), (Some(3), Some(4), None));
        let told = "/other: the external link to the file ../others/b.h5 is not followed: it does not lie below the \
            directory of the first file; --store-option allow=ADDRESS names where else links may lead";
        assert_eq!(store.take_warnings(), [told]);
        assert_eq!(opened(&[("a.h5", file(1, links))], &options).take_warnings().len(), 3);
    }
}

/// Names of files have no escapes, also where the file with the link has a URL of the web.
#[test]
fn names_beside_files_of_the_web() {
    let names = ["100%.h5", "a%20b.h5", "run#1.h5", "what?.h5"];
    let links: Links = names.iter().map(|name| outward(&name.replace(['%', '#', '?'], "_"), name, "/x")).collect();
    for address in ["https://h/d", "HTTP://h/d", "file:///d", "s3://d"] {
        let mut files = vec![("x.h5", file(1, links.clone())), ("a b.h5", file(9, vec![]))];
        files.extend(names.iter().map(|name| (*name, file(5, vec![]))));
        let mounted = memory(&files);
        let options = named("first.h5").directory("https://elsewhere").allow(address);
        let options = options.open_by(move |_| Ok(Arc::clone(&mounted)));
        let first = file(1, vec![outward("g", &format!("{address}/x.h5"), "/")]);
        let options = if address.starts_with("file") { named("first.h5").directory("/d") } else { options };
        let beside = if address.starts_with("file") { files } else { Vec::new() };
        let store = opened(&[vec![("first.h5", first)], beside].concat(), &options);
        for name in names {
            let path = format!("g/{}", name.replace(['%', '#', '?'], "_"));
            assert_eq!(element(&store, &path), Some(5), "{address} {name}: {:?}", store.take_warnings());
        }
    }
}

/// Behind a symbolic link, files beside the link come first, and those beside its target after them.
#[test]
fn names_beside_a_symbolic_link() {
    let given = memory(&[("b.h5", file(2, vec![])), ("sub/d.h5", file(6, vec![outward("b", "../b.h5", "/x")]))]);
    let links = vec![
        outward("b", "b.h5", "/x"),
        outward("c", "c.h5", "/x"),
        outward("d", "sub/d.h5", "/b"),
        outward("e", "e.h5", "/x"),
    ];
    let objects = memory(&[("e", file(7, vec![]))]);
    let options = named("a.h5").directory("/objects/a").allow("/given").allow("/objects/e");
    let options = options
        .symbolic_link("/given/a.h5")
        .open_by(move |prefix| Ok(Arc::clone(if prefix == "/given" { &given } else { &objects })));
    let real = |path: &str| (path == "/given/e.h5").then(|| "/objects/e/e".to_owned());
    let files = [("a.h5", file(1, links)), ("b.h5", file(3, vec![])), ("c.h5", file(4, vec![]))];
    let store = opened(&files, &options.real_path_by(real));
    let found = ["b", "c", "d", "e"].map(|path| element(&store, path));
    assert_eq!(found, [Some(2), Some(4), Some(2), Some(7)], "{:?}", store.take_warnings());
}

/// Limits that nodes of other files exceed leave out links, and no more.
#[test]
fn limits_leave_out_links_alone() {
    // Groups of which each has the next one twice: more nodes than the limit.
    let mut deep = Made::new();
    let mut group = deep.object(&[link("x", 96)]);
    for _ in 0..17 {
        group = deep.object(&[link("a", group), link("b", group)]);
    }
    deep.head(group);
    // Elements of more bytes than the limit of metadata.
    let mut large = Made::new();
    let elements = || [shape(65_000), (3, BYTES.to_vec()), compact(65_000)];
    let many: Links = (0..2100).map(|number| link(&format!("{number}"), large.object(&elements()))).collect();
    let root = large.object(&many);
    large.head(root);
    let links =
        vec![outward("deep", "deep.h5", "/"), outward("large", "large.h5", "/"), outward("small", "small.h5", "/")];
    let files = [
        ("x.h5", file(1, links)),
        ("deep.h5", deep.0),
        ("large.h5", large.0),
        ("small.h5", file(2, vec![outward("back", "x.h5", "/x")])),
    ];
    let store = opened(&files, &named("x.h5"));
    let warnings = store.take_warnings();
    let found = ["x", "small/x", "small/back"].map(|path| element(&store, path));
    assert_eq!(found[0], Some(1), "{warnings:?}");
    let told = "/deep: the link to another file is not followed: found more than 100000 groups and data sets, which is \
        the limit";
    assert!(warnings.iter().any(|warning| warning == told), "{warnings:?}");
    let told = "in large.h5: found metadata of more than 134217728 bytes, which is the limit";
    assert!(warnings.iter().any(|warning| warning.starts_with("/large/") && warning.ends_with(told)), "{warnings:?}");
    assert!(!store.exists(&Key::new("deep/zarr.json").unwrap()).unwrap());
    // The metadata of `large` nearly reaches the limit, and the small file still has a place.
    assert_eq!(found[1..], [Some(2), Some(1)], "{warnings:?}");
}

/// A data set that is left out at one path for a limit is left out at all: its paths share the elements, which would be kept uncounted.
#[test]
fn limits_count_elements_of_several_paths() {
    let mut large = Made::new();
    let links: Links = (0..2100)
        .flat_map(|number| {
            let data = large.object(&[shape(65_000), (3, BYTES.to_vec()), compact(65_000)]);
            ["a", "b"].map(|name| link(&format!("{number:04}{name}"), data))
        })
        .collect();
    let root = large.object(&links);
    large.head(root);
    let files = [("x.h5", file(1, vec![outward("large", "large.h5", "/")])), ("large.h5", large.0)];
    let store = opened(&files, &named("x.h5"));
    let there = |name: String| element(&store, &format!("large/{name}")).is_some();
    let left: Vec<(bool, bool)> =
        (0..2100).map(|number| (there(format!("{number:04}a")), there(format!("{number:04}b")))).collect();
    let kept = left.iter().filter(|(a, b)| *a || *b).count();
    assert!(kept * 65_000 <= 128 << 20 && kept > 1900, "{kept}");
    assert!(left.iter().all(|(a, b)| *a || !b), "{kept}");
    let told = "in large.h5: found metadata of more than 134217728 bytes, which is the limit";
    let warnings = store.take_warnings();
    assert!(warnings.iter().filter(|warning| warning.ends_with(told)).count() >= 2 * (2100 - kept) - 1, "{warnings:?}");
}

/// Warnings about attributes of an object that another link leads to as well are not those of the link that is left out.
#[test]
fn limits_keep_warnings_of_other_links() {
    let mut deep = Made::new();
    let mut broken = attribute(&["a"], 1);
    let at = broken.1.windows(BYTES.len()).position(|bytes| bytes == BYTES).unwrap();
    // Integers of 7 bits in a byte.
    broken.1[at + 10] = 7;
    let data = deep.object(&[shape(5), (3, BYTES.to_vec()), compact(5), broken]);
    let mut group = deep.object(&[link("x", 96)]);
    for _ in 0..17 {
        group = deep.object(&[link("a", group), link("b", group)]);
    }
    let root = deep.object(&[link("deep", group), link("data", data)]);
    deep.head(root);
    let links = vec![outward("all", "deep.h5", "/"), outward("one", "deep.h5", "/data")];
    let store = opened(&[("x.h5", file(1, links)), ("deep.h5", deep.0)], &named("x.h5"));
    let warnings = store.take_warnings();
    assert_eq!((element(&store, "all/data"), element(&store, "one")), (None, Some(7)), "{warnings:?}");
    let told =
        |path: &str| warnings.iter().any(|warning| warning.starts_with(path) && warning.contains("attribute \"s\""));
    assert!(told("/one: ") && !told("/all"), "{warnings:?}");
}

/// Names that lead above a directory behind a symbolic link are those of the files that the system finds there.
#[test]
fn names_above_a_directory_behind_a_symbolic_link() {
    let given = memory(&[("raw/b.h5", file(3, vec![])), ("raw/c.h5", file(5, vec![]))]);
    let real = memory(&[("raw/b.h5", file(4, vec![]))]);
    let options = named("a.h5").directory("/given/x").directory("/real/x").allow("/given").allow("/real");
    let options = options.open_by(move |prefix| Ok(Arc::clone(if prefix == "/given" { &given } else { &real })));
    let links = ["b", "c", "d"].map(|name| outward(name, &format!("../raw/{name}.h5"), "/x")).to_vec();
    let store = opened(&[("a.h5", file(1, links))], &options);
    let warnings = store.take_warnings();
    assert_eq!(["b", "c", "d"].map(|path| element(&store, path)), [Some(4), Some(5), None], "{warnings:?}");
    assert!(warnings.len() == 1 && warnings[0].ends_with("there is no such file"), "{warnings:?}");
}

/// Files that each link to the roots of all others have more paths than any reader has time for.
#[test]
fn files_that_link_to_all_others() {
    let name = |number: usize| format!("{number}.h5");
    let names: Vec<String> = (0..9).map(name).collect();
    let made = |own: usize| {
        let links = (0..9).filter(|other| *other != own).map(|other| outward(&format!("f{other}"), &name(other), "/"));
        file(u8::try_from(own).unwrap(), links.collect())
    };
    let files: Vec<(&str, Vec<u8>)> = names.iter().enumerate().map(|(own, name)| (&**name, made(own))).collect();
    let store = opened(&files, &named("0.h5"));
    for other in 1..9 {
        assert_eq!(element(&store, &format!("f{other}/x")), u8::try_from(other).ok());
    }
    assert_eq!(element(&store, "f8/f7/x"), Some(7));
    let warnings = store.take_warnings();
    let last = warnings.last().unwrap();
    assert!(last.ends_with("more parts of the file are left out"), "{last}");
}

#[test]
fn faults_in_linked_files_name_them() {
    let broken = Made::new().object(&[]);
    let files = [
        (
            "x.h5",
            file(
                1,
                vec![outward("bad", "y.h5", "/bad"), outward("worse", "y.h5", "/bad/b"), outward("y", "y.h5", "/")],
            ),
        ),
        ("y.h5", file(2, vec![link("bad", broken + 5000)])),
    ];
    let warnings = opened(&files, &named("x.h5")).take_warnings();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for (warning, path) in warnings.iter().zip(["/bad: in y.h5: ", "/worse: in y.h5: ", "/y/bad: in y.h5: "]) {
        assert!(warning.starts_with(path), "{warnings:?}");
    }
}
