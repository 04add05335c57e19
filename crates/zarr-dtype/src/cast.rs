//! Conversion of numbers from one type to another.

use crate::element::Element;
use crate::{DataType, Error};
use half::{bf16, f16};

/// Treatment of a value that the target type cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cast {
    /// Fails: 2^53 + 1 and 0.1 as `f32`, -1 and NaN as `u8`.
    #[default]
    Exact,
    /// Takes the nearest value: a float is rounded; for an integer the fraction is cut off and the value is clamped to the range; NaN
    /// becomes 0.
    Lossy,
}

/// Rust number to which elements of every number type and bool can be converted: `i8` to `i64`, `u8` to `u64`, `f32`, `f64`.
pub trait CastElement: Element + Number {}

mod sealed {
    /// Number with conversions from the three types that hold every number type without loss.
    pub trait Number: Copy {
        fn exact_i64(value: i64) -> Option<Self>;
        fn exact_u64(value: u64) -> Option<Self>;
        fn exact_f64(value: f64) -> Option<Self>;
        fn lossy_i64(value: i64) -> Self;
        fn lossy_u64(value: u64) -> Self;
        fn lossy_f64(value: f64) -> Self;
    }
}
use sealed::Number;

macro_rules! integers {
    ($($int:ty),*) => { $(
        impl CastElement for $int {}

        impl Number for $int {
            fn exact_i64(value: i64) -> Option<Self> {
                Self::try_from(value).ok()
            }

            fn exact_u64(value: u64) -> Option<Self> {
                Self::try_from(value).ok()
            }

            fn exact_f64(value: f64) -> Option<Self> {
                // One above the largest value is a power of two, which floats have exactly.
                let end = (Self::MAX / 2 + 1) as f64 * 2.0;
                (value.fract() == 0.0 && value >= Self::MIN as f64 && value < end).then_some(value as Self)
            }

            fn lossy_i64(value: i64) -> Self {
                i128::from(value).clamp(Self::MIN.into(), Self::MAX.into()) as Self
            }

            fn lossy_u64(value: u64) -> Self {
                i128::from(value).clamp(Self::MIN.into(), Self::MAX.into()) as Self
            }

            fn lossy_f64(value: f64) -> Self {
                value as Self
            }
        }
    )* };
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($float:ty),*) => { $(
        impl CastElement for $float {}

        impl Number for $float {
            fn exact_i64(value: i64) -> Option<Self> {
                (value as Self as i128 == i128::from(value)).then_some(value as Self)
            }

            fn exact_u64(value: u64) -> Option<Self> {
                (value as Self as i128 == i128::from(value)).then_some(value as Self)
            }

            fn exact_f64(value: f64) -> Option<Self> {
                (f64::from(value as Self) == value || value.is_nan()).then_some(value as Self)
            }

            fn lossy_i64(value: i64) -> Self {
                value as Self
            }

            fn lossy_u64(value: u64) -> Self {
                value as Self
            }

            fn lossy_f64(value: f64) -> Self {
                value as Self
            }
        }
    )* };
}
floats!(f32, f64);

