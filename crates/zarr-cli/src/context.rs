//! Context of all verbs: options, and opening the nodes that the command line names.

use crate::args::{Global, Loss, NodeArgs};
use crate::commands::describe;
use crate::failure::{Failure, Result};
use crate::near::{near, question};
use crate::{output, report};
use anstyle::Style;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zarr::convert::ConvertOptions;
use zarr::hierarchy::{StoredNode, Walk};
use zarr::meta::Dialect;
use zarr::meta::NodePath;
use zarr::meta::json::Value;
use zarr::meta::text::type_in_short;
use zarr::registry::Registry;
use zarr::{Array, Options, Store};

/// How many warnings of one kind are printed.
const MAX_WARNINGS: usize = 6;
/// The codec that is read only if asked for.
const PICKLE: &str = "numcodecs.pickle";

/// Context of all verbs.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) registry: Arc<Registry>,
    /// The style of headings on standard output.
    pub(crate) heading: Style,
    /// The stores that were opened.
    stores: RefCell<Vec<Arc<dyn Store>>>,
}

/// A node named on the command line, its store opened.
#[derive(Debug)]
pub(crate) struct NodeLocation {
    pub(crate) store: Arc<dyn Store>,
    /// The address as on the command line.
    pub(crate) url: String,
    pub(crate) path: NodePath,
    pub(crate) dialect: Option<Dialect>,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let heading = report::set_color(global.color);
        let mut registry = Registry::clone(&zarr::registry::default());
        if global.pickle_values {
            registry.codecs.add(zarr::registry::PICKLE);
        } else {
            registry
                .codecs
                .add_hint(PICKLE, "pickles are programs: --pickle-values reads plain values, and runs nothing");
        }
        Self { global, registry: Arc::new(registry), heading, stores: RefCell::default() }
    }

    /// Opens the store at an address.
    pub(crate) fn open_store(&self, url: &str) -> zarr::Result<Arc<dyn Store>> {
        Ok(zarr::store::open(url).inspect(|store| self.stores.borrow_mut().push(Arc::clone(store)))?)
    }

    /// Opens the store at an address, and creates it if it does not exist.
    pub(crate) fn create_store(&self, url: &str) -> zarr::Result<Arc<dyn Store>> {
        Ok(zarr::store::create(url).inspect(|store| self.stores.borrow_mut().push(Arc::clone(store)))?)
    }

    /// Prints the warnings of the stores, at the end of the command.
    pub(crate) fn store_warnings(&self) {
        self.stores.borrow().iter().for_each(|store| self.warnings(&store.take_warnings()));
    }

    pub(crate) fn options(&self) -> Options {
        let (v1_f_order_is_c, refuse_fallbacks) = (self.global.v1_f_order_is_c, self.global.refuse_fallbacks);
        let (threads, strict) = (self.global.threads, self.global.strict);
        let fallback_type = self.global.fallback_type.clone();
        Options::default()
            .threads(threads)
            .v1_f_order_is_c(v1_f_order_is_c)
            .refuse_fallbacks(refuse_fallbacks)
            .fallback_type(fallback_type)
            .strict(strict)
    }

    /// The options of a conversion that may take so many bytes of memory.
    pub(crate) fn convert_options(&self, loss: Loss, memory: u64) -> ConvertOptions {
        let Loss { carry, meaning } = loss;
        meaning.apply(ConvertOptions::default()).memory(memory).carry(carry).options(self.options())
    }

    /// Opens the store of a node. A path may also follow the address: `air.zarr::t2m`.
    pub(crate) fn locate(&self, node: &NodeArgs) -> Result<NodeLocation> {
        let (url, path) = match address(&node.url) {
            (url, Some(path)) if node.path == "/" => (url, path),
            _ => (node.url.as_str(), node.path.as_str()),
        };
        let path = node_path(path)?;
        Ok(NodeLocation { store: self.open_store(url)?, url: url.to_owned(), path, dialect: node.dialect })
    }

    /// Opens an array.
    pub(crate) fn array(&self, location: &NodeLocation) -> Result<Array> {
        let found = self.node(location)?;
        let array = Array::from_found(&location.store, found.clone(), &self.registry, self.options())?;
        self.warnings(&array.warnings().iter().map(ToString::to_string).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(array)
    }

    /// The metadata of a node.
    pub(crate) fn node(&self, location: &NodeLocation) -> Result<StoredNode> {
        let (store, path) = (&*location.store, location.path.to_string());
        let found = zarr::hierarchy::open_node_and_others(store, &path, location.dialect).map_err(|error| {
            let is_missing = error.is_not_found();
            let failure = Failure::from(zarr::hierarchy::with_location(error, store, &path));
            match is_missing.then(|| location.near()).flatten() {
                Some(near) if failure.hint.is_none() => failure.with_hint(question(&near)),
                _ => failure,
            }
        })?;
        let found = if self.global.v1_f_order_is_c { found.v1_f_order_is_c() } else { found };
        if self.global.strict {
            zarr::hierarchy::check_strictly(&found)
                .map_err(|error| zarr::hierarchy::with_location(error, store, &path))?;
        }
        Ok(found)
    }

    /// The metadata of a node. Warns of other nodes at its path that it hides.
    pub(crate) fn node_with_warnings(&self, location: &NodeLocation) -> Result<StoredNode> {
        let found = self.node(location)?;
        let hidden = found.warnings.iter().filter(|warning| warning.hides.is_some());
        self.warnings(&hidden.map(|warning| format!("{}: {warning}", found.path)).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(found)
    }

    /// Warns of nodes of a walk that others hide, and prints how to see them.
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
        self.hint_of_hidden(&walk.nodes);
    }

    /// Prints how to see nodes that others at their paths hide.
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

    /// Prints the first warnings and the number of others: in large hierarchies every node may have the same.
    pub(crate) fn some_warnings(&self, warnings: &[String]) {
        let (first, more) = warnings.split_at(warnings.len().min(MAX_WARNINGS));
        self.warnings(first);
        if !more.is_empty() {
            self.warnings(&[format!("{} more like these", more.len())]);
        }
    }

    /// With --strict, refuses a hierarchy with deviations before it is changed.
    pub(crate) fn check_all(&self, location: &NodeLocation) -> Result<()> {
        if !self.global.strict {
            return Ok(());
        }
        self.walk(location)?.broken.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
    }

    /// A node and all nodes below it.
    pub(crate) fn walk(&self, location: &NodeLocation) -> Result<Walk> {
        let walk = zarr::hierarchy::walk(&*location.store, &location.path.to_string(), location.dialect)?;
        Ok(self.checked(location, walk))
    }

    /// The nodes directly below a node.
    pub(crate) fn children(&self, location: &NodeLocation) -> Result<Walk> {
        let walk = zarr::hierarchy::children(&*location.store, &location.path.to_string(), location.dialect)?;
        Ok(self.checked(location, walk))
    }

    fn checked(&self, location: &NodeLocation, walk: Walk) -> Walk {
        let walk = if self.global.refuse_fallbacks { walk.refusing_fallbacks(&location.store) } else { walk };
        if self.global.strict { walk.strictly(&location.store) } else { walk }
    }

    /// Prints a result, with --json as JSON.
    pub(crate) fn print<J: Into<Value>>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Result<()> {
        if self.global.json { output::json(json()) } else { output::print(&text()) }
    }

    pub(crate) fn warnings<W: AsRef<str>>(&self, warnings: &[W]) {
        if !self.global.quiet {
            warnings.iter().for_each(|warning| report::warning(warning.as_ref()));
        }
    }
}

/// `store: path`, as errors begin.
impl fmt::Display for NodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.store, self.path)
    }
}

impl NodeLocation {
    /// The path of a node whose name is near the first name of the path that does not exist.
    fn near(&self) -> Option<String> {
        let mut group = NodePath::root();
        for name in self.path.names() {
            let walk = zarr::hierarchy::children(&*self.store, &group.to_string(), self.dialect).ok()?;
            let names = || walk.nodes.iter().filter_map(|node| node.path.name());
            if !names().any(|known| known == name) {
                return Some(group.join(near(name, names())?).ok()?.to_string());
            }
            group = group.join(name).ok()?;
        }
        None
    }
}

/// Splits `URL::PATH`.
pub(crate) fn address(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once("::") {
        Some((url, path)) if !Path::new(text).exists() => (url, Some(path)),
        _ => (text, None),
    }
}

/// A path given on the command line.
pub(crate) fn node_path(text: &str) -> Result<NodePath> {
    NodePath::parse(text).map_err(|error| {
        let mut failure = Failure::usage(error.to_string());
        failure.kind = "path";
        failure
    })
}
