//! Cache of documents and listings, so that the parts of one operation request each of them once.
//!
//! # Few requests
//! In remote stores, operations make few requests, as many as possible at the same time. The document of the newest dialect
//! is requested alone, and those of version 2 together if it is missing. If a group is expected, its consolidated metadata is requested
//! instead of the document that an array would have, and a walk takes it from the node. For a node that is to be created, documents are
//! read from the root down to the first path without documents, whose listing shows that nothing is below; later parts of the operation
//! take these replies from the cache, until the first change, lock or pause. `tests/tests/all/opening.rs` counts requests and rounds of
//! requests.

use crate::jobs::Operation;
use crate::{Error, Result, jobs};
use std::collections::BTreeMap;
use zarr_drive::{Io, Job, Next};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AccessProfile, Capabilities, Fetched, Key, Listing, Prefix, Reply, Request, StoreKind};

/// Replies of a remote store that are cached during one operation: documents, and listings of prefixes.
#[derive(Debug, Default)]
pub struct Known {
    /// Whether replies are cached. If requests are cheap, each part of an operation makes its own.
    is_kept: bool,
    documents: BTreeMap<Key, Option<Document>>,
    listings: BTreeMap<Prefix, Listing>,
}

type Document = (Vec<u8>, Option<zarr_store::Version>);

impl Known {
    /// Returns an empty cache for a store with `profile`; only remote stores are cached.
    pub(crate) fn of(profile: &AccessProfile) -> Self {
        Self { is_kept: profile.kind == StoreKind::Remote, ..Self::default() }
    }

    /// Whether a listing of prefix `below` has the key or prefix `below` + `rest`, or the prefix directly below `below` that contains it.
    fn is_listed(below: &str, rest: &str, listing: &Listing) -> bool {
        match rest.find('/') {
            Some(end) => {
                let first = [below, rest.get(..=end).unwrap_or(rest)].concat();
                listing.prefixes.iter().any(|prefix| prefix.as_str() == first)
            }
            None => listing.keys.iter().any(|key| key.as_str() == [below, rest].concat()),
        }
    }

    /// Whether a cached listing shows that no key is equal to `text` or begins with it.
    fn is_missing(&self, text: &str) -> bool {
        self.listings.iter().any(|(prefix, listing)| {
            let rest = text.strip_prefix(prefix.as_str()).filter(|rest| !rest.is_empty());
            rest.is_some_and(|rest| !Self::is_listed(prefix.as_str(), rest, listing))
        })
    }

    fn document(&self, key: &Key) -> Option<Option<&Document>> {
        let known = self.documents.get(key).map(Option::as_ref);
        known.or_else(|| self.is_missing(key.as_str()).then_some(None))
    }

    /// Returns the reply to `request` if it is known.
    fn reply(&self, request: &Request) -> Option<Reply> {
        match request {
            Request::Get { key, .. } => match self.document(key)? {
                None => Some(Reply::Got(None)),
                Some(document) => (*request == jobs::get_document(key.clone())).then(|| got(document)),
            },
            Request::Size { key } => match self.document(key)? {
                None => Some(Reply::Size(None)),
                Some(_) => None,
            },
            Request::List { prefix } => match self.listings.get(prefix) {
                Some(listing) => Some(Reply::Listing(listing.clone())),
                None => self.is_missing(prefix.as_str()).then(|| Reply::Listing(Listing::default())),
            },
            Request::ListAll { prefix } => {
                let is_empty = |listing: &Listing| listing.keys.is_empty() && listing.prefixes.is_empty();
                let is_known = self.listings.get(prefix).is_some_and(is_empty) || self.is_missing(prefix.as_str());
                is_known.then(|| Reply::Keys(Vec::new()))
            }
            _ => None,
        }
    }

