//! Reading of a codec's configuration, member by member.

use crate::Error;
use std::cell::RefCell;
use std::fmt::Display;
use std::ops::RangeInclusive;
use zarr_json::{Map, Number, Value};

/// Configuration of one codec; records which members were read.
///
/// Members that a codec does not know are no error, since new releases of software add members;
/// [`unread`](Self::unread) reports them.
#[derive(Debug)]
pub struct Config<'a> {
    map: &'a Map,
    read: RefCell<Vec<&'static str>>,
    deviations: RefCell<Vec<Deviation>>,
}

/// Member that is read although its value deviates from the specification of the codec.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    /// Name of the member.
    pub(crate) name: &'static str,
    /// JSON pointer to the deviating value, relative to the codec.
    pub(crate) pointer: String,
    /// Message that says the deviation and the value that is read instead.
    pub(crate) what: String,
    /// Value of the member in a new document; `None` if the new document leaves the member out.
    pub(crate) becomes: Option<Value>,
    /// Reason why a new document must not contain the member's value; `None` if a new document may be made from it.
    pub(crate) fault: Option<String>,
}

impl<'a> Config<'a> {
    /// Starts to read the configuration `map`.
    pub fn new(map: &'a Map) -> Self {
        Self { map, read: RefCell::default(), deviations: RefCell::default() }
    }

    /// Returns member `name`; `None` if the member is absent or `null`.
    pub fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.read.borrow_mut().push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Returns member `name`, which must be present.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member is missing.
    pub fn required(&self, name: &'static str) -> Result<&'a Value, Error> {
        self.value(name).ok_or_else(|| self.error(name, "missing".to_owned()))
    }

    /// Returns the integer in member `name`, which must be in `range`; `None` if the member is absent. A whole number spelled `5.0`, as
    /// software without integers writes it, is read as an integer with a warning.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member has another value.
    pub fn integer<T>(&self, name: &'static str, range: RangeInclusive<T>) -> Result<Option<T>, Error>
    where
        T: TryFrom<i128> + PartialOrd + Display,
    {
        let Some(value) = self.value(name) else { return Ok(None) };
        let integer = value.as_number().and_then(Number::to_i128).and_then(|value| T::try_from(value).ok());
        let number = value.as_number();
        match integer.filter(|value| range.contains(value)) {
            Some(integer) => {
                if let Some(whole) = number.filter(|number| !number.is_integer()).and_then(Number::to_i128) {
                    let becomes = Number::parse(&whole.to_string()).map(Value::Number);
                    self.read_as(name, format!("{value}, read as {whole}"), becomes.unwrap_or_else(|| value.clone()));
                }
                Ok(Some(integer))
            }
            None => {
                let expected = format!("an integer {}..{}", range.start(), range.end());
                Err(self.unexpected(name, &expected, value))
            }
        }
    }

    /// Returns the value paired in `known` with the string in member `name`; `None` if the member is absent.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member has another value.
    pub fn one_of<T: Copy>(&self, name: &'static str, known: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match known.iter().find(|(string, _)| value.as_str() == Some(string)) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let strings: Vec<_> = known.iter().map(|(string, _)| format!("{string:?}")).collect();
                Err(self.unexpected(name, &strings.join(" or "), value))
            }
        }
    }

    /// Returns the string in member `name`; `None` if the member is absent.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member has another value.
    pub fn text(&self, name: &'static str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.unexpected(name, "a string", value))
    }

    /// Returns the bool in member `name`; `None` if the member is absent.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member has another value.
    pub fn bool(&self, name: &'static str) -> Result<Option<bool>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.unexpected(name, "true or false", value))
    }

    /// Returns the array of integers >= 0 in member `name`; `None` if the member is absent.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member has another value.
    pub fn integers(&self, name: &'static str) -> Result<Option<Vec<u64>>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let list = value.as_array().and_then(|items| items.iter().map(Value::as_u64).collect());
        list.map(Some).ok_or_else(|| self.unexpected(name, "an array of integers", value))
    }

