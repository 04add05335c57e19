//! Remote files: few requests, even if the parts of the file are scattered.

use zarr_store::testing::Altered;
use zarr_store::{AccessProfile, Counted};

use super::*;

/// Number of chunks of each data set.
const CHUNKS: u64 = 8;
const SIZE: u32 = 10;

impl Made {
    /// Appends `bytes` after a gap of `apart` bytes, and returns their address.
    fn bytes(&mut self, apart: usize, bytes: &[u8]) -> u64 {
        self.0.resize((self.0.len() + apart).next_multiple_of(8), 0);
        self.0.extend_from_slice(bytes);
        (self.0.len() - bytes.len()) as u64
    }

    /// Appends the chunks of a data set and its B-tree of two levels, with gaps of `apart` bytes before the B-tree nodes. Returns the
    /// messages of its object header.
    fn chunked(&mut self, apart: usize, value: u8) -> Vec<(u16, Vec<u8>)> {
        let node = |level: u8, children: &[(u64, u64)]| {
            let mut bytes = b"TREE\x01".to_vec();
            bytes.push(level);
            bytes.extend(u16::try_from(children.len()).unwrap().to_le_bytes());
            bytes.extend([0xff; 16]);
            let key = |chunk: u64| {
                let head = [SIZE.to_le_bytes(), [0; 4]].concat();
                [head, (chunk * u64::from(SIZE)).to_le_bytes().to_vec(), vec![0; 8]].concat()
            };
            for (chunk, address) in children {
                bytes.extend(key(*chunk));
                bytes.extend(address.to_le_bytes());
            }
            bytes.extend(key(CHUNKS));
            // A node has room for more children.
            bytes.resize(bytes.len() + 1000, 0);
            bytes
        };
        let chunks: Vec<(u64, u64)> = (0..CHUNKS)
            .map(|chunk| (chunk, self.bytes(0, &[value + u8::try_from(chunk).unwrap(); SIZE as usize])))
            .collect();
        let leaves: Vec<(u64, u64)> =
            chunks.chunks(4).map(|chunks| (chunks[0].0, self.bytes(apart, &node(0, chunks)))).collect();
        let root = self.bytes(apart, &node(1, &leaves));
        let layout = [&[3, 2, 2][..], &root.to_le_bytes(), &SIZE.to_le_bytes(), &1_u32.to_le_bytes()].concat();
        vec![shape(CHUNKS * u64::from(SIZE)), (3, BYTES.to_vec()), (8, layout)]
    }

    /// Appends a root group with `links`, and returns the bytes of the file.
    fn finish(mut self, links: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let root = self.object(links);
        self.head(root);
        self.0
    }
}

/// Opens `file` in a remote store, and checks the last chunk of each of `count` data sets. Returns the numbers of get requests and of their
/// ranges when the file was opened.
fn opened(file: &[u8], count: u8) -> (u64, u64) {
    let (files, key) = (MemoryStore::new(), Key::new("x.h5").unwrap());
    files.set_all(&key, file).unwrap();
    let files = Arc::new(Counted::new(Altered::new(files).with_profile(AccessProfile::REMOTE)));
    let store = zarr_hdf5::open(files.clone(), key, "x.h5").unwrap();
    let counts = files.take();
    assert_eq!(Store::take_warnings(&store), [""; 0]);
    for number in 0..count {
        let chunk = store.get_all(&Key::new(&format!("{number:02}/c/7")).unwrap()).unwrap().unwrap();
        assert_eq!(chunk.to_vec(), [number + 7; SIZE as usize], "{number}");
    }
    (counts.gets, counts.ranges)
}

