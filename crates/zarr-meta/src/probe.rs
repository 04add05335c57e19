//! Search for the node at a path, without I/O.

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

/// Maximum number of prefixes that are listed in search of documents that imply a group.
const MAX_LISTINGS: usize = 1000;

/// State machine that finds the node at a path: it returns the keys whose values it needs, takes the values, and continues until the node
/// is found or known to be missing.
///
/// The documents of the self-contained dialects (v3, v2) are requested first, all at once. If there are none, the documents by which other
/// dialects are detected follow. If there are none of these either and the store can list, the probe searches below the path for documents
/// that imply a group, breadth first and at most 1000 prefixes.
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
    /// Number of self-contained dialects that are requested now, beginning with the newest; `None` for all at once.
    newest: Option<usize>,
    /// Use of consolidated metadata if a group is expected; `None` if no group is expected.
    group: Option<Copies>,
    /// Separate document with the group's consolidated metadata, as far as it was read.
    beside: Beside,
    /// Key of the document in `beside`; `None` before it is requested.
    copy_key: Option<String>,
    known: Documents,
    /// Documents at the path that made no node: attributes of a group that has no other document.
    rest: Documents,
    state: State,
    tried: Vec<String>,
}

/// Request of a [`Probe`], or its result.
#[derive(Debug)]
pub enum ProbeStep {
    /// Request for the values at these keys. The answer has one pair for each key, with `None` for a missing key.
    Need(Vec<String>),
    /// Request for the keys and prefixes directly below `prefix`. The answer has one pair without a value for each key and each prefix
    /// (ending in `/`), all relative to the root of the store.
    List {
        /// Prefix to be listed: empty, or ending in `/`.
        prefix: String,
    },
    /// Result: the node was found.
    Found(Box<StoredNode>),
    /// Result: there is no node at the path.
    NotFound {
        /// Keys of documents that were requested.
        tried: Vec<String>,
    },
}

#[derive(Debug)]
enum State {
    Start,
    /// Only the consolidated metadata was requested so far.
    Copy,
    /// Documents read so far, and whether documents whose keys depend on others were requested.
    Documents(Documents, bool),
    Entry,
    /// Error of a `meta` that may belong to version 1; `attrs` beside it was requested.
    Attributes(Error),
    Search(Search),
    Done,
}

/// State of a search for documents below the path.
#[derive(Debug, Default)]
struct Search {
    /// Prefixes still to be listed.
    prefixes: VecDeque<String>,
    /// Keys named `zarr.json` to be read: they may belong to a dialect that implies no group at the path.
    look: VecDeque<String>,
    listings: usize,
    /// Documents that were read before the search.
    documents: Documents,
}

impl Probe {
    /// Creates a probe for the node at `path`, in `dialect` if the dialect is known. The store is assumed to be able to list; see
    /// [`can_list`](Self::can_list).
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

    /// Sets whether the store can list. If not, groups without a document are not found.
    #[must_use]
    pub fn can_list(mut self, can_list: bool) -> Self {
        self.can_list = can_list;
        self
    }

    /// Restricts the probe to documents at the path itself, of the self-contained dialects (v3, v2).
    #[must_use]
    pub fn self_contained_only(mut self) -> Self {
        self.self_contained = true;
        self
    }

    /// Sets whether the documents of the newest dialect are requested alone first, and those of the other dialects only if the newest has
    /// none. That saves requests for a node of v3, useful if requests are expensive. There is then no warning about documents of older
    /// dialects at the same path.
    #[must_use]
    pub fn newest_first(mut self, newest_first: bool) -> Self {
        self.newest = newest_first.then_some(1);
        self
    }

    /// Tells the probe that the path is expected to be a group whose child nodes may be needed. If the dialect stores consolidated metadata
    /// in a separate document, that document is requested together with the documents of the group and available by
    /// [`StoredNode::consolidated_beside`]. Documents of an array are requested only if there are none of a group.
    #[must_use]
    pub fn expecting_group(mut self, copies: Copies) -> Self {
        self.group = Some(copies);
        self
    }

    /// Sets whether arrays of version 1 with `order` F and a compressor other than blosc are read in C order, as zarr-python 1, the only
    /// software that wrote such arrays, stored them. By default they are read in F order, as the specification of version 1 says, with a
    /// warning.
    #[must_use]
    pub fn v1_f_order_is_c(mut self, is_c: bool) -> Self {
        self.f_order_is_c = is_c;
        self
    }

