//! Documents and listings that are known, so that parts of one operation ask for each of them once.

use crate::{Error, Result, jobs};
use std::collections::BTreeMap;
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{AccessProfile, Capabilities, Fetched, Job, Key, Listing, Next, Prefix, Reply, Request, StoreKind};

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
    fn of(profile: &AccessProfile) -> Self {
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

    /// Keeps a reply, and gives one that says the same.
    ///
    /// # Errors
    /// [`jobs::unfit`] for a reply to another request.
    fn keep(&mut self, request: &Request, reply: &Reply) -> Result<Reply> {
        match (request, reply) {
            (Request::Get { key, .. }, Reply::Got(fetched)) => {
                let document = fetched.as_ref().map(|it| (it.part(0).to_vec(), it.version.clone()));
                let reply = document.as_ref().map_or(Reply::Got(None), got);
                if document.is_none() || *request == jobs::get_document(key.clone()) {
                    self.documents.insert(key.clone(), document);
                }
                Ok(reply)
            }
            (Request::List { prefix }, Reply::Listing(listing)) => {
                self.listings.insert(prefix.clone(), listing.clone());
                Ok(Reply::Listing(listing.clone()))
            }
            (Request::ListAll { .. }, Reply::Keys(keys)) => Ok(Reply::Keys(keys.clone())),
            (Request::Size { .. }, Reply::Size(size)) => Ok(Reply::Size(*size)),
            _ => Err(jobs::unfit()),
        }
    }
}

fn got((bytes, version): &Document) -> Reply {
    let mut fetched = Fetched::new();
    fetched.push(bytes.clone().into());
    (fetched.size, fetched.version) = (Some(bytes.len() as u64), version.clone());
    Reply::Got(Some(fetched))
}

/// A job that asks only for what is not known. Whatever it changes, locks or waits for ends that: it looks again after it.
#[derive(Debug)]
pub struct Knowing<J> {
    job: J,
    known: Known,
    /// The replies to its last requests that were known, and the requests that were made for the others.
    waits: Option<(Vec<Option<Reply>>, Vec<Request>)>,
}

impl<J: Job<Error = Error>> Knowing<J> {
    /// A job with what is known.
    #[must_use]
    pub fn new(job: J, known: Known) -> Self {
        Self { job, known, waits: None }
    }

    /// All replies to the last requests of the job.
    fn replies(&mut self, slots: Vec<Option<Reply>>, asked: &[Request], replies: &[Reply]) -> Result<Vec<Reply>> {
        let mut new = asked.iter().zip(replies);
        let mut reply = |slot: Option<Reply>| match slot {
            Some(reply) => Ok(reply),
            None => {
                let (request, reply) = new.next().ok_or_else(jobs::unfit)?;
                self.known.keep(request, reply)
            }
        };
        slots.into_iter().map(&mut reply).collect()
    }
}

impl<J: Job<Error = Error>> Job for Knowing<J> {
    type Output = (J::Output, Known);
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let mut next = match self.waits.take() {
            Some((slots, asked)) => {
                let replies = self.replies(slots, &asked, replies)?;
                self.job.step(&replies)?
            }
            None => self.job.step(replies)?,
        };
        loop {
            let requests = match next {
                Next::Ask(requests) if self.known.is_kept => requests,
                Next::Ask(requests) => return Ok(Next::Ask(requests)),
                Next::FetchInto(requests) => return Ok(Next::FetchInto(requests)),
                Next::Done(output) => return Ok(Next::Done((output, std::mem::take(&mut self.known)))),
                Next::Fork(_) => return Err(Error::internal("a job that is a part of another one forked")),
            };
            let is_look = |request: &Request| {
                use Request::{Get, List, ListAll, Size};
                matches!(request, Get { .. } | List { .. } | ListAll { .. } | Size { .. })
            };
            if !requests.iter().all(is_look) {
                (self.known.documents, self.known.listings) = Default::default();
                return Ok(Next::Ask(requests));
            }
            let slots: Vec<Option<Reply>> = requests.iter().map(|request| self.known.reply(request)).collect();
            let asked: Vec<Request> = requests
                .into_iter()
                .zip(&slots)
                .filter(|(_, slot)| slot.is_none())
                .map(|(request, _)| request)
                .collect();
            if !asked.is_empty() {
                self.waits = Some((slots, asked.clone()));
                return Ok(Next::Ask(asked));
            }
            next = self.job.step(&slots.into_iter().flatten().collect::<Vec<_>>())?;
        }
    }
}

