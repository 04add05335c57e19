//! TIFF files as stores: what tifffile reads from the same files (`python/tests/tiff_files.py`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use zarr::geo::{Crs, Georeference, Registration, Transform};
use zarr::store::{
    AccessProfile, Counted, ErrorKind, FilesystemStore, GeoReference, Key, MemoryStore, ReadOnly, Result, Store,
    StoreExt, StoreOptions, VirtualStore, schemes, testing,
};
use zarr_json::Value;
use zarr_testserver::{Bucket, TestServer};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tiff")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.tif"))).unwrap()
}

fn open(bytes: &[u8]) -> Result<VirtualStore> {
    let below = MemoryStore::new();
    below.set_all(&Key::new("x.tif").unwrap(), bytes).unwrap();
    zarr_tiff::open(Arc::new(below), Key::new("x.tif").unwrap(), "x.tif")
}

/// The store of a fixture, and the same file as a value in memory that is far away.
fn stores(name: &str) -> [Arc<dyn Store>; 2] {
    let local = FilesystemStore::open(folder()).unwrap();
    let below = MemoryStore::new();
    below.set_all(&Key::new("x.tif").unwrap(), &bytes(name)).unwrap();
    let far = testing::Altered::new(below).with_profile(AccessProfile::REMOTE);
    let key = |name: &str| Key::new(name).unwrap();
    let local = zarr_tiff::open(Arc::new(local), key(&format!("{name}.tif")), name).unwrap();
    [Arc::new(local), Arc::new(zarr_tiff::open(Arc::new(far), key("x.tif"), "x.tif").unwrap())]
}

fn attributes(name: &str) -> zarr_json::Map {
    let [store, _] = stores(name);
    zarr::open(&store).group().unwrap().attributes().unwrap().clone()
}

fn at<'v>(value: &'v zarr_json::Map, pointer: &str) -> &'v Value {
    value.pointer(pointer).ok_or_else(|| format!("{pointer} in {value:?}")).unwrap()
}

/// The elements in C order, little-endian.
fn little(data: &zarr_array::ArrayData) -> Vec<u8> {
    let mut items = data.items().to_vec();
    if cfg!(target_endian = "big") {
        items.chunks_exact_mut(data.data_type().item_size()).for_each(<[u8]>::reverse);
    }
    items
}

#[test]
fn files_are_read_as_tifffile_reads_them() {
    let expected = Value::from_json(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap();
    let files = expected.as_object().unwrap();
    assert!(files.len() >= 25);
    let mut count = 0;
    for (name, arrays) in files.iter() {
        for store in stores(name) {
            assert_eq!(store.take_warnings(), Vec::<String>::new(), "{name}");
            let arrays = arrays.as_object().unwrap();
            let walk = zarr::hierarchy::walk(&*store, "/", None).unwrap();
            let listed = walk.nodes.iter().filter(|node| node.node.as_array().is_some()).count();
            assert_eq!((listed, walk.broken.len()), (arrays.len(), 0), "{name}");
            for (path, expected) in arrays.iter() {
                let array = zarr::open((&store, format!("/{path}").as_str())).array().unwrap();
                let shape: Vec<u64> = at(expected.as_object().unwrap(), "/shape")
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|len| len.as_u64().unwrap())
                    .collect();
                assert_eq!(array.shape(), shape, "{name} {path}");
                assert_eq!(
                    array.data_type().to_string(),
                    expected.get("type").unwrap().as_str().unwrap(),
                    "{name} {path}"
                );
                let data = array.read_data(..).unwrap();
                if name.starts_with("jpeg") {
                    // Decoders differ in their last bits, and in how they make colours that are stored at half the resolution.
                    let elements = expected.get("elements").unwrap().as_str().unwrap();
                    let elements = base64::engine::general_purpose::STANDARD.decode(elements).unwrap();
                    let found = data.to_vec::<u8>().unwrap();
                    assert_eq!(found.len(), elements.len(), "{name} {path}");
                    let most = found.iter().zip(&elements).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
                    assert!(most <= 4, "{name} {path}: {most}");
                } else {
                    let mut crc = flate2::Crc::new();
                    crc.update(&little(&data));
                    assert_eq!(u64::from(crc.sum()), expected.get("crc32").unwrap().as_u64().unwrap(), "{name} {path}");
                }
                count += 1;
            }
        }
    }
    assert!(count >= 60, "{count} arrays");
}