    /// Passes documents that were read before, so that they are not requested again: only the document that
    /// [`entry_point_key`](crate::entry_point_key) names is used.
    #[must_use]
    pub fn knowing(mut self, documents: &Documents) -> Self {
        self.know(documents);
        self
    }

    /// Returns the dialect: the given dialect, or the detected dialect of the hierarchy; `None` if not known yet.
    pub fn dialect(&self) -> Option<Dialect> {
        self.forced
    }

    /// Returns the path of the node searched for.
    pub fn path(&self) -> &NodePath {
        &self.path
    }

    /// Takes the values that the last step requested (empty at first), and returns the next step.
    ///
    /// # Errors
    /// Fails if a document of the node is invalid, or of a dialect or version that is not supported.
    pub fn step(&mut self, got: &[(String, Option<Vec<u8>>)]) -> Result<ProbeStep> {
        self.take(got.to_vec())
    }

    /// Takes the values that the last step requested and returns the next step, as [`step`](Self::step) does, but without copying the
    /// values, which may be large.
    ///
    /// # Errors
    /// Fails in the same cases as [`step`](Self::step).
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
                if let Some(found) = self.read_consolidated_copy() {
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

    /// Returns the rules of the dialects that are still possible, newest first.
    fn rules(&self) -> SmallVec<[&'static dyn Rules; 8]> {
        let self_contained =
            || all_rules().filter(|rules| rules.is_self_contained()).take(self.newest.unwrap_or(usize::MAX)).collect();
        self.forced.map_or_else(self_contained, |dialect| smallvec![rules(dialect)])
    }

    /// Returns the keys of the documents to request first. Called again for older dialects if the newest dialect was requested alone.
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

    /// Returns the key of the separate document with consolidated metadata if it is still to be requested, and marks it as requested.
    fn ask_copy(&mut self) -> Option<String> {
        if self.copy_key.is_some() {
            return None;
        }
        self.copy_key = self.rules().iter().find_map(|rules| rules.consolidation().key(&self.path));
        self.copy_key.clone()
    }

    /// Returns the group as its consolidated metadata describes it; `None` if the consolidated metadata has no valid group.
    fn read_consolidated_copy(&self) -> Option<StoredNode> {
        let copy = self.beside.parse(self.forced?, self.copy_key.as_deref()?)?.ok()??;
        let documents = copy.documents_of(&self.path, &self.path)?;
        // What is wrong in a copy may be right in the documents.
        let found = self.read(&documents).ok()??;
        found.node.as_group().is_some().then_some(found)
    }

    /// Restarts the probe, now with a known `dialect`.
    fn begin_again(&mut self, dialect: Dialect, documents: &Documents) -> Result<ProbeStep> {
        self.forced = Some(dialect);
        (self.beside, self.copy_key) = (Beside::default(), None);
        self.know(documents);
        self.state = State::Start;
        self.step(&[])
    }

    /// Stores the entry point document, if it is among `documents`, so that it is not requested again.
    fn know(&mut self, documents: &Documents) {
        let entry = self.forced.and_then(crate::entry_point_key);
        if let Some((key, bytes)) = entry.and_then(|key| Some((key, documents.get(key)?))) {
            self.known.insert(key, bytes);
        }
    }

    /// Returns whether the dialect needs an entry point document and `documents` does not contain it.
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

    /// Returns the next request of the search.
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

    /// Returns the step that reports a group without a document as found.
    fn implicit_group(&self, dialect: Dialect, documents: &Documents) -> ProbeStep {
        let mut found = self.implied(dialect);
        if let Some((key, bytes)) = crate::entry_point_key(dialect).and_then(|key| Some((key, documents.get(key)?))) {
            found.documents.insert(key, bytes);
        }
        ProbeStep::Found(Box::new(found))
    }

    /// Returns the group at the path that nodes below it imply, for a probe that found no node. The group may still have a document of
    /// attributes.
    pub fn implied(&self, dialect: Dialect) -> StoredNode {
        StoredNode::implied(dialect, self.path.clone(), &self.rest)
    }
}

/// Returns the keys of the documents that detect dialects which are not self-contained, for a node at `path`. The keys of the
/// self-contained dialects are not included.
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