/// Converts `items`, which are elements of `data_type` in memory form, to numbers of type `T`; bools become 0 and 1.
///
/// ```
/// # use zarr_dtype::{Cast, DataType, cast_items};
/// let items: Vec<u8> = [1_i16, -300].iter().flat_map(|value| value.to_ne_bytes()).collect();
/// assert_eq!(cast_items::<f64>(&DataType::Int16, &items, Cast::Exact)?, [1.0, -300.0]);
/// assert_eq!(cast_items::<u8>(&DataType::Int16, &items, Cast::Lossy)?, [1, 0]);
/// let error = cast_items::<u8>(&DataType::Int16, &items, Cast::Exact).unwrap_err();
/// assert_eq!(error.to_string(), "element 1: found -300, expected a value of u8");
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
///
/// # Errors
/// [`Error::Mismatch`] if `data_type` is neither a number nor bool (complex numbers, dates), [`Error::Size`] for part of an element,
/// [`Error::Item`] for a value that `T` cannot represent if `cast` is [`Cast::Exact`], [`Error::Memory`].
pub fn cast_items<T: CastElement>(data_type: &DataType, items: &[u8], cast: Cast) -> Result<Vec<T>, Error> {
    let stored = data_type.storage();
    macro_rules! integers {
        ($source:ty, $wide:ty, $exact:ident, $lossy:ident) => {{
            let load = |bytes| <$wide>::from(<$source>::from_ne_bytes(bytes));
            match cast {
                Cast::Exact => convert(stored, items, |bytes| T::$exact(load(bytes)), |bytes| load(bytes).to_string()),
                Cast::Lossy => convert(stored, items, |bytes| Some(T::$lossy(load(bytes))), |_| String::new()),
            }
        }};
    }
    macro_rules! floats {
        ($load:expr) => {{
            let load = $load;
            match cast {
                Cast::Exact => {
                    convert(stored, items, |bytes| T::exact_f64(load(bytes)), |bytes| load(bytes).to_string())
                }
                Cast::Lossy => convert(stored, items, |bytes| Some(T::lossy_f64(load(bytes))), |_| String::new()),
            }
        }};
    }
    match stored {
        DataType::Bool | DataType::UInt8 | DataType::UInt4 | DataType::UInt2 => {
            integers!(u8, u64, exact_u64, lossy_u64)
        }
        DataType::Int8 | DataType::Int4 | DataType::Int2 => integers!(i8, i64, exact_i64, lossy_i64),
        DataType::Int16 => integers!(i16, i64, exact_i64, lossy_i64),
        DataType::Int32 => integers!(i32, i64, exact_i64, lossy_i64),
        DataType::Int64 => integers!(i64, i64, exact_i64, lossy_i64),
        DataType::UInt16 => integers!(u16, u64, exact_u64, lossy_u64),
        DataType::UInt32 => integers!(u32, u64, exact_u64, lossy_u64),
        DataType::UInt64 => integers!(u64, u64, exact_u64, lossy_u64),
        DataType::Float16 => floats!(|bytes| f16::from_ne_bytes(bytes).to_f64()),
        DataType::BFloat16 => floats!(|bytes| bf16::from_ne_bytes(bytes).to_f64()),
        DataType::Float32 => floats!(|bytes| f64::from(f32::from_ne_bytes(bytes))),
        DataType::Float64 => floats!(f64::from_ne_bytes),
        DataType::SmallFloat(_) => floats!(|byte: [u8; 1]| stored.to_f64(&byte).unwrap_or(f64::NAN)),
        _ => Err(Error::Mismatch { element: T::name(), data_type: data_type.to_string() }),
    }
}

