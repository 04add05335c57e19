//! Updates of the entries of nodes in consolidated metadata.

use super::ancestors::Ancestors;
use super::newest::ReadNewest;
use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result, jobs};
use std::collections::BTreeMap;
use zarr_drive::{Io, Script};
use zarr_meta::consolidated;
use zarr_meta::{Consolidated, Dialect, Documents, Node, NodePath, StoredNode};
use zarr_store::{Capabilities, Conflicts, Fetched, Key, Precondition, Request};

/// Maximum number of attempts to update consolidated metadata when other writers replace it meanwhile.
const MAX_TRIES: u32 = 100;

/// Updates the entries of changed nodes in the consolidated metadata of the groups at and above them, if these have any. Each document is
/// set once, on the condition that nobody else changed it meanwhile: readers find all old entries or all new ones. Returns the groups whose
/// consolidated metadata is up to date.
///
/// Consolidated metadata is dropped if it cannot be read, in stores without conditional sets, and if others keep replacing it.
///
/// Consolidated metadata is read before the nodes, and both are read again after a set, until nothing differs. A writer that changes a
/// node meanwhile either reads the consolidated metadata after it was set here, or its change is found when the nodes are read again. So
/// the final consolidated metadata is that of the last change.
#[derive(Debug)]
pub struct RenewConsolidated {
    nodes: Vec<StoredNode>,
    capabilities: Capabilities,
}

impl RenewConsolidated {
    /// Updates the entries of `nodes`, which were found or changed before, in a store with these capabilities.
    #[must_use]
    pub fn new(nodes: Vec<StoredNode>, capabilities: Capabilities) -> Self {
        Self { nodes, capabilities }
    }

    /// Returns the places at which groups at and above the nodes may have consolidated metadata.
    fn places(&self) -> Vec<Place> {
        let mut places = BTreeMap::new();
        for node in &self.nodes {
            // Consolidated metadata has an entry for its own group only if it is a separate document.
            let own = node.node.as_group().and_then(|_| Place::of(node.dialect, node.path.clone()));
            let above = std::iter::successors(node.path.parent(), NodePath::parent);
            let above = above.filter_map(|group| Place::of(node.dialect, group));
            for place in own.filter(|own| own.is_apart).into_iter().chain(above) {
                places.entry(place.key.clone()).or_insert(place);
            }
        }
        places.into_values().collect()
    }

    /// Reads all nodes at the same time. Nodes that were erased meanwhile are left out, since erasing drops consolidated metadata.
    async fn newest(&self, io: &Io) -> Result<Vec<StoredNode>> {
        let read = |node| {
            let read = ReadNewest::new(node);
            Script::new(|io| async move {
                match read.run(&io).await {
                    Ok(newest) => Ok(Some(newest.found)),
                    Err(error) if error.is_not_found() => Ok(None),
                    Err(error) => Err(error),
                }
            })
        };
        Ok(io.all(self.nodes.iter().map(read).collect()).await?.into_iter().flatten().collect())
    }
}

impl Operation for RenewConsolidated {
    type Output = Vec<NodePath>;

    async fn run(self, io: &Io) -> Result<Vec<NodePath>> {
        let places = self.places();
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut conflicts = Conflicts::new(MAX_TRIES);
        let mut unread_group = None;
        let mut is_exchanged = self.capabilities.conditional;
        while is_exchanged {
            let mut read = Copies::read(io, &places).await?;
            let nodes = if read.copies.is_empty() { Vec::new() } else { self.newest(io).await? };
            let requests = read.renewed(&nodes)?;
            unread_group = read.unread_group;
            if requests.is_empty() {
                let groups = read.copies.into_iter().map(|copied| copied.place.group).collect();
                return unread_group.map_or(Ok(groups), Err);
            }
            let is_set = io.change(requests).await?;
            // After a set, the consolidated metadata and the nodes are read again: a writer that changed a node before the set may have
            // found its entry up to date already, and set nothing.
            match conflicts.again() {
                Some(_) if is_set => {}
                Some(duration) => io.pause(duration).await?,
                // Other writers keep replacing the consolidated metadata.
                None => is_exchanged = false,
            }
        }
        // Consolidated metadata above several nodes is dropped with the first node.
        for node in self.nodes.iter().rev() {
            Ancestors::new(node, self.capabilities).with_own_copy(node).run(io).await?;
        }
        unread_group.map_or(Ok(Vec::new()), Err)
    }
}

/// Place of the consolidated metadata of a group.
#[derive(Clone, Debug)]
struct Place {
    dialect: Dialect,
    group: NodePath,
    key: Key,
    /// Whether consolidated metadata is a separate document, and not a member of the group's document.
    is_apart: bool,
}

/// Consolidated metadata of a group as it was read.
#[derive(Debug)]
struct Copied {
    place: Place,
    copy: Consolidated,
    /// Group whose document has the consolidated metadata; `None` if it is a separate document.
    within: Option<Box<StoredNode>>,
    when: Precondition,
}

