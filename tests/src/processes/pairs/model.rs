//! Simple model of a store: the nodes that may be at each path.

use std::collections::BTreeMap;

/// Number of elements of an array.
pub(crate) const LENGTH: usize = 192;

/// Node as it was read, or the possible states of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Data type of an array, or `group`.
    pub(crate) data_type: String,
    pub(crate) fill: f64,
    /// Values that each element may have; a single value if the node was read.
    pub(crate) cells: Vec<Vec<f64>>,
    /// Whether the node may have the attribute that verbs set (`true`), and may lack it (`false`).
    pub(crate) marks: Vec<bool>,
}

impl Node {
    pub(crate) fn array(data_type: &str, fill: f64, elements: Vec<f64>) -> Self {
        let cells = elements.into_iter().map(|element| vec![element]).collect();
        Self { data_type: data_type.to_owned(), fill, cells, marks: vec![false] }
    }

    pub(crate) fn group() -> Self {
        Self::array("group", 0.0, Vec::new())
    }

    /// Returns whether the node may have these elements.
    pub(crate) fn allows(&self, elements: &[f64]) -> bool {
        self.cells.len() == elements.len() && self.cells.iter().zip(elements).all(|(cell, it)| cell.contains(it))
    }

    /// Returns whether `found`, a node that was read, is one of the possible states.
    fn is(&self, found: &Self) -> bool {
        let elements: Vec<f64> = found.cells.iter().filter_map(|cell| cell.first().copied()).collect();
        self.data_type == found.data_type
            && self.allows(&elements)
            && found.marks.iter().all(|it| self.marks.contains(it))
    }

    /// Returns a node each of whose elements may be from this node or from `other`; `None` if their data types or lengths differ.
    fn mixed(&self, other: &Self) -> Option<Self> {
        if (&self.data_type, self.cells.len()) != (&other.data_type, other.cells.len()) {
            return None;
        }
        let mut mixed = self.clone();
        mixed.cells.iter_mut().zip(&other.cells).for_each(|(cell, other)| cell.extend(other));
        mixed.marks.extend(&other.marks);
        Some(mixed)
    }

    /// Returns a short description of the node.
    pub(crate) fn told(&self) -> String {
        let generations: BTreeMap<i64, usize> = self.cells.iter().flatten().fold(BTreeMap::new(), |mut all, cell| {
            *all.entry((cell / 1000.0) as i64).or_default() += 1;
            all
        });
        format!("{} of {} elements, thousands {generations:?}, mark {:?}", self.data_type, self.cells.len(), self.marks)
    }
}

/// Nodes that may be at each path; there is no node at any other path.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(BTreeMap<String, Vec<Option<Node>>>);

fn is_within(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl State {
    /// Returns the state with exactly these nodes.
    pub(crate) fn found(nodes: &BTreeMap<String, Node>) -> Self {
        Self(nodes.iter().map(|(path, node)| (path.clone(), vec![Some(node.clone())])).collect())
    }

    pub(crate) fn put(&mut self, path: &str, node: Node) {
        self.0.insert(path.to_owned(), vec![Some(node)]);
    }

    /// Returns the nodes that may be at a path; `None` stands for no node.
    pub(crate) fn at(&self, path: &str) -> &[Option<Node>] {
        self.0.get(path).map_or(&[None], Vec::as_slice)
    }

    fn within(&self, root: &str) -> Vec<String> {
        self.0.keys().filter(|path| is_within(path, root)).cloned().collect()
    }

    pub(crate) fn erase(&mut self, root: &str) {
        self.0.retain(|path, _| !is_within(path, root));
    }

    /// Returns the state limited to cases in which a node that fits `is_fit` is at `path`; `None` if that is impossible.
    pub(crate) fn there(&self, path: &str, is_fit: impl Fn(&Node) -> bool) -> Option<Self> {
        let mut state = self.clone();
        let there = state.0.get_mut(path)?;
        there.retain(|node| node.as_ref().is_some_and(&is_fit));
        (!there.is_empty()).then_some(state)
    }

    /// Returns the state limited to cases in which no node is at `path`; `None` if that is impossible.
    pub(crate) fn free(&self, path: &str) -> Option<Self> {
        let mut state = self.clone();
        let is_free = self.at(path).iter().any(Option::is_none);
        state.erase(path);
        is_free.then_some(state)
    }

    /// Returns the state after a change of the node at a path, limited to nodes that fit; `None` if there is no such node.
    pub(crate) fn changed(
        &self,
        path: &str,
        is_fit: impl Fn(&Node) -> bool,
        change: impl Fn(&mut Node),
    ) -> Option<Self> {
        let mut state = self.there(path, is_fit)?;
        state.0.get_mut(path)?.iter_mut().flatten().for_each(change);
        Some(state)
    }

    pub(crate) fn copied(&self, from: &str, to: &str) -> Self {
        let mut state = self.clone();
        for path in self.within(from) {
            let new = format!("{to}{}", path.strip_prefix(from).unwrap_or_default());
            state.0.insert(new, self.at(&path).to_vec());
        }
        state
    }

    pub(crate) fn moved(&self, from: &str, to: &str) -> Option<Self> {
        let mut state = self.copied(from, to);
        state.erase(from);
        Some(state)
    }

    /// Returns the state in which, at paths within `roots`, the nodes of this state or of `other` may be; also no node if `or_none`, and
    /// mixed elements if `or_mixed`.
    pub(crate) fn with_any_of(&self, other: &Self, roots: &[&str], or_none: bool, or_mixed: bool) -> Self {
        let mut state = self.clone();
        let paths = self.0.keys().chain(other.0.keys());
        for path in paths.filter(|path| roots.iter().any(|root| is_within(path, root))) {
            let (mine, its) = (self.at(path), other.at(path));
            let mut all: Vec<Option<Node>> = mine.iter().chain(its).cloned().collect();
            if or_none {
                all.push(None);
            }
            if or_mixed {
                let pairs = mine.iter().flatten().flat_map(|mine| its.iter().flatten().filter_map(|it| mine.mixed(it)));
                all.extend(pairs.map(Some));
            }
            state.0.insert(path.clone(), all);
        }
        state
    }

    /// Returns a description of the first difference of the nodes that were found from this state; `None` if they agree.
    pub(crate) fn difference(&self, found: &BTreeMap<String, Node>) -> Option<String> {
        let paths = self.0.keys().chain(found.keys());
        let is_as_may_be = |path: &&String| {
            let found = found.get(*path);
            self.at(path).iter().any(|may| match (may, found) {
                (Some(may), Some(found)) => may.is(found),
                (may, found) => may.is_none() && found.is_none(),
            })
        };
        let told = |node: Option<&Node>| node.map_or_else(|| "nothing".to_owned(), Node::told);
        let different = paths.into_iter().find(|path| !is_as_may_be(path))?;
        let may: Vec<String> = self.at(different).iter().map(|node| told(node.as_ref())).collect();
        Some(format!("{different}: found {}, expected {}", told(found.get(different)), may.join(" or ")))
    }
}
