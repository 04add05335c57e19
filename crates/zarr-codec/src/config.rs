//! Reading a codec's configuration.

use crate::Error;
use std::cell::RefCell;
use std::fmt::Display;
use std::ops::RangeInclusive;
use zarr_json::{Map, Number, Value};

/// The configuration of one codec, which keeps a record of the members that were read.
///
/// Members that a codec does not know are no error: software adds such members with every release. They are
/// reported by [`unread`](Self::unread).
#[derive(Debug)]
pub struct Config<'a> {
    map: &'a Map,
    read: RefCell<Vec<&'static str>>,
}

impl<'a> Config<'a> {
    /// A codec's configuration.
    pub fn new(map: &'a Map) -> Self {
        Self { map, read: RefCell::default() }
    }

    /// The member; `null` counts as absent.
    pub fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.read.borrow_mut().push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// The member, which must be there.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is not.
    pub fn required(&self, name: &'static str) -> Result<&'a Value, Error> {
        self.value(name).ok_or_else(|| self.error(name, "missing".to_owned()))
    }

    /// An integer in `range`, if the member is there; also if spelled `5.0`, as software without integers does.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is something else.
    pub fn integer<T>(&self, name: &'static str, range: RangeInclusive<T>) -> Result<Option<T>, Error>
    where
        T: TryFrom<i128> + PartialOrd + Display,
    {
        let Some(value) = self.value(name) else { return Ok(None) };
        let integer = value.as_number().and_then(Number::to_i128).and_then(|value| T::try_from(value).ok());
        match integer.filter(|value| range.contains(value)) {
            Some(value) => Ok(Some(value)),
            None => {
                let expected = format!("an integer {}..{}", range.start(), range.end());
                Err(self.unexpected(name, &expected, value))
            }
        }
    }

    /// The value that one of the strings `known` stands for, if the member is there.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is something else.
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

    /// A string, if the member is there.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is something else.
    pub fn text(&self, name: &'static str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.unexpected(name, "a string", value))
    }

    /// A bool, if the member is there.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is something else.
    pub fn bool(&self, name: &'static str) -> Result<Option<bool>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.unexpected(name, "true or false", value))
    }

    /// An array of integers >= 0, if the member is there.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is something else.
    pub fn integers(&self, name: &'static str) -> Result<Option<Vec<u64>>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let list = value.as_array().and_then(|items| items.iter().map(Value::as_u64).collect());
        list.map(Some).ok_or_else(|| self.unexpected(name, "an array of integers", value))
    }

    /// An error about member `name` that says the value expected and the value found.
    pub fn unexpected(&self, name: &str, expected: &str, found: &Value) -> Error {
        self.error(name, format!("expected {expected}, found {}", found.excerpt()))
    }

    /// An error about member `name`.
    pub fn error(&self, name: &str, what: String) -> Error {
        Error::Metadata { pointer: format!("/configuration/{name}"), what }
    }

    /// The members that no codec asked for.
    pub fn unread(&self) -> Vec<&'a str> {
        let read = self.read.borrow();
        self.map.keys().filter(|name| !read.contains(name)).collect()
    }
}
