//! Codecs that a program names by their types: an entry with a configuration, used without a table.

use crate::{
    BuildContext, BytesToBytes, Codec, CodecEntry, Codecs, Config, ElementSpec, Error, Kind, Limits, Sink, Size,
    Warnings,
};
use std::sync::{Arc, OnceLock};
use zarr_dtype::{DataType, FillValue};
use zarr_json::{NamedConfig, Value};

/// A codec with its configuration, which knows how it is built. The builders of codec crates become one.
///
/// Members are set without a check. Faults in them are reported when the codec is first used: by encoding or decoding,
/// by [`Chain::build`](crate::Chain::build), or when it is given to an array to be created.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_codec::{BuildContext, BytesToBytes, Error, Sink, Size};
/// # #[derive(Debug)]
/// # struct Add(u8);
/// # impl BytesToBytes for Add {
/// #     fn name(&self) -> &'static str { "add" }
/// #     fn encoded_size(&self, decoded: Size) -> Size { decoded }
/// #     fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
/// #         out.extend(bytes.iter().map(|byte| byte.wrapping_add(self.0)));
/// #         Ok(())
/// #     }
/// #     fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
/// #         bytes.iter().try_for_each(|byte| out.extend(&[byte.wrapping_sub(self.0)]))
/// #     }
/// # }
/// # fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
/// #     Ok(Arc::new(Add(context.config.integer("summand", 0..=9)?.unwrap_or(1))))
/// # }
/// use zarr_codec::{CodecEntry, TypedCodec};
///
/// // `build` reads member `summand`, an integer from 0 to 9.
/// const ADD: CodecEntry = CodecEntry::bytes_to_bytes("add", build).arguments(&[("summand", Some("1"))]);
///
/// let codec = TypedCodec::new(ADD).with("summand", 3);
/// assert_eq!(codec.encode(&[1, 2])?, [4, 5]);
/// assert_eq!(codec.decode(&[4, 5], 10)?, [1, 2]);
///
/// let wrong = TypedCodec::new(ADD).with("summand", 10).encode(&[1]).unwrap_err();
/// assert_eq!(wrong.to_string(), "codec add: summand: expected an integer 0..9, found 10");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedCodec {
    entry: CodecEntry,
    config: NamedConfig,
    /// The codecs that lie in this one, at any depth.
    inner: Vec<CodecEntry>,
    /// The codec of bytes, once it was built.
    built: OnceLock<Arc<dyn BytesToBytes>>,
}

impl PartialEq for TypedCodec {
    fn eq(&self, other: &Self) -> bool {
        self.config == other.config
    }
}

impl TypedCodec {
    /// The codec with the configuration that its name alone stands for, as text.
    pub fn new(entry: CodecEntry) -> Self {
        let mut config = NamedConfig::new(entry.name);
        for (member, default) in entry.arguments {
            if let Some(default) = default.and_then(|json| Value::from_json(json).ok()) {
                config.configuration.insert(*member, default);
            }
        }
        Self { entry, config, inner: Vec::new(), built: OnceLock::new() }
    }

    /// With a member of the configuration, instead of one of this name.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.config.configuration.insert(member, value);
        self.built = OnceLock::new();
        self
    }

    /// With a member of the configuration that lists codecs.
    #[must_use]
    pub fn with_codecs(mut self, member: &str, codecs: impl IntoTypedCodecs) -> Self {
        let codecs = codecs.into_typed_codecs();
        let list: Vec<Value> = codecs.iter().map(|codec| codec.config.to_value()).collect();
        for codec in codecs {
            self.inner.push(codec.entry);
            self.inner.extend(codec.inner);
        }
        self.with(member, list)
    }

    /// Under another name that its entry has: an alias, for other software.
    pub(crate) fn called(mut self, name: &str) -> Self {
        name.clone_into(&mut self.config.name);
        self
    }

    /// The entry of the codec.
    pub fn entry(&self) -> &CodecEntry {
        &self.entry
    }

    /// The name and the configuration, as documents have them.
    pub fn config(&self) -> &NamedConfig {
        &self.config
    }

    /// Adds the entries of this codec, and of all that lie in it, to a table.
    pub(crate) fn add_to(&self, table: &mut Codecs) {
        for entry in self.inner.iter().chain([&self.entry]) {
            table.add(*entry);
        }
    }

    /// Checks the configuration, as far as that is possible without elements: for codecs of bytes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.entry.kind() {
            Kind::BytesToBytes => self.bytes_to_bytes().map(drop),
            Kind::ArrayToArray | Kind::ArrayToBytes => Ok(()),
        }
    }

    /// Encodes bytes by a codec of bytes.
    ///
    /// # Errors
    /// [`Error::Argument`] for a wrong configuration, [`Error::Encode`] for bytes that cannot be encoded, [`Error::Unsupported`] if
    /// the codec takes arrays.
    pub fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut encoded = Vec::new();
        self.bytes_to_bytes()?.encode(bytes, &mut encoded)?;
        Ok(encoded)
    }

    /// Decodes by a codec of bytes, to `max_size` bytes at most. No memory is taken for more.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond `max_size`; [`Error::Truncated`], [`Error::Checksum`] or [`Error::Corrupt`] if `encoded` is nothing
    /// encoded, and as [`encode`](Self::encode).
    pub fn decode(&self, encoded: &[u8], max_size: usize) -> Result<Vec<u8>, Error> {
        let codec = self.bytes_to_bytes()?;
        let limit = max_size as u64;
        let mut out = Vec::new();
        let mut sink = Sink::growing(&mut out, Size::AtMost(limit), limit)?.of(codec.name());
        codec.decode(encoded, &mut sink)?;
        let len = sink.finish()?;
        out.truncate(len);
        Ok(out)
    }

    /// Decodes by a codec of bytes to the start of `buffer`, and says to how many bytes.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the length of `buffer`, and as [`decode`](Self::decode).
    pub fn decode_into(&self, encoded: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
        let codec = self.bytes_to_bytes()?;
        let mut sink = Sink::within(buffer).of(codec.name());
        codec.decode(encoded, &mut sink)?;
        sink.finish()
    }

    fn bytes_to_bytes(&self) -> Result<&Arc<dyn BytesToBytes>, Error> {
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        let element = ElementSpec::new(DataType::UInt8, FillValue::zero(&DataType::UInt8));
        let mut codecs = Codecs::default();
        self.add_to(&mut codecs);
        let (config, warnings) = (Config::new(&self.config.configuration), Warnings::default());
        let context = BuildContext {
            name: &self.config.name,
            config: &config,
            element: &element,
            codecs: &codecs,
            limits: &Limits::default(),
            nesting: 0,
            warnings: &warnings,
        };
        let built = self.entry.build(&context).and_then(|built| {
            config.check()?;
            warnings.check()?;
            Ok(built)
        });
        match built.map_err(|error| error.of_codec(&self.config.name))? {
            Codec::BytesToBytes(codec) => Ok(self.built.get_or_init(|| codec)),
            Codec::ArrayToArray(_) | Codec::ArrayToBytes(_) => Err(Error::Unsupported {
                codec: self.entry.name,
                what: "it encodes arrays, not bytes: a chain binds it to a data type and a shape".to_owned(),
            }),
        }
    }
}

