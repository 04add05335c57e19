//! Conversions as by numpy's `astype`: unchecked, integers wrap.
//!
//! Floats become integers by dropping the fraction. The result for numbers that do not fit is undefined in C; here it equals that of numpy
//! on x86-64, on all machines.
//!
//! There are 144 pairs of types. A loop for each pair would take longer to compile than the rest of this crate, so integers of equal size
//! share loops, and float16 and bool are converted through another type, block by block.

use crate::dtype::{Dtype, with_integer};
use crate::number::{Bool, Number, map};
use zarr_dtype::Scalar;
use zarr_dtype::float::Half;

/// Size of the largest number in bytes.
const MAX_SIZE: usize = 8;

/// Size of a block in bytes, which fits the innermost cache.
const BLOCK: usize = 512 * MAX_SIZE;

/// The number 2^31; `TWO_63` is 2^63.
const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Converts as the processor: numbers that do not fit, and NaN, become the least number.
#[inline(always)]
fn cut_i32(value: f64) -> i32 {
    if value > -TWO_31 - 1.0 && value < TWO_31 { value as i32 } else { i32::MIN }
}

#[inline(always)]
fn cut_i64(value: f64) -> i64 {
    if (-TWO_63..TWO_63).contains(&value) { value as i64 } else { i64::MIN }
}

/// Converts to `u32` for numbers that do not fit as numpy does in one of its code paths; numpy itself depends on the positions of elements.
#[inline(always)]
fn cut_u32(value: f64) -> u32 {
    cut_i64(value) as u32
}

#[inline(always)]
fn cut_u64(value: f64) -> u64 {
    if value >= TWO_63 { cut_i64(value - TWO_63) as u64 ^ 1 << 63 } else { cut_i64(value) as u64 }
}

/// Converts elements. Complex numbers lose their imaginary part when they become real; as bools they are true if either part is not 0.
#[expect(
    clippy::indexing_slicing,
    reason = "a block has room for as many elements as are taken from the input at once"
)]
pub(crate) fn convert(from: &Dtype, to: &Dtype, input: &[u8], output: &mut [u8]) {
    if from.data_type == to.data_type {
        output.copy_from_slice(input);
        return;
    }
    if from.count == to.count {
        convert_scalars(from.scalar, to.scalar, input, output);
        return;
    }
    let (size, item_size) = (to.scalar.size(), to.scalar.size() * to.count);
    let mut block = [0; BLOCK];
    let most = BLOCK / MAX_SIZE / from.count;
    let blocks = input.chunks(most * from.count * from.scalar.size()).zip(output.chunks_mut(most * item_size));
    for (input, output) in blocks {
        let converted = &mut block[..input.len() / from.scalar.size() * size];
        convert_scalars(from.scalar, to.scalar, input, converted);
        for (parts, item) in converted.chunks_exact(from.count * size).zip(output.chunks_exact_mut(item_size)) {
            if to.is_bool() {
                item.fill(parts.iter().fold(0, |any, part| any | part));
            } else {
                // The parts beyond the first: 0 where they are made.
                item.fill(0);
                item[..size].copy_from_slice(&parts[..size]);
            }
        }
    }
}

/// Converts numbers; `output` must have as many numbers as `input`.
pub(crate) fn convert_scalars(from: Scalar, to: Scalar, input: &[u8], output: &mut [u8]) {
    use Scalar as S;
    let by_way_of = |scalar, output| in_blocks(from, to, input, output, &mut [(scalar, &mut |_| {})]);
    match (from, to) {
        // The byte of a bool may be any that is not 0.
        (S::Bool, S::Bool | S::U8) => map::<Bool, Bool>(input, output, |value| value),
        _ if from == to => output.copy_from_slice(input),
        (S::Bool, _) => by_way_of(S::U8, output),
        (S::F16, S::F32) => map::<Half, f32>(input, output, Half::to_f32),
        (S::F16, S::F64) => map::<Half, f64>(input, output, Half::to_f64),
        (S::F32, S::F16) => map::<f32, Half>(input, output, Half::from_f32),
        (S::F64, S::F16) => map::<f64, Half>(input, output, Half::from_f64),
        // Integers become float16 by way of float32, and so may be rounded twice.
        (S::F16, _) | (_, S::F16) => by_way_of(S::F32, output),
        (S::F32, S::F64) => map::<f32, f64>(input, output, f64::from),
        (S::F64, S::F32) => map::<f64, f32>(input, output, |value| value as f32),
        (S::F32, _) => from_floats::<f32>(to, input, output),
        (S::F64, _) => from_floats::<f64>(to, input, output),
        _ => from_integers(from, to, input, output),
    }
}

