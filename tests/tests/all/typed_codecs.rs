//! Codecs by their types: the same as by text and by JSON, and safe with bytes from anywhere.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use zarr::codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, ErrorKind, Limits, Pipeline, Warnings, decode_slice,
    decode_slice_into, encode_slice,
};
use zarr::codecs::*;
use zarr::dtype::{DataType, Element};
use zarr::store::{MemoryStore, StoreExt};
use zarr::{Array, NewArray, Store};
use zarr_json::{NamedConfig, Value, json};

/// The names of the codecs that rows were checked for.
type Names = BTreeSet<String>;

/// Checks that typed codecs are the codecs of the text, encode as these do, and that elements come back.
fn row<T: Element + PartialEq + Debug>(
    names: &mut Names,
    data_type: &DataType,
    elements: &[T],
    codecs: impl IntoTypedCodecs,
    text: &str,
) {
    let codecs = codecs.into_typed_codecs();
    let registry = zarr::registry::default();
    let typed = codecs.clone().into_codecs().and_then(|codecs| codecs.to_configs(&registry.codecs)).unwrap();
    let from_text = CodecList::parse(text).and_then(|codecs| codecs.to_configs(&registry.codecs)).unwrap();
    assert_eq!(typed, from_text, "{text}");
    names.extend(typed.iter().map(|codec| codec.name.clone()));

    let shape = [2, elements.len() as u64 / 2];
    let codec = Chain::new(data_type, &shape).then(codecs).build().expect(text);
    let encoded = codec.encode_elements(elements).unwrap();
    assert_eq!(codec.decode_elements::<T>(&encoded).unwrap(), elements, "{text}");
    if !data_type.is_variable() {
        let items = codec.decode(&encoded).unwrap();
        assert_eq!(codec.encode(&items).unwrap(), encoded, "{text}");
        let mut buffer = vec![0xee; codec.decoded_size()];
        codec.decode_into(&encoded, &mut buffer).unwrap();
        assert_eq!(buffer, items, "{text}");
        assert!(codec.decode_into(&encoded, &mut buffer[1..]).is_err(), "{text}");
        assert!(codec.encode(&items[1..]).is_err(), "{text}");
    }

    // The chunk that an array with these codecs in its document stores.
    let list = Value::Array(from_text.iter().map(NamedConfig::to_value).collect()).to_string();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let name = data_type.to_config().short_value().to_string();
    let new = NewArray::new(&shape, name.trim_matches('"')).chunks(&shape).codecs(list).unwrap();
    let array = Array::create(&store, "/a", new, &registry).expect(text);
    array.write(.., elements).unwrap();
    let key = "a/c/0/0".parse().unwrap();
    let stored = store.get_all(&key).unwrap().expect("a chunk");
    assert_eq!(stored, encoded, "{text}");
    // And by the pipeline of the registry.
    let element = codec.pipeline().element();
    let by_name = Pipeline::build(&from_text, element, &registry.codecs, &Limits::default(), 0, &Warnings::default());
    assert_eq!(by_name.unwrap().names(), codec.pipeline().names());
}

