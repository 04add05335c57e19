//! Facts of each codec that has an `id`: its object type, its place in a document of version 2, the types that it names, and how
//! its configuration is translated.

use super::*;
use crate::codec_facts::{CODECS, CodecFacts};
use crate::filter_types::{normalize_filter_types, normalize_filter_types_for_ids, without_filter_orders};
use zarr_dtype::DataType;
use zarr_json::json;

/// Codecs of objects, each with the data type of an array that uses the codec.
const OBJECTS: [(&str, &str); 9] = [
    ("categorize", "string"),
    ("json", "v2_object"),
    ("json2", "v2_object"),
    ("msgpack", "v2_object"),
    ("msgpack2", "v2_object"),
    ("pickle", "v2_object"),
    ("vlen-array", "vlen-array"),
    ("vlen-bytes", "bytes"),
    ("vlen-utf8", "string"),
];

/// Codecs that are filters in documents of version 2 wherever they are in a chain, besides [`OBJECTS`].
const FILTERS: [&str; 14] = [
    "adler32",
    "astype",
    "base64",
    "bitround",
    "bitshuffle",
    "crc32",
    "crc32c",
    "delta",
    "fixedscaleoffset",
    "fletcher32",
    "jenkins_lookup3",
    "packbits",
    "quantize",
    "shuffle",
];

/// Returns the codecs that have an `id`.
fn with_id() -> impl Iterator<Item = (&'static str, &'static CodecFacts)> {
    CODECS.iter().filter_map(|codec| Some((codec.id?, codec)))
}

fn number() -> NumpyType {
    NumpyType::Number(DataType::Int32)
}

fn object_type(id: &str) -> Option<&'static str> {
    OBJECTS.iter().find(|(known, _)| *known == id).map(|(_, data_type)| *data_type)
}

#[test]
fn the_first_filter_of_objects_says_the_data_type() {
    for (id, codec) in with_id() {
        let stored = json!({"id": id, "dtype": "<i4"});
        let read = to_model(&[At::root(&stored)], &NumpyType::Object, &ByteOrder::Irrelevant);
        match (read, object_type(id)) {
            (Ok((data_type, codecs)), Some(expected)) => {
                assert_eq!((data_type.name.as_str(), codecs[0].name.as_str()), (expected, codec.v3), "{id}");
            }
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{id}"),
            (read, expected) => panic!("{id}: {read:?}, expected {expected:?}"),
        }
    }
    // One that is not known may be for objects.
    let mine = json!({"id": "mine"});
    assert!(to_model(&[At::root(&mine)], &NumpyType::Object, &ByteOrder::Irrelevant).is_ok());
}

#[test]
fn the_last_codec_is_the_compressor_if_it_compresses() {
    for (id, codec) in with_id() {
        let (own, bytes) = (NamedConfig::new(codec.v3), codecs::bytes(Some("little")));
        let chain = match codec.kind {
            Kind::ArrayToArray => vec![own, bytes],
            Kind::ArrayToBytes => vec![own],
            Kind::BytesToBytes => vec![bytes, own],
        };
        let dtype = if object_type(id).is_some() { NumpyType::Object } else { number() };
        let stored = from_model(&chain, 0, &dtype).unwrap();
        let is_filter = object_type(id).is_some() || FILTERS.contains(&id);
        assert_eq!(stored.compressor.is_none(), is_filter, "{id}");
        let written =
            stored.filters.iter().chain(&stored.compressor).map(|codec| codec.get("id").and_then(Value::as_str));
        assert_eq!(written.collect::<Vec<_>>(), [Some(id)]);
    }
    let mine = [codecs::bytes(Some("little")), NamedConfig::new("numcodecs.mine")];
    assert!(from_model(&mine, 0, &number()).unwrap().compressor.is_some());
}

#[test]
fn filters_name_the_types_in_front_and_behind() {
    let big = json!({"decode_dtype": ">i4", "dtype": ">i4"});
    for (id, codec) in with_id() {
        let (front, for_v3, for_v2) = match id {
            "delta" | "fixedscaleoffset" => {
                let both = json!({"decode_dtype": ">i4", "dtype": "<i4", "astype": ">i4"});
                (Some("dtype"), both.clone(), both)
            }
            "quantize" => (
                Some("dtype"),
                json!({"decode_dtype": ">i4", "dtype": "<i4"}),
                json!({"decode_dtype": ">i4", "dtype": "<i4", "astype": ">i4"}),
            ),
            "astype" => {
                let both = json!({"decode_dtype": "<i4", "dtype": ">i4", "encode_dtype": ">i4"});
                (Some("decode_dtype"), both.clone(), both)
            }
            _ => (None, big.clone(), big.clone()),
        };
        let filter = NamedConfig::with(codec.v3, big.as_object().unwrap().clone());
        let mut chain = [filter.clone(), codecs::bytes(Some("big"))];
        normalize_filter_types(&mut chain);
        assert_eq!(Value::Object(chain[0].configuration.clone()), for_v3, "{id}");
        let mut chain = [filter.clone(), codecs::bytes(Some("big"))];
        normalize_filter_types_for_ids(&mut chain);
        assert_eq!(Value::Object(chain[0].configuration.clone()), for_v2, "{id}");
        let compared = without_filter_orders(&chain[0]).configuration;
        assert_eq!(compared.len(), 2, "{id}: {compared}");
        // A filter that names no type in front has that of the elements.
        let chain = [NamedConfig::new(codec.v3), codecs::bytes(Some("big"))];
        if codec.kind == Kind::ArrayToArray {
            let stored = from_model(&chain, 0, &number()).unwrap();
            let mut filter = Map::from([("id", Value::from(id))]);
            if let Some(front) = front {
                filter.insert(front, ">i4");
            }
            assert_eq!(stored.filters, [Value::Object(filter)]);
        }
    }
}