impl Error {
    /// The same error of a codec that a program gave: in the words of its members instead of a pointer into a document.
    pub fn of_codec(self, name: &str) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let member = pointer.strip_prefix("/configuration").unwrap_or(&pointer).trim_start_matches('/');
        let colon = if member.is_empty() { "" } else { ": " };
        Self::Argument { what: format!("codec {name}: {member}{colon}{what}") }
    }

    /// As [`of_codec`](Self::of_codec), where the pointer begins with the number of one of `codecs`.
    pub(crate) fn of_codecs(self, codecs: &[NamedConfig]) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let mut parts = pointer.strip_prefix('/').unwrap_or_default().splitn(2, '/');
        let codec = parts.next().and_then(|number| number.parse::<usize>().ok()).and_then(|number| codecs.get(number));
        let Some(codec) = codec else { return Self::Argument { what } };
        let rest = parts.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        Self::Metadata { pointer: rest, what }.of_codec(&codec.name)
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

/// Makes a builder of a codec that takes arrays: a struct of one [`TypedCodec`], or with `= ENTRY` one without fields, that becomes a
/// [`TypedCodec`].
#[macro_export]
macro_rules! array_codec {
    ($codec:ident) => {
        impl From<$codec> for $crate::TypedCodec {
            fn from(codec: $codec) -> Self {
                codec.0
            }
        }
    };
    ($codec:ident = $entry:expr) => {
        impl From<$codec> for $crate::TypedCodec {
            fn from(_: $codec) -> Self {
                Self::new($entry)
            }
        }
    };
}

/// Makes a builder of a codec of bytes, as [`array_codec`](crate::array_codec) does of one of arrays, with methods that encode and
/// decode slices.
#[macro_export]
macro_rules! bytes_codec {
    ($codec:ident $(= $entry:expr)?) => {
        $crate::array_codec!($codec $(= $entry)?);

        impl $codec {
            /// Encodes bytes.
            ///
            /// # Errors
            /// [`Error::Argument`](zarr_codec::Error::Argument) for a configuration that is none,
            /// [`Error::Encode`](zarr_codec::Error::Encode) for bytes that cannot be encoded.
            pub fn encode(&self, bytes: &[u8]) -> Result<Vec<u8>, $crate::Error> {
                $crate::bytes_codec!(@codec self $($entry)?).encode(bytes)
            }

            /// Decodes to `max_size` bytes at most. No memory is taken for more.
            ///
            /// # Errors
            /// [`Error::TooLong`](zarr_codec::Error::TooLong) beyond `max_size`; other errors if `encoded` is no output
            /// of this codec.
            pub fn decode(&self, encoded: &[u8], max_size: usize) -> Result<Vec<u8>, $crate::Error> {
                $crate::bytes_codec!(@codec self $($entry)?).decode(encoded, max_size)
            }

            /// Decodes to the start of `buffer`, and says to how many bytes.
            ///
            /// # Errors
            /// [`Error::TooLong`](zarr_codec::Error::TooLong) beyond the length of `buffer`, and as
            /// [`decode`](Self::decode).
            pub fn decode_into(&self, encoded: &[u8], buffer: &mut [u8]) -> Result<usize, $crate::Error> {
                $crate::bytes_codec!(@codec self $($entry)?).decode_into(encoded, buffer)
            }
        }
    };
    (@codec $self:ident) => {
        $self.0
    };
    (@codec $self:ident $entry:expr) => {{
        static CODEC: std::sync::LazyLock<$crate::TypedCodec> =
            std::sync::LazyLock::new(|| $crate::TypedCodec::new($entry));
        &*CODEC
    }};
}
