//! Test harnesses that every codec crate runs on its codecs.
//!
//! Harnesses panic if a codec breaks its contract, as tests do.
#![expect(clippy::panic, reason = "harnesses fail as tests do")]

pub mod vectors;

use crate::{
    ArrayToArray, ArrayToBytes, BuildContext, BytesToBytes, Codec, CodecEntry, Codecs, Config, ElementSpec, Error,
    Limits, Pipeline, Sink, Size, Step, View, ViewMut, Warnings,
};
use std::sync::Arc;
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Region;
use zarr_json::{Map, Value};

/// Returns an element specification with the data type named `data_type` and the fill value zero.
///
/// # Panics
/// If there is no such type.
pub fn element(data_type: &str) -> ElementSpec {
    let data_type = DataType::from_config(&zarr_json::NamedConfig::new(data_type)).expect("a data type");
    let fill = FillValue::zero(&data_type);
    ElementSpec::new(data_type, fill)
}

/// Builds the codec of `entry` from the JSON of its configuration, for elements of type `element`.
///
/// # Errors
/// The errors of the entry's `build`.
pub fn build(entry: &CodecEntry, configuration: &str, element: &ElementSpec) -> Result<Codec, Error> {
    build_with(entry, configuration, element, &Codecs::default())
}

/// Builds the codec of `entry` as for a new array, which is encoded. Codecs nested in it are looked up in `codecs`.
///
/// # Errors
/// The errors of the entry's `build`. Members that only encoding needs are checked too: in the configuration of an array that is read they
/// may be invalid.
///
/// # Panics
/// If `configuration` is no JSON object.
pub fn build_with(
    entry: &CodecEntry,
    configuration: &str,
    element: &ElementSpec,
    codecs: &Codecs,
) -> Result<Codec, Error> {
    let map = match Value::from_json(configuration) {
        Ok(Value::Object(map)) => map,
        other => panic!("a configuration: {other:?}"),
    };
    let limits = Limits::default();
    let (config, warnings) = (Config::new(&map), Warnings::default());
    let built = entry.build(&BuildContext {
        name: entry.name,
        config: &config,
        element,
        codecs,
        limits: &limits,
        nesting: 0,
        warnings: &warnings,
    })?;
    config.check()?;
    warnings.check()?;
    Ok(built)
}

/// Builds the bytes-to-bytes codec of `entry` from the JSON of its configuration.
///
/// # Panics
/// If the codec has another kind, or if the configuration is invalid.
pub fn bytes_to_bytes(entry: &CodecEntry, configuration: &str, element: &ElementSpec) -> Arc<dyn BytesToBytes> {
    match build(entry, configuration, element) {
        Ok(Codec::BytesToBytes(codec)) => codec,
        other => panic!("a bytes-to-bytes codec: {other:?}"),
    }
}

/// Builds the array-to-bytes codec of `entry` from the JSON of its configuration.
///
/// # Panics
/// If the codec has another kind, or if the configuration is invalid.
pub fn array_to_bytes(entry: &CodecEntry, configuration: &str, element: &ElementSpec) -> Arc<dyn ArrayToBytes> {
    match build(entry, configuration, element) {
        Ok(Codec::ArrayToBytes(codec)) => codec,
        other => panic!("an array-to-bytes codec: {other:?}"),
    }
}

/// Builds the array-to-array codec of `entry` from the JSON of its configuration.
///
/// # Panics
/// If the codec has another kind, or if the configuration is invalid.
pub fn array_to_array(entry: &CodecEntry, configuration: &str, element: &ElementSpec) -> Arc<dyn ArrayToArray> {
    match build(entry, configuration, element) {
        Ok(Codec::ArrayToArray(codec)) => codec,
        other => panic!("an array-to-array codec: {other:?}"),
    }
}

