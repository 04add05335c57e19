//! Replacing of the metadata of a node.

use super::ancestors::Ancestors;
use super::claim::Claim;
use super::newest::Newest;
use super::renew_consolidated::{RenewConsolidated, made_without_consolidated};
use super::revise::{Edit, revise_known};
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result};
use zarr_drive::Io;
use zarr_json::Value;
use zarr_meta::conventions::{ARRAY_DIMENSIONS, dimension_names};
use zarr_meta::{ArrayMetadata, Node, StoredNode};
use zarr_store::Capabilities;

/// Replaces the metadata of a node. Entries of the node in consolidated metadata are updated afterwards if readers with the old metadata
/// still read the values that were there. Otherwise the consolidated metadata is dropped first.
#[derive(Debug)]
pub struct ReplaceNode {
    found: StoredNode,
    edit: Edit,
    /// Documents of the node, if they were just read.
    known: Option<Newest>,
    /// Claim that must be valid during the change.
    claim: Option<Claim>,
    capabilities: Capabilities,
    copies: ConsolidatedEntries,
}

/// Handling of the entries of a replaced node in consolidated metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConsolidatedEntries {
    Dropped,
    Renewed,
    Left,
}

impl ReplaceNode {
    /// Replaces the metadata of the node `found` as `edit` says, in a store with these capabilities.
    #[must_use]
    pub fn new(found: &StoredNode, edit: Edit, capabilities: Capabilities) -> Self {
        let copies = if edit.keeps_consolidated(found, capabilities) {
            ConsolidatedEntries::Renewed
        } else {
            ConsolidatedEntries::Dropped
        };
        Self { found: found.clone(), edit, known: None, claim: None, capabilities, copies }
    }

    /// Replaces the metadata of a node whose documents were just read.
    #[must_use]
    pub fn of_newest(newest: Newest, edit: Edit, capabilities: Capabilities) -> Self {
        let new = Self::new(&newest.found, edit, capabilities);
        Self { known: Some(newest), ..new }
    }

    /// Replaces the metadata of the node `found` while `claim` is valid. A void claim is an
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict).
    #[must_use]
    pub fn claimed(found: &StoredNode, edit: Edit, claim: Claim, capabilities: Capabilities) -> Self {
        Self { claim: Some(claim), ..Self::new(found, edit, capabilities) }
    }

    /// Leaves consolidated metadata unchanged; the caller [updates](RenewConsolidated) it.
    #[must_use]
    pub fn leaving_consolidated(self) -> Self {
        Self { copies: ConsolidatedEntries::Left, ..self }
    }
}

impl Operation for ReplaceNode {
    type Output = StoredNode;

    async fn run(self, io: &Io) -> Result<StoredNode> {
        let Self { found, edit, known, claim, capabilities, copies } = self;
        if copies == ConsolidatedEntries::Dropped {
            Ancestors::new(&found, capabilities).with_own_copy(&found).run(io).await?;
        }
        let revised = revise_known(io, &found, &edit, known, claim.as_ref(), capabilities).await?;
        if copies == ConsolidatedEntries::Renewed {
            RenewConsolidated::new(vec![revised.clone()], capabilities)
                .run(io)
                .await
                .map_err(made_without_consolidated)?;
        }
        Ok(revised)
    }
}

/// Prepares the replacement of the attributes of a node by `attributes`. Other members that writers changed since the node was read stay.
///
/// # Errors
/// The kinds of faults of the stored attributes.
pub(crate) fn set_attributes(
    found: &StoredNode,
    attributes: zarr_json::Map,
    capabilities: Capabilities,
) -> Result<ReplaceNode> {
    super::attributes(found)?;
    Ok(ReplaceNode::new(found, Edit::to(found, found.with_attributes(attributes)), capabilities))
}

/// Returns the array metadata of `found` if its dimension names can be set to `names`.
pub(crate) fn check_dimension_names<'f>(found: &'f StoredNode, names: &[&str]) -> Result<&'f ArrayMetadata> {
    let Node::Array(array) = &found.node else {
        return Err(Error::new(ErrorKind::Argument, "found a group, expected an array"));
    };
    let (count, rank) = (names.len(), array.shape.len());
    if count != rank {
        let message = format!("found {count} names of dimensions, expected {rank}");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    // References stay, since they lead to groups that define the dimensions: other names beside them would contradict them.
    let mut attributes = array.attributes.clone();
    attributes.remove(ARRAY_DIMENSIONS);
    match dimension_names(&attributes, &array.extra, rank) {
        Some((referenced, _)) if referenced != names => {
            let message = format!("NCZarr names the dimensions by references to its groups: {}", referenced.join(", "));
            let hint = "netCDF-C renames them; zarr convert writes an array without references";
            Err(Error::new(ErrorKind::Argument, message).with_hint(hint))
        }
        _ => Ok(array),
    }
}

/// Prepares setting the dimension names of an array. Other members that writers changed since the node was read stay.
///
/// # Errors
/// The errors of [`check_dimension_names`].
pub(crate) fn set_dimension_names(
    found: &StoredNode,
    names: &[&str],
    capabilities: Capabilities,
) -> Result<ReplaceNode> {
    let mut array = check_dimension_names(found, names)?.clone();
    if !found.dialect.is_v3() {
        let mut attributes = super::attributes(found)?.clone();
        attributes.insert(ARRAY_DIMENSIONS, names.iter().map(|&name| Value::from(name)).collect::<Vec<_>>());
        return set_attributes(found, attributes, capabilities);
    }
    array.dimension_names = Some(names.iter().map(|&name| Some(name.to_owned())).collect());
    Ok(ReplaceNode::new(found, Edit::to(found, Node::Array(array)), capabilities))
}
