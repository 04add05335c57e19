//! `numcodecs.delta`: differences of neighbours.

use crate::convert::in_blocks;
use crate::dtype::{Dtype, add_type, with_bits, with_float};
use crate::filter::{self, Transform, unsupported};
use crate::number::{Arithmetic, Number, Span};
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::{DataType, Scalar};
use zarr_json::Map;

/// Codec `numcodecs.delta`: the first element, then the difference of each element to the previous one, in C order of the chunk.
///
/// Differences are computed in `dtype` and stored as `astype`; integers wrap. They are summed in the type to which numpy promotes both
/// types. Once a duration is "not a time", all later ones are. Bools, whose differences cannot be reversed, and dates, which numcodecs
/// cannot decode, are refused; arrays of dates have `dtype` `<i8`.
pub const DELTA: CodecEntry =
    CodecEntry::array_to_array("numcodecs.delta", |context| Delta::from_config(context)?.bind(context))
        .id("delta")
        .only_read(&["delta"])
        .arguments(&[("astype", None)])
        .complete_with(|codec, data_type| add_type(codec, "dtype", data_type));

const NAME: &str = "numcodecs.delta";

/// Codec `numcodecs.delta`: the difference of each element to the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    dtype: Option<Dtype>,
    astype: Option<Dtype>,
}

impl Delta {
    /// Creates the codec that stores differences in the type of the elements.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the type of the stored differences.
    ///
    /// # Errors
    /// [`Error::Argument`] for a type that is no number type.
    pub fn astype(self, data_type: &DataType) -> Result<Self, Error> {
        Ok(Self { astype: Some(Dtype::given(&DELTA, "astype", data_type)?), ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
        let dtype = Dtype::decoded(NAME, context, "dtype", self.dtype)?;
        let astype = self.astype.unwrap_or_else(|| dtype.clone());
        for dtype in [&dtype, &astype] {
            if dtype.is_bool() || matches!(dtype.data_type, DataType::DateTime64(_)) {
                return Err(unsupported(NAME, &dtype.data_type));
            }
        }
        if dtype.is_complex() != astype.is_complex() || (dtype.is_time() || astype.is_time()) && dtype != astype {
            let what = format!("differences of {} as {}", dtype.data_type, astype.data_type);
            return Err(Error::Unsupported { codec: NAME, what });
        }
        filter::build(NAME, context, astype.data_type.clone(), Differences { dtype, astype })
    }
}

impl CodecValue for Delta {
    const ENTRY: CodecEntry = DELTA;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let dtype = Dtype::member(NAME, context.config, "dtype")?;
        Ok(Self { dtype, astype: Dtype::member(NAME, context.config, "astype")? })
    }

    fn to_config(&self) -> Map {
        let value = |dtype: &Option<Dtype>| dtype.as_ref().map(Dtype::to_value);
        Map::from_some([("dtype", value(&self.dtype)), ("astype", value(&self.astype))])
    }
}

#[derive(Debug)]
struct Differences {
    dtype: Dtype,
    astype: Dtype,
}

impl Transform for Differences {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), String> {
        let computed = self.dtype.scalar;
        self.with_neighbours(computed, |neighbours| {
            let mut subtract = |block: &mut [u8]| neighbours.subtract(block);
            in_blocks(computed, self.astype.scalar, decoded, encoded, &mut [(computed, &mut subtract)]);
        });
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        let computed = promoted(self.dtype.scalar, self.astype.scalar);
        self.with_neighbours(computed, |neighbours| {
            let mut add = |block: &mut [u8]| neighbours.add(block);
            in_blocks(self.astype.scalar, self.dtype.scalar, encoded, decoded, &mut [(computed, &mut add)]);
        });
        Ok(())
    }
}

impl Differences {
    /// Calls `f` with the [`Neighbours`] that add and subtract in type `computed`.
    fn with_neighbours(&self, computed: Scalar, f: impl FnOnce(&mut dyn Neighbours)) {
        let count = self.dtype.count;
        if self.dtype.is_time() {
            return f(&mut Before::<Span>::new(count));
        }
        with_float!(computed, T => f(&mut Before::<T>::new(count)), else {
            with_bits!(computed, T => f(&mut Before::<T>::new(count)))
        });
    }
}

/// Returns the type in which numpy computes with numbers of two types: one of the two, or a wider signed integer or float.
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

/// Replacement of numbers by differences or sums, block by block. Elements may have several parts, which are processed separately.
trait Neighbours {
    /// Replaces each number by its difference to the previous number.
    fn subtract(&mut self, block: &mut [u8]);
    /// Replaces each number by the sum of all numbers up to it.
    fn add(&mut self, block: &mut [u8]);
}

/// Value carried over from the previous block for each part of an element: the last number, or the sum so far; `None` before the first
/// block.
struct Before<T>(Vec<Option<T>>);

impl<T: Arithmetic> Before<T> {
    fn new(count: usize) -> Self {
        Self(vec![None; count])
    }
}

impl<T: Arithmetic> Neighbours for Before<T> {
    fn subtract(&mut self, block: &mut [u8]) {
        let count = self.0.len();
        for (part, before) in self.0.iter_mut().enumerate() {
            replace(count, part, block, before, |value, before| (value.minus(before), value));
        }
    }

    fn add(&mut self, block: &mut [u8]) {
        let count = self.0.len();
        for (part, sum) in self.0.iter_mut().enumerate() {
            replace(count, part, block, sum, |value, sum| {
                let sum = sum.plus(value);
                (sum, sum)
            });
        }
    }
}

/// Replaces each number of a part by the first result of `f`, whose arguments are the number and the value carried over from the previous
/// number; the second result is the value to carry over. The very first number is not changed.
#[inline(always)]
fn replace<T: Number>(count: usize, part: usize, block: &mut [u8], kept: &mut Option<T>, f: impl Fn(T, T) -> (T, T)) {
    let mut items = block.chunks_exact_mut(T::SIZE * count).filter_map(|item| item.chunks_exact_mut(T::SIZE).nth(part));
    let Some(mut before) = kept.or_else(|| items.next().map(|item| T::load(item))) else { return };
    for item in items {
        let (value, keep) = f(T::load(item), before);
        value.store(item);
        before = keep;
    }
    *kept = Some(before);
}
