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
    deviations: RefCell<Vec<Deviation>>,
}

/// A member that is read although it is not as its specification says.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    /// The member.
    pub(crate) name: &'static str,
    /// Where in the configuration, as a JSON pointer from the codec.
    pub(crate) pointer: String,
    /// The deviation, and how it is read.
    pub(crate) what: String,
    /// The value that a new document has for the member; `None` if it has no such member.
    pub(crate) becomes: Option<Value>,
    /// The reason why the member may not be in a new document.
    pub(crate) fault: Option<String>,
}

impl<'a> Config<'a> {
    /// A codec's configuration.
    pub fn new(map: &'a Map) -> Self {
        Self { map, read: RefCell::default(), deviations: RefCell::default() }
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

    /// A setting that only encoding needs, and `default` where it is missing or wrong. A wrong one is no reason not to decode: in a
    /// document that is read it is a warning, in a new one an [error](Self::check). Null is a warning too, and becomes the default in
    /// a new one.
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
            // Which other software reads, and cannot encode with.
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

    /// As [`or_default`](Self::or_default), without a value by default: a new document leaves the member out.
    pub fn or_none<T>(&self, name: &'static str, setting: Result<Option<T>, Error>) -> Option<T> {
        setting.unwrap_or_else(|error| {
            self.fault(name, error, "ignored, since only encoding needs it", None);
            None
        })
    }

    /// As [`or_none`](Self::or_none), for a member that no document may lack: a wrong one stays, since no value means the same.
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

    /// Takes note that member `name` is read as if it were `becomes`, which new documents have instead: in a document that is read a
    /// warning.
    pub fn read_as(&self, name: &'static str, what: impl Into<String>, becomes: impl Into<Value>) {
        let pointer = format!("/configuration/{name}");
        let (what, becomes) = (what.into(), Some(becomes.into()));
        self.deviations.borrow_mut().push(Deviation { name, pointer, what, becomes, fault: None });
    }

    /// Checks that no member is wrong: a new document may have none such, not even one that only encoding needs.
    ///
    /// # Errors
    /// [`Error::Metadata`] naming the first one.
    pub fn check(&self) -> Result<(), Error> {
        let deviations = self.deviations.borrow();
        let first = deviations.iter().find_map(|deviation| Some((deviation, deviation.fault.clone()?)));
        first.map_or(Ok(()), |(deviation, what)| Err(Error::Metadata { pointer: deviation.pointer.clone(), what }))
    }

    /// The configuration as a new document has it: members that were [read as another value](Self::read_as) have that.
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

    /// The members that are read although they are not as their specification says.
    pub(crate) fn deviations(&self) -> Vec<Deviation> {
        self.deviations.borrow().clone()
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
