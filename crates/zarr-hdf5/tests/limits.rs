//! Files that the HDF5 library does not write: large contents in few bytes, and contradictory contents.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use zarr_store::{ErrorKind, Key, MemoryStore, Prefix, Store, StoreExt};

/// Bytes of a file with a superblock of version 0.
struct Made(Vec<u8>);

impl Made {
    fn new() -> Self {
        Self(vec![0; 96])
    }

    /// Appends an object header with `messages`, and returns its address.
    fn object(&mut self, messages: &[(u16, Vec<u8>)]) -> u64 {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let mut body = Vec::new();
        for (kind, bytes) in messages {
            let len = bytes.len().next_multiple_of(8);
            body.extend(kind.to_le_bytes());
            body.extend(u16::try_from(len).unwrap().to_le_bytes());
            body.extend([0; 4]);
            body.extend_from_slice(bytes);
            body.resize(body.len() + len - bytes.len(), 0);
        }
        let address = self.0.len() as u64;
        self.0.extend([1, 0]);
        self.0.extend(u16::try_from(messages.len()).unwrap().to_le_bytes());
        self.0.extend(1_u32.to_le_bytes());
        self.0.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
        self.0.extend([0; 4]);
        self.0.extend(body);
        address
    }

    /// Writes the superblock; `root` is the address of the root group.
    fn head(&mut self, root: u64) {
        let mut head = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
        for address in [0, u64::MAX, self.0.len() as u64, u64::MAX, 0, root] {
            head.extend(address.to_le_bytes());
        }
        self.0[..head.len()].copy_from_slice(&head);
    }

    fn open(mut self, links: &[(u16, Vec<u8>)]) -> zarr_store::Result<Arc<dyn Store>> {
        let root = self.object(links);
        self.head(root);
        let (below, key) = (Arc::new(MemoryStore::new()), Key::new("x.h5")?);
        below.set_all(&key, &self.0)?;
        Ok(Arc::new(zarr_hdf5::open(below, key, "x.h5")?))
    }
}

/// Link to the object at `path` of another file.
fn external(name: &str, file: &str, path: &str) -> (u16, Vec<u8>) {
    let target = [&[0][..], file.as_bytes(), &[0], path.as_bytes(), &[0]].concat();
    let head = [1, 8, 64, u8::try_from(name.len()).unwrap()];
    let size = u16::try_from(target.len()).unwrap().to_le_bytes();
    (6, [&head[..], name.as_bytes(), &size, &target].concat())
}

/// Messages of an object header: their types and bytes.
type Messages = Vec<(u16, Vec<u8>)>;

/// Writes files, each a root group with links, and opens the first one.
fn linked(files: &[(String, Messages)]) -> Arc<dyn Store> {
    let below = Arc::new(MemoryStore::new());
    for (name, links) in files {
        let mut made = Made::new();
        let root = made.object(links);
        made.head(root);
        below.set_all(&Key::new(name).unwrap(), &made.0).unwrap();
    }
    Arc::new(zarr_hdf5::open(below, Key::new(&files[0].0).unwrap(), "x.h5").unwrap())
}

#[test]
fn few_files_are_opened_for_external_links() {
    let name = |number: usize| format!("f{number:03}.h5");
    let links = (0..300).map(|number| external(&name(number), &name(number), "/")).collect();
    let mut files = vec![("x.h5".to_owned(), links)];
    // A group without members has a message of its kind alone.
    files.extend((0..300).map(|number| (name(number), vec![(10, vec![0, 0])])));
    let store = linked(&files);
    assert_eq!(store.list_dir(&Prefix::root()).unwrap().prefixes.len(), 256);
    let warnings = store.take_warnings();
    assert_eq!(warnings.len(), 44);
    let told = "is not followed: more than 256 other files are linked, which is the limit";
    assert!(warnings.iter().all(|warning| warning.ends_with(told)), "{warnings:?}");
    // Files that are not there take as many looks as the limit.
    let links = (0..5000).map(|number| external(&format!("l{number}"), &format!("{number}.h5"), "/")).collect();
    let warnings = linked(&[("x.h5".to_owned(), links)]).take_warnings();
    let looked = warnings.iter().filter(|warning| warning.ends_with("there is no such file")).count();
    assert_eq!((warnings.len(), looked), (5000, 4096));
}

#[test]
fn external_links_in_circles_end() {
    let files = [
        ("x.h5", vec![external("a", "y.h5", "/a"), external("b", "y.h5", "/"), external("self", "x.h5", "/")]),
        ("y.h5", vec![external("a", "x.h5", "/a"), external("back", "x.h5", "/"), external("c", "z.h5", "/")]),
        ("z.h5", vec![external("d", "y.h5", "/"), external("name", "", "/"), external("up", "../x.h5", "/")]),
    ];
    let store = linked(&files.map(|(name, links)| (name.to_owned(), links)));
    let mut warnings = store.take_warnings();
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "/a: links lead to each other",
            "/b/a: links lead to each other",
            "/b/back: the link leads to a group above it",
            "/b/c/d: the link leads to a group above it",
            "/b/c/name: the external link to the file  is not followed: it names no file",
            "/b/c/up: the external link to the file ../x.h5 is not followed: it does not lie below the directory of the first file",
            "/self: the link leads to a group above it",
        ]
    );
    assert!(store.exists(&Key::new("b/c/zarr.json").unwrap()).unwrap());
}

