//! Packed and missing data, compared with a model that converts a single number at a time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use half::f16;
use proptest::prelude::*;
use zarr_cf::packed::{Counts, Factor, Mark, NAT, Packed, Packer, Unfit, Unpacker};
use zarr_dtype::Scalar;

const SCALARS: [Scalar; 15] = [
    Scalar::I2,
    Scalar::I4,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U2,
    Scalar::U4,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::F32,
    Scalar::F64,
];

/// Returns the bytes of a number of type `scalar`: an integer within the range of the type, or a quarter of `value` as a float.
fn item(scalar: Scalar, value: i64) -> Vec<u8> {
    match scalar {
        Scalar::F16 => f16::from_f64(value as f64 / 4.0).to_ne_bytes().to_vec(),
        Scalar::F32 => (value as f32 / 4.0).to_ne_bytes().to_vec(),
        Scalar::F64 => (value as f64 / 4.0).to_ne_bytes().to_vec(),
        scalar => {
            let (least, greatest) = scalar.range().unwrap();
            let value = match least {
                0 => i128::from(value).rem_euclid(greatest + 1),
                least => i128::from(value).clamp(least, greatest),
            };
            let bytes = value.to_le_bytes()[..scalar.size()].to_vec();
            if cfg!(target_endian = "big") { bytes.into_iter().rev().collect() } else { bytes }
        }
    }
}

/// Returns the number in `item`.
fn float(scalar: Scalar, item: &[u8]) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_ne_bytes(item.try_into().unwrap()).to_f64(),
        Scalar::F32 => f32::from_ne_bytes(item.try_into().unwrap()).into(),
        Scalar::F64 => f64::from_ne_bytes(item.try_into().unwrap()),
        scalar => scalar.integer(item).unwrap() as f64,
    }
}

/// Returns the value of type `scalar` that is nearest to `value`.
fn nearest(scalar: Scalar, value: f64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_f64(value).to_f64(),
        Scalar::F32 => f64::from(value as f32),
        _ => value,
    }
}

/// Returns the value of a stored number, in the type `result`.
fn model(stored: Scalar, item: &[u8], result: Scalar, packed: &Packed) -> f64 {
    if result == Scalar::I64 {
        let integer = i128::from(stored.integer(item).unwrap() as i64);
        let is_missing = packed.marks.iter().any(|mark| match *mark {
            Mark::Integer(value) => value == integer,
            Mark::Float(value) => value == integer as f64,
            Mark::Complex(..) => false,
        });
        let scale = match packed.scale {
            Some(Factor::Integer(scale)) => i128::from(scale),
            _ => 1,
        };
        return if is_missing { NAT as f64 } else { (integer * scale) as i64 as f64 };
    }
    let value = nearest(result, float(stored, item));
    let is_missing = packed.marks.iter().any(|mark| match *mark {
        Mark::Integer(mark) => mark as f64 == value,
        Mark::Float(mark) => mark == value,
        Mark::Complex(..) => false,
    });
    if is_missing {
        return f64::NAN;
    }
    let factor = |factor: Option<Factor>| factor.map(|factor| nearest(result, factor.to_f64()));
    let scaled = factor(packed.scale).map_or(value, |scale| nearest(result, value * scale));
    factor(packed.offset).map_or(scaled, |offset| nearest(result, scaled + offset))
}

fn factors() -> impl Strategy<Value = Option<Factor>> {
    prop_oneof![
        2 => Just(None),
        1 => (1_i64..9).prop_map(|value| Some(Factor::Integer(value))),
        2 => (1_i64..99).prop_map(|value| Some(Factor::Float(value as f64 / 8.0))),
    ]
}

fn all_packed() -> impl Strategy<Value = Packed> {
    let mark = prop_oneof![
        (-9_i128..20).prop_map(Mark::Integer),
        (-9_i64..20).prop_map(|value| Mark::Float(value as f64 / 4.0)),
        Just(Mark::Complex(1.0, 2.0)),
    ];
    (prop::collection::vec(mark, 0..4), any::<bool>(), factors(), factors(), any::<bool>())
        .prop_map(|(marks, marks_nan, scale, offset, is_count)| Packed { marks, marks_nan, scale, offset, is_count })
}

fn items(scalar: Scalar, values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|&value| item(scalar, value)).collect()
}

