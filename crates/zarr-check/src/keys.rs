//! Check of all keys: each is a document, a chunk, part of something unfinished, or stray.

use crate::chunks::Chunks;
use crate::documents;
use crate::grown_arrays::GrownArrays;
use crate::hierarchy::Hierarchy;
use crate::names::{is_chunk_like, is_temporary, of_other_software};
use crate::sink::Sink;
use crate::{Code, Finding, unfinished};
use std::collections::{BTreeSet, HashMap, HashSet};
use zarr_hierarchy::node::REPLACEMENTS;
use zarr_hierarchy::{Error, Result};
use zarr_json::DeviationKind;
use zarr_meta::{Consolidated, NodePath, dialects_by_key, document_path};
use zarr_scan::outermost;
use zarr_store::{Key, Listing, Prefix, Store, StoreExt, StoreKind};

/// Check of the keys below the node at which the check begins.
pub(crate) struct Keys<'c, 'e> {
    store: &'c dyn Store,
    hierarchy: &'c Hierarchy,
    sink: &'c Sink<'e>,
    chunks: Chunks<'c, 'e>,
    /// Paths of nodes below arrays that findings have named already.
    below_arrays: HashSet<NodePath>,
    grown: GrownArrays,
}

/// Owner of the keys below a prefix: the nodes to which they may belong.
#[derive(Clone)]
enum PrefixOwner {
    /// Group or groups.
    Group,
    /// Arrays whose chunks have this prefix.
    Arrays(String),
    /// Node that cannot be read, so that nothing is known about its keys.
    Unknown,
}

impl<'c, 'e> Keys<'c, 'e> {
    pub(crate) fn new(
        store: &'c dyn Store,
        hierarchy: &'c Hierarchy,
        sink: &'c Sink<'e>,
        chunks: Chunks<'c, 'e>,
    ) -> Self {
        Self { store, hierarchy, sink, chunks, below_arrays: HashSet::new(), grown: GrownArrays::default() }
    }

    /// Lists and checks all directories, depth first. In a remote store the keys of an array are listed by one request.
    pub(crate) fn check(mut self) -> Result<()> {
        unfinished::beside(self.store, self.hierarchy, self.sink)?;
        let is_remote = self.store.access_profile().kind == StoreKind::Remote;
        let mut todo: Vec<(Prefix, PrefixOwner)> =
            self.roots()?.into_iter().map(|prefix| (prefix, PrefixOwner::Group)).collect();
        while let Some((prefix, within)) = todo.pop() {
            self.sink.go_on()?;
            let within = self.within(&prefix, within);
            let listing = match &within {
                PrefixOwner::Arrays(of) if is_remote && of == prefix.as_str() && !prefix.is_root() => {
                    self.store.list_prefix(&prefix).map(|keys| Listing::new(keys, Vec::new()))
                }
                _ => self.store.list_dir(&prefix),
            };
            let listing = match listing {
                Ok(listing) => listing,
                Err(error) => {
                    self.sink.find(Finding::of(Code::Unreadable, &Error::from(error)).at_key(&prefix));
                    continue;
                }
            };
            self.directory(&prefix, &listing);
            for key in &listing.keys {
                self.key(key, &within)?;
            }
            self.sink.count(|checked| checked.keys += listing.keys.len() as u64);
            for below in listing.prefixes {
                if below.name() == Some(REPLACEMENTS) {
                    unfinished::replacing(self.store, &below, self.sink);
                } else {
                    todo.push((below, within.clone()));
                }
            }
        }
        self.chunks.finish()
    }

    /// Prefixes below which all keys of the hierarchy lie.
    fn roots(&self) -> Result<Vec<Prefix>> {
        let Some(first) = self.hierarchy.nodes.first() else { return Ok(Vec::new()) };
        let all = first.own_prefixes().into_iter().chain([first.path.key_prefix()]);
        outermost(all).iter().rev().map(|prefix| Ok(Prefix::new(prefix)?)).collect()
    }

    fn within(&self, prefix: &Prefix, above: PrefixOwner) -> PrefixOwner {
        if self.hierarchy.is_unknown(prefix.as_str()) && !prefix.is_root() {
            return PrefixOwner::Unknown;
        }
        match self.hierarchy.arrays_at(prefix.as_str()) {
            Some(_) => PrefixOwner::Arrays(prefix.as_str().to_owned()),
            None => above,
        }
    }

