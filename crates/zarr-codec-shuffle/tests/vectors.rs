//! Data that numcodecs encoded, made by `vectors.py`.

use zarr_codec::testing::vectors::{Written, of_bytes};

#[test]
fn numcodecs_data_decodes() {
    of_bytes(&zarr_codec_shuffle::SHUFFLE, include_str!("vectors.jsonl"), Written::Same);
}
