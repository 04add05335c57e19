//! Changes of the metadata of a node that others may change at the same time.
//!
//! A handle may be older than the documents. So a change reads the documents with their versions, applies the difference between the node
//! that the handle read and the wanted node, member by member and attribute by attribute (`merge.rs`), and sets each document on the
//! condition of its version. If another writer was faster, the change pauses and starts again. A member that both writers changed to
//! different values is an error. All other content stays as stored: unknown members, their order, the spelling of numbers.

use super::claim::{self, Claim};
use super::merge::{conflict, merge};
use super::newest::{Newest, ReadNewest};
use super::still_there::{covers, same_chunks};
use super::{order, reread};
use crate::jobs::{Made, Operation, in_steps};
use crate::{Error, ErrorKind, Result};
use zarr_drive::Io;
use zarr_meta::{Consolidated, Node, StoredNode};
use zarr_store::{Capabilities, Conflicts, Key, Precondition, Request};

/// Maximum number of attempts of a change when other writers keep changing the documents meanwhile.
const MAX_TRIES: u32 = 1000;

/// Change of the metadata of a node.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Change from the node that was read to the wanted node, merged with the changes of other writers.
    Merge {
        /// Node as it was read.
        base: Box<Node>,
        /// Wanted node.
        ours: Box<Node>,
    },
    /// Change from the array that was read to the wanted array, if the stored array still has the shape and the chunks that were read.
    Reshape {
        /// Array as it was read.
        base: Box<Node>,
        /// Wanted array.
        ours: Box<Node>,
    },
    /// Change of the consolidated metadata in the document of a group, if the stored consolidated metadata is still `before`: otherwise
    /// another writer has added newer nodes.
    Consolidated {
        /// Consolidated metadata as it was read; `None` if there was none.
        before: Option<Box<Consolidated>>,
        /// Wanted consolidated metadata.
        copy: Box<Consolidated>,
    },
    /// Removal of the consolidated metadata in the document of a group.
    WithoutConsolidated,
}

impl Edit {
    /// Returns the change from the node that the documents of `found` describe to `ours`.
    #[must_use]
    pub fn to(found: &StoredNode, ours: Node) -> Self {
        let base = StoredNode::read(found.dialect, found.path.clone(), &found.documents).ok().flatten();
        let base = base.map_or_else(|| found.node.clone(), |base| base.node);
        Self::Merge { base: Box::new(base), ours: Box::new(ours) }
    }

    /// Returns the change of the shape from the array `found` to `ours`, which depends on the shape that was read.
    #[must_use]
    pub fn reshape(found: &StoredNode, ours: Node) -> Self {
        match Self::to(found, ours) {
            Self::Merge { base, ours } => Self::Reshape { base, ours },
            edit => edit,
        }
    }

    /// Returns the key of the document that is set last if the change is made in node `newest`: this document decides between writers.
    /// `None` if no document is set.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if another writer changed the same member in another way; the errors of writing
    /// metadata.
    pub fn last_key(&self, newest: &Newest) -> Result<Option<Key>> {
        let (steps, _) = changes(&newest.found, &self.apply(&newest.found)?, true, |_, _| Precondition::None)?;
        Ok(steps.into_iter().flatten().next_back().and_then(|request| match request {
            Request::Set { key, .. } => Some(key),
            _ => None,
        }))
    }

    /// Whether the entries of the node `found` in consolidated metadata are updated after the change and need not be dropped before:
    /// readers with the old metadata still read the values that were there.
    #[must_use]
    pub fn keeps_consolidated(&self, found: &StoredNode, capabilities: Capabilities) -> bool {
        let reads = match self {
            Self::Merge { base, ours } | Self::Reshape { base, ours } => match (&**base, &**ours) {
                (Node::Group(_), Node::Group(_)) => true,
                (Node::Array(old), Node::Array(new)) => covers(old, new) && same_chunks(found.dialect, old, new),
                _ => false,
            },
            Self::Consolidated { .. } | Self::WithoutConsolidated => false,
        };
        // A node that only consolidated metadata has cannot be changed.
        reads && capabilities.conditional && !found.documents.are_consolidated()
    }

