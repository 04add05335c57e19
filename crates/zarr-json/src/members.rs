//! The members of an object, found by name without a square of their number.

use crate::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A member: its name, which takes no memory where it is one of the well-known ones, and its value.
pub(crate) type Member = (Cow<'static, str>, Value);

/// Most members of an object that is always looked through: real objects have fewer, and an index costs more.
const FEW: usize = 32;

/// Number of names that are looked for in a larger object before an index of it is made. Attributes and consolidated metadata, the only
/// large objects there are, are walked, and asked for a name or two.
const PATIENCE: u32 = 32;

/// Members in their order, no two of one name.
#[derive(Debug, Default)]
pub(crate) struct Members {
    list: Vec<Member>,
    /// Number of times that a name was looked for without an index, up to [`PATIENCE`].
    searches: AtomicU32,
    /// The index, on the heap since few objects have one.
    index: OnceLock<Box<Index>>,
}

/// The position of the member of each name.
#[derive(Debug)]
struct Index(HashMap<Cow<'static, str>, usize>);

impl Members {
    /// Members whose names are known to be different.
    pub(crate) fn new(list: Vec<Member>) -> Self {
        Self { list, ..Self::default() }
    }

    pub(crate) fn list(&self) -> &[Member] {
        &self.list
    }

    pub(crate) fn into_list(self) -> Vec<Member> {
        self.list
    }

    /// Where the member of this name is.
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

    /// Adds a member of a new name behind all others.
    pub(crate) fn push(&mut self, name: String, value: Value) {
        if let Some(index) = self.index.get_mut() {
            index.0.insert(Cow::Owned(name.clone()), self.list.len());
        }
        self.list.push((Cow::Owned(name), value));
    }

    /// Takes out the member at `position`, which is there.
    pub(crate) fn remove(&mut self, position: usize) -> Value {
        self.index.take();
        self.list.remove(position).1
    }
}

impl Clone for Members {
    /// Without the index: a clone is made to be changed.
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
