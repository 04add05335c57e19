//! Chunks decoded and encoded block by block are as if that were done at once.

use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::{Pipeline, ViewMut, testing};
use zarr_grid::{AxisRange, Region};

fn chain(data_type: &str, codecs: &str) -> Arc<Pipeline> {
    testing::pipeline(codecs, &testing::element(data_type), &zarr::registry::default().codecs).unwrap()
}

/// An axis of a chunk and a part of it.
fn axis() -> impl Strategy<Value = (usize, AxisRange)> {
    let part = |(len, step): (usize, u64)| {
        let len_of = move |start: u64| (len as u64 - start).div_ceil(step);
        let range = (0..len as u64).prop_flat_map(move |start| (Just(start), 0..=len_of(start)));
        range.prop_map(move |(start, count)| (len, AxisRange { start, len: count, step }))
    };
    (1usize..40, prop_oneof![3 => Just(1u64), 1 => 1u64..5]).prop_flat_map(part)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn regions_of_blosc_frames_are_parts_of_the_whole(
        axes in prop::collection::vec(axis(), 0..4),
        data_type in prop::sample::select(vec!["uint8", "uint16", "bool", "float64", "complex128"]),
        endian in prop::sample::select(vec!["little", "big"]),
        cname in prop::sample::select(vec!["blosclz", "lz4", "zstd"]),
        shuffle in prop::sample::select(vec!["noshuffle", "shuffle", "bitshuffle"]),
        type_size in prop::sample::select(vec![1usize, 2, 3, 8, 16]),
        block in prop::sample::select(vec![0usize, 128, 200, 256, 1000, 4096]),
        level in 0u8..=9,
        repeats in 1usize..100,
        checked in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let blosc = format!(
            r#"{{"name": "blosc", "configuration": {{"cname": "{cname}", "clevel": {level}, "shuffle": "{shuffle}",
                "typesize": {type_size}, "blocksize": {block}}}}}"#
        );
        let after = if checked { r#", {"name": "crc32c"}"# } else { "" };
        let codecs = format!(r#"[{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}, {blosc}{after}]"#);
        let chain = chain(data_type, &codecs);
        let shape: Vec<usize> = axes.iter().map(|&(len, _)| len).collect();
        let count: usize = shape.iter().product();
        let item = chain.element().item_size();
        let byte = |at: usize| if data_type == "bool" { (at / repeats % 2) as u8 } else { (at / repeats * 7) as u8 };
        let items: Vec<u8> = (0..count * item).map(byte).collect();
        let encoded = testing::chunk_round_trip(&chain, &shape, &items);

        let dims: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        let region = Region::new(axes.iter().map(|&(_, range)| range)).unwrap();
        let whole = zarr_codec::View::new(&items, item, &shape).unwrap();
        let mut due = Vec::new();
        whole.window(&region).append_to(&mut due).unwrap();
        for parts in [false, true] {
            prop_assert_eq!(&testing::read(&chain, &encoded, &dims, &region, parts), &due);
        }

        // Into rows with gaps, in which nothing else is written.
        let mut gaps = vec![0xEE; due.len() * 2];
        let taken: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
        let mut strides: Vec<isize> = taken.iter().rev().scan(2 * item as isize, |stride, &len| {
            let this = *stride;
            *stride *= len as isize;
            Some(this)
        }).collect();
        strides.reverse();
        let mut view = ViewMut::from_strides(&mut gaps, item, &taken, 0, &strides).unwrap();
        chain.decode(&encoded, &dims, &region, &mut view).unwrap();
        for (found, due) in gaps.chunks(2 * item).zip(due.chunks(item)) {
            prop_assert_eq!(&found[..item], due);
            prop_assert!(found[item..].iter().all(|&byte| byte == 0xEE));
        }

        // Whatever is wrong with a frame is an error or other data, by blocks as at once.
        let mut broken = encoded.clone();
        let at = cut.index(broken.len());
        broken[at] ^= 0x55;
        let mut out = vec![0; due.len()];
        let mut view = ViewMut::new(&mut out, item, &taken).unwrap();
        let _ = chain.decode(&broken, &dims, &region, &mut view);
        let _ = testing::decode_parts(&chain, &broken, &dims, &region, &mut view);
        let _ = chain.decode(&encoded[..at], &dims, &region, &mut view);
    }

    #[test]
    fn blosc_frames_equal_frames_of_the_elements_in_one_piece(
        axes in prop::collection::vec(axis(), 0..4),
        data_type in prop::sample::select(vec!["uint8", "uint16", "bool", "float64", "complex128"]),
        endian in prop::sample::select(vec!["little", "big"]),
        cname in prop::sample::select(vec!["blosclz", "lz4", "snappy"]),
        shuffle in prop::sample::select(vec!["noshuffle", "shuffle", "bitshuffle"]),
        type_size in prop::sample::select(vec![1usize, 2, 3, 16]),
        block in prop::sample::select(vec![0usize, 128, 200, 1000, 150_000]),
        level in 0u8..=9,
        repeats in 1usize..100,
        checked in any::<bool>(),
        wrong in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let configuration = format!(
            r#"{{"cname": "{cname}", "clevel": {level}, "shuffle": "{shuffle}", "typesize": {type_size}, "blocksize": {block}}}"#
        );
        let after = if checked { r#", {"name": "crc32c"}"# } else { "" };
        let blosc = format!(r#"{{"name": "blosc", "configuration": {configuration}}}{after}"#);
        let bytes = format!(r#"{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}"#);
        let plain = chain(data_type, &format!("[{bytes}]"));
        let item = plain.element().item_size();
        let shape: Vec<usize> = axes.iter().map(|&(len, _)| len).collect();
        let byte = |at: usize| if data_type == "bool" { (at / repeats % 2) as u8 } else { (at / repeats * 7) as u8 };
        let mut items: Vec<u8> = (0..shape.iter().product::<usize>() * item).map(byte).collect();
        if let Some(wrong) = wrong {
            let at = wrong.index(items.len());
            items[at] = 2;
        }
        let region = Region::new(axes.iter().map(|&(_, range)| range)).unwrap();
        let whole = zarr_codec::View::new(&items, item, &shape).unwrap();
        // In C order, and with the axes turned.
        let part = whole.window(&region);
        let turned: Vec<usize> = (0..shape.len()).rev().collect();
        for view in [part.clone().permuted(&turned), part] {
            let mut encoded = Vec::new();
            let result = chain(data_type, &format!("[{bytes}, {blosc}]")).encode(&view, &mut encoded);
            let mut elements = Vec::new();
            if let Err(due) = plain.encode(&view, &mut elements) {
                prop_assert_eq!(result.unwrap_err().to_string(), due.to_string());
                continue;
            }
            result.unwrap();
            // Bytes that lie one behind the other are taken as they are.
            let mut due = Vec::new();
            let elements = zarr_codec::View::new(&elements, 1, &[elements.len()]).unwrap();
            chain("uint8", &format!(r#"[{{"name": "bytes"}}, {blosc}]"#)).encode(&elements, &mut due).unwrap();
            prop_assert!(encoded == due);
        }
    }
}
