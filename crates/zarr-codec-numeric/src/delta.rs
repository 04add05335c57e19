//! `numcodecs.delta`: differences of neighbours.

use crate::convert::CastSource;
use crate::dtype::{Dtype, add_type, with_float, with_integer};
use crate::filter::{self, Transform, unsupported};
use crate::number::{Arithmetic, Number, Span};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, Error};
use zarr_dtype::{DataType, Scalar};

/// Codec `numcodecs.delta`: the first element, then the difference of each to the one before, in C order of the chunk.
///
/// Differences are taken in `dtype` and stored as `astype`; integers wrap. They are summed in the type that numpy finds for
/// both. Lengths of time stay "not a time" once one is.
/// Refused are bools, whose differences do not lead back, and dates, which numcodecs cannot decode: such arrays
/// have `dtype` `<i8`.
pub const DELTA: CodecEntry = CodecEntry::array_to_array("numcodecs.delta", build)
    .id("delta")
    .only_read(&["delta"])
    .arguments(&[("astype", None)])
    .complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.delta";

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let dtype = Dtype::decoded(NAME, context, "dtype")?;
    let astype = Dtype::member(NAME, context.config, "astype")?.unwrap_or_else(|| dtype.clone());
    for dtype in [&dtype, &astype] {
        if dtype.is_bool() || matches!(dtype.data_type, DataType::DateTime64(_)) {
            return Err(unsupported(NAME, &dtype.data_type));
        }
    }
    if dtype.is_complex() != astype.is_complex() || (dtype.is_time() || astype.is_time()) && dtype != astype {
        let what = format!("differences of {} as {}", dtype.data_type, astype.data_type);
        return Err(Error::Unsupported { codec: NAME, what });
    }
    filter::build(NAME, context, astype.data_type.clone(), Delta { dtype, astype })
}

#[derive(Debug)]
struct Delta {
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for Delta {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        if self.dtype.is_time() {
            differences::<Span, Span>(1, decoded, encoded, |span| span);
            return Ok(());
        }
        let count = self.dtype.count;
        with_arithmetic!(self.dtype.scalar, A => with_arithmetic!(self.astype.scalar, B => {
            differences::<A, B>(count, decoded, encoded, A::convert);
        }));
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        if self.dtype.is_time() {
            sums::<Span, Span, Span>(1, encoded, decoded, |span| span, |span| span);
            return Ok(());
        }
        let count = self.dtype.count;
        let sum = promoted(self.dtype.scalar, self.astype.scalar);
        with_arithmetic!(self.dtype.scalar, A => with_arithmetic!(self.astype.scalar, B => {
            if sum == self.dtype.scalar {
                sums::<B, A, A>(count, encoded, decoded, B::convert, |sum| sum);
            } else if sum == self.astype.scalar {
                sums::<B, B, A>(count, encoded, decoded, |value| value, B::convert);
            } else {
                with_wide!(sum, S => sums::<B, S, A>(count, encoded, decoded, B::convert, S::convert));
            }
        }));
        Ok(())
    }
}

/// Runs `$body` with `$t` as the Rust type of a number that can be subtracted.
macro_rules! with_arithmetic {
    ($scalar:expr, $t:ident => $body:expr) => {
        with_float!($scalar, $t => $body, else with_integer!($scalar, $t => $body, else {}))
    };
}
use with_arithmetic;

/// Runs `$body` with `$t` as the Rust type of a number that is [`promoted`] from two others.
macro_rules! with_wide {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            Scalar::I16 => {
                type $t = i16;
                $body
            }
            Scalar::I32 => {
                type $t = i32;
                $body
            }
            Scalar::I64 => {
                type $t = i64;
                $body
            }
            Scalar::F32 => {
                type $t = f32;
                $body
            }
            _ => {
                type $t = f64;
                $body
            }
        }
    };
}
use with_wide;

/// The type in which numpy computes with numbers of two types: one of the two, or a wider signed integer or float.
fn promoted(a: Scalar, b: Scalar) -> Scalar {
    let is_float = |scalar| matches!(scalar, Scalar::F16 | Scalar::F32 | Scalar::F64);
    let is_signed = |scalar| matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64);
    // The float that has all numbers of an integer, as far as there is one.
    let float = |scalar: Scalar| match scalar.size() {
        _ if is_float(scalar) => scalar,
        1 => Scalar::F16,
        2 => Scalar::F32,
        _ => Scalar::F64,
    };
    let wider = |a: Scalar, b: Scalar| if a.size() < b.size() { b } else { a };
    if is_float(a) || is_float(b) {
        return wider(float(a), float(b));
    }
    match (is_signed(a), is_signed(b)) {
        (true, false) if a.size() > b.size() => a,
        (false, true) if b.size() > a.size() => b,
        (true, false) | (false, true) => match wider(a, b).size() {
            1 => Scalar::I16,
            2 => Scalar::I32,
            4 => Scalar::I64,
            _ => Scalar::F64,
        },
        _ => wider(a, b),
    }
}

/// Writes the differences in each of the `count` parts of elements.
fn differences<A: Arithmetic, B: Number>(count: usize, from: &[u8], to: &mut [u8], convert: impl Fn(A) -> B) {
    for part in 0..count {
        let mut before: Option<A> = None;
        for (from, to) in parts::<A>(count, part, from).zip(parts_mut::<B>(count, part, to)) {
            let value = A::load(from);
            convert(before.map_or(value, |before| value.minus(before))).store(to);
            before = Some(value);
        }
    }
}

/// Writes the running sums in each of the `count` parts of elements, added up as `S`.
fn sums<B: Number, S: Arithmetic, A: Number>(
    count: usize,
    from: &[u8],
    to: &mut [u8],
    convert: impl Fn(B) -> S,
    result: impl Fn(S) -> A,
) {
    for part in 0..count {
        let mut sum: Option<S> = None;
        for (from, to) in parts::<B>(count, part, from).zip(parts_mut::<A>(count, part, to)) {
            let value = convert(B::load(from));
            let value = sum.map_or(value, |sum| sum.plus(value));
            result(value).store(to);
            sum = Some(value);
        }
    }
}

fn parts<T: Number>(count: usize, part: usize, items: &[u8]) -> impl Iterator<Item = &[u8]> {
    items.chunks_exact(T::SIZE).skip(part).step_by(count)
}

fn parts_mut<T: Number>(count: usize, part: usize, items: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    items.chunks_exact_mut(T::SIZE).skip(part).step_by(count)
}
