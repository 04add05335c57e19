//! References in Parquet that fsspec and pyarrow wrote (`tests/fixtures/references_parquet.py`): the same keys and values as those in JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr::store::{Key, ParquetWriter, Prefix, Reference, Store, StoreExt, testing};
use zarr_json::Value;
use zarr_testserver::{Bucket, TestServer};

/// A folder with the file of the references, the references in JSON, and those in Parquet.
fn unpacked() -> tempfile::TempDir {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folder = tempfile::tempdir().unwrap();
    for name in ["netcdf/cdf1.nc", "references/inlined.json", "references/ranges.json"] {
        let from = fixtures.join(name);
        std::fs::copy(&from, folder.path().join(from.file_name().unwrap())).unwrap();
    }
    let archive = std::fs::read(fixtures.join("references/parquet.tar.gz")).unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(&*archive)).unpack(folder.path()).unwrap();
    folder
}

fn text(path: PathBuf) -> String {
    path.to_str().unwrap().to_owned()
}

/// The keys of a store and their values, documents as what they mean.
fn contents(store: &Arc<dyn Store>) -> Vec<(String, Result<Vec<u8>, Value>)> {
    let value = |key: &Key| {
        let value = store.get_all(key).unwrap().unwrap().to_vec();
        let is_document = key.name().starts_with('.');
        if is_document { Err(Value::from_json(std::str::from_utf8(&value).unwrap()).unwrap()) } else { Ok(value) }
    };
    store.list().unwrap().iter().map(|key| (key.as_str().to_owned(), value(key))).collect()
}

#[test]
fn folders_have_what_the_references_in_json_have() {
    let folder = unpacked();
    let names = ["inlined.fastparquet", "ranges.fastparquet", "inlined.pyarrow", "ranges.pyarrow", "ranges.snappy"];
    for name in names.into_iter().chain(["inlined.gzip", "inlined.none"]) {
        let json = folder.path().join(format!("{}.json", name.split('.').next().unwrap()));
        let expected = contents(&zarr::store::open(&text(json)).unwrap());
        let path = text(folder.path().join(name));
        for address in [path.clone(), format!("references:{path}"), format!("references:{path}/")] {
            let store = zarr::store::open(&address).unwrap();
            assert_eq!(store.to_string(), path);
            assert_eq!(contents(&store), expected, "{address}");
            assert_eq!(store.take_warnings(), [""; 0]);
        }
        let store = zarr::store::open(&path).unwrap();
        let keys = store.list().unwrap();
        let values: Vec<_> = keys.iter().map(|key| store.get_all(key).unwrap().unwrap()).collect();
        let values: Vec<(&str, &[u8])> =
            keys.iter().map(|key| key.as_str()).zip(values.iter().map(|value| &**value)).collect();
        testing::contract_read(&*store, &values);
        testing::contract_read_only(&*store);
        testing::check_sizes(&*store, &Prefix::root());
        assert!(zarr::store::create(&path).unwrap_err().is_read_only());
    }
    let store = zarr::store::open(&text(folder.path().join("ranges.lz4"))).unwrap();
    let error = store.get_all(&Key::new("time/0").unwrap()).unwrap_err().to_string();
    let expected = "time/refs.0.parq: column path: found compression by LZ4_RAW, expected zstd, snappy, gzip or none";
    assert!(error.ends_with(expected), "{error}");
    store.get_all(&Key::new("time/.zarray").unwrap()).unwrap().unwrap();
}

