//! Casts of numbers from one data type to another.

use clap::ValueEnum;
use zarr::dtype::{Cast, Class, DataType, cast_items, print};
use zarr::meta::json::{Number, Value};

/// Which types numbers may be cast to, as in `numpy.can_cast`. A value that the other type does not have is an error either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Casting {
    /// The same kind, or a later one of bool, unsigned, signed, float: float64 to float32, int64 to int8.
    SameKind,
    /// Any: of floats that become integers the fraction is cut off.
    Unsafe,
}

impl Casting {
    /// Returns the strictest rule that allows a cast between two data types; `None` if no rule does.
    pub(super) fn between(from: &DataType, to: &DataType) -> Option<Self> {
        let (from, to) = (kind(from)?, kind(to)?);
        Some(if from <= to { Self::SameKind } else { Self::Unsafe })
    }

    /// Returns whether the rule also allows the casts of the rule `other`.
    pub(super) fn has(self, other: Self) -> bool {
        self == Self::Unsafe || other == Self::SameKind
    }
}

/// Returns a number for the kind of a numeric type, in the order of numpy; `None` for types without casts.
fn kind(data_type: &DataType) -> Option<u8> {
    match (data_type, data_type.class()) {
        (DataType::Int2 | DataType::UInt2 | DataType::Int4 | DataType::UInt4 | DataType::SmallFloat(_), _) => None,
        (DataType::DateTime64(_) | DataType::TimeDelta64(_), _) => None,
        (DataType::Bool, _) => Some(0),
        (_, Some(Class::Unsigned)) => Some(1),
        (_, Some(Class::Signed)) => Some(2),
        (_, Some(Class::Float)) => Some(3),
        _ => None,
    }
}

/// Number in a type that is wide enough for its class.
#[derive(Clone, Copy)]
enum WideNumber {
    Integer(i128),
    Float(f64),
}

impl WideNumber {
    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Returns the number without its fraction; `None` if it does not fit.
    fn to_integer(self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(value),
            // Larger floats are beyond all types.
            Self::Float(value) if value.is_finite() && value.abs() < 1e30 => Some(value as i128),
            Self::Float(_) => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
        }
    }
}

/// Casts elements of type `from`, in memory form, to elements of type `to`, for which a rule must exist.
///
/// # Errors
/// The message names the element that has no value in `to`, by its number; `before` is the number of elements before `items`.
pub(super) fn cast(from: &DataType, items: &[u8], to: &DataType, before: u64) -> Result<Vec<u8>, String> {
    let numbers: Vec<WideNumber> = match (from, from.class()) {
        (_, Some(Class::Float)) => {
            cast_items::<f64>(from, items, Cast::Exact).map(|all| all.into_iter().map(WideNumber::Float).collect())
        }
        (DataType::UInt64, _) => cast_items::<u64>(from, items, Cast::Exact)
            .map(|all| all.into_iter().map(|value| WideNumber::Integer(value.into())).collect()),
        _ => cast_items::<i64>(from, items, Cast::Exact)
            .map(|all| all.into_iter().map(|value| WideNumber::Integer(value.into())).collect()),
    }
    .map_err(|error| error.to_string())?;
    let mut cast = Vec::with_capacity(numbers.len().saturating_mul(to.item_size()));
    for (index, number) in numbers.into_iter().enumerate() {
        let index = before.saturating_add(index as u64);
        let wrong = || format!("element {index}: found {}, expected a value of {to}", number.text());
        add(number, to, &mut cast).ok_or_else(wrong)?;
    }
    Ok(cast)
}