/// Builds a pipeline from `codecs`, the JSON list of a document.
///
/// # Errors
/// The errors of [`Pipeline::build`].
///
/// # Panics
/// If `codecs` is no list of codecs.
pub fn pipeline(codecs: &str, element: &ElementSpec, table: &Codecs) -> Result<Arc<Pipeline>, Error> {
    let list = Value::from_json(codecs).expect("JSON");
    let named = |codec: &Value| {
        let configuration = codec.get("configuration").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
        let name = codec.get("name").and_then(Value::as_str).expect("a codec has a name");
        zarr_json::NamedConfig::with(name, configuration)
    };
    let codecs: Vec<_> = list.as_array().expect("an array of codecs").iter().map(named).collect();
    Pipeline::build(&codecs, element, table, &Limits::default(), 0, &Warnings::default()).map(Arc::new)
}

/// Returns byte strings of several kinds (empty, constant, counting, noise, long) whose lengths are multiples of `unit`.
pub fn samples(unit: usize) -> Vec<Vec<u8>> {
    let mut noise = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        (noise >> 32) as u8
    };
    let mut samples = vec![Vec::new()];
    for len in [1, 3, 16, 129, 1000, 40_000] {
        let len = len * unit;
        samples.push(vec![7; len]);
        samples.push((0..len).map(|i| (i / unit) as u8).collect());
        samples.push((0..len).map(|_| next()).collect());
    }
    samples
}

/// Decodes `encoded` by a bytes-to-bytes codec into a buffer bounded by `size`.
///
/// # Errors
/// The errors of the codec's `decode`.
pub fn decode_bytes(codec: &dyn BytesToBytes, encoded: &[u8], size: Size) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, size, Limits::default().max_chunk)?;
    codec.decode(encoded, &mut sink)?;
    let len = sink.finish()?;
    out.truncate(len);
    Ok(out)
}

/// Checks that decoding returns the samples that were encoded, with the size known, bounded and unknown, and that encoded sizes are within
/// the bound that the codec says.
///
/// # Panics
/// If the check fails.
pub fn round_trip(codec: &dyn BytesToBytes, samples: &[Vec<u8>]) {
    for sample in samples {
        let mut encoded = vec![0xAA; 3];
        codec.encode(sample, &mut encoded).expect("encodes");
        assert_eq!(encoded[..3], [0xAA; 3], "encode appends");
        let encoded = &encoded[3..];
        let len = sample.len() as u64;
        match codec.encoded_size(Size::Exact(len)) {
            Size::Exact(size) => assert_eq!(encoded.len() as u64, size, "exact size of {len} bytes"),
            Size::AtMost(size) => assert!(encoded.len() as u64 <= size, "{} <= {size} for {len} bytes", encoded.len()),
            Size::Unknown => panic!("size of a known number of bytes"),
        }
        for size in [Size::Exact(len), Size::AtMost(len + 10), Size::Unknown] {
            assert!(
                decode_bytes(codec, encoded, size).expect("decodes") == *sample,
                "{len} bytes come back ({size:?})"
            );
        }
        let mut target = vec![0; sample.len()];
        let mut sink = Sink::exact(&mut target);
        codec.decode(encoded, &mut sink).expect("decodes in place");
        sink.finish().expect("fills its buffer");
        assert!(target == *sample, "{len} bytes come back in place");
        if let Some(cut) = codec.decode_in_place(encoded) {
            assert!(cut.expect("decodes where it lies") == sample, "{len} bytes come back where they lie");
        }
        if len > 0 {
            assert!(decode_bytes(codec, encoded, Size::Exact(len - 1)).is_err(), "more than due is an error");
            assert!(decode_bytes(codec, encoded, Size::AtMost(len - 1)).is_err(), "more than the bound is an error");
        }
        assert!(decode_bytes(codec, encoded, Size::Exact(len + 1)).is_err(), "less than due is an error");
    }
}

