//! Time that a read takes beside requests and decoding: on this machine, for each read, each chunk and each byte of the result.

use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use zarr_array::{Array, NewArray, Registry, Result, Store};
use zarr_store::MemoryStore;

/// Number of chunks of the array that is measured.
const CHUNKS: usize = 1024;
/// Number of bytes of memory that are written for the first time.
const BYTES: usize = 8 << 20;
/// Number of runs, of which the fastest counts.
const RUNS: usize = 7;

/// Seconds that a read takes beside requests and decoding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead {
    /// For a read.
    pub(super) read: f64,
    /// For each chunk that is decoded.
    pub(super) chunk: f64,
    /// For each byte of the result, whose memory is written for the first time.
    pub(super) byte: f64,
}

impl Overhead {
    /// Measures a read of small chunks in memory, once in the life of the process.
    pub(super) fn measured(registry: &Arc<Registry>) -> Result<Self> {
        static MEASURED: OnceLock<Overhead> = OnceLock::new();
        if let Some(measured) = MEASURED.get() {
            return Ok(*measured);
        }
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[CHUNKS as u64], "uint8").chunks(&[1]).codecs("none")?;
        let array = Array::create(&store, "/", new, registry)?;
        array.write(.., &vec![1_u8; CHUNKS])?;
        let all = fastest(|| array.read_data(..).map(drop))?;
        let one = fastest(|| array.read_data(..2).map(drop))?;
        let memory = fastest(|| {
            drop(black_box(vec![1_u8; BYTES]));
            Ok(())
        })?;
        let chunk = (all - one).max(0.0) / CHUNKS as f64;
        let measured = Self { read: one, chunk, byte: memory / BYTES as f64 };
        Ok(*MEASURED.get_or_init(|| measured))
    }
}

/// Returns the seconds of the fastest of some runs.
fn fastest(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::MAX;
    for _ in 0..RUNS {
        let begun = Instant::now();
        run()?;
        least = least.min(begun.elapsed().as_secs_f64());
    }
    Ok(least)
}
