//! Codecs as values of their own types.
//!
//! A codec is its own configuration: what a constructor checks, `from_config` reads from a document and `to_config` gives back. A codec
//! of bytes encodes and decodes as it is; one of arrays is bound to elements, by a [`Chain`](crate::Chain), which has a table of its
//! own, or by an array. A [`TypedCodec`] is a codec of any type, as a document has it, with its entry.

use crate::{BuildContext, CodecEntry, Codecs, Config, ElementSpec, Error, Limits, Warnings};
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use zarr_dtype::{DataType, FillValue};
use zarr_json::{Map, NamedConfig};

/// A codec as a value of its own type, which is its configuration. A program makes it by functions that check what they are given, an
/// array by the configuration in its document.
///
/// A codec of bytes is used as it is ([`BytesToBytes`](crate::BytesToBytes)). One of arrays is bound to a data type first: by
/// [`Chain::build`](crate::Chain::build), or by an array.
///
/// ```
/// use std::sync::Arc;
/// use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Sink, Size, TypedCodec, slice_methods};
/// use zarr_json::Map;
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Add {
///     summand: u8,
/// }
///
/// const ADD: CodecEntry = CodecEntry::bytes_to_bytes("add", |context| Ok(Arc::new(Add::from_config(context)?)));
///
/// impl Add {
///     fn new(summand: u8) -> Result<Self, Error> {
///         Ok(Self { summand: ADD.in_range("summand", summand, 0..=9)? })
///     }
/// }
///
/// impl CodecValue for Add {
///     const ENTRY: CodecEntry = ADD;
///
///     fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
///         Ok(Self { summand: context.config.integer("summand", 0..=9)?.unwrap_or(1) })
///     }
///
///     fn to_config(&self) -> Map {
///         Map::from([("summand", self.summand.into())])
///     }
/// }
///
/// impl BytesToBytes for Add {
///     fn name(&self) -> &'static str {
///         "add"
///     }
///
///     fn encoded_size(&self, decoded: Size) -> Size {
///         decoded
///     }
///
///     fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
///         out.extend(bytes.iter().map(|byte| byte.wrapping_add(self.summand)));
///         Ok(())
///     }
///
///     fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
///         bytes.iter().try_for_each(|byte| out.extend(&[byte.wrapping_sub(self.summand)]))
///     }
/// }
///
/// slice_methods!(Add);
///
/// let codec = Add::new(3)?;
/// assert_eq!(codec.encode(&[1, 2])?, [4, 5]);
/// assert_eq!(codec.decode(&[4, 5], 10)?, [1, 2]);
/// let json = r#"{"name":"add","configuration":{"summand":3}}"#;
/// assert_eq!(TypedCodec::from(codec).config().to_value().to_string(), json);
///
/// let wrong = Add::new(10).unwrap_err();
/// assert_eq!(wrong.to_string(), "codec add: summand: expected an integer 0..9, found 10");
/// # Ok::<(), Error>(())
/// ```
pub trait CodecValue: Debug + Send + Sync + Sized + 'static {
    /// Its entry in the table of codecs.
    const ENTRY: CodecEntry;

    /// Reads the configuration in a document. A setting that only encoding needs is the default where it is wrong, as
    /// [`Config::or_default`](crate::Config::or_default) has it.
    ///
    /// # Errors
    /// [`Error::Metadata`] for a configuration that nothing can be decoded with, [`Error::Unsupported`] for elements that the codec does
    /// not take.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error>;

    /// The members of the configuration, as documents have them; by default none. [`from_config`](Self::from_config) makes an equal
    /// codec of them.
    fn to_config(&self) -> Map {
        Map::new()
    }

    /// The entries of the codecs that lie in this one, at any depth; by default none. A codec that was read from a document has none: there
    /// the codecs in it are names, which the table of the array knows.
    fn inner_entries(&self) -> Vec<CodecEntry> {
        Vec::new()
    }

    /// Reads the members of a configuration without a document and an array, as strictly as for a new array: of elements that are
    /// bytes. `inner` are the entries of codecs that lie in it.
    ///
    /// # Errors
    /// [`Error::Argument`] for a member that is wrong, [`Error::Unknown`] for a codec in it that is not among `inner`,
    /// [`Error::Unsupported`] for data types in it that the codec does not take.
    fn from_members(members: &Map, inner: &[CodecEntry]) -> Result<Self, Error> {
        let name = Self::ENTRY.name;
        let element = ElementSpec::new(DataType::UInt8, FillValue::zero(&DataType::UInt8));
        let mut codecs = Codecs::default();
        inner.iter().for_each(|entry| codecs.add(*entry));
        let (config, limits, warnings) = (Config::new(members), Limits::default(), Warnings::default());
        let codec = Self::from_config(&BuildContext::new(name, &config, &element, &codecs, &limits, &warnings));
        let checked = codec.and_then(|codec| config.check().and_then(|()| warnings.check()).map(|()| codec));
        checked.map_err(|error| error.of_codec(name))
    }
}

