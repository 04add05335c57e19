//! Conversions as numpy's `astype` makes them: no checks, integers wrap.
//!
//! Floats become integers by cutting off the fraction. The result for numbers that do not fit is undefined in C; here
//! it is the result of numpy on x86-64, on every machine.

use crate::dtype::{Dtype, with_number};
use crate::number::{Bool, Number, map};
use zarr_dtype::float::Half;

/// Numbers that others are converted from.
pub(crate) trait CastSource: Number {
    fn convert<T: CastTarget>(self) -> T;
}

/// Numbers that others are converted to.
pub(crate) trait CastTarget: Number {
    fn from_i64(value: i64) -> Self;
    fn from_u64(value: u64) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
    fn from_half(value: Half) -> Self {
        Self::from_f32(value.to_f32())
    }
}

macro_rules! source {
    ($($number:ty => $method:ident),*) => { $(
        impl CastSource for $number {
            #[inline(always)]
            fn convert<T: CastTarget>(self) -> T {
                T::$method(self.into())
            }
        }
    )* };
}

source!(i8 => from_i64, i16 => from_i64, i32 => from_i64, i64 => from_i64);
source!(u8 => from_u64, u16 => from_u64, u32 => from_u64, u64 => from_u64);
source!(f32 => from_f32, f64 => from_f64, Half => from_half);

impl CastSource for Bool {
    #[inline(always)]
    fn convert<T: CastTarget>(self) -> T {
        T::from_u64(self.0.into())
    }
}

macro_rules! integer_target {
    ($($number:ty => $cut:ident),*) => { $(
        impl CastTarget for $number {
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                $cut(value.into()) as $number
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $cut(value) as $number
            }
        }
    )* };
}

integer_target!(i8 => cut_i32, i16 => cut_i32, i32 => cut_i32, i64 => cut_i64);
integer_target!(u8 => cut_i32, u16 => cut_i32, u32 => cut_u32, u64 => cut_u64);

/// 2^31 and 2^63.
const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// The processor's conversion: numbers that do not fit, and NaN, become the least number.
#[inline(always)]
fn cut_i32(value: f64) -> i32 {
    if value > -TWO_31 - 1.0 && value < TWO_31 { value as i32 } else { i32::MIN }
}

#[inline(always)]
fn cut_i64(value: f64) -> i64 {
    if (-TWO_63..TWO_63).contains(&value) { value as i64 } else { i64::MIN }
}

/// numpy itself gives either this or something else, as elements happen to lie.
#[inline(always)]
fn cut_u32(value: f64) -> u32 {
    cut_i64(value) as u32
}

#[inline(always)]
fn cut_u64(value: f64) -> u64 {
    if value >= TWO_63 { cut_i64(value - TWO_63) as u64 ^ 1 << 63 } else { cut_i64(value) as u64 }
}

macro_rules! float_target {
    ($($number:ty, $from_half:ident);*) => { $(
        impl CastTarget for $number {
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn from_half(value: Half) -> Self {
                value.$from_half()
            }
        }
    )* };
}

float_target!(f32, to_f32; f64, to_f64);

/// Integers become float16 by way of float32, and so may be rounded twice.
impl CastTarget for Half {
    fn from_i64(value: i64) -> Self {
        Self::from_f32(value as f32)
    }

    fn from_u64(value: u64) -> Self {
        Self::from_f32(value as f32)
    }

    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }

    fn from_f64(value: f64) -> Self {
        Self::from_f64(value)
    }

    fn from_half(value: Half) -> Self {
        value
    }
}

/// Everything but zero is true, NaN too.
impl CastTarget for Bool {
    fn from_i64(value: i64) -> Self {
        Self(value != 0)
    }

    fn from_u64(value: u64) -> Self {
        Self(value != 0)
    }

    fn from_f32(value: f32) -> Self {
        Self(value != 0.0)
    }

    fn from_f64(value: f64) -> Self {
        Self(value != 0.0)
    }
}

/// Converts elements. Complex numbers lose their imaginary part in real ones, and are true if either part is.
pub(crate) fn convert(from: &Dtype, to: &Dtype, input: &[u8], output: &mut [u8]) {
    if from.data_type == to.data_type {
        output.copy_from_slice(input);
        return;
    }
    with_number!(from.scalar, A => with_number!(to.scalar, B => {
        if from.count == to.count {
            map::<A, B>(input, output, A::convert);
        } else {
            let items = input.chunks_exact(A::SIZE * from.count).zip(output.chunks_exact_mut(B::SIZE * to.count));
            for (input, output) in items {
                // The parts beyond the first: 0 where they are made.
                output.fill(0);
                match to.is_bool() {
                    true => Bool(input.chunks_exact(A::SIZE).any(|part| A::load(part).convert::<Bool>().0)).store(output),
                    false => map::<A, B>(input, output, A::convert),
                }
            }
        }
    }));
}