    /// Reports the findings of a directory as a whole, without the findings of its single keys.
    fn directory(&self, prefix: &Prefix, listing: &Listing) {
        if listing.keys.is_empty() && listing.prefixes.is_empty() && !prefix.is_root() {
            self.sink.find(Finding::new(Code::EmptyFolder, "an empty directory").at_key(prefix));
        }
        unfinished::leftovers(self.store, prefix, self.sink);
        let mut folders: BTreeSet<&str> =
            listing.prefixes.iter().map(|below| below.as_str().trim_end_matches('/')).collect();
        // Where the keys of an array are listed together, they name the directories below.
        for key in listing.keys.iter().map(Key::as_str) {
            let ends = key.match_indices('/').map(|(at, _)| at).filter(|at| *at >= prefix.as_str().len());
            folders.extend(ends.filter_map(|end| key.get(..end)));
        }
        for key in listing.keys.iter().filter(|key| folders.contains(key.as_str())) {
            let message = format!("a key, and the beginning of others: {}/", key.name());
            self.sink.find(Finding::new(Code::KeyIsPrefix, message).at_key(key));
        }
        let keys = listing.keys.iter().map(|key| (key.as_str(), ""));
        let mut folded: HashMap<String, &str> = HashMap::new();
        for (place, end) in keys.chain(folders.iter().map(|folder| (*folder, "/"))) {
            let (group, name) = place.rsplit_once('/').unwrap_or(("", place));
            // Chunks have no letters that clash, and may be many.
            if !name.chars().any(char::is_alphabetic) {
                continue;
            }
            match folded.insert(format!("{group}/{}", name.to_lowercase()), name) {
                Some(other) if other != name => {
                    let message = format!("{other:?} beside it differs in case only");
                    self.sink.find(Finding::new(Code::CaseClash, message).at_key(format!("{place}{end}")));
                }
                _ => {}
            }
        }
    }

    fn key(&mut self, key: &Key, within: &PrefixOwner) -> Result<()> {
        let text = key.as_str();
        if self.hierarchy.is_document(text) {
            return Ok(());
        }
        if let Some(&group) = self.hierarchy.copies.get(text) {
            self.copy(key, group);
            return Ok(());
        }
        if let PrefixOwner::Arrays(prefix) = within
            && let Some(arrays) = self.hierarchy.arrays_at(prefix)
            && let Some((array, chunk)) = arrays.iter().find_map(|(number, keys)| Some((*number, keys.chunk_at(key)?)))
        {
            return self.chunks.add(array, key, chunk);
        }
        let finding = unfinished::of_key(key).or_else(|| self.odd(key, within).map(|finding| finding.at_key(key)));
        finding.into_iter().for_each(|finding| self.sink.find(finding));
        Ok(())
    }

    /// Returns the finding for a key that is neither a document of a node nor a chunk of an array; `None` if the key has a finding already.
    fn odd(&mut self, key: &Key, within: &PrefixOwner) -> Option<Finding> {
        let name = key.name();
        if let PrefixOwner::Unknown = within {
            return None;
        }
        if let Some(path) = self.path_of_document(key) {
            return self.document(key, &path, within);
        }
        if is_temporary(name) {
            let advice = "Remove it, if the program that made it does not run any more.";
            let finding = Finding::new(Code::TemporaryFile, "a temporary or lock file of other software");
            return Some(Finding { advice: advice.to_owned(), ..finding });
        }
        let PrefixOwner::Arrays(prefix) = within else {
            return Some(match of_other_software(key.as_str()) {
                Some(what) => Finding::new(Code::OtherFile, what),
                None if is_chunk_like(name) => {
                    Finding::new(Code::OrphanChunk, "has the form of a chunk, and there is no array")
                }
                None => Finding::new(Code::StrayKey, "belongs to no node"),
            });
        };
        let hierarchy = self.hierarchy;
        let arrays = hierarchy.arrays_at(prefix).unwrap_or_default();
        let (number, _) = arrays.first()?;
        let rest = key.as_str().strip_prefix(prefix.as_str()).unwrap_or_default();
        let formed: Vec<usize> =
            arrays.iter().filter(|(_, keys)| keys.has_form(key)).map(|(number, _)| *number).collect();
        if formed.iter().any(|number| self.grown.has(self.store, *number, hierarchy.nodes.get(*number), key)) {
            return None;
        }
        let finding = if !formed.is_empty() {
            Finding::new(Code::ChunkOutsideGrid, self.outside(*number))
        } else if is_chunk_like(rest) {
            Finding::new(Code::ForeignChunk, "has the form of a chunk, but not that of chunks of this array")
        } else {
            Finding::new(Code::StrayKey, "below an array, and neither a document nor a chunk of it")
        };
        Some(finding.at_path(self.hierarchy.path(*number)))
    }

