//! Finding out which node lies at a path, without I/O.

mod read;

use crate::consolidated::{Beside, Copies};
use crate::dialect::rules::Rules;
use crate::dialect::table::{all_rules, rules};
use crate::dialect::{detect, table};
use crate::documents::{INLINE, parse_consolidated, parse_document};
use crate::error::{Error, Result};
use crate::stored_node::StoredNode;
use crate::{Dialect, Documents, NodePath};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use zarr_json::ParseOptions;

/// How many prefixes are listed at most in search of documents that imply a group.
const MAX_LISTINGS: usize = 1000;

/// Finds the node at a path: says which keys it wants to see, takes them, and so on until it is found or is not there.
///
/// The documents of the self-contained dialects (v3, v2) are asked for first and at once; where there are none, the
/// documents by which the other dialects are detected; then, if the store can list, it is searched below the path for
/// documents that imply a group, breadth first and at most 1000 prefixes.
///
/// ```text
/// Start ──► Documents ── none ──► Entry ── none ──► Search ── none ──► not found
///   ▲           └── found           │                 └── a document below: found
///   └────────── another dialect ────┘
/// ```
///
/// # Example
/// ```
/// use zarr_meta::{Dialect, NodePath, Probe, ProbeStep};
///
/// let mut probe = Probe::new(NodePath::parse("/a")?, Some(Dialect::V3));
/// let ProbeStep::Need(keys) = probe.step(&[])? else { unreachable!() };
/// assert_eq!(keys, ["a/zarr.json"]);
/// let document = br#"{"zarr_format": 3, "node_type": "group"}"#.to_vec();
/// let ProbeStep::Found(found) = probe.step(&[(keys[0].clone(), Some(document))])? else { unreachable!() };
/// assert!(found.node.as_group().is_some());
/// # Ok::<(), zarr_meta::Error>(())
/// ```
#[derive(Debug)]
pub struct Probe {
    path: NodePath,
    forced: Option<Dialect>,
    can_list: bool,
    f_order_is_c: bool,
    self_contained: bool,
    /// How many of the self-contained dialects, from the newest on, are asked for now; `None`: all at once.
    newest: Option<usize>,
    /// Whether a group is expected, and how much its consolidated metadata is to be believed.
    group: Option<Copies>,
    /// The document of consolidated metadata that lies beside that of a group, as far as it was read.
    beside: Beside,
    /// The key of that document, once it was asked for.
    copy_key: Option<String>,
    known: Documents,
    /// The documents at the path that made no node: attributes of a group that has no other document.
    rest: Documents,
    state: State,
    tried: Vec<String>,
}

/// A request of a [`Probe`], or its result.
#[derive(Debug)]
pub enum ProbeStep {
    /// The values at these keys; to be answered with one pair for each, `None` for a key that is not there.
    Need(Vec<String>),
    /// The keys and prefixes directly below `prefix`; to be answered with one pair for each key and each prefix (ending
    /// in `/`), without values, relative to the root of the store as all keys are.
    List {
        /// Empty, or ending in `/`.
        prefix: String,
    },
    /// The node.
    Found(Box<StoredNode>),
    /// There is no node.
    NotFound {
        /// The keys that were looked at.
        tried: Vec<String>,
    },
}

#[derive(Debug)]
enum State {
    Start,
    /// The consolidated metadata was requested, nothing else so far.
    Copy,
    /// The documents so far, and whether documents that depend on others were requested.
    Documents(Documents, bool),
    Entry,
    /// The fault of a `meta` that may be of version 1; the request was for `attrs` beside it.
    Attributes(Error),
    Search(Search),
    Done,
}

/// A search for documents below the path.
#[derive(Debug, Default)]
struct Search {
    /// Prefixes still to be listed.
    prefixes: VecDeque<String>,
    /// Keys of the name `zarr.json`, which may be of a dialect that implies no group here.
    look: VecDeque<String>,
    listings: usize,
    /// The documents that were read before the search.
    documents: Documents,
}

impl Probe {
    /// A search for the node at `path`, of `dialect` if that is known. Listing is tried; see [`can_list`](Self::can_list).
    pub fn new(path: NodePath, dialect: Option<Dialect>) -> Self {
        Self {
            path,
            forced: dialect,
            can_list: true,
            f_order_is_c: false,
            self_contained: false,
            newest: None,
            group: None,
            beside: Beside::default(),
            copy_key: None,
            known: Documents::new(),
            rest: Documents::new(),
            state: State::Start,
            tried: Vec::new(),
        }
    }

    /// Says whether the store can list. If not, groups without a document are not found.
    #[must_use]
    pub fn can_list(mut self, can_list: bool) -> Self {
        self.can_list = can_list;
        self
    }

