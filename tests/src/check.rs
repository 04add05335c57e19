//! Checks of stores that must be read as expected.

use crate::expected::{Contents, ExpectedArray, ExpectedFill, ExpectedNode};
use crate::fixtures::Case;
use crate::report::ArrayResult;
use crate::{Fault, rewrite, values};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_array::{Array, ErrorKind, Options, Result, Walk};
use zarr_dtype::{DataType, from_npy_value, npy_descr};
use zarr_grid::Selection;
use zarr_json::{Map, NamedConfig, Value};
use zarr_meta::{Consolidated, Node, StoredNode};
use zarr_store::{Key, Store, StoreExt};

/// Opens the node at a path.
pub(crate) fn find(store: &Arc<dyn Store>, path: &str) -> Result<StoredNode> {
    zarr::hierarchy::open_node(&**store, path, None)
}

/// Returns all nodes of a store. A broken node is an error, and so is a name in consolidated metadata that leads out of the store.
pub(crate) fn walk(store: &Arc<dyn Store>) -> Result<Walk> {
    let mut walk = zarr::hierarchy::walk(&**store, "/", None)?;
    if !walk.broken.is_empty() {
        return Err(walk.broken.swap_remove(0));
    }
    if let Some(root) = walk.nodes.first()
        && let Some(consolidated) = consolidated(store, root)?
    {
        consolidated.check()?;
    }
    Ok(walk)
}

/// Returns the consolidated metadata of the root; `None` if it has none.
fn consolidated(store: &Arc<dyn Store>, root: &StoredNode) -> Result<Option<Consolidated>> {
    if let Some(inside) = root.node.as_group().and_then(|group| group.consolidated.clone()) {
        return Ok(Some(inside));
    }
    let Some(key) = zarr_meta::consolidated::document_key(root) else { return Ok(None) };
    match store.get_all(&Key::new(&key)?)? {
        Some(document) => Ok(Consolidated::parse_document(root.dialect, &key, &document)?),
        None => Ok(None),
    }
}

/// Returns a fault that begins with the kind of the error.
fn fault(error: zarr_array::Error) -> Fault {
    format!("{}: {error}", error.kind().name())
}

/// Compares the nodes of a store with the expected ones.
///
/// # Errors
/// A description of the difference.
pub(crate) fn nodes(case: &Case, contents: &Contents) -> Result<(), Fault> {
    let store = zarr::store::open(&case.url()).map_err(|error| fault(error.into()))?;
    let walk = walk(&store).map_err(fault)?;
    let found: BTreeMap<String, &StoredNode> = walk.nodes.iter().map(|node| (node.path.to_string(), node)).collect();
    let paths: Vec<&String> = found.keys().collect();
    let expected: Vec<&String> = contents.nodes.keys().collect();
    if paths != expected {
        return Err(format!("nodes {paths:?}, expected {expected:?}"));
    }
    for (path, expected) in &contents.nodes {
        let Some(node) = found.get(path) else { continue };
        match (&node.node, expected) {
            (Node::Array(_), ExpectedNode::Array) => {}
            (Node::Group(group), ExpectedNode::Group { implicit, attributes }) => {
                if node.implicit != *implicit {
                    return Err(format!("{path}: implicit is {}, expected {implicit}", node.implicit));
                }
                same_members("attributes", &group.attributes, attributes)
                    .map_err(|fault| format!("{path}: {fault}"))?;
            }
            _ => return Err(format!("{path}: another kind of node than {expected:?}")),
        }
        if !case.expected.is_only_read {
            rewrite::documents(node).map_err(|fault| format!("{path}: {fault}"))?;
        }
        // A node is the same whether it is come upon or looked for.
        if path != "/" || !node.implicit {
            let opened = find(&store, path).map_err(fault)?;
            if opened.node.to_value() != node.node.to_value() {
                return Err(format!("{path}: opens as {}", opened.node.to_value()));
            }
        }
    }
    let root = walk.nodes.first().ok_or("no nodes")?;
    let snapshot = consolidated(&store, root).map_err(fault)?;
    let Some(snapshot) = snapshot else {
        return if contents.consolidated { Err("no consolidated metadata".to_owned()) } else { Ok(()) };
    };
    let nodes = snapshot.nodes(&root.path);
    let known = |path: &&String| !contents.after_consolidation.contains(path);
    for path in contents.nodes.keys().filter(known).filter(|path| *path != "/") {
        let Some((at, documents)) = nodes.iter().find(|(at, _)| at.to_string() == *path) else {
            return Err(format!("{path} is not in the consolidated metadata"));
        };
        let copy =
            rewrite::parse(root.dialect, at, documents).map_err(|fault| format!("{path}, consolidated: {fault}"))?;
        // Nodes that were changed later differ, as a case with late nodes shows.
        let fresh = contents.after_consolidation.is_empty();
        if let Some(array) = found.get(path).and_then(|node| node.node.as_array())
            && fresh
            && !copy.node.to_value().semantically_eq(&array.to_value())
        {
            return Err(format!("{path}, consolidated: {}", copy.node.to_value()));
        }
    }
    Ok(())
}

