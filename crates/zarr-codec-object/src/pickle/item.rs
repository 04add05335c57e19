//! The objects that a pickle machine works on.

use std::rc::Rc;
use zarr_json::Value;

/// The objects that the machine works on. Tuples hold tuples of a few levels and containers by their indices, so that
/// nothing is recursive.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Mark,
    Value(Rc<Value>),
    Tuple(Rc<Vec<Item>>, u8),
    /// A list or dict that is being filled, by its index among the containers.
    Container(usize),
    Global(Global),
    /// The result of a call of `dtype`: always the type of objects.
    Dtype,
    /// The result of a call of `_reconstruct`.
    Array,
}

/// The classes and functions that may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    Reconstruct,
    Ndarray,
    Dtype,
    Encode,
    Bytes,
    /// A class of dicts that have nothing but their items.
    Dict,
}

/// A list or dict. Its items may refer to others and to itself: an index stands for a container.
#[derive(Debug)]
pub(super) enum Container {
    List(Vec<Item>),
    Dict(Vec<(Rc<Value>, Item)>),
}

impl Container {
    /// Adds elements, or names and values in turn.
    pub(super) fn add(&mut self, items: Vec<Item>) -> Result<(), String> {
        let dict = match self {
            Self::List(list) => {
                list.extend(items);
                return Ok(());
            }
            Self::Dict(dict) => dict,
        };
        let mut items = items.into_iter();
        while let Some(name) = items.next() {
            match (name, items.next()) {
                (Item::Value(name), Some(value)) if name.as_str().is_some() => dict.push((name, value)),
                (_, None) => return Err("a name without a value".to_owned()),
                _ => return Err("a dict with keys that are not strings".to_owned()),
            }
        }
        Ok(())
    }
}
