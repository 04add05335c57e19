//! Arrays that numcodecs and zfpy encoded, made by `vectors.py`.

use zarr_codec::testing::vectors::of_numbers;

#[test]
fn arrays_of_the_c_library_decode() {
    of_numbers(&[zarr_codec_zfp::ZFP, zarr_codec_zfp::ZFPY], include_str!("vectors.jsonl"));
}
