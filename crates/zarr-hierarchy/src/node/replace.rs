//! Replacing the metadata of a node.

use super::ancestors::Ancestors;
use super::claim::Claim;
use super::copies::{RenewCopies, made_without_copies};
use super::newest::Newest;
use super::revise::{Edit, Revise};
use crate::{Error, ErrorKind, Result, jobs};
use zarr_json::Value;
use zarr_meta::conventions::{ARRAY_DIMENSIONS, dimension_names};
use zarr_meta::{ArrayMetadata, Node, StoredNode};
use zarr_store::{Capabilities, Job, Next, Reply};

/// Replaces the metadata of a node. Copies of it in consolidated metadata are exchanged afterwards, if who reads the node by the metadata from
/// before goes on to read what was there; else they are dropped before.
///
/// Drop, or nothing ──► Revise ──► Renew, or nothing ──► done
#[derive(Debug)]
pub struct ReplaceNode {
    capabilities: Capabilities,
    copies: CopiesOfNode,
    revise: Option<Box<Revise>>,
    state: State,
}

/// The fate of the copies of a node that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopiesOfNode {
    Dropped,
    Renewed,
    Left,
}

#[derive(Debug)]
enum State {
    Begin(Box<StoredNode>),
    Drop(Box<Ancestors>),
    Revise,
    Renew(Box<RenewCopies>, Box<StoredNode>),
    Done,
}

impl ReplaceNode {
    /// Changes the node that was `found`, in a store that is such.
    #[must_use]
    pub fn new(found: &StoredNode, edit: Edit, capabilities: Capabilities) -> Self {
        Self::of(found, &edit.clone(), capabilities, Revise::new(found, edit, capabilities))
    }

    /// As [`new`](Self::new), of a node whose documents were just read.
    #[must_use]
    pub fn of_newest(newest: Newest, edit: Edit, capabilities: Capabilities) -> Self {
        let found = newest.found.clone();
        Self::of(&found, &edit.clone(), capabilities, Revise::of_newest(newest, edit, capabilities))
    }

    /// As [`new`](Self::new), if a claim still holds: else the job ends with [`ErrorKind::Conflict`](crate::ErrorKind::Conflict).
    #[must_use]
    pub fn claimed(found: &StoredNode, edit: Edit, claim: Claim, capabilities: Capabilities) -> Self {
        Self::of(found, &edit.clone(), capabilities, Revise::claimed(found, edit, claim, capabilities))
    }

    fn of(found: &StoredNode, edit: &Edit, capabilities: Capabilities, revise: Revise) -> Self {
        let copies = if edit.keeps_copies(found, capabilities) { CopiesOfNode::Renewed } else { CopiesOfNode::Dropped };
        Self { capabilities, copies, revise: Some(Box::new(revise)), state: State::Begin(Box::new(found.clone())) }
    }

    /// Leaves copies as they are, for the caller to [renew](RenewCopies) them.
    #[must_use]
    pub fn leaving_copies(self) -> Self {
        Self { copies: CopiesOfNode::Left, ..self }
    }

    fn drop(&mut self, ancestors: Box<Ancestors>, replies: &[Reply]) -> Result<Next<Self>> {
        let wait = |job: &mut Self, ancestors| job.state = State::Drop(ancestors);
        jobs::within(self, ancestors, replies, wait, |job, _| job.revise(&[]))
    }

    fn revise(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let revise = self.revise.take().ok_or_else(jobs::went_on)?;
        let wait = |job: &mut Self, revise| (job.revise, job.state) = (Some(revise), State::Revise);
        jobs::within(self, revise, replies, wait, |job, found| match job.copies {
            CopiesOfNode::Renewed => {
                let renew = RenewCopies::new(vec![found.clone()], job.capabilities);
                job.renew(Box::new(renew), Box::new(found), &[])
            }
            CopiesOfNode::Dropped | CopiesOfNode::Left => Ok(Next::Done(found)),
        })
    }

    fn renew(&mut self, renew: Box<RenewCopies>, found: Box<StoredNode>, replies: &[Reply]) -> Result<Next<Self>> {
        let (mut renew, found) = (renew, found);
        match renew.step(replies).map_err(made_without_copies)? {
            Next::Ask(requests) | Next::FetchInto(requests) => {
                self.state = State::Renew(renew, found);
                Ok(Next::Ask(requests))
            }
            Next::Done(_) => Ok(Next::Done(*found)),
            Next::Fork(_) => Err(Error::internal("a job that is a part of another one forked")),
        }
    }
}

impl Job for ReplaceNode {
    type Output = StoredNode;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Begin(found) if self.copies == CopiesOfNode::Dropped => {
                self.drop(Box::new(Ancestors::new(&found, self.capabilities).with_own_copy(&found)), &[])
            }
            State::Begin(_) => self.revise(&[]),
            State::Drop(ancestors) => self.drop(ancestors, replies),
            State::Revise => self.revise(replies),
            State::Renew(renew, found) => self.renew(renew, found, replies),
            State::Done => Err(jobs::went_on()),
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