fn link(name: &str, address: u64) -> (u16, Vec<u8>) {
    let head = [1, 0, u8::try_from(name.len()).unwrap()];
    (6, [&head[..], name.as_bytes(), &address.to_le_bytes()].concat())
}

fn soft(name: &str, path: &str) -> (u16, Vec<u8>) {
    let head = [1, 8, 1, u8::try_from(name.len()).unwrap()];
    let len = u16::try_from(path.len()).unwrap().to_le_bytes();
    (6, [&head[..], name.as_bytes(), &len, path.as_bytes()].concat())
}

/// Dataspace message of one axis.
fn shape(len: u64) -> (u16, Vec<u8>) {
    (1, [&[1, 1, 0, 0, 0, 0, 0, 0][..], &len.to_le_bytes()].concat())
}

/// Data type message of unsigned 8-bit integers.
const BYTES: [u8; 12] = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];

fn compact(len: usize) -> (u16, Vec<u8>) {
    (8, [&[3, 0][..], &u16::try_from(len).unwrap().to_le_bytes(), &vec![7; len]].concat())
}

fn contiguous(address: u64, len: u64) -> (u16, Vec<u8>) {
    (8, [&[3, 1][..], &address.to_le_bytes(), &len.to_le_bytes()].concat())
}

#[test]
fn a_small_file() {
    let mut file = Made::new();
    let data = file.object(&[shape(5), (3, BYTES.to_vec()), compact(5)]);
    let store = file.open(&[link("a", data)]).unwrap();
    assert_eq!(store.take_warnings(), [""; 0]);
    assert_eq!(store.get_all(&Key::new("a/c/0").unwrap()).unwrap().unwrap().to_vec(), [7; 5]);
}

