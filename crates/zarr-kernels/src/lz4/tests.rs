use super::*;
use proptest::prelude::*;

/// Decompresses a block by the description of the format, as a model for the tests; `None` if it is invalid.
fn model(block: &[u8], room: usize) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::new(), block.iter().copied());
    let count = |bits: u8, rest: &mut dyn Iterator<Item = u8>| {
        let mut count = usize::from(bits);
        let mut more = bits == 15;
        while more {
            let byte = rest.next()?;
            count += usize::from(byte);
            more = byte == 255;
        }
        Some(count)
    };
    loop {
        let token = rest.next()?;
        for _ in 0..count(token >> 4, &mut rest)? {
            out.push(rest.next()?);
        }
        if out.len() > room {
            return None;
        }
        let Some(low) = rest.next() else { return Some(out) };
        let distance = usize::from(u16::from_le_bytes([low, rest.next()?]));
        let len = count(token & 15, &mut rest)? + 4;
        if distance == 0 || distance > out.len() || out.len() + len > room {
            return None;
        }
        (0..len).for_each(|_| out.push(out[out.len() - distance]));
    }
}

fn round_trip(plain: &[u8], acceleration: usize) -> usize {
    let mut block = vec![0; max_compressed_size(plain.len())];
    let size = compress(plain, &mut block, acceleration).unwrap();
    let block = &block[..size];
    let mut out = vec![0xEE; plain.len()];
    assert_eq!(decompress(block, &mut out), Ok(plain.len()));
    assert!(out == plain);
    assert_eq!(model(block, plain.len()).as_deref(), Some(plain));
    // With less room the result is the same block, or `None`.
    for room in [size - 1, size, size + 4] {
        let mut small = vec![0; room];
        if let Some(found) = compress(plain, &mut small, acceleration) {
            assert!(small[..found] == *block);
        }
    }
    size
}

#[test]
fn sizes_and_accelerations() {
    let noise: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let words: Vec<u8> = (0..40_000u32).flat_map(|i| format!("{} ", i * i % 1000).into_bytes()).collect();
    for len in (0..40).chain([65_535, 65_546, 65_547, 65_548, 100_000]) {
        for acceleration in [0, 1, 5, 1000, usize::MAX] {
            round_trip(&noise[..len], acceleration);
            round_trip(&words[..len], acceleration);
            round_trip(&vec![7; len], acceleration);
        }
    }
    assert!(round_trip(&words, 1) < words.len() / 2);
    assert!(round_trip(&[7; 100_000], 1) < 500);
}

fn high(plain: &[u8], attempts: usize, chains: &mut Chains) -> usize {
    let mut block = vec![0; max_compressed_size(plain.len())];
    let size = compress_high(plain, &mut block, attempts, chains).unwrap();
    let mut out = vec![0xEE; plain.len()];
    assert_eq!(decompress(&block[..size], &mut out), Ok(plain.len()));
    assert!(out == plain);
    assert_eq!(model(&block[..size], plain.len()).as_deref(), Some(plain));
    size
}

#[test]
fn more_attempts_compress_more() {
    let mut chains = Chains::new();
    let words: Vec<u8> = (0..40_000u32)
        .flat_map(|i| format!("{} ", (i.wrapping_mul(2_654_435_761) >> 9) % 500 * 37).into_bytes())
        .collect();
    for len in (0..40).chain([65_535, 65_536, 65_537, 100_000, words.len()]) {
        let sizes = [1, 8, 256].map(|attempts| high(&words[..len], attempts, &mut chains));
        assert!(sizes.is_sorted_by(|few, many| few >= many), "{sizes:?}");
        high(&vec![7; len], 4, &mut chains);
    }
    let (high, plain) = (high(&words, 64, &mut chains), round_trip(&words, 1));
    assert!(high * 5 < plain * 4, "{high} and {plain} bytes");
}

#[test]
fn broken_blocks() {
    let mut out = [0; 8];
    assert_eq!(decompress(&[], &mut out), Err(Error::Truncated));
    assert_eq!(decompress(&[0], &mut out), Ok(0));
    assert_eq!(decompress(&[0x20, 1], &mut out), Err(Error::Truncated));
    assert_eq!(decompress(&[0x10, 1, 1], &mut out), Err(Error::Truncated));
    assert_eq!(decompress(&[0x10, 1, 0, 0, 0], &mut out), Err(Error::Distance { distance: 0, written: 1 }));
    assert_eq!(decompress(&[0x10, 1, 2, 0, 0], &mut out), Err(Error::Distance { distance: 2, written: 1 }));
    assert_eq!(decompress(&[0x15, 1, 1, 0, 0], &mut out), Err(Error::TooLong));
    assert_eq!(decompress(&[0x13, 1, 1, 0, 0], &mut out), Ok(8));
    assert_eq!(decompress(&[0x90; 10], &mut out), Err(Error::TooLong));
    let mut long = vec![0x1f, 1, 1, 0];
    long.resize(10_000_000, 255);
    assert_eq!(decompress(&long, &mut out), Err(Error::Truncated));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_bytes_come_back(
        runs in prop::collection::vec((any::<u8>(), 1usize..300, 0usize..30), 0..60),
        acceleration in 0usize..20,
    ) {
        let mut plain = Vec::new();
        for (byte, len, back) in runs {
            plain.resize(plain.len() + 1 + len % 50, byte);
            let from = plain.len().saturating_sub(back * 7 + 1);
            (0..len).for_each(|i| plain.push(plain[from + i % 5]));
        }
        round_trip(&plain, acceleration);
        high(&plain, acceleration, &mut Chains::new());
    }

    #[test]
    fn any_block_decodes_as_by_the_model(
        parts in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 0..30),
        room in 0usize..2000,
    ) {
        let mut block = Vec::new();
        for (token, bytes, good) in parts {
            if good {
                let count = bytes.len() % 15;
                block.push(((count << 4) as u8) | (token % 16));
                block.extend(&bytes[..count]);
                block.extend([token / 8, 0]);
                block.extend((token % 16 == 15).then_some(token));
            } else {
                block.push(token);
                block.extend(bytes);
            }
        }
        let mut out = vec![0xEE; room];
        match (decompress(&block, &mut out), model(&block, room)) {
            (Ok(len), Some(due)) => prop_assert_eq!(&out[..len], &due[..]),
            (Err(_), None) => {}
            (found, due) => prop_assert!(false, "{:?}, expected {:?}", found, due),
        }
    }
}