    /// Returns the node `newest` with the change applied.
    fn apply(&self, newest: &StoredNode) -> Result<Node> {
        let theirs = &newest.node;
        match self {
            Self::Merge { base, ours } => merge(base, ours, theirs),
            Self::Reshape { base, ours } => {
                if let (Some(base), Some(ours), Some(theirs)) = (base.as_array(), ours.as_array(), theirs.as_array()) {
                    if theirs.shape != base.shape {
                        return Err(conflict(
                            "/shape",
                            Some(&theirs.shape.clone().into()),
                            Some(&ours.shape.clone().into()),
                        ));
                    }
                    // Chunks were written or erased for the array that was read.
                    if !same_chunks(newest.dialect, base, theirs) {
                        let message = "another writer replaced the array by one with other chunks";
                        return Err(Error::new(ErrorKind::Conflict, message).with_hint("open the node again"));
                    }
                }
                merge(base, ours, theirs)
            }
            Self::Consolidated { before, copy } => match theirs {
                Node::Group(group) if group.consolidated.as_ref() != before.as_deref() => {
                    let message = "others replaced the consolidated metadata meanwhile";
                    Err(Error::new(ErrorKind::Conflict, message).with_hint("consolidate again"))
                }
                _ => with_copy(theirs, Some(copy)),
            },
            Self::WithoutConsolidated => with_copy(theirs, None),
        }
    }
}

/// Makes a change in the documents of a node: reads the present documents, and sets the changed ones on the condition that they are still
/// the same. If not, starts again after a pause. Returns the changed node.
///
/// # Errors
/// [`ErrorKind::Conflict`] if others keep changing the documents, or change the same member; the errors of writing metadata.
pub(crate) async fn revise(io: &Io, found: &StoredNode, edit: &Edit, capabilities: Capabilities) -> Result<StoredNode> {
    revise_known(io, found, edit, None, None, capabilities).await
}

/// Makes a change in the documents of a node, as [`revise`] does. `known` are documents that were just read; `claim` is a claim that must
/// be valid.
pub(super) async fn revise_known(
    io: &Io,
    found: &StoredNode,
    edit: &Edit,
    known: Option<Newest>,
    claim: Option<&Claim>,
    capabilities: Capabilities,
) -> Result<StoredNode> {
    let conditional = capabilities.conditional;
    // Without conditional sets, documents are read again, since a change by others would not be noticed.
    let mut known = known.filter(|_| conditional);
    let mut conflicts = Conflicts::new(MAX_TRIES);
    loop {
        let newest = match known.take() {
            Some(newest) => newest,
            None => ReadNewest::new(found).run(io).await?,
        };
        if claim.is_some_and(|claim| !claim.holds(&newest)) {
            return Err(claim::void());
        }
        let when = |key: &Key, _| if conditional { newest.unchanged(key) } else { Precondition::None };
        let (steps, revised) = changes(&newest.found, &edit.apply(&newest.found)?, conditional, when)?;
        if in_steps(io, steps).await? == Made::All {
            return Ok(revised);
        }
        let Some(duration) = conflicts.again() else {
            let message = format!("others changed the metadata {conflicts} while it was changed here");
            return Err(Error::new(ErrorKind::Conflict, message).at_path(&found.path));
        };
        io.pause(duration).await?;
    }
}

/// Returns the group with the consolidated metadata `copy`; `None` removes it.
fn with_copy(node: &Node, copy: Option<&Consolidated>) -> Result<Node> {
    match node {
        Node::Group(group) => {
            let mut group = group.clone();
            group.consolidated = copy.cloned();
            Ok(Node::Group(group))
        }
        Node::Array(_) => Err(Error::new(ErrorKind::NotFound, "found an array, expected a group")),
    }
}

/// Returns the requests, in steps, that change the documents of `theirs` to those of `node`, and the changed node as it will be found.
fn changes(
    theirs: &StoredNode,
    node: &Node,
    conditional: bool,
    when: impl Fn(&Key, bool) -> Precondition,
) -> Result<(Vec<Vec<Request>>, StoredNode)> {
    let mut written = zarr_meta::documents(theirs.dialect, &theirs.path, node, Some(&theirs.documents))?;
    let mut documents = theirs.documents.clone();
    documents.apply(&written);
    // A node that cannot be read back is not written.
    let mut revised = reread(theirs.dialect, &theirs.path, &documents)?;
    if conditional {
        // Erasing cannot be conditional: a document that has become empty is set without members.
        for (key, value) in written.iter_mut().filter(|(_, value)| value.is_none()) {
            let empty = Some(b"{}\n".to_vec());
            let mut emptied = documents.clone();
            emptied.apply(&[(key.clone(), empty.clone())]);
            if let Ok(read) = reread(theirs.dialect, &theirs.path, &emptied)
                && read.node == revised.node
            {
                (*value, documents, revised) = (empty, emptied, read);
            }
        }
    }
    written.retain(|(key, value)| theirs.documents.get(key) != value.as_deref());
    Ok((order::requests(theirs.dialect, &theirs.path, &documents, written, when)?, revised))
}
