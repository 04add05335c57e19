//! Conversion of elements to the numbers of zfp, and back.

use bytemuck::Pod;
use half::{bf16, f16};
use zfp_rs::ZfpScalar;

/// Element stored as a number of type [`Number`](Self::Number).
pub(crate) trait Item: Pod {
    /// Type of zfp for the stored number.
    type Number: ZfpScalar;
    /// Returns the number for the element; `None` if there is none for this value.
    fn promote(self) -> Option<Self::Number>;
    /// Returns the element nearest to a number.
    fn demote(number: Self::Number) -> Self;
    /// Returns the elements as numbers; `None` if the two types differ in memory.
    fn as_numbers(items: &[Self]) -> Option<&[Self::Number]> {
        let _ = items;
        None
    }
    /// Returns the elements as mutable numbers; `None` if the two types differ in memory.
    fn as_numbers_mut(items: &mut [Self]) -> Option<&mut [Self::Number]> {
        let _ = items;
        None
    }
}

macro_rules! numbers {
    ($($item:ty),*) => { $(
        impl Item for $item {
            type Number = $item;
            fn promote(self) -> Option<$item> {
                Some(self)
            }
            fn demote(number: $item) -> Self {
                number
            }
            fn as_numbers(items: &[Self]) -> Option<&[$item]> {
                Some(items)
            }
            fn as_numbers_mut(items: &mut [Self]) -> Option<&mut [$item]> {
                Some(items)
            }
        }
    )* };
}
numbers!(i32, i64, f32, f64);

/// Implements `Item` for integers of 8 and 16 bits: `$half` is subtracted, then the result is shifted left by `$shift` bits.
macro_rules! promoted {
    ($($item:ty, $shift:literal, $half:literal);*) => { $(
        impl Item for $item {
            type Number = i32;
            fn promote(self) -> Option<i32> {
                Some((i32::from(self) - $half) << $shift)
            }
            fn demote(number: i32) -> Self {
                // Lossy numbers may lie outside of the range of the element.
                let number = (number >> $shift) + $half;
                let nearest = number.clamp(i32::from(<$item>::MIN), i32::from(<$item>::MAX));
                <$item>::try_from(nearest).unwrap_or_default()
            }
        }
    )* };
}
promoted!(i8, 23, 0; u8, 23, 0x80; i16, 15, 0; u16, 15, 0x8000);

/// Implements `Item` for unsigned integers that are stored as signed integers of the same value.
macro_rules! signed {
    ($($item:ty, $number:ty);*) => { $(
        impl Item for $item {
            type Number = $number;
            fn promote(self) -> Option<$number> {
                <$number>::try_from(self).ok()
            }
            fn demote(number: $number) -> Self {
                // Lossy numbers may have become negative.
                <$item>::try_from(number).unwrap_or_default()
            }
        }
    )* };
}
signed!(u32, i32; u64, i64);

macro_rules! halves {
    ($($item:ty),*) => { $(
        impl Item for $item {
            type Number = f32;
            fn promote(self) -> Option<f32> {
                Some(self.to_f32())
            }
            fn demote(number: f32) -> Self {
                Self::from_f32(number)
            }
        }
    )* };
}
halves!(f16, bf16);