    /// Returns a setting that only encoding needs, or `default` if member `name` is absent, null or invalid. Invalid values and null are
    /// warnings when a document is read. A new document gets an [error](Self::check) for an invalid value, and the default for null.
    ///
    /// ```
    /// # use zarr_codec::Config;
    /// let map = zarr_json::json!({"level": 10});
    /// let config = Config::new(map.as_object().expect("an object"));
    /// assert_eq!(config.or_default("level", config.integer("level", 0..=9), 6), 6);
    /// assert_eq!(config.check().unwrap_err().to_string(), "/configuration/level: expected an integer 0..9, found 10");
    /// ```
    pub fn or_default<T>(&self, name: &'static str, setting: Result<Option<T>, Error>, default: T) -> T
    where
        T: Clone + Into<Value>,
    {
        let value: Value = default.clone().into();
        match setting {
            Ok(Some(setting)) => return setting,
            // Other software reads null, but cannot encode with it.
            Ok(None) if self.map.get(name).is_some_and(Value::is_null) => {
                self.read_as(name, format!("null, read as {value}"), value);
            }
            Ok(None) => {}
            Err(error) => {
                self.fault(name, error, &format!("{value} is taken, which only encoding needs"), Some(value));
            }
        }
        default
    }

    /// Returns a setting that only encoding needs, or `None` if member `name` is absent or invalid. An invalid value is a warning when a
    /// document is read, and an [error](Self::check) in a new document.
    pub fn or_none<T>(&self, name: &'static str, setting: Result<Option<T>, Error>) -> Option<T> {
        setting.unwrap_or_else(|error| {
            self.fault(name, error, "ignored, since only encoding needs it", None);
            None
        })
    }

    /// Returns a setting that only encoding needs and that every document must have, or `None` if member `name` is absent or invalid. An
    /// invalid value is a warning, and [`corrected`](Self::corrected) leaves it unchanged since no other value has its meaning.
    pub fn or_unknown<T>(&self, name: &'static str, setting: Result<Option<T>, Error>) -> Option<T> {
        setting.unwrap_or_else(|error| {
            self.fault(name, error, "ignored, since only encoding needs it", self.map.get(name).cloned());
            None
        })
    }

    fn fault(&self, name: &'static str, error: Error, taken: &str, becomes: Option<Value>) {
        let (pointer, fault) = match error {
            Error::Metadata { pointer, what } => (pointer, what),
            other => (format!("/configuration/{name}"), other.to_string()),
        };
        let what = format!("{fault}; {taken}");
        self.deviations.borrow_mut().push(Deviation { name, pointer, what, becomes, fault: Some(fault) });
    }

    /// Records that member `name` is read as if its value were `becomes`, which new documents have instead. `what` says the deviation: a
    /// warning when a document is read.
    pub fn read_as(&self, name: &'static str, what: impl Into<String>, becomes: impl Into<Value>) {
        let pointer = format!("/configuration/{name}");
        let (what, becomes) = (what.into(), Some(becomes.into()));
        self.deviations.borrow_mut().push(Deviation { name, pointer, what, becomes, fault: None });
    }

    /// Checks that no member has an invalid value, as is required of a new document: not even a member that only encoding needs.
    ///
    /// # Errors
    /// [`Error::Metadata`] naming the first invalid member.
    pub fn check(&self) -> Result<(), Error> {
        let deviations = self.deviations.borrow();
        let first = deviations.iter().find_map(|deviation| Some((deviation, deviation.fault.clone()?)));
        first.map_or(Ok(()), |(deviation, what)| Err(Error::Metadata { pointer: deviation.pointer.clone(), what }))
    }

    /// Returns the configuration for a new document: members that were [read as another value](Self::read_as) have that value.
    pub fn corrected(&self) -> Map {
        let mut map = self.map.clone();
        for Deviation { name, becomes, .. } in self.deviations.borrow().iter() {
            match becomes {
                Some(value) => drop(map.insert(*name, value.clone())),
                None => drop(map.remove(name)),
            }
        }
        map
    }

    /// Members that were read although they deviate from the specification of the codec.
    pub(crate) fn deviations(&self) -> Vec<Deviation> {
        self.deviations.borrow().clone()
    }

    /// Returns an error about member `name` that says the expected value and the value found.
    pub fn unexpected(&self, name: &str, expected: &str, found: &Value) -> Error {
        self.error(name, format!("expected {expected}, found {}", found.excerpt()))
    }

    /// Returns an error about member `name` with the message `what`.
    pub fn error(&self, name: &str, what: String) -> Error {
        Error::Metadata { pointer: format!("/configuration/{name}"), what }
    }

    /// Returns the names of members that the codec did not read.
    pub fn unread(&self) -> Vec<&'a str> {
        let read = self.read.borrow();
        self.map.keys().filter(|name| !read.contains(name)).collect()
    }
}