#[test]
fn typed_codecs_equal_their_texts_and_json() -> Result<(), Error> {
    let names = &mut Names::new();
    let bytes = Bytes::little_endian;
    let numbers: Vec<i32> = (0..3000).map(|number| number * number % 1000 + number).collect();
    let int32 = &DataType::Int32;
    for (codec, text) in [
        (TypedCodec::from(Zstd::level(3)?.checksum(true)), "zstd(3,true)"),
        (Gzip::level(1)?.into(), "gzip(1)"),
        (Zlib::level(9)?.into(), "zlib(9)"),
        (Bz2::level(2)?.into(), "bz2(2)"),
        (Lz4::acceleration(3).into(), "lz4(3)"),
        (Lzma::preset(1)?.check(LzmaCheck::Sha256)?.into(), "lzma(preset=1,check=10)"),
        (Lzma::preset(1)?.format(LzmaFormat::Alone)?.into(), "lzma(preset=1,format=2)"),
        (
            Lzma::filters(LzmaFormat::Raw, [json!({"id": 3, "dist": 4}), json!({"id": 33})])?.into(),
            "lzma(filters=[{\"id\": 3, \"dist\": 4}, {\"id\": 33}],format=3)",
        ),
        (Blosc::lz4().level(5)?.shuffle().into(), "blosc"),
        (Blosc::zstd().level(9)?.bitshuffle().type_size(4)?.into(), "blosc(zstd,9,bitshuffle,typesize=4)"),
        (Blosc::zlib().no_shuffle().block_size(512)?.into(), "blosc(zlib,5,noshuffle,512)"),
        (Blosc::new(BloscCompressor::Lz4hc).into(), "blosc(lz4hc)"),
        (Blosc::lz4hc().into(), "blosc(lz4hc)"),
        (Blosc::blosclz().into(), "blosc(blosclz)"),
        (Blosc::snappy().into(), "blosc(snappy)"),
        (Shuffle::element_size(4)?.into(), "shuffle(4)"),
        (Base64.into(), "base64"),
        (Crc32c::new().into(), "crc32c"),
        (Fletcher32.into(), "fletcher32"),
        (Crc32::new().into(), "crc32"),
        (Crc32::new().location(ChecksumLocation::End).into(), "crc32(end)"),
        (Adler32::new().location(ChecksumLocation::End).into(), "adler32(end)"),
        (JenkinsLookup3::new().initval(7).prefix(&[1, 2]).into(), "jenkins_lookup3(7,prefix=[1,2])"),
        (
            Conditional::of((Gzip::level(1)?, Crc32c::new()))?.header_bits(16)?.into(),
            r#"conditional(codecs=[{"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}],header_bits=16)"#,
        ),
    ] {
        let text = format!("bytes,{text}");
        row(names, int32, &numbers, [TypedCodec::from(bytes()), codec], &text);
    }
    row(names, int32, &numbers, (Transpose::new([1, 0])?, Bytes::big_endian()), "transpose(1,0),bytes(big)");
    let reshape = Reshape::to([ReshapeAxis::Axes(vec![0, 1]), ReshapeAxis::Length(1)])?;
    row(names, int32, &numbers, (reshape, bytes()), "reshape(shape=[[0,1],1]),bytes");
    row(names, int32, &numbers, (Reshape::to([ReshapeAxis::Rest])?, bytes()), "reshape(shape=[-1]),bytes");
    row(names, int32, &numbers, (ZarrsSqueeze, bytes()), "zarrs.squeeze,bytes");
    row(names, int32, &numbers, (Delta::new(), bytes()), "delta,bytes");
    row(names, int32, &numbers, (Delta::new().astype(&DataType::Int64)?, bytes()), "delta(<i8),bytes");
    row(names, int32, &numbers, Pcodec::level(2)?.classic(), "pcodec(2,mode_spec=classic)");
    let pcodec = Pcodec::level(8)?.delta(PcodecDelta::Consecutive(2))?.page_size(100)?;
    let text = "pcodec(delta_spec=try_consecutive,delta_encoding_order=2,equal_pages_up_to=100)";
    row(names, int32, &numbers, pcodec, text);
    row(names, int32, &numbers, Packbits::new().bits(0..=16)?, "packbits(first_bit=0,last_bit=16)");
    row(names, int32, &numbers, (AsType::new(&DataType::Float64)?, bytes()), "astype(<f8),bytes");
    row(
        names,
        int32,
        &numbers,
        (CastValue::to(&DataType::Int16).wrap(), bytes()),
        "cast_value(int16,out_of_range=wrap),bytes",
    );
    row(names, int32, &numbers, (ScaleOffset::new(-5, 3), bytes()), "scale_offset(-5,3),bytes");
    let n5 = N5Default::of((Transpose::new([1, 0])?, Bytes::big_endian(), Gzip::level(1)?));
    let text = r#"n5_default(codecs=[{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}])"#;
    row(names, int32, &numbers, n5, text);
    let inner = (Delta::new(), bytes(), Zstd::level(1)?);
    let sharding = Sharding::of([1, 500], inner)?.index_codecs((bytes(), Crc32c::new())).index_at_start();
    let text = r#"sharding_indexed(chunk_shape=[1,500],codecs=[{"name": "numcodecs.delta"}, {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": false}}],
        index_codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],index_location=start)"#;
    row(names, int32, &numbers, sharding, text);

    let floats: Vec<f64> = (0..64).map(|number| f64::from(number) * 0.5).collect();
    let float64 = &DataType::Float64;
    row(names, float64, &floats, Zfp::reversible(), "zfp(mode=reversible)");
    row(names, float64, &floats, Zfpy::reversible(), "zfpy");
    row(names, float64, &floats, (Quantize::digits(3)?.astype(&DataType::Float32)?, bytes()), "quantize(3,<f4),bytes");
    row(names, float64, &floats, (Bitround::keep_bits(20), bytes()), "bitround(20),bytes");
    let scaled = FixedScaleOffset::new(0, 2)?.astype(&DataType::UInt8)?;
    row(names, float64, &floats, (scaled, bytes()), "fixedscaleoffset(0,2,|u1),bytes");

    let bools: Vec<bool> = (0..30).map(|number| number % 3 == 0).collect();
    let padding = Packbits::new().padding(PackbitsPadding::LastByte);
    row(names, &DataType::Bool, &bools, padding, "packbits(last_byte)");
    row(names, &DataType::Bool, &bools, (NumcodecsPackbits, bytes()), "numcodecs.packbits,bytes");

    let texts = ["red", "", "grün", "red"].map(str::to_owned);
    let string = &DataType::String;
    row(names, string, &texts, VlenUtf8, "vlen-utf8");
    row(names, string, &texts, (VlenUtf8, Zstd::level(0)?), "vlen-utf8,zstd");
    row(names, string, &texts, ZarrsVlenV2, "zarrs.vlen_v2");
    let vlen = ZarrsVlen::of(bytes(), bytes()).index_of_64_bits().index_at_end();
    let text = r#"zarrs.vlen(index_codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
        data_codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],index_data_type=uint64,index_location=end)"#;
    row(names, string, &texts, vlen, text);
    let categorize = Categorize::labels(["red", "grün"]).astype(&DataType::Int16)?;
    row(names, string, &texts, categorize, r#"categorize(labels=["red", "grün"],astype=<i2)"#);
    let strings: [Vec<u8>; 2] = [vec![0xff, 0], vec![]];
    row(names, &DataType::Bytes { name: Default::default() }, &strings, VlenBytes, "vlen-bytes");

    let objects = [json!("a"), json!({"b": [1, 2.5]})];
    for (codec, text) in [
        (
            TypedCodec::from(Json2::new().ensure_ascii(false).sort_keys(false)),
            "json(ensure_ascii=false,sort_keys=false)",
        ),
        (Json::new().indent(2)?.allow_nan(false).into(), "numcodecs.json(indent=2,allow_nan=false)"),
        (MsgPack2::new().use_single_float(true).into(), "msgpack(use_single_float=true)"),
        (MsgPack::new().use_single_float(true).into(), "numcodecs.msgpack(use_single_float=true)"),
    ] {
        let typed = codec.clone().into_codecs().unwrap().to_configs(&zarr::registry::default().codecs).unwrap();
        let from_text = CodecList::parse(text).unwrap().to_configs(&zarr::registry::default().codecs).unwrap();
        assert_eq!(typed, from_text);
        names.extend(typed.iter().map(|codec| codec.name.clone()));
        let codec = Chain::new(&DataType::Object, &[2]).then(codec).build().unwrap();
        assert_eq!(codec.decode_elements::<Value>(&codec.encode_elements(&objects).unwrap()).unwrap(), objects);
    }

    // Of these the elements have types of their own, which the crates test.
    let lists = [vec![1.5_f64], vec![]];
    let list = DataType::VlenArray(Box::new(DataType::Float64));
    let codec = Chain::new(&list, &[2]).then(VlenArray::of(&DataType::Float64)?).build().unwrap();
    assert_eq!(codec.decode_elements::<Vec<f64>>(&codec.encode_elements(&lists).unwrap()).unwrap(), lists);
    let text = CodecList::parse("vlen-array(<f8)").unwrap().to_configs(&zarr::registry::default().codecs).unwrap();
    assert_eq!(TypedCodec::from(VlenArray::of(&DataType::Float64)?).config(), &text[0]);
    names.extend(["numcodecs.vlen-array", "array_view", "optional"].map(str::to_owned));

    let all: Names = zarr::registry::default().codecs.iter().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(all.difference(names).collect::<Vec<_>>(), Vec::<&String>::new(), "codecs without a row here");
    Ok(())
}