/// Consolidated metadata of several groups, and separate documents that cannot be read.
#[derive(Debug, Default)]
struct Copies {
    copies: Vec<Copied>,
    unreadable: Vec<Key>,
    /// Error of a group that cannot be read and that may have consolidated metadata in its document.
    unread_group: Option<Error>,
}

impl Copies {
    async fn read(io: &Io, places: &[Place]) -> Result<Self> {
        let documents = places.iter().map(|place| jobs::get_whole_document(place.key.clone())).collect();
        let mut read = Self::default();
        for (place, fetched) in places.iter().zip(io.get(documents).await?) {
            let Some(fetched) = fetched else { continue };
            match (place.read(&fetched), place.is_apart) {
                (Ok(Some(copied)), _) => read.copies.push(copied),
                // Other software may be able to read and trust it.
                (Ok(None), true) => read.unreadable.push(place.key.clone()),
                (Ok(None), false) => {}
                (Err(error), _) if place.may_be_consolidated(&fetched) => {
                    read.unread_group = Some(error.at_path(&place.group));
                }
                (Err(_), _) => {}
            }
        }
        Ok(read)
    }

    /// Updates the entries of `nodes`. Returns the requests that set the consolidated metadata that changed, and erase unreadable
    /// documents.
    fn renewed(&mut self, nodes: &[StoredNode]) -> Result<Vec<Request>> {
        let mut requests: Vec<Request> = self.unreadable.iter().cloned().map(|key| Request::Erase { key }).collect();
        for copied in &mut self.copies {
            requests.extend(copied.renewed(nodes)?);
        }
        Ok(requests)
    }
}

impl Place {
    fn of(dialect: Dialect, group: NodePath) -> Option<Self> {
        if !dialect.may_consolidate(&group) {
            return None;
        }
        let apart = consolidated::document_key(&StoredNode::implicit(dialect, group.clone()));
        let is_apart = apart.is_some();
        let key = apart.or_else(|| zarr_meta::document_keys(dialect, &group, &Documents::new()).into_iter().next())?;
        Some(Self { dialect, group, key: Key::new(&key).ok()?, is_apart })
    }

    /// Whether a document that this library cannot read may have consolidated metadata that other software reads.
    fn may_be_consolidated(&self, fetched: &Fetched) -> bool {
        !self.is_apart && zarr_json::begins_in(fetched.part(0), &["consolidated_metadata"])
    }

    /// Reads the consolidated metadata in a document; `None` if there is none, or if a separate document cannot be read.
    ///
    /// # Errors
    /// If the document of the group cannot be read: other software may read it, with outdated consolidated metadata.
    fn read(&self, fetched: &Fetched) -> Result<Option<Copied>> {
        let when = fetched.version.clone().map_or(Precondition::None, Precondition::Version);
        let place = self.clone();
        if self.is_apart {
            let copy = Consolidated::parse_document(self.dialect, self.key.as_str(), fetched.part(0)).ok().flatten();
            return Ok(copy.map(|copy| Copied { place, copy, within: None, when }));
        }
        let documents: Documents = [(self.key.to_string(), fetched.part(0).to_vec())].into_iter().collect();
        let Some(group) = StoredNode::read(self.dialect, self.group.clone(), &documents)? else { return Ok(None) };
        let copy = group.node.as_group().and_then(|group| group.consolidated.clone());
        Ok(copy.map(|copy| Copied { place, copy, within: Some(Box::new(group)), when }))
    }
}

impl Copied {
    /// Updates the entries of those of `nodes` that are at or below the group. Returns the request that sets the changed document; `None`
    /// if nothing changed.
    fn renewed(&mut self, nodes: &[StoredNode]) -> Result<Option<Request>> {
        let Self { place: Place { dialect, group, key, .. }, copy, within, when } = self;
        let mut is_changed = false;
        for node in nodes.iter().filter(|node| node.path.is_within(group)) {
            is_changed |= copy.renew(*dialect, group, node)?;
        }
        if !is_changed {
            return Ok(None);
        }
        let set = |value| jobs::set_document(key.clone(), value, when.clone(), true);
        let Some(found) = within else { return Ok(Some(set(copy.to_v2()))) };
        let Node::Group(mut node) = found.node.clone() else { return Ok(None) };
        node.consolidated = Some(copy.clone());
        let written = zarr_meta::documents(found.dialect, group, &Node::Group(node), Some(&found.documents))?;
        Ok(written.into_iter().find(|(written, _)| written == key.as_str()).and_then(|(_, value)| value).map(set))
    }
}

/// Converts an error of updating consolidated metadata after the change itself was made: the kind must not suggest that the change be
/// repeated.
pub(crate) fn made_without_consolidated(error: Error) -> Error {
    let is_unanswered = matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled | ErrorKind::Internal);
    let error = if is_unanswered { error } else { error.with_kind(ErrorKind::Store) };
    error.with_hint("the change itself is made, and only consolidated metadata of groups above is not up to date: consolidate again")
}
