//! The metadata of a node in the target.

use super::hierarchy::Hierarchy;
use super::{ConvertOptions, Shards, images, new_image, place, rechunk, region};
use zarr_array::{Registry, element_spec, instead_of_fallback};
use zarr_codec::{ElementSpec, Limits};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::{Map, NamedConfig, ParseOptions, Value};
use zarr_meta::conventions::{self, Conventions};
use zarr_meta::readers::{self, Unread};
use zarr_meta::{ArrayMetadata, Dialect, ForDialect, Node, Note, StoredNode};
use zarr_ome::Version;

/// Metadata of a node in the target.
#[derive(Debug)]
pub(super) struct TargetNode {
    pub(super) node: Node,
    /// Differences that the dialect causes.
    pub(super) notes: Vec<Note>,
    /// Warning about values that other software understands differently; `None` if there are none.
    pub(super) warning: Option<String>,
    /// Data type and codecs of the node that no other software reads.
    pub(super) unread: Vec<Unread>,
    /// New version of the OME-Zarr metadata; `None` if it does not change.
    pub(super) ome: Option<Version>,
}

/// Converts the metadata of a node to `dialect`, as the options say.
pub(super) fn target(
    found: &StoredNode,
    dialect: Dialect,
    hierarchy: &Hierarchy,
    options: &ConvertOptions,
    registry: &Registry,
) -> Result<TargetNode> {
    if let Some(own) = options.of_array(&found.path) {
        return target(found, dialect, hierarchy, &own, registry);
    }
    // What is not known means nothing in another dialect.
    if let Some(error) = found.unknown.as_ref().filter(|_| found.dialect != dialect) {
        let hint = "such an array can only be copied as it is stored: `zarr cp` does that";
        return Err(Error::from(error.clone()).with_hint(hint));
    }
    let mut node = found.node.clone();
    let (image, mut image_notes) = (hierarchy.images.step(found, dialect, options), Vec::new());
    images::renew_windows(&mut node, found, options, &mut image_notes)?;
    let before = image.map(|step| step.before(&mut node, &mut image_notes)).transpose()?.unwrap_or_default();
    // Names by an image say nothing of xarray.
    let is_of_image = found.node.as_array().is_some_and(|array| image.is_some_and(|step| step.drops_names(array)));
    let is_followed = !is_of_image && hierarchy.is_followed(found, options);
    let meaning = is_followed && !options.literal;
    // Where the document stays, the data type that it names stays.
    let is_overridden = found.fallback.is_some() && found.dialect != dialect;
    let instead = options.options.fallback_type.clone().filter(|_| is_overridden);
    match &mut node {
        // It is rebuilt at the end.
        Node::Group(group) => group.consolidated = None,
        Node::Array(array) => {
            if let Some(data_type) = instead.clone() {
                take_instead(array, found.dialect, &data_type, registry)?;
            }
            count_date(array, found.dialect, registry)?;
            if let Some(region) = region::of(found, options)? {
                region::take(array, &region, found.dialect, registry)?;
            }
            rechunk::rechunk(array, dialect, options, registry)?;
            if !dialect.is_v2() && found.dialect.precedes_v3() {
                let mut separator = Map::new();
                separator.insert("separator", "/");
                array.chunk_key_encoding = NamedConfig::with("default", separator);
            }
            if found.dialect != dialect {
                name_codecs(&mut array.codecs, dialect, registry);
            }
            if let Some(image) = &options.image {
                new_image::take(array, image, dialect, &mut image_notes);
            }
            if let (Conventions::Assume(convention), false) = (options.conventions, found.dialect.is_v3()) {
                conventions::refresh_by(array, convention);
            }
        }
    }
    let region = region::of(found, options)?;
    place::take(&mut node, (found, region.as_ref(), &hierarchy.places), options, &mut image_notes)?;
    if let Some(given) = options.attributes.get(&found.path) {
        let attributes = match &mut node {
            Node::Array(array) => &mut array.attributes,
            Node::Group(group) => &mut group.attributes,
        };
        given.iter().for_each(|(name, value)| drop(attributes.insert(name, value.clone())));
    }
    let fallback = fallback_of(found, dialect);
    if let (Some(original), Node::Array(array), true) = (&fallback, &mut node, options.carry) {
        array.extra.insert("data_type", original.clone());
    }
    let is_sharded = node.as_array().is_some_and(rechunk::is_sharded);
    let fit = ForDialect::new(found.dialect, dialect)
        .carry(options.carry)
        .meaning(meaning)
        .keep_fill_value(hierarchy.keeps_fill)
        .all_stored(hierarchy.all_stored);
    let (mut node, notes) = match fit.convert(&node) {
        // The drafts have shards, but not of every kind: then inner chunks become chunks, as where there are none.
        Err(error) if is_sharded && options.shards.is_none() && error.pointer().starts_with("/codecs") => {
            let options = ConvertOptions { shards: Some(Shards::None), ..options.clone() };
            return target(found, dialect, hierarchy, &options, registry);
        }
        fitted => fitted?,
    };
    let after = image.map(|step| step.after(&mut node, &mut image_notes)).transpose()?.unwrap_or_default();
    let missing = match (&found.node, &node) {
        (Node::Array(from), Node::Array(to)) if is_followed => {
            conventions::missing_data_difference((from, found.dialect), (to, dialect))
        }
        _ => None,
    };
    let why = if hierarchy.keeps_fill { ", since there are chunks that are not stored" } else { "" };
    let missing = missing.map(|missing| format!("{missing}{why}"));
    let metadata = before.warning.or(after.warning).map(|warning| format!("/attributes: OME-Zarr metadata {warning}"));
    let warnings = [nan_literals(found, &node, dialect), names_twice(found, &node, dialect), missing, metadata];
    let warning = warnings.into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
    let taken = fallback.filter(|_| !options.carry).map(|original| {
        let stays = match &instead {
            Some(data_type) => format!("{} replaces it", data_type.short_value().excerpt()),
            None => "its fallback stays".to_owned(),
        };
        Note::loss("/data_type", &format!("{} is not known, and {stays}", original.excerpt()))
    });
    let notes = notes.into_iter().chain(taken).chain(image_notes).collect();
    let unread = unread(found, &node, dialect);
    match unread.first() {
        Some(first) if options.options.strict => Err(Error::new(
            ErrorKind::NotExpressible,
            format!("{}, refused since the conversion is strict", first.what),
        )
        .at(|location| location.pointer = Some(first.pointer.clone()))),
        _ => Ok(TargetNode { node, notes, warning, unread, ome: before.version.or(after.version) }),
    }
}