#[test]
fn modes_of_zfp_equal_its_text() -> Result<(), Error> {
    let registry = zarr::registry::default();
    for (codec, text) in [
        (TypedCodec::from(Zfp::rate(8.0)?), "zfp(mode=fixed_rate,rate=8.0)"),
        (Zfp::precision(12).into(), "zfp(mode=fixed_precision,precision=12)"),
        (Zfp::accuracy(0.5)?.into(), "zfp(mode=fixed_accuracy,tolerance=0.5)"),
        (
            Zfp::new(ZfpMode::Expert { min_bits: 1, max_bits: 1000, max_prec: 64, min_exp: -1074 })?.into(),
            "zfp(mode=expert,minbits=1,maxbits=1000,maxprec=64,minexp=-1074)",
        ),
        (Zfpy::rate(8.0)?.into(), "zfpy(mode=2,rate=8.0)"),
        (Zfpy::precision(12).into(), "zfpy(mode=3,precision=12)"),
        (Zfpy::accuracy(0.5)?.into(), "zfpy(mode=4,tolerance=0.5)"),
    ] {
        let from_text = CodecList::parse(text).unwrap().to_configs(&registry.codecs).unwrap();
        assert_eq!(codec.config(), &from_text[0]);
        let codec = Chain::new(&DataType::Float32, &[4, 8]).then(codec).build().unwrap();
        let encoded = codec.encode_elements(&[1.5_f32; 32]).unwrap();
        assert!(
            codec.decode_elements::<f32>(&encoded).unwrap().iter().all(|number| (number - 1.5).abs() <= 0.5),
            "{text}"
        );
    }
    Ok(())
}

