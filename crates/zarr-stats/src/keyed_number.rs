//! Numbers in memory form, and keys that order them.

use bytemuck::Pod;
use half::{bf16, f16};
use std::borrow::Cow;

/// Number in memory form that has a key: an integer in the order of the numbers.
pub(crate) trait KeyedNumber: Copy + PartialEq + Send + Sync + 'static {
    /// Number of bits of a key. Keys of up to 16 bits are counted in a table.
    const WIDTH: u32;
    /// Whether the number is an integer, so that sums are exact.
    const IS_INTEGER: bool;

    /// Returns the key of the number. Keys have the order of the numbers; both zeros have one key.
    fn key(self) -> u64;
    /// Returns the number with the key `key`.
    fn of_key(key: u64) -> Self;
    /// Returns the value, rounded to a float.
    fn float(self) -> f64;
    /// Returns the value of an integer; 0 for floats.
    fn integer(self) -> i128;
    /// Whether the number is NaN or NaT.
    fn is_nan(self) -> bool;
    /// Returns the bytes of the number in memory form.
    fn bytes(self) -> Vec<u8>;
    /// Converts the bytes of elements in memory form to numbers, without a copy if possible.
    fn load(items: &[u8]) -> Cow<'_, [Self]>;
}

/// Converts the bytes of elements in memory form to numbers, without a copy if they are aligned. Leaves out an incomplete number at the
/// end.
fn numbers<T: Pod>(items: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(items) {
        Ok(numbers) => Cow::Borrowed(numbers),
        Err(_) => {
            let one = |item: &[u8]| bytemuck::try_pod_read_unaligned(item).ok();
            Cow::Owned(items.chunks_exact(size_of::<T>()).filter_map(one).collect())
        }
    }
}

macro_rules! integers {
    ($($int:ty: $unsigned:ty, $flip:expr;)*) => {$(
        impl KeyedNumber for $int {
            const WIDTH: u32 = <$int>::BITS;
            const IS_INTEGER: bool = true;

            fn key(self) -> u64 {
                u64::from(self as $unsigned ^ $flip)
            }

            fn of_key(key: u64) -> Self {
                (key as $unsigned ^ $flip) as $int
            }

            fn float(self) -> f64 {
                self as f64
            }

            fn integer(self) -> i128 {
                i128::from(self)
            }

            fn is_nan(self) -> bool {
                false
            }

            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }

            fn load(items: &[u8]) -> Cow<'_, [Self]> {
                numbers(items)
            }
        }
    )*};
}
integers! {
    i8: u8, 1 << 7;
    i16: u16, 1 << 15;
    i32: u32, 1 << 31;
    i64: u64, 1 << 63;
    u8: u8, 0;
    u16: u16, 0;
    u32: u32, 0;
    u64: u64, 0;
}

macro_rules! floats {
    ($($float:ty: $bits:ty, $signed:ty, $to:expr;)*) => {$(
        impl KeyedNumber for $float {
            const WIDTH: u32 = <$bits>::BITS;
            const IS_INTEGER: bool = false;

            fn key(self) -> u64 {
                let bits = self.to_bits();
                let bits = if bits == 1 << (Self::WIDTH - 1) { 0 } else { bits };
                // Negative numbers order the other way around, and before positive ones.
                let negative = (bits as $signed >> (Self::WIDTH - 1)) as $bits;
                u64::from(bits ^ (negative | 1 << (Self::WIDTH - 1)))
            }

            fn of_key(key: u64) -> Self {
                let key = key as $bits;
                let top = 1 << (Self::WIDTH - 1);
                <$float>::from_bits(if key & top != 0 { key ^ top } else { !key })
            }

            fn float(self) -> f64 {
                $to(self)
            }

            fn integer(self) -> i128 {
                0
            }

            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }

            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }

            fn load(items: &[u8]) -> Cow<'_, [Self]> {
                numbers(items)
            }
        }
    )*};
}
floats! {
    f16: u16, i16, f16::to_f64;
    bf16: u16, i16, bf16::to_f64;
    f32: u32, i32, f64::from;
    f64: u64, i64, |value| value;
}

/// Count of units of time, whose least value is NaT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(i64);

impl Time {
    pub(crate) fn of(count: i64) -> Self {
        Self(count)
    }
}

impl KeyedNumber for Time {
    const WIDTH: u32 = 64;
    const IS_INTEGER: bool = true;

    fn key(self) -> u64 {
        self.0.key()
    }

    fn of_key(key: u64) -> Self {
        Self(i64::of_key(key))
    }

    fn float(self) -> f64 {
        self.0 as f64
    }

    fn integer(self) -> i128 {
        i128::from(self.0)
    }

    fn is_nan(self) -> bool {
        self.0 == i64::MIN
    }

    fn bytes(self) -> Vec<u8> {
        self.0.bytes()
    }

    fn load(items: &[u8]) -> Cow<'_, [Self]> {
        Cow::Owned(numbers::<i64>(items).iter().map(|&count| Self(count)).collect())
    }
}

/// Functions that convert keys to values, for code that no longer knows the type of the numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) bits: u32,
    pub(crate) float: fn(u64) -> f64,
    /// Function that returns the value of an integer by its key.
    pub(crate) integer: fn(u64) -> i128,
    pub(crate) is_integer: bool,
    pub(crate) item: fn(u64) -> Vec<u8>,
}

impl Keys {
    pub(crate) fn of<T: KeyedNumber>() -> Self {
        Self {
            bits: T::WIDTH,
            float: |key| T::of_key(key).float(),
            integer: |key| T::of_key(key).integer(),
            is_integer: T::IS_INTEGER,
            item: |key| T::of_key(key).bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: KeyedNumber + PartialOrd + std::fmt::Debug>(a: T, b: T) {
        if a.is_nan() || b.is_nan() {
            return;
        }
        assert_eq!(a.partial_cmp(&b), a.key().partial_cmp(&b.key()), "{a:?} {b:?}");
        assert_eq!(T::of_key(a.key()), a);
        assert!(a.key() >> (T::WIDTH - 1) <= 1);
    }

    proptest! {
        #[test]
        fn keys_order_as_values(a: [u8; 8], b: [u8; 8]) {
            macro_rules! all {
                ($($type:ty),*) => {$(
                    check(numbers::<$type>(&a)[0], numbers::<$type>(&b)[0]);
                )*};
            }
            all!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
        }
    }

    #[test]
    fn special_values() {
        for (a, b) in [(f64::NEG_INFINITY, -1e300), (-1e-300, 0.0), (1e300, f64::INFINITY), (-0.0, 0.0)] {
            check(a, b);
            check(a as f32, b as f32);
        }
        assert!(Time(i64::MIN).is_nan() && !Time(0).is_nan());
        let bytes: Vec<u8> = [0, 1_u16, 2].iter().flat_map(|value| value.to_ne_bytes()).collect();
        // Not aligned, and with a rest.
        assert_eq!(numbers::<u16>(&bytes[1..]).len(), 2);
        assert_eq!(*numbers::<u16>(&bytes[2..]), [1, 2]);
    }
}