impl CodecEntry {
    /// `value`, if member `member` of the configuration may have it.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not in `range`.
    pub fn in_range<T: PartialOrd + Display>(
        &self,
        member: &str,
        value: T,
        range: RangeInclusive<T>,
    ) -> Result<T, Error> {
        if range.contains(&value) {
            return Ok(value);
        }
        let (start, end) = (range.start(), range.end());
        Err(self.argument(member, &format!("expected an integer {start}..{end}, found {value}")))
    }

    /// The error about a value that a program gave for member `member` of the configuration.
    pub fn argument(&self, member: &str, what: &str) -> Error {
        Error::Argument { what: format!("codec {}: {member}: {what}", self.name) }
    }
}

/// A codec of any type, as documents have it, with its entry: codecs of several types are a list of these.
#[derive(Clone, Debug)]
pub struct TypedCodec {
    entry: CodecEntry,
    config: NamedConfig,
    /// The codecs that lie in this one, at any depth.
    inner: Vec<CodecEntry>,
}

impl PartialEq for TypedCodec {
    fn eq(&self, other: &Self) -> bool {
        self.config == other.config
    }
}

impl<T: CodecValue> From<T> for TypedCodec {
    fn from(codec: T) -> Self {
        let config = NamedConfig::with(T::ENTRY.name, codec.to_config());
        Self { entry: T::ENTRY, config, inner: codec.inner_entries() }
    }
}

impl TypedCodec {
    /// The entry of the codec.
    pub fn entry(&self) -> &CodecEntry {
        &self.entry
    }

    /// The name and the configuration, as documents have them.
    pub fn config(&self) -> &NamedConfig {
        &self.config
    }

    /// The name and the configuration without the entry.
    pub(crate) fn into_config(self) -> NamedConfig {
        self.config
    }

    /// The entries of this codec and of all that lie in it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = CodecEntry> {
        self.inner.iter().chain([&self.entry]).copied()
    }
}

/// Typed codecs: one, or a tuple, an array or a vector of them.
pub trait IntoTypedCodecs {
    /// The codecs, in the order in which a chunk goes through them when it is encoded.
    fn into_typed_codecs(self) -> Vec<TypedCodec>;
}

impl<T: Into<TypedCodec>> IntoTypedCodecs for T {
    fn into_typed_codecs(self) -> Vec<TypedCodec> {
        vec![self.into()]
    }
}

impl<T: Into<TypedCodec>> IntoTypedCodecs for Vec<T> {
    fn into_typed_codecs(self) -> Vec<TypedCodec> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T: Into<TypedCodec>, const N: usize> IntoTypedCodecs for [T; N] {
    fn into_typed_codecs(self) -> Vec<TypedCodec> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Into<TypedCodec>),*> IntoTypedCodecs for ($($name,)*) {
            #[expect(non_snake_case, reason = "values are called as their types")]
            fn into_typed_codecs(self) -> Vec<TypedCodec> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
