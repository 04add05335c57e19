//! Extension points of Zarr v3: a name and a configuration.

use crate::{Map, Value};

/// Name with a configuration, the form of every extension point of Zarr v3: data types, chunk grids, chunk key encodings, codecs, storage
/// transformers.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConfig {
    /// Name of the extension, in the vocabulary of Zarr v3.
    pub name: String,
    /// Parameters of the extension; empty if it has none.
    pub configuration: Map,
    /// Whether a reader that does not know the name must refuse (Zarr v3.1, section "Extension definition").
    pub must_understand: bool,
}

impl NamedConfig {
    /// Makes a name without configuration, which readers must understand.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Map::new(), must_understand: true }
    }

    /// Makes a name with a configuration, which readers must understand.
    pub fn with(name: impl Into<String>, configuration: Map) -> Self {
        Self { name: name.into(), configuration, must_understand: true }
    }

    /// Parses a bare name, or an object with a name, as [`to_value`](Self::to_value) and [`short_value`](Self::short_value) write them;
    /// `None` for anything else. Further members of the object are left out.
    pub fn from_value(value: &Value) -> Option<Self> {
        if let Some(name) = value.as_str() {
            return Some(Self::new(name));
        }
        let configuration = value.get("configuration").map_or(Some(Map::new()), |map| map.as_object().cloned())?;
        let must_understand = value.get("must_understand").map_or(Some(true), Value::as_bool)?;
        Some(Self { name: value.get("name")?.as_str()?.to_owned(), configuration, must_understand })
    }

    /// Returns the object form: `{"name": .., "configuration": {..}}`, without an empty configuration.
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("name", self.name.as_str());
        if !self.configuration.is_empty() {
            object.insert("configuration", self.configuration.clone());
        }
        if !self.must_understand {
            object.insert("must_understand", false);
        }
        Value::Object(object)
    }

    /// Returns the bare name if there is no configuration and readers must understand the name, else the object form.
    pub fn short_value(&self) -> Value {
        if self.configuration.is_empty() && self.must_understand {
            Value::from(self.name.as_str())
        } else {
            self.to_value()
        }
    }
}
