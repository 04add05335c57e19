//! Numbers of numpy in memory.

use zarr_dtype::float::Half;

/// Number of fixed size in memory.
pub(crate) trait Number: Copy {
    /// Size in memory, in bytes.
    const SIZE: usize;

    /// Returns the number in `item`, which has [`SIZE`](Self::SIZE) bytes.
    fn load(item: &[u8]) -> Self;

    /// Writes the number to `item`, which has [`SIZE`](Self::SIZE) bytes.
    fn store(self, item: &mut [u8]);
}

macro_rules! number {
    ($($number:ty),*) => { $(
        impl Number for $number {
            const SIZE: usize = size_of::<$number>();

            #[inline(always)]
            fn load(item: &[u8]) -> Self {
                item.try_into().map(<$number>::from_ne_bytes).unwrap_or_default()
            }

            #[inline(always)]
            fn store(self, item: &mut [u8]) {
                item.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )* };
}

number!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Number for Half {
    const SIZE: usize = 2;

    #[inline(always)]
    fn load(item: &[u8]) -> Self {
        Self(u16::load(item))
    }

    #[inline(always)]
    fn store(self, item: &mut [u8]) {
        self.0.store(item);
    }
}

/// A bool: one byte, 0 or 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bool(pub(crate) bool);

impl Number for Bool {
    const SIZE: usize = 1;

    #[inline(always)]
    fn load(item: &[u8]) -> Self {
        Self(item != [0])
    }

    #[inline(always)]
    fn store(self, item: &mut [u8]) {
        u8::from(self.0).store(item);
    }
}

/// Writes `f(number)` to `to` for each number of `from`.
#[inline(always)]
pub(crate) fn map<A: Number, B: Number>(from: &[u8], to: &mut [u8], mut f: impl FnMut(A) -> B) {
    for (from, to) in from.chunks_exact(A::SIZE).zip(to.chunks_exact_mut(B::SIZE)) {
        f(A::load(from)).store(to);
    }
}

/// Writes `f(number)` to `to` for each number of `from`, up to the first error.
#[inline(always)]
pub(crate) fn try_map<A: Number, B: Number, E>(
    from: &[u8],
    to: &mut [u8],
    f: impl Fn(A) -> Result<B, E>,
) -> Result<(), E> {
    for (from, to) in from.chunks_exact(A::SIZE).zip(to.chunks_exact_mut(B::SIZE)) {
        f(A::load(from))?.store(to);
    }
    Ok(())
}

/// Numbers with the addition and subtraction of numpy: integers wrap, and signed integers have the same bits as unsigned ones.
pub(crate) trait Arithmetic: Number {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($number:ty),*) => { $(
        impl Arithmetic for $number {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )* };
}

integers!(u8, u16, u32, u64);

/// Floating point numbers of numpy. Each operation is rounded to the type; float16 is computed in float32.
pub(crate) trait Float: Arithmetic {
    fn from_f64(value: f64) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    /// Returns the nearest integer; a tie goes to even.
    fn rint(self) -> Self;
}

macro_rules! floats {
    ($($number:ty),*) => { $(
        impl Arithmetic for $number {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
        }

        impl Float for $number {
            fn from_f64(value: f64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }

            #[inline(always)]
            fn rint(self) -> Self {
                self.round_ties_even()
            }
        }
    )* };
}

floats!(f32, f64);

impl Arithmetic for Half {
    fn plus(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() + other.to_f32())
    }

    fn minus(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() - other.to_f32())
    }
}

impl Float for Half {
    fn from_f64(value: f64) -> Self {
        Self::from_f64(value)
    }

    fn times(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() * other.to_f32())
    }

    fn over(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() / other.to_f32())
    }

    fn rint(self) -> Self {
        Self::from_f32(self.to_f32().round_ties_even())
    }
}

/// Duration; `i64::MIN` is "not a time", and operations with it give "not a time".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(pub(crate) i64);

impl Span {
    const NOT_A_TIME: Self = Self(i64::MIN);

    fn unless_missing(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        if self.0 == i64::MIN || other.0 == i64::MIN { Self::NOT_A_TIME } else { Self(f(self.0, other.0)) }
    }
}

impl Number for Span {
    const SIZE: usize = 8;

    fn load(item: &[u8]) -> Self {
        Self(i64::load(item))
    }

    fn store(self, item: &mut [u8]) {
        self.0.store(item);
    }
}

impl Arithmetic for Span {
    fn plus(self, other: Self) -> Self {
        self.unless_missing(other, i64::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        self.unless_missing(other, i64::wrapping_sub)
    }
}
