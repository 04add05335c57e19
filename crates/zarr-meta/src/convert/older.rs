//! Conversion of nodes to dialects before version 3.

use super::{Note, define_fill_value, drop_extra};
use crate::consolidated::Consolidation;
use crate::conventions::{self, ARRAY_DIMENSIONS};
use crate::dialect::table::rules;
use crate::dialect::{codecs, layout};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Dialect, Documents, GroupMetadata};
use zarr_json::{NamedConfig, Value};

pub(super) fn group(group: &mut GroupMetadata, dialect: Dialect, notes: &mut Vec<Note>) {
    if group.consolidated.take().is_some() {
        notes.push(match rules(dialect).consolidation() {
            Consolidation::Beside(_) => Note::change("/consolidated_metadata", "moves to a document of its own"),
            _ => Note::loss("/consolidated_metadata", "the dialect has none"),
        });
    }
    drop_extra(&mut group.extra, |name, value| rules(dialect).may_have_member(false, name, value), notes);
}

pub(super) fn array(array: &mut ArrayMetadata, dialect: Dialect, notes: &mut Vec<Note>) -> Result<()> {
    let rules = rules(dialect);
    drop_extra(&mut array.extra, |name, value| rules.may_have_member(true, name, value), notes);
    // Storage transformers that the drafts define, which are not known.
    if !array.storage_transformers.is_empty() && !rules.has_transformers(&array.storage_transformers) {
        array.storage_transformers.clear();
        notes.push(Note::loss("/storage_transformers", &format!("{dialect} has none of this name")));
    }
    dimension_names(array, dialect, notes)?;
    chunk_keys(array, dialect, notes);
    if rules.needs_fill_value() {
        define_fill_value(array, notes);
    }
    // A codec that may be ignored is assumed to change nothing.
    let known = |codec: &NamedConfig| codec.must_understand || codecs::kind(&codec.name).is_some();
    if !array.codecs.iter().all(known) {
        array.codecs.retain(known);
        notes.push(Note::loss("/codecs", "codecs that may be ignored, and that the dialect does not have"));
    }
    if rules.has_shards()
        && !rules.has_index_checksums()
        && let [shard] = array.codecs.as_mut_slice()
        && shard.name == "sharding_indexed"
    {
        plain_index(shard, "/codecs/0", notes);
    }
    Ok(())
}

/// Replaces dimension names by the attribute that xarray uses.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] for names that the attribute cannot express.
fn dimension_names(array: &mut ArrayMetadata, dialect: Dialect, notes: &mut Vec<Note>) -> Result<()> {
    let names = array.dimension_names.take();
    if conventions::hold_in(dialect) {
        conventions::refresh(array);
    }
    let Some(names) = names.filter(|names| array.dimension_names.as_ref() != Some(names)) else { return Ok(()) };
    // No names at all say nothing.
    if names.iter().all(Option::is_none) && !names.is_empty() {
        notes.push(Note::loss("/dimension_names", "they name no dimension"));
        return Ok(());
    }
    let no = |expected: String| {
        let found = Value::Array(names.iter().map(|name| name.as_deref().map_or(Value::Null, Value::from)).collect());
        Err(Error::new(ErrorKind::NotExpressible, "/dimension_names", found.excerpt(), expected))
    };
    let Some(texts) = names.iter().map(|name| name.as_deref().map(Value::from)).collect::<Option<Vec<Value>>>() else {
        return no(format!("names of all dimensions or of none, as in {dialect}"));
    };
    if array.attributes.contains_key(ARRAY_DIMENSIONS) {
        return no(format!("the names of the attribute {ARRAY_DIMENSIONS}, which {dialect} has them in"));
    }
    array.attributes.insert(ARRAY_DIMENSIONS, Value::Array(texts));
    conventions::refresh(array);
    notes.push(Note::change("/dimension_names", "become the attribute _ARRAY_DIMENSIONS"));
    Ok(())
}

/// Converts the chunk key encoding to the one of the dialect, with the same separator if the dialect allows a choice.
fn chunk_keys(array: &mut ArrayMetadata, dialect: Dialect, notes: &mut Vec<Note>) {
    let Some((name, separator)) = layout::innermost(&array.chunk_key_encoding) else { return };
    let rules = rules(dialect);
    let wanted = Some(separator.as_str()).filter(|_| rules.has_separators());
    let keys = rules.chunk_keys(array.shape.len(), wanted, &Documents::new());
    become_keys(&mut array.chunk_key_encoding, (&name, &separator), keys, notes);
}

/// Replaces chunk key encodings that only the drafts have by one of version 3.
pub(super) fn settled_keys(encoding: &mut NamedConfig, notes: &mut Vec<Note>) {
    match layout::innermost(encoding) {
        Some((name, separator)) if name == "joined" => {
            become_keys(encoding, (&name, &separator), layout::keys("default", &separator), notes);
        }
        _ => {}
    }
}

fn become_keys(encoding: &mut NamedConfig, was: (&str, &str), keys: NamedConfig, notes: &mut Vec<Note>) {
    let Some((name, separator)) = layout::innermost(&keys) else { return };
    // A separator that goes without saying is no difference.
    if was != (name.as_str(), separator.as_str()) || keys.name != encoding.name {
        let what = format!("{} becomes {} with the separator {separator}", encoding.name, keys.name);
        notes.push(Note::change("/chunk_key_encoding", what));
    }
    *encoding = keys;
}

/// Gives shards the index of the drafts' storage transformer: at the end, without a checksum.
fn plain_index(shard: &mut NamedConfig, pointer: &str, notes: &mut Vec<Note>) {
    let pointer = format!("{pointer}/configuration");
    let configuration = &mut shard.configuration;
    let plain = Value::Array(vec![codecs::bytes(Some("little")).to_value()]);
    let optional = configuration.remove("index_checksum_optional").is_some();
    if optional || configuration.get("index_codecs").is_none_or(|index| !index.semantically_eq(&plain)) {
        configuration.insert("index_codecs", plain);
        notes.push(Note::change(
            format!("{pointer}/index_codecs"),
            "the index of shards loses its codecs, as its checksum",
        ));
    }
    if configuration.get("index_location").is_some_and(|location| location.as_str() != Some("end")) {
        notes.push(Note::change(format!("{pointer}/index_location"), "the index of shards moves to their end"));
    }
    configuration.insert("index_location", "end");
    if let Some(Value::Array(inner)) = configuration.get_mut("codecs")
        && let [only] = inner.as_mut_slice()
        && let Some(mut nested) = NamedConfig::from_value(only).filter(|codec| codec.name == "sharding_indexed")
    {
        plain_index(&mut nested, &format!("{pointer}/codecs/0"), notes);
        *only = nested.to_value();
    }
}