/// Converts floats to integers or bools. For integers of less than 32 bits, signed and unsigned results have the same bits.
fn from_floats<T: Number + Into<f64>>(to: Scalar, input: &[u8], output: &mut [u8]) {
    match to {
        // Everything but zero is true, NaN too.
        Scalar::Bool => map::<T, Bool>(input, output, |value| Bool(value.into() != 0.0)),
        Scalar::I8 | Scalar::U8 => map::<T, u8>(input, output, |value| cut_i32(value.into()) as u8),
        Scalar::I16 | Scalar::U16 => map::<T, u16>(input, output, |value| cut_i32(value.into()) as u16),
        Scalar::I32 => map::<T, i32>(input, output, |value| cut_i32(value.into())),
        Scalar::I64 => map::<T, i64>(input, output, |value| cut_i64(value.into())),
        Scalar::U32 => map::<T, u32>(input, output, |value| cut_u32(value.into())),
        _ => map::<T, u64>(input, output, |value| cut_u64(value.into())),
    }
}

/// Converts integers to other integers, floats of 32 or 64 bits, or bools.
#[expect(clippy::unnecessary_cast, reason = "of the integers, one is of the type itself")]
fn from_integers(from: Scalar, to: Scalar, input: &[u8], output: &mut [u8]) {
    with_integer!(from, T => match (to, to.size()) {
        (Scalar::Bool, _) => map::<T, Bool>(input, output, |value| Bool(value != 0)),
        (Scalar::F32, _) => map::<T, f32>(input, output, |value| value as f32),
        (Scalar::F64, _) => map::<T, f64>(input, output, |value| value as f64),
        (_, 1) => map::<T, u8>(input, output, |value| value as u8),
        (_, 2) => map::<T, u16>(input, output, |value| value as u16),
        (_, 4) => map::<T, u32>(input, output, |value| value as u32),
        _ => map::<T, u64>(input, output, |value| value as u64),
    }, else {});
}

/// Type to which numbers are converted, and an operation on each block of numbers in that type. Blocks are passed in order.
pub(crate) type Step<'s> = (Scalar, &'s mut dyn FnMut(&mut [u8]));

/// Converts numbers from one type to another through `steps`. `output` must have as many numbers as `input`.
#[expect(clippy::indexing_slicing, reason = "a block has room for as many numbers as are taken from the input at once")]
pub(crate) fn in_blocks(from: Scalar, to: Scalar, input: &[u8], output: &mut [u8], steps: &mut [Step<'_>]) {
    let (mut memory, mut other) = ([0; BLOCK], [0; BLOCK]);
    let (mut block, mut next) = (memory.as_mut_slice(), other.as_mut_slice());
    let most = BLOCK / MAX_SIZE;
    for (input, output) in input.chunks(most * from.size()).zip(output.chunks_mut(most * to.size())) {
        let count = input.len() / from.size();
        let mut here = from;
        for (number, (scalar, change)) in steps.iter_mut().enumerate() {
            let size = count * scalar.size();
            match number {
                0 => convert_scalars(here, *scalar, input, &mut block[..size]),
                _ if here == *scalar => {}
                _ => {
                    convert_scalars(here, *scalar, &block[..count * here.size()], &mut next[..size]);
                    std::mem::swap(&mut block, &mut next);
                }
            }
            here = *scalar;
            change(&mut block[..size]);
        }
        convert_scalars(here, to, &block[..count * here.size()], output);
    }
}

/// Replaces each number by the result of `f`.
#[inline(always)]
pub(crate) fn change<T: Number>(numbers: &mut [u8], mut f: impl FnMut(T) -> T) {
    for item in numbers.chunks_exact_mut(T::SIZE) {
        f(T::load(item)).store(item);
    }
}