/// Looks what lies at a path and above it, from the root down to the first path with no document of a self-contained dialect, below which a
/// listing says that there is nothing, as a rule. With that it is known that there is no node that is hidden, or in the way, without
/// asking for the documents of each dialect at each path. Looks for nothing where requests are cheap, or the store cannot list.
///
/// Level ── documents ──► the next level
///   └──── none ──► List ──► done
#[derive(Debug)]
pub struct Foresee {
    /// The paths from the root on, to be taken from the end.
    paths: Vec<NodePath>,
    known: Known,
    dialect: Option<Dialect>,
    can_list: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Begin,
    Level(NodePath, Vec<Request>),
    List(Vec<Request>),
}

impl Foresee {
    /// For a node that is to be at a path, in a store that is such.
    #[must_use]
    pub fn new(path: NodePath, capabilities: Capabilities, profile: &AccessProfile) -> Self {
        let paths = std::iter::successors(Some(path), NodePath::parent).collect();
        Self { paths, known: Known::of(profile), dialect: None, can_list: capabilities.list, state: State::Begin }
    }

    /// Asks for the documents of the dialect of the root and of the newest one.
    fn level(&mut self) -> Result<Next<Self>> {
        let Some(path) = self.paths.pop() else { return Ok(self.end()) };
        let dialects = [Some(Dialect::V3), self.dialect.filter(|dialect| *dialect != Dialect::V3)];
        self.ask(path, dialects.into_iter().flatten())
    }

    fn ask(&mut self, path: NodePath, dialects: impl Iterator<Item = Dialect>) -> Result<Next<Self>> {
        let keys = dialects.flat_map(|dialect| zarr_meta::document_keys(dialect, &path, &Documents::new()));
        let requests: Vec<Request> = keys.map(|key| Ok(jobs::get_document(Key::new(&key)?))).collect::<Result<_>>()?;
        self.state = State::Level(path, requests.clone());
        Ok(Next::Ask(requests))
    }

    fn asked(&mut self, path: NodePath, requests: &[Request], replies: &[Reply]) -> Result<Next<Self>> {
        for (request, reply) in requests.iter().zip(replies) {
            self.known.keep(request, reply)?;
        }
        let there: Documents = requests
            .iter()
            .filter_map(|request| match request {
                Request::Get { key, .. } => Some((key.to_string(), self.known.documents.get(key)?.as_ref()?.0.clone())),
                _ => None,
            })
            .collect();
        if path.is_root() && self.dialect.is_none() {
            let newest = there.is_empty() && requests.len() == 1;
            if newest {
                self.dialect = Some(Dialect::V2);
                return self.ask(path, [Dialect::V2].into_iter());
            }
            // Documents of the drafts lie elsewhere, and others tell nothing.
            match StoredNode::read(Dialect::V3, path.clone(), &there) {
                Ok(Some(found)) if found.dialect == Dialect::V3 => self.dialect = Some(Dialect::V3),
                _ => return Ok(self.end()),
            }
        }
        if !there.is_empty() {
            return self.level();
        }
        let mut prefixes = vec![path.key_prefix()];
        if !path.is_root() {
            // The first drafts may have nodes at the same paths, and no document that tells.
            prefixes.push("meta/".to_owned());
        }
        let list = |prefix: String| Ok(Request::List { prefix: Prefix::new(&prefix)? });
        let requests: Vec<Request> = prefixes.into_iter().map(list).collect::<Result<_>>()?;
        self.state = State::List(requests.clone());
        Ok(Next::Ask(requests))
    }

    fn end(&mut self) -> Next<Self> {
        Next::Done(std::mem::take(&mut self.known))
    }
}

impl Job for Foresee {
    type Output = Known;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin if self.known.is_kept && self.can_list => self.level(),
            State::Begin => Ok(self.end()),
            State::Level(path, requests) if requests.len() == replies.len() => self.asked(path, &requests, replies),
            State::List(requests) if requests.len() == replies.len() => {
                for (request, reply) in requests.iter().zip(replies) {
                    self.known.keep(request, reply)?;
                }
                Ok(self.end())
            }
            State::Level(..) | State::List(_) => Err(jobs::unfit()),
        }
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
