//! Codecs nested in the configuration of another codec.

use crate::value::IntoTypedCodecs;
use crate::{BuildContext, CodecEntry, Error};
use zarr_json::{NamedConfig, Value};

/// List of codecs in a member of the configuration of another codec, such as the codecs of inner chunks.
#[derive(Clone, Debug)]
pub struct InnerCodecs {
    configs: Vec<NamedConfig>,
    entries: Vec<CodecEntry>,
}

/// Equality of names and configurations; the entries of codecs are not compared.
impl PartialEq for InnerCodecs {
    fn eq(&self, other: &Self) -> bool {
        self.configs == other.configs
    }
}

impl InnerCodecs {
    /// Returns a list of typed codecs.
    pub fn new(codecs: impl IntoTypedCodecs) -> Self {
        let (mut configs, mut entries) = (Vec::new(), Vec::new());
        for codec in codecs.into_typed_codecs() {
            entries.extend(codec.entries());
            configs.push(codec.into_config());
        }
        Self { configs, entries }
    }

    /// Returns a list of codecs by name, which are looked up in the table of the array.
    pub fn named(configs: Vec<NamedConfig>) -> Self {
        Self { configs, entries: Vec::new() }
    }

    /// Returns the codecs that member `name` of the configuration lists.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member is missing or is no list of codecs.
    pub fn from_config(context: &BuildContext<'_>, name: &'static str) -> Result<Self, Error> {
        context.list(name).map(Self::named)
    }

    /// Returns the JSON array of the codecs, the value of the member that lists them.
    pub fn to_value(&self) -> Value {
        Value::Array(self.configs.iter().map(NamedConfig::to_value).collect())
    }

    /// Returns the entries of the typed codecs and of the codecs nested in them. Codecs given by name have no entry here.
    pub fn entries(&self) -> &[CodecEntry] {
        &self.entries
    }
}
