//! Lists of codecs in the forms that programs and people give: strings, JSON, typed codecs, or names with configurations.

use crate::text::{self, TextCodec};
use crate::value::{IntoTypedCodecs, TypedCodec};
use crate::{Codecs, Error};
use zarr_json::{NamedConfig, Value};

/// List of codecs as they were given, in the order in which a chunk is encoded.
///
/// A string lists codecs by name, divided by commas, each with the members of its configuration in parentheses: in the order of the
/// [arguments](crate::CodecEntry::arguments) of the codec, or as `name=value`. Names are
/// [short names](crate::CodecEntry::short_name) or names of Zarr v3. `none` stands for no codec. A string that begins
/// with `[` or `{` is JSON: the `codecs` of a Zarr v3 document, or one codec of such a list.
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
    /// Parses a list of codecs.
    ///
    /// # Errors
    /// [`Error::Argument`] if the string is no list of codecs.
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

    /// Whether all codecs were given as strings that are not JSON. A member that the codec does not know is an error in a string, while
    /// documents may have unknown members of other software.
    pub fn is_text(&self) -> bool {
        self.0.iter().all(|given| matches!(given, Given::Text(_)))
    }

    /// Whether any codec was given as in a document: as JSON, or as a name with a configuration.
    pub fn is_of_document(&self) -> bool {
        self.0.iter().any(|given| matches!(given, Given::Named(_)))
    }

    /// Returns the names and configurations of the codecs as in documents. `table` resolves short names and positional arguments.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a codec, given as a string or typed, that is not in the table; [`Error::Argument`] for a string with more
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

/// Values that convert to a [`CodecList`]: strings, typed codecs (one, or a tuple, an array or a vector of them), and names with
/// configurations.
pub trait IntoCodecs {
    /// Converts the value to a list of codecs.
    ///
    /// # Errors
    /// [`Error::Argument`] for a string that is no list of codecs.
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
