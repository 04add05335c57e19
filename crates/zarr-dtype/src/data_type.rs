//! Data types of elements.
//!
//! # A new data type
//! A data type of a single program, or one that is stored as another type, needs none of these steps: it is an `ExtensionType`
//! (`crates/zarr/examples/own_data_type.rs`). An integer type needs no arm in `parse.rs` and `print.rs`.
//!
//! 1. `layout.rs`, if it is a new scalar: the variant, its size, and its range if it is an integer. By the range, integers are read
//!    from JSON and text and written to them; bools and floats are in `parse.rs` and `print.rs`.
//! 2. Here: the variant, its class and its layout. `name.rs`: its name.
//! 3. `element.rs`: its Rust type, a row of `numbers!`, by which it is an element of arrays, a field of structs and an inner element of
//!    lists. A type of a size that Rust lacks needs a Rust type of its own with that size.
//! 4. `cast.rs`: its arm in `cast_items`. Without it `read_as` refuses the data type.
//! 5. `numpy.rs`, if numpy has it: a row of `NUMBERS`. A number that is not there goes by its name in documents of version 2, and files
//!    of numpy cannot hold it.
//! 6. Lists of scalars elsewhere (`git grep -e Scalar::I64 -e 'I64 =>' crates`): of the codecs that are to take it, of statistics, pyramids,
//!    packed numbers, the server's page. Most refuse a scalar that they do not list; those of `zarr-codec-numeric` have their list in
//!    `dtype.rs`. `packbits` takes any, by its size; `bytes`, shards and codecs of
//!    bytes take every type. If its text in tables is no JSON: `cell` in `crates/zarr-cli/src/commands/write/values.rs`.
//! 7. `tests/src/matrix/elements.rs`: a row, by which the matrix and the laws have it. A test then asks for `docs/support.md`, which
//!    `cargo xtask conformance --matrix` writes; `cargo xtask api --bless` writes `docs/api`. The tables of Rust types are in the
//!    documentation of `Element` and in `docs/guide/data-types.md`.

use crate::float;
use crate::layout::{Layout, Scalar};
use crate::{Element, Error, Extension, SmallFloat, StructType, TimeUnit};
use std::fmt;

