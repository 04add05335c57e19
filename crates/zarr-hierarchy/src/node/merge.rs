//! Merging of changes that two writers make to the metadata of a node at the same time.

use crate::{Error, ErrorKind, Result};
use zarr_json::{Map, NamedConfig, Value};
use zarr_meta::{ArrayMetadata, GroupMetadata, Node};

/// Returns `theirs` with the changes from `base` to `ours`, member by member and attribute by attribute.
///
/// # Errors
/// [`ErrorKind::Conflict`] naming the member that both changed to different values.
pub(super) fn merge(base: &Node, ours: &Node, theirs: &Node) -> Result<Node> {
    if theirs == base {
        return Ok(ours.clone());
    }
    match (base, ours, theirs) {
        (Node::Array(base), Node::Array(ours), Node::Array(theirs)) => arrays(base, ours, theirs).map(Node::Array),
        (Node::Group(base), Node::Group(ours), Node::Group(theirs)) => groups(base, ours, theirs).map(Node::Group),
        _ => Err(Error::new(ErrorKind::Conflict, "another writer replaced the node by one of another kind")
            .with_hint("open the node again")),
    }
}

fn arrays(base: &ArrayMetadata, ours: &ArrayMetadata, theirs: &ArrayMetadata) -> Result<ArrayMetadata> {
    macro_rules! merged {
        ($member:ident, $show:expr) => {
            member(concat!("/", stringify!($member)), &base.$member, &ours.$member, &theirs.$member, $show)?
        };
    }
    let list = |configs: &Vec<NamedConfig>| Value::Array(configs.iter().map(NamedConfig::to_value).collect());
    let names = |names: &Option<Vec<Option<String>>>| {
        let name = |name: &Option<String>| name.as_deref().map_or(Value::Null, Value::from);
        names.as_ref().map_or(Value::Null, |names| Value::Array(names.iter().map(name).collect()))
    };
    // Members that are not named here come from the newest documents.
    let mut merged = theirs.clone();
    merged.shape = merged!(shape, |shape: &Vec<u64>| Value::from(shape.clone()));
    merged.data_type = merged!(data_type, NamedConfig::to_value);
    merged.chunk_grid = merged!(chunk_grid, NamedConfig::to_value);
    merged.chunk_key_encoding = merged!(chunk_key_encoding, NamedConfig::to_value);
    merged.fill_value = merged!(fill_value, |value: &Option<Value>| value.clone().unwrap_or_default());
    merged.codecs = merged!(codecs, list);
    merged.storage_transformers = merged!(storage_transformers, list);
    merged.dimension_names = merged!(dimension_names, names);
    merged.attributes = maps("/attributes", &base.attributes, &ours.attributes, &theirs.attributes)?;
    merged.extra = maps("", &base.extra, &ours.extra, &theirs.extra)?;
    Ok(merged)
}

fn groups(base: &GroupMetadata, ours: &GroupMetadata, theirs: &GroupMetadata) -> Result<GroupMetadata> {
    let mut merged = theirs.clone();
    merged.attributes = maps("/attributes", &base.attributes, &ours.attributes, &theirs.attributes)?;
    // Derived from the nodes: the stored one is the newest.
    if ours.consolidated != base.consolidated {
        merged.consolidated.clone_from(&ours.consolidated);
    }
    merged.extra = maps("", &base.extra, &ours.extra, &theirs.extra)?;
    Ok(merged)
}

/// Returns the merged value of a member: the value of the side that changed it.
fn member<T: PartialEq + Clone>(
    pointer: &str,
    base: &T,
    ours: &T,
    theirs: &T,
    show: impl Fn(&T) -> Value,
) -> Result<T> {
    if ours == base || ours == theirs {
        Ok(theirs.clone())
    } else if theirs == base {
        Ok(ours.clone())
    } else {
        Err(conflict(pointer, Some(&show(theirs)), Some(&show(ours))))
    }
}

/// Returns the members of `theirs`, in their order, with the changes from `base` to `ours`.
fn maps(pointer: &str, base: &Map, ours: &Map, theirs: &Map) -> Result<Map> {
    if theirs == base {
        return Ok(ours.clone());
    }
    let mut merged = theirs.clone();
    let names = ours.keys().chain(base.keys().filter(|name| !ours.contains_key(name)));
    for name in names {
        let (was, wanted, is) = (base.get(name), ours.get(name), theirs.get(name));
        if wanted == was || wanted == is {
            continue;
        }
        if is != was {
            let name = name.replace('~', "~0").replace('/', "~1");
            return Err(conflict(&format!("{pointer}/{name}"), is, wanted));
        }
        match wanted {
            Some(value) => drop(merged.insert(name, value.clone())),
            None => drop(merged.remove(name)),
        }
    }
    Ok(merged)
}

/// Returns the error for a member that another writer changed to another value.
pub(super) fn conflict(pointer: &str, theirs: Option<&Value>, ours: Option<&Value>) -> Error {
    let set = |value: Option<&Value>| {
        value.map_or_else(|| "removed".to_owned(), |value| format!("set to {}", value.excerpt()))
    };
    let message = format!("{} by another writer meanwhile, to be {}", set(theirs), set(ours));
    Error::new(ErrorKind::Conflict, message)
        .with_hint("open the node again and repeat the change")
        .at(|location| location.pointer = Some(pointer.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn group(attributes: Value) -> Node {
        let attributes = attributes.as_object().cloned().expect("an object");
        Node::Group(GroupMetadata::new(attributes))
    }

    #[test]
    fn each_side_keeps_its_changes() {
        let base = group(json!({"a": 1, "b": 2, "c": 3}));
        let ours = group(json!({"a": 10, "b": 2, "d": 4}));
        let theirs = group(json!({"e": 5, "a": 1, "b": 20, "c": 3, "d": 4}));
        let merged = merge(&base, &ours, &theirs).expect("no member is changed twice");
        assert_eq!(merged, group(json!({"e": 5, "a": 10, "b": 20, "d": 4})));
        assert_eq!(merge(&base, &ours, &base).expect("theirs is unchanged"), ours);
        assert_eq!(merge(&base, &base, &theirs).expect("ours is unchanged"), theirs);
    }

    #[test]
    fn a_member_changed_on_both_sides_is_named() {
        let base = group(json!({"a/b": 1}));
        for (ours, words) in [(json!({"a/b": 2}), "to be set to 2"), (json!({}), "to be removed")] {
            let error = merge(&base, &group(ours), &group(json!({"a/b": 3}))).expect_err("changed twice");
            assert_eq!(
                (error.kind(), error.location().pointer.as_deref()),
                (ErrorKind::Conflict, Some("/attributes/a~1b"))
            );
            assert!(error.message().contains("set to 3") && error.message().contains(words), "{error}");
        }
        let both = group(json!({"a/b": 3}));
        assert_eq!(merge(&base, &both, &both).expect("changed alike"), both);
    }
}
