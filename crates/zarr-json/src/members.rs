//! Members of an object, found by name in less time than the square of their number.

use crate::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Member of an object: its name, which takes no memory if it is a well-known name, and its value.
pub(crate) type Member = (Cow<'static, str>, Value);

/// Maximum number of members of an object that is always searched without an index: most objects have fewer, and an index costs more.
const FEW: usize = 32;

/// Number of searches for names in a larger object before an index is made. The only large objects are attributes and consolidated
/// metadata, which are usually iterated over, or searched for a name or two.
const PATIENCE: u32 = 32;

/// Members of an object in their order. All names are different.
#[derive(Debug, Default)]
pub(crate) struct Members {
    list: Vec<Member>,
    /// Number of searches for a name without an index, up to [`PATIENCE`] and a little more.
    searches: AtomicU32,
    /// Index of the names. It is boxed, since few objects have one.
    index: OnceLock<Box<Index>>,
}

/// Positions of the members by their names.
#[derive(Debug)]
struct Index(HashMap<Cow<'static, str>, usize>);

impl Members {
    /// Makes the list of members whose names are known to be different.
    pub(crate) fn new(list: Vec<Member>) -> Self {
        Self { list, ..Self::default() }
    }

    pub(crate) fn list(&self) -> &[Member] {
        &self.list
    }

    pub(crate) fn into_list(self) -> Vec<Member> {
        self.list
    }

    /// Position of the member `name`; `None` if there is no such member.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        let search = || self.list.iter().position(|(member, _)| member == name);
        if self.list.len() <= FEW {
            return search();
        }
        let index = match self.index.get() {
            Some(index) => index,
            None if self.searches.fetch_add(1, Ordering::Relaxed) < PATIENCE => return search(),
            None => self.index.get_or_init(|| {
                let names = self.list.iter().map(|(name, _)| name.clone());
                Box::new(Index(names.zip(0..).collect()))
            }),
        };
        index.0.get(name).copied()
    }

    pub(crate) fn value_mut(&mut self, position: usize) -> Option<&mut Value> {
        self.list.get_mut(position).map(|(_, value)| value)
    }

    /// Adds a member with a new name behind all others.
    pub(crate) fn push(&mut self, name: String, value: Value) {
        if let Some(index) = self.index.get_mut() {
            index.0.insert(Cow::Owned(name.clone()), self.list.len());
        }
        self.list.push((Cow::Owned(name), value));
    }

    /// Removes the member at `position`, which must exist, and returns its value.
    pub(crate) fn remove(&mut self, position: usize) -> Value {
        self.index.take();
        self.list.remove(position).1
    }
}

impl Clone for Members {
    /// Copies the members without the index, since a clone is made in order to be changed.
    fn clone(&self) -> Self {
        Self::new(self.list.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_follows_changes() {
        let name = |number: usize| format!("m{number}");
        let mut members =
            Members::new((0..100).map(|number| (Cow::Owned(name(number)), Value::from(number))).collect());
        let check = |members: &Members, there: std::ops::Range<usize>| {
            for number in 0..200 {
                let found = members.position(&name(number)).and_then(|position| members.list().get(position));
                assert_eq!(
                    found.map(|(_, value)| value),
                    there.contains(&number).then(|| Value::from(number)).as_ref()
                );
            }
        };
        check(&members, 0..100);
        assert!(members.index.get().is_some(), "after {PATIENCE} searches");
        members.push(name(100), Value::from(100));
        check(&members, 0..101);
        assert_eq!(members.remove(0), Value::from(0));
        check(&members, 1..101);
        check(&members.clone(), 1..101);
    }
}
