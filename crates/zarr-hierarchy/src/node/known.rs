//! Documents and listings that are known, so that parts of one operation ask for each of them once.
//!
//! # Few requests
//! Where requests take long, operations make as few as they can, as many of them as possible at the same time. The newest dialect's
//! document is asked for alone, and those of version 2 together if it is not there. A group that is expected comes with the
//! consolidated metadata beside it, instead of the document that an array would have, and a walk takes it from there. A node that is to
//! be made is looked for from the root down to the first path without documents, whose listing says that nothing is below; what follows
//! takes its replies from here, until the first change, lock or pause. `tests/tests/all/opening.rs` counts requests, and rounds of
//! them.

use crate::jobs::Operation;
use crate::{Error, Result, jobs};
use std::collections::BTreeMap;
use zarr_drive::{Io, Job, Next};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AccessProfile, Capabilities, Fetched, Key, Listing, Prefix, Reply, Request, StoreKind};

/// Replies of a store whose requests take long, kept within one operation: documents, and listings of prefixes.
#[derive(Debug, Default)]
pub struct Known {
    /// Whether replies are kept at all. Where requests are cheap, each part of an operation looks by itself.
    is_kept: bool,
    documents: BTreeMap<Key, Option<Document>>,
    listings: BTreeMap<Prefix, Listing>,
}

type Document = (Vec<u8>, Option<zarr_store::Version>);

impl Known {
    /// Nothing yet, of a store that is such.
    pub(crate) fn of(profile: &AccessProfile) -> Self {
        Self { is_kept: profile.kind == StoreKind::Remote, ..Self::default() }
    }

    /// The part of the key or prefix directly below the prefix that was listed, and whether that is there.
    fn is_listed(below: &str, rest: &str, listing: &Listing) -> bool {
        match rest.find('/') {
            Some(end) => {
                let first = [below, rest.get(..=end).unwrap_or(rest)].concat();
                listing.prefixes.iter().any(|prefix| prefix.as_str() == first)
            }
            None => listing.keys.iter().any(|key| key.as_str() == [below, rest].concat()),
        }
    }

    /// Whether a listing of something above says that there is no such key, or none with such a prefix.
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

    /// The reply to a request, if that is known.
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

    /// The replies to requests: those that are known, and else those of the store, which are kept.
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

    /// Keeps a reply.
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

/// An operation that asks only for what is not known. Whatever it changes, locks or waits for ends that: it looks again after it.
#[derive(Debug)]
pub struct Knowing<O> {
    operation: O,
    known: Known,
}

impl<O: Operation> Knowing<O> {
    /// An operation with what is known.
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

/// Looks what lies at a path and above it, from the root down to the first path with no document of a self-contained dialect, below which a
/// listing says that there is nothing, as a rule. With that it is known that there is no node that is hidden, or in the way, without
/// asking for the documents of each dialect at each path. Looks for nothing where requests are cheap, or the store cannot list.
#[derive(Debug)]
pub struct Foresee {
    path: NodePath,
    known: Known,
    can_list: bool,
}

impl Foresee {
    /// For a node that is to be at a path, in a store that is such.
    #[must_use]
    pub fn new(path: NodePath, capabilities: Capabilities, profile: &AccessProfile) -> Self {
        Self { path, known: Known::of(profile), can_list: capabilities.list }
    }

    /// The documents that are there of those that nodes of some dialects have at a path.
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
        // The newest one, and that of the root.
        let mut dialects = vec![Dialect::V3];
        for path in paths {
            let mut there = self.documents(io, &path, &dialects).await?;
            if path.is_root() && there.is_empty() {
                dialects.push(Dialect::V2);
                there = self.documents(io, &path, &[Dialect::V2]).await?;
            } else if path.is_root() {
                // Documents of the drafts lie elsewhere, and others tell nothing.
                let root = StoredNode::read(Dialect::V3, path.clone(), &there).ok().flatten();
                if root.is_none_or(|root| root.dialect != Dialect::V3) {
                    break;
                }
            }
            if there.is_empty() {
                let mut prefixes = vec![Prefix::new(&path.key_prefix())?];
                if !path.is_root() {
                    // The first drafts may have nodes at the same paths, and no document that tells.
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
