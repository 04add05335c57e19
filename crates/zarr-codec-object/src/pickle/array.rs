//! Unpickled objects, made into values.

use super::item::{Container, Item};
use std::rc::Rc;
use zarr_json::{Map, Value};

/// How deep lists, tuples and dicts may lie in each other.
const MAX_DEPTH: usize = 64;

/// About the bytes that a value takes in memory beside its text.
const VALUE: u64 = 64;

/// A pickled array.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    /// Whether the array lay in Fortran order. Its values are in C order all the same.
    pub(super) is_fortran: bool,
    /// The index of the list of elements.
    pub(super) list: usize,
    pub(super) containers: Vec<Container>,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is none that JSON has.
    NotPlain(&'static str),
    /// It takes more memory than it may.
    Memory,
}

impl Array {
    /// The number of elements, of which there may be another number than the shape says.
    pub(super) fn len(&self) -> usize {
        match self.containers.get(self.list) {
            Some(Container::List(items)) => items.len(),
            _ => 0,
        }
    }

    /// The element at `index` in C order; tuples are lists. Its size in memory is taken from `room`: a value that is
    /// there once may be referred to often.
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

/// Bytes of the text that a value is, or of that in the object which stands for bytes.
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
