//! The OME-Zarr convention: metadata of the version that belongs to the Zarr format, and dimension names taken from the axes of images.

#[cfg(test)]
mod tests;

use super::ConvertOptions;
use std::collections::HashMap;
use std::sync::Arc;
use zarr_hierarchy::{Error, Result};
use zarr_meta::conventions::{Conventions, FILL_VALUE};
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath, Note, StoredNode};
use zarr_ome::document::Written;
use zarr_ome::{Multiscales, Version};

/// Axis names of each array that is a level of an OME-Zarr image, by the path of the array.
#[derive(Clone, Debug, Default)]
pub(super) struct Images(Arc<HashMap<NodePath, Vec<String>>>);

impl Images {
    pub(super) fn of(nodes: &[StoredNode]) -> Self {
        let mut axes = HashMap::new();
        for group in nodes.iter().filter(|node| node.node.as_group().is_some()) {
            // Faulty metadata names nothing.
            let Ok(Some(read)) = Multiscales::read(group.node.attributes()) else { continue };
            for (path, names) in read.level_names() {
                axes.extend(group.path.join(path).ok().map(|path| (path, names.map(str::to_owned).collect())));
            }
        }
        Self(Arc::new(axes))
    }

    /// Returns whether the array at `path` is a level of an image.
    pub(super) fn has_level(&self, path: &NodePath) -> bool {
        self.0.contains_key(path)
    }

    /// Returns the axis names of the level at `path`; `None` if it is no level, or if the number of names is not `rank`.
    fn names(&self, path: &NodePath, rank: usize) -> Option<&[String]> {
        self.0.get(path).map(Vec::as_slice).filter(|names| names.len() == rank)
    }

    /// Returns whether the dimension names of an array are exactly the axis names of its image, the format stores names for every reader,
    /// and nothing marks the array as an xarray variable.
    pub(super) fn name_alone(&self, found: &StoredNode, array: &ArrayMetadata) -> bool {
        let own = array.dimension_names.iter().flatten().map(Option::as_deref);
        found.dialect.is_v3()
            && !array.attributes.contains_key(FILL_VALUE)
            && self
                .names(&found.path, array.shape.len())
                .is_some_and(|names| own.eq(names.iter().map(|name| Some(name.as_str()))))
    }

    /// Returns the OME-Zarr step for a node; `None` unless the caller has chosen a version, or the conversion is
    /// between v2 and v3 and respects conventions.
    pub(super) fn step<'a>(
        &'a self,
        found: &'a StoredNode,
        dialect: Dialect,
        options: &ConvertOptions,
    ) -> Option<OmeConversion<'a>> {
        let to_v3 = found.dialect.is_v2() && dialect.is_v3();
        let is_between = to_v3 || (found.dialect.is_v3() && dialect.is_v2());
        let is_followed = !options.literal && options.conventions != Conventions::Ignore;
        let keeps_names = options.conventions != Conventions::Detect;
        let of_format = if to_v3 { Version::V05 } else { Version::V04 };
        let version = options.ome_version.or((is_between && is_followed).then_some(of_format))?;
        let is_chosen = options.ome_version.is_some();
        Some(OmeConversion {
            images: self,
            found,
            is_between,
            to_v3,
            keeps_names,
            version,
            is_chosen,
            loses: options.ome_losses,
        })
    }
}

/// Gives the image in a group the windows of channels that the options have for it.
pub(super) fn renew_windows(
    node: &mut Node,
    found: &StoredNode,
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let (Node::Group(group), Some(windows)) = (node, options.channel_windows.get(&found.path)) else { return Ok(()) };
    match zarr_ome::document::with_windows(&group.attributes, windows)? {
        Some(attributes) => group.attributes = attributes,
        None => return Err(Error::argument("found no OME-Zarr image, expected one whose channels get windows")),
    }
    notes.push(Note::change("/attributes", "channels of the image get other windows"));
    Ok(())
}