/// Compares an array with the expected one, and a rewritten copy of the array.
///
/// # Errors
/// A description of the difference, or a message that begins with the kind of an error.
pub(crate) fn array(case: &Case, path: &str, expected: &ExpectedArray, result: &mut ArrayResult) -> Result<(), Fault> {
    let store = zarr::store::open(&case.url()).map_err(|error| fault(error.into()))?;
    let found = find(&store, path).map_err(fault)?;
    let metadata = found.node.as_array().ok_or("a group, expected an array")?;
    result.data_type = metadata.data_type.name.clone();
    codec_names(&metadata.codecs, &mut result.codecs);
    same("shape", &metadata.shape, &expected.shape)?;
    same_members("attributes", &metadata.attributes, &expected.attributes)?;
    // Names that a convention gives are compared where the case has names.
    let by_convention = expected.names_by_convention || found.dimension_names_from.is_some();
    if !by_convention || expected.dimension_names.is_some() {
        same("dimension names", &metadata.dimension_names, &expected.dimension_names)?;
    }
    let options = Options::default().v1_f_order_is_c(case.expected.v1_f_order_is_c);
    let opened = Array::from_found(&store, found.clone(), &zarr::registry::default(), options);
    let Some(data) = &expected.data else {
        // Its elements must never be decoded; its metadata was read.
        return match opened {
            Err(error) if error.kind() == ErrorKind::UnknownExtension => Ok(()),
            Err(error) => Err(fault(error)),
            Ok(_) => Err("opens, though its elements must not be decoded".to_owned()),
        };
    };
    let array = opened.map_err(fault)?;
    shown(&array, expected)?;
    let elements = match array.read_data(Selection::all()) {
        Err(error) if error.kind() == ErrorKind::UnknownExtension && case.expected.may_refuse => return Ok(()),
        elements => elements.map_err(fault)?,
    };
    values::compare(case, data, &elements)?;
    result.read = true;
    if case.expected.is_only_read {
        return Ok(());
    }
    rewrite::array(&array, &elements).map_err(|fault| format!("rewritten: {fault}"))
}

