//! Walks of hierarchies, and warnings about the nodes that they find.

use crate::commands::describe;
use crate::context::{Context, NodeLocation};
use crate::failure::Result;
use crate::report;
use std::collections::BTreeSet;
use zarr::Store;
use zarr::hierarchy::{StoredNode, Walk, Warning};
use zarr::meta::Dialect;
use zarr::meta::text::type_in_short;
use zarr::store::StoreKind;

/// Greatest number of warnings of one kind that are printed.
const MAX_WARNINGS: usize = 6;

impl Context {
    /// Finds a node and all nodes below it.
    pub(crate) fn walk(&self, location: &NodeLocation) -> Result<Walk> {
        let walk = zarr::hierarchy::walk(&*location.store, &location.path.to_string(), location.dialect);
        let walk = walk.map_err(|error| location.with_near(error))?;
        Ok(self.checked(location, walk))
    }

    /// Finds the nodes directly below a node.
    pub(crate) fn children(&self, location: &NodeLocation) -> Result<Walk> {
        let walk = zarr::hierarchy::children(&*location.store, &location.path.to_string(), location.dialect);
        let walk = walk.map_err(|error| location.with_near(error))?;
        Ok(self.checked(location, walk))
    }

    /// Finds a node and all nodes below it for display: if each request takes long, as consolidated metadata has them.
    pub(crate) fn walk_to_show(&self, location: &NodeLocation) -> Result<Walk> {
        if !self.believes_copies(&*location.store) {
            return self.walk(location);
        }
        let walk = zarr::hierarchy::walk_consolidated(&*location.store, &location.path.to_string(), location.dialect);
        let walk = walk.map_err(|error| location.with_near(error))?;
        Ok(self.checked(location, walk))
    }

    /// Finds the nodes up to `depth` levels below an opened group for display, like [`walk_to_show`](Self::walk_to_show); `None` is all
    /// levels. May find deeper nodes if consolidated metadata is not used.
    pub(crate) fn below_to_show(
        &self,
        location: &NodeLocation,
        group: &StoredNode,
        depth: Option<usize>,
    ) -> Result<Walk> {
        match (self.believes_copies(&*location.store), depth) {
            (true, _) => {
                let walk = zarr::hierarchy::consolidated_below(&*location.store, group, location.dialect, depth)?;
                Ok(self.checked(location, walk))
            }
            (false, Some(1)) => self.children(location),
            (false, _) => self.walk(location),
        }
    }

    /// Returns whether nodes that are shown or read are taken from consolidated metadata instead of their documents.
    pub(crate) fn believes_copies(&self, store: &dyn Store) -> bool {
        let is_all = !store.capabilities().list;
        is_all || (store.access_profile().kind == StoreKind::Remote && !self.global.no_consolidated)
    }

    fn checked(&self, location: &NodeLocation, walk: Walk) -> Walk {
        let walk = if self.global.refuse_fallbacks { walk.refusing_fallbacks(&location.store) } else { walk };
        if self.global.strict { walk.strictly(&location.store) } else { walk }
    }

    /// Warns of nodes of a walk that others hide and how to see them, of nodes that were left out, and of deviations in documents; each
    /// warning is printed once.
    pub(crate) fn hidden(&self, walk: &Walk) {
        let hidden = walk.nodes.iter().flat_map(|node| {
            let warnings = node.warnings.iter().filter(|warning| warning.hides.is_some());
            warnings.map(|warning| format!("{}: {warning}", node.path))
        });
        let below = walk.below_arrays.iter().map(|node| {
            let (path, dialect, kind) = (&node.path, node.dialect, describe::kind(node));
            format!("{path}: left out: {kind} of {dialect} below an array, which cannot have nodes")
        });
        let fallbacks = walk.nodes.iter().filter_map(|node| {
            let (error, array) = (node.fallback.as_ref()?, node.node.as_array()?);
            let fallback = type_in_short(&array.data_type);
            Some(format!("{}: {error}; reading it as the fallback {fallback}", node.path))
        });
        self.some_warnings(&hidden.chain(below).collect::<Vec<_>>());
        self.some_warnings(&fallbacks.collect::<Vec<_>>());
        let mut seen = BTreeSet::new();
        let deviations = walk.nodes.iter().flat_map(|node| {
            // The fallback of a data type has a warning of its own.
            let is_told = |warning: &&Warning| {
                warning.hides.is_none() && (node.fallback.is_none() || warning.pointer != "/data_type")
            };
            node.warnings.iter().filter(is_told).map(ToString::to_string)
        });
        let deviations: Vec<String> = deviations.filter(|text| seen.insert(text.clone())).collect();
        self.some_warnings(&deviations);
        self.hint_of_hidden(&walk.nodes);
        if let Some(refusal) = &walk.unlisted {
            let what =
                "the nodes are those of consolidated metadata, since the store refuses to list: others may be there";
            self.warnings(&[format!("{what} ({refusal})")]);
        }
    }

    /// Prints how to see the nodes that are hidden by other nodes at the same path.
    pub(crate) fn hint_of_hidden<'f>(&self, nodes: impl IntoIterator<Item = &'f StoredNode>) {
        let of_node = |node: &'f StoredNode| {
            let hidden = node.warnings.iter().filter_map(|warning| warning.hides);
            hidden.map(|dialect| (dialect, dialect == node.dialect)).collect::<Vec<_>>()
        };
        let hidden: BTreeSet<(Dialect, bool)> = nodes.into_iter().flat_map(of_node).collect();
        for (dialect, is_same) in hidden.into_iter().filter(|_| !self.global.quiet) {
            match is_same {
                true => report::hint("the array hides the group at the same path; remove the document of one of them"),
                false => report::hint(&format!("--dialect {dialect} shows the nodes of that dialect")),
            }
        }
    }

    /// Prints the first warnings and the number of further ones: in large hierarchies every node may have the same warning.
    pub(crate) fn some_warnings(&self, warnings: &[String]) {
        let (first, more) = warnings.split_at(warnings.len().min(MAX_WARNINGS));
        self.warnings(first);
        if !more.is_empty() {
            self.warnings(&[format!("{} more like these", more.len())]);
        }
    }
}