/// A codec that no registry has.
#[derive(Debug)]
struct Mine;

impl CodecValue for Mine {
    const ENTRY: CodecEntry =
        CodecEntry::array_to_array("mine", |_| Err(Error::Argument { what: "not built".to_owned() }));

    fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

#[test]
fn mistakes_are_named_early() -> Result<(), Error> {
    let text = |error: Error| (error.kind(), error.to_string());
    let level = "codec zstd: level: expected an integer -131072..22, found 99";
    // Where the codec is written.
    let wrong = |codec: Result<TypedCodec, Error>| codec.map(drop).map_err(text).unwrap_err();
    let faults = [
        (wrong(Zstd::level(99).map(Into::into)), level),
        (wrong(Gzip::level(10).map(Into::into)), "codec gzip: level: expected an integer 0..9, found 10"),
        (wrong(Zlib::level(10).map(Into::into)), "codec numcodecs.zlib: level: expected an integer 0..9, found 10"),
        (wrong(Bz2::level(0).map(Into::into)), "codec numcodecs.bz2: level: expected an integer 1..9, found 0"),
        (
            wrong(Shuffle::element_size(usize::MAX).map(Into::into)),
            "codec numcodecs.shuffle: elementsize: expected an integer 0..2147483647, found 18446744073709551615",
        ),
        (wrong(Blosc::lz4().level(10).map(Into::into)), "codec blosc: clevel: expected an integer 0..9, found 10"),
        (
            wrong(Blosc::lz4().type_size(0).map(Into::into)),
            "codec blosc: typesize: expected an integer 1..2147483647, found 0",
        ),
        (
            wrong(Lzma::preset(10).map(Into::into)),
            "codec numcodecs.lzma: preset: expected a preset 0..9, plus 2^31 for more effort, found 10",
        ),
        (
            wrong(Lzma::preset(1)?.format(LzmaFormat::Raw).map(Into::into)),
            "codec numcodecs.lzma: filters: missing, and raw data is not to be understood without",
        ),
        (
            wrong(Lzma::preset(1)?.check(LzmaCheck::Crc32)?.format(LzmaFormat::Alone).map(Into::into)),
            "codec numcodecs.lzma: check: only format 1 (xz) has checksums",
        ),
        (
            wrong(Lzma::filters(LzmaFormat::Xz, [json!({"id": 2})]).map(Into::into)),
            "codec numcodecs.lzma: filters/0/id: expected the id of a filter: 3 to 9, 33 or 4611686018427387905, found 2",
        ),
        (
            wrong(Conditional::of(Bytes::little_endian()).map(Into::into)),
            "codec conditional: codecs: codec \"bytes\" does not turn bytes into bytes",
        ),
        (
            wrong(Conditional::of(Crc32c::new())?.header_bits(7).map(Into::into)),
            "codec conditional: header_bits: expected a multiple of 8 from 1 on, found 7",
        ),
        (
            wrong(ArrayView::of(&DataType::String, VlenUtf8, VlenUtf8).map(Into::into)),
            "codec array_view: data_type: expected a data type whose elements have a size, found \"string\"",
        ),
        (
            wrong(Transpose::new([0, 2]).map(Into::into)),
            "codec transpose: order: expected a permutation of the axes, found [0, 2]",
        ),
        (
            wrong(Pcodec::level(13).map(Into::into)),
            "codec numcodecs.pcodec: level: expected an integer 0..12, found 13",
        ),
        (
            wrong(Pcodec::new().delta(PcodecDelta::Consecutive(8)).map(Into::into)),
            "codec numcodecs.pcodec: delta_encoding_order: expected an integer 0..7, found 8",
        ),
        (
            wrong(Packbits::new().bits(3..=64).map(Into::into)),
            "codec packbits: last_bit: expected an integer 3..63, found 64",
        ),
        (wrong(Zfp::rate(-1.0).map(Into::into)), "codec zfp: rate: expected a number that is not negative, found -1"),
        (
            wrong(Zfpy::accuracy(f64::NAN).map(Into::into)),
            "codec numcodecs.zfpy: tolerance: expected a number that is not negative, found NaN",
        ),
        (
            wrong(Reshape::to([ReshapeAxis::Rest, ReshapeAxis::Rest]).map(Into::into)),
            "codec reshape: shape: expected -1 at most once",
        ),
        (
            wrong(Sharding::of([2, 0], Bytes::little_endian()).map(Into::into)),
            "codec sharding_indexed: chunk_shape: expected lengths > 0, found [2, 0]",
        ),
        (
            wrong(Quantize::digits(309).map(Into::into)),
            "codec numcodecs.quantize: digits: expected an integer -308..308, found 309",
        ),
        (
            wrong(FixedScaleOffset::new("a", 1).map(Into::into)),
            "codec numcodecs.fixedscaleoffset: offset: expected a number, found \"a\"",
        ),
        (
            wrong(Delta::new().astype(&DataType::String).map(Into::into)),
            "codec numcodecs.delta: astype: expected a type of numbers, found string",
        ),
        (
            wrong(Categorize::labels(["a"]).astype(&DataType::Float32).map(Into::into)),
            "codec numcodecs.categorize: astype: expected numpy's name of a type of integers",
        ),
        (
            wrong(Json2::new().indent(65).map(Into::into)),
            "codec numcodecs.json2: indent: expected an integer 0..64, found 65",
        ),
    ];
    for (found, due) in faults {
        assert_eq!(found, (ErrorKind::Argument, due.to_owned()));
    }
    let chain = Chain::new(&DataType::UInt8, &[1]);
    assert_eq!(chain.build().map(drop).map_err(text).unwrap_err().1, "no codec turns the array into bytes");
    let error = chain.then((Zstd::level(1)?, Bytes::little_endian())).build().map(drop).map_err(text).unwrap_err();
    assert_eq!(error.1, "codec zstd: codec \"zstd\" takes bytes, but no codec before it gives bytes");
    let error = Chain::new(&DataType::UInt8, &[2]).then(Sharding::of([1], Bytes::little_endian())?).build();
    assert!(
        error
            .map(drop)
            .map_err(text)
            .unwrap_err()
            .1
            .contains("unknown codec \"crc32c\" (a chain has only the typed codecs in it")
    );
    let texts = Chain::new(&DataType::String, &[1]).then(VlenUtf8).build().unwrap();
    assert!(texts.encode(&[0; 16]).map_err(text).unwrap_err().1.contains("no bytes of one length"));
    assert!(texts.encode_elements(&[1_u8]).map_err(text).unwrap_err().1.contains("do not fit the Rust type u8"));

    // At the call, where neither the registry nor the data type is needed.
    let new = || NewArray::new(&[4], "int32");
    let message = |result: zarr::Result<NewArray>| result.map(drop).unwrap_err().to_string();
    assert_eq!(message(new().codecs("zstd(3")), "codec \"zstd(3\": a closing ')' is missing");
    assert!(message(new().codecs("[1]")).starts_with("codecs: codec 0: found 1"));
    // When the array is created.
    let create = |new: NewArray| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let error = Array::create(&store, "/a", new, &zarr::registry::default()).map(drop).unwrap_err();
        (error.kind(), error.to_string())
    };
    let (kind, message) = create(new().codecs("zstd(99)").unwrap());
    assert_eq!((kind, message.contains(level)), (zarr::ErrorKind::Argument, true), "{message}");
    let (kind, message) = create(new().codecs("zstd(3,levle=4)").unwrap());
    assert_eq!(kind, zarr::ErrorKind::Argument);
    assert!(message.contains("codec zstd: levle: unknown member"), "{message}");
    let (kind, message) = create(new().codecs("ztsd(3)").unwrap());
    assert_eq!(kind, zarr::ErrorKind::UnknownExtension);
    assert!(message.contains("unknown codec \"ztsd\" (is \"zstd\" meant?"), "{message}");
    let (_, message) = create(new().codecs((Bitround::keep_bits(0), Gzip::level(1)?)).unwrap());
    assert!(message.contains("keepbits: expected an integer 1..4294967295, found 0"), "{message}");
    // Of a codec that the registry lacks.
    let (kind, message) = create(new().codecs(Mine).unwrap());
    assert_eq!(kind, zarr::ErrorKind::UnknownExtension);
    assert!(message.contains("unknown codec \"mine\""), "{message}");
    Ok(())
}

