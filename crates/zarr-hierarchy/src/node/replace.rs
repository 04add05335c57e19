//! Replacing the metadata of a node.

use super::ancestors::Ancestors;
use super::claim::Claim;
use super::copies::{RenewCopies, made_without_copies};
use super::newest::Newest;
use super::revise::{Edit, revise_known};
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result};
use zarr_drive::Io;
use zarr_json::Value;
use zarr_meta::conventions::{ARRAY_DIMENSIONS, dimension_names};
use zarr_meta::{ArrayMetadata, Node, StoredNode};
use zarr_store::Capabilities;

/// Replaces the metadata of a node. Copies of it in consolidated metadata are exchanged afterwards, if who reads the node by the metadata from
/// before goes on to read what was there; else they are dropped before.
#[derive(Debug)]
pub struct ReplaceNode {
    found: StoredNode,
    edit: Edit,
    /// The documents, where they were just read.
    known: Option<Newest>,
    /// A claim that must hold all the time.
    claim: Option<Claim>,
    capabilities: Capabilities,
    copies: CopiesOfNode,
}

/// The fate of the copies of a node that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopiesOfNode {
    Dropped,
    Renewed,
    Left,
}

impl ReplaceNode {
    /// Changes the node that was `found`, in a store that is such.
    #[must_use]
    pub fn new(found: &StoredNode, edit: Edit, capabilities: Capabilities) -> Self {
        let copies = if edit.keeps_copies(found, capabilities) { CopiesOfNode::Renewed } else { CopiesOfNode::Dropped };
        Self { found: found.clone(), edit, known: None, claim: None, capabilities, copies }
    }

    /// As [`new`](Self::new), of a node whose documents were just read.
    #[must_use]
    pub fn of_newest(newest: Newest, edit: Edit, capabilities: Capabilities) -> Self {
        let new = Self::new(&newest.found, edit, capabilities);
        Self { known: Some(newest), ..new }
    }

    /// As [`new`](Self::new), if a claim still holds: else it ends with [`ErrorKind::Conflict`](crate::ErrorKind::Conflict).
    #[must_use]
    pub fn claimed(found: &StoredNode, edit: Edit, claim: Claim, capabilities: Capabilities) -> Self {
        Self { claim: Some(claim), ..Self::new(found, edit, capabilities) }
    }

    /// Leaves copies as they are, for the caller to [renew](RenewCopies) them.
    #[must_use]
    pub fn leaving_copies(self) -> Self {
        Self { copies: CopiesOfNode::Left, ..self }
    }
}

impl Operation for ReplaceNode {
    type Output = StoredNode;

    async fn run(self, io: &Io) -> Result<StoredNode> {
        let Self { found, edit, known, claim, capabilities, copies } = self;
        if copies == CopiesOfNode::Dropped {
            Ancestors::new(&found, capabilities).with_own_copy(&found).run(io).await?;
        }
        let revised = revise_known(io, &found, &edit, known, claim.as_ref(), capabilities).await?;
        if copies == CopiesOfNode::Renewed {
            RenewCopies::new(vec![revised.clone()], capabilities).run(io).await.map_err(made_without_copies)?;
        }
        Ok(revised)
    }
}

/// Replaces the attributes of a node by `attributes`: other members that writers changed since the node was read stay.
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

/// The array, if its dimensions can have these names.
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

/// Names the dimensions of an array: other members that writers changed since the node was read stay.
///
/// # Errors
/// As [`check_dimension_names`].
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