    /// Returns the replies to `requests`: cached replies, and replies of the store, which are cached.
    async fn ask(&mut self, io: &Io, requests: Vec<Request>) -> Result<Vec<Reply>> {
        if !self.is_kept {
            return Ok(io.ask(requests).await);
        }
        let is_look = |request: &Request| {
            use Request::{Get, List, ListAll, Size};
            matches!(request, Get { .. } | List { .. } | ListAll { .. } | Size { .. })
        };
        if !requests.iter().all(is_look) {
            (self.documents, self.listings) = Default::default();
            return Ok(io.ask(requests).await);
        }
        let known: Vec<Option<Reply>> = requests.iter().map(|request| self.reply(request)).collect();
        let unknown = requests.iter().zip(&known).filter(|(_, known)| known.is_none());
        let mut asked = io.ask(unknown.map(|(request, _)| request.clone()).collect()).await.into_iter();
        let mut reply = |(request, known): (Request, Option<Reply>)| match known {
            Some(reply) => Ok(reply),
            None => {
                let reply = asked.next().ok_or_else(jobs::unfit)?;
                self.keep(&request, &reply)?;
                Ok(reply)
            }
        };
        requests.into_iter().zip(known).map(&mut reply).collect()
    }

    /// Adds the reply to `request` to the cache.
    ///
    /// # Errors
    /// [`jobs::unfit`] for a reply to another request.
    fn keep(&mut self, request: &Request, reply: &Reply) -> Result<()> {
        match (request, reply) {
            (Request::Get { key, .. }, Reply::Got(fetched)) => {
                let document = fetched.as_ref().map(|it| (it.part(0).to_vec(), it.version.clone()));
                if document.is_none() || *request == jobs::get_document(key.clone()) {
                    self.documents.insert(key.clone(), document);
                }
            }
            (Request::List { prefix }, Reply::Listing(listing)) => {
                self.listings.insert(prefix.clone(), listing.clone());
            }
            (Request::ListAll { .. }, Reply::Keys(_)) | (Request::Size { .. }, Reply::Size(_)) => {}
            _ => return Err(jobs::unfit()),
        }
        Ok(())
    }
}

fn got((bytes, version): &Document) -> Reply {
    let mut fetched = Fetched::new();
    fetched.push(bytes.clone().into());
    (fetched.size, fetched.version) = (Some(bytes.len() as u64), version.clone());
    Reply::Got(Some(fetched))
}

/// Operation that requests only documents and listings that are not cached. The cache is emptied by any request that changes, locks or
/// waits.
#[derive(Debug)]
pub struct Knowing<O> {
    operation: O,
    known: Known,
}

impl<O: Operation> Knowing<O> {
    /// Runs `operation` with the cache `known`.
    #[must_use]
    pub fn new(operation: O, known: Known) -> Self {
        Self { operation, known }
    }
}

impl<O: Operation> Operation for Knowing<O> {
    type Output = (O::Output, Known);

    async fn run(self, io: &Io) -> Result<(O::Output, Known)> {
        let (mut job, mut known) = (self.operation.job(), self.known);
        let mut replies = Vec::new();
        loop {
            match job.step(&mut replies)? {
                Next::Ask(requests) | Next::FetchInto(requests) => replies = known.ask(io, requests).await?,
                Next::Done(output) => return Ok((output, known)),
                Next::Fork(_) => return Err(Error::internal("a job that is a part of another one forked")),
            }
        }
    }
}

/// Reads the documents and listings that a new node at a path depends on: from the root down to the first path without a document of a
/// self-contained dialect, whose listing usually shows that nothing is below. Then no document of other dialects needs to be requested at
/// each path. Does nothing if requests are cheap, or if the store cannot list.
#[derive(Debug)]
pub struct Foresee {
    path: NodePath,
    known: Known,
    can_list: bool,
}

impl Foresee {
    /// Reads what a new node at `path` depends on.
    #[must_use]
    pub fn new(path: NodePath, capabilities: Capabilities, profile: &AccessProfile) -> Self {
        Self { path, known: Known::of(profile), can_list: capabilities.list }
    }