    fn outside(&self, number: usize) -> String {
        let grid = self.hierarchy.array(number).map(|array| array.chunk_grid().grid_shape());
        match grid {
            Some(grid) => format!("a chunk outside of the grid of {:?} chunks", grid.as_slice()),
            None => "a chunk outside of the grid".to_owned(),
        }
    }

    /// Path of the node to which a document with this key would belong, in any dialect of the hierarchy; `None` if it is not the key of a
    /// document.
    fn path_of_document(&self, key: &Key) -> Option<NodePath> {
        let path = NodePath::parse(&format!("/{}", key.parent().as_str().trim_end_matches('/'))).ok()?;
        if !dialects_by_key(&path)(key.as_str()).is_empty() {
            return Some(path);
        }
        let first = self.hierarchy.nodes.first()?;
        if first.dialect.implies_groups() {
            return document_path(first.dialect, key.as_str(), &first.documents);
        }
        // The name alone tells.
        let at_root = Key::new(key.name()).ok()?;
        let is_copy = zarr_meta::consolidated::document_key(first).is_some_and(|copy| copy == at_root.as_str());
        is_copy.then_some(path)
    }

    /// Returns the finding for a document that belongs to no node of the walk; `None` if there is a finding already.
    fn document(&mut self, key: &Key, path: &NodePath, within: &PrefixOwner) -> Option<Finding> {
        if self.hierarchy.is_broken(path) || self.hierarchy.is_below_array(path) {
            return None;
        }
        if let PrefixOwner::Arrays(prefix) = within
            && let Some((number, _)) = self.hierarchy.arrays_at(prefix).and_then(<[_]>::first)
            && let Some(array) = self.hierarchy.nodes.get(*number)
            && path.is_within(&array.path)
            && *path != array.path
        {
            // A node may have several documents.
            let is_new = self.below_arrays.insert(path.clone());
            return is_new.then(|| documents::below_array(path, key.as_str()));
        }
        // The warning of the node that hides it has told.
        let node = self.hierarchy.node(path);
        if node.is_some_and(|node| node.warnings.iter().any(|warning| warning.hides.is_some())) {
            return None;
        }
        Some(Finding::new(Code::StrayDocument, "a document of no node").at_path(path))
    }

    /// Checks consolidated metadata in a separate document.
    fn copy(&self, key: &Key, group: usize) {
        let Some(group) = self.hierarchy.nodes.get(group) else { return };
        let at = |finding: Finding| self.sink.find(finding.at_path(&group.path).at_key(key));
        let bytes = match self.store.get_all(key) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return at(Finding::of(Code::Unreadable, &Error::from(error))),
        };
        // The walk has told of what is wrong with that of its first group.
        let is_first = self.hierarchy.nodes.first().is_some_and(|first| first.path == group.path);
        let told = |error: zarr_meta::Error| {
            let error = Error::from(error);
            if !is_first {
                at(Finding::of(documents::code_of_copy(&error), &error));
            }
        };
        if bytes.starts_with("\u{feff}".as_bytes()) {
            at(Finding::new(Code::Deviation, DeviationKind::ByteOrderMark.to_string()));
        }
        match Consolidated::parse_document(group.dialect, key.as_str(), &bytes) {
            Ok(Some(copy)) => {
                copy.check().map_err(told).unwrap_or_default();
                documents::copy(self.hierarchy, group, &copy, key.as_str(), self.sink);
            }
            Ok(None) => documents::unknown_copy(group, key.as_str(), self.sink),
            Err(error) => told(error),
        }
    }
}