/// Returns the data type and codecs of the new array that no other software reads. Leaves out those that the array has in the same dialect
/// already.
fn unread(found: &StoredNode, node: &Node, dialect: Dialect) -> Vec<Unread> {
    let Some(array) = node.as_array() else { return Vec::new() };
    let mut unread = readers::unread(array, dialect);
    if let Some(before) = found.node.as_array().filter(|_| found.dialect == dialect) {
        let before = readers::unread(before, found.dialect);
        unread.retain(|unread| !before.iter().any(|before| before.name == unread.name));
    }
    unread
}

/// Removes from the codec configurations of an array all members that the codecs do not know, or that have a wrong type; they may not be
/// written to a new document. Returns a note for each. The encoding of chunks does not change.
pub(super) fn with_known_members(
    mut found: StoredNode,
    registry: &Registry,
    limits: &Limits,
) -> (StoredNode, Vec<Note>) {
    let Node::Array(array) = &mut found.node else { return (found, Vec::new()) };
    let element = element_spec(array, found.dialect, &registry.data_types);
    // Of codecs or types that are not known here nothing is known to be wrong.
    let corrected = element.ok().and_then(|element| registry.codecs.corrected(&array.codecs, &element, limits).ok());
    let Some((codecs, different)) = corrected else { return (found, Vec::new()) };
    array.codecs = codecs;
    let note = |warning: zarr_codec::CodecWarning| {
        let mut note =
            Note::change(format!("/codecs{}", warning.pointer), format!("{}, and not written", warning.what));
        note.is_loss = true;
        note
    };
    (found, different.into_iter().map(note).collect())
}

/// Replaces codec names by the URIs that the codecs have in the drafts, or the URIs by names in other dialects.
fn name_codecs(codecs: &mut [NamedConfig], dialect: Dialect, registry: &Registry) {
    let is_draft = !dialect.is_v3() && !dialect.precedes_v3();
    for codec in codecs {
        if let Some(entry) = registry.codecs.get(&codec.name) {
            codec.name = entry.written(&codec.name, is_draft).to_owned();
        }
        let Some(Value::Array(inner)) = codec.configuration.get_mut("codecs") else { continue };
        let Some(mut chain) = inner.iter().map(NamedConfig::from_value).collect::<Option<Vec<_>>>() else { continue };
        let before = chain.clone();
        name_codecs(&mut chain, dialect, registry);
        for ((value, before), after) in inner.iter_mut().zip(before).zip(chain) {
            if before != after {
                *value = after.to_value();
            }
        }
    }
}

/// Replaces a fill value that is a date string by its number. Only version 2 allows date strings.
fn count_date(array: &mut ArrayMetadata, dialect: Dialect, registry: &Registry) -> Result<()> {
    let is_text = array.fill_value.as_ref().is_some_and(|value| value.as_str().is_some());
    if is_text && array.data_type.name == "numpy.datetime64" {
        let ElementSpec { data_type, fill, .. } = element_spec(array, dialect, &registry.data_types)?;
        array.fill_value = Some(fill.to_json(&data_type));
    }
    Ok(())
}