#[test]
fn chunks_beside_the_metadata_are_no_request() {
    let mut file = Made::new();
    let [near, far] = [0, 8 << 20].map(|apart| {
        let mut messages = file.chunked(apart, 5);
        let chunks = file.bytes(apart, &[9; 16]);
        let layout = [&[3, 1][..], &chunks.to_le_bytes(), &16_u64.to_le_bytes()].concat();
        (messages[0], messages[2]) = (shape(16), (8, layout));
        file.object(&messages)
    });
    let file = file.finish(&[link("far", far), link("near", near)]);
    let (files, key) = (MemoryStore::new(), Key::new("x.h5").unwrap());
    files.set_all(&key, &file).unwrap();
    let files = Arc::new(Counted::new(Altered::new(files).with_profile(AccessProfile::REMOTE)));
    let store = zarr_hdf5::open(files.clone(), key.clone(), "x.h5").unwrap();
    files.take();
    let get = |name: &str| store.get_all(&Key::new(name).unwrap());
    let version = |name: &str| store.get(&Key::new(name).unwrap(), &[], &zarr_store::GetOptions::snapshot()).unwrap();
    assert_eq!(get("near/c/0").unwrap().unwrap().to_vec(), [9; 16]);
    assert_eq!(files.take().gets, 0);
    assert_eq!(get("far/c/0").unwrap().unwrap().to_vec(), [9; 16]);
    assert_eq!(files.take().gets, 1);
    let (near, far) = (version("near/c/0").unwrap(), version("far/c/0").unwrap());
    assert!(near.version.is_some() && (near.version, near.size) == (far.version, far.size));
}

#[test]
fn a_small_file_is_one_request() {
    let mut file = Made::new();
    let links: Vec<_> = (0..46)
        .map(|number| {
            let messages = file.chunked(0, number);
            link(&format!("{number:02}"), file.object(&messages))
        })
        .collect();
    let file = file.finish(&links);
    assert!(file.len() < 256 << 10, "{}", file.len());
    assert_eq!(opened(&file, 46), (1, 1));
}

#[test]
fn metadata_that_lies_anywhere_is_few_requests() {
    let mut file = Made::new();
    let links: Vec<_> = (0..46)
        .map(|number| {
            let messages = file.chunked(90_000, number);
            link(&format!("{number:02}"), file.object(&messages))
        })
        .collect();
    let file = file.finish(&links);
    assert!(file.len() > 12 << 20, "{}", file.len());
    let (gets, ranges) = opened(&file, 46);
    assert!(gets <= 8 && ranges <= 8, "{gets} gets of {ranges} ranges");
}

#[test]
fn nodes_of_trees_are_read_level_by_level() {
    let mut file = Made::new();
    let headers: Vec<_> = (0..20).map(|number| file.chunked(2 << 20, number)).collect();
    let links: Vec<_> =
        (0..20).zip(headers).map(|(number, messages)| link(&format!("{number:02}"), file.object(&messages))).collect();
    let file = file.finish(&links);
    assert!(file.len() > 100 << 20, "{}", file.len());
    let (gets, ranges) = opened(&file, 20);
    // The beginning; the headers at the end; 20 roots; 40 leaves.
    assert!(gets <= 5 && ranges <= 65, "{gets} gets of {ranges} ranges");
}

#[test]
fn trees_that_lead_back_or_nowhere_are_left_to_the_reader() {
    for address in [0, 96, u64::MAX, 1 << 40] {
        let mut file = Made::new();
        let mut messages = file.chunked(0, 1);
        let layout = &mut messages[2].1;
        layout[3..11].copy_from_slice(&u64::to_le_bytes(address));
        // A node of its own child, where the first chunk was.
        let node = [
            &b"TREE\x01\x01\x02\0"[..],
            &[0xff; 16],
            &[0; 24],
            &96_u64.to_le_bytes(),
            &[0; 24],
            &96_u64.to_le_bytes(),
            &[0; 24],
        ];
        let node = node.concat();
        file.0.resize(file.0.len().max(96 + node.len()), 0);
        file.0[96..96 + node.len()].copy_from_slice(&node);
        let data = file.object(&messages);
        let file = file.finish(&[link("00", data)]);
        let (files, key) = (MemoryStore::new(), Key::new("x.h5").unwrap());
        files.set_all(&key, &file).unwrap();
        let files = Altered::new(files).with_profile(AccessProfile::REMOTE);
        let far = zarr_hdf5::open(Arc::new(files), key.clone(), "x.h5").unwrap();
        let files = MemoryStore::new();
        files.set_all(&key, &file).unwrap();
        let near = zarr_hdf5::open(Arc::new(files), key, "x.h5").unwrap();
        assert_eq!(Store::take_warnings(&far), Store::take_warnings(&near), "{address}");
        assert_eq!(far.list().unwrap(), near.list().unwrap(), "{address}");
    }
}
