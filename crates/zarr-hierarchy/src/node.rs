//! Operations on single nodes, as jobs: finding, creating, replacing and erasing.

mod ancestors;
mod claim;
mod create;
mod dialect;
mod erase;
mod exchange;
mod hints;
mod known;
mod leftovers;
mod listed;
mod merge;
mod newest;
mod only_consolidated;
pub mod order;
mod renew_consolidated;
mod replace;
mod revise;
mod still_there;
mod unfinished;

pub use ancestors::{Above, Ancestors, DroppedConsolidated};
pub use claim::{AwaitClaim, Claim, DropClaim, TakeClaim, unclaimed};
pub use create::{CreateNode, create};
pub use dialect::{DEFAULT_DIALECT, FindDialect, same_hierarchy};
pub use erase::{EraseBroken, EraseNode};
pub use hints::with_hierarchy_hint;
pub use known::{Foresee, Knowing, Known};
pub use listed::ListNode;
pub use newest::{Newest, ReadNewest};
pub(crate) use only_consolidated::check_only_consolidated;
pub use renew_consolidated::RenewConsolidated;
pub(crate) use renew_consolidated::made_without_consolidated;
pub use replace::ReplaceNode;
pub(crate) use replace::{check_dimension_names, set_attributes, set_dimension_names};
pub use revise::Edit;
pub(crate) use revise::revise;
pub use still_there::{StillThere, check_same_chunks, gone, pin, pin_prefix};
pub use unfinished::{
    CONVERSION_JOURNAL, DropUnfinished, MIGRATION_RECORD, REPLACEMENTS, is_one_prefix, is_part_journal, is_scratch,
    is_scratch_of, is_unfinished, journal_key, new_id, replacement, replacements, scratch_key,
};

use crate::jobs::{Operation, get_document, get_whole_document, unfit};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use zarr_drive::Io;
use zarr_json::Map;
use zarr_meta::{Copies, Dialect, Documents, NodePath, Probe, ProbeStep, StoredNode, consolidated};
use zarr_store::{AccessProfile, Key, Prefix, Reply, Request, StoreKind};

/// Key of a document, and the bytes of the document; `None` if the document does not exist.
type Answer = (String, Option<Vec<u8>>);

/// Operation that finds the node at a path by requesting the documents that each dialect would have there.
#[derive(Debug)]
pub struct OpenNode {
    probe: Probe,
    path: NodePath,
    /// Keys of the last step, and whether the store was asked for each.
    asked: Vec<(String, bool)>,
    begun: bool,
    /// Keys that exist, if a listing is known.
    listed: Option<Arc<BTreeSet<Key>>>,
    /// Prefix of the last requested listing.
    listing: Option<String>,
    /// Prefixes whose listings were empty.
    empty: Vec<String>,
    /// Documents that were received together with a truncated document, and the key of the truncated one, which is requested as a whole.
    cut_off: Option<(Vec<Answer>, String)>,
    /// Keys that were tried, if no node was found.
    tried: Vec<String>,
}

/// Returns the document in `reply`; `None` if the document does not exist.
fn value(reply: Option<&Reply>) -> Result<Option<Vec<u8>>> {
    match reply {
        Some(Reply::Got(fetched)) => Ok(fetched.as_ref().map(|fetched| fetched.part(0).to_vec())),
        _ => Err(unfit()),
    }
}

/// State of a search for a node after some replies.
#[derive(Debug)]
pub(crate) enum Probed {
    /// Further requests are needed.
    Asks(Vec<Request>),
    /// The node was found.
    Found(Box<StoredNode>),
    /// No node was found; the keys are those that were tried.
    NotFound(Vec<String>),
}

impl OpenNode {
    /// Searches for a node of `dialect`, or of any dialect if `None`, at `path`. `can_list`: groups without a document are found by
    /// listing.
    #[must_use]
    pub fn new(path: NodePath, dialect: Option<Dialect>, can_list: bool) -> Self {
        let probe = Probe::new(path.clone(), dialect).can_list(can_list);
        Self {
            probe,
            path,
            asked: Vec::new(),
            begun: false,
            listed: None,
            listing: None,
            empty: Vec::new(),
            cut_off: None,
            tried: Vec::new(),
        }
    }