type Named = (&'static str, Box<dyn BytesToBytes>);

fn bytes_codecs() -> Result<Vec<Named>, Error> {
    let bytes = Bytes::little_endian;
    Ok(vec![
        ("zstd", Box::new(Zstd::level(3)?)),
        ("gzip", Box::new(Gzip::level(5)?)),
        ("zlib", Box::new(Zlib::level(1)?)),
        ("bz2", Box::new(Bz2::level(1)?)),
        ("lz4", Box::new(Lz4::acceleration(1))),
        ("xz", Box::new(Lzma::preset(1)?)),
        ("lzma", Box::new(Lzma::preset(1)?.format(LzmaFormat::Alone)?)),
        ("blosc lz4", Box::new(Blosc::lz4().type_size(4)?)),
        ("blosc zstd", Box::new(Blosc::zstd().bitshuffle())),
        ("blosc snappy", Box::new(Blosc::snappy().no_shuffle())),
        ("blosc zlib", Box::new(Blosc::zlib())),
        ("blosclz", Box::new(Blosc::blosclz())),
        ("shuffle", Box::new(Shuffle::element_size(4)?)),
        ("base64", Box::new(Base64)),
        ("crc32c", Box::new(Crc32c::new())),
        ("crc32", Box::new(Crc32::new())),
        ("adler32", Box::new(Adler32::new())),
        ("fletcher32", Box::new(Fletcher32)),
        ("jenkins", Box::new(JenkinsLookup3::new())),
        ("conditional", Box::new(Conditional::of((Zstd::level(1)?, Gzip::level(1)?))?)),
        ("view", Box::new(ArrayView::of(&DataType::UInt8, bytes(), (Delta::new(), bytes()))?)),
    ])
}

/// The unit of bytes that a codec takes.
fn whole(name: &str, bytes: &[u8]) -> Vec<u8> {
    // Fletcher's words of 16 bits, and elements that are shuffled.
    let unit = if matches!(name, "shuffle" | "fletcher32") { 4 } else { 1 };
    bytes[..bytes.len() / unit * unit].to_vec()
}

proptest! {
    #[test]
    fn slices_come_back(repeated in 1_usize..50, part in prop::collection::vec(any::<u8>(), 0..200)) {
        for (name, codec) in bytes_codecs().unwrap() {
            let bytes = whole(name, &part.repeat(repeated));
            let encoded = encode_slice(&*codec, &bytes).unwrap();
            for bound in [bytes.len(), bytes.len() + 1, 1 << 30] {
                prop_assert_eq!(&decode_slice(&*codec, &encoded, bound).unwrap(), &bytes, "{}", name);
            }
            let mut buffer = vec![0xee; bytes.len() + 3];
            prop_assert_eq!(decode_slice_into(&*codec, &encoded, &mut buffer).unwrap(), bytes.len(), "{}", name);
            prop_assert_eq!(&buffer[..bytes.len()], &bytes, "{}", name);
            if let Some(less) = bytes.len().checked_sub(1) {
                for bound in [less, less / 2, 0] {
                    prop_assert!(decode_slice(&*codec, &encoded, bound).is_err(), "{} {}", name, bound);
                    prop_assert!(decode_slice_into(&*codec, &encoded, &mut buffer[..bound]).is_err(), "{} {}", name, bound);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_an_error_or_a_value(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>()) {
        for (name, codec) in bytes_codecs().unwrap() {
            let mut changed = encode_slice(&*codec, &whole(name, &bytes)).unwrap();
            if !changed.is_empty() {
                let at = flip.index(changed.len());
                changed[at] ^= 0x10;
                changed.truncate(cut.index(changed.len()) + 1);
            }
            for encoded in [&bytes, &changed] {
                if let Ok(decoded) = decode_slice(&*codec, encoded, 1000) {
                    prop_assert!(decoded.len() <= 1000, "{}", name);
                }
                let mut buffer = [0; 1000];
                if let Ok(len) = decode_slice_into(&*codec, encoded, &mut buffer) {
                    prop_assert!(len <= 1000, "{}", name);
                }
            }
        }
    }
}