/// Flips each bit and cuts each length of encoded `samples`. Each change must give an error or a value within the bound, never a panic;
/// with `detects`, every change of the value must be an error.
///
/// # Panics
/// If the check fails.
pub fn corrupt(codec: &dyn BytesToBytes, samples: &[Vec<u8>], detects: bool) {
    for sample in samples.iter().filter(|sample| sample.len() <= 4096) {
        let mut encoded = Vec::new();
        codec.encode(sample, &mut encoded).expect("encodes");
        let due = sample.len() as u64;
        // Long inputs are changed at spread positions only, to keep tests short.
        let step = (encoded.len() / 300).max(1);
        for at in (0..encoded.len()).filter(|at| *at < 64 || at % step == 0) {
            for bit in 0..8 {
                let mut broken = encoded.clone();
                broken[at] ^= 1 << bit;
                for size in [Size::Exact(due), Size::AtMost(due + 100)] {
                    match decode_bytes(codec, &broken, size) {
                        Ok(value) => {
                            assert!(value.len() as u64 <= due + 100);
                            assert!(!detects || value == *sample, "bit {bit} of byte {at} changes the value unnoticed");
                        }
                        Err(error) => assert!(!error.to_string().is_empty()),
                    }
                }
            }
            let cut = decode_bytes(codec, &encoded[..at], Size::Exact(due));
            assert!(!detects || cut.is_err(), "{at} of {} bytes", encoded.len());
        }
    }
}

/// Encodes a chunk of `items` in C order. Checks that the whole chunk and many regions of it decode to the same elements, from all bytes
/// and by partial decoding. Returns the encoded bytes.
///
/// # Panics
/// If the check fails.
pub fn chunk_round_trip(codecs: &Arc<Pipeline>, shape: &[usize], items: &[u8]) -> Vec<u8> {
    let item = codecs.element().item_size();
    let whole = View::new(items, item, shape).expect("items of the shape");
    let mut encoded = Vec::new();
    codecs.encode(&whole, &mut encoded).expect("encodes");
    let dims: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
    codecs.check(&dims).expect("a good shape");
    match codecs.encoded_size(&dims) {
        Size::Exact(size) => assert_eq!(encoded.len() as u64, size),
        Size::AtMost(size) => assert!(encoded.len() as u64 <= size, "{} <= {size}", encoded.len()),
        Size::Unknown => {}
    }
    for region in regions(&dims) {
        let mut due = Vec::new();
        whole.window(&region).append_to(&mut due).expect("memory");
        assert!(read(codecs, &encoded, &dims, &region, false) == due, "region {region} of {shape:?}");
        assert!(read(codecs, &encoded, &dims, &region, true) == due, "region {region} of {shape:?} by parts");
    }
    encoded
}

/// Decodes `region` from encoded bytes into elements in C order; by partial decoding if `parts` and if the codecs support it.
///
/// # Panics
/// If the bytes do not decode.
pub fn read(codecs: &Arc<Pipeline>, encoded: &[u8], shape: &[u64], region: &Region, parts: bool) -> Vec<u8> {
    let item = codecs.element().item_size();
    let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
    let mut out = vec![0xEE; dims.iter().product::<usize>() * item];
    let view = ViewMut::new(&mut out, item, &dims).expect("a buffer of the region's size");
    let mut view = view.with_heap(codecs.element().new_heap());
    if parts {
        decode_parts(codecs, encoded, shape, region, &mut view).expect("decodes by parts");
    } else {
        codecs.decode(encoded, shape, region, &mut view).expect("decodes");
    }
    out
}

