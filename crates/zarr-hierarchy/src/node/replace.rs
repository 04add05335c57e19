//! Replacing the metadata of a node.

use super::ancestors::Ancestors;
use super::claim::Claim;
use super::newest::Newest;
use super::revise::{Edit, Revise};
use crate::{Error, ErrorKind, Result, jobs};
use zarr_json::Value;
use zarr_meta::conventions::{ARRAY_DIMENSIONS, dimension_names};
use zarr_meta::{ArrayMetadata, Node, StoredNode};
use zarr_store::{Capabilities, Job, Next, Reply};

/// Replaces the metadata of a node, after the copies of it in consolidated metadata are dropped.
#[derive(Debug)]
pub struct ReplaceNode {
    revise: Option<Box<Revise>>,
    ancestors: Option<Box<Ancestors>>,
}

impl ReplaceNode {
    /// Changes the node that was `found`, in a store that is such.
    #[must_use]
    pub fn new(found: &StoredNode, edit: Edit, capabilities: Capabilities) -> Self {
        let ancestors = Ancestors::new(found, capabilities).with_own_copy(found);
        Self { revise: Some(Box::new(Revise::new(found, edit, capabilities))), ancestors: Some(Box::new(ancestors)) }
    }

    /// As [`new`](Self::new), of a node whose documents were just read.
    #[must_use]
    pub fn of_newest(newest: Newest, edit: Edit, capabilities: Capabilities) -> Self {
        let ancestors = Ancestors::new(&newest.found, capabilities).with_own_copy(&newest.found);
        let revise = Revise::of_newest(newest, edit, capabilities);
        Self { revise: Some(Box::new(revise)), ancestors: Some(Box::new(ancestors)) }
    }

    /// As [`new`](Self::new), if a claim still holds: else the job ends with [`ErrorKind::Conflict`](crate::ErrorKind::Conflict).
    #[must_use]
    pub fn claimed(found: &StoredNode, edit: Edit, claim: Claim, capabilities: Capabilities) -> Self {
        let ancestors = Ancestors::new(found, capabilities).with_own_copy(found);
        let revise = Revise::claimed(found, edit, claim, capabilities);
        Self { revise: Some(Box::new(revise)), ancestors: Some(Box::new(ancestors)) }
    }

    fn revise(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match self.revise.take() {
            Some(revise) => {
                let wait = |job: &mut Self, revise| job.revise = Some(revise);
                jobs::within(self, revise, replies, wait, |_, found| Ok(Next::Done(found)))
            }
            None => Err(jobs::went_on()),
        }
    }
}

impl Job for ReplaceNode {
    type Output = StoredNode;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match self.ancestors.take() {
            Some(ancestors) => {
                let wait = |job: &mut Self, ancestors| job.ancestors = Some(ancestors);
                jobs::within(self, ancestors, replies, wait, |job, _| job.revise(&[]))
            }
            None => self.revise(replies),
        }
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