    /// Restricts the search to documents of the self-contained dialects at the path.
    pub(crate) fn self_contained_only(self) -> Self {
        Self { probe: self.probe.self_contained_only(), ..self }
    }

    /// Sets the kind of store. In a remote store as few requests as possible are made, one after another: see [`Probe::newest_first`].
    #[must_use]
    pub fn on_store(self, profile: &AccessProfile) -> Self {
        self.newest_first(profile.kind == StoreKind::Remote)
    }

    /// Sets whether the document of the newest dialect is requested first: see [`Probe::newest_first`].
    pub(crate) fn newest_first(self, newest_first: bool) -> Self {
        Self { probe: self.probe.newest_first(newest_first), ..self }
    }

    /// Says that a group is expected whose nodes may all be wanted. In a remote store its consolidated metadata is requested together with
    /// its documents. See [`Probe::expecting_group`].
    #[must_use]
    pub fn expecting_group(self, copies: Copies, profile: &AccessProfile) -> Self {
        let is_remote = profile.kind == StoreKind::Remote;
        if is_remote { Self { probe: self.probe.expecting_group(copies), ..self } } else { self }
    }

    /// Passes a listing of all documents that the node may have; documents that are not in `listed` are not requested.
    pub(crate) fn among(self, listed: &Arc<BTreeSet<Key>>) -> Self {
        Self { listed: Some(Arc::clone(listed)), ..self }
    }

    /// Passes documents that were read before, so that documents of the whole hierarchy are not requested again.
    pub(crate) fn knowing(self, documents: &Documents) -> Self {
        Self { probe: self.probe.knowing(documents), ..self }
    }

    /// Searches for the node; `None` if it does not exist.
    ///
    /// # Errors
    /// The kinds of faults of the metadata of the node.
    pub(crate) async fn find(&mut self, io: &Io) -> Result<Option<StoredNode>> {
        let mut replies = Vec::new();
        loop {
            // Replies are not kept while others are waited for.
            let probed = self.go_on(&std::mem::take(&mut replies))?;
            match probed {
                Probed::Asks(requests) => replies = io.ask(requests).await,
                Probed::Found(found) => return Ok(Some(*found)),
                Probed::NotFound(tried) => {
                    self.tried = tried;
                    return Ok(None);
                }
            }
        }
    }

    /// Dialect of the node or hierarchy, as far as it is known by now.
    fn dialect(&self) -> Option<Dialect> {
        self.probe.dialect()
    }

    /// Returns the group at the path that is implied by nodes of `dialect` below it, after no node was found at the path.
    pub(crate) fn implied(&self, dialect: Dialect) -> StoredNode {
        self.probe.implied(dialect)
    }

    /// Removes and returns the prefixes whose listings were empty.
    fn empty(&mut self) -> Vec<String> {
        std::mem::take(&mut self.empty)
    }

    /// Path of the search.
    pub(crate) fn path(&self) -> &NodePath {
        &self.path
    }

    /// Continues the search with the replies to the last requests.
    ///
    /// # Errors
    /// The kinds of faults of the metadata of the node.
    pub(crate) fn go_on(&mut self, replies: &[Reply]) -> Result<Probed> {
        let mut step = if !self.begun {
            self.begun = true;
            self.probe.step(&[])?
        } else if let Some(Reply::Listing(listing)) = replies.first() {
            if listing.keys.is_empty() && listing.prefixes.is_empty() {
                self.empty.extend(self.listing.take());
            }
            let keys = listing.keys.iter().map(Key::as_str).chain(listing.prefixes.iter().map(Prefix::as_str));
            self.probe.step(&keys.map(|key| (key.to_owned(), None)).collect::<Vec<_>>())?
        } else {
            let got = match self.cut_off.take() {
                Some((mut got, key)) => {
                    got.push((key, value(replies.first())?));
                    got
                }
                None => {
                    let mut replies = replies.iter();
                    let mut got = Vec::new();
                    for (key, is_asked) in self.asked.drain(..) {
                        let bytes = if is_asked { value(replies.next())? } else { None };
                        got.push((key, bytes));
                    }
                    let is_cut_off = |(key, bytes): &(String, Option<Vec<u8>>)| {
                        bytes.as_ref().is_some_and(|bytes| consolidated::is_cut_off(key, bytes))
                    };
                    if let Some(at) = got.iter().position(is_cut_off) {
                        let (key, _) = got.remove(at);
                        let request = get_whole_document(Key::new(&key)?);
                        self.cut_off = Some((got, key));
                        return Ok(Probed::Asks(vec![request]));
                    }
                    got
                }
            };
            self.probe.take(got)?
        };
        loop {
            let keys = match step {
                ProbeStep::Need(keys) => keys,
                ProbeStep::List { prefix } => {
                    let requests = vec![Request::List { prefix: Prefix::new(&prefix)? }];
                    self.listing = Some(prefix);
                    return Ok(Probed::Asks(requests));
                }
                ProbeStep::Found(found) => return Ok(Probed::Found(found)),
                ProbeStep::NotFound { tried } => return Ok(Probed::NotFound(tried)),
            };
            let mut requests = Vec::new();
            for text in keys {
                let key = Key::new(&text)?;
                let ask = self.listed.as_ref().is_none_or(|listed| listed.contains(&key));
                self.asked.push((text, ask));
                if ask {
                    requests.push(get_document(key));
                }
            }
            if !requests.is_empty() {
                return Ok(Probed::Asks(requests));
            }
            let none: Vec<_> = self.asked.drain(..).map(|(key, _)| (key, None)).collect();
            step = self.probe.step(&none)?;
        }
    }
}

