//! Members of objects, of which unknown ones are kept.

use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Members of an object while they are read. Those that nobody asks for are kept.
pub(super) struct Members<'v> {
    at: At<'v>,
    other: Map,
}

impl<'v> Members<'v> {
    pub(super) fn of(at: &At<'v>) -> Result<Self, ValueError> {
        Ok(Self { at: at.clone(), other: at.object()?.clone() })
    }

    /// Returns a member; `None` if it is not there, or null.
    pub(super) fn get(&mut self, name: &str) -> Option<At<'v>> {
        self.other.remove(name);
        self.at.get_non_null(name)
    }

    /// Returns a member that has to be there.
    pub(super) fn need(&mut self, name: &str) -> Result<At<'v>, ValueError> {
        self.other.remove(name);
        self.at.member(name)
    }

    /// Returns the string in a member; `None` if it is not there.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ValueError> {
        self.get(name).map(|at| at.text().map(str::to_owned)).transpose()
    }

    /// Returns the string in a member that has to be there.
    pub(super) fn need_text(&mut self, name: &str) -> Result<String, ValueError> {
        self.need(name)?.text().map(str::to_owned)
    }

    /// Returns the integer of at least `least` in a member; `None` if it is not there.
    pub(super) fn integer(&mut self, name: &str, least: i128) -> Result<Option<i128>, ValueError> {
        self.get(name).map(|at| crate::faults::integer(&at, least)).transpose()
    }

    /// Returns the integer of at least `least` in a member that has to be there.
    pub(super) fn need_integer(&mut self, name: &str, least: i128) -> Result<i128, ValueError> {
        crate::faults::integer(&self.need(name)?, least)
    }

    /// Returns what `read` makes of the items of the list in a member; empty if it is not there.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        read: impl FnMut(&At<'v>) -> Result<T, ValueError>,
    ) -> Result<Vec<T>, ValueError> {
        self.get(name).map(|list| items(&list, read)).transpose().map(Option::unwrap_or_default)
    }

    /// Returns the members that nobody asked for.
    pub(super) fn rest(self) -> Map {
        self.other
    }
}

/// Returns what `read` makes of the items of a list.
pub(super) fn items<'v, T>(
    list: &At<'v>,
    read: impl FnMut(&At<'v>) -> Result<T, ValueError>,
) -> Result<Vec<T>, ValueError> {
    list.items()?.iter().map(read).collect()
}

/// Returns the strings of a list.
pub(super) fn texts(list: &At<'_>) -> Result<Vec<String>, ValueError> {
    items(list, |item| item.text().map(str::to_owned))
}

/// Returns a finite number.
pub(super) fn number(at: &At<'_>) -> Result<f64, ValueError> {
    at.value().as_f64().filter(|number| number.is_finite()).ok_or_else(|| at.invalid("a number"))
}

/// Returns an object of the members that are there, and others behind them.
pub(super) fn extended<const N: usize>(members: [(&str, Option<Value>); N], other: &Map) -> Map {
    let mut map = Map::from_some(members);
    other.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    map
}

/// Returns the object of [`extended`] as a value.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N], other: &Map) -> Value {
    Value::Object(extended(members, other))
}

/// Returns a list of what `write` makes of items; `None` if there are none.
pub(super) fn list_if_any<T>(items: &[T], write: impl Fn(&T) -> Value) -> Option<Value> {
    (!items.is_empty()).then(|| list(items, write))
}

/// Returns a list of what `write` makes of items.
pub(super) fn list<T>(items: &[T], write: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(write).collect())
}

/// Returns a string, if there is one.
pub(super) fn text(text: &Option<String>) -> Option<Value> {
    text.as_deref().map(Value::from)
}

/// Returns a list of numbers; whole ones without a fraction.
pub(super) fn numbers(numbers: &[f64]) -> Value {
    Value::Array(numbers.iter().copied().map(numeral).collect())
}

/// Returns a number, a whole one without a fraction.
pub(super) fn numeral(number: f64) -> Value {
    const MOST: f64 = 9_007_199_254_740_992.0;
    match number.fract() == 0.0 && number.abs() < MOST {
        true => Value::from(number as i64),
        false => Value::from(number),
    }
}
