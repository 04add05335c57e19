//! Reductions beside a model that looks at each block by itself.

use super::{Reduce, greatest, least, nearest};
use proptest::prelude::*;

/// Mean of integers, rounded with halves to even, in wide integers.
fn mean(values: &[i128]) -> i128 {
    let (sum, count) = (values.iter().sum::<i128>(), values.len() as i128);
    let low = sum.div_euclid(count);
    match (sum - low * count) * 2 {
        twice if twice > count => low + 1,
        twice if twice == count => low + (low & 1),
        _ => low,
    }
}

macro_rules! integers_are_as_the_model {
    ($($name:ident: $type:ty;)*) => {
        $(proptest! {
            #[test]
            fn $name(
                rows in proptest::collection::vec(proptest::collection::vec(any::<$type>(), 23), 1..6),
                len in 0_usize..24,
                factor in 1_usize..6,
            ) {
                let rows: Vec<&[$type]> = rows.iter().map(|row| &row[..len]).collect();
                let block = |at: usize| -> Vec<i128> {
                    let end = (at + factor).min(len);
                    rows.iter().flat_map(|row| row[at..end].iter().map(|&value| i128::from(value))).collect()
                };
                let blocks: Vec<Vec<i128>> = (0..len).step_by(factor).map(block).collect();
                let mut sums = vec![Default::default(); len];
                rows.iter().for_each(|row| <$type>::add_row(&mut sums, row));
                let (mut low, mut high) = (rows[0].to_vec(), rows[0].to_vec());
                rows.iter().for_each(|row| <$type>::keep_least(&mut low, row));
                rows.iter().for_each(|row| <$type>::keep_greatest(&mut high, row));
                let mut out = vec![0; blocks.len()];
                let wide = |out: &[$type]| out.iter().map(|&value| i128::from(value)).collect::<Vec<_>>();
                <$type>::means(&sums, rows.len() as u32, factor, &mut out);
                prop_assert_eq!(wide(&out), blocks.iter().map(|block| mean(block)).collect::<Vec<_>>());
                least(&low, factor, &mut out);
                prop_assert_eq!(wide(&out), blocks.iter().map(|block| *block.iter().min().unwrap()).collect::<Vec<_>>());
                greatest(&high, factor, &mut out);
                prop_assert_eq!(wide(&out), blocks.iter().map(|block| *block.iter().max().unwrap()).collect::<Vec<_>>());
            }
        })*
    };
}

integers_are_as_the_model! {
    u8_is_as_the_model: u8;
    i8_is_as_the_model: i8;
    u16_is_as_the_model: u16;
    i16_is_as_the_model: i16;
    u32_is_as_the_model: u32;
    i32_is_as_the_model: i32;
    u64_is_as_the_model: u64;
    i64_is_as_the_model: i64;
}

#[test]
fn sums_of_the_largest_blocks_do_not_overflow() {
    fn check<T: Reduce + std::fmt::Debug>(value: T, zero: T) {
        // 65,536 elements: two columns of 32,768 rows.
        let mut sums = [T::Sum::default(); 2];
        (0..32_768).for_each(|_| T::add_row(&mut sums, &[value, value]));
        let mut out = [zero];
        T::means(&sums, 32_768, 2, &mut out);
        assert_eq!(out, [value]);
    }
    check(u8::MAX, 0);
    check(u16::MAX, 0);
    check(u32::MAX, 0);
    check(u64::MAX, 0);
    check(i16::MAX, 0);
    check(i16::MIN, 0);
    check(i32::MIN, 0);
    check(i64::MIN, 0);
    check(i64::MAX, 0);
}

#[test]
fn nan_is_taken_over() {
    let rows = [[1.0_f32, f32::NAN, 3.0, 5.0, -1.0], [0.5, 2.0, 4.0, 6.0, -2.0]];
    let mut sums = [0.0; 5];
    rows.iter().for_each(|row| f32::add_row(&mut sums, row));
    let mut out = [0.0; 3];
    f32::means(&sums, 2, 2, &mut out);
    assert!(out[0].is_nan());
    assert_eq!(out[1..], [4.5, -1.5]);
    let mut kept = rows[1];
    f32::keep_least(&mut kept, &rows[0]);
    least(&kept, 2, &mut out);
    assert!(out[0].is_nan());
    assert_eq!(out[1..], [3.0, -2.0]);
    let mut kept = rows[0];
    f32::keep_greatest(&mut kept, &rows[1]);
    greatest(&kept, 2, &mut out);
    assert!(out[0].is_nan());
    assert_eq!(out[1..], [6.0, -1.0]);
}

#[test]
fn the_nearest_element_is_at_the_centre() {
    let row = [0, 1, 2, 3, 4, 5, 6];
    let of = |factor: usize| {
        let mut out = vec![9; row.len().div_ceil(factor)];
        nearest(&row, factor, &mut out);
        out
    };
    assert_eq!(of(1), row);
    assert_eq!(of(2), [0, 2, 4, 6]);
    assert_eq!(of(3), [1, 4, 6]);
    assert_eq!(of(4), [1, 5]);
    assert_eq!(of(9), [3]);
}
