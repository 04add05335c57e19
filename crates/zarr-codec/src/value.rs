//! Codecs as values of their own types, whose fields are their configuration.
//!
//! A codec is its own configuration: constructors check it, `from_config` reads it from a document, and `to_config` returns it. A
//! bytes-to-bytes codec encodes and decodes without further ado; other codecs are first bound to elements, by a
//! [`Chain`](crate::Chain) or by an array. A [`TypedCodec`] is a codec of any type as in documents, with its entry.

use crate::{BuildContext, CodecEntry, Codecs, Config, ElementSpec, Error, Limits, Warnings};
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use zarr_dtype::{DataType, FillValue};
use zarr_json::{Map, NamedConfig};

/// Codec as a value of its own type, whose fields are its configuration. Programs create it by constructors that check their arguments;
/// opening an array creates it from the configuration in the document.
///
/// A bytes-to-bytes codec is used directly ([`BytesToBytes`](crate::BytesToBytes)). Codecs of the other kinds are first bound to a
/// data type: by [`Chain::build`](crate::Chain::build), or by an array.
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
    /// Entry of the codec in tables of codecs.
    const ENTRY: CodecEntry;

    /// Reads the codec from the configuration in a document. An invalid setting that only encoding needs becomes the default, by
    /// [`Config::or_default`](crate::Config::or_default).
    ///
    /// # Errors
    /// [`Error::Metadata`] for a configuration that nothing can be decoded with, [`Error::Unsupported`] for elements that the codec does
    /// not take.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error>;

    /// Returns the members of the configuration as in documents; none by default. [`from_config`](Self::from_config) reads an equal codec
    /// from them.
    fn to_config(&self) -> Map {
        Map::new()
    }

    /// Returns the entries of the codecs nested in this codec, at any depth; none by default. A codec that was read from a document has
    /// none: its nested codecs are names, which are looked up in the table of the array.
    fn inner_entries(&self) -> Vec<CodecEntry> {
        Vec::new()
    }

    /// Builds the codec from the members of a configuration, without a document and an array, as strictly as for a new array whose data
    /// type is `uint8`. `inner` are the entries of nested codecs.
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
    /// Returns `value` if it is in `range`, the values that member `member` of the configuration may have.
    ///
    /// # Errors
    /// [`Error::Argument`] if `value` is not in `range`.
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

    /// Returns the error about an invalid value that a program gave for member `member` of the configuration.
    pub fn argument(&self, member: &str, what: &str) -> Error {
        Error::Argument { what: format!("codec {}: {member}: {what}", self.name) }
    }
}

/// Codec of any type as in documents: its name, configuration and entry. Codecs of several types fit in one list.
#[derive(Clone, Debug)]
pub struct TypedCodec {
    entry: CodecEntry,
    config: NamedConfig,
    /// Entries of the codecs nested in this codec, at any depth.
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
    /// Returns the entry of the codec.
    pub fn entry(&self) -> &CodecEntry {
        &self.entry
    }

    /// Returns the name and the configuration of the codec as in documents.
    pub fn config(&self) -> &NamedConfig {
        &self.config
    }

    /// Returns the name and the configuration, without the entry.
    pub(crate) fn into_config(self) -> NamedConfig {
        self.config
    }

    /// Iterates over the entries of this codec and of the codecs nested in it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = CodecEntry> {
        self.inner.iter().chain([&self.entry]).copied()
    }
}

/// Values that convert to typed codecs: one codec, or a tuple, an array or a vector of codecs.
pub trait IntoTypedCodecs {
    /// Returns the codecs in the order in which a chunk is encoded.
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