/// OME-Zarr step of a conversion of one node: between Zarr v2 and v3, or to another version in the same format.
///
/// Metadata of groups is changed while the node is in v3 form: before the node is fitted into v3, or after it was fitted into v2. So
/// JSON pointers into attributes always refer to v3.
#[derive(Clone, Copy, Debug)]
pub(super) struct OmeConversion<'a> {
    images: &'a Images,
    found: &'a StoredNode,
    /// Whether the format changes.
    is_between: bool,
    /// Whether it changes from v2 to v3.
    to_v3: bool,
    /// Version to write.
    version: Version,
    /// Whether the caller has chosen the version, so that metadata in another one is an error.
    is_chosen: bool,
    /// Whether parts that the version cannot hold are left out.
    loses: bool,
    /// Whether dimension names are kept in v2, since the caller has chosen a convention.
    keeps_names: bool,
}

/// Result of the OME-Zarr step for a group.
#[derive(Debug, Default)]
pub(super) struct OmeChange {
    /// New version of the OME-Zarr metadata; `None` if it does not change.
    pub(super) version: Option<Version>,
    /// Reason why metadata of a version that does not belong to the format stays unchanged.
    pub(super) warning: Option<String>,
}

impl OmeConversion<'_> {
    /// Returns whether the dimension names of an array are dropped, since they are the axis names of its image.
    pub(super) fn drops_names(self, array: &ArrayMetadata) -> bool {
        self.is_between && !self.to_v3 && !self.keeps_names && self.images.name_alone(self.found, array)
    }

    /// Applies the step before the node is fitted into the dialect.
    pub(super) fn before(self, node: &mut Node, notes: &mut Vec<Note>) -> Result<OmeChange> {
        match node {
            Node::Group(_) if self.to_v3 => self.metadata(node, notes),
            Node::Array(array) if self.drops_names(array) => {
                array.dimension_names = None;
                notes.push(Note::change("/dimension_names", "are those of the axes of the image"));
                Ok(OmeChange::default())
            }
            _ => Ok(OmeChange::default()),
        }
    }

    /// Applies the step after the node was fitted into the dialect.
    pub(super) fn after(self, node: &mut Node, notes: &mut Vec<Note>) -> Result<OmeChange> {
        match node {
            Node::Group(_) if !self.to_v3 => self.metadata(node, notes),
            Node::Array(array) if self.to_v3 && array.dimension_names.is_none() => {
                if let Some(names) = self.images.names(&self.found.path, array.shape.len()) {
                    array.dimension_names = Some(names.iter().cloned().map(Some).collect());
                    notes.push(Note::change("/dimension_names", "become those of the axes of the image"));
                }
                Ok(OmeChange::default())
            }
            _ => Ok(OmeChange::default()),
        }
    }

    /// Converts OME-Zarr metadata of a group to the other version.
    fn metadata(self, node: &mut Node, notes: &mut Vec<Note>) -> Result<OmeChange> {
        let (name, attributes) = (self.found.path.name(), node.attributes_mut());
        let converted = match self.loses {
            true => zarr_ome::to_version_without(attributes, name, self.version).map(|written| {
                written.map(|Written { attributes, left_out, .. }| {
                    let lost =
                        |part: &zarr_ome::ValueError| Note::loss(part.pointer(), "cannot be held by the version");
                    notes.extend(left_out.iter().map(lost));
                    attributes
                })
            }),
            false => zarr_ome::to_version(attributes, name, self.version),
        };
        match converted {
            Ok(None) => Ok(OmeChange::default()),
            Ok(Some(converted)) => {
                *attributes = converted;
                notes.push(Note::change("/attributes", format!("OME-Zarr metadata becomes that of {}", self.version)));
                Ok(OmeChange { version: Some(self.version), warning: None })
            }
            Err(error) if self.is_chosen => Err(error),
            Err(error) => {
                let format = if self.to_v3 { "v3" } else { "v2" };
                let warning = format!("stays as it is, and goes with no version of Zarr {format}: {}", error.message());
                Ok(OmeChange { version: None, warning: Some(warning) })
            }
        }
    }
}