#[test]
fn stores_of_files_keep_the_contract_of_reading() {
    for name in ["zlib_little_strips", "differences_uint16", "levels_below", "sparse"] {
        for store in stores(name) {
            let keys = store.list().unwrap();
            let values: Vec<_> = keys.iter().map(|key| store.get_all(key).unwrap().unwrap()).collect();
            let values: Vec<(&str, &[u8])> =
                keys.iter().map(|key| key.as_str()).zip(values.iter().map(|value| &**value)).collect();
            testing::contract_read(&*store, &values);
            testing::contract_read_only(&*store);
        }
    }
}

#[test]
fn a_file_is_opened_by_one_request_and_read_by_ranges() {
    let below = MemoryStore::new();
    below.set_all(&Key::new("x.tif").unwrap(), &bytes("levels_after")).unwrap();
    let counted = Arc::new(Counted::new(below));
    let store: Arc<dyn Store> =
        Arc::new(zarr_tiff::open(counted.clone(), Key::new("x.tif").unwrap(), "x.tif").unwrap());
    assert_eq!(counted.take().gets, 1);
    let array = zarr::open((&store, "/2")).array().unwrap();
    assert_eq!((array.shape(), counted.take().gets), (&[16, 12][..], 0));
    let tile = array.read::<u16>(..).unwrap();
    assert_eq!((tile.len(), counted.take().gets), (192, 1));

    let below = MemoryStore::new();
    below.set_all(&Key::new("x.tif").unwrap(), &bytes("imagej_one_directory")).unwrap();
    let counted = Arc::new(Counted::new(below));
    let store: Arc<dyn Store> =
        Arc::new(zarr_tiff::open(counted.clone(), Key::new("x.tif").unwrap(), "x.tif").unwrap());
    let array = zarr::open((&store, "/0")).array().unwrap();
    counted.take();
    // Of strips that are not compressed the elements alone are read.
    assert_eq!(array.read::<u16>([1..2, 3..4, 5..7]).unwrap().len(), 2);
    let counts = counted.take();
    assert_eq!((counts.gets, counts.bytes_read), (1, 4));
}

