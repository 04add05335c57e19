//! Types of numbers, and loops over bytes that hold numbers.

use bytemuck::{AnyBitPattern, Pod};
use half::f16;
use std::ops::{Add, Mul};

/// Rust type of stored numbers.
pub(super) trait Stored: Copy + AnyBitPattern {
    /// Float type of the values if some numbers are missing: `dtypes.maybe_promote` of xarray.
    type Masked: Float;

    fn to_f64(self) -> f64;
    fn to_i64(self) -> i64;
    fn to_i128(self) -> i128;
}

macro_rules! stored {
    ($($number:ty => $masked:ty;)*) => { $(
        impl Stored for $number {
            type Masked = $masked;

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }

            #[inline(always)]
            fn to_i128(self) -> i128 {
                self as i128
            }
        }
    )* };
}

stored! {
    i8 => f32;
    u8 => f32;
    i16 => f32;
    u16 => f32;
    i32 => f64;
    u32 => f64;
    i64 => f64;
    u64 => f64;
    f32 => f32;
    f64 => f64;
}

impl Stored for f16 {
    type Masked = Self;

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        f64::from(self) as i64
    }

    #[inline(always)]
    fn to_i128(self) -> i128 {
        f64::from(self) as i128
    }
}

/// Float type of unpacked values.
pub(super) trait Float: Stored + PartialEq + Pod + Mul<Output = Self> + Add<Output = Self> {
    const NAN: Self;

    /// Returns the nearest value of this type.
    fn nearest(value: f64) -> Self;

    /// Returns a number in this type.
    #[inline(always)]
    fn of<S: Stored>(number: S) -> Self {
        Self::nearest(number.to_f64())
    }

    /// Returns `value` in this type if the type can represent it exactly; else `None`.
    fn exactly(value: f64) -> Option<Self> {
        Some(Self::nearest(value)).filter(|nearest| nearest.to_f64() == value)
    }
}

impl Float for f64 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}

impl Float for f32 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Float for f16 {
    const NAN: Self = Self::NAN;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        Self::from_f64(value)
    }
}

/// Calls a generic function with the Rust type of a scalar in memory. The scalar must not be bfloat16.
macro_rules! with_type {
    ($scalar:expr, $number:ident => $call:expr) => {
        with_type!($scalar, $number => $call;
            I8 | I4 | I2: i8, U8 | U4 | U2 | Bool: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64, F16: f16, F32: f32)
    };
    ($scalar:expr, $number:ident => $call:expr; $($($kind:ident)|+: $type:ty),+) => {
        match $scalar {
            $($(Scalar::$kind)|+ => {
                type $number = $type;
                $call
            })+
            _ => {
                type $number = f64;
                $call
            }
        }
    };
}
pub(super) use with_type;

/// Writes `f(number)` to `values` for each number in `stored`.
#[inline(always)]
pub(super) fn map<S: Stored, T: Pod>(stored: &[u8], values: &mut [u8], mut f: impl FnMut(S) -> T) {
    for (from, to) in stored.chunks_exact(size_of::<S>()).zip(values.chunks_exact_mut(size_of::<T>())) {
        to.copy_from_slice(bytemuck::bytes_of(&f(bytemuck::pod_read_unaligned(from))));
    }
}

/// Returns `f(number)` for each number in `stored`.
#[inline(always)]
pub(super) fn collect<S: Stored, T>(stored: &[u8], mut f: impl FnMut(S) -> T) -> Vec<T> {
    stored.chunks_exact(size_of::<S>()).map(|item| f(bytemuck::pod_read_unaligned(item))).collect()
}