    /// Says that nothing is looked for but documents at the path itself, of the self-contained dialects (v3, v2).
    #[must_use]
    pub fn self_contained_only(mut self) -> Self {
        self.self_contained = true;
        self
    }

    /// Says that the documents of the newest dialect are asked for alone, and those of the others only if it has none: one request for
    /// a node of v3, where each costs more than the time that it saves. Documents of older dialects at the same path are then no
    /// warning.
    #[must_use]
    pub fn newest_first(mut self, newest_first: bool) -> Self {
        self.newest = newest_first.then_some(1);
        self
    }

    /// Says that a group is expected, of which all nodes may be wanted: where its dialect has consolidated metadata in a document of its
    /// own, that is asked for at once with the documents of a group, and [`StoredNode::consolidated_beside`] has it. The documents of an
    /// array are looked at only if there are none of a group.
    #[must_use]
    pub fn expecting_group(mut self, copies: Copies) -> Self {
        self.group = Some(copies);
        self
    }

    /// Says that arrays of version 1 with `order` F and a compressor other than blosc are to be read as zarr-python 1, the only
    /// software that wrote them, stored them: in C order. By default they are read as the text of version 1 says, with a warning.
    #[must_use]
    pub fn v1_f_order_is_c(mut self, is_c: bool) -> Self {
        self.f_order_is_c = is_c;
        self
    }

    /// Gives documents that were read before, so that they are not asked for again: in the walk of a hierarchy the
    /// document that [`entry_point_key`](crate::entry_point_key) names. Others are of no account.
    #[must_use]
    pub fn knowing(mut self, documents: &Documents) -> Self {
        self.know(documents);
        self
    }

    /// The dialect, as far as it is known by now: the given one, or the dialect of the hierarchy that the path lies in.
    pub fn dialect(&self) -> Option<Dialect> {
        self.forced
    }

    /// The path probed.
    pub fn path(&self) -> &NodePath {
        &self.path
    }

    /// Takes the values that the last step requested (none at first), and returns the next step.
    ///
    /// # Errors
    /// If a document of the node is wrong, or of a dialect or version that is not read.
    pub fn step(&mut self, got: &[(String, Option<Vec<u8>>)]) -> Result<ProbeStep> {
        self.take(got.to_vec())
    }

