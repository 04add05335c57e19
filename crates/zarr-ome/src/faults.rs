//! Collected faults of a document, so that the first fault does not hide others.

use std::collections::HashSet;
use zarr_json::pointer::{At, ValueError};

/// Faults that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Faults(pub(crate) Vec<ValueError>);

impl Faults {
    pub(crate) fn add(&mut self, at: &At<'_>, expected: impl Into<String>) {
        self.0.push(at.invalid(expected));
    }

    /// Returns the value, or adds the fault and returns `None`.
    pub(crate) fn keep<T>(&mut self, value: Result<T, ValueError>) -> Option<T> {
        value.map_err(|fault| self.0.push(fault)).ok()
    }

    /// Returns the items of a list. An empty list is a fault.
    pub(crate) fn items<'v>(&mut self, list: &At<'v>) -> Vec<At<'v>> {
        let items = self.keep(list.items());
        if items.as_ref().is_some_and(Vec::is_empty) {
            self.add(list, "at least one item");
        }
        items.unwrap_or_default()
    }

    /// Returns the items of the list in the member `name`. A missing member or an empty list is a fault.
    pub(crate) fn items_of<'v>(&mut self, at: &At<'v>, name: &str) -> Vec<At<'v>> {
        self.keep(at.member(name)).map(|list| self.items(&list)).unwrap_or_default()
    }

    /// Returns the string in the member `name`. A missing member is a fault.
    pub(crate) fn text<'v>(&mut self, at: &At<'v>, name: &str) -> Option<&'v str> {
        self.keep(at.member(name).and_then(|member| member.text()))
    }

    /// Returns the string in the member `name`; `None` if there is no such member.
    pub(crate) fn text_if_any<'v>(&mut self, at: &At<'v>, name: &str) -> Option<&'v str> {
        self.keep(at.get(name)?.text())
    }

    /// Returns the integer of at least `least` in the member `name`. A missing member is a fault.
    pub(crate) fn integer(&mut self, at: &At<'_>, name: &str, least: i128) -> Option<i128> {
        self.keep(at.member(name).and_then(|member| integer(&member, least)))
    }

    /// Returns the integer of at least `least` in the member `name`; `None` if there is no such member.
    pub(crate) fn integer_if_any(&mut self, at: &At<'_>, name: &str, least: i128) -> Option<i128> {
        self.keep(integer(&at.get(name)?, least))
    }
}

/// Reads an integer of at least `least`; a float such as 4.0 counts as one too.
pub(crate) fn integer(at: &At<'_>, least: i128) -> Result<i128, ValueError> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() <= MOST;
    let value = at.value();
    let of_float = || value.as_f64().filter(whole).map(|number| number as i128);
    let exact = value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from));
    let number = exact.or_else(of_float).filter(|&number| number >= least);
    number.ok_or_else(|| match least {
        i128::MIN => at.invalid("an integer"),
        least => at.invalid(format!("an integer, {least} or more")),
    })
}

/// Values that were found so far, to detect equal ones.
#[derive(Debug)]
pub(crate) struct Unique<T>(HashSet<T>);

impl<T: std::hash::Hash + Eq> Unique<T> {
    pub(crate) fn new() -> Self {
        Self(HashSet::new())
    }

    /// Adds a value, which is found at `at`. An equal value is a fault, with the message `expected`.
    pub(crate) fn take(&mut self, value: T, at: &At<'_>, expected: &str, faults: &mut Faults) {
        if !self.0.insert(value) {
            faults.add(at, expected);
        }
    }
}