#[test]
fn the_elements_behind_a_filter_are_of_the_type_that_it_names() {
    // The codec behind shuffles or compresses elements of the size that it is told.
    let typesize = |filter: Value| {
        let blosc = json!({"id": "blosc"});
        let stored = [At::root(&filter), At::root(&blosc)];
        let (_, codecs) = to_model(&stored, &number(), &ByteOrder::Little).unwrap();
        codecs.last().and_then(|codec| codec.configuration.get("typesize")).and_then(Value::as_u64)
    };
    for id in ["delta", "fixedscaleoffset", "quantize"] {
        assert_eq!(typesize(json!({"id": id, "dtype": "<i4", "astype": "<i2"})), Some(2), "{id}");
        assert_eq!(typesize(json!({"id": id, "dtype": "<i8"})), Some(8), "{id}");
    }
    assert_eq!(typesize(json!({"id": "astype", "decode_dtype": "<i4", "encode_dtype": "<i2"})), Some(2));
    assert_eq!(typesize(json!({"id": "packbits"})), Some(1));
    assert_eq!(typesize(json!({"id": "bitround"})), Some(4));
}

#[test]
fn configurations_of_version_2_become_those_of_version_3() {
    let model = |stored: Value| {
        let id = stored.get("id").and_then(Value::as_str).unwrap();
        form::of_model(&At::root(&stored), id, 2, 8).unwrap()
    };
    for (id, codec) in with_id() {
        let configuration = match id {
            "blosc" => json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0, "typesize": 2}),
            "gzip" => json!({"level": 1}),
            "zstd" => json!({"level": 0, "checksum": false}),
            "shuffle" => json!({"elementsize": 4}),
            _ => json!({}),
        };
        let found = model(json!({"id": id}));
        assert_eq!((found.name.as_str(), Value::Object(found.configuration)), (codec.v3, configuration), "{id}");
    }
    for (stored, name, configuration) in [
        (json!({"id": "gzip", "level": (-1)}), "gzip", json!({"level": 6})),
        (json!({"id": "zstd", "level": 100, "checksum": "YES"}), "zstd", json!({"level": 22, "checksum": true})),
        (json!({"id": "crc32c", "location": "end"}), "crc32c", json!({})),
        (json!({"id": "crc32c", "location": "start"}), "numcodecs.crc32c", json!({"location": "start"})),
        (json!({"id": "shuffle", "elementsize": 0}), "numcodecs.shuffle", json!({"elementsize": 8})),
        (json!({"id": "zlib", "level": (-1)}), "numcodecs.zlib", json!({"level": (-1)})),
        (json!({"id": "mine", "level": (-1)}), "numcodecs.mine", json!({"level": (-1)})),
    ] {
        let found = model(stored);
        assert_eq!((found.name.as_str(), Value::Object(found.configuration)), (name, configuration));
    }
}

#[test]
fn configurations_of_version_3_become_those_of_version_2() {
    for (name, configuration, stored) in [
        ("blosc", json!({"shuffle": "bitshuffle", "typesize": 4}), json!({"id": "blosc", "shuffle": 2})),
        ("blosc", json!({"typesize": 3}), json!({"id": "blosc", "typesize": 3, "shuffle": 0})),
        ("numcodecs.blosc", json!({"shuffle": 2, "typesize": 4}), json!({"id": "blosc", "shuffle": 2, "typesize": 4})),
        ("zstd", json!({"level": 3, "checksum": false}), json!({"id": "zstd", "level": 3})),
        ("zstd", json!({"checksum": true}), json!({"id": "zstd", "checksum": true})),
        ("numcodecs.zstd", json!({"checksum": false}), json!({"id": "zstd", "checksum": false})),
        ("numcodecs.shuffle", json!({}), json!({"id": "shuffle", "elementsize": 4})),
        ("numcodecs.mine", json!({"checksum": false}), json!({"id": "mine", "checksum": false})),
    ] {
        let codec = NamedConfig::with(name, configuration.as_object().unwrap().clone());
        let written = from_model(&[codecs::bytes(Some("little")), codec], 0, &number()).unwrap();
        let written: Vec<_> = written.filters.iter().chain(&written.compressor).cloned().collect();
        assert!(written.len() == 1 && written[0].semantically_eq(&stored), "{name}: {written:?}, expected {stored}");
    }
}

#[test]
fn deviations_are_of_the_members_of_the_codec() {
    for (id, _) in with_id() {
        let odd = json!({"id": id, "level": 100, "checksum": "NO", "shuffle": true, "elementsize": 0});
        let expected: &[&str] = match id {
            "zstd" => &["/level", "/checksum"],
            "blosc" => &["/shuffle"],
            "shuffle" => &["/elementsize"],
            _ => &[],
        };
        let found = deviations(&[At::root(&odd)]);
        assert_eq!(found.iter().map(|(pointer, _)| pointer.as_str()).collect::<Vec<_>>(), expected, "{id}");
    }
}