    /// As [`step`](Self::step), with values that are not copied: they may be large.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn take(&mut self, got: Vec<(String, Option<Vec<u8>>)>) -> Result<ProbeStep> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Start => {
                if self.group == Some(Copies::Trusted)
                    && self.forced.is_some()
                    && let Some(key) = self.ask_copy()
                {
                    return Ok(self.need(vec![key], State::Copy));
                }
                let mut keys = self.first_keys();
                keys.retain(|key| !self.known.contains(key));
                let known = std::mem::take(&mut self.known);
                if keys.is_empty() {
                    self.state = State::Documents(known, false);
                    return self.step(&[]);
                }
                Ok(self.need(keys, State::Documents(known, false)))
            }
            State::Copy => {
                self.beside = Beside::of(got.into_iter().next().and_then(|(_, bytes)| bytes));
                if let Some(found) = self.read_copy() {
                    return Ok(ProbeStep::Found(Box::new(found)));
                }
                self.state = State::Start;
                self.step(&[])
            }
            State::Documents(mut documents, all) => {
                for (key, bytes) in got {
                    if Some(&key) == self.copy_key.as_ref() {
                        self.beside = Beside::of(bytes);
                    } else if let Some(bytes) = bytes {
                        documents.insert(key, bytes);
                    }
                }
                if self.forced.is_none()
                    && let Some(dialect) = detect::of_entry("zarr.json", &mut documents)?
                {
                    return self.begin_again(dialect, &documents);
                }
                let rules = self.rules();
                let more: Vec<_> = rules.iter().flat_map(|rules| rules.more_keys(&self.path, &documents)).collect();
                if !all && !more.is_empty() {
                    return Ok(self.need(more, State::Documents(documents, true)));
                }
                let found = self.read(&documents)?;
                if found.is_none() {
                    self.rest = documents.clone();
                }
                match found {
                    Some(found) => Ok(ProbeStep::Found(Box::new(found))),
                    None if self.newest.take().is_some() && self.forced.is_none() => {
                        let mut others = self.first_keys();
                        others.retain(|key| !self.tried.contains(key));
                        Ok(self.need(others, State::Documents(documents, false)))
                    }
                    None if self.group.take().is_some() => {
                        let rules = self.rules();
                        let arrays: Vec<_> = rules.iter().flat_map(|rules| rules.array_keys(&self.path)).collect();
                        if arrays.is_empty() {
                            self.state = State::Documents(documents, true);
                            return self.step(&[]);
                        }
                        Ok(self.need(arrays, State::Documents(documents, false)))
                    }
                    None if self.self_contained || self.lacks_entry(&documents) => Ok(self.not_found()),
                    None if self.forced.is_some() => Ok(self.search(documents)),
                    None => Ok(self.need(probed_keys(&self.path), State::Entry)),
                }
            }
            State::Entry => {
                let mut broken = None;
                for (key, bytes) in &got {
                    let Some(bytes) = bytes else { continue };
                    if key == "zarr.json" {
                        broken = parse_consolidated(key, bytes, ParseOptions::ALL, &INLINE, |_| true).err();
                    }
                    let mut documents: Documents = [(key.clone(), bytes.clone())].into_iter().collect();
                    if let Some(dialect) = detect::of_entry(key, &mut documents)? {
                        return self.begin_again(dialect, &documents);
                    }
                }
                if let Some(error) = broken {
                    // Nodes below a root that cannot be read are unknown: the root may say where documents lie.
                    return Err(error);
                }
                let meta = got.iter().find(|(key, _)| key == detect::V1_ARRAY).and_then(|(_, bytes)| bytes.as_deref());
                match meta.and_then(detect::fault) {
                    Some(fault) => Ok(self.need(vec![detect::V1_ATTRIBUTES.to_owned()], State::Attributes(fault))),
                    None => Ok(self.search(Documents::new())),
                }
            }
            State::Attributes(fault) => {
                // Without it `meta` may be anything.
                if got.iter().any(|(_, bytes)| bytes.is_some()) {
                    return Err(fault);
                }
                Ok(self.search(Documents::new()))
            }
            State::Search(search) => self.search_on(search, &got),
            State::Done => Ok(self.not_found()),
        }
    }

    /// The rules in question, newest first.
    fn rules(&self) -> SmallVec<[&'static dyn Rules; 8]> {
        let self_contained =
            || all_rules().filter(|rules| rules.is_self_contained()).take(self.newest.unwrap_or(usize::MAX)).collect();
        self.forced.map_or_else(self_contained, |dialect| smallvec![rules(dialect)])
    }

    /// The documents to be asked for first, and those of the older dialects after the newest.
    fn first_keys(&mut self) -> Vec<String> {
        let rules = self.rules();
        let mut keys: Vec<_> = rules.iter().flat_map(|rules| rules.document_keys(&self.path)).collect();
        if self.group.is_some() {
            let arrays: Vec<_> = rules.iter().flat_map(|rules| rules.array_keys(&self.path)).collect();
            keys.retain(|key| !arrays.contains(key));
            keys.extend(self.ask_copy());
        }
        keys
    }

    /// The key of the consolidated metadata, if it has a document of its own that was not asked for yet.
    fn ask_copy(&mut self) -> Option<String> {
        if self.copy_key.is_some() {
            return None;
        }
        self.copy_key = self.rules().iter().find_map(|rules| rules.consolidation().key(&self.path));
        self.copy_key.clone()
    }

    /// The group as its consolidated metadata has it.
    fn read_copy(&self) -> Option<StoredNode> {
        let copy = self.beside.parse(self.forced?, self.copy_key.as_deref()?)?.ok()??;
        let documents = copy.documents_of(&self.path, &self.path)?;
        // What is wrong in a copy may be right in the documents.
        let found = self.read(&documents).ok()??;
        found.node.as_group().is_some().then_some(found)
    }

    /// Begins again, now that the dialect is known.
    fn begin_again(&mut self, dialect: Dialect, documents: &Documents) -> Result<ProbeStep> {
        self.forced = Some(dialect);
        (self.beside, self.copy_key) = (Beside::default(), None);
        self.know(documents);
        self.state = State::Start;
        self.step(&[])
    }

    /// Keeps the entry point document, so that it is not requested again.
    fn know(&mut self, documents: &Documents) {
        let entry = self.forced.and_then(crate::entry_point_key);
        if let Some((key, bytes)) = entry.and_then(|key| Some((key, documents.get(key)?))) {
            self.known.insert(key, bytes);
        }
    }

    /// Whether the document is not there without which nothing is of the dialect.
    fn lacks_entry(&self, documents: &Documents) -> bool {
        self.forced.and_then(crate::entry_point_key).is_some_and(|key| !documents.contains(key))
    }

    fn need(&mut self, keys: Vec<String>, state: State) -> ProbeStep {
        // A copy is none of the documents by which a node is found.
        self.tried.extend(keys.iter().filter(|key| Some(*key) != self.copy_key.as_ref()).cloned());
        self.state = state;
        ProbeStep::Need(keys)
    }

    fn not_found(&mut self) -> ProbeStep {
        self.state = State::Done;
        ProbeStep::NotFound { tried: std::mem::take(&mut self.tried) }
    }

    fn search(&mut self, documents: Documents) -> ProbeStep {
        if !self.can_list {
            return self.not_found();
        }
        let rules = self.rules();
        let mut prefixes: VecDeque<String> = VecDeque::new();
        // In the first protocol draft a hierarchy may have no document that shows it, neither of the root nor of the node.
        let unmarked = if self.forced.is_none() { Some(table::rules(Dialect::V3Protocol2019)) } else { None };
        for prefix in unmarked.into_iter().chain(rules).map(|rules| rules.listing_prefix(&self.path)) {
            if !prefixes.contains(&prefix) {
                prefixes.push_back(prefix);
            }
        }
        self.go_on(Search { prefixes, documents, ..Search::default() })
    }

    /// The next step of the search.
    fn go_on(&mut self, mut search: Search) -> ProbeStep {
        if let Some(key) = search.look.pop_front() {
            self.state = State::Search(search);
            return ProbeStep::Need(vec![key]);
        }
        if search.listings == MAX_LISTINGS {
            return self.not_found();
        }
        let Some(prefix) = search.prefixes.pop_front() else { return self.not_found() };
        search.listings += 1;
        self.state = State::Search(search);
        ProbeStep::List { prefix }
    }

    fn search_on(&mut self, mut search: Search, got: &[(String, Option<Vec<u8>>)]) -> Result<ProbeStep> {
        let rules = self.rules();
        // Elsewhere are documents of nodes that do not lie below the path: its name may be that of the folder of all documents.
        let unmarked = table::rules(Dialect::V3Protocol2019).listing_prefix(&self.path);
        for (key, bytes) in got {
            if let Some(bytes) = bytes {
                // The answer to a look at a document. One that cannot be read is a node as well, if a broken one.
                let value = parse_document(key, bytes, ParseOptions::ALL, |_| true).map(|(value, _)| value);
                match value.as_ref().map(detect::of_zarr_json) {
                    Ok(Some(Dialect::V3Protocol2020 | Dialect::V3Draft2022)) => {}
                    _ => return Ok(self.implicit_group(self.forced.unwrap_or(Dialect::V3), &search.documents)),
                }
            } else if key.ends_with('/') {
                search.prefixes.push_back(key.clone());
            } else if self.forced.is_none() && detect::is_document_key(key) && key.starts_with(&unmarked) {
                // The documents of the node itself were read before.
                let dialect = detect::supported(key, Dialect::V3Protocol2019)?;
                return Ok(self.implicit_group(dialect, &search.documents));
            } else {
                let name = key.rsplit('/').next().unwrap_or_default();
                let found = rules.iter().find(|rules| rules.is_node_document(name, &search.documents));
                // Documents of the node itself were looked at before.
                let own = |rules: &&dyn Rules| rules.document_keys(&self.path).contains(key);
                if let Some(rules) = found.copied().filter(|rules| !own(rules)) {
                    match rules.dialects() {
                        [Dialect::V3, ..] => search.look.push_back(key.clone()),
                        dialects => {
                            let dialect = dialects.first().copied().unwrap_or(Dialect::V2);
                            return Ok(self.implicit_group(dialect, &search.documents));
                        }
                    }
                }
            }
        }
        Ok(self.go_on(search))
    }

    /// A group without a document.
    fn implicit_group(&self, dialect: Dialect, documents: &Documents) -> ProbeStep {
        let mut found = self.implied(dialect);
        if let Some((key, bytes)) = crate::entry_point_key(dialect).and_then(|key| Some((key, documents.get(key)?))) {
            found.documents.insert(key, bytes);
        }
        ProbeStep::Found(Box::new(found))
    }

    /// The group at the path that nodes below it imply, where the probe found no node: it may have a document of attributes all the same.
    pub fn implied(&self, dialect: Dialect) -> StoredNode {
        StoredNode::implied(dialect, self.path.clone(), &self.rest)
    }
}

/// The keys of documents that detect dialects which are not self-contained, besides the keys of a node at `path` in the
/// self-contained dialects.
fn probed_keys(path: &NodePath) -> Vec<String> {
    let root = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    if path.is_root() {
        return root(&["meta/group.json", "meta/array.json", "meta", "__zmeta__"]);
    }
    // The first that is there decides. Other hierarchies may have documents at the keys of the first protocol draft.
    let mut keys: Vec<String> = root(&["zarr.json", "meta/group.json", "meta/array.json"]);
    keys.extend(rules(Dialect::V3Protocol2019).document_keys(path));
    keys
}
