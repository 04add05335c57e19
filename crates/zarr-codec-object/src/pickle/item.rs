//! Objects of the pickle machine.

use std::rc::Rc;
use zarr_json::Value;

/// Object of the pickle machine. Tuples contain tuples of only a few levels, and containers by index, so that recursion stays shallow.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Mark,
    Value(Rc<Value>),
    Tuple(Rc<Vec<Item>>, u8),
    /// List or dict that is being filled, by its index among the containers.
    Container(usize),
    Global(Global),
    /// Result of a call of `dtype`: always the type of objects.
    Dtype,
    /// Result of a call of `_reconstruct`.
    Array,
}

/// Classes and functions that a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    Reconstruct,
    Ndarray,
    Dtype,
    Encode,
    Bytes,
    /// Class of dicts that have no state besides their items.
    Dict,
}

/// List or dict. Items refer to containers by index, and may refer to the container that contains them.
#[derive(Debug)]
pub(super) enum Container {
    List(Vec<Item>),
    Dict(Vec<(Rc<Value>, Item)>),
}

impl Container {
    /// Adds `items`: elements of a list, or names and values of a dict in turn.
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
