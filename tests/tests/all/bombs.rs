//! Small values that claim to be, or are, far larger than memory: an error each, in a process that may take 256 MiB more.

use std::process::Command;
use std::sync::Arc;
use zarr_codec::testing::{bytes_to_bytes, element};
use zarr_json::{Value, json};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

/// The memory that the process may take in addition, in bytes.
const GROWTH: u64 = 256 << 20;

#[test]
fn claims_of_terabytes_are_errors() {
    in_own_process("bombs::under_a_limit", "all bombs were errors");
}

/// Runs an ignored test of this program in a process of its own, which is to say so when it has come to its end.
pub(crate) fn in_own_process(test: &str, end: &str) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", test, "--nocapture", "--test-threads", "1"]);
    // The allocator reserves addresses for every thread, which are not counted here.
    let output = child.env("MALLOC_ARENA_MAX", "1").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains(end), "{}", text(&output.stdout));
}

/// Limits the memory of this process to [`GROWTH`] more than it has here.
pub(crate) fn limit_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let size: u64 = line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024;
    let limit = rustix::process::Rlimit { current: Some(size + GROWTH), maximum: Some(size + GROWTH) };
    rustix::process::setrlimit(rustix::process::Resource::As, limit).unwrap();
}

#[test]
#[ignore = "limits its process: run by the test above in one of its own"]
fn under_a_limit() {
    let bombs = bombs();
    limit_memory();
    for (codec, what, bytes) in &bombs {
        // The decoded size is known, is known to be large, and is not known.
        for (data_type, chunk, serializer) in
            [("uint8", 16_u64, "bytes"), ("uint8", 1 << 31, "bytes"), ("string", 16, "vlen-utf8")]
        {
            println!("{} with {what}: {chunk} of {data_type}", codec);
            let result = read(codec, data_type, chunk, serializer, bytes);
            println!("    {result:?}");
            // A dictionary takes the memory that it is filled with, so that 16 bytes may come out of the largest.
            assert!(result.is_err() || what.contains("dictionary"), "{codec}: {what}");
        }
    }
    println!("all bombs were errors");
}

/// Reads the first element of an array whose one chunk is `bytes`.
fn read(codec: &Value, data_type: &str, chunk: u64, serializer: &str, bytes: &[u8]) -> Result<(), zarr::Error> {
    let fill = if data_type == "string" { json!("") } else { json!(0) };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [chunk], "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [serializer, (codec.clone())], "attributes": {}
    });
    let store = MemoryStore::new();
    store.set_all(&Key::new("zarr.json")?, document.to_string().as_bytes())?;
    store.set_all(&Key::new("c/0")?, bytes)?;
    let store: Arc<dyn Store> = Arc::new(store);
    zarr::open(&store).array()?.read_data(0..1_u64).map(drop)
}

/// A codec, the kind of bomb, and the bytes.
fn bombs() -> Vec<(Value, &'static str, Vec<u8>)> {
    let named = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    let gzip = named("gzip", json!({"level": 9}));
    let zlib = named("numcodecs.zlib", json!({"level": 9}));
    let zstd = named("zstd", json!({"level": 3, "checksum": false}));
    let bz2 = named("numcodecs.bz2", json!({"level": 9}));
    let lz4 = named("numcodecs.lz4", json!({"acceleration": 1}));
    let lzma = |format: u64| {
        named("numcodecs.lzma", json!({"format": format, "check": (-1), "preset": null, "filters": null}))
    };
    let blosc = json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0});
    let blosc = named("blosc", blosc);
    let sixteen = |codec: &Value| encode(codec, &[0; 16]);
    let mut bombs = Vec::new();

    // Members, frames and streams that follow each other are one value: a gibibyte and more of zeros.
    let part = vec![0; 8 << 20];
    for codec in [&gzip, &zstd, &bz2] {
        bombs.push((codec.clone(), "a gibibyte of zeros", encode(codec, &part).repeat(160)));
    }
    let mut zeros = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    (0..160).for_each(|_| std::io::Write::write_all(&mut zeros, &part).unwrap());
    bombs.push((zlib, "a gibibyte of zeros", zeros.finish().unwrap()));

    let mut size = sixteen(&gzip);
    let end = size.len();
    size[end - 4..].fill(0xff);
    bombs.push((gzip, "a size of 4 GiB", size));
    // One frame in one segment whose window is as large as its content, of one block that repeats a byte.
    let frame = |size: u64| [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &size.to_le_bytes(), &[0x83, 0, 0, 7]].concat();
    bombs.push((zstd.clone(), "a size of 4 TiB", frame(1 << 42)));
    bombs.push((zstd.clone(), "a size of 2 GiB", frame(1 << 31)));
    // A window of 3.75 TiB without a size.
    bombs.push((zstd, "a window of terabytes", vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x83, 0, 0, 7]));
    bombs.push((lz4.clone(), "a size of 2 GiB", [&0x7e00_0000_u32.to_le_bytes()[..], &sixteen(&lz4)[4..]].concat()));
    for block in [1_u32 << 20, 0x7fff_ffef] {
        let mut header = sixteen(&blosc);
        header[4..8].copy_from_slice(&0x7fff_ffef_u32.to_le_bytes());
        header[8..12].copy_from_slice(&block.to_le_bytes());
        bombs.push((blosc.clone(), "a size of 2 GiB", header));
    }
    let alone =
        |dictionary: u32, size: u64| [&[0x5d][..], &dictionary.to_le_bytes(), &size.to_le_bytes(), &[0; 16]].concat();
    bombs.push((lzma(2), "a dictionary of 4 GiB", alone(u32::MAX, 16)));
    bombs.push((lzma(2), "a size of 4 TiB", alone(1 << 16, 1 << 42)));
    // The size of the dictionary is one byte in the header of the block, which has a checksum.
    let mut stream = sixteen(&lzma(1));
    let header = 12..24;
    assert_eq!(stream[14..16], [0x21, 0x01], "a header with one filter, LZMA2");
    stream[16] = 40;
    let sum = crc32(&stream[header.start..header.end - 4]);
    stream[header.end - 4..header.end].copy_from_slice(&sum.to_le_bytes());
    bombs.push((lzma(1), "a dictionary of 4 GiB", stream));
    bombs
}

fn encode(codec: &Value, bytes: &[u8]) -> Vec<u8> {
    let registry = zarr::registry::default();
    let entry = registry.codecs.get(codec.get("name").and_then(Value::as_str).unwrap()).unwrap();
    let mut encoded = Vec::new();
    let configuration = codec.get("configuration").unwrap().to_string();
    bytes_to_bytes(entry, &configuration, &element("uint8")).encode(bytes, &mut encoded).unwrap();
    encoded
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