/// Data type of the elements of an array.
///
/// [`from_config`](Self::from_config) makes it from the name and configuration in a metadata document. The [`layout`](Self::layout)
/// describes the elements in memory.
///
/// ```
/// # use zarr_dtype::{DataType, Layout, Scalar};
/// # use zarr_json::NamedConfig;
/// let data_type = DataType::from_config(&NamedConfig::new("complex64"))?;
/// assert_eq!(data_type, DataType::Complex64);
/// assert_eq!(data_type.layout(), Layout::Fixed { scalar: Scalar::F32, count: 2 });
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
///
/// Zarr v3 core, section "Data types", and the register of extensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataType {
    /// `bool`: true or false, in one byte.
    Bool,
    /// `int2`: -2 to 1, in one byte.
    Int2,
    /// `int4`: -8 to 7, in one byte.
    Int4,
    /// `int8`: signed integer of 8 bits.
    Int8,
    /// `int16`: signed integer of 16 bits.
    Int16,
    /// `int32`: signed integer of 32 bits.
    Int32,
    /// `int64`: signed integer of 64 bits.
    Int64,
    /// `uint2`: 0 to 3, in one byte.
    UInt2,
    /// `uint4`: 0 to 15, in one byte.
    UInt4,
    /// `uint8`: unsigned integer of 8 bits.
    UInt8,
    /// `uint16`: unsigned integer of 16 bits.
    UInt16,
    /// `uint32`: unsigned integer of 32 bits.
    UInt32,
    /// `uint64`: unsigned integer of 64 bits.
    UInt64,
    /// The `float8_*`, `float6_*` and `float4_*` types, in one byte each.
    SmallFloat(SmallFloat),
    /// `float16`: IEEE 754 binary16.
    Float16,
    /// `bfloat16`: the upper half of a binary32.
    BFloat16,
    /// `float32`: IEEE 754 binary32.
    Float32,
    /// `float64`: IEEE 754 binary64.
    Float64,
    /// The `complex_float8_*`, `complex_float6_*` and `complex_float4_*` types: real and imaginary part in one byte each.
    SmallComplex(SmallFloat),
    /// `complex_float16`: real and imaginary part as float16.
    ComplexFloat16,
    /// `complex_bfloat16`: real and imaginary part as bfloat16.
    ComplexBFloat16,
    /// `complex64`, also named `complex_float32`: real and imaginary part as float32.
    Complex64,
    /// `complex128`, also named `complex_float64`: real and imaginary part as float64.
    Complex128,
    /// `r8`, `r16`, `r24`..: raw bytes without a meaning. The number counts **bytes**, not bits.
    RawBits(u32),
    /// `null_terminated_bytes`, numpy's `S`: bytes, padded with NULs at the end.
    FixedBytes {
        /// Size of one element in bytes.
        len: u32,
    },
    /// `raw_bytes`, numpy's `V`: bytes without a meaning.
    RawBytes {
        /// Size of one element in bytes.
        len: u32,
    },
    /// `fixed_length_utf32`, numpy's `U`: a string, padded with NULs at the end.
    FixedUtf32 {
        /// Number of code points of one element.
        len: u32,
    },
    /// `numpy.datetime64`: a 64-bit count of units since 1970-01-01; `i64::MIN` means "not a time".
    DateTime64(TimeUnit),
    /// `numpy.timedelta64`: a 64-bit count of units; `i64::MIN` means "not a time".
    TimeDelta64(TimeUnit),
    /// `string`: UTF-8 strings of any length.
    String,
    /// `bytes` or `variable_length_bytes`: byte strings of any length.
    Bytes {
        /// Name of the type in documents.
        name: BytesName,
    },
    /// `vlen-array`: lists of any length of inner elements of a type of fixed size, numpy's object arrays of arrays. The type is named
    /// after the only codec that stores it.
    VlenArray(Box<DataType>),
    /// `v2_object`: JSON values of any kind, numpy's object arrays as `json2` and `msgpack2` store them.
    ///
    /// The content of an element is its compact JSON text, or empty for `null`. Values that Python has and JSON lacks are objects with one
    /// member: `{"$float": "NaN"}` (or `"Infinity"`, `"-Infinity"`) and `{"$bytes": "<base64>"}`.
    Object,
    /// `struct`, numpy's structured types: fields of fixed size one after another.
    Struct(StructType),
    /// Type defined outside of this crate, see [`DataTypes`](crate::DataTypes).
    Extension(Extension),
}

/// Name of the type of byte strings of any length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BytesName {
    /// `bytes`, the name in the register of extensions.
    #[default]
    Bytes,
    /// `variable_length_bytes`, which zarr-python 3.0 and 3.1 write.
    VariableLengthBytes,
}

/// Class of the values of a data type of numbers or bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Bools: true and false.
    Bool,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating point numbers.
    Float,
    /// Complex numbers: pairs of floats, the real and the imaginary part.
    Complex,
}

impl DataType {
    /// Returns the class of the values; `None` for types that are neither numbers nor bools.
    pub fn class(&self) -> Option<Class> {
        Some(match self {
            Self::Bool => Class::Bool,
            Self::Int2 | Self::Int4 | Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => Class::Signed,
            Self::UInt2 | Self::UInt4 | Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => Class::Unsigned,
            Self::SmallFloat(_) | Self::Float16 | Self::BFloat16 | Self::Float32 | Self::Float64 => Class::Float,
            Self::SmallComplex(_)
            | Self::ComplexFloat16
            | Self::ComplexBFloat16
            | Self::Complex64
            | Self::Complex128 => Class::Complex,
            _ => return None,
        })
    }

    /// Returns the value of the element `item`, if the values of the type are floats; `None` for other types.
    pub fn to_f64(&self, item: &[u8]) -> Option<f64> {
        let format = match self {
            Self::SmallFloat(small) => small.format(),
            Self::Float16 => float::F16,
            Self::BFloat16 => float::BF16,
            Self::Float32 => float::F32,
            Self::Float64 => float::F64,
            _ => return None,
        };
        Some(format.value(format.load(item)?))
    }

