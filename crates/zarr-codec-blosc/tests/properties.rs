//! Compressed data is decompressed, whole and in part, whatever the options.

use proptest::prelude::*;
use zarr_codec_blosc::{Compressor, Frame, Options, Shuffle, compress, decode, decode_range};

fn arb_bytes() -> impl Strategy<Value = Vec<u8>> {
    let run = (any::<u8>(), any::<u8>(), 0usize..3000).prop_map(|(first, step, len)| {
        (0..len).map(move |i| first.wrapping_add(step.wrapping_mul((i / 8) as u8))).collect::<Vec<_>>()
    });
    let noise = prop::collection::vec(any::<u8>(), 0..600);
    prop::collection::vec(prop_oneof![run, noise], 0..6).prop_map(|pieces| pieces.concat())
}

fn arb_options() -> impl Strategy<Value = Options> {
    let compressor = prop::sample::select(Compressor::ALL.to_vec());
    let shuffle = prop::sample::select(vec![Shuffle::None, Shuffle::Bytes, Shuffle::Bits]);
    let block = prop_oneof![Just(0), 1usize..5000];
    (compressor, 0u8..8, shuffle, 0usize..40, block).prop_map(|(compressor, level, shuffle, type_size, block_size)| {
        Options { compressor, level, shuffle, type_size, block_size }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn comes_back(
        bytes in arb_bytes(),
        options in arb_options(),
        ends in any::<[prop::sample::Index; 2]>(),
    ) {
        let mut frame = b"before".to_vec();
        compress(&bytes, &options, &mut frame)?;
        prop_assert_eq!(&frame[..6], b"before");
        let frame = &frame[6..];
        prop_assert!(frame.len() <= bytes.len() + 16);

        let mut out = vec![0xEE; bytes.len()];
        decode(frame, &mut out)?;
        prop_assert!(out == bytes);

        let ends = ends.map(|end| end.index(bytes.len() + 1));
        let range = ends[0].min(ends[1])..ends[0].max(ends[1]);
        let part = &mut out[range.clone()];
        part.fill(0xEE);
        decode_range(frame, range.clone(), part)?;
        prop_assert!(*part == bytes[range]);

        let frame = Frame::parse(frame)?;
        let mut blocks = Vec::new();
        for block in 0..frame.header().block_count() {
            let mut out = vec![0xEE; frame.block_range(block).len()];
            frame.decode_block(block, &mut out)?;
            blocks.extend(out);
        }
        prop_assert!(blocks == bytes);
        prop_assert!(frame.block_range(frame.header().block_count()).is_empty());
    }
}

#[test]
fn ranges_and_buffers_must_fit() {
    let mut frame = Vec::new();
    compress(&[1; 1000], &Options::default(), &mut frame).expect("compresses");
    let mut out = [0; 10];
    for range in [0..11, 995..1005, 1000..1010, usize::MAX - 10..usize::MAX] {
        assert!(decode_range(&frame, range, &mut out).is_err());
    }
    assert!(Frame::parse(&frame).expect("a frame").decode_block(0, &mut out).is_err());
    assert!(Frame::parse(&frame).expect("a frame").decode_block(7, &mut out).is_err());
    decode_range(&frame, 1000..1000, &mut []).expect("no bytes at the end");
}

/// Writers with many threads store blocks in any order.
#[test]
fn blocks_may_be_stored_in_any_order() {
    let bytes: Vec<u8> = (0..3000u32).map(|i| (i / 9) as u8).collect();
    let options = Options { compressor: Compressor::Zstd, block_size: 1000, type_size: 1, ..Options::default() };
    let mut frame = Vec::new();
    compress(&bytes, &options, &mut frame).expect("compresses");
    let start = |block: usize| u32::from_le_bytes(frame[16 + 4 * block..][..4].try_into().expect("4 bytes")) as usize;
    let (first, second, third) = (start(0), start(1), start(2));
    assert_eq!(first, 16 + 3 * 4);
    let mut turned = frame[..first].to_vec();
    for (block, part) in [(2, third..frame.len()), (0, first..second), (1, second..third)] {
        let at = turned.len() as u32;
        turned[16 + 4 * block..][..4].copy_from_slice(&at.to_le_bytes());
        turned.extend_from_slice(&frame[part]);
    }
    let mut out = vec![0; bytes.len()];
    decode(&turned, &mut out).expect("decodes");
    assert!(out == bytes);
}

/// A stream of zstd may consist of several frames, contain skippable frames, and lack its decoded size.
#[test]
fn zstd_streams_may_have_any_form() {
    let bytes: Vec<u8> = (0..2000u32).map(|i| (i / 9) as u8).collect();
    let mut stream = vec![0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
    for half in bytes.chunks(1000) {
        stream.extend(zstd::stream::encode_all(half, 3).expect("compresses"));
    }
    let mut frame = vec![2, 1, 0x90, 1];
    for number in [2000u32, 2000, 16 + 4 + 4 + stream.len() as u32, 20, stream.len() as u32] {
        frame.extend(number.to_le_bytes());
    }
    frame.extend(&stream);
    let mut out = vec![0; 2000];
    decode(&frame, &mut out).expect("decodes");
    assert!(out == bytes);
}