/// Returns the error that no node exists at `path`; its message names the keys that were tried and the dialects of these keys.
pub(crate) fn not_found(path: &NodePath, tried: &[String]) -> Error {
    let mut groups: Vec<(Vec<Dialect>, Vec<&str>)> = Vec::new();
    let dialects_of = zarr_meta::dialects_by_key(path);
    for key in tried {
        let dialects = dialects_of(key);
        match groups.last_mut().filter(|(of, _)| *of == dialects) {
            Some((_, keys)) => keys.push(key),
            None => groups.push((dialects, vec![key])),
        }
    }
    let group = |(dialects, keys): &(Vec<Dialect>, Vec<&str>)| match dialects.as_slice() {
        [] => keys.join(", "),
        dialects => {
            let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
            format!("{}: {}", names.join("/"), keys.join(", "))
        }
    };
    let tried = groups.iter().map(group).collect::<Vec<_>>().join("; ");
    let tried = if tried.is_empty() { tried } else { format!(" (tried {tried})") };
    Error::new(ErrorKind::NotFound, format!("no array and no group here{tried}"))
        .at(|location| location.path = Some(path.to_string()))
}

impl Operation for OpenNode {
    type Output = StoredNode;

    async fn run(mut self, io: &Io) -> Result<StoredNode> {
        match self.find(io).await.map_err(|error| error.at_path(&self.path))? {
            Some(found) => Ok(found),
            None => Err(not_found(&self.path, &self.tried)),
        }
    }
}

/// Returns the attributes of a node.
///
/// # Errors
/// Reason why the attributes cannot be read.
pub fn attributes(found: &StoredNode) -> Result<&Map> {
    found.attributes().map_err(|error| error.clone().into())
}

/// Parses `text` as the path of a node.
///
/// # Errors
/// [`ErrorKind::Path`] if `text` is not a path.
pub fn parse_path(text: &str) -> Result<NodePath> {
    Ok(NodePath::parse(text)?)
}

/// Parses the documents of a node that are about to be written, in the same way as stored documents are read.
///
/// # Errors
/// The kinds of faults of the metadata; [`ErrorKind::NotFound`] if the documents make no node.
pub fn reread(dialect: Dialect, path: &NodePath, documents: &Documents) -> Result<StoredNode> {
    StoredNode::read(dialect, path.clone(), documents)?
        .ok_or_else(|| not_found(path, &zarr_meta::document_keys(dialect, path, documents)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_is_lost_is_no_missing_document() {
        let begun = || {
            let mut open = OpenNode::new(NodePath::root(), Some(Dialect::V3), false);
            assert!(matches!(open.go_on(&[]), Ok(Probed::Asks(requests)) if requests.len() == 1));
            open
        };
        for replies in [&[][..], &[Reply::Size(None)]] {
            let Err(error) = begun().go_on(replies) else { panic!("{replies:?}") };
            assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        }
        assert!(matches!(begun().go_on(&[Reply::Got(None)]), Ok(Probed::NotFound(_))));
    }
}
