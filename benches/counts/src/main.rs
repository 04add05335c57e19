//! Small, fixed pieces of work whose instructions are counted: `zarr-bench-counts CASE`. It has the features of these alone, so that it is
//! built soon.

use std::sync::Arc;
use zarr::registry::Registry;
use zarr::store::MemoryStore;
use zarr::{Array, NewArray, Store};

/// Any error of a case.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const TURN: &str = r#"{"name":"transpose","configuration":{"order":[2,1,0]}}"#;
const BLOSC: &str = r#"{"name":"blosc","configuration":{"cname":"blosclz","clevel":9,"shuffle":"bitshuffle","typesize":2,"blocksize":0}}"#;

/// The cases, by name.
const CASES: [&str; 7] = ["plain", "turned", "blosc", "shard", "element", "bool", "text"];

fn main() -> Result<(), Failure> {
    count(&std::env::args().nth(1).unwrap_or_default())
}

/// Writes a small array and reads it, so often that reading is nearly all of the work.
fn count(case: &str) -> Result<(), Failure> {
    let shard = format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[8,8,8],"codecs":[{LITTLE}],"index_codecs":[{LITTLE}]}}}}"#
    );
    let (chunks, codecs, selection, times) = match case {
        "plain" => ([16, 16, 16], LITTLE.to_owned(), "...", 20),
        "turned" => ([32, 32, 32], format!("{TURN},{BIG}"), "...", 20),
        "blosc" => ([32, 32, 32], format!("{LITTLE},{BLOSC}"), "...", 20),
        "shard" => ([64, 64, 64], shard, "...", 20),
        "element" => ([16, 16, 16], LITTLE.to_owned(), "5, 17, 33", 2000),
        "bool" => return checked(),
        "text" => return texts(),
        _ => return Err(format!("case {case:?}, expected one of {CASES:?}").into()),
    };
    let array = array("uint16", &[64, 64, 64], &chunks, &codecs)?;
    let elements: Vec<u16> = (0..64u32 * 64 * 64).map(|at| (at % 64 + at / 4096) as u16).collect();
    array.write(.., &elements)?;
    let mut sum = 0u64;
    for _ in 0..times {
        sum += array.read::<u16>(selection)?.iter().map(|&element| u64::from(element)).sum::<u64>();
    }
    println!("{sum}");
    Ok(())
}

/// Bytes that may be no booleans, which is looked for in all that is read and written.
fn checked() -> Result<(), Failure> {
    let array = array("bool", &[1 << 18], &[1 << 16], LITTLE)?;
    let elements: Vec<bool> = (0..1 << 18).map(|at| at % 3 == 0).collect();
    let mut sum = 0;
    for _ in 0..20 {
        array.write(.., &elements)?;
        sum += array.read::<bool>(..)?.iter().filter(|&&element| element).count();
    }
    println!("{sum}");
    Ok(())
}

/// Writes strings and reads them 20 times; each is checked to be UTF-8.
fn texts() -> Result<(), Failure> {
    let array = array("string", &[1 << 14], &[1 << 12], r#"{"name":"vlen-utf8"}"#)?;
    let elements: Vec<String> = (0..1 << 14).map(|at| "abcdefgh".repeat(at % 4)).collect();
    array.write(.., &elements)?;
    let mut sum = 0;
    for _ in 0..20 {
        sum += array.read::<String>(..)?.iter().map(String::len).sum::<usize>();
    }
    println!("{sum}");
    Ok(())
}

fn array(data_type: &str, shape: &[u64], chunks: &[u64], codecs: &str) -> Result<Array, Failure> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(shape, data_type).chunks(chunks).codecs(format!("[{codecs}]"))?;
    let registry: Arc<Registry> = zarr::registry::default();
    Ok(Array::create(&store, "/", new, &registry)?)
}
