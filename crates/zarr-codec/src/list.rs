//! Codecs as programs and people give them: text, JSON, typed codecs, or names with configurations.

use crate::text::{self, TextCodec};
use crate::value::{IntoTypedCodecs, TypedCodec};
use crate::{Codecs, Error};
use zarr_json::{NamedConfig, Value};

/// Codecs as they were given, in the order in which a chunk goes through them when it is encoded.
///
/// As text they are names divided by commas, each with the members of its configuration in parentheses: in the order of the
/// [arguments](crate::CodecEntry::arguments) of the codec, or behind their names. Names are the
/// [short ones](crate::CodecEntry::short_name) or the names of Zarr v3. `none` stands for no codec. Text that begins
/// with `[` or `{` is JSON: the `codecs` of a Zarr v3 document, or one of them.
///
/// ```
/// use zarr_codec::{CodecEntry, CodecList, Codecs, Error};
///
/// let mut table = Codecs::default();
/// # fn build(_: &zarr_codec::BuildContext<'_>) -> Result<std::sync::Arc<dyn zarr_codec::BytesToBytes>, Error> { unimplemented!() }
/// table.add(CodecEntry::bytes_to_bytes("gzip", build).arguments(&[("level", Some("5"))]));
///
/// for text in ["gzip(3)", "gzip(level=3)", r#"[{"name": "gzip", "configuration": {"level": 3}}]"#] {
///     let codecs = CodecList::parse(text)?.to_configs(&table)?;
///     assert_eq!(codecs[0].to_value().to_string(), r#"{"name":"gzip","configuration":{"level":3}}"#);
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CodecList(Vec<Given>);

#[derive(Clone, Debug)]
enum Given {
    Text(TextCodec),
    Typed(TypedCodec),
    Named(NamedConfig),
}

impl CodecList {
    /// The codecs of a text.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if !text.starts_with(['[', '{']) {
            return Ok(Self(text::parse(text)?.into_iter().map(Given::Text).collect()));
        }
        let wrong = |what: String| Error::Argument { what: format!("codecs: {what}") };
        let value = Value::from_json(text).map_err(|error| wrong(error.to_string()))?;
        let list = value.as_array().unwrap_or(std::slice::from_ref(&value));
        let named = |(number, codec): (usize, &Value)| {
            let expected = "a name, or an object with a name";
            let found = || wrong(format!("codec {number}: found {}, expected {expected}", codec.excerpt()));
            NamedConfig::from_value(codec).map(Given::Named).ok_or_else(found)
        };
        Ok(Self(list.iter().enumerate().map(named).collect::<Result<_, _>>()?))
    }

    /// Whether all codecs were given as text other than JSON: then a member that the codec does not know is a mistake, where
    /// documents have such of other software.
    pub fn is_text(&self) -> bool {
        self.0.iter().all(|given| matches!(given, Given::Text(_)))
    }

    /// Whether some were given as documents have them: as JSON, or as names with configurations.
    pub fn is_of_document(&self) -> bool {
        self.0.iter().any(|given| matches!(given, Given::Named(_)))
    }

    /// The names and configurations that documents have, where the codecs of `table` are known.
    ///
    /// # Errors
    /// [`Error::Unknown`] for the text of a codec, or a typed one, that is not in the table; [`Error::Argument`] for text with more
    /// values than the codec takes.
    pub fn to_configs(&self, table: &Codecs) -> Result<Vec<NamedConfig>, Error> {
        let config = |given: &Given| match given {
            Given::Text(codec) => codec.to_config(table),
            Given::Typed(codec) if table.get(codec.entry().name).is_some() => Ok(codec.config().clone()),
            Given::Typed(codec) => Err(text::unknown(codec.entry().name, table)),
            Given::Named(codec) => Ok(codec.clone()),
        };
        self.0.iter().map(config).collect()
    }
}

/// Values that make a [`CodecList`]: text, typed codecs (one, or a tuple, an array or a vector of them), names with
/// configurations.
pub trait IntoCodecs {
    /// The list.
    ///
    /// # Errors
    /// [`Error::Argument`] for text that is no codec.
    fn into_codecs(self) -> Result<CodecList, Error>;
}

impl IntoCodecs for &str {
    fn into_codecs(self) -> Result<CodecList, Error> {
        CodecList::parse(self)
    }
}

impl IntoCodecs for &String {
    fn into_codecs(self) -> Result<CodecList, Error> {
        CodecList::parse(self)
    }
}

impl IntoCodecs for String {
    fn into_codecs(self) -> Result<CodecList, Error> {
        CodecList::parse(&self)
    }
}

impl IntoCodecs for Vec<NamedConfig> {
    fn into_codecs(self) -> Result<CodecList, Error> {
        Ok(CodecList(self.into_iter().map(Given::Named).collect()))
    }
}

impl IntoCodecs for CodecList {
    fn into_codecs(self) -> Result<CodecList, Error> {
        Ok(self)
    }
}

impl<T: IntoTypedCodecs> IntoCodecs for T {
    fn into_codecs(self) -> Result<CodecList, Error> {
        Ok(CodecList(self.into_typed_codecs().into_iter().map(Given::Typed).collect()))
    }
}
