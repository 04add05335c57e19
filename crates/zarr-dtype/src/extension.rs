//! Data types defined outside of this crate, and the table of them.
//!
//! An array passes the storage type to its codecs. The definition is used for fill values, and for elements as JSON and text. Rust types
//! that accept the storage get elements as they are stored. A Rust type for the meaning of the elements accepts the extension by name.

use crate::name::MAX_ITEM_SIZE;
use crate::{DataType, Error, print};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zarr_json::{NamedConfig, Value};

/// Definition of a data type outside of this crate. A built-in type, the *storage*, determines the representation of elements in memory and
/// in chunks: a temperature may be stored as `int16`, a point as a struct, an address as `r128`, a unit as `string`.
///
/// Codecs see the storage type, so all codecs that accept it can be used. This trait defines the name, the fill value in documents, and the
/// elements as JSON and as text; the defaults are those of the storage.
///
/// Methods get *the bytes of an element*: the element in memory form, or its content if the storage has variable length.
///
/// ```
/// use std::sync::Arc;
/// use zarr_dtype::{DataType, DataTypeEntry, DataTypes, ExtensionType, FillValue};
/// use zarr_json::{NamedConfig, json};
///
/// #[derive(Debug)]
/// struct Celsius;
///
/// impl ExtensionType for Celsius {
///     fn storage(&self) -> DataType {
///         DataType::Int16
///     }
///
///     fn to_text(&self, element: &[u8]) -> String {
///         let tenths = element.try_into().map(i16::from_ne_bytes).unwrap_or_default();
///         format!("{:.1} °C", f32::from(tenths) / 10.0)
///     }
/// }
///
/// let mut types = DataTypes::default();
/// types.add(DataTypeEntry::new(&["example.celsius"], |_, _| Ok(Arc::new(Celsius))));
/// let data_type = types.from_config(&NamedConfig::new("example.celsius"))?;
/// assert_eq!(data_type.item_size(), 2);
/// assert_eq!(FillValue::parse(&data_type, &json!(215))?.bytes(), 215_i16.to_ne_bytes());
/// assert_eq!(zarr_dtype::print::to_text(&data_type, &215_i16.to_ne_bytes(), None), "21.5 °C");
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub trait ExtensionType: fmt::Debug + Send + Sync {
    /// Returns the type as which elements are stored.
    fn storage(&self) -> DataType;

    /// Returns the element as JSON, for the fill value in documents and for printing. [`parse`](Self::parse) is the inverse.
    fn to_json(&self, element: &[u8]) -> Value {
        print::bytes_to_json(&self.storage(), element)
    }

    /// Returns the bytes of the element that `value` describes.
    ///
    /// # Errors
    /// [`Error::invalid`] if `value` is no element, [`within`](Error::within) the wrong part. Bytes that are no element of the storage are
    /// refused by the caller.
    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        print::parse(&self.storage(), value)
    }

    /// Returns the element as text for users.
    fn to_text(&self, element: &[u8]) -> String {
        print::bytes_to_text(&self.storage(), element)
    }
}

/// Data type defined outside of this crate, with its name and configuration in documents.
///
/// Two extensions are equal if their names, configurations and storage types are equal.
#[derive(Clone, Debug)]
pub struct Extension(Arc<Definition>);

#[derive(Debug)]
struct Definition {
    config: NamedConfig,
    storage: DataType,
    meaning: Arc<dyn ExtensionType>,
}