    /// Returns the existing documents that nodes of `dialects` have at `path`.
    async fn documents(&mut self, io: &Io, path: &NodePath, dialects: &[Dialect]) -> Result<Documents> {
        let keys = dialects.iter().flat_map(|dialect| zarr_meta::document_keys(*dialect, path, &Documents::new()));
        let requests = keys.map(|key| Ok(jobs::get_document(Key::new(&key)?))).collect::<Result<Vec<_>>>()?;
        let mut documents = Documents::new();
        for (request, reply) in requests.iter().zip(io.ask(requests.clone()).await) {
            self.known.keep(request, &reply)?;
            if let (Request::Get { key, .. }, Reply::Got(Some(fetched))) = (request, reply) {
                documents.insert(key.as_str(), fetched.part(0));
            }
        }
        Ok(documents)
    }
}

impl Operation for Foresee {
    type Output = Known;

    async fn run(mut self, io: &Io) -> Result<Known> {
        if !self.known.is_kept || !self.can_list {
            return Ok(self.known);
        }
        let mut paths: Vec<NodePath> = std::iter::successors(Some(self.path.clone()), NodePath::parent).collect();
        paths.reverse();
        // The newest dialect; for the root also that of version 2.
        let mut dialects = vec![Dialect::V3];
        for path in paths {
            let mut there = self.documents(io, &path, &dialects).await?;
            if path.is_root() && there.is_empty() {
                dialects.push(Dialect::V2);
                there = self.documents(io, &path, &[Dialect::V2]).await?;
            } else if path.is_root() {
                // Drafts have their documents elsewhere, and other documents do not say the dialect.
                let root = StoredNode::read(Dialect::V3, path.clone(), &there).ok().flatten();
                if root.is_none_or(|root| root.dialect != Dialect::V3) {
                    break;
                }
            }
            if there.is_empty() {
                let mut prefixes = vec![Prefix::new(&path.key_prefix())?];
                if !path.is_root() {
                    // The first drafts may have nodes at the same paths without a document that says the dialect.
                    prefixes.push(Prefix::new("meta/")?);
                }
                let listings = io.list(prefixes.clone()).await?;
                self.known.listings.extend(prefixes.into_iter().zip(listings));
                break;
            }
        }
        Ok(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_tells_what_is_missing_below_it() {
        let mut known = Known::of(&AccessProfile::REMOTE);
        let prefix = |text: &str| Prefix::new(text).expect("a prefix");
        let get = |text: &str| jobs::get_document(Key::new(text).expect("a key"));
        let listing = Listing::new(vec![Key::new("g/.zgroup").expect("a key")], vec![prefix("g/a/")]);
        known.keep(&Request::List { prefix: prefix("g/") }, &Reply::Listing(listing)).expect("kept");
        for missing in ["g/zarr.json", "g/b/zarr.json", "g/b/c/.zarray", "g/a.json"] {
            assert!(matches!(known.reply(&get(missing)), Some(Reply::Got(None))), "{missing}");
        }
        for unknown in ["g/.zgroup", "g/a/zarr.json", "g/a/b/zarr.json", "h/zarr.json", "zarr.json"] {
            assert!(known.reply(&get(unknown)).is_none(), "{unknown}");
        }
        let list = |text: &str| known.reply(&Request::List { prefix: prefix(text) });
        assert!(matches!(list("g/b/"), Some(Reply::Listing(listing)) if listing.prefixes.is_empty()));
        assert!(matches!(list("g/"), Some(Reply::Listing(listing)) if listing.prefixes.len() == 1));
        assert!(list("g/a/").is_none() && list("").is_none());
        assert!(matches!(known.reply(&Request::ListAll { prefix: prefix("g/b/") }), Some(Reply::Keys(_))));
        assert!(known.reply(&Request::ListAll { prefix: prefix("g/") }).is_none());
    }
}