/// Decodes `region` by partial decoding, with the requested ranges taken from bytes in memory, as a reader takes them from a store.
///
/// # Errors
/// The errors of [`Pipeline::decode`].
pub fn decode_parts(
    codecs: &Arc<Pipeline>,
    encoded: &[u8],
    shape: &[u64],
    region: &Region,
    out: &mut ViewMut<'_>,
) -> Result<(), Error> {
    let access = crate::Access { read_size: Some(64), skip_checksums: false };
    let Some(mut decode) = codecs.partial(shape, region, &access) else {
        return codecs.decode(encoded, shape, region, out);
    };
    let mut got: Vec<&[u8]> = Vec::new();
    loop {
        match decode.step(&got, out)? {
            Step::Done => return Ok(()),
            Step::Need(ranges) => {
                let slice = |range: &zarr_bytes::ByteRange| {
                    let range = range.resolve(encoded.len() as u64)?;
                    encoded.get(range.start as usize..range.end as usize)
                };
                let short = || Error::Truncated { codec: "test", found: encoded.len() as u64, expected: 0 };
                got = ranges.iter().map(|range| slice(range).ok_or_else(short)).collect::<Result<_, _>>()?;
            }
            Step::Split(split) => {
                let windows = split.windows(out.reborrow())?;
                for (mut window, overlap) in windows.zip(split.overlaps.iter()) {
                    match split.index.range(&overlap.index)? {
                        None => split.element().fill(&mut window)?,
                        Some(range) => {
                            let short = Error::ShardIndex { what: format!("{range:?} of {} bytes", encoded.len()) };
                            let part = encoded.get(range.start as usize..range.end as usize).ok_or(short)?;
                            decode_parts(&split.codecs, part, &overlap.shape, &overlap.region, &mut window)?;
                        }
                    }
                }
                return Ok(());
            }
        }
    }
}

/// Returns regions of a chunk of `shape` for tests: the whole chunk, single elements, steps and slices.
pub fn regions(shape: &[u64]) -> Vec<Region> {
    let axis = |start, len, step| zarr_grid::AxisRange { start, len, step };
    let each = |part: &dyn Fn(u64) -> zarr_grid::AxisRange| Region::new(shape.iter().map(|&len| part(len))).ok();
    let mut regions = vec![Region::whole(shape)];
    if !shape.contains(&0) {
        regions.extend(each(&|len| axis(len / 2, 1, 1)));
        regions.extend(each(&|len| axis(0, len.div_ceil(2), 1)));
        regions.extend(each(&|len| axis(len / 3, len - len / 3, 1)));
        regions.extend(each(&|len| axis(0, len.div_ceil(2), 2)));
        regions.extend(each(&|len| axis(len / 4, (len - len / 4).div_ceil(3), 3)));
        for fixed in 0..shape.len() {
            let part = |(at, &len): (usize, &u64)| if at == fixed { axis(len - 1, 1, 1) } else { axis(0, len, 1) };
            regions.extend(Region::new(shape.iter().enumerate().map(part)).ok());
        }
    }
    regions
}

/// Changes an encoded chunk at every position, and decodes: each change must give an error or a value, never a panic.
///
/// # Panics
/// If a decode panics.
pub fn corrupt_chunk(codecs: &Arc<Pipeline>, shape: &[u64], encoded: &[u8]) {
    let item = codecs.element().item_size();
    let dims: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let region = Region::whole(shape);
    let mut out = vec![0; dims.iter().product::<usize>() * item];
    let mut attempt = |broken: &[u8]| {
        let heap = codecs.element().new_heap();
        for parts in [false, true] {
            let mut view =
                ViewMut::new(&mut out, item, &dims).expect("a buffer of the chunk's size").with_heap(heap.clone());
            let result = if parts {
                decode_parts(codecs, broken, shape, &region, &mut view)
            } else {
                codecs.decode(broken, shape, &region, &mut view)
            };
            if let Err(error) = result {
                assert!(!error.to_string().is_empty());
            }
        }
    };
    let step = (encoded.len() / 300).max(1);
    for at in (0..encoded.len()).filter(|at| *at < 64 || at % step == 0 || encoded.len() - at < 64) {
        for bit in 0..8 {
            let mut broken = encoded.to_vec();
            broken[at] ^= 1 << bit;
            attempt(&broken);
        }
        attempt(&encoded[..at]);
    }
}