impl Extension {
    /// Creates the data type with this name and configuration.
    ///
    /// # Errors
    /// [`Error::Invalid`] for elements of 0 bytes, [`Error::Limit`] for elements above 64 MiB.
    pub fn new(config: NamedConfig, meaning: Arc<dyn ExtensionType>) -> Result<Self, Error> {
        let storage = meaning.storage();
        let found = u64::try_from(storage.item_size()).unwrap_or(u64::MAX);
        if found == 0 {
            let (pointer, found) = (String::new(), format!("elements of {storage}, which has no bytes"));
            return Err(Error::Invalid { pointer, found, expected: "at least one byte".to_owned() });
        }
        if found > u64::from(MAX_ITEM_SIZE) {
            return Err(Error::Limit { pointer: String::new(), found, limit: u64::from(MAX_ITEM_SIZE) });
        }
        Ok(Self(Arc::new(Definition { config, storage, meaning })))
    }

    /// Returns the name in documents.
    pub fn name(&self) -> &str {
        &self.0.config.name
    }

    /// Returns name and configuration in documents.
    pub fn config(&self) -> &NamedConfig {
        &self.0.config
    }

    /// Returns the type as which elements are stored.
    pub fn storage(&self) -> &DataType {
        &self.0.storage
    }

    /// Returns the definition of the elements.
    pub fn meaning(&self) -> &dyn ExtensionType {
        &*self.0.meaning
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.0.config == other.0.config && self.0.storage == other.0.storage
    }
}

impl Eq for Extension {}

impl Hash for Extension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Configurations are equal whatever the order of their members.
        self.name().hash(state);
    }
}

/// Function that makes a data type from its name and configuration; the [`DataTypes`] contain the types that the configuration may name.
pub type BuildDataType = fn(&NamedConfig, &DataTypes) -> Result<Arc<dyn ExtensionType>, Error>;

/// Entry of [`DataTypes`]: the names of a data type, and the function that makes it from its configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DataTypeEntry {
    /// Names of the data type in documents.
    pub names: &'static [&'static str],
    /// Function that makes the data type. Its errors have a JSON pointer such as `/configuration/unit`.
    pub build: BuildDataType,
}

impl DataTypeEntry {
    /// Creates an entry for a data type with these names, made by `build`.
    #[must_use]
    pub const fn new(names: &'static [&'static str], build: BuildDataType) -> Self {
        Self { names, build }
    }
}

/// Table of the data types, by name, that are known in addition to those of this crate. The table is passed as a value; nothing is global.
#[derive(Clone, Debug, Default)]
pub struct DataTypes {
    entries: Vec<DataTypeEntry>,
    hints: Vec<(&'static str, &'static str)>,
}

impl DataTypes {
    /// Adds a data type. Its names replace equal names that were added before.
    pub fn add(&mut self, entry: DataTypeEntry) {
        self.entries.push(entry);
    }

    /// Adds a hint where the unknown data type `name` could come from, such as `"enable feature `optional`"`.
    pub fn add_hint(&mut self, name: &'static str, hint: &'static str) {
        self.hints.push((name, hint));
    }

    /// Returns the hint for the data type `name`; `None` if there is none.
    pub fn hint(&self, name: &str) -> Option<&'static str> {
        self.hints.iter().rev().find(|(known, _)| *known == name).map(|(_, hint)| *hint)
    }

    /// Returns the entry of the added data type `name`; `None` if no such type was added.
    pub fn get(&self, name: &str) -> Option<&DataTypeEntry> {
        self.entries.iter().rev().find(|entry| entry.names.contains(&name))
    }

    /// Returns all added data types, in the order of addition.
    pub fn iter(&self) -> impl Iterator<Item = &DataTypeEntry> {
        self.entries.iter()
    }

    /// Returns the names of all data types in Zarr v3: the added types, and the types of this crate except `r8`, `r16` and so on.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().flat_map(|entry| entry.names).copied().chain(crate::name::names())
    }

    /// Returns the data type that a metadata document names: an added one, or one of this crate.
    ///
    /// # Errors
    /// The same errors as [`DataType::from_config`], and the errors of [`DataTypeEntry::build`].
    pub fn from_config(&self, config: &NamedConfig) -> Result<DataType, Error> {
        DataType::from_config_at(config, self, 0)
    }
}

#[cfg(test)]
mod tests;
