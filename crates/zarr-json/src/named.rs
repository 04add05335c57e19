//! Extension points: a name and a configuration.

use crate::{Map, Value};

/// A name with a configuration, the form of every extension point of Zarr v3: data types, chunk grids, chunk key
/// encodings, codecs, storage transformers.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConfig {
    /// The name, in the vocabulary of Zarr v3.
    pub name: String,
    /// The parameters; empty where there are none.
    pub configuration: Map,
    /// Whether a reader that does not know the name must refuse (Zarr v3.1, section "Extension definition").
    pub must_understand: bool,
}

impl NamedConfig {
    /// A name without configuration.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Map::new(), must_understand: true }
    }

    /// A name with a configuration.
    pub fn with(name: impl Into<String>, configuration: Map) -> Self {
        Self { name: name.into(), configuration, must_understand: true }
    }

    /// The inverse of [`to_value`](Self::to_value) and [`short_value`](Self::short_value): a bare name, or an object with a
    /// name; `None` for anything else. Further members of the object are left out.
    pub fn from_value(value: &Value) -> Option<Self> {
        if let Some(name) = value.as_str() {
            return Some(Self::new(name));
        }
        let configuration = value.get("configuration").map_or(Some(Map::new()), |map| map.as_object().cloned())?;
        let must_understand = value.get("must_understand").map_or(Some(true), Value::as_bool)?;
        Some(Self { name: value.get("name")?.as_str()?.to_owned(), configuration, must_understand })
    }

    /// The object form: `{"name": .., "configuration": {..}}`, the configuration only where there is one.
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

    /// The bare name where that says it all, else the object form.
    pub fn short_value(&self) -> Value {
        if self.configuration.is_empty() && self.must_understand {
            Value::from(self.name.as_str())
        } else {
            self.to_value()
        }
    }
}