/// Compares the properties of an opened array.
fn shown(array: &Array, expected: &ExpectedArray) -> Result<(), Fault> {
    data_type(array, expected)?;
    let grid = array.chunk_grid();
    let lengths = |axis: usize| {
        let length = |position: u64| {
            let mut index = vec![0; grid.rank()];
            if let Some(at) = index.get_mut(axis) {
                *at = position;
            }
            grid.chunk_shape(&index).get(axis).copied().unwrap_or(0)
        };
        match expected.chunk_shape.get(axis) {
            Some(Value::Array(_)) => {
                Value::Array((0..grid.chunk_count(axis)).map(|position| length(position).into()).collect())
            }
            _ => grid.largest_chunk_shape().get(axis).copied().unwrap_or(0).into(),
        }
    };
    let chunk_shape: Vec<Value> = (0..grid.rank()).map(lengths).collect();
    same("chunk shape", &chunk_shape, &expected.chunk_shape)?;
    if let Some(shape) = &expected.inner_chunk_shape {
        let shard = array.metadata().codecs.iter().find(|codec| codec.name == "sharding_indexed");
        let found = shard.and_then(|shard| shard.configuration.get("chunk_shape")).and_then(Value::as_array);
        let found = found.unwrap_or_default().iter().filter_map(Value::as_u64).collect();
        same("shape of inner chunks", shape, &found)?;
        same("sharded", &array.is_sharded(), &true)?;
    }
    let fill = array.fill_value();
    let found = array.metadata().fill_value.as_ref();
    match &expected.fill {
        // Cases have no notation for lists: the old default 0, which is the empty one, stands as undefined.
        None if matches!(array.data_type(), DataType::VlenArray(_)) => same("fill value", &fill.bytes(), &&[][..]),
        None => same("fill value", &found, &None),
        Some(ExpectedFill::Bytes(bytes)) => {
            let item = fill.item().map(|item| values::little_endian(array.data_type(), item));
            same("fill value", &item.as_ref(), &Some(bytes))
        }
        Some(ExpectedFill::Variable(bytes)) => same("fill value", &fill.bytes(), &bytes.as_slice()),
        Some(ExpectedFill::Json(value)) => {
            same("fill value", &found.is_some_and(|found| found.semantically_eq(value)), &true)
        }
    }
}

/// Compares the data type with the expected name in v3, if it has one, and with that in numpy.
fn data_type(array: &Array, expected: &ExpectedArray) -> Result<(), Fault> {
    let data_type = array.data_type();
    let empty = Map::new();
    match &expected.data_type {
        None => {}
        // The two names of one type.
        Some(Value::String(name)) if name == "bytes" && matches!(data_type, DataType::Bytes { .. }) => {}
        Some(Value::String(name)) => same("data type", &array.metadata().data_type.name, name)?,
        Some(value) => {
            let found = &array.metadata().data_type;
            same("data type", &Some(found.name.as_str()), &value.get("name").and_then(Value::as_str))?;
            let configuration = value.get("configuration").and_then(Value::as_object).unwrap_or(&empty);
            same_members("configuration of the data type", &found.configuration, configuration)?;
        }
    }
    if expected.dtype.as_array().is_some() {
        let (dtype, _) = from_npy_value(&expected.dtype).map_err(|error| error.to_string())?;
        return same("numpy's type", data_type, &dtype);
    }
    let (Some(found), Some(dtype)) = (npy_descr(data_type), expected.dtype.as_str()) else { return Ok(()) };
    // That of the elements in memory; the byte order of the file is a matter of its codecs. TensorStore's small types lie
    // in whole bytes.
    let same_order = dtype.replacen('>', "<", 1);
    let bytes_only = matches!(data_type, DataType::UInt2 | DataType::UInt4);
    if bytes_only { Ok(()) } else { same("numpy's type", &found, &same_order) }
}

/// Adds the names of codecs, and of the codecs in their configurations, to `into`.
fn codec_names(codecs: &[NamedConfig], into: &mut BTreeSet<String>) {
    for codec in codecs {
        into.insert(codec.name.clone());
        for inner in codec.configuration.get("codecs").and_then(Value::as_array).unwrap_or_default() {
            let name = inner.get("name").unwrap_or(inner).as_str().unwrap_or_default();
            let configuration = inner.get("configuration").and_then(Value::as_object).cloned().unwrap_or_default();
            codec_names(&[NamedConfig::with(name, configuration)], into);
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Fault> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}")) }
}

fn same_members(what: &str, found: &Map, expected: &Map) -> Result<(), Fault> {
    // The expected members are JSON, with texts for numbers that it does not have.
    let (found, expected) = (Value::Object(found.clone()).without_nan_literals(), Value::Object(expected.clone()));
    if found.semantically_eq(&expected) { Ok(()) } else { Err(format!("{what}: found {found}, expected {expected}")) }
}