/// Converts elements of `N` bytes each by `convert`; `print` gives the text of an element that `convert` refuses.
fn convert<T: CastElement, const N: usize>(
    data_type: &DataType,
    items: &[u8],
    convert: impl Fn([u8; N]) -> Option<T>,
    print: impl Fn([u8; N]) -> String,
) -> Result<Vec<T>, Error> {
    data_type.layout().check(items)?;
    let (elements, rest) = items.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Error::Size { found: items.len(), item_size: N });
    }
    let mut converted = Vec::new();
    let memory = |_| Error::Memory { len: elements.len(), item_size: size_of::<T>() };
    converted.try_reserve_exact(elements.len()).map_err(memory)?;
    for (index, &bytes) in elements.iter().enumerate() {
        converted.push(convert(bytes).ok_or_else(|| Error::Item {
            index,
            found: print(bytes),
            expected: format!("a value of {}", T::name()),
        })?);
    }
    Ok(converted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FillValue;
    use proptest::prelude::*;
    use zarr_json::json;

    fn items(data_type: &DataType, value: zarr_json::Value) -> Vec<u8> {
        FillValue::parse(data_type, &value).unwrap().bytes().to_vec()
    }

    #[test]
    fn values_are_exact_or_refused() {
        use DataType::*;
        let big = 9_007_199_254_740_993_u64;
        assert_eq!(cast_items::<u64>(&UInt64, &items(&UInt64, json!(big)), Cast::Exact).unwrap(), [big]);
        assert!(cast_items::<f64>(&UInt64, &items(&UInt64, json!(big)), Cast::Exact).is_err());
        assert_eq!(
            cast_items::<f64>(&UInt64, &items(&UInt64, json!(big)), Cast::Lossy).unwrap(),
            [9_007_199_254_740_992.0]
        );
        assert!(cast_items::<f32>(&Float64, &items(&Float64, json!(0.1)), Cast::Exact).is_err());
        assert_eq!(cast_items::<f32>(&Float64, &items(&Float64, json!(0.1)), Cast::Lossy).unwrap(), [0.1]);
        assert!(cast_items::<f32>(&Float64, &items(&Float64, json!(1e300)), Cast::Exact).is_err());
        assert!(cast_items::<f32>(&Float64, &items(&Float64, json!("NaN")), Cast::Exact).unwrap()[0].is_nan());
        assert_eq!(
            cast_items::<f32>(&Float64, &items(&Float64, json!("-Infinity")), Cast::Exact).unwrap(),
            [f32::NEG_INFINITY]
        );
        let two_63 = items(&Float64, json!(9_223_372_036_854_775_808.0));
        assert!(cast_items::<i64>(&Float64, &two_63, Cast::Exact).is_err());
        assert_eq!(cast_items::<u64>(&Float64, &two_63, Cast::Exact).unwrap(), [1 << 63]);
        assert_eq!(cast_items::<i64>(&Float64, &two_63, Cast::Lossy).unwrap(), [i64::MAX]);
        assert_eq!(cast_items::<i8>(&Bool, &[0, 1], Cast::Exact).unwrap(), [0, 1]);
        let small = SmallFloat(crate::SmallFloat::Float8E5M2);
        assert_eq!(cast_items::<f32>(&small, &[0x3c], Cast::Exact).unwrap(), [1.0]);
        let error = cast_items::<u8>(&Float32, &items(&Float32, json!("NaN")), Cast::Exact).unwrap_err();
        assert_eq!(error.to_string(), "element 0: found NaN, expected a value of u8");
        assert!(matches!(cast_items::<f64>(&Complex64, &[0; 8], Cast::Lossy), Err(Error::Mismatch { .. })));
        assert!(matches!(cast_items::<f64>(&Int32, &[0; 5], Cast::Lossy), Err(Error::Size { .. })));
    }

    fn floats() -> impl Strategy<Value = f64> {
        prop_oneof![any::<f64>(), any::<i32>().prop_map(f64::from), any::<i64>().prop_map(|value| value as f64)]
    }

    proptest! {
        #[test]
        fn exact_values_come_back(values in prop::collection::vec(floats(), 0..20), integers: Vec<i64>) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            for (index, value) in values.iter().enumerate() {
                let one = &bytes[8 * index..8 * index + 8];
                match cast_items::<i32>(&DataType::Float64, one, Cast::Exact) {
                    Ok(cast) => prop_assert_eq!(f64::from(cast[0]), *value),
                    Err(_) => prop_assert!(value.fract() != 0.0 || *value != f64::from(*value as i32)),
                }
            }
            for value in integers {
                match cast_items::<f64>(&DataType::Int64, &value.to_ne_bytes(), Cast::Exact) {
                    Ok(cast) => prop_assert_eq!(cast[0] as i128, i128::from(value)),
                    Err(_) => prop_assert_ne!(value as f64 as i128, i128::from(value)),
                }
            }
        }
    }
}
