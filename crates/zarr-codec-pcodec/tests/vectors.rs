//! Arrays that numcodecs encoded, made by `vectors.py`.

use zarr_codec::testing::vectors::of_numbers;

#[test]
fn numcodecs_arrays_decode() {
    of_numbers(&[zarr_codec_pcodec::PCODEC], include_str!("vectors.jsonl"));
}
