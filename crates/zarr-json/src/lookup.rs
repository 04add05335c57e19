//! Access to values by JSON pointer.

use crate::pointer::{At, ValueError};
use crate::{Map, Value};

/// Splits a JSON pointer into its reference tokens. A `pointer` that does not begin with `/` is one token: the name of a member.
fn tokens(pointer: &str) -> Vec<String> {
    match pointer.strip_prefix('/') {
        Some(rest) => rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect(),
        None if pointer.is_empty() => Vec::new(),
        None => vec![pointer.to_owned()],
    }
}

fn index(token: &str) -> Option<usize> {
    // As the standard says: no sign, and no zero before other digits.
    let is_index = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| is_index)
}

impl Value {
    /// Returns the value at a JSON pointer (RFC 6901); `""` is this value. `None` if there is no such value.
    ///
    /// ```
    /// let value = zarr_json::json!({"a": [{"b/c": 1}]});
    /// assert_eq!(value.pointer("/a/0/b~1c"), Some(&1.into()));
    /// assert_eq!(value.pointer("/a/1"), None);
    /// ```
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        tokens(pointer).iter().try_fold(self, |value, token| match value {
            Self::Array(elements) => elements.get(index(token)?),
            Self::Object(members) => members.get(token),
            _ => None,
        })
    }

    fn pointer_mut(&mut self, tokens: &[String]) -> Option<&mut Self> {
        tokens.iter().try_fold(self, |value, token| match value {
            Self::Array(elements) => elements.get_mut(index(token)?),
            Self::Object(members) => members.get_mut(token),
            _ => None,
        })
    }
}

impl Map {
    /// Returns the value at a JSON pointer (RFC 6901), or of the member `pointer` if that does not begin with `/`. `None` if there is no
    /// such value.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let tokens = tokens(pointer);
        let (first, rest) = tokens.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, token| match value {
            Value::Array(elements) => elements.get(index(token)?),
            Value::Object(members) => members.get(token),
            _ => None,
        })
    }

    /// Sets the value at a JSON pointer, or of the member `pointer` if that does not begin with `/`. An existing value is replaced and
    /// returned; a new member is added behind all others.
    ///
    /// ```
    /// let mut map = zarr_json::Map::new();
    /// map.set_pointer("encoding", zarr_json::json!({}))?;
    /// map.set_pointer("/encoding/scale", 2.5.into())?;
    /// assert_eq!(map.to_string(), r#"{"encoding":{"scale":2.5}}"#);
    /// # Ok::<(), zarr_json::pointer::ValueError>(())
    /// ```
    ///
    /// # Errors
    /// [`ValueError`] if the object or array that is to contain the value does not exist, or cannot contain it.
    pub fn set_pointer(&mut self, pointer: &str, value: Value) -> Result<Option<Value>, ValueError> {
        let tokens = tokens(pointer);
        let Some((last, above)) = tokens.split_last() else {
            return Err(At::new(&value, "").invalid("a pointer to a member"));
        };
        let Some((first, rest)) = above.split_first() else {
            return Ok(self.insert(last.as_str(), value));
        };
        let missing = || At::new(&Value::Null, &above_of(above)).invalid("an object that is there");
        let parent = self.get_mut(first).and_then(|top| top.pointer_mut(rest)).ok_or_else(missing)?;
        match parent {
            Value::Object(members) => Ok(members.insert(last.as_str(), value)),
            Value::Array(elements) => match index(last).and_then(|index| elements.get_mut(index)) {
                Some(slot) => Ok(Some(std::mem::replace(slot, value))),
                None => Err(At::new(parent, &above_of(above)).invalid(format!("an array with an element {last}"))),
            },
            other => Err(At::new(other, &above_of(above)).invalid("an object")),
        }
    }

    /// Removes the member at a JSON pointer, or the member `pointer` if that does not begin with `/`, and returns its value. Elements of
    /// arrays are not removed, since later elements would move.
    pub fn remove_pointer(&mut self, pointer: &str) -> Option<Value> {
        let tokens = tokens(pointer);
        let (last, above) = tokens.split_last()?;
        let Some((first, rest)) = above.split_first() else { return self.remove(last) };
        match self.get_mut(first)?.pointer_mut(rest)? {
            Value::Object(members) => members.remove(last),
            _ => None,
        }
    }
}

fn above_of(tokens: &[String]) -> String {
    tokens.iter().map(|token| format!("/{}", crate::pointer::escaped(token))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn map() -> Map {
        match json!({"a": {"b": [1, {"c/d": 2, "~": 3}]}, "": 4, "x/y": 5}) {
            Value::Object(map) => map,
            _ => unreachable!(),
        }
    }

    #[test]
    fn pointers_find_values() {
        let map = map();
        for (pointer, found) in [
            ("/a/b/0", Some(1)),
            ("/a/b/1/c~1d", Some(2)),
            ("/a/b/1/~0", Some(3)),
            ("/", Some(4)),
            ("/x~1y", Some(5)),
            ("x/y", Some(5)),
            ("/x/y", None),
            ("/a/b/00", None),
            ("/a/b/+1", None),
            ("/a/b/2", None),
            ("/a/b/0/c", None),
            ("", None),
        ] {
            assert_eq!(map.pointer(pointer), found.map(Value::from).as_ref(), "{pointer}");
            let whole = Value::Object(map.clone());
            if pointer.starts_with('/') {
                assert_eq!(whole.pointer(pointer), map.pointer(pointer), "{pointer}");
            }
        }
        assert_eq!(Value::Object(map.clone()).pointer(""), Some(&Value::Object(map)));
    }

    #[test]
    fn pointers_set_and_remove_values() {
        let mut map = map();
        assert_eq!(map.set_pointer("/a/b/0", 9.into()).unwrap(), Some(1.into()));
        assert_eq!(map.set_pointer("/a/new", 8.into()).unwrap(), None);
        assert_eq!(map.set_pointer("plain", 7.into()).unwrap(), None);
        assert_eq!(map.remove_pointer("/a/b/1/~0"), Some(3.into()));
        assert_eq!(map.remove_pointer("/a/b/0"), None, "an element of an array");
        assert_eq!(map.remove_pointer("x/y"), Some(5.into()));
        assert_eq!(map.to_string(), r#"{"a":{"b":[9,{"c/d":2}],"new":8},"":4,"plain":7}"#);
        for (pointer, message) in [
            ("/none/b", "/none: found null, expected an object that is there"),
            ("/a/new/b", "/a/new: found 8, expected an object"),
            ("/a/b/5", "/a/b: found [9,{\"c/d\":2}], expected an array with an element 5"),
        ] {
            assert_eq!(map.set_pointer(pointer, 1.into()).unwrap_err().to_string(), message);
        }
        assert!(map.set_pointer("", 1.into()).is_err());
    }
}
