//! Conversion of unpickled objects to values.

use super::item::{Container, Item};
use std::rc::Rc;
use zarr_json::{Map, Value};

/// Maximum depth of nested lists, tuples and dicts.
const MAX_DEPTH: usize = 64;

/// Approximate number of bytes of a value in memory, besides its string.
const VALUE: u64 = 64;

/// Array read from a pickle.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    /// Whether the array was in Fortran order in memory. The stored values are in C order in either case.
    pub(super) is_fortran: bool,
    /// Index, in `containers`, of the list of elements.
    pub(super) list: usize,
    pub(super) containers: Vec<Container>,
}

/// Reason why an element has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// JSON has no such value.
    NotPlain(&'static str),
    /// The value takes more memory than allowed.
    Memory,
}

impl Array {
    /// Returns the number of elements, which may differ from the number that the shape states.
    pub(super) fn len(&self) -> usize {
        match self.containers.get(self.list) {
            Some(Container::List(items)) => items.len(),
            _ => 0,
        }
    }

    /// Returns the element at `index` in C order, with tuples as lists. The size of the value in memory is subtracted from `room`, since
    /// elements may refer repeatedly to a single value.
    pub(super) fn value(&self, index: usize, room: &mut u64) -> Result<Value, Fault> {
        match self.containers.get(self.list) {
            Some(Container::List(items)) => {
                items.get(index).map_or(Ok(Value::Null), |item| self.of_item(item, 0, room))
            }
            _ => Err(Fault::NotPlain("an array whose elements are not a list")),
        }
    }

    fn of_item(&self, item: &Item, depth: usize, room: &mut u64) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            // A list that contains itself has no end.
            return Err(Fault::NotPlain("values that lie deeper than 64 in each other"));
        }
        take(room, VALUE)?;
        match item {
            Item::Value(value) => {
                take(room, text_size(value))?;
                Ok(Value::clone(value))
            }
            Item::Tuple(items, _) => self.of_items(items, depth, room),
            Item::Container(index) => match self.containers.get(*index) {
                Some(Container::List(items)) => self.of_items(items, depth, room),
                Some(Container::Dict(items)) => {
                    let mut member = |(name, item): &(Rc<Value>, Item)| {
                        take(room, text_size(name))?;
                        let value = self.of_item(item, depth + 1, room)?;
                        Ok((name.as_str().unwrap_or_default().to_owned(), value))
                    };
                    items.iter().map(&mut member).collect::<Result<Map, _>>().map(Value::Object)
                }
                None => Err(Fault::NotPlain("an unknown container")),
            },
            _ => Err(Fault::NotPlain("an element that is not a plain value")),
        }
    }

    fn of_items(&self, items: &[Item], depth: usize, room: &mut u64) -> Result<Value, Fault> {
        let items = items.iter().map(|item| self.of_item(item, depth + 1, room));
        items.collect::<Result<_, _>>().map(Value::Array)
    }
}

/// Returns the number of bytes of the string in a value: of a string itself, or of the string in the object for bytes.
fn text_size(value: &Value) -> u64 {
    let text = match value {
        Value::Object(members) => members.iter().next().and_then(|(_, value)| value.as_str()),
        _ => value.as_str(),
    };
    text.map_or(0, |text| text.len() as u64)
}

fn take(room: &mut u64, size: u64) -> Result<(), Fault> {
    *room = room.checked_sub(size).ok_or(Fault::Memory)?;
    Ok(())
}
