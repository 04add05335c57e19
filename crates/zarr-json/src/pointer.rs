//! Access to JSON values that remembers their position, for errors with JSON pointers.

use crate::{Map, Value};
use smallvec::SmallVec;
use std::fmt::{self, Write};
use std::rc::Rc;

/// Value in a document, with the JSON pointer (RFC 6901) that leads to it.
///
/// # Example
/// ```
/// use zarr_json::{json, pointer::At};
///
/// let document = json!({"shape": [4, "x"]});
/// let error = At::root(&document).member("shape")?.sizes().unwrap_err();
/// assert_eq!(error.to_string(), "/shape/1: found \"x\", expected an integer from 0 to 2^63-1");
/// # Ok::<(), zarr_json::pointer::ValueError>(())
/// ```
#[derive(Clone, Debug)]
pub struct At<'v> {
    value: &'v Value,
    /// Pointer at which `way` begins; `None` if it begins at the document.
    base: Option<Rc<str>>,
    way: Way<'v>,
}

/// Steps from the base to a value. A pointer is made of them only if it is shown.
type Way<'v> = SmallVec<[Step<'v>; 5]>;

#[derive(Clone, Copy, Debug)]
enum Step<'v> {
    Member(&'v str),
    Item(usize),
}

impl<'v> At<'v> {
    /// Wraps a whole document.
    pub fn root(value: &'v Value) -> Self {
        Self { value, base: None, way: Way::new() }
    }

    /// Wraps a value that stands for the value at `pointer` of a document.
    pub fn new(value: &'v Value, pointer: &str) -> Self {
        Self { value, base: Some(Rc::from(pointer)), way: Way::new() }
    }

    fn step(&self, value: &'v Value, step: Step<'v>) -> Self {
        let mut way = Way::from_slice(&self.way);
        way.push(step);
        Self { value, base: self.base.clone(), way }
    }

    /// Value at this position.
    pub fn value(&self) -> &'v Value {
        self.value
    }

    /// JSON pointer to the value.
    pub fn pointer(&self) -> String {
        let mut pointer = self.base.as_deref().unwrap_or_default().to_owned();
        for step in &self.way {
            // Writing into a string does not fail.
            let _ = match step {
                Step::Member(name) => write!(pointer, "/{}", escaped(name)),
                Step::Item(index) => write!(pointer, "/{index}"),
            };
        }
        pointer
    }

    /// Returns the member `name` of the value; `None` if the value is not an object or has no such member.
    pub fn get(&self, name: &str) -> Option<Self> {
        let (name, value) = self.value.as_object()?.entry(name)?;
        Some(self.step(value, Step::Member(name)))
    }

    /// Returns the member `name` of the value; `None` if the value is not an object, has no such member, or the member is `null`.
    pub fn get_non_null(&self, name: &str) -> Option<Self> {
        self.get(name).filter(|member| !member.value.is_null())
    }

    /// Returns the member `name` of the value; an error if there is none.
    ///
    /// # Errors
    /// [`ValueError`] if this is not an object, or has no member `name`.
    pub fn member(&self, name: &str) -> Result<Self, ValueError> {
        self.object()?;
        self.get(name).ok_or_else(|| {
            let pointer = format!("{}/{}", self.pointer(), escaped(name));
            ValueError::new(pointer, "nothing", "this member")
        })
    }

    /// Returns the value as an object, whose members have no pointers.
    ///
    /// # Errors
    /// [`ValueError`] if this is not an object.
    pub fn object(&self) -> Result<&'v Map, ValueError> {
        self.value.as_object().ok_or_else(|| self.invalid("an object"))
    }

    /// Iterates over the members of the value, an object: names, and values with their pointers.
    ///
    /// # Errors
    /// [`ValueError`] if this is not an object.
    pub fn members(&self) -> Result<impl Iterator<Item = (&'v str, Self)>, ValueError> {
        Ok(self.object()?.iter().map(|(name, value)| (name, self.step(value, Step::Member(name)))))
    }

    /// Returns the items of the value, an array, with their pointers.
    ///
    /// # Errors
    /// [`ValueError`] if this is not an array.
    pub fn items(&self) -> Result<Vec<Self>, ValueError> {
        Ok(self.list()?.iter().enumerate().map(|(index, value)| self.item(index, value)).collect())
    }

    /// Returns the items of the value, an array, without pointers; an error if the value is not an array.
    pub fn list(&self) -> Result<&'v [Value], ValueError> {
        self.value.as_array().ok_or_else(|| self.invalid("an array"))
    }

    /// Wraps `value`, the item at `index` of the array at this position, with its pointer.
    pub fn item(&self, index: usize, value: &'v Value) -> Self {
        self.step(value, Step::Item(index))
    }

    /// Returns the value as a string.
    ///
    /// # Errors
    /// [`ValueError`] if this is not a string.
    pub fn text(&self) -> Result<&'v str, ValueError> {
        self.value.as_str().ok_or_else(|| self.invalid("a string"))
    }

    /// Returns the value as a bool.
    ///
    /// # Errors
    /// [`ValueError`] if this is not a bool.
    pub fn bool(&self) -> Result<bool, ValueError> {
        self.value.as_bool().ok_or_else(|| self.invalid("true or false"))
    }

    /// Returns the value as a size, such as a number of elements or bytes: an integer that is spelled without fraction and exponent.
    ///
    /// # Errors
    /// [`ValueError`] if this is not such a number, is negative, or is above 2^63-1.
    pub fn size(&self) -> Result<u64, ValueError> {
        size(self.value).ok_or_else(|| self.invalid("an integer from 0 to 2^63-1"))
    }

    /// Returns the value as an array of [sizes](Self::size).
    ///
    /// # Errors
    /// [`ValueError`] if this is not an array, or an item is not a size.
    pub fn sizes(&self) -> Result<Vec<u64>, ValueError> {
        let sizes = self.list()?.iter().enumerate();
        sizes.map(|(index, value)| size(value).map_or_else(|| self.item(index, value).size(), Ok)).collect()
    }

    /// Makes an error about this value. `expected` describes what is valid.
    pub fn invalid(&self, expected: impl Into<String>) -> ValueError {
        ValueError::new(self.pointer(), self.value.excerpt(), expected)
    }
}