/// Elements that an object header stores count once for all paths of the object toward the limit; elements of several objects add up.
#[test]
fn many_paths_of_one_object() {
    let elements = || [shape(65_000), (3, BYTES.to_vec()), compact(65_000)];
    let mut file = Made::new();
    let data = file.object(&elements());
    let links: Vec<_> = (0..2100).map(|number| link(&format!("{number}"), data)).collect();
    let store = file.open(&links).unwrap();
    for path in ["0", "1000", "2099"] {
        assert_eq!(store.get_all(&Key::new(&format!("{path}/c/0")).unwrap()).unwrap().unwrap().len(), 65_000);
    }
    let mut file = Made::new();
    let links: Vec<_> = (0..2100).map(|number| link(&format!("{number}"), file.object(&elements()))).collect();
    let error = file.open(&links).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn many_parts_that_are_left_out() {
    let links: Vec<_> = (0..20_000).map(|number| soft(&format!("{number}"), "nowhere")).collect();
    let warnings = Made::new().open(&links).unwrap().take_warnings();
    assert_eq!(warnings.len(), 10_001);
    assert_eq!(warnings[10_000], "10000 more parts of the file are left out");
}

/// Data sets whose elements would extend beyond the end of the file are left out.
#[test]
fn elements_behind_the_end() {
    let mut file = Made::new();
    let data = file.object(&[shape(1 << 62), (3, BYTES.to_vec()), contiguous(96, 1 << 62)]);
    let store = file.open(&[link("a", data)]).unwrap();
    let [warning] = &store.take_warnings()[..] else { panic!("expected a warning") };
    assert!(warning.starts_with("/a: found 4611686018427387904 bytes at byte 96 for its elements"), "{warning}");
}

#[test]
fn more_filters_than_masks_have_bits() {
    let mut file = Made::new();
    let filters = [vec![1, 33, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0].repeat(33)].concat();
    let data = file.object(&[shape(5), (3, BYTES.to_vec()), (11, filters), compact(5)]);
    let warnings = file.open(&[link("a", data)]).unwrap().take_warnings();
    assert_eq!(warnings, ["/a: found 33 filters, at most 32 are read"]);
}

/// Attribute message `s`, with `count` structs that have the fields `fields`.
fn attribute(fields: &[&str], count: u64) -> (u16, Vec<u8>) {
    let mut datatype = vec![0x16, u8::try_from(fields.len()).unwrap(), 0, 0];
    datatype.extend(u32::try_from(fields.len()).unwrap().to_le_bytes());
    for (at, name) in fields.iter().enumerate() {
        datatype.extend(name.bytes());
        datatype.resize(datatype.len() + 8 - name.len() % 8, 0);
        datatype.extend(u32::try_from(at).unwrap().to_le_bytes());
        datatype.extend([0; 28]);
        datatype.extend(BYTES);
    }
    let len = u16::try_from(datatype.len()).unwrap();
    let mut bytes = vec![1, 0, 2, 0];
    bytes.extend(len.to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend(*b"s\0\0\0\0\0\0\0");
    bytes.extend(&datatype);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(shape(count).1);
    bytes.extend(vec![5; usize::try_from(count).unwrap() * fields.len()]);
    (12, bytes)
}

#[test]
fn fields_of_one_name() {
    let store = Made::new().open(&[attribute(&["a", "b"], 1)]).unwrap();
    assert_eq!(store.take_warnings(), [""; 0]);
    let root = store.get_all(&Key::new("zarr.json").unwrap()).unwrap().unwrap();
    let root = String::from_utf8(root.to_vec()).unwrap().replace([' ', '\n'], "");
    assert!(root.contains(r#""s":[{"a":5,"b":5}]"#), "{root}");
    let store = Made::new().open(&[attribute(&["a", "a"], 1)]).unwrap();
    assert_eq!(store.take_warnings(), [r#"/: attribute "s" is left out: two of its fields have the name "a""#]);
}

/// Names of fields count toward the limit once for each struct.
#[test]
fn attributes_that_grow() {
    let name = "n".repeat(1000);
    let store = Made::new().open(&[attribute(&[&name], 40_000)]).unwrap();
    let warnings = store.take_warnings();
    assert_eq!(
        warnings,
        [r#"/: attribute "s" is left out: the attributes of the object have more than 16777216 bytes"#]
    );
    assert_eq!(store.list_prefix(&Prefix::root()).unwrap().len(), 1);
}

/// Attribute values of an object count toward the limit once for each path.
#[test]
fn attributes_of_many_paths() {
    let mut file = Made::new();
    let group = file.object(&[(10, vec![0, 0]), attribute(&[&"n".repeat(1000)], 40_000)]);
    let links: Vec<_> = (0..30).map(|number| link(&format!("{number:02}"), group)).collect();
    let warnings = file.open(&links).unwrap().take_warnings();
    assert_eq!(warnings.len(), 30);
    let reason = r#"attribute "s" is left out: the attributes of the file have more than 268435456 bytes"#;
    assert_eq!(warnings[29], format!("/29: {reason}"));
}

/// Integers with an offset of bits, or with fewer bits than their bytes have, are refused.
#[test]
fn other_numbers() {
    for (at, value, reason) in
        [(8, 1, "integers of 8 bits in 1 bytes are not read"), (10, 7, "integers of 7 bits in 1 bytes are not read")]
    {
        let mut datatype = BYTES.to_vec();
        datatype[at] = value;
        let mut file = Made::new();
        let data = file.object(&[shape(5), (3, datatype), compact(5)]);
        let store = file.open(&[link("a", data)]).unwrap();
        assert_eq!(store.take_warnings(), [format!("/a: {reason}")]);
    }
}

/// Data type message of a struct with one field, an array of bytes with the shape `lens`.
fn array_of_bytes(lens: &[u32]) -> (u16, Vec<u8>) {
    let mut datatype = vec![0x36, 1, 0, 0];
    let product: u32 = lens.iter().product();
    datatype.extend(product.to_le_bytes());
    datatype.extend(b"a\0");
    let width = match product {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 3,
    };
    datatype.extend(vec![0; width]);
    datatype.extend([0x3a, 0, 0, 0]);
    datatype.extend(product.to_le_bytes());
    datatype.push(u8::try_from(lens.len()).unwrap());
    lens.iter().for_each(|len| datatype.extend(len.to_le_bytes()));
    datatype.extend(BYTES);
    (3, datatype)
}

/// The fill value in the document has as many numbers as an element, which is limited for an element and for all documents.
#[test]
fn elements_of_many_numbers() {
    let mut file = Made::new();
    let fine = file.object(&[shape(1), array_of_bytes(&[256, 256]), contiguous(u64::MAX, 0)]);
    let large = file.object(&[shape(1), array_of_bytes(&[256, 257]), contiguous(u64::MAX, 0)]);
    let store = file.open(&[link("fine", fine), link("large", large)]).unwrap();
    assert_eq!(store.take_warnings(), ["/large: found elements of 65792 numbers, at most 65536 are read"]);
    let mut file = Made::new();
    let data = file.object(&[shape(1), array_of_bytes(&[256, 256]), contiguous(u64::MAX, 0)]);
    let links: Vec<_> = (0..70).map(|number| link(&format!("{number}"), data)).collect();
    assert_eq!(file.open(&links).unwrap_err().kind(), ErrorKind::Limit);
}

#[path = "limits/linked.rs"]
mod linked;

#[path = "limits/far.rs"]
mod far;

#[test]
fn a_root_that_cannot_be_read_is_an_error() {
    // A data set of references stands in the place of the root group.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/regressions/hdf5/root-of-references");
    let (below, key) = (Arc::new(MemoryStore::new()), Key::new("x.h5").unwrap());
    below.set_all(&key, &std::fs::read(path).unwrap()).unwrap();
    let error = zarr_hdf5::open(below, key, "x.h5").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}
