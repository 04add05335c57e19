//! Copies of rows between a large array and one chunk at a time, each instruction set beside a plain loop: GB/s of one thread,
//! the best of several runs in turn.
//!
//! `cargo bench -p zarr-kernels [PART OF A NAME]`
#![expect(unsafe_code)]

use std::time::Instant;
use zarr_kernels::{Isa, Rows};

/// Elements along each axis of the array, which have two bytes, and bytes along its last axis.
const ARRAY: [usize; 3] = [128, 512, 1024];
const LINE: usize = ARRAY[2] * 2;

/// A copy of rows, and how it is done.
#[derive(Clone, Copy)]
struct Way {
    /// Bytes along each axis of a chunk: planes, rows, bytes of a row.
    chunk: [usize; 3],
    /// Whether rows are copied from the chunk to the array, instead of the other way.
    scatter: bool,
    width: usize,
    stream: bool,
}

/// Copies all chunks of the array, each from or to the same buffer.
fn all(isa: Option<Isa>, way: Way, array: &mut [u8], chunk: &mut [u8]) {
    let [planes, rows, len] = way.chunk;
    for plane in 0..ARRAY[0] {
        for first in (0..ARRAY[1]).step_by(rows) {
            for left in (0..LINE).step_by(len) {
                let in_array = (plane * ARRAY[1] + first) * LINE + left;
                let in_chunk = plane % planes * rows * len;
                let (near, far) =
                    (&mut chunk[in_chunk..][..rows * len], &mut array[in_array..][..(rows - 1) * LINE + len]);
                let Some(isa) = isa else {
                    for (near, far) in near.chunks_mut(len).zip(far.chunks_mut(LINE)) {
                        let far = &mut far[..len];
                        if way.scatter { far.copy_from_slice(near) } else { near.copy_from_slice(far) }
                    }
                    continue;
                };
                let (to, from, to_step, from_step) = if way.scatter {
                    (far.as_mut_ptr(), near.as_ptr(), LINE, len)
                } else {
                    (near.as_mut_ptr(), far.as_ptr(), len, LINE)
                };
                let rows = Rows { count: rows, len, to_step: to_step as isize, from_step: from_step as isize };
                // SAFETY: both slices hold the rows at these steps, and are parts of different buffers.
                unsafe { isa.copy_rows(to, from, rows, way.width, way.stream) };
            }
        }
    }
    if let Some(isa) = isa {
        isa.finish_streams();
    }
}

fn main() {
    let mut array = vec![1; ARRAY[0] * ARRAY[1] * LINE];
    let mut chunk = vec![2; 4 << 20];
    let way = |chunk, scatter, width, stream| Way { chunk, scatter, width, stream };
    for (name, way) in [
        ("gather 256 B", way([128, 128, 256], false, 1, false)),
        ("gather 64 B", way([32, 32, 64], false, 1, false)),
        ("gather 256 B, reversed", way([128, 128, 256], false, 2, false)),
        ("scatter 256 B", way([128, 128, 256], true, 1, false)),
        ("scatter 256 B, past the cache", way([128, 128, 256], true, 1, true)),
        ("scatter 64 B, past the cache", way([32, 32, 64], true, 1, true)),
    ] {
        if !zarr_bench_protocol::wanted(name) {
            continue;
        }
        let ways: Vec<Option<Isa>> = Isa::available().map(Some).chain([None]).collect();
        let mut best = vec![f64::MAX; ways.len()];
        for _ in 0..7 {
            for (isa, best) in ways.iter().zip(&mut best) {
                let start = Instant::now();
                all(*isa, way, &mut array, &mut chunk);
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        let speeds = ways.iter().zip(&best).map(|(isa, best)| {
            let name = isa.map_or("plain loop".to_owned(), |isa| format!("{isa:?}"));
            format!("{name} {:.1}", array.len() as f64 / best / 1e9)
        });
        println!("{name}: {}", speeds.collect::<Vec<_>>().join(", "));
    }
}
