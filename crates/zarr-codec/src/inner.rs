//! Codecs that lie in another one.

use crate::value::IntoTypedCodecs;
use crate::{BuildContext, CodecEntry, Error};
use zarr_json::{NamedConfig, Value};

/// Codecs that a member of the configuration of another one lists.
#[derive(Clone, Debug)]
pub struct InnerCodecs {
    configs: Vec<NamedConfig>,
    entries: Vec<CodecEntry>,
}

/// Compares documents.
impl PartialEq for InnerCodecs {
    fn eq(&self, other: &Self) -> bool {
        self.configs == other.configs
    }
}

impl InnerCodecs {
    /// Typed codecs.
    pub fn new(codecs: impl IntoTypedCodecs) -> Self {
        let (mut configs, mut entries) = (Vec::new(), Vec::new());
        for codec in codecs.into_typed_codecs() {
            entries.extend(codec.entries());
            configs.push(codec.into_config());
        }
        Self { configs, entries }
    }

    /// Codecs by their names, which the table of the array knows.
    pub fn named(configs: Vec<NamedConfig>) -> Self {
        Self { configs, entries: Vec::new() }
    }

    /// The codecs that member `name` lists.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it does not.
    pub fn from_config(context: &BuildContext<'_>, name: &'static str) -> Result<Self, Error> {
        context.list(name).map(Self::named)
    }

    /// The member that lists them.
    pub fn to_value(&self) -> Value {
        Value::Array(self.configs.iter().map(NamedConfig::to_value).collect())
    }

    /// The entries of the codecs, and of those in them; none of codecs that were given by their names.
    pub fn entries(&self) -> &[CodecEntry] {
        &self.entries
    }
}