/// Replaces the fallback data type of an array by another data type of the same size.
fn take_instead(array: &mut ArrayMetadata, from: Dialect, data_type: &NamedConfig, registry: &Registry) -> Result<()> {
    let fallback = element_spec(array, from, &registry.data_types)?;
    let (element, codecs) = instead_of_fallback(array, &fallback, data_type, &registry.data_types)?;
    array.fill_value = array.fill_value.as_ref().map(|_| element.fill.to_json(&element.data_type));
    array.data_type = element.data_type.to_config();
    array.codecs = codecs;
    Ok(())
}

/// Returns the data type in the document of an array that is read as its fallback data type; `None` if there is no fallback, or the dialect
/// does not change.
fn fallback_of(found: &StoredNode, dialect: Dialect) -> Option<Value> {
    found.fallback.as_ref().filter(|_| found.dialect != dialect)?;
    let document = found.documents.get(found.document_key()?)?;
    let parsed = zarr_json::parse(document, ParseOptions::ALL).ok()?;
    parsed.value.get("data_type").cloned()
}

/// Returns a note on numbers in attributes that JSON cannot express (NaN and infinities): other software reads the strings in their place
/// as strings, and may refuse documents of version 3 in which the numbers stay.
fn nan_literals(found: &StoredNode, node: &Node, dialect: Dialect) -> Option<String> {
    let [before, after] = [&found.node, node].map(|node| node.attributes().count_nan_literals());
    if before > after {
        return Some(format!("/attributes: NaN or infinities, {} in all, become strings", before - after));
    }
    (after > 0 && dialect.is_v3() && !found.dialect.is_v3()).then(|| {
        format!(
            "/attributes: NaN or infinities, {after} in all, stay numbers, as zarr-python writes them; they are no JSON, and \
             other software may refuse the document"
        )
    })
}

/// Returns a warning if several dimensions have the same name: a reader of documents with dimension names may refuse it, although readers
/// of names in attributes need not.
fn names_twice(found: &StoredNode, node: &Node, dialect: Dialect) -> Option<String> {
    if found.dialect.has_dimension_names() || !dialect.has_dimension_names() {
        return None;
    }
    let names = node.as_array()?.dimension_names.as_deref()?;
    let is_twice =
        |(index, name): &(usize, &Option<String>)| name.is_some() && names.iter().skip(index + 1).any(|it| it == *name);
    let name = names.iter().enumerate().find(is_twice)?.1.as_deref()?;
    Some(format!(
        "/dimension_names: two dimensions have the name {name:?}; TensorStore 0.1.86 does not open such an array of version 3"
    ))
}

/// Returns whether chunks that are missing in `from` may be missing in `to`: all readers read them alike, or they were undefined before.
/// `same_fill` says whether the fill values are equal.
pub(super) fn missing_stay(from: &StoredNode, to: &StoredNode, same_fill: bool) -> bool {
    let undefined = from.node.as_array().is_some_and(|array| array.fill_value.is_none());
    // Other software reads the missing chunks of both in the same way.
    let alike = to.may_omit_empty_chunks || (!from.may_omit_empty_chunks && from.dialect == to.dialect);
    undefined || (same_fill && alike)
}

/// Returns whether chunks that are missing in `from` may be missing in `to`, a node in the target; also compares the fill values.
pub(super) fn missing_may_stay(from: &StoredNode, to: &StoredNode) -> bool {
    match (from.node.as_array(), to.node.as_array()) {
        (Some(source), Some(target)) => fills_alike(source, target) && missing_stay(from, to, true),
        _ => true,
    }
}

/// Returns whether stored and missing chunks of `from` and `to` have the same encoding and meaning.
pub(super) fn encodes_alike(from: &ArrayMetadata, to: &ArrayMetadata) -> bool {
    fills_alike(from, to) && same_form(from, to)
}

/// Returns whether the fill values allow missing chunks of `from` to be missing in `to`.
pub(super) fn fills_alike(from: &ArrayMetadata, to: &ArrayMetadata) -> bool {
    match (&from.fill_value, &to.fill_value) {
        (Some(from), Some(to)) => from.semantically_eq(to),
        // An undefined value may become any value.
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Returns whether the chunks of `from` and `to` have the same encoding, without regard to the fill value.
pub(super) fn same_form(from: &ArrayMetadata, to: &ArrayMetadata) -> bool {
    let list = |codecs: &[NamedConfig]| Value::Array(codecs.iter().map(explicit).collect());
    from.shape == to.shape
        && from.data_type.to_value().semantically_eq(&to.data_type.to_value())
        && from.chunk_grid.to_value().semantically_eq(&to.chunk_grid.to_value())
        && list(&from.codecs).semantically_eq(&list(&to.codecs))
}

/// Returns the codec with an explicit byte order, for comparison: dialects differ in whether they state it, and in the byte orders that
/// filters name.
fn explicit(codec: &NamedConfig) -> Value {
    let mut codec = zarr_meta::without_filter_orders(codec);
    if codec.name == "bytes" && !codec.configuration.contains_key("endian") {
        codec.configuration.insert("endian", "little");
    }
    codec.to_value()
}
