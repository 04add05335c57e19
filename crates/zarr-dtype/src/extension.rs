//! Data types that are defined elsewhere, and the table in which they are found.
//!
//! An array hands its codecs the storage type. The definition is asked for fill values, and for elements as JSON and text. Rust types
//! that accept the storage take elements as they are stored; one that means more accepts the name.

use crate::name::MAX_ITEM_SIZE;
use crate::{DataType, Error, print};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zarr_json::{NamedConfig, Value};

/// The meaning of the elements of a data type of one's own. A known type, the *storage*, says how they lie in memory
/// and in chunks: a temperature may be stored as `int16`, a point as a struct, an address as `r128`, a unit as
/// `string`.
///
/// Codecs see the storage type, so that all codecs that take it can be used. This trait says the name, the fill value
/// in documents and the elements as JSON and as text; by default they are as for the storage.
///
/// Methods are given *the bytes of an element*: as it lies in memory, or its content if the storage has variable
/// length.
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
    /// The type that elements are stored as.
    fn storage(&self) -> DataType;

    /// The element as JSON, as which a document has the fill value and the command prints it.
    /// [`parse`](Self::parse) takes it back.
    fn to_json(&self, element: &[u8]) -> Value {
        print::bytes_to_json(&self.storage(), element)
    }

    /// The bytes of the element that `value` is.
    ///
    /// # Errors
    /// [`Error::invalid`] if it is none, [`within`](Error::within) the part that is wrong. Bytes that are no element of the
    /// storage are refused by the caller.
    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        print::parse(&self.storage(), value)
    }

    /// The element as text for people.
    fn to_text(&self, element: &[u8]) -> String {
        print::bytes_to_text(&self.storage(), element)
    }
}

/// A data type that is defined elsewhere, with the name and configuration that a document has for it.
///
/// Two are equal if these are.
#[derive(Clone, Debug)]
pub struct Extension(Arc<Definition>);

#[derive(Debug)]
struct Definition {
    config: NamedConfig,
    storage: DataType,
    meaning: Arc<dyn ExtensionType>,
}

impl Extension {
    /// The data type that goes by this name and configuration.
    ///
    /// # Errors
    /// [`Error::Invalid`] for elements of no bytes, [`Error::Limit`] for elements above 64 MiB.
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

    /// The name in documents.
    pub fn name(&self) -> &str {
        &self.0.config.name
    }

    /// Name and configuration in documents.
    pub fn config(&self) -> &NamedConfig {
        &self.0.config
    }

    /// The type that elements are stored as.
    pub fn storage(&self) -> &DataType {
        &self.0.storage
    }

    /// The meaning of the elements.
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

/// Makes a data type from its name and configuration; the table has the types that the configuration names.
pub type BuildDataType = fn(&NamedConfig, &DataTypes) -> Result<Arc<dyn ExtensionType>, Error>;

/// One kind of data type of one's own: its names and how it is made from its configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DataTypeEntry {
    /// The names that documents have for it.
    pub names: &'static [&'static str],
    /// Makes the type. Errors have a JSON pointer such as `/configuration/unit`.
    pub build: BuildDataType,
}

impl DataTypeEntry {
    /// A data type with these names, made by `build`.
    #[must_use]
    pub const fn new(names: &'static [&'static str], build: BuildDataType) -> Self {
        Self { names, build }
    }
}

/// The data types that are known beside the types of this crate, by name. A value that is passed on; nothing is global.
#[derive(Clone, Debug, Default)]
pub struct DataTypes {
    entries: Vec<DataTypeEntry>,
    hints: Vec<(&'static str, &'static str)>,
}

impl DataTypes {
    /// Adds a data type. It takes its names from any data type that had them before.
    pub fn add(&mut self, entry: DataTypeEntry) {
        self.entries.push(entry);
    }

    /// Says where a data type that is not known could come from: `"enable feature `optional`"`.
    pub fn add_hint(&mut self, name: &'static str, hint: &'static str) {
        self.hints.push((name, hint));
    }

    /// Where the data type of this name could come from.
    pub fn hint(&self, name: &str) -> Option<&'static str> {
        self.hints.iter().rev().find(|(known, _)| *known == name).map(|(_, hint)| *hint)
    }

    /// The data type of this name, if it is one that was added.
    pub fn get(&self, name: &str) -> Option<&DataTypeEntry> {
        self.entries.iter().rev().find(|entry| entry.names.contains(&name))
    }

    /// All data types that were added, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &DataTypeEntry> {
        self.entries.iter()
    }

    /// The names of all data types in Zarr v3: of the added types, and of the types of this crate except `r8`, `r16`
    /// and so on.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().flat_map(|entry| entry.names).copied().chain(crate::name::names())
    }

    /// The data type that a metadata document names: one that was added, or one of this crate.
    ///
    /// # Errors
    /// As [`DataType::from_config`], and the errors of [`DataTypeEntry::build`].
    pub fn from_config(&self, config: &NamedConfig) -> Result<DataType, Error> {
        DataType::from_config_at(config, self, 0)
    }
}

#[cfg(test)]
mod tests;
