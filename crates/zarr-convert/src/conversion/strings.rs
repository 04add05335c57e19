//! Conversion of arrays of objects whose elements are all strings to arrays of the data type `string`.

use super::ConvertOptions;
use super::skipped::is_of_chunk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zarr_array::{Array, Registry};
use zarr_codec::Kind;
use zarr_dtype::{ByteOrder, DataType};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_json::{NamedConfig, Value};
use zarr_meta::{Node, Note, StoredNode};
use zarr_store::Store;

/// Returns whether a node is an array of objects whose elements are all strings, if the options ask for such arrays to be converted. Reads
/// all elements.
pub(super) fn are_all_texts(
    store: &Arc<dyn Store>,
    found: &StoredNode,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<bool> {
    let is_meant =
        options.objects_as_strings && found.node.as_array().is_some_and(|array| is_objects(&array.data_type));
    if !is_meant {
        return Ok(false);
    }
    let array = match Array::from_found(store, found.clone(), registry, options.options.clone()) {
        // Of what cannot be decoded nothing is known.
        Err(error) if error.kind() == ErrorKind::UnknownExtension => return Ok(false),
        opened => opened?,
    };
    let has_others = AtomicBool::new(false);
    let read = array.for_each_chunk(.., |region| {
        if has_others.load(Ordering::Relaxed) {
            return Ok(());
        }
        let elements = array.read_data(region)?;
        // The compact JSON of each.
        let is_text = |element: &[u8]| element.first() == Some(&b'"');
        if !elements.variable().is_some_and(|mut elements| elements.all(is_text)) {
            has_others.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    match read {
        Err(error) if options.keep_going && is_of_chunk(&error) => Ok(false),
        read => read.map(|()| !has_others.into_inner()),
    }
}

fn is_objects(data_type: &NamedConfig) -> bool {
    data_type.name == DataType::Object.to_config().name
}

/// An array of strings as it is read and as it is written.
pub(super) struct Strings {
    /// The array as it is read, with the data type `string`.
    pub(super) source: StoredNode,
    /// The array as it is written, with the default codec for strings.
    pub(super) target: StoredNode,
    pub(super) note: Note,
}

/// Builds both forms of an array of objects whose elements are all strings; `None` if the registry has no codec for strings.
pub(super) fn forms(found: &StoredNode, registry: &Registry) -> Option<Strings> {
    let (mut source, mut target) = (found.clone(), found.clone());
    let (Node::Array(read), Node::Array(written)) = (&mut source.node, &mut target.node) else { return None };
    let serializer = registry.defaults.serializer?(&DataType::String, ByteOrder::Little);
    replace_serializer(&mut written.codecs, &serializer, registry).then_some(())?;
    let what = format!("{} becomes {}, since all elements are texts", read.data_type.name, DataType::String);
    for array in [read, written] {
        array.data_type = DataType::String.to_config();
        // A fill value that is no text is used by no chunk, since all elements are texts: it becomes the empty text.
        let text = array.fill_value.as_ref().and_then(Value::as_str).unwrap_or_default();
        array.fill_value = Some(Value::from(text));
    }
    Some(Strings { source, target, note: Note::change("/data_type", what) })
}

/// Replaces the codec that turns elements into bytes; in shards, the codec of inner chunks. Returns false if there is none.
fn replace_serializer(chain: &mut [NamedConfig], serializer: &NamedConfig, registry: &Registry) -> bool {
    let is_serializer = |codec: &&mut NamedConfig| {
        registry.codecs.get(&codec.name).is_some_and(|entry| entry.kind() == Kind::ArrayToBytes)
    };
    let Some(codec) = chain.iter_mut().find(is_serializer) else { return false };
    let Some(Value::Array(list)) = codec.configuration.get_mut("codecs") else {
        *codec = serializer.clone();
        return true;
    };
    let Some(mut inner) = list.iter().map(NamedConfig::from_value).collect::<Option<Vec<_>>>() else { return false };
    let is_replaced = replace_serializer(&mut inner, serializer, registry);
    *list = inner.iter().map(NamedConfig::to_value).collect();
    is_replaced
}
