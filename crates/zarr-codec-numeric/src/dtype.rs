//! Types of numpy in the configurations of numcodecs filters.

use zarr_codec::{BuildContext, CodecEntry, Config, Error, add_missing};
use zarr_dtype::{DataType, Layout, Scalar, from_npy_descr, npy_descr};
use zarr_json::{NamedConfig, Value};

/// Adds `member` with the type string of numpy for elements of `data_type`, if there is one.
pub(crate) fn add_type(codec: &mut NamedConfig, member: &str, data_type: &DataType) {
    if let Some(descr) = npy_descr(data_type) {
        add_missing(codec, [(member, descr.into())]);
    }
}

/// Number type of numpy: bools, integers, floats, complex numbers and times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub(crate) data_type: DataType,
    pub(crate) scalar: Scalar,
    /// Number of scalars in one element: 2 for complex numbers, else 1.
    pub(crate) count: usize,
}

impl Dtype {
    /// Returns the type of elements of `data_type`; `None` if they are no numbers of numpy.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        use DataType as D;
        let numbers = matches!(
            data_type,
            D::Bool | D::Int8 | D::Int16 | D::Int32 | D::Int64 | D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64
        ) || matches!(data_type, D::Float16 | D::Float32 | D::Float64 | D::Complex64 | D::Complex128)
            || matches!(data_type, D::DateTime64(_) | D::TimeDelta64(_));
        match data_type.layout() {
            Layout::Fixed { scalar, count } if numbers => {
                Some(Self { data_type: data_type.clone(), scalar, count: usize::try_from(count).ok()? })
            }
            _ => None,
        }
    }

    /// Returns the type for `data_type`, which a program gave for member `name`.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is no number type.
    pub(crate) fn given(entry: &CodecEntry, name: &str, data_type: &DataType) -> Result<Self, Error> {
        let unfit = || entry.argument(name, &format!("expected a type of numbers, found {data_type}"));
        Self::of(data_type).ok_or_else(unfit)
    }

    /// Returns the type string of numpy, or the name in Zarr v3 if numpy lacks the type.
    pub(crate) fn to_value(&self) -> Value {
        npy_descr(&self.data_type).map_or_else(|| self.data_type.to_config().short_value(), Value::from)
    }

    /// Returns the type as which the elements of the array are interpreted: `given` by member `name`, or their own type.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `given` has another size, [`Error::Unsupported`] if the elements are no numbers.
    pub(crate) fn decoded(
        codec: &'static str,
        context: &BuildContext<'_>,
        name: &'static str,
        given: Option<Self>,
    ) -> Result<Self, Error> {
        let own = &context.element.data_type;
        match given {
            None => Self::of(own).ok_or_else(|| crate::filter::unsupported(codec, own)),
            // numcodecs takes the bytes for whatever its own configuration says.
            Some(dtype) if dtype.data_type.item_size() == own.item_size() && !own.is_variable() => Ok(dtype),
            Some(dtype) => {
                let what = format!("found {}, but the elements that come here are {own}", dtype.data_type);
                Err(context.config.error(name, what))
            }
        }
    }

    /// Returns the type in member `name`; `None` if it is missing.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member is no type, [`Error::Unsupported`] if it is no number type.
    pub(crate) fn member(codec: &'static str, config: &Config<'_>, name: &'static str) -> Result<Option<Self>, Error> {
        let Some(value) = config.value(name) else { return Ok(None) };
        let data_type = value.as_str().and_then(parse);
        let data_type = data_type.ok_or_else(|| config.unexpected(name, "a type of numpy such as \"<f8\"", value))?;
        Self::of(&data_type).map(Some).ok_or_else(|| crate::filter::unsupported(codec, &data_type))
    }

    pub(crate) fn is_bool(&self) -> bool {
        self.scalar == Scalar::Bool
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self.scalar, Scalar::F16 | Scalar::F32 | Scalar::F64) && self.count == 1
    }

    pub(crate) fn is_complex(&self) -> bool {
        self.count > 1
    }

    pub(crate) fn is_time(&self) -> bool {
        matches!(self.data_type, DataType::DateTime64(_) | DataType::TimeDelta64(_))
    }
}

/// Parses `<f8`, `f8`, or a name that zarr-python 3 fills in: `float64`, `datetime64[ns]`.
///
/// The byte order is ignored: the codec `bytes` has that of encoded elements.
fn parse(text: &str) -> Option<DataType> {
    let text = text.strip_prefix('=').unwrap_or(text);
    if let Ok((data_type, _)) = from_npy_descr(text) {
        return Some(data_type);
    }
    let time = |long: &str, short: &str| text.strip_prefix(long).map(|unit| format!("{short}{unit}"));
    match time("datetime64", "M8").or_else(|| time("timedelta64", "m8")) {
        Some(descr) => from_npy_descr(&descr).ok().map(|(data_type, _)| data_type),
        None => DataType::from_config(&NamedConfig::new(text)).ok(),
    }
}

/// Runs `$body` with `$t` as the Rust type of `$scalar` in the given table, or `$other` if the table lacks `$scalar`.
macro_rules! with_one_of {
    ($scalar:expr, $t:ident => $body:expr, else $other:expr; $($name:ident: $rust:ty),+) => {
        match $scalar {
            $(zarr_dtype::Scalar::$name => {
                type $t = $rust;
                $body
            })+
            _ => $other,
        }
    };
}

/// Runs `$body` with `$t` as the unsigned integer with as many bits as an integer of numpy: sums, differences and products have the same
/// bits for signed integers.
macro_rules! with_bits {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar.size() {
            1 => {
                type $t = u8;
                $body
            }
            2 => {
                type $t = u16;
                $body
            }
            4 => {
                type $t = u32;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
}

/// Runs `$body` with `$t` as the Rust type of an integer of numpy, or `$other` for other scalars.
macro_rules! with_integer {
    ($scalar:expr, $t:ident => $body:expr, else $other:expr) => {
        crate::dtype::with_one_of!($scalar, $t => $body, else $other;
            I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
    };
}

/// Runs `$body` with `$t` as the Rust type of a float of numpy, or `$other` for other scalars.
macro_rules! with_float {
    ($scalar:expr, $t:ident => $body:expr, else $other:expr) => {
        crate::dtype::with_one_of!($scalar, $t => $body, else $other;
            F16: zarr_dtype::float::Half, F32: f32, F64: f64)
    };
}

pub(crate) use {with_bits, with_float, with_integer, with_one_of};
