//! JSON objects that preserve the order of their members.

use crate::Value;
use crate::members::{Member, Members};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// JSON object: its members, in the order in which they were read or inserted.
///
/// A short object, as most metadata objects are, is searched without an index; a long object gets an index after many searches for names.
///
/// Clones share the members until one of the clones is changed, so that a node can hold parts of its document cheaply.
#[derive(Clone, Default)]
pub struct Map {
    /// Shared list of the members; `None` for an object that never had any, which takes no memory.
    members: Option<Arc<Members>>,
}

impl Map {
    /// Makes an object without members.
    pub const fn new() -> Self {
        Self { members: None }
    }

    /// Makes an object of members whose names are known to be different.
    pub(crate) fn from_members(members: Vec<Member>) -> Self {
        Self { members: (!members.is_empty()).then(|| Arc::new(Members::new(members))) }
    }

    /// Makes an object of the members whose value is not `None`.
    ///
    /// ```
    /// # use zarr_json::Map;
    /// let map = Map::from_some([("level", Some(3.into())), ("checksum", None)]);
    /// assert_eq!(map, Map::from([("level", 3.into())]));
    /// ```
    pub fn from_some<const N: usize>(members: [(&str, Option<Value>); N]) -> Self {
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// Makes an object of members whose names are known to be different.
    pub fn from_unique(members: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self::from_members(members.into_iter().map(|(name, value)| (Cow::Owned(name), value)).collect())
    }

    fn members(&self) -> &[Member] {
        self.members.as_ref().map_or(&[], |members| members.list())
    }

    /// Returns the members for a change, after copying them if they are shared with clones.
    fn members_mut(&mut self) -> &mut Members {
        Arc::make_mut(self.members.get_or_insert_default())
    }

    /// Number of members of the object.
    pub fn len(&self) -> usize {
        self.members().len()
    }

    /// Whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// Returns the value of member `name`; `None` if there is no such member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entry(name).map(|(_, value)| value)
    }

    /// Returns member `name`: its name and value; `None` if there is no such member.
    pub(crate) fn entry(&self, name: &str) -> Option<(&str, &Value)> {
        self.members().get(self.position(name)?).map(|(name, value)| (&**name, value))
    }

    /// Returns the value of member `name`, and looks at `index` first. Maps that were made from each other have members at the same
    /// indices, so that comparing large maps takes no square of their length.
    pub fn get_near(&self, index: usize, name: &str) -> Option<&Value> {
        match self.members().get(index) {
            Some((member, value)) if member == name => Some(value),
            _ => self.get(name),
        }
    }

    /// Returns the value of member `name` for a change in place; `None` if there is no such member.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let index = self.position(name)?;
        self.members_mut().value_mut(index)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.members.as_ref()?.position(name)
    }

    /// Whether there is a member `name`.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets member `name`. The value of an existing member is replaced and returned; a new member is added behind all others.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.set(name.into(), value.into())
    }

    fn set(&mut self, name: String, value: Value) -> Option<Value> {
        match self.get_mut(&name) {
            Some(index) => Some(std::mem::replace(index, value)),
            None => {
                self.members_mut().push(name, value);
                None
            }
        }
    }

    /// Removes member `name` and returns its value. Preserves the order of the other members.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.position(name)?;
        Some(self.members_mut().remove(at))
    }

    /// Iterates over names and values of the members, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value)> + ExactSizeIterator + Clone {
        self.members().iter().map(|(name, value)| (&**name, value))
    }

    /// Iterates over the names of the members, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator + Clone {
        self.members().iter().map(|(name, _)| &**name)
    }
}

impl Map {
    /// Number of NaN and Infinity literals in all values; see [`Value::count_nan_literals`].
    pub fn count_nan_literals(&self) -> usize {
        self.iter().map(|(_, value)| value.count_nan_literals()).sum()
    }

    /// Replaces NaN and Infinity literals in all values by strings; see [`Value::without_nan_literals`].
    #[must_use]
    pub fn without_nan_literals(self) -> Self {
        if self.count_nan_literals() == 0 {
            return self;
        }
        Self::from_unique(self.into_iter().map(|(name, value)| (name, value.without_nan_literals())))
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
            _ => self.members() == other.members(),
        }
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Map {
    /// Makes an object of `members`. If several have one name, the last value counts, at the index of the first.
    fn from(members: [(&str, Value); N]) -> Self {
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl FromIterator<(String, Value)> for Map {
    /// Makes an object of `members`. If several have one name, the last value counts, at the index of the first.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        let mut collected = Collected::default();
        members.into_iter().for_each(|(name, value)| collected.add(name, value));
        Self::from_members(collected.members)
    }
}

/// Members that are being collected, and the index of each name in them.
#[derive(Default)]
struct Collected {
    members: Vec<Member>,
    indexes: std::collections::HashMap<String, usize>,
}

impl Collected {
    fn add(&mut self, name: String, value: Value) {
        match self.indexes.get(&name) {
            Some(&at) => self.members[at].1 = value,
            None => {
                self.indexes.insert(name.clone(), self.members.len());
                self.members.push((Cow::Owned(name), value));
            }
        }
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = IntoMembers;

    fn into_iter(self) -> IntoMembers {
        IntoMembers(self.members.map_or_else(Vec::new, |members| Arc::unwrap_or_clone(members).into_list()).into_iter())
    }
}

/// Iterator over the members of an object by value, in order; see [`Map::into_iter`].
#[derive(Clone, Debug)]
pub struct IntoMembers(std::vec::IntoIter<Member>);

impl Iterator for IntoMembers {
    type Item = (String, Value);

    fn next(&mut self) -> Option<(String, Value)> {
        self.0.next().map(|(name, value)| (name.into_owned(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoMembers {}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_do_not_see_changes() {
        let one: Map = [("a".to_owned(), Value::from(1)), ("b".to_owned(), Value::from(2))].into_iter().collect();
        let mut other = one.clone();
        assert_eq!(other.insert("a", 3), Some(Value::from(1)));
        assert_eq!(other.remove("b"), Some(Value::from(2)));
        other.insert("c", 4);
        assert_eq!(one.to_string(), r#"{"a":1,"b":2}"#);
        assert_eq!(other.to_string(), r#"{"a":3,"c":4}"#);
        assert_eq!(one.clone().into_iter().len(), 2);
        other.remove("a");
        other.remove("c");
        assert_eq!((other.is_empty(), other), (true, Map::new()));
    }
}