#[test]
fn files_are_found_by_their_first_bytes_and_by_their_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    std::fs::write(&path, bytes("strips_int16")).unwrap();
    let path = path.to_str().unwrap();
    for address in [path.to_owned(), format!("tiff:{path}")] {
        let array = zarr::open(format!("{address}::/0").as_str()).array().unwrap();
        assert_eq!(array.shape(), [37, 29]);
    }
    assert_eq!(zarr::open(format!("{path}/0").as_str()).array().unwrap().shape(), [37, 29]);
    let error = zarr::store::create(path).unwrap_err();
    assert!(error.is_read_only(), "{error}");
    let error = zarr::store::open_with(path, &StoreOptions::new().set("locks", "true")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let missing = format!("tiff:{path}x");
    assert!(zarr::store::open(&missing).unwrap_err().is_not_found());
    assert!(schemes().get("tiff").is_some());
    std::fs::write(path, "no TIFF").unwrap();
    let error = zarr::store::open(&format!("tiff:{path}")).unwrap_err();
    let expected = "found \"no T\", expected a TIFF file, which begins with II or MM and 42 or 43";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[test]
fn descriptions_are_axes_units_and_channels() {
    let found = attributes("ome_tczyx");
    let image = "/ome/multiscales/0";
    let names: Vec<&str> = at(&found, &format!("{image}/axes"))
        .as_array()
        .unwrap()
        .iter()
        .map(|axis| axis.get("name").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(names, ["t", "c", "z", "y", "x"]);
    assert_eq!(at(&found, &format!("{image}/axes/2/unit")).as_str(), Some("micrometer"));
    let scale = at(&found, &format!("{image}/datasets/0/coordinateTransformations/0/scale"));
    assert_eq!(scale.to_string(), "[0.1,1.0,2.0,0.5,0.25]");
    assert_eq!(at(&found, "/ome/omero/channels/1/label").as_str(), Some("GFP"));
    assert!(found.get("ome_xml").unwrap().as_str().unwrap().contains("<Pixels"));

    let found = attributes("imagej");
    assert_eq!(at(&found, &format!("{image}/axes/0/name")).as_str(), Some("t"));
    let scale = at(&found, &format!("{image}/datasets/0/coordinateTransformations/0/scale"));
    assert_eq!(scale.to_string(), "[0.25,1.0,0.5,0.25,0.25]");

    let found = attributes("ome_levels");
    let scale = at(&found, &format!("{image}/datasets/1/coordinateTransformations/0/scale"));
    assert_eq!(scale.to_string(), "[1.0,2.0,2.0]");
    assert_eq!(attributes("ome_images").get("ome").unwrap().get("bioformats2raw.layout"), Some(&Value::from(3)));
    let found = attributes("palette");
    assert_eq!(at(&found, "/color_map/2").to_string(), "[160,20640,41120]");
}

#[test]
fn places_on_the_earth_are_those_of_geotiff() {
    let found = attributes("geotiff");
    let place = GeoReference::of(&found).unwrap();
    assert_eq!(place.transform, Some([10.0, 0.0, 5e5, 0.0, -10.0, 4.6e6]));
    assert_eq!((place.epsg, place.is_point), (Some(32633), false));
    assert_eq!(at(&found, "/geotiff/keys/GTModelTypeGeoKey").as_u64(), Some(1));
    assert!(found.get("ome").is_none());
    let [store, _] = stores("geotiff");
    let array = zarr::open((&store, "/0")).array().unwrap();
    assert_eq!(array.fill_value().to_json(array.data_type()), Value::from(-9999));
    assert_eq!(array.attributes().unwrap().get("_FillValue"), Some(&Value::from(-9999)));
    // Attributes of GeoZarr, of the array and of its group.
    let place = Georeference::read(array.attributes().unwrap()).unwrap();
    assert_eq!(place.transform, Some(Transform([10.0, 0.0, 5e5, 0.0, -10.0, 4.6e6])));
    assert_eq!((place.shape, place.crs), (Some([48, 64]), Some(Crs::epsg(32633))));
    assert_eq!((place.dimensions, place.registration), (Some(["y", "x"].map(str::to_owned)), Registration::Pixel));
    let of_group = Georeference::read(&found).unwrap();
    let extent = Some([5e5, 4.6e6 - 480.0, 5e5 + 640.0, 4.6e6]);
    assert_eq!((place.bbox, of_group.bbox, of_group.transform), (extent, extent, None));
    assert!(place.faults.is_empty() && of_group.faults.is_empty(), "{:?} {:?}", place.faults, of_group.faults);
}

#[test]
fn a_replaced_tiff_file_is_refused() {
    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    for (name, read_as) in [("zlib_little_strips", "deflate"), ("differences_uint16", "LZW")] {
        let whole = bytes(name);
        server.put("files", "x.tif", whole.clone());
        let store = zarr::store::open(&format!("tiff:{}/files/x.tif", server.url())).unwrap();
        let read = || zarr::open((&store, "/0")).array().unwrap().read::<u16>(..);
        assert!(read().is_ok(), "{read_as}");
        server.put("files", "x.tif", [&whole[..], &[0]].concat());
        let error = read().unwrap_err();
        assert!(error.with_causes().to_string().contains("was replaced after it was opened"), "{read_as}: {error}");
    }
}

/// The offset of an entry of the first page of a classic little-endian file.
fn entry(bytes: &[u8], tag: u16) -> usize {
    let number =
        |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let first = number(4, 4);
    let entries = (0..number(first, 2)).map(|entry| first + 2 + 12 * entry);
    entries.into_iter().find(|at| number(*at, 2) == usize::from(tag)).unwrap()
}

fn changed(name: &str, tag: u16, value: u32) -> Result<VirtualStore> {
    let mut bytes = bytes(name);
    let at = entry(&bytes, tag);
    bytes[at + 8..at + 12].copy_from_slice(&value.to_le_bytes());
    open(&bytes)
}

/// Pages that are not read are named, and the rest of the file is opened.
#[test]
fn pages_that_are_not_read_are_left_out_with_the_reason() {
    for (name, tag, value, expected) in [
        ("zlib_little_strips", 259, 34887, "page 0 is left out: compression 34887 (LERC) is not read"),
        ("zlib_little_strips", 259, 33005, "page 0 is left out: compression 33005 (JPEG 2000) is not read"),
        ("zlib_little_strips", 258, 12, "page 0 is left out: unsigned integers of 12 bits are not read"),
        ("strips_int16", 339, 5, "page 0 is left out: complex integers of 16 bits are not read"),
        ("differences_uint16", 317, 7, "page 0 is left out: predictor 7 of uint16 is not read"),
    ] {
        let store = changed(name, tag, value).unwrap();
        assert_eq!(store.take_warnings(), [expected]);
        assert!(store.get_all(&Key::new("zarr.json").unwrap()).unwrap().is_some());
    }
    let mut bytes = bytes("levels_after");
    let at = entry(&bytes, 259);
    bytes[at + 8..at + 12].copy_from_slice(&50001_u32.to_le_bytes());
    let store = open(&bytes).unwrap();
    assert_eq!(store.take_warnings(), ["page 0 is left out: compression 50001 (WebP) is not read"]);
    let store: Arc<dyn Store> = Arc::new(store);
    assert_eq!(zarr::open((&store, "/0")).array().unwrap().shape(), [32, 24]);
}

#[test]
fn faults_have_the_page_the_tag_and_the_offset() {
    let text = |opened: Result<VirtualStore>| match opened {
        Ok(_) => panic!("it is opened"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            error.to_string()
        }
    };
    let whole = bytes("strips_int16");
    let at = |tag| entry(&whole, tag);
    for (tag, value, expected) in [
        (256, 0, "tag ImageWidth (256) at byte {at}: found 0, expected a number of pixels from 1 on"),
        (278, 0, "tag RowsPerStrip (278) at byte {at}: found 0, expected a number of pixels from 1 on"),
        (
            273,
            999_999,
            "tag StripOffsets (273) at byte {at}: found chunk 0 of 2146 bytes at byte 999999, expected one inside the file",
        ),
        (278, 1, "tag StripOffsets (273) at byte {offsets}: found 1 values, expected 37, one for each chunk"),
    ] {
        let expected = expected.replace("{at}", &at(tag).to_string()).replace("{offsets}", &at(273).to_string());
        let found = text(changed("strips_int16", tag, value));
        assert!(found.starts_with("x.tif: page 0, ") && found.contains(&expected), "{found}\n{expected}");
    }
    // A list of pages that leads back to its beginning.
    let mut bytes = whole.clone();
    let first = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
    let count = usize::from(bytes[first as usize]);
    let next = first as usize + 2 + 12 * count;
    bytes[next..next + 4].copy_from_slice(&first.to_le_bytes());
    let found = text(open(&bytes));
    assert!(
        found.contains(&format!("byte {first}: found a directory that is in the list of pages already")),
        "{found}"
    );
    for len in [0, 3, 7, 8, 100] {
        text(open(&whole[..len]));
    }
    // A chunk whose stream is damaged.
    let mut bytes = self::bytes("differences_uint16");
    let at = bytes.len() / 2;
    bytes[at..at + 400].fill(0xff);
    let store: Arc<dyn Store> = Arc::new(open(&bytes).unwrap());
    let error = zarr::open((&store, "/0")).array().unwrap().read::<u16>(..).unwrap_err().to_string();
    assert!(error.contains("array /0, chunk ") && error.contains(" at byte "), "{error}");
}

/// A page of very many pixels costs what the file has, and not more.
#[test]
fn claims_of_files_are_not_believed() {
    for (tag, value) in [(256, u32::MAX), (257, u32::MAX), (322, u32::MAX), (323, u32::MAX)] {
        match changed("sparse", tag, value) {
            Ok(store) => {
                let store: Arc<dyn Store> = Arc::new(store);
                if let Ok(array) = zarr::open((&store, "/0")).array() {
                    let _ = array.read_data([0..1, 0..1]);
                }
            }
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Limit), "{error}"),
        }
    }
    for text in
        ["ImageJ=1\nimages=4294967295\n", "ImageJ=1\nimages=18446744073709551615\nframes=18446744073709551615\n"]
    {
        let mut bytes = bytes("imagej_one_directory");
        let at = bytes.windows(7).position(|found| found == b"ImageJ=").unwrap();
        bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
        bytes[at + text.len()] = 0;
        let store = open(&bytes).unwrap();
        let warnings = store.take_warnings();
        assert!(warnings.iter().any(|warning| warning.contains("the file has room for")), "{warnings:?}");
    }
}

