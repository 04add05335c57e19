//! TIFF files that are made here: forms that writers seldom use, and claims that are not true.

mod places;

use std::sync::Arc;

use zarr::store::{
    AccessProfile, Counted, FilesystemStore, Key, MemoryStore, Result, Store, StoreExt, VirtualStore, testing,
};
use zarr_json::Value;

/// The tag, type and values of an entry.
type Entry = (u16, u16, Vec<u64>);

/// A classic file, little-endian.
struct Made {
    bytes: Vec<u8>,
    /// Where the offset of the next directory is.
    link: usize,
}

impl Made {
    fn new() -> Self {
        Self { bytes: b"II*\0\0\0\0\0".to_vec(), link: 4 }
    }

    fn data(&mut self, bytes: &[u8]) -> u64 {
        let at = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// Adds a directory that no page leads to.
    fn directory(&mut self, entries: &[Entry]) -> u64 {
        let mut directory = (entries.len() as u16).to_le_bytes().to_vec();
        for (tag, kind, values) in entries {
            let size = match kind {
                1 | 2 | 7 => 1,
                3 => 2,
                12 => 8,
                _ => 4,
            };
            let mut value: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
            if value.len() > 4 {
                value = (self.data(&value) as u32).to_le_bytes().to_vec();
            }
            value.resize(4, 0);
            directory.extend(tag.to_le_bytes());
            directory.extend(kind.to_le_bytes());
            directory.extend((values.len() as u32).to_le_bytes());
            directory.extend(value);
        }
        directory.extend([0; 4]);
        self.data(&directory)
    }

    fn page(&mut self, entries: &[Entry]) {
        let at = self.directory(entries);
        self.bytes[self.link..self.link + 4].copy_from_slice(&(at as u32).to_le_bytes());
        self.link = self.bytes.len() - 4;
    }

    /// Adds a page of one value.
    fn filled(&mut self, side: u64, value: u8, more: &[Entry]) {
        let at = self.data(&vec![value; (side * side) as usize]);
        self.page(&[&gray([side, side], side, &[at], &[side * side])[..], more].concat());
    }

    fn open(&self) -> Result<VirtualStore> {
        let below = MemoryStore::new();
        below.set_all(&key(), &self.bytes)?;
        zarr_tiff::open(Arc::new(below), key(), "x.tif")
    }

    fn opened(&self) -> (Arc<dyn Store>, Vec<String>) {
        let store = self.open().unwrap();
        let warnings = store.take_warnings();
        (Arc::new(store), warnings)
    }
}

fn key() -> Key {
    Key::new("x.tif").unwrap()
}

/// Entries of a page of bytes without compression.
fn gray([width, height]: [u64; 2], rows: u64, offsets: &[u64], counts: &[u64]) -> Vec<Entry> {
    vec![
        (256, 4, vec![width]),
        (257, 4, vec![height]),
        (258, 3, vec![8]),
        (262, 3, vec![1]),
        (273, 4, offsets.to_vec()),
        (278, 4, vec![rows]),
        (279, 4, counts.to_vec()),
    ]
}

/// Numbers of 64 bits as values of an entry.
fn floats(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn text(text: &str) -> Vec<u64> {
    text.bytes().chain([0]).map(u64::from).collect()
}

fn read(store: &Arc<dyn Store>, path: &str) -> (Vec<u64>, Vec<u8>) {
    let array = zarr::open((store, path)).array().unwrap();
    (array.shape().to_vec(), array.read::<u8>(..).unwrap())
}

fn attributes(store: &Arc<dyn Store>) -> Value {
    zarr::open(store).group().unwrap().attributes().unwrap().clone().into()
}

#[test]
fn pages_with_gaps_and_pages_that_are_missing_are_parts_of_one_array() {
    let mut file = Made::new();
    let whole = file.data(&[1; 16]);
    file.page(&gray([4, 4], 2, &[whole, whole + 8], &[8, 8]));
    let first = file.data(&[2; 8]);
    file.data(&[9; 3]);
    let second = file.data(&[3; 8]);
    file.page(&gray([4, 4], 2, &[first, second], &[8, 8]));
    file.page(&gray([4, 4], 2, &[0, 0], &[0, 0]));
    let (store, warnings) = file.opened();
    assert_eq!(warnings, Vec::<String>::new());
    let expected = [vec![1; 16], vec![2; 8], vec![3; 8], vec![0; 16]].concat();
    assert_eq!(read(&store, "/0"), (vec![3, 4, 4], expected));
    // Gaps of different strips cannot be one array.
    let mut file = Made::new();
    for rows in [1, 2] {
        let at = file.data(&[1; 64]);
        let count = 4 / rows;
        let offsets: Vec<u64> = (0..count).map(|strip| at + strip * 16).collect();
        file.page(&gray([4, 4], rows, &offsets, &vec![4 * rows; count as usize]));
    }
    let warnings = file.opened().1;
    assert!(warnings.iter().any(|it| it.contains("have strips of different sizes")), "{warnings:?}");
}

#[test]
fn pages_beside_a_stack_of_imagej_are_series_of_their_own() {
    // One directory for the planes of the stack, and another for a page behind them.
    let mut file = Made::new();
    let planes = file.data(&(0..12).collect::<Vec<u8>>());
    let described = (270, 2, text("ImageJ=1.53\nimages=3\nslices=3\n"));
    file.page(&[&gray([2, 2], 2, &[planes], &[4])[..], &[described]].concat());
    file.filled(3, 7, &[]);
    let (store, warnings) = file.opened();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(read(&store, "/0/0"), (vec![3, 2, 2], (0..12).collect()));
    assert_eq!(read(&store, "/1/0"), (vec![3, 3], vec![7; 9]));
    // A directory for each.
    let mut file = Made::new();
    file.filled(2, 1, &[(270, 2, text("ImageJ=1.53\nslices=2\n"))]);
    file.filled(2, 2, &[]);
    file.filled(3, 3, &[]);
    let (store, _) = file.opened();
    assert_eq!(read(&store, "/0/0").0, [2, 2, 2]);
    assert_eq!(read(&store, "/1/0").1, [3; 9]);
}

#[test]
fn colours_that_are_not_decoded_have_their_own_names() {
    for (photometric, name, is_named) in [(6, "ycbcr", false), (2, "rgb", true)] {
        let mut file = Made::new();
        let at = file.data(&[5; 12]);
        let mut entries = gray([2, 2], 2, &[at], &[12]);
        entries[3].2 = vec![photometric];
        entries.extend([(277, 3, vec![3]), (530, 3, vec![1, 1])]);
        file.page(&entries);
        let found = attributes(&file.opened().0);
        assert_eq!(found.get("photometric").and_then(Value::as_str), Some(name));
        assert_eq!(found.get("ome").and_then(|ome| ome.get("omero")).is_some(), is_named);
    }
}

#[test]
fn masks_are_series_with_levels_of_their_own() {
    let mut file = Made::new();
    for (side, value, kind) in [(8, 0, 0), (8, 1, 4), (4, 2, 1), (4, 3, 5)] {
        file.filled(side, value, &[(254, 4, vec![kind])]);
    }
    let (store, _) = file.opened();
    let found = ["/0/0", "/1/0", "/0/1", "/1/1"].map(|path| read(&store, path).1[0]);
    assert_eq!(found, [0, 1, 2, 3]);
}

#[test]
fn levels_below_a_page_are_found_from_the_finest() {
    let mut file = Made::new();
    let mut level = |side: u64, value: u8| {
        let at = file.data(&vec![value; (side * side) as usize]);
        file.directory(&gray([side, side], side, &[at], &[side * side]))
    };
    // Lengths of a pyramid whose ratios to the first are rounded: each is half of the one before, rounded up.
    let below = vec![level(8, 3), level(32, 1), level(16, 2), level(16, 9)];
    file.filled(63, 0, &[(330, 4, below)]);
    let (store, warnings) = file.opened();
    assert!(warnings.len() == 1 && warnings[0].contains("a second level of 16 x 16 pixels"), "{warnings:?}");
    for (path, side, value) in [("/0", 63, 0), ("/1", 32, 1), ("/2", 16, 2), ("/3", 8, 3)] {
        assert_eq!(read(&store, path), (vec![side, side], vec![value; (side * side) as usize]), "{path}");
    }
    let attributes = attributes(&store);
    let scale = |level: usize| {
        let at = format!("/ome/multiscales/0/datasets/{level}/coordinateTransformations/0/scale/0");
        attributes.as_object().unwrap().pointer(&at).and_then(Value::as_f64).unwrap()
    };
    assert_eq!([0, 1, 2, 3].map(scale), [1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn numbers_of_pages_and_levels_are_bounded() {
    let mut file = Made::new();
    file.filled(1, 0, &[(270, 2, text("ImageJ=1\nimages=2000000\n"))]);
    file.data(&vec![0; 2_000_000]);
    let (_, warnings) = file.opened();
    assert!(warnings[0].contains("2000000 pages, the limit of such pages is 1048576"), "{warnings:?}");
    let mut file = Made::new();
    for side in (230..300).rev() {
        file.filled(side, 0, &[(254, 4, vec![u64::from(side < 299)])]);
    }
    let (_, warnings) = file.opened();
    assert!(warnings[0].contains("there are more than 64 levels"), "{warnings:?}");
    // Points that tie a page to the Earth.
    let mut file = Made::new();
    file.filled(2, 0, &[(33922, 12, vec![0; 300_000])]);
    let (_, warnings) = file.opened();
    assert!(warnings[0].contains("has more than 262144 numbers, and is left out"), "{warnings:?}");
}

#[test]
fn one_number_of_a_large_value_is_read() {
    let mut file = Made::new();
    let at = file.data(&[5; 80]);
    let mut entries = gray([0, 1], 1, &[at], &[73]);
    entries[0] = (256, 1, vec![0; 8]);
    file.page(&entries);
    // The width becomes the first byte of the file, of very many.
    let width = file.bytes.len() - 4 - 12 * entries.len();
    file.bytes[width + 4..width + 8].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
    file.bytes[width + 8..width + 12].copy_from_slice(&0_u32.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tif");
    std::fs::write(&path, &file.bytes).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(5 << 30).unwrap();
    let counted = Arc::new(Counted::new(FilesystemStore::open(folder.path()).unwrap()));
    let store: Arc<dyn Store> = Arc::new(zarr_tiff::open(counted.clone(), key(), "x.tif").unwrap());
    assert_eq!(read(&store, "/0").0, [1, 73]);
    assert!(counted.take().bytes_read < 1 << 20);
}

#[test]
fn chunks_have_no_more_bytes_than_their_samples_explain() {
    let mut file = Made::new();
    let at = file.data(&vec![0; 1_000_000]);
    let mut entries = gray([16, 16], 16, &[at], &[1_000_000]);
    entries.push((259, 3, vec![5]));
    file.page(&entries);
    let (_, warnings) = file.opened();
    assert!(warnings[0].contains("chunk 0 has 1000000 bytes in the file for 256 bytes of samples"), "{warnings:?}");
    // Without compression the rest is not read.
    let mut file = Made::new();
    let at = file.data(&vec![7; 1_000_000]);
    let mut entries = gray([16, 15], 10, &[at, at + 500], &[160, 900_000]);
    entries[2].2 = vec![1];
    file.page(&entries);
    let below = MemoryStore::new();
    below.set_all(&key(), &file.bytes).unwrap();
    let counted = Arc::new(Counted::new(below));
    let store: Arc<dyn Store> = Arc::new(zarr_tiff::open(counted.clone(), key(), "x.tif").unwrap());
    counted.take();
    let read = zarr::open((&store, "/0")).array().unwrap().read::<bool>(..).unwrap();
    assert_eq!((read.len(), counted.take().bytes_read), (240, 30));
}

#[test]
fn directories_far_from_each_other_are_read_by_small_gets() {
    let (count, distance) = (200_u64, 16 << 20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tif");
    let mut out = std::fs::File::create(&path).unwrap();
    let write = |out: &mut std::fs::File, at: u64, bytes: &[u8]| {
        use std::io::{Seek, SeekFrom, Write};
        out.seek(SeekFrom::Start(at)).unwrap();
        out.write_all(bytes).unwrap();
    };
    write(&mut out, 0, b"II*\0");
    write(&mut out, 4, &(distance as u32).to_le_bytes());
    for page in 1..=count {
        let at = page * distance;
        let entries = gray([100, 100], 100, &[at + 4096], &[10_000]);
        let mut directory = Made { bytes: Vec::new(), link: 0 };
        // The description lies behind the directory.
        directory.directory(&[&entries[..], &[(270, 2, vec![0; 4])]].concat());
        let mut bytes = directory.bytes;
        let (end, value) = (bytes.len(), bytes.len() - 12);
        bytes[value..value + 4].copy_from_slice(&100_u32.to_le_bytes());
        bytes[value + 4..value + 8].copy_from_slice(&(at as u32 + 2048).to_le_bytes());
        let next = if page < count { at + distance } else { 0 };
        bytes[end - 4..].copy_from_slice(&(next as u32).to_le_bytes());
        write(&mut out, at, &bytes);
        write(&mut out, at + 2048, format!("page {page}").as_bytes());
    }
    out.set_len((count + 1) * distance).unwrap();
    let far = testing::Altered::new(FilesystemStore::open(folder.path()).unwrap()).with_profile(AccessProfile::REMOTE);
    let counted = Arc::new(Counted::new(far));
    let store: Arc<dyn Store> = Arc::new(zarr_tiff::open(counted.clone(), key(), "x.tif").unwrap());
    let counts = counted.take();
    assert!(counts.gets <= count + 2 && counts.bytes_read <= (count + 2) << 20, "{counts:?}");
    assert_eq!(zarr::open((&store, "/0")).array().unwrap().shape(), [200, 100, 100]);
}

#[test]
fn damaged_parts_are_left_out_alone() {
    let warning = |file: &Made, path: &str, expected: &str| {
        let (store, warnings) = file.opened();
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{warnings:?}");
        assert_eq!(read(&store, path).0.last(), Some(&4));
    };
    // A text beyond the end of the file.
    let mut file = Made::new();
    file.filled(4, 1, &[(305, 2, vec![0; 4])]);
    let end = file.bytes.len();
    file.bytes[end - 12..end - 4].copy_from_slice(&[100, 0, 0, 0, 0xff, 0xff, 0, 0]);
    warning(&file, "/0", "left out: page 0, tag Software (305)");
    // Keys of another type.
    let mut file = Made::new();
    file.filled(4, 1, &[(34735, 7, vec![0; 8])]);
    warning(&file, "/0", "left out: page 0, tag GeoKeyDirectoryTag (34735)");
    // A level outside of the file.
    let mut file = Made::new();
    file.filled(4, 1, &[(330, 4, vec![99_999])]);
    warning(&file, "/0", "page 0: level 1 is left out: byte 99999");
    // A last page that is cut off.
    let mut file = Made::new();
    file.filled(4, 1, &[]);
    file.filled(4, 2, &[]);
    file.bytes.truncate(file.bytes.len() - 20);
    warning(&file, "/0", "the pages from 1 on are left out: byte");
    // A page without pixels.
    let mut file = Made::new();
    file.filled(4, 1, &[]);
    file.page(&gray([0, 4], 4, &[8], &[16]));
    warning(&file, "/0", "page 1 is left out: page 1, tag ImageWidth (256)");
    // JPEG of components that no decoder has.
    let mut file = Made::new();
    file.filled(4, 1, &[]);
    file.filled(5, 1, &[(259, 3, vec![7]), (277, 3, vec![2])]);
    warning(&file, "/0", "page 1 is left out: JPEG of 2 components is not read");
}

/// The entries of integers of the first page of a classic file, little-endian.
fn entries(bytes: &[u8]) -> Vec<Entry> {
    let number =
        |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let first = number(4, 4) as usize;
    let mut entries = Vec::new();
    for at in (0..number(first, 2) as usize).map(|entry| first + 2 + 12 * entry) {
        let (tag, kind, count) = (number(at, 2) as u16, number(at + 2, 2) as u16, number(at + 4, 4) as usize);
        let size = match kind {
            1 => 1,
            3 => 2,
            4 => 4,
            _ => continue,
        };
        let from = if count * size > 4 { number(at + 8, 4) as usize } else { at + 8 };
        entries.push((tag, kind, (0..count).map(|value| number(from + value * size, size)).collect()));
    }
    entries
}

/// The tables of a JPEG, and the rest of it.
fn without_tables(jpeg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut tables, mut rest, mut at) = (jpeg[..2].to_vec(), jpeg[..2].to_vec(), 2);
    while jpeg[at + 1] != 0xda {
        let end = at + 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        let to = if matches!(jpeg[at + 1], 0xc4 | 0xdb) { &mut tables } else { &mut rest };
        to.extend_from_slice(&jpeg[at..end]);
        at = end;
    }
    tables.extend([0xff, 0xd9]);
    rest.extend_from_slice(&jpeg[at..]);
    (tables, rest)
}

#[test]
fn chunks_of_jpeg_may_have_their_tables_in_common() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tiff/jpeg_rgb.tif");
    let whole = std::fs::read(path).unwrap();
    let mut entries = entries(&whole);
    let values = |tag| entries.iter().find(|(found, ..)| *found == tag).unwrap().2.clone();
    let (mut file, mut tables, mut places) = (Made::new(), Vec::new(), Vec::new());
    for (offset, count) in values(324).into_iter().zip(values(325)) {
        let (found, rest) = without_tables(&whole[offset as usize..(offset + count) as usize]);
        assert!(tables.is_empty() || tables == found);
        tables = found;
        places.push((file.data(&rest), rest.len() as u64));
    }
    entries.retain(|(tag, ..)| !matches!(tag, 324 | 325));
    entries.push((324, 4, places.iter().map(|(offset, _)| *offset).collect()));
    entries.push((325, 4, places.iter().map(|(_, count)| *count).collect()));
    entries.push((347, 7, tables.into_iter().map(u64::from).collect()));
    file.page(&entries);
    let mut expected = Made::new();
    expected.bytes = whole;
    assert_eq!(read(&file.opened().0, "/0"), read(&expected.opened().0, "/0"));
}
