//! Numbers of several types in one enum.

/// Numbers of a variable, as stored. Narrower integers must be widened.
///
/// A float NaN, or the `i64` `i64::MIN`, is a missing time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers<'n> {
    /// Signed integers of 64 bits.
    I64(&'n [i64]),
    /// Unsigned integers of 64 bits; narrower unsigned integers can also be `I64`.
    U64(&'n [u64]),
    /// Floats of 32 bits. For timedeltas xarray rounds them in 32 bits.
    F32(&'n [f32]),
    /// Floats of 64 bits.
    F64(&'n [f64]),
}

/// Calls a generic function with the slice inside of [`Numbers`].
macro_rules! each {
    ($numbers:expr, $slice:ident => $call:expr) => {
        match $numbers {
            $crate::time::Numbers::I64($slice) => $call,
            $crate::time::Numbers::U64($slice) => $call,
            $crate::time::Numbers::F32($slice) => $call,
            $crate::time::Numbers::F64($slice) => $call,
        }
    };
}
pub(super) use each;

/// Type of numbers in which times are stored.
pub(super) trait Number: Copy + PartialOrd + std::fmt::Display {
    /// Least and greatest value of the type.
    const ENDS: (Self, Self);

    fn is_missing(self) -> bool;

    fn float(self) -> f64;

    /// Returns the whole part; `None` if it exceeds 64 bits.
    fn whole(self) -> Option<i64>;

    /// Returns `self * factor` without its fraction; `None` if it exceeds 64 bits.
    fn scaled(self, factor: i64) -> Option<i64>;

    /// Returns `self * factor` without its fraction if [`Number::scaled`] is `Some`, else an arbitrary number.
    fn scaled_in_range(self, factor: i64) -> i64;
}

impl Number for i64 {
    const ENDS: (Self, Self) = (Self::MIN, Self::MAX);

    fn is_missing(self) -> bool {
        self == Self::MIN
    }

    fn float(self) -> f64 {
        self as f64
    }

    fn whole(self) -> Option<i64> {
        Some(self)
    }

    fn scaled(self, factor: i64) -> Option<i64> {
        self.checked_mul(factor)
    }

    fn scaled_in_range(self, factor: i64) -> i64 {
        self.wrapping_mul(factor)
    }
}

impl Number for u64 {
    const ENDS: (Self, Self) = (Self::MIN, Self::MAX);

    fn is_missing(self) -> bool {
        false
    }

    fn float(self) -> f64 {
        self as f64
    }

    fn whole(self) -> Option<i64> {
        i64::try_from(self).ok()
    }

    fn scaled(self, factor: i64) -> Option<i64> {
        self.whole()?.checked_mul(factor)
    }

    fn scaled_in_range(self, factor: i64) -> i64 {
        (self as i64).wrapping_mul(factor)
    }
}

/// 2^63, the first number beyond 64-bit signed integers.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

impl Number for f64 {
    const ENDS: (Self, Self) = (Self::NEG_INFINITY, Self::INFINITY);

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn float(self) -> f64 {
        self
    }

    fn whole(self) -> Option<i64> {
        (self > -BEYOND && self < BEYOND).then_some(self as i64)
    }

    fn scaled(self, factor: i64) -> Option<i64> {
        (self * factor as f64).whole()
    }

    fn scaled_in_range(self, factor: i64) -> i64 {
        (self * factor as f64) as i64
    }
}

impl Number for f32 {
    const ENDS: (Self, Self) = (Self::NEG_INFINITY, Self::INFINITY);

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn float(self) -> f64 {
        f64::from(self)
    }

    fn whole(self) -> Option<i64> {
        self.float().whole()
    }

    fn scaled(self, factor: i64) -> Option<i64> {
        self.float().scaled(factor)
    }

    fn scaled_in_range(self, factor: i64) -> i64 {
        self.float().scaled_in_range(factor)
    }
}

/// Least and greatest number of a slice, and whether the slice has missing numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extremes<T> {
    /// Least and greatest number; `None` if all numbers are missing.
    pub(super) ends: Option<(T, T)>,
    pub(super) has_missing: bool,
}

/// Count of numbers that are compared at once.
const LANES: usize = 8;

pub(super) fn extremes<T: Number>(numbers: &[T]) -> Extremes<T> {
    let (bottom, top) = T::ENDS;
    let mut lanes = [(top, bottom, false); LANES];
    let step = |lane: &mut (T, T, bool), number: T| {
        // A missing number is less and greater than none.
        let missing = number.is_missing();
        let low = if missing { top } else { number };
        lane.0 = if low < lane.0 { low } else { lane.0 };
        lane.1 = if number > lane.1 { number } else { lane.1 };
        lane.2 |= missing;
    };
    let (blocks, rest) = numbers.as_chunks::<LANES>();
    for block in blocks {
        for (lane, number) in lanes.iter_mut().zip(block) {
            step(lane, *number);
        }
    }
    for (lane, number) in lanes.iter_mut().zip(rest) {
        step(lane, *number);
    }
    let has_missing = lanes.iter().any(|lane| lane.2);
    let all = lanes.into_iter().fold((top, bottom), |(low, high), lane| {
        (if lane.0 < low { lane.0 } else { low }, if lane.1 > high { lane.1 } else { high })
    });
    // Numbers at an end of their type are equal to the initial values.
    let any = numbers.iter().any(|number| !number.is_missing());
    Extremes { ends: any.then_some(all), has_missing }
}