proptest! {
    #[test]
    fn numbers_are_unpacked_as_one_by_one(
        stored in prop::sample::select(&SCALARS),
        values in prop::collection::vec(-40_i64..200, 0..40),
        packed in all_packed(),
    ) {
        let unpacker = Unpacker::new(stored, 1, &packed).unwrap();
        let items = items(stored, &values);
        let result = unpacker.result();
        let mut unpacked = vec![0; values.len() * result.size()];
        unpacker.unpack(&items, &mut unpacked);
        if unpacker.is_identity() {
            prop_assert_eq!((stored, &items), (result, &unpacked));
        }
        let found: Vec<f64> = unpacked.chunks_exact(result.size()).map(|item| float(result, item)).collect();
        let expected: Vec<f64> =
            items.chunks_exact(stored.size()).map(|item| model(stored, item, result, &packed)).collect();
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{:?} to {:?} by {:?}", stored, result, packed);

        let counts: Vec<f64> = match unpacker.counts(&items) {
            Counts::I64(numbers) => numbers.iter().map(|&number| number as f64).collect(),
            Counts::U64(numbers) => numbers.iter().map(|&number| number as f64).collect(),
            Counts::F32(numbers) => numbers.iter().map(|&number| f64::from(number)).collect(),
            Counts::F64(numbers) => numbers,
        };
        prop_assert_eq!(format!("{counts:?}"), format!("{found:?}"));
        let mut bools = vec![9; values.len()];
        unpacker.bools(&items, &mut bools);
        prop_assert_eq!(bools, found.iter().map(|&value| u8::from(value != 0.0)).collect::<Vec<_>>());
    }

    #[test]
    fn packed_values_are_the_numbers_again(
        stored in prop::sample::select(&SCALARS),
        values in prop::collection::vec(-40_i64..200, 0..40),
        scale in prop_oneof![Just(None), Just(Some(Factor::Float(0.25))), Just(Some(Factor::Integer(2)))],
        offset in prop_oneof![Just(None), Just(Some(Factor::Float(8.0)))],
        marks in prop_oneof![Just(Vec::new()), Just(vec![Mark::Integer(1)])],
    ) {
        let packed = Packed { marks_nan: !marks.is_empty(), marks, scale, offset, is_count: false };
        let unpacker = Unpacker::new(stored, 1, &packed).unwrap();
        let result = unpacker.result();
        // Integers of 64 bits beyond those that floats have.
        prop_assume!(result == stored || stored.size() < 8 || !values.iter().any(|&value| value < 0));
        let items = items(stored, &values);
        let mut unpacked = vec![0; values.len() * result.size()];
        unpacker.unpack(&items, &mut unpacked);
        let mut again = vec![0; items.len()];
        let packer = Packer::new(result, false, stored, &packed).unwrap();
        prop_assume!(stored != Scalar::I64 || scale.is_none());
        prop_assert_eq!(packer.pack(&unpacked, &mut again), Ok(()), "{:?} to {:?} by {:?}", stored, result, packed);
        let numbers = |items: &[u8]| -> Vec<f64> {
            items.chunks_exact(stored.size()).map(|item| float(stored, item)).collect()
        };
        prop_assert_eq!(numbers(&again), numbers(&items), "{:?} to {:?} by {:?}", stored, result, packed);
    }
}

#[test]
fn complex_numbers_are_masked_as_a_whole() {
    let packed = Packed { marks: vec![Mark::Complex(1.0, -2.0), Mark::Integer(3)], ..Packed::default() };
    for scalar in [Scalar::F16, Scalar::F32, Scalar::F64] {
        let unpacker = Unpacker::new(scalar, 2, &packed).unwrap();
        assert!(unpacker.is_complex() && unpacker.result() == scalar);
        let stored = items(scalar, &[4, -8, 4, 8, 12, 0]);
        let mut values = vec![0; stored.len()];
        unpacker.unpack(&stored, &mut values);
        let found: Vec<f64> = values.chunks_exact(scalar.size()).map(|item| float(scalar, item)).collect();
        assert_eq!(format!("{found:?}"), "[NaN, NaN, 1.0, 2.0, NaN, NaN]", "{scalar:?}");
    }
    let scaled = Packed { scale: Some(Factor::Integer(2)), ..packed };
    assert_eq!(Unpacker::new(Scalar::F32, 2, &scaled), None);
    assert_eq!(Unpacker::new(Scalar::I16, 2, &Packed::default()), None);
    assert_eq!(Unpacker::new(Scalar::BF16, 1, &Packed::default()), None);
}

#[test]
fn lengths_that_differ_are_no_panic() {
    let packed = Packed { marks: vec![Mark::Integer(3)], scale: Some(Factor::Float(0.5)), ..Packed::default() };
    for packed in [Packed::default(), packed] {
        let unpacker = Unpacker::new(Scalar::I16, 1, &packed).unwrap();
        let packer = Packer::new(unpacker.result(), false, Scalar::I16, &packed).unwrap();
        for (from, to) in [(0, 7), (5, 64), (64, 5), (4001, 20_000), (20_000, 4001)] {
            unpacker.unpack(&vec![0; from], &mut vec![0; to]);
            packer.pack(&vec![0; from], &mut vec![0; to]).unwrap();
        }
    }
    assert!(Packer::new(Scalar::Bool, false, Scalar::I8, &Packed::default()).is_some());
    assert!(Packer::new(Scalar::I8, false, Scalar::Bool, &Packed::default()).is_none());
}

#[test]
fn values_that_do_not_fit_are_named() {
    let none = Packed::default();
    let floats: Vec<u8> = [1.0, 127.5, f64::NAN].iter().flat_map(|value: &f64| value.to_ne_bytes()).collect();
    let packer = Packer::new(Scalar::F64, false, Scalar::I8, &none).unwrap();
    let unfit = |index, is_missing| Err(Unfit { index, is_missing });
    assert_eq!(packer.pack(&floats, &mut [0; 3]), unfit(1, false));
    assert_eq!(packer.pack(&floats[16..], &mut [0; 1]), unfit(0, true));
    let times: Vec<u8> = [5_i64, NAT].iter().flat_map(|time| time.to_ne_bytes()).collect();
    let packer = Packer::new(Scalar::I64, true, Scalar::I32, &none).unwrap();
    assert_eq!(packer.pack(&times, &mut [0; 8]), unfit(1, true));
    let marked = Packed { marks: vec![Mark::Integer(-1)], ..none };
    let packer = Packer::new(Scalar::I64, true, Scalar::I32, &marked).unwrap();
    let mut stored = [0; 8];
    assert_eq!((packer.pack(&times, &mut stored), packer.mark()), (Ok(()), Some(&(-1_i32).to_ne_bytes()[..])));
    assert_eq!(stored, [[5_i32, -1].map(i32::to_ne_bytes)].concat().concat()[..]);
    // Beyond the first block.
    let many: Vec<u8> = (0..3000).flat_map(|value| f64::from(value * 30).to_ne_bytes()).collect();
    let packer = Packer::new(Scalar::F64, false, Scalar::U16, &marked).unwrap();
    assert_eq!(packer.pack(&many, &mut vec![0; 6000]), unfit(2185, false));
}