fn size(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&size| i64::try_from(size).is_ok())
}

/// Escapes a member name as a reference token of a JSON pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Error about an invalid value in a document, with its position. Its `Display` is `POINTER: found .., expected ..`.
#[derive(Clone, PartialEq, Eq)]
pub struct ValueError(Box<ValueErrorFields>);

#[derive(Clone, PartialEq, Eq)]
struct ValueErrorFields {
    pointer: String,
    found: String,
    expected: String,
}

impl ValueError {
    fn new(pointer: String, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self(Box::new(ValueErrorFields { pointer, found: found.into(), expected: expected.into() }))
    }

    /// JSON pointer (RFC 6901) to the invalid value; empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Invalid value as JSON, cut if long.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Description of the valid values.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueErrorFields { pointer, found, expected } = &*self.0;
        if !pointer.is_empty() {
            write!(f, "{pointer}: ")?;
        }
        write!(f, "found {found}, expected {expected}")
    }
}

impl fmt::Debug for ValueError {
    /// Shows the message, as `Display` does, for a `fn main() -> Result` that prints errors with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ValueError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn sizes_are_strict() {
        for (text, size) in [
            ("4", Some(4)),
            ("0", Some(0)),
            ("9223372036854775807", Some(i64::MAX as u64)),
            ("9223372036854775808", None),
            ("4.0", None),
            ("4e0", None),
            ("-1", None),
            ("true", None),
            ("\"4\"", None),
            ("null", None),
        ] {
            let value = Value::from_json(text).unwrap();
            assert_eq!(At::root(&value).size().ok(), size, "{text}");
        }
    }

    #[test]
    fn pointers_are_escaped() {
        let value = json!({"a/b": {"~": [1]}});
        let at = At::root(&value).member("a/b").unwrap().member("~").unwrap();
        assert_eq!(at.pointer(), "/a~1b/~0");
        assert_eq!(at.items().unwrap()[0].pointer(), "/a~1b/~0/0");
        assert_eq!(at.member("x").unwrap_err().pointer(), "/a~1b/~0");
        assert_eq!(At::root(&value).member("x").unwrap_err().pointer(), "/x");
    }

    #[test]
    fn a_value_may_stand_for_another() {
        let value = json!([null, "x"]);
        let item = At::new(&value, "/filters/0").items().unwrap().remove(1);
        assert_eq!(item.size().unwrap_err().pointer(), "/filters/0/1");
        let error = At::root(&value).text().unwrap_err();
        assert_eq!(error.to_string(), "found [null,\"x\"], expected a string");
        assert_eq!((error.pointer(), error.found(), error.expected()), ("", "[null,\"x\"]", "a string"));
    }
}
