//! Bombs: few bytes that decode to many, so that a decoder must stop at its limit.

use super::{layers, seeds};
use crate::random::Random;
use flate2::{Compress, Compression, FlushCompress};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use zarr_json::json;

/// Number of zeros of each of the `PIECES` pieces of a bomb; together more than a process may use.
const PIECE: usize = 1 << 20;
const PIECES: usize = 640;

/// Returns an input whose chunk decodes to far more than its elements, or than the limit; `None` if the codec cannot do that.
pub(super) fn input(random: &mut Random, codec: &str) -> Option<Vec<u8>> {
    static BOMBS: LazyLock<Mutex<HashMap<String, Option<Vec<u8>>>>> = LazyLock::new(Mutex::default);
    let mut bombs = BOMBS.lock().unwrap_or_else(PoisonError::into_inner);
    let chunk = bombs.entry(codec.to_owned()).or_insert_with(|| bomb(codec)).as_ref()?;
    let codec = json!({"name": codec});
    // With elements of a known size, and without.
    Some(match random.below(2) {
        0 => seeds::input(json!("uint8"), Some(json!(0)), &[7, 5], vec![json!({"name": "bytes"}), codec], chunk),
        _ => seeds::input(json!("bytes"), Some(json!("")), &[3], vec![json!({"name": "vlen-bytes"}), codec], chunk),
    })
}

fn bomb(codec: &str) -> Option<Vec<u8>> {
    match codec {
        "zstd" | "numcodecs.zstd" => Some(zstd()),
        "numcodecs.zlib" => Some([&[0x78, 0xda][..], &deflated()].concat()),
        "gzip" | "numcodecs.gzip" => Some([b"\x1f\x8b\x08\0\0\0\0\0\0\xff", &*deflated()].concat()),
        // One frame after the other.
        "numcodecs.bz2" | "numcodecs.lzma" => {
            let mut frame = Vec::new();
            layers::named(codec, json!({}))?.encode(&vec![0; PIECE], &mut frame).ok()?;
            Some(frame.repeat(PIECES))
        }
        _ => None,
    }
}

/// Returns a zstd frame of unknown size (RFC 8878), whose blocks each repeat one byte.
fn zstd() -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    let [low, middle, high, _] = (BLOCK << 3 | 1 << 1).to_le_bytes();
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
    frame.extend([low, middle, high, 0].repeat(PIECES * PIECE / BLOCK as usize));
    // The last one, without bytes.
    frame.extend([1, 0, 0]);
    frame
}

/// Returns a deflate stream whose blocks begin at whole bytes.
fn deflated() -> Vec<u8> {
    let mut piece = Vec::with_capacity(PIECE);
    let mut deflate = Compress::new(Compression::best(), false);
    // The room is that of the input, so that one call does it.
    let _ = deflate.compress_vec(&vec![0; PIECE], &mut piece, FlushCompress::Full);
    piece.repeat(PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bombs_are_refused_at_the_limit() {
        for codec in ["gzip", "numcodecs.zlib", "zstd", "numcodecs.bz2", "numcodecs.lzma"] {
            for seed in 0..8 {
                let input = input(&mut Random::new(seed), codec).unwrap();
                assert!(!super::super::run(&input), "{codec}");
                let (document, chunk) = super::super::line(&input);
                let array = super::super::opened(&document).unwrap();
                array.write_chunk_bytes(&vec![0; array.shape().len()], chunk).unwrap();
                let error = array.read_data(zarr_grid::Selection::all()).unwrap_err().to_string();
                // All of the format is right but how much there is of it: 35 elements, or the limit.
                let limit = [35, 32 << 20].iter().any(|size: &u32| error.contains(&size.to_string()));
                assert!(limit, "{codec}: {error}");
            }
        }
    }
}
