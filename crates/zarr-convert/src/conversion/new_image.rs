//! An array that becomes a level of an OME-Zarr image: its path, its axes, and the metadata of the group above.

#[cfg(test)]
mod tests;

use super::run::in_store;
use super::{Conversion, ConvertOptions};
use std::sync::Arc;
use zarr_array::Group;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::{Map, NamedConfig};
use zarr_meta::{ArrayMetadata, Dialect, NodePath, Note, StoredNode};
use zarr_ome::{Metadata, NewImage, Version};
use zarr_store::Store;

/// Returns the options with the path and the dialect of a new image, and checks that the version goes with the dialect.
pub(super) fn prepared(mut options: ConvertOptions) -> Result<ConvertOptions> {
    let of_dialect = |dialect: Dialect| if dialect.is_v2() { Version::V04 } else { Version::V05 };
    if let Some(image) = &options.image {
        let path = image.paths().next().ok_or_else(|| Error::argument("found an image without levels"))?;
        options.to = Some(options.to.unwrap_or_else(NodePath::root).join(path)?);
        let version = options.dialect.map_or(Version::V05, of_dialect);
        options.ome_version = options.ome_version.or(Some(version));
    }
    if let Some(version) = options.ome_version {
        let natural = if version == Version::V04 { Dialect::V2 } else { Dialect::V3 };
        let dialect = *options.dialect.get_or_insert(natural);
        if (version == Version::V04) != dialect.is_v2() || !(dialect.is_v2() || dialect.is_v3()) {
            let message = format!("OME-Zarr {version} in dialect {dialect}, expected dialect {natural}");
            return Err(Error::argument(message));
        }
    }
    Ok(options)
}

/// Checks that the source is an array that the image fits; or, if a version of OME-Zarr is chosen for images that are there, that there is one.
pub(super) fn check(found: &[StoredNode], options: &ConvertOptions) -> Result<()> {
    let Some(image) = &options.image else { return check_version(found, options) };
    let [node] = found else {
        let path = options.node.clone().unwrap_or_else(NodePath::root);
        let error = Error::argument("found a group, expected an array that becomes a level of an image").at_path(&path);
        return Err(error.with_hint("choose an array of the group by its path"));
    };
    let at = |error: Error| error.at_path(&node.path);
    let Some(array) = node.node.as_array() else {
        return Err(at(Error::argument("found a group, expected an array that becomes a level of an image")));
    };
    let names: Vec<&str> = image.axes().iter().map(|axis| axis.name.as_str()).collect();
    if names.len() != array.shape.len() {
        let message = format!(
            "found {} dimensions, expected {} as the axes {}",
            array.shape.len(),
            names.len(),
            names.join(", ")
        );
        return Err(at(Error::argument(message)));
    }
    let is_channel = |name: &&str| *name == "c";
    let shape = options.regions.get(&node.path).map_or_else(|| array.shape.clone(), |region| region.shape().to_vec());
    let channels = names.iter().position(is_channel).and_then(|axis| shape.get(axis)).copied();
    match (channels.unwrap_or(1), image.channel_count() as u64) {
        (_, 0) => Ok(()),
        (length, count) if length == count => Ok(()),
        (length, count) => {
            Err(at(Error::argument(format!("found {count} channels, expected {length} as the array has"))))
        }
    }
}

/// Checks that a group has metadata of OME-Zarr if the caller has chosen its version.
fn check_version(found: &[StoredNode], options: &ConvertOptions) -> Result<()> {
    let is_image = |node: &StoredNode| {
        node.node.as_group().is_some_and(|group| Metadata::find(&group.attributes, node.path.name()).is_some())
    };
    match options.ome_version.filter(|_| !found.iter().any(is_image)) {
        None => Ok(()),
        Some(version) => {
            let path = options.node.clone().unwrap_or_else(NodePath::root);
            let message = format!("found no group with metadata of OME-Zarr, expected one to convert to {version}");
            Err(Error::argument(message).at_path(&path))
        }
    }
}

/// Gives the array the names of the axes of its image, and chunk keys with slashes in Zarr v2.
pub(super) fn take(array: &mut ArrayMetadata, image: &NewImage, dialect: Dialect, notes: &mut Vec<Note>) {
    if dialect.is_v2() {
        let mut separator = Map::new();
        separator.insert("separator", "/");
        array.chunk_key_encoding = NamedConfig::with("v2", separator);
        return;
    }
    let names = Some(image.axes().iter().map(|axis| Some(axis.name.clone())).collect());
    if array.dimension_names != names {
        array.dimension_names = names;
        notes.push(Note::change("/dimension_names", "become those of the axes of the image"));
    }
}

impl Conversion {
    /// Returns the new image, its version, and the path of its group; `None` if there is no new image.
    fn new_image(&self) -> Option<(&NewImage, Version, NodePath)> {
        let (image, version) = (self.options.image.as_ref()?, self.options.ome_version?);
        let (_, mut path) = self.paths();
        for _ in image.paths().next().unwrap_or_default().split('/') {
            path = path.parent().unwrap_or_else(NodePath::root);
        }
        Some((image, version, path))
    }

    /// Checks that the group of the new image has no metadata that would be lost.
    pub(super) fn check_image(&self, target: &Arc<dyn Store>) -> Result<()> {
        let Some((image, version, path)) = self.new_image() else { return Ok(()) };
        let group = match Group::open(target, &path.to_string(), &self.registry) {
            Ok(group) => group,
            // Where it is no group, the conversion says so.
            Err(error) if error.kind() != ErrorKind::Store => return Ok(()),
            Err(error) => return Err(error),
        };
        let written = image.written_into(group.attributes()?, path.name(), version);
        written.map(drop).map_err(|error| {
            let hint = "erase the image first, or name another target";
            let error = if error.kind() == ErrorKind::Exists { error.with_hint(hint) } else { error };
            in_store(target, error.at_path(&path))
        })
    }

    /// Writes the metadata of the new image into its group.
    pub(super) fn describe_image(&self, target: &Arc<dyn Store>) -> Result<()> {
        let Some((image, version, path)) = self.new_image() else { return Ok(()) };
        let mut group = Group::open(target, &path.to_string(), &self.registry)?;
        let attributes = image.written_into(group.attributes()?, path.name(), version);
        group.set_attributes(attributes.map_err(|error| error.at_path(&path))?)
    }
}
