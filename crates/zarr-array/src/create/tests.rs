use crate::{Array, Dialect, ErrorKind, NewArray, Options, Registry, Store};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Sink, Size};
use zarr_hierarchy::open_node;
use zarr_json::{Value, json};
use zarr_store::{Key, MemoryStore, StoreExt};

const URI: &str = "https://example.org/codecs/xor/1.0";

#[derive(Debug)]
struct Xor(u8);

impl BytesToBytes for Xor {
    fn name(&self) -> &'static str {
        "example.xor"
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(bytes.iter().map(|byte| byte ^ self.0));
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        out.extend(&bytes.iter().map(|byte| byte ^ self.0).collect::<Vec<_>>())
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
    let mask = context.config.integer("mask", 0..=255)?.unwrap_or(255);
    Ok(Arc::new(Xor(u8::try_from(mask).unwrap_or_default())))
}

fn registry(codecs: &[CodecEntry]) -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    codecs.iter().for_each(|codec| registry.codecs.add(*codec));
    Arc::new(registry)
}

fn document(store: &MemoryStore, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
    Value::from_json(std::str::from_utf8(&bytes).unwrap()).unwrap()
}

/// A codec of a caller is stored in the drafts with the URI under which it is published, and in version 3 with its name.
// clause: d2022-86
#[test]
fn codecs_have_a_uri_of_their_own() {
    const XOR: CodecEntry = CodecEntry::bytes_to_bytes("example.xor", build).uri(URI);
    for (dialect, key, pointer, stored) in [
        (Dialect::V3Draft2022, "meta/a.array.json", "/codecs", json!([{"type": URI, "configuration": {"mask": 15}}])),
        (
            Dialect::V3Protocol2020,
            "meta/root/a.array.json",
            "/compressor",
            json!({"codec": URI, "configuration": {"mask": 15}}),
        ),
        (Dialect::V3Protocol2019, "meta/a.a/array.json", "/chunk_codecs", json!([{"codec": URI, "mask": 15}])),
        (Dialect::V3, "a/zarr.json", "/codecs/1", json!({"name": "example.xor", "configuration": {"mask": 15}})),
    ] {
        for given in ["example.xor", URI] {
            let memory = Arc::new(MemoryStore::new());
            let store: Arc<dyn Store> = Arc::clone(&memory) as _;
            let codecs = json!(["bytes", {"name": given, "configuration": {"mask": 15}}]).to_string();
            let new = NewArray::new(&[3], "uint8").codecs(codecs).unwrap().dialect(dialect);
            let array = Array::create(&store, "/a", new, &registry(&[XOR])).unwrap();
            array.write(.., &[1_u8, 2, 3]).unwrap();
            assert_eq!(document(&memory, key).pointer(pointer), Some(&stored), "{dialect}");
            assert_eq!(*array.read_chunk_bytes(&[0]).unwrap().unwrap(), [14, 13, 12]);

            let open = |codecs: &[CodecEntry]| {
                let found = open_node(&*store, "/a", None)?;
                Array::from_found(&store, found, &registry(codecs), Options::default())
            };
            assert_eq!(open(&[XOR]).unwrap().read::<u8>(..).unwrap(), [1, 2, 3]);
            let error = open(&[]).unwrap_err();
            let name = if dialect.is_v3() { "example.xor" } else { URI };
            assert_eq!(error.kind(), ErrorKind::UnknownExtension);
            assert!(error.to_string().contains(&format!("unknown codec {name:?}")), "{error}");
        }
    }
}

/// A codec with an id has a URI of the specification, and the error for an unknown codec names this URI.
#[test]
fn ids_are_part_of_a_uri() {
    const XOR: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.xor", build).id("xor");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[3], "uint8").codecs("xor").unwrap().dialect(Dialect::V3Draft2022);
    Array::create(&store, "/a", new, &registry(&[XOR])).unwrap().write(.., &[1_u8, 2, 3]).unwrap();
    let found = open_node(&*store, "/a", None).unwrap();
    let open = |codecs: &[CodecEntry]| Array::from_found(&store, found.clone(), &registry(codecs), Options::default());
    assert_eq!(open(&[XOR]).unwrap().read::<u8>(..).unwrap(), [1, 2, 3]);
    let error = open(&[]).unwrap_err().to_string();
    assert!(error.contains("unknown codec \"https://purl.org/zarr/spec/codecs/xor/1.0\""), "{error}");
}

#[test]
fn dimensions_have_a_bound() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let create = |rank: usize| {
        let new = NewArray::new(&vec![1; rank], "uint8").codecs(r#"["bytes"]"#).unwrap().overwrite(true);
        Array::create(&store, "/a", new, &registry(&[]))
    };
    assert_eq!(create(64).unwrap().read::<u8>(..).unwrap(), [0]);
    let error = create(65).unwrap_err();
    assert_eq!((error.kind(), error.location().pointer.as_deref()), (ErrorKind::Argument, Some("/shape")));
    assert!(error.to_string().contains("found 65 dimensions, expected at most 64"), "{error}");
}

/// Data types of drafts are stored with their fallback types as given.
#[test]
fn data_types_of_drafts() {
    let given = json!({"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[ns]",
        "fallback": ["mine", "uint64"]});
    let create = |given: &Value, dialect: Dialect| {
        let store = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[3], given.to_string()).codecs(r#"["bytes"]"#).unwrap().dialect(dialect);
        let array = Array::create(&(Arc::clone(&store) as Arc<dyn Store>), "/a", new, &registry(&[]))?;
        Ok::<_, crate::Error>((store, array))
    };
    let (store, mut array) = create(&given, Dialect::V3Draft2022).unwrap();
    assert_eq!(document(&store, "meta/a.array.json").get("data_type"), Some(&given));
    assert_eq!(array.data_type().to_config().name, "numpy.datetime64");
    // Attributes are changed without a loss of the fallback.
    array.set_attributes(json!({"units": "K"}).as_object().unwrap().clone()).unwrap();
    assert_eq!(document(&store, "meta/a.array.json").get("data_type"), Some(&given));

    let error = create(&given, Dialect::V3).unwrap_err().to_string();
    assert!(error.contains("a fallback of the data type, which dialect v3 does not have"), "{error}");
    let mut plain = given.as_object().unwrap().clone();
    plain.remove("fallback");
    assert!(create(&Value::Object(plain), Dialect::V3).is_ok());
    let unknown = json!({"extension": "https://example.org/mine", "type": "mine", "fallback": "int8"});
    let error = create(&unknown, Dialect::V3Draft2022).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
    assert!(error.to_string().contains("https://example.org/mine"), "{error}");
}