/// Appends a number as an element of type `to`; `None` if the type does not have the number.
fn add(number: WideNumber, to: &DataType, into: &mut Vec<u8>) -> Option<()> {
    macro_rules! integer {
        ($int:ty) => {
            into.extend(<$int>::try_from(number.to_integer()?).ok()?.to_ne_bytes())
        };
    }
    match to {
        DataType::Bool => into.push(u8::from(number.to_f64() != 0.0)),
        DataType::Int8 => integer!(i8),
        DataType::Int16 => integer!(i16),
        DataType::Int32 => integer!(i32),
        DataType::Int64 => integer!(i64),
        DataType::UInt8 => integer!(u8),
        DataType::UInt16 => integer!(u16),
        DataType::UInt32 => integer!(u32),
        DataType::UInt64 => integer!(u64),
        DataType::Float64 => into.extend(number.to_f64().to_ne_bytes()),
        DataType::Float32 => {
            // Rounded only once: an integer is not converted to a float of 64 bits first.
            let (value, rounded) = match number {
                WideNumber::Integer(integer) => (number.to_f64(), integer as f32),
                WideNumber::Float(value) => (value, value as f32),
            };
            // A finite number that becomes infinite does not fit.
            into.extend((rounded.is_finite() || !value.is_finite()).then_some(rounded)?.to_ne_bytes());
        }
        // Floats of 16 bits and other types go through JSON.
        _ => {
            let value = number.to_f64();
            let json = match value {
                value if value.is_nan() => Value::from("NaN"),
                value if value.is_infinite() => Value::from(if value > 0.0 { "Infinity" } else { "-Infinity" }),
                value => Value::Number(Number::parse(&match number {
                    WideNumber::Integer(integer) => integer.to_string(),
                    WideNumber::Float(_) => format!("{value:e}"),
                })?),
            };
            let element = print::parse(to, &json).ok()?;
            let rounded = cast_items::<f64>(to, &element, Cast::Exact).ok()?;
            let is_finite = rounded.first().is_some_and(|value| value.is_finite());
            into.extend((is_finite || !value.is_finite()).then_some(element)?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
        values.into_iter().flatten().collect()
    }

    #[test]
    fn rules_are_those_of_numpy() {
        use DataType::*;
        for (from, to, rule) in [
            (Float64, Float32, Some(Casting::SameKind)),
            (Float64, Float16, Some(Casting::SameKind)),
            (Int64, Int8, Some(Casting::SameKind)),
            (Int64, Float32, Some(Casting::SameKind)),
            (UInt8, Int8, Some(Casting::SameKind)),
            (Bool, UInt8, Some(Casting::SameKind)),
            (Int8, UInt64, Some(Casting::Unsafe)),
            (Float32, Int64, Some(Casting::Unsafe)),
            (Int8, Bool, Some(Casting::Unsafe)),
            (Float32, String, None),
            (Complex64, Float32, None),
            (Float32, Int4, None),
        ] {
            assert_eq!(Casting::between(&from, &to), rule, "{from} {to}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_errors() {
        use DataType::*;
        let error = |from: &DataType, items: &[u8], to: &DataType| cast(from, items, to, 10).unwrap_err();
        let floats = bytes([0.5_f64, 1e300].map(f64::to_ne_bytes));
        assert!(error(&Float64, &floats, &Float32).starts_with("element 11: found 1000"));
        assert!(error(&Float64, &floats, &Int64).starts_with("element 11: "));
        assert!(error(&Float64, &f64::NAN.to_ne_bytes(), &Int8).starts_with("element 10: found NaN"));
        assert_eq!(error(&Int16, &300_i16.to_ne_bytes(), &UInt8), "element 10: found 300, expected a value of uint8");
        assert!(error(&Float32, &70_000_f32.to_ne_bytes(), &Float16).starts_with("element 10: found 70000"));
        let ok = |from: &DataType, items: &[u8], to: &DataType| cast(from, items, to, 0).unwrap();
        assert_eq!(ok(&Float64, &bytes([-1.9_f64, 127.9].map(f64::to_ne_bytes)), &Int8), [0xff, 127]);
        assert_eq!(ok(&Float64, &bytes([f64::NAN, 0.0, -0.5].map(f64::to_ne_bytes)), &Bool), [1, 0, 1]);
        assert_eq!(ok(&UInt64, &u64::MAX.to_ne_bytes(), &Float32), (u64::MAX as f32).to_ne_bytes());
        // A first conversion to a float of 64 bits would give a tie, which would be rounded down.
        let odd = (1_i64 << 54) + (1 << 30) + 1;
        assert_eq!(ok(&Int64, &odd.to_ne_bytes(), &Float32), (((1_u64 << 54) + (1 << 31)) as f32).to_ne_bytes());
        assert_eq!(ok(&Float64, &1.5_f64.to_ne_bytes(), &Float16), 0x3e00_u16.to_ne_bytes());
        assert_eq!(ok(&Float64, &f64::INFINITY.to_ne_bytes(), &Float16), 0x7c00_u16.to_ne_bytes());
        assert_eq!(ok(&Float64, &f64::INFINITY.to_ne_bytes(), &Float32), f32::INFINITY.to_ne_bytes());
    }
}