#[test]
fn references_written_again_are_the_same() {
    let folder = unpacked();
    for (name, record_size) in [("inlined", 2), ("ranges", 1), ("ranges", 100)] {
        let json =
            Value::from_json(&std::fs::read_to_string(folder.path().join(format!("{name}.json"))).unwrap()).unwrap();
        let references = json.get("refs").unwrap().as_object().unwrap();
        let written = folder.path().join("written.parq");
        let files: Arc<dyn Store> = zarr::store::create(&text(folder.path().to_owned())).unwrap();
        let mut writer = ParquetWriter::new(files, Prefix::new("written.parq/").unwrap(), record_size).unwrap();
        let (documents, chunks): (Vec<_>, Vec<_>) = references.iter().partition(|(key, _)| key.contains(".z"));
        for (key, document) in documents {
            writer.document(key, document.as_str().unwrap().as_bytes()).unwrap();
        }
        let mut by_array = std::collections::BTreeMap::<&str, Vec<(u64, &Value)>>::new();
        for (key, value) in &chunks {
            let (array, chunk) = key.split_once('/').unwrap();
            // All arrays of the file have one axis that is in chunks: the first.
            by_array.entry(array).or_default().push((chunk.split('.').next().unwrap().parse().unwrap(), value));
        }
        for (array, mut chunks) in by_array {
            chunks.sort_by_key(|(index, _)| *index);
            let mut references = writer.array(array).unwrap();
            for (index, value) in chunks {
                match value {
                    Value::Array(range) => {
                        let number = |at: usize| range[at].as_u64().unwrap();
                        let (offset, length) = (number(1), number(2));
                        let url = range[0].as_str().unwrap();
                        references.push(index, &Reference::range(url, offset, length)).unwrap();
                    }
                    value => {
                        let text = value.as_str().unwrap();
                        let decoded = text
                            .strip_prefix("base64:")
                            .map(|text| base64::Engine::decode(&base64::prelude::BASE64_STANDARD, text).unwrap());
                        references
                            .push(index, &Reference::Inline(decoded.unwrap_or_else(|| text.as_bytes().to_vec()).into()))
                            .unwrap();
                    }
                }
            }
            references.finish().unwrap();
        }
        writer.finish().unwrap();
        let expected = contents(&zarr::store::open(&text(folder.path().join(format!("{name}.json")))).unwrap());
        assert_eq!(contents(&zarr::store::open(&text(written.clone())).unwrap()), expected, "{name}");
        std::fs::remove_dir_all(written).unwrap();
    }
}

#[test]
fn folders_are_read_in_buckets_and_on_the_web() {
    let folder = unpacked();
    let server =
        TestServer::builder().bucket("data", Bucket::s3().public()).bucket("web", Bucket::plain()).start().unwrap();
    for bucket in ["data", "web"] {
        server.load(bucket, folder.path()).unwrap();
    }
    let expected = contents(&zarr::store::open(&text(folder.path().join("ranges.json"))).unwrap());
    let options = zarr::store::StoreOptions::new();
    let s3 = zarr::store::StoreOptions::new().set("endpoint", server.url()).set("anonymous", "true");
    let s3 = s3.set("allow_http", "true").set("region", "x");
    let web = format!("references:{}/web", server.url());
    for (address, options) in [
        (format!("{web}/ranges.pyarrow"), &options),
        (format!("{web}/ranges.fastparquet/"), &options),
        ("references:s3://data/ranges.fastparquet".to_owned(), &s3),
    ] {
        let store = zarr::store::open_with(&address, options).unwrap();
        for (key, expected) in &expected {
            let value = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
            if let Ok(expected) = expected {
                assert_eq!(&*value, &**expected, "{address}: {key}");
            }
        }
        let array = zarr::open((&store, "/time")).array().unwrap();
        let all =
            zarr::open((&zarr::store::open(&text(folder.path().join("cdf1.nc"))).unwrap(), "/time")).array().unwrap();
        let values = |array: &zarr_array::Array| {
            let data = array.read_data(..).unwrap();
            (0..data.len()).map(|index| data.json(index)).collect::<Vec<_>>()
        };
        assert_eq!(values(&array), values(&all), "{address}");
    }
    // Not by its content: each request of an address far away has a price.
    let plain = zarr::store::open_with("s3://data/ranges.pyarrow", &s3).unwrap();
    let signature = zarr::store::signature_of_store(&*plain).unwrap();
    assert_eq!(
        (signature.what, signature.hint.as_str()),
        ("references of kerchunk in Parquet", "references:ADDRESS opens them")
    );
}