/// Each byte of small files is changed, to several others: errors or other values, and no panic.
#[test]
fn damaged_files_are_errors() {
    let (mut refused, mut opened) = (0, 0);
    for name in ["strips_bool", "sparse", "jpeg_rgb", "ome_images", "floats_float16_big", "palette"] {
        let whole = bytes(name);
        for at in 0..whole.len().min(1000) {
            for change in [0xff, 0x80, 0x01] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                match open(&bytes) {
                    Ok(store) => {
                        opened += 1;
                        read(Arc::new(ReadOnly(store)));
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Limit), "{error}");
                    }
                }
            }
        }
    }
    assert!(refused > 500 && opened > 500, "{refused} refused, {opened} opened");
}

fn read(store: Arc<dyn Store>) {
    for path in ["/0", "/1", "/0/0"] {
        let Ok(array) = zarr::open((&store, path)).array() else { continue };
        let count = array.shape().iter().try_fold(1_u64, |product, len| product.checked_mul(*len));
        if count.is_none_or(|count| count >= 1 << 16) {
            continue;
        }
        if let Err(error) = array.read_data(..) {
            use zarr::ErrorKind as K;
            let kinds = [K::InvalidMetadata, K::CorruptChunk, K::ChecksumMismatch, K::Limit];
            assert!(kinds.contains(&error.kind()), "{error:?}");
        }
    }
}