    /// Returns the layout of elements in memory.
    pub fn layout(&self) -> Layout {
        let scalar = |scalar| Layout::Fixed { scalar, count: 1 };
        match *self {
            Self::Bool => scalar(Scalar::Bool),
            Self::Int2 => scalar(Scalar::I2),
            Self::Int4 => scalar(Scalar::I4),
            Self::Int8 => scalar(Scalar::I8),
            Self::Int16 => scalar(Scalar::I16),
            Self::Int32 => scalar(Scalar::I32),
            Self::Int64 | Self::DateTime64(_) | Self::TimeDelta64(_) => scalar(Scalar::I64),
            Self::UInt2 => scalar(Scalar::U2),
            Self::UInt4 => scalar(Scalar::U4),
            Self::UInt8 => scalar(Scalar::U8),
            Self::UInt16 => scalar(Scalar::U16),
            Self::UInt32 => scalar(Scalar::U32),
            Self::UInt64 => scalar(Scalar::U64),
            Self::Float16 => scalar(Scalar::F16),
            Self::BFloat16 => scalar(Scalar::BF16),
            Self::Float32 => scalar(Scalar::F32),
            Self::Float64 => scalar(Scalar::F64),
            Self::ComplexFloat16 => Layout::Fixed { scalar: Scalar::F16, count: 2 },
            Self::ComplexBFloat16 => Layout::Fixed { scalar: Scalar::BF16, count: 2 },
            Self::Complex64 => Layout::Fixed { scalar: Scalar::F32, count: 2 },
            Self::Complex128 => Layout::Fixed { scalar: Scalar::F64, count: 2 },
            Self::SmallFloat(_) => Layout::Bytes { size: 1 },
            Self::SmallComplex(_) => Layout::Bytes { size: 2 },
            Self::RawBits(size) | Self::FixedBytes { len: size } | Self::RawBytes { len: size } => {
                Layout::Bytes { size }
            }
            Self::FixedUtf32 { len } => Layout::Fixed { scalar: Scalar::U32, count: len },
            Self::String | Self::Object => Layout::Variable { utf8: true },
            Self::Bytes { .. } | Self::VlenArray(_) => Layout::Variable { utf8: false },
            Self::Struct(ref fields) => fields.layout(),
            Self::Extension(ref extension) => extension.storage().layout(),
        }
    }

    /// Returns the size of one item (element in memory form) in bytes, numpy's `itemsize`; 16 for types of variable length, whose items are
    /// [`HeapRef`](crate::HeapRef)s.
    pub fn item_size(&self) -> usize {
        match self {
            Self::Struct(fields) => fields.item_size(),
            Self::Extension(extension) => extension.storage().item_size(),
            _ => self.layout().item_size(),
        }
    }

    /// Returns whether elements have variable length, with their content in a [`Heap`](crate::Heap).
    pub fn is_variable(&self) -> bool {
        matches!(self.storage(), Self::String | Self::Bytes { .. } | Self::VlenArray(_) | Self::Object)
    }

    /// Returns the built-in type as which elements of an [`Extension`] are stored; for any other type the type itself.
    pub fn storage(&self) -> &Self {
        let mut storage = self;
        while let Self::Extension(extension) = storage {
            storage = extension.storage();
        }
        storage
    }

    /// Returns the data type to pass to the Rust type `T` for elements of this type: this type if `T` accepts it, or else the storage of an
    /// [`Extension`], which built-in types accept.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if `T` accepts neither.
    pub fn as_taken_by<T: Element>(&self) -> Result<&Self, Error> {
        if !T::accepts(self) && T::accepts(self.storage()) {
            return Ok(self.storage());
        }
        T::check(self).map(|()| self)
    }
}

impl fmt::Display for DataType {
    /// Writes the name alone if there is no configuration, else name and configuration as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = self.to_config();
        if config.configuration.is_empty() { f.write_str(&config.name) } else { write!(f, "{}", config.to_value()) }
    }
}
